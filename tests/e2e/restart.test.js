// Restarts in place under load: no 5xx, no broken connection, no lost grab. RESTART_ROUNDS=N sets the number of
// restarts.
import assert from 'node:assert/strict';
import { cpSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { retries } from './support/client.js';
import { HowTo } from './support/how_to.js';
import { dev, env, processes } from './support/instance.js';
import { sql } from './support/mysql.js';
import { sentPath } from './support/packets.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, audit, newUser, poll, pooled, sendPacket, site, unique } from './support/site.js';

const ROUNDS = Number(process.env.RESTART_ROUNDS ?? 5);
const ROLES = ['settle', 'auth', 'page', 'hot'];

after(() => site.allUp());

const all = () => ROLES.flatMap((role) => processes(role).map((pid) => `${role} ${pid}`));

// How often a process was restarted in place, from its name.
const restarts = (pid) => Number(readFileSync(`/proc/${pid}/comm`, 'utf8').match(/^hongbao (\d+)/)?.[1] ?? 0);

// What `systemctl reload` runs.
const reload = (pid) => run(join(env.HB_TEST_DEV, '../deploy/systemd/reload.sh'), [pid]);

const log = (name) => readFileSync(`${env.HB_TEST_VAR}/log/${name}.log`, 'utf8');

// Visitors that send requests until stop() is called. counts: answers by kind; promises: the answer to each grab.
class Crowd {
  counts = {};

  promises = new Map();

  wrong = [];

  packets = [];

  #on = true;

  #work = [];

  // Repeats a request, width times concurrently.
  busy(kind, width, once) {
    const loop = async () => {
      while (this.#on) {
        const answer = await once().catch((error) => ({ status: 0, text: String(error) }));
        this.counts[kind] = (this.counts[kind] ?? 0) + 1;
        if (answer.status === 0 || answer.status >= 500) this.wrong.push(`${kind}: ${answer.status} ${answer.text}`);
      }
    };
    for (let i = 0; i < width; i++) this.#work.push(loop());
  }

  async send(client) {
    const sent = await client.post('/send', { kind: 'lucky', amount: '1.00', count: '20', request_key: unique('k') });
    if (sent.status === 201) this.packets.push(`/p/${sent.json.id}`);
    return sent;
  }

  async open(index, client) {
    const path = this.packets[this.packets.length - 1 - Math.floor(Math.random() * Math.min(3, this.packets.length))];
    const answer = await client.post(`${path}/open`, {});
    if (answer.status === 200) {
      const { share_no, amount_fen } = answer.json;
      const told = this.promises.get(`${index} ${path}`) ?? { path, client, share_no, amount_fen };
      this.promises.set(`${index} ${path}`, told);
      if (told.share_no !== share_no || told.amount_fen !== amount_fen) this.wrong.push(`another share than before: ${answer.text}`);
    }
    return answer;
  }

  async stop() {
    this.#on = false;
    await Promise.all(this.#work);
  }
}

async function crowdOf(users, member) {
  const crowd = new Crowd();
  const any = () => Math.floor(Math.random() * users.length);
  const first = await crowd.send(users[0]);
  assert.equal(first.status, 201, first.text);
  crowd.busy('open', 12, () => { const i = any(); return crowd.open(i, users[i]); });
  crowd.busy('view', 6, () => users[any()].get(crowd.packets.at(-1)));
  crowd.busy('send', 2, () => crowd.send(users[any()]));
  crowd.busy('wallet', 3, () => users[any()].get('/wallet'));
  crowd.busy('login', 2, () => new Client().post('/login', { username: member.username, password: member.password }));
  return crowd;
}

test(`${ROUNDS} restarts of all processes under load cause no errors`, async () => {
  const users = await site.demoUsers(100);
  const crowd = await crowdOf(users, await newUser());
  const earlier = new Map(all().map((name) => [name, restarts(name.split(' ')[1])]));
  const retried = retries.count;
  try {
    for (let i = 0; i < ROUNDS; i++) {
      await site.dev('restart');
      assert.deepEqual(crowd.wrong.slice(0, 5), [], `restart ${i}`);
    }
  } finally {
    await crowd.stop();
  }

  assert.deepEqual(crowd.wrong.slice(0, 5), []);
  assert.equal(retries.count - retried, 0, 'no connection was broken');
  for (const [name, count] of earlier) assert.equal(restarts(name.split(' ')[1]), count + ROUNDS, name);
  for (const kind of ['open', 'view', 'send', 'wallet', 'login']) assert.ok(crowd.counts[kind] >= ROUNDS, `${kind} was asked for`);
  assert.ok(crowd.promises.size >= ROUNDS);
  await pooled([...crowd.promises.values()], 16, async ({ path, client, share_no, amount_fen }) => {
    const { mine } = (await client.get(path)).json;
    assert.deepEqual([mine.share_no, mine.amount_fen], [share_no, amount_fen]);
  });
  console.log(`answers: ${JSON.stringify(crowd.counts)}, ${crowd.promises.size} grabs, 0 wrong`);
  await audit();
});

test('a restart reads new settings, and refuses invalid ones', async () => {
  const sender = await newUser({ yuan: '10' });
  const send = () => sendPacket(sender, { kind: 'even', amount: '1', count: '1', greeting: '恭喜发财' });
  const settings = readFileSync(env.HB_TEST_CONFIG, 'utf8');
  const newer = temporaryFolder('sql', 0o755); // for the user of the servers, too
  try {
    writeFileSync(env.HB_TEST_CONFIG, `${settings}greeting_graphemes_max = 3\n`);
    assert.equal((await send()).status, 201, 'not yet');
    await site.dev('restart', 'page');
    assert.equal((await send()).status, 422);

    writeFileSync(env.HB_TEST_CONFIG, `${settings}no_such_setting = 1\n`);
    const running = all();
    await assert.rejects(site.dev('restart'), /configuration.* broken/);
    for (const role of ROLES) {
      const pids = processes(role);
      const refusals = () => log(role).split('restart refused').length - 1;
      const seen = refusals();
      for (const pid of pids) process.kill(pid, 'SIGHUP');
      await poll(`${role} refuses`, () => refusals() === seen + pids.length);
      assert.match(log(role), /hongbao\.conf:\d+: there is no such setting: no_such_setting/);
      assert.match(log(role), /restart refused: check failed.* exit=2/);
      await assert.rejects(reload(pids[0]), /refuses the new program and goes on with the old one/);
    }
    cpSync(new URL('../../sql', import.meta.url), newer, { recursive: true });
    const next = readdirSync(`${newer}/migrations`).length + 1;
    writeFileSync(`${newer}/migrations/${String(next).padStart(4, '0')}_later.sql`, 'CREATE TABLE later (id INT);\n');
    writeFileSync(env.HB_TEST_CONFIG, `${settings}sql_dir = ${newer}\n`);
    await assert.rejects(site.dev('restart'), /migrations are applied/);
    writeFileSync(env.HB_TEST_CONFIG, `${settings}partitions = 8\n`);
    await assert.rejects(site.dev('restart'), /does not fit the tables/);
    const [worker] = processes('settle');
    const refused = log('settle').split('restart refused').length;
    process.kill(worker, 'SIGHUP');
    await poll('the worker refuses', () => log('settle').split('restart refused').length > refused);
    assert.match(log('settle'), /made for another number of partitions.*tables=16 configured=8/);
    assert.deepEqual(all(), running, 'no process has ended');
    assert.equal((await send()).status, 422, 'as before');
    assert.equal((await new Client().getHtml('/login')).status, 200);
  } finally {
    writeFileSync(env.HB_TEST_CONFIG, settings);
    await site.dev('restart');
  }
  const sent = await send();
  assert.equal(sent.status, 201);
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).status, 200);
  await audit();
});

