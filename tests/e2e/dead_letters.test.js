// The commands of docs/how-to/dead-letters.md, on a site in which one event was damaged.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { folder, refusal } from './support/backups.js';
import { HowTo } from './support/how_to.js';
import { hongbao } from './support/instance.js';
import { redis, replaceEvent } from './support/redis.js';
import { audit, newUser, poll, sendPacket, site } from './support/site.js';

const page = new HowTo('dead-letters.md', import.meta.url);

after(() => site.allUp());

// Damages the event of the second of three grabs of a packet; the others are intact.
async function damaged() {
  const sender = await newUser({ yuan: '10' });
  const users = await Promise.all([newUser(), newUser({ nickname: '小, 明' }), newUser()]);
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '9', count: '3' });
  await audit();
  const fen = [];
  const { key, id: event, content } = await site.unsettled(async () => {
    for (const { client } of users) fen.push((await client.post(`/p/${sent.json.id}/open`, {})).json.amount_fen);
    const secondGrab = new RegExp(`^(\\d+),1,${users[1].id},`);
    return replaceEvent((text) => secondGrab.test(text) && text.replace(/^(\d+),1,.*/, '$1,1'));
  });
  return { id: sent.json.id, sender, users, fen, partition: key.slice(5, 7), event, packet: content.split(',')[0] };
}

// True when the user's share is settled, according to the packet's page and its JSON.
async function settled({ client }, id) {
  const { json } = await client.get(`/p/${id}`);
  const { text } = await client.getHtml(`/p/${id}`);
  assert.equal(/已存入零钱/.test(text), json.mine.settled);
  assert.equal(/入账中/.test(text), !json.mine.settled);
  return json.mine.settled;
}

const balance = async ({ client }) => (await client.get('/wallet')).json.balance_fen;

test('a damaged event is seen, repaired and replayed by the commands of the page', async () => {
  const s = await damaged();
  await poll('both letters are there', async () => /hongbao_dead_letters 2\b/.test((await s.sender.client.getHtml('/metrics')).text));
  assert.equal(await balance(s.users[0]), s.fen[0]);
  assert.equal(await balance(s.users[2]), 0);
  assert.deepEqual(await Promise.all(s.users.map((user) => settled(user, s.id))), [true, false, false]);
  const unclean = await hongbao('audit', '--json').catch((error) => error);
  assert.equal(unclean.code, 1);
  assert.equal(JSON.parse(unclean.stdout).checks.find((check) => check.id === 'letters').violations, 2);

  // A backup keeps the dead letters, and reports them: the grabs behind them are not paid.
  assert.match(await refusal(['backup', '--verify', folder('letters')]), /the backup has 2 dead letters[\s\S]*letters\.violated/);
  assert.match(readFileSync(join(folder('letters.violated'), 'manifest'), 'utf8'), /^letters = 2$/m);

  const list = (await page.step('Look', 0)).stdout;
  const [, letter] = list.match(/^letter (\d+)/);
  assert.ok(list.includes(s.event) && list.includes(`packet ${s.packet}`));
  const ids = { LETTER: letter, PACKET: s.packet, PARTITION: s.partition, EVENT: s.event };
  const CONTENT = (await page.step('Repair', 0, ids)).stdout.trimEnd();
  assert.equal(CONTENT, `g ${s.packet},1,${s.users[1].id},${s.fen[1]},小, 明`);
  await page.step('Repair', 1, { ...ids, CONTENT });
  await page.step('Repair', 2, ids);
  await page.step('Repair', 3);
  for (const [i, user] of s.users.entries()) {
    assert.equal(await balance(user), s.fen[i]);
    assert.equal(await settled(user, s.id), true);
  }
  await audit();
});

test('a letter that is given up is removed from the list', async () => {
  await redis('XADD', 'hb:{p00}:events', '*', 'g', 'nonsense');
  const [, LETTER] = await poll('the letter is there', async () => (await page.step('Look', 0)).stdout.match(/^letter (\d+) {2}packet 0 /));
  await page.step('Give up', 0, { LETTER });
  assert.equal((await page.step('Look', 0)).stdout, 'no dead letters\n');
  await assert.rejects(page.step('Give up', 0, { LETTER }), /Command failed/); // only once
  await audit();
});

test('every command of the page was run', () => {
  assert.deepEqual(page.untested(), []);
});
