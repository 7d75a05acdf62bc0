// Unreachable stores and killed pools: requests get 503, no process exits, and the service recovers soon after. Also:
// hashing does not delay other requests.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { env, processes } from './support/instance.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { Client, audit, newUser, poll, sendPacket, site } from './support/site.js';
import { words } from './support/texts.js';
import { landscape, upload } from './support/upload.js';

const OUTAGE_MS = 2500; // longer than the worker's interval of one second

// How often the settle worker has logged that a store is away, and that it is back.
function settleLog() {
  const lines = readFileSync(`${env.HB_TEST_VAR}/log/settle.log`, 'utf8').split('\n');
  const count = (text) => lines.filter((line) => line.includes(text)).length;
  return { away: count('store unreachable'), again: count('stores reachable again') };
}

test('without Redis pages are 503, lead back to what one did, and recover by themselves', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '5', count: '2' });
  await site.without(['redis'], async () => {
    const view = await sender.client.get(path);
    assert.equal(view.status, 503);
    assert.ok(Number(view.headers.get('retry-after')) >= 1);
    assert.match((await sender.client.getHtml(path)).text, /太火爆啦，稍后再试试吧/);
    assert.equal((await sender.client.post(`${path}/open`)).status, 503);
    const tapped = (await sender.client.postHtml(`${path}/open`)).text;
    assert.ok(tapped.includes(`<a class="button" href="${path}">`), 'a link back to the packet');
    const login = await new Client().postHtml('/login', { username: 'somebody', password: 'x'.repeat(9), next: '/wallet' });
    assert.equal(login.status, 503);
    assert.ok(login.text.includes('href="/login?next=/wallet&amp;username=somebody"'), login.text);
    assert.equal((await sender.client.post('/send', { kind: 'even', amount: '1', count: '1' })).status, 503);
    assert.equal((await new Client().get('/readyz')).status, 503);
    assert.equal((await new Client().get('/healthz')).status, 200);
  });
  const packet = await poll('the page is back', async () => {
    const answer = await sender.client.get(path);
    return answer.status === 200 && answer.json;
  });
  assert.equal(packet.grabbed_count, 0);
  await audit();
});

test('of a page pool that accepts and never answers /readyz says 503, before other pages give up', async () => {
  const pids = processes('page');
  const answered = [];
  const ask = async (path) => {
    const { status } = await new Client().get(path);
    answered.push(`${path} ${status}`);
  };
  pids.forEach((pid) => process.kill(pid, 'SIGSTOP'));
  try {
    await Promise.all([ask('/wallet'), ask('/readyz'), ask('/readyz/page')]);
  } finally {
    pids.forEach((pid) => process.kill(pid, 'SIGCONT'));
  }
  assert.equal(answered.pop(), '/wallet 503');
  assert.deepEqual(answered.sort(), ['/readyz 503', '/readyz/page 503']);
  await poll('the site is ready', async () => (await new Client().get('/readyz')).status === 200);
});

test('without MySQL grabs succeed, money pages are 503, and everything settles afterwards', async () => {
  const path = await sentPath(await newUser({ yuan: '10' }), { kind: 'lucky', amount: '5', count: '2' });
  const grabber = await newUser();
  const before = settleLog();
  let share;
  await site.without(['mariadb'], async () => {
    share = await opened(grabber, path);
    assert.equal((await grabber.client.get(path)).json.mine.settled, false);
    const wallet = await grabber.client.get('/wallet');
    assert.equal(wallet.status, 503);
    assert.ok(wallet.headers.get('retry-after'));
    assert.equal((await upload(grabber.client, '/account/picture', landscape(1))).status, 503);
    assert.equal((await new Client().post('/login', { username: 'x1', password: 'password' })).status, 503);
    assert.equal((await new Client().get('/readyz')).status, 503);
    await poll('the worker says that MySQL is away', () => settleLog().away > before.away);
    await pause(OUTAGE_MS);
  });
  await settled(grabber, path);
  assert.equal((await grabber.client.get('/wallet')).json.balance_fen, share.amount_fen);
  await poll('a repeated upload works', async () => (await upload(grabber.client, '/account/picture', landscape(1))).status === 200);
  await poll('the worker says that MySQL is back', () => settleLog().again > before.again);
  assert.deepEqual(settleLog(), { away: before.away + 1, again: before.again + 1 }, 'an outage is told once');
  await audit();
});

