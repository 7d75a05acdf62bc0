// The commands of docs/how-to/backup.md: a backup that was made under load is restored, and no fen is missing.
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder, processesWith, refusal, spoil, start } from './support/backups.js';
import { HowTo } from './support/how_to.js';
import { blocksOf } from './support/how_to_blocks.js';
import { env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { run, temporaryFolder } from './support/run.js';
import { audit, Client, poll, pooled, POOLS, registerUser as newUser, site, unique } from './support/site.js';

const PAGE = 'Without the package';
const page = new HowTo('backup.md', import.meta.url);

after(() => site.allUp());

const open = async (user, packet) => (await opened(user, packet)).amount_fen;
const view = async (user, packet) => (await user.client.get(packet)).json;

// Logs in, once the restarted pool is ready.
async function logIn({ client, username, password }) {
  let answer;
  await poll('the pool auth is ready', async () => {
    answer = await client.post('/login', { username, password });
    return answer.status !== 503;
  });
  assert.equal(answer.status, 200, answer.text);
}

// Visitors who send packets and open them until stop() is called. grabs: what was acknowledged, in the order of time.
function load(users) {
  const grabs = [];
  let running = true;
  const visitor = async (user, others) => {
    while (running) {
      const packet = await sentPath(user, { kind: 'lucky', amount: '1', count: '6' });
      for (const other of others) {
        const answer = await other.client.post(`${packet}/open`, {});
        if (answer.status === 200) grabs.push({ user: other, packet, fen: answer.json.amount_fen });
      }
    }
  };
  const visitors = users.map((user) => visitor(user, users.filter((other) => other !== user)));
  return { grabs, stop: async () => { running = false; await Promise.all(visitors); } };
}

test('backups made at random moments of a load are restored with every grab that was acknowledged before them', async () => {
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser({ yuan: '500' })));
  const visitors = load(users);
  const backups = [];
  for (let i = 0; i < 2; i++) {
    const moment = visitors.grabs.length + 1 + Math.floor(Math.random() * 60);
    await poll('some grabs', () => visitors.grabs.length >= moment);
    const promised = visitors.grabs.length;
    const BACKUP = folder(`load-${i}`);
    await page.step(PAGE, 0, { BACKUP });
    assert.ok(visitors.grabs.length > promised, 'the load goes on during the backup');
    assert.ok(!existsSync(`${BACKUP}.partial`));
    backups.push({ BACKUP, promised });
  }
  await visitors.stop();
  for (const { BACKUP, promised } of backups.sort(() => Math.random() - 0.5)) {
    await page.step(PAGE, 1, { BACKUP });
    await audit();
    await pooled(visitors.grabs.slice(0, promised), 8, async ({ user, packet, fen }) => {
      assert.equal((await view(user, packet)).mine.amount_fen, fen);
    });
    const packet = await sentPath(users[0], { kind: 'even', amount: '3', count: '3' });
    assert.equal(await open(users[1], packet), 300);
    await settled(users[1], packet);
    await audit();
  }
});

test('a site whose stores are gone is restored, and a packet of the backup goes on', async () => {
  const BACKUP = folder('gone');
  const sender = await newUser({ yuan: '100' });
  const [early, late, last] = await Promise.all([newUser(), newUser(), newUser()]);
  const packet = await sentPath(sender, { kind: 'lucky', amount: '40', count: '3' });
  const fen = await open(early, packet);
  await site.hongbao('backup', BACKUP);
  const program = (await site.hongbao('version')).stdout.trim();
  assert.ok(readFileSync(join(BACKUP, 'manifest'), 'utf8').includes(`\nprogram = ${program}\n`), program);
  await open(late, packet);
  await site.dev('stop', ...POOLS, 'redis', 'mariadb');
  for (const store of ['redis', 'mariadb']) rmSync(join(env.HB_TEST_VAR, 'data', store), { recursive: true });
  await site.dev('start', 'mariadb', 'redis');
  const keys = join(env.HB_TEST_VAR, 'rights/card.keys');
  const right = readFileSync(keys, 'utf8');
  writeFileSync(keys, right.replace(/[0-9a-f]{64}/, 'a'.repeat(64))); // as if a new machine had made another secret
  const began = Math.floor(Date.now() / 1000);
  await page.step(PAGE, 1, { BACKUP });
  const next = await sql(`SELECT MIN(AUTO_INCREMENT) FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN ('topup', 'withdrawal', 'transfer')`);
  assert.ok(Number(next) >= began, 'what a payment or a program outside names is not given again');
  assert.equal(readFileSync(keys, 'utf8'), right);
  await site.allUp();
  assert.equal((await view(early, packet)).mine.amount_fen, fen); // with the session of the backup
  assert.equal(await open(early, packet), fen);
  assert.equal(await open(late, packet) + await open(last, packet) + fen, 4000);
  await settled(last, packet);
  await audit();
});

