// For every crash point that `hongbao crash-points` lists: a process dies there by SIGKILL while packets are sent,
// grabbed, settled, refunded or rebuilt, or while tables are migrated. It is started again; then every answer is still
// true, every balance is right and no event waits. The settle worker finishes the work of a pool that died, and may die
// while doing so, too. CRASH_TIMES=20 visits each point that often (default 1). CRASH_PAIRS=only: visits the points at
// which a pool and then the worker dies, instead.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, test } from 'node:test';
import { env, hongbao, PATIENCE, poll } from '../e2e/support/instance.js';
import { expireNow, openNow } from '../e2e/support/moments.js';
import { mariadb, sql } from '../e2e/support/mysql.js';
import { liveKey, packetNumber, partitionKeys, partitionOf } from '../support/packet_id.js';
import { redis, replaceEvent } from '../e2e/support/redis.js';
import { run } from '../e2e/support/run.js';
import { SERVICE_POINTS, visitMoney, visitService, visitWithdraw } from './crash_money.js';
import { assertCrashed, assertDied, demoUsers, drained, open, restart, servers, startAll, stopAll } from './site.js';

const TIMES = Number(process.env.CRASH_TIMES ?? 1);
const PAIRS_ONLY = process.env.CRASH_PAIRS === 'only';
const AMOUNT_FEN = 300;
const GRABBERS = 3;
const STOCK = 100;
const THANKS = '谢谢老板 🙏';
const PHRASE = '新年快乐';
const OPENS_AFTER_MS = 3_600_000; // the test opens it

let sender;
let grabbers;
let packets; // packets of the current visit

before(startAll);
after(stopAll);

// Many people, made at once; each visit takes other ones.
const stock = [];

async function meet() {
  packets = [];
  if (stock.length <= GRABBERS) stock.push(...await demoUsers(STOCK));
  [sender, ...grabbers] = stock.splice(0, 1 + GRABBERS);
}

// ---- requests ----

// The answer; undefined when the outcome is unknown: a network error, a cut answer, any 5xx.
async function ask(request) {
  const answer = await request().catch(() => undefined);
  return answer?.status >= 500 ? undefined : answer;
}

// True when the answer confirms the change; false when the outcome is unknown.
async function does(user, path, fields, confirmed) {
  const answer = await ask(() => user.client.post(path, fields));
  if (answer) assert.deepEqual([answer.status, answer.json], [200, confirmed]);
  return answer !== undefined;
}

// Sends one more packet; true when the answer confirms it. conditions: further fields of the form.
async function send(conditions = {}) {
  const packet = { key: randomBytes(8).toString('hex'), grabs: new Map(), conditions };
  packets.push(packet);
  return sendAgain(packet);
}

async function sendAgain(packet) {
  const fields = { kind: 'lucky', amount: (AMOUNT_FEN / 100).toFixed(2), count: GRABBERS, greeting: '恭喜发财' };
  const answer = await ask(() => sender.client.post('/send', { ...fields, request_key: packet.key, ...packet.conditions }));
  if (!answer) return false;
  assert.equal(answer.status, 201, answer.text);
  packet.id = answer.json.id;
  return true;
}

const soon = () => new Date(Date.now() + OPENS_AFTER_MS).toISOString();

// Sends a packet for the grabbers, with a passphrase, which opens at a later time.
const sendWithConditions = () => send({
  to: grabbers.map(({ username }) => username).join(' '), phrase: PHRASE, opens_at: soon(),
});

const isEarly = (answer) => /:not-open-yet$/.test(answer.json?.type);

// True when the outcome is known. A repeated grab must return the same share and amount.
async function grab(packet, user) {
  const { phrase } = packet.conditions;
  const answer = await ask(() => open(user, packet.id, phrase ? { phrase } : {}));
  if (!answer || isEarly(answer)) return false;
  const told = packet.grabs.get(user);
  if (answer.status === 200) {
    const { share_no, amount_fen } = answer.json;
    if (told) assert.deepEqual({ share_no, amount_fen }, told, 'a repeated grab returns the same');
    packet.grabs.set(user, { share_no, amount_fen });
  } else {
    assert.equal(answer.status, 410, answer.text);
    assert.ok(!told, 'an acknowledged share is not revoked');
  }
  return true;
}