// A role may lack a right, because `demo = on` came without a setup or because somebody revoked it. The site then
// behaves as if a store were away: no crash, no change, and it works as soon as the right is granted.
test('a role without its rights: pages are 503, the worker waits, and all goes on when they are granted', async () => {
  const right = (verb, role, what) => sql(`${verb} EXECUTE ON ${what} ${verb === 'GRANT' ? 'TO' : 'FROM'} 'hongbao_${role}'@'localhost'`);
  const without = async (role, what, body) => {
    await right('REVOKE', role, what);
    try {
      await body();
    } finally {
      await right('GRANT', role, what);
    }
  };
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'even', amount: '1', count: '1' });
  const deposit = () => sender.client.post('/wallet/deposit', { amount: '3', request_key: 'right-refused' });

  await without('page', 'PROCEDURE ledger_deposit', async () => {
    const refused = await deposit();
    assert.equal(refused.status, 503);
    assert.ok(Number(refused.headers.get('retry-after')) >= 1);
    assert.match((await sender.client.postHtml('/wallet/deposit', { amount: '3' })).text, /太火爆啦，稍后再试试吧/);
  });
  assert.equal((await deposit()).status, 201);
  await without('page', 'PROCEDURE packet_send_with', async () => {
    assert.equal((await sender.client.post('/send', { kind: 'even', amount: '1', count: '1' })).status, 503);
  });
  const letters = () => sql('SELECT COUNT(*) FROM dead_letter');
  const before = await letters();
  await without('settle', 'PROCEDURE ledger_settle', async () => {
    const { away } = settleLog();
    assert.equal((await opened(sender, path)).result, 'grabbed');
    await poll('the worker has tried', () => settleLog().away > away);
  });
  await settled(sender, path);
  assert.equal(await letters(), before);
  await audit();
});

test('a payment that reached no process is busy, not unknown; an opening that reached none leads to the packet', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '2', count: '2' });
  await site.without(['page', 'hot'], async () => {
    const answer = await sendPacket(sender, { kind: 'even', amount: '1', count: '3' });
    assert.deepEqual([answer.status, answer.json.type], [503, 'urn:hongbao:problem:busy']);
    const tapped = await sender.client.postHtml(`${path}/open`);
    assert.equal(tapped.status, 503);
    assert.ok(tapped.text.includes(`<a class="button" href="${path}">${words('zh-CN', 'problem_packet')}`), tapped.text);
  });
});

for (const pool of ['hot', 'page', 'auth']) {
  test(`killing every ${pool} process under load costs at most what it held, and the pool recovers`, async () => {
    const path = await sentPath(await newUser({ yuan: '100' }), { kind: 'lucky', amount: '50', count: '100' });
    const users = await site.demoUsers(60);
    const request = { hot: (c) => c.post(`${path}/open`), page: (c) => c.get('/wallet'), auth: () => new Client().getHtml('/login') }[pool];
    const answers = [];
    const load = Promise.all(users.map(async (client) => { for (let i = 0; i < 20; i++) answers.push(await request(client)); }));
    const killed = await site.killPool(pool);
    assert.ok(killed > 0);
    await load;
    const failed = answers.filter((answer) => answer.status >= 500);
    assert.ok(answers.length - failed.length >= 60, `${failed.length} of ${answers.length} failed`);
    assert.ok(failed.every((answer) => [502, 503, 504].includes(answer.status)));
    await poll('the pool is back', async () => (await request(users[0])).status < 500);
    if (pool === 'hot') {
      const shares = new Set();
      for (const client of users) {
        const { status, json } = await request(client);
        assert.equal(status, 200);
        shares.add(json.share_no);
      }
      assert.equal(shares.size, users.length, 'one share, one user');
    }
    await audit();
  });
}

test('a killed settle worker is restarted and finishes the work', async () => {
  const path = await sentPath(await newUser({ yuan: '10' }), { kind: 'even', amount: '1', count: '5' });
  const users = (await site.demoUsers(5)).map((client) => ({ client }));
  await site.killPool('settle');
  for (const user of users) await opened(user, path);
  for (const user of users) await settled(user, path);
  await audit();
});

// The nice values of a process and of its session, where Linux groups processes by session (autogroup).
function niceness(pid) {
  const own = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[16]);
  const file = `/proc/${pid}/autogroup`;
  const session = existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) : null;
  return { own, session };
}

test('the auth pool runs with the lowest CPU priority, also after a killed process was replaced', async () => {
  const lowered = () => {
    const found = processes('auth').map(niceness);
    return found.length === 2 && found.every(({ own, session }) => own >= 10 && (session === null || session >= 10));
  };
  assert.ok(lowered(), JSON.stringify(processes('auth').map(niceness)));
  const here = niceness(process.pid);
  for (const pid of ['hot', 'page', 'nginx', 'redis'].flatMap(processes)) {
    const { own, session } = niceness(pid);
    assert.ok(own <= here.own && (session ?? 0) === 0, `process ${pid} has nice values ${own} and ${session}`);
  }
  await site.killPool('auth');
  await poll('the new processes are lowered', lowered);
});