test('without its copy of Redis every packet is rebuilt from the tables, and everybody logs in again', async () => {
  const BACKUP = folder('without-redis');
  const sender = await newUser({ yuan: '100' });
  const [early, late] = await Promise.all([newUser(), newUser()]);
  const packet = await sentPath(sender, { kind: 'even', amount: '4', count: '2' });
  await open(early, packet);
  await settled(early, packet);
  await site.hongbao('backup', BACKUP);
  await page.step(PAGE, 0, { BACKUP });
  await page.step(PAGE, 2, { BACKUP });
  assert.equal((await early.client.get('/wallet')).status, 401);
  for (const user of [early, late]) await logIn(user);
  assert.equal((await view(early, packet)).mine.amount_fen, 400);
  assert.equal(await open(late, packet), 400);
  await settled(late, packet);
  await audit();
});

test('what a killed restore leaves is not taken for a site; the next one with --replace brings the site back', async () => {
  const BACKUP = folder('killed');
  const user = await newUser({ yuan: '7' });
  const packet = await sentPath(user, { kind: 'even', amount: '2', count: '2' });
  await site.hongbao('backup', BACKUP);
  const slow = folder('slow');
  cpSync(BACKUP, slow, { recursive: true });
  await spoil(slow, "sed -i 's/^-- Table structure for table .user.$/SELECT SLEEP(600);/' tables.sql");
  await site.dev('stop', ...POOLS);
  const { child, temporary, ended } = start('slow', ['restore', '--replace', slow]);
  await poll('the tables are half restored', async () => /SLEEP/.test(await sql("SELECT info FROM information_schema.processlist WHERE user = 'hongbao_migrate'")));
  child.kill('SIGKILL');
  await ended;
  await poll('nothing runs, so nothing is loaded any more', () => processesWith(temporary).length === 0);
  assert.match(await sql('SHOW TABLES'), /^transfer$/m);
  for (const args of [['migrate'], ['migrate', '--check']]) {
    const failed = await site.hongbao(...args).then(() => assert.fail(`${args.join(' ')} did not fail`), (error) => error);
    assert.match(failed.stdout + failed.stderr, /a restore was interrupted: repeat it with --replace/);
  }
  await noFenceOpens(user, packet);
  assert.match(await refusal(['backup', folder('half')]), /have no schema, as after a restore that was interrupted/);
  await page.step(PAGE, 1, { BACKUP });
  await site.allUp();
  assert.equal((await user.client.get('/wallet')).json.balance_fen, 300);
  assert.equal(await open(user, packet), 200);
  await audit();
});

// Starts the pools on half the tables: the worker refuses them, and no share is given out.
async function noFenceOpens(user, packet) {
  const log = join(env.HB_TEST_VAR, 'log/settle.log');
  const before = readFileSync(log).length;
  await site.dev('start', 'settle', 'hot', 'page', 'nginx');
  await poll('the worker refuses the tables', () =>
    readFileSync(log).subarray(before).includes('a restore was interrupted: repeat it with --replace'));
  const refused = await user.client.post(`${packet}/open`, {});
  assert.equal(refused.status, 503, refused.text);
  const ready = await user.client.get('/readyz');
  assert.equal(ready.status, 503);
  assert.match(ready.text, /a restore was interrupted: repeat it with --replace/);
  await site.dev('stop', 'nginx', 'page', 'hot', 'settle');
}

// ---- money from outside since the backup ----

const LOST = temporaryFolder('lost');
const [reported, repaired] = blocksOf('money.md', import.meta.url)['After a backup was restored'];

// Runs commands as an operator types them, in the folder of the files: { code, stdout, stderr }.
function typed(commands) {
  if (!existsSync(join(LOST, 'hongbao'))) symlinkSync(env.HB_TEST_BINARY, join(LOST, 'hongbao'));
  return run('bash', ['-euo', 'pipefail', '-c', commands], { cwd: LOST, env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, PATH: `${LOST}:${process.env.PATH}` } })
    .then((done) => ({ code: 0, ...done }), (error) => error);
}

async function money(...args) {
  const { code, stdout, stderr } = await tried(['money', ...args]);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return JSON.parse(stdout || '{}');
}

const through = (reference) => ['--channel', 'cards', '--reference', reference, '--json'];
const register = (username) => new Client().post('/register', { username, nickname: username, password: 'a good password' });
const holds = async () => [await sql(`SELECT u.username, a.balance_fen FROM account AS a JOIN user AS u ON u.id = a.id WHERE u.username LIKE 'u%' ORDER BY 1`),
  await sql("SELECT state, COUNT(*) FROM withdrawal GROUP BY 1"), await sql('SELECT state, COUNT(*) FROM topup GROUP BY 1'),
  await sql("SELECT -balance_fen FROM account WHERE id = (SELECT id FROM channel WHERE name = 'cards')")];

// Reports what differs as on the page, with another name for the files.
async function differences(since, name) {
  const commands = reported.replace("'2026-11-30 03:00'", `'${since}'`).replace('lost', name);
  const { code, stdout, stderr } = await typed(commands);
  const dos = [...stdout.matchAll(/^ {2}do: (.*)$/gm)].map((match) => match[1]);
  assert.equal(stderr, dos.length > 0 ? `hongbao money report: ${dos.length} differences\n` : '');
  return { code, stdout, dos };
}