// Each of these happens once, although it is repeated.
const end = (packet) => does(sender, `/p/${packet.id}/end`, {}, { state: 'expired' });

function giveBack(packet, user) {
  packet.giver = user;
  return does(user, `/p/${packet.id}/return`, {}, { returned_fen: packet.grabs.get(user).amount_fen, to: 'packet' });
}

function thank(packet, user) {
  packet.thanker = user;
  return does(user, `/p/${packet.id}/thanks`, { text: THANKS }, { text: THANKS });
}

// Call it while all servers run: a packet that is shut opens within seconds.
const grabbed = (packet, user) => poll('the packet is open', () => grab(packet, user));

async function grabAll(packet) {
  for (const user of grabbers) await grabbed(packet, user);
}

async function look(packet, user) {
  const answer = await user.client.get(`/p/${packet.id}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

const settled = (packet, user) => poll('the page shows the grab as settled', async () => {
  const { mine } = await look(packet, user);
  return mine?.settled && mine;
});

// The packet in the tables of a send without an answer; null: there is none.
async function orderOf(packet) {
  const answer = await sender.client.get(`/orders/${packet.key}`);
  if (answer.status === 404) return null;
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

// True when Redis has the packet and it can be opened, now or later.
async function isOpen(packet) {
  const answer = await ask(() => open(grabbers[0], packet.id, { phrase: PHRASE }));
  return answer !== undefined && (answer.status === 200 || isEarly(answer));
}

const balanceFen = async (user) => (await user.client.get('/wallet')).json?.balance_fen;

// ---- damage, for the rules of recovery ----

async function loseLiveKeys(packet) {
  const keys = ['packet', 'shares', 'grabs', 'order'].map((content) => liveKey(packet.id, content));
  assert.equal(await redis('DEL', ...keys), '4');
}

// The state after recovery has shut the packet and died.
const shutPacket = (packet) => redis('HSET', liveKey(packet.id, 'packet'), 'state', 'busy');

async function losePartition(packet) {
  const keys = (await redis('--scan', '--pattern', `${partitionKeys(partitionOf(packet.id))}*`)).split('\n');
  assert.ok(Number(await redis('DEL', ...keys)) > 4);
}

// A packet with one settled grab.
async function grabbedAndSettled() {
  assert.ok(await send());
  const packet = packets.at(-1);
  await grabbed(packet, grabbers[0]);
  await settled(packet, grabbers[0]);
  return packet;
}

// The same; then the settle worker is stopped, the packet may become due, and `lose` removes data from Redis.
async function settledThenLost(lose, due) {
  const packet = await grabbedAndSettled();
  await servers.settle.kill();
  if (due) await expireNow(packet.id);
  await lose(packet);
}

// A packet whose second grab event is damaged; the settle worker has not read it yet.
async function grabbedThenDamaged() {
  assert.ok(await send());
  const packet = packets.at(-1);
  await servers.settle.kill();
  await grabAll(packet);
  const number = packetNumber(packet.id), ofPacket = new RegExp(`^${number},1,`);
  packet.event = (await replaceEvent((text) => ofPacket.test(text) && `${number},damaged`)).content;
}

// The unresolved dead letters, oldest first.
async function letters() {
  const { stdout } = await hongbao('replay');
  return [...stdout.matchAll(/^letter (\d+) .*\n.*\n +(.*)$/gm)].map(([, id, content]) => ({ id, content }));
}

// The damaged grab and the grab after it.
const lettersWritten = () => poll('the letters are written', async () => (await letters()).length === 2);

const replayArgs = ({ id, content }) => [id, ...(content.endsWith('damaged') ? ['--as', `g ${packets[0].event}`] : [])];

async function replayAll() {
  for (let left = await letters(); left.length > 0; left = await letters()) await hongbao('replay', ...replayArgs(left[0]));
}

// ---- the scenarios ----

async function oneForEach(passes) {
  for (let i = 0; i < passes; i++) await grabbedAndSettled();
  return true;
}

// server: the process that dies. prepare(passes): before it is restarted with the crash point. provoke: passes the crash
// point once; false when the process may have died. ends: the sender ends the packets early. lead: replaces prepare and
// provoke: makes all preparation while the process is stopped; the process dies after its start. due: the packets are
// over. passes: the pass at which it dies. repair: the steps of an operator afterwards. finished: true when the settle
// worker has finished what the process that died had begun.
const scenarios = {
  send: { server: 'page', provoke: () => send() },
  'send-with-conditions': { server: 'page', provoke: sendWithConditions, finished: isOpen },
  grab: { server: 'hot', prepare: send, provoke: () => grab(packets[0], grabbers.find((user) => !packets[0].grabs.has(user))) },
  settle: {
    server: 'settle',
    async provoke() {
      assert.ok(await send());
      await grabAll(packets.at(-1));
      return false;
    },
  },
  expire: {
    server: 'settle',
    due: true,
    async provoke() {
      assert.ok(await send());
      await grab(packets.at(-1), grabbers[0]);
      await expireNow(packets.at(-1).id);
      return false;
    },
  },
  end: {
    server: 'page',
    ends: true,
    async prepare() {
      const sent = await send();
      return sent && grab(packets[0], grabbers[0]);
    },
    provoke: () => end(packets[0]),
    finished: async (packet) => (await look(packet, sender)).state === 'expired' && (await orderOf(packet)).closed_at !== null,
  },
  return: {
    server: 'page',
    prepare: oneForEach,
    provoke: () => giveBack(packets.find(({ giver }) => !giver), grabbers[0]),
    finished: async (packet) => (await look(packet, grabbers[0])).mine.returned,
  },
  thanks: {
    server: 'page',
    prepare: oneForEach,
    provoke: () => thank(packets.find(({ thanker }) => !thanker), grabbers[0]),
    finished: async (packet) => (await look(packet, grabbers[0])).mine.thanks === THANKS,
  },
  letter: { server: 'settle', passes: 1, lead: grabbedThenDamaged, repair: () => lettersWritten().then(replayAll) },
};
scenarios.answer = scenarios.grab;
const WITH_CONDITIONS = scenarios['send-with-conditions'];
for (const [whats, lose, due] of [
  [['after-load'], loseLiveKeys], [['after-doors', 'after-mark'], losePartition],
  [['before-refund', 'after-refund'], loseLiveKeys, true],
  [['before-remove', 'after-remove', 'after-commit'], shutPacket, true],
]) {
  const scenario = { server: 'settle', passes: 1, due, lead: () => settledThenLost(lose, due) };
  for (const what of whats) scenarios[`recover-${what}`] = scenario;
}

const scenarioOf = (point) => scenarios[point] ?? scenarios[point.split('-')[0]];

// The points at which a pool dies, and then the settle worker while it finishes the pool's work.
const PAIRS = [
  ['send-after-commit', ['recover-after-load'], WITH_CONDITIONS],
  ['return-after-commit', ['return-after-script', 'return-after-mark']], ['return-after-script', ['return-after-script']],
  ['thanks-after-commit', ['thanks-after-script', 'thanks-after-mark']], ['thanks-after-script', ['thanks-after-script']],
  ['end-after-commit', ['expire-after-close', 'expire-before-refund', 'expire-after-refund']],
  ['end-after-close', ['expire-before-refund']],
];

// ---- one crash ----

// The settle worker dies at the point while it finishes the work of a dead pool; another worker finishes it.
async function workerDies(point, packet, scenario) {
  const { settle, page } = servers;
  await restart(settle, { HB_CRASH: point });
  assertDied(settle, await settle.endsWithin(10_000 * PATIENCE), point);
  await settle.start();
  await page.start();
  packet.id ??= (await orderOf(packet)).id;
  await poll('the worker has finished it', () => scenario.finished(packet));
}

// worker: the point at which the settle worker dies afterwards.
async function visit(point, passes, scenario = scenarioOf(point), worker = undefined) {
  const server = servers[scenario.server];
  const crash = `${point}:${scenario.passes ?? passes}`;
  await meet();
  if (scenario.prepare) assert.ok(await scenario.prepare(passes));
  if (worker) await servers.settle.kill(); // so that nothing is finished before the worker starts that will die

  let how;
  if (scenario.lead) {
    await scenario.lead();
    await server.start({ HB_CRASH: crash });
    how = await server.endsWithin(10_000 * PATIENCE);
  } else {
    await restart(server, { HB_CRASH: crash });
    for (let i = 0; !how && i < 10; i++) {
      how = await scenario.provoke() ? undefined : await server.endsWithin(i < passes ? 1500 : 5000 * PATIENCE);
    }
  }
  assertDied(server, how, point);

  if (worker) await workerDies(worker, packets[0], scenario);
  else await server.start();
  await scenario.repair?.();
  await finish(scenario);
}

// Repeats requests of unknown outcome, grabs the remaining shares or waits for the refund, and checks rows and balances.
async function finish(scenario) {
  for (const packet of packets) {
    if (!packet.id) {
      // An order that was not carried out can't be sent any more once its opening is over.
      if (packet.conditions.opens_at && !await orderOf(packet)) packet.conditions.opens_at = soon();
      assert.ok(await sendAgain(packet));
    }
    if (scenario.ends) assert.ok(await end(packet));
    if (packet.giver) await finishReturn(packet);
    if (packet.thanker) assert.ok(await thank(packet, packet.thanker));
    if (packet.conditions.opens_at) packet.conditions.opens_at = await openNow(packet.id);
    if (scenario.due) await poll('the packet has ended', async () => (await look(packet, sender)).state !== 'open');
    await grabAll(packet);
  }
  for (const packet of packets) await check(packet, scenario);
  for (const user of [sender, ...grabbers]) {
    let fen;
    await poll('the balance is right', async () => (fen = await balanceFen(user)) === user.balanceFen)
      .catch((error) => assert.fail(`${error.message}: ${fen}, not ${user.balanceFen}`));
  }
  await drained(); // last: an audit costs more than the pages
}

// The share that was given back can be opened again; the sender takes it, and then every share is grabbed.
async function finishReturn(packet) {
  await poll('the share is given back', () => giveBack(packet, packet.giver));
  for (const user of [...grabbers, sender]) await grabbed(packet, user);
}

async function check(packet, scenario) {
  await checkConditions(packet);
  const grabs = [...packet.grabs];
  const whole = !scenario.due && !scenario.ends;
  if (whole) assert.equal(grabs.length, GRABBERS + (packet.giver ? 1 : 0), 'every share is grabbed');
  assert.equal(new Set(grabs.map(([, { share_no }]) => share_no)).size, grabs.length, 'no share twice');
  let sumFen = 0;
  for (const [user, { share_no, amount_fen }] of grabs) {
    const mine = await settled(packet, user);
    assert.deepEqual([mine.share_no, mine.amount_fen], [share_no, amount_fen], 'the acknowledged share is the settled one');
    user.balanceFen += amount_fen;
    sumFen += amount_fen;
  }
  if (packet.thanker) await poll('the page shows the thanks', async () => (await look(packet, packet.thanker)).mine.thanks === THANKS);
  if (packet.giver) {
    const { amount_fen: fen } = packet.grabs.get(packet.giver);
    await poll('the page shows the return', async () => (await look(packet, packet.giver)).mine.returned);
    packet.giver.balanceFen -= fen;
    sumFen -= fen;
  }
  if (whole) assert.equal(sumFen, AMOUNT_FEN);
  sender.balanceFen -= sumFen; // the rest was refunded
}

// The packet's page shows its sender the conditions of the send.
async function checkConditions(packet) {
  const { to, phrase, opens_at } = packet.conditions;
  const page = await look(packet, sender);
  assert.deepEqual([page.phrase, page.opens_at], [phrase ?? null, opens_at ?? null]);
  assert.equal(page.receivers?.count ?? 0, to ? GRABBERS : 0);
}

// ---- deletions ----

// A user with an open packet and a share deletes the account; the pool or the worker dies while doing it.
async function visitDeletion(point) {
  const server = point.startsWith('delete-') ? servers.auth : servers.settle;
  await meet();
  const leaver = grabbers[0];
  const fields = { username: leaver.username, password: leaver.password, give_up: '1' };
  const own = await leaver.client.post('/send', { kind: 'even', amount: '1', count: '2' });
  assert.equal(own.status, 201, own.text);
  assert.ok(await send());
  await grabbed(packets[0], leaver);
  await settled(packets[0], leaver);
  await restart(server, { HB_CRASH: point });
  const ask204 = async () => [204, 401].includes((await ask(() => leaver.client.post('/account/delete', fields)))?.status);
  // Begins the deletion, and moves its time so far back that the worker need not wait for requests under way.
  const begin = async () => {
    await poll('the deletion has begun', ask204);
    await sql(`UPDATE user SET deleting_ms = deleting_ms - 60000 WHERE id = ${leaver.id}`);
  };
  if (server === servers.auth) assert.equal(await ask204(), false);
  else await begin();
  assertDied(server, await server.endsWithin(30_000 * PATIENCE), point);
  await server.start();
  await begin();
  await poll('the account is deleted', async () => await sql(`SELECT 1 FROM user WHERE id = ${leaver.id} AND deleted_ms > 0`) !== '');
  await drained();
  const { grabs } = await look(packets[0], sender);
  assert.deepEqual(grabs.map(({ user }) => user.nickname), ['']);
}

// ---- commands ----

async function visitReplay(point) {
  await meet();
  await grabbedThenDamaged();
  await servers.settle.start();
  await lettersWritten();
  const environment = { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, HB_CRASH: point };
  assertCrashed(await run(env.HB_TEST_BINARY, ['replay', ...replayArgs((await letters())[0])], { env: environment }).catch((error) => error), point);
  await replayAll();
  await finish({});
}

// ---- migrations: a database of their own ----

const BESIDE = '--restoring'; // empty tables beside the Redis of a site

const migrate = (arg, extra = {}) => run(env.HB_TEST_BINARY, ['migrate', arg], {
  env: { ...process.env, HB_CONFIG: `${env.HB_TEST_VAR}/admin.conf`, HB_MYSQL_DATABASE: 'hongbao_crash', ...extra },
});

const emptied = () => mariadb('mariadb', '-e', 'DROP DATABASE IF EXISTS hongbao_crash; CREATE DATABASE hongbao_crash');

async function schema() {
  return (await mariadb('mariadb-dump', '--no-data', '--skip-comments', 'hongbao_crash')).replaceAll(/ AUTO_INCREMENT=\d+/g, '');
}

let uninterrupted; // the schema of a migration without a crash

async function visitMigrate(point, passes) {
  uninterrupted ??= await emptied().then(() => migrate(BESIDE)).then(schema);
  await emptied();
  assertCrashed(await migrate(BESIDE, { HB_CRASH: `${point}:${/statement$/.test(point) ? passes : 1}` }).catch((error) => error), point);
  await migrate(BESIDE);
  await migrate('--check');
  assert.equal(await schema(), uninterrupted);
}

// ---- the tests ----

const points = (await hongbao('crash-points')).stdout.trim().split('\n');

test('every crash point has a unique name of words with hyphens, and a scenario', () => {
  assert.ok(points.length > 20);
  assert.equal(new Set(points).size, points.length);
  for (const point of points) {
    assert.match(point, /^[a-z]+(-[a-z]+)+$/);
    assert.ok(/^(migrate|replay|delete|erase|money|withdraw)-/.test(point) || scenarioOf(point), `${point}: no scenario leads there`);
  }
});

function visitOnce(point, i) {
  if (point.startsWith('migrate-')) return visitMigrate(point, 1 + (4 * i) % 9);
  if (point.startsWith('replay-')) return visitReplay(point);
  if (point.startsWith('money-')) return meet().then(() => visitMoney(point, 1 + i % 3, grabbers[0]));
  if (point.startsWith('withdraw-')) return meet().then(() => visitWithdraw(point, grabbers[0]));
  return /^(delete|erase)-/.test(point) ? visitDeletion(point) : visit(point, 1 + i % 3);
}

const visits = PAIRS_ONLY
  ? PAIRS.flatMap(([point, workers, scenario]) => workers.map((worker) => (
    [`${point} and then one of the worker at ${worker} lose`, () => visit(point, 1, scenario, worker)])))
  : [...points.map((point) => [`${point} loses`, (i) => visitOnce(point, i)]),
    ...points.filter((point) => point.startsWith('send-'))
      .map((point) => [`${point} of a packet with conditions loses`, (i) => visit(point, 1 + i % 3, WITH_CONDITIONS)]),
    ...SERVICE_POINTS.map((point) => [`${point} of a call of a program loses`, () => meet().then(() => visitService(point, grabbers[0]))])];

for (const [what, once] of visits) {
  test(`a crash at ${what} nothing`, async () => {
    for (let i = 0; i < TIMES; i++) await once(i);
  });
}