test('a program that is older than the tables serves and restarts when what they have more is additive', async () => {
  const newer = temporaryFolder('sql', 0o755); // for the user of the servers, too
  const ready = async () => (await new Client().get('/readyz')).status;
  const next = readdirSync(new URL('../../sql/migrations', import.meta.url)).length + 1;
  const migration = (version, text) => writeFileSync(`${newer}/migrations/${String(version).padStart(4, '0')}_later.sql`, text);
  try {
    cpSync(new URL('../../sql', import.meta.url), newer, { recursive: true });
    migration(next, '-- additive: yes\nCREATE TABLE later (id INT);\n');
    await dev(['hongbao', 'migrate'], { HB_SQL_DIR: newer });
    assert.equal(await ready(), 200);
    assert.match((await site.hongbao('migrate')).stdout, /newer than this program .* left as it is/);
    await site.dev('restart');
    await site.startAnew(['page']);
    assert.equal(await ready(), 200);

    migration(next + 1, '-- additive: no, a column is gone\nALTER TABLE later DROP COLUMN id, ADD COLUMN no INT;\n');
    await dev(['hongbao', 'migrate'], { HB_SQL_DIR: newer });
    assert.equal(await ready(), 503);
    await assert.rejects(site.hongbao('migrate'), ({ stdout }) => /_later, .* not additive: install/.test(stdout));
    await assert.rejects(site.dev('restart'), /not additive/);
  } finally {
    await sql(`DROP TABLE later; DELETE FROM schema_migration WHERE version >= ${next}`);
  }
  assert.equal(await ready(), 200);
  await site.dev('restart');
});