test('what a channel moved since the backup is named by its own list, and comes back by the commands of the page', async () => {
  const [BACKUP, number] = [folder('channel'), unique('r')];
  const [ann, ben, eve, new1] = [await newUser(), await newUser(), await newUser(), unique('u')];
  const { stdout } = await tried(['money', 'channel', 'cards', '--withdrawals', 'on', '--topup-url', 'https://pay.example/']);
  assert.match(stdout, /cards/);
  await money('credit', ann.username, '100', ...through(`A-${number}`));
  const asked = await ann.client.post('/wallet/withdraw', { amount: '30', account: 'IBAN 1', channel: 'cards', password: ann.password, request_key: unique('k') });
  assert.equal(asked.status, 201, asked.text);
  const ordered = await ben.client.post('/wallet/topup', { amount: '50', channel: 'cards', request_key: unique('k') });
  assert.equal(ordered.status, 201, ordered.text);
  await site.hongbao('backup', BACKUP);
  const [withdrawal, order] = [(await sql('SELECT MAX(id) FROM withdrawal')).trim(), (await sql('SELECT MAX(id) FROM topup')).trim()];
  assert.equal((await register(new1)).status, 201);
  await money('credit', ben.username, '20', ...through(`B-${number}`), '--memo', "it's \"20\"; $HOME");
  await money('debit', ann.username, '10', ...through(`D ${number}`));
  await money('post', withdrawal, '--reference', `P-${number}`, '--json');
  await money('paid', order, '--reference', `T-${number}`, '--json');
  const last = (await money('credit', new1, '5', ...through(`N-${number}`))).id;
  const before = await holds();
  writeFileSync(join(LOST, 'cards.csv'), `\ufeffTime;Amount;Reference;Username;Memo
2026-11-30 01:00;100.00;A-${number};${ann.username};
2026-11-30 04:00;20.00;B-${number};${ben.username};"it's ""20""; $HOME"
2026-11-30 04:01;-10.00;D ${number};${ann.username};
2026-11-30 04:02;-30.00;P-${number};${ann.username};
2026-11-30 04:03;50.00;T-${number};;top-up ${order}
2026-11-30 04:04;5.00;N-${number};${new1};
`);
  const since = readFileSync(join(BACKUP, 'manifest'), 'utf8').match(/^tables_at = (.*)$/m)[1];
  assert.deepEqual((await differences(since, 'none')), { code: 0, stdout: '6 rows in the list, 5 transfers here since then, 0 differences\n', dos: [] });
  await page.step(PAGE, 1, { BACKUP });
  await site.allUp();
  const first = await differences(since, 'lost');
  assert.equal(first.code, 1);
  assert.deepEqual(first.dos, [
    `hongbao money credit ${ben.username} 20.00 --channel cards --reference B-${number} --memo 'it'\\''s "20"; $HOME'`,
    `hongbao money debit ${ann.username} 10.00 --channel cards --reference 'D ${number}'`,
    `hongbao money post ${withdrawal} --reference P-${number}`,
    `hongbao money paid ${order} --amount 50.00 --reference T-${number}`,
    `there is no user ${new1} here; when the user has registered again, repeat this report`,
  ]);
  for (const check of repaired.trim().split('\n')) assert.equal((await typed(`${check} --check`)).code, 0, check);
  const done = await typed(repaired);
  assert.equal(done.code, 0, done.stderr);
  assert.equal((await typed(first.dos[3])).code, 0);
  assert.equal((await register(new1)).status, 201);
  const second = await differences(since, 'again');
  assert.deepEqual(second.dos, [`hongbao money credit ${new1} 5.00 --channel cards --reference N-${number}`]);
  assert.equal((await typed(second.dos[0])).code, 0);
  assert.equal((await differences(since, 'none')).code, 0);
  assert.equal((await holds()).join('\n'), before.join('\n'));
  assert.ok((await money('credit', eve.username, '1', ...through(`E-${number}`))).id > last, 'no number of a transfer comes again');
  assert.equal((await differences(since, 'none')).code, 1, 'the last one is not in the list');
  assert.equal((await money('report', '--json')).balanced, true);
  await audit();
});

test('nightly backups: the newest are kept', async () => {
  const BACKUP = folder('kept');
  for (const name of ['2001-01-01T000000Z', '2002-01-01T000000Z.partial']) mkdirSync(join(`${BACKUP}-nightly`, name), { recursive: true });
  for (let i = 1; i < 14; i++) mkdirSync(join(`${BACKUP}-nightly`, `20${String(i + 10)}-01-01T000000Z`));
  writeFileSync(join(`${BACKUP}-nightly`, 'a note'), '');
  await page.step(PAGE, 3, { BACKUP });
  const names = readdirSync(`${BACKUP}-nightly`).sort();
  assert.equal(names.length, 15);
  assert.ok(names.includes('a note') && !names.some((name) => /^2001|partial/.test(name)), names.join(' '));
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
