// The commands of docs/how-to/backup.md: both stores are restored from copies of different moments, and no fen is
// missing.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { HowTo } from './support/how_to.js';
import { audit, newUser, poll, sendPacket, site } from './support/site.js';

const page = new HowTo('backup.md');
let BACKUP;

before(() => { BACKUP = mkdtempSync(join(tmpdir(), 'hongbao-backup-')); });
after(async () => {
  await site.allUp();
  rmSync(BACKUP, { recursive: true });
  page.end();
});

const open = async (user, packet) => {
  const answer = await user.client.post(`/p/${packet.json.id}/open`, {});
  assert.equal(answer.status, 200, answer.text);
  return answer.json.amount_fen;
};

const settled = (user, packet) => poll('the grab is settled', async () => (await user.client.get(`/p/${packet.json.id}`)).json?.mine?.settled);

const view = async (user, packet) => (await user.client.get(`/p/${packet.json.id}`)).json;

// A packet of 4 shares, and the users who open it before the copy of Redis, between the two copies, and after both.
async function scene() {
  const sender = await newUser({ yuan: '100' });
  const [early, between, late, last] = await Promise.all([newUser(), newUser(), newUser(), newUser()]);
  const packet = await sendPacket(sender, { kind: 'lucky', amount: '40', count: '4' });
  const fen = { early: await open(early, packet) };
  await settled(early, packet);
  await page.step('Back up', 0, { BACKUP });
  await page.step('Back up', 1, { BACKUP }); // Redis
  fen.between = await open(between, packet);
  await settled(between, packet);
  const second = await sendPacket(sender, { kind: 'even', amount: '3', count: '3' });
  const secondFen = await open(early, second);
  await settled(early, second);
  await page.step('Back up', 2, { BACKUP }); // the tables
  await open(late, packet);
  await settled(late, packet);
  return { sender, early, between, late, last, packet, second, fen, secondFen };
}

// Expects the state of the tables' copy: grabs that were settled by then are there, later ones are not, and new grabs
// succeed.
async function check(s) {
  await audit();
  assert.equal((await view(s.early, s.packet)).mine.amount_fen, s.fen.early);
  assert.equal(await open(s.early, s.packet), s.fen.early);
  assert.equal(await open(s.between, s.packet), s.fen.between);
  assert.equal(await open(s.early, s.second), s.secondFen);
  assert.equal((await view(s.early, s.packet)).grabbed_count, 2);
  const rest = [await open(s.late, s.packet), await open(s.last, s.packet)];
  assert.equal(rest[0] + rest[1] + s.fen.early + s.fen.between, 4000);
  await settled(s.last, s.packet);
  assert.equal((await s.between.client.get('/wallet')).json.balance_fen, s.fen.between);
  await audit();
}

test('a restore of both stores from different moments keeps everything that the tables had', async () => {
  const s = await scene();
  await page.steps('Restore', { BACKUP });
  await check(s);
});

test('without a copy of Redis every packet is rebuilt from the tables', async () => {
  const s = await scene();
  await page.steps('Restore', { BACKUP }, /tar -C|start settle/);
  await page.steps('Without a copy of Redis', { BACKUP });
  await page.step('Restore', 3, { BACKUP });
  for (const user of [s.early, s.between, s.late, s.last]) {
    const login = await user.client.post('/login', { username: user.username, password: user.password });
    assert.equal(login.status, 200, login.text);
  }
  await check(s);
});

test('tables older than Redis make letters of what contradicts, and an empty Redis ends it', async () => {
  const sender = await newUser({ yuan: '100' });
  const users = await Promise.all(Array.from({ length: 5 }, () => newUser()));
  const [early, lost, newest, late, other] = users;
  const packet = await sendPacket(sender, { kind: 'lucky', amount: '40', count: '5' });
  const fits = await sendPacket(sender, { kind: 'even', amount: '3', count: '3' });
  const earlyFen = await open(early, packet);
  await settled(early, packet);
  await page.step('Back up', 2, { BACKUP }); // the tables
  for (const user of [lost, newest]) {
    await open(user, packet);
    await settled(user, packet);
  }
  await site.dev('stop', 'settle');
  await open(late, packet); // waits in the stream, as the next one
  await open(late, fits);
  await page.step('Restore', 0);
  await page.step('Restore', 1, { BACKUP });
  await site.dev('start', 'redis');
  for (const name of ['settle', 'auth', 'card', 'page', 'hot', 'nginx']) await site.dev('start', name);

  await poll('the other packet is open', async () => (await other.client.post(`/p/${fits.json.id}/open`, {})).status === 200);
  await settled(late, fits);
  await settled(other, fits);
  assert.equal((await other.client.post(`/p/${packet.json.id}/open`, {})).status, 503);
  assert.equal((await view(late, packet)).grabbed_count, 4); // as it was promised
  const unclean = await site.hongbao('audit', '--json').catch((error) => error);
  const violated = JSON.parse(unclean.stdout).checks.filter((check) => check.violations > 0).map((check) => check.id);
  assert.deepEqual(violated, ['I8', 'letters']);

  await page.step('Older tables beside a newer Redis', 0, { BACKUP });
  assert.match(readFileSync(join(BACKUP, 'letters.txt'), 'utf8'), /^letter \d+ {2}packet \d+ /);
  const promised = readFileSync(join(BACKUP, 'promised.txt'), 'utf8');
  for (const user of [early, lost, newest, late]) assert.match(promised, new RegExp(`^${user.id},`, 'm'));
  await page.step('Older tables beside a newer Redis', 1, { BACKUP });
  await page.step('Without a copy of Redis', 0);
  await page.step('Restore', 3);
  for (const user of users) {
    const login = await user.client.post('/login', { username: user.username, password: user.password });
    assert.equal(login.status, 200, login.text);
  }
  assert.equal(await open(early, packet), earlyFen);
  const rest = [];
  for (const user of [lost, newest, late, other]) rest.push(await open(user, packet));
  assert.equal(rest.reduce((sum, amount) => sum + amount, earlyFen), 4000);
  await settled(other, packet);
  await audit();
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