test('the site stays ready while an upgrade has put its migrations into the folder, and a new process asks for them', async () => {
  const unpacked = temporaryFolder('sql', 0o755); // for the user of the servers, too
  cpSync(new URL('../../sql', import.meta.url), unpacked, { recursive: true });
  const next = readdirSync(`${unpacked}/migrations`).length + 1;
  const ready = () => new Client().get('/readyz');
  await site.withSetting(['page'], { HB_SQL_DIR: unpacked }, async () => {
    try {
      await poll('the site is ready', async () => (await ready()).status === 200);
      writeFileSync(`${unpacked}/migrations/${String(next).padStart(4, '0')}_later.sql`, '-- additive: yes\nCREATE TABLE later (id INT);\n');
      for (let i = 0; i < 10; i++) assert.equal((await ready()).status, 200); // of each process
      await site.killPool('page');
      await poll('the new processes want the migration', async () => /migrations are missing: run hongbao migrate/.test((await ready()).text));
      await dev(['hongbao', 'migrate'], { HB_SQL_DIR: unpacked });
      await poll('the site is ready', async () => (await ready()).status === 200);
    } finally {
      await sql(`DROP TABLE IF EXISTS later; DELETE FROM schema_migration WHERE version >= ${next}`);
    }
  });
});

test('nginx is reloaded and both stores are restarted by name; a server that does not run or exist is an error', async () => {
  await site.dev('restart', 'nginx', 'redis', 'mariadb');
  await poll('the site is ready', async () => (await new Client().get('/readyz')).status === 200);
  await assert.rejects(site.dev('restart', 'nonsense'), /no server 'nonsense'/);
  await site.without(['auth'], () => assert.rejects(site.dev('restart', 'auth'), /auth does not run/));
});

// Stops every process of the hot pool (SIGSTOP), calls ask(), which waits for them, and kills them all.
async function killedWhileAsked(ask) {
  const pids = processes('hot');
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  let answer;
  try {
    answer = ask();
    // After this many static files, nginx has passed the request on.
    for (let i = 0; i < 20; i++) assert.equal((await new Client().get('/static/app.css')).status, 200);
  } finally {
    for (const pid of pids) process.kill(pid, 'SIGKILL');
  }
  return answer;
}

test('nginx repeats a GET whose process was killed, but never a POST', async () => {
  const sender = await newUser({ yuan: '10' });
  const path = await sentPath(sender, { kind: 'even', amount: '1', count: '2' });
  const grabber = await newUser();
  const warm = async () => poll('the pool is back', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => grabber.client.get(path)));
    return answers.every((answer) => answer.status === 200);
  });
  await warm();
  assert.equal((await killedWhileAsked(() => grabber.client.get(path))).status, 200);
  await warm();
  const open = await killedWhileAsked(() => grabber.client.post(`${path}/open`, {}));
  assert.equal(open.status, 503, open.text);
  assert.equal(open.json.type, 'urn:hongbao:problem:unknown');
  assert.equal((await grabber.client.get(path)).json.mine, null, 'no process has executed it');
  await audit();
});

test('the commands of docs/how-to/restart.md', async () => {
  const page = new HowTo('restart.md', import.meta.url);
  await page.steps('Restart without an error');
  assert.deepEqual(page.untested(), []);
  await poll('the site is ready', async () => (await new Client().get('/readyz')).status === 200);
});
