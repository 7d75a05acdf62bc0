// docs/how-to/payroll.md as an operator reads it, on a site without demo money: 200 people, 100 packets that everybody
// opens, and every fen is there.
import assert from 'node:assert/strict';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { blocksOf } from './support/how_to_blocks.js';
import { env, poll } from './support/instance.js';
import { realSite } from './support/real_site.js';
import { run, temporaryFolder } from './support/run.js';
import { fen, pooled } from './support/site.js';

const PEOPLE = 200;
const BONUS = 8800;
const PACKETS = 100;
const SHARES = 60; // of each packet: most are sold out when everybody has tried
const PACKET_YUAN = '50';
const WIDTH = 24; // requests at the same time
const FOLDER = temporaryFolder('payroll');
const blocks = blocksOf('payroll.md', import.meta.url);

let site;
let people; // [{ id, username, cookie }]

// Runs the commands under a heading of the page, from the first one on; their output.
async function page(heading, from = 0, count = 1) {
  const script = blocks[heading].slice(from, from + count).join('\n');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: FOLDER, maxBuffer: 64 << 20,
    env: { ...process.env, HB_CONFIG: join(site.folder, 'hongbao.conf'), PATH: `${FOLDER}:${process.env.PATH}` } });
  return stdout;
}

const json = async (...args) => JSON.parse((await site.dev('hongbao', 'money', ...args, '--json')).stdout);
const payroll = ({ channels }) => channels.find(({ name }) => name === 'payroll');

async function post({ cookie }, path, fields) {
  const answer = await fetch(site.url + path, { method: 'POST', body: new URLSearchParams(fields), headers: { accept: 'application/json', cookie } });
  return { status: answer.status, json: await answer.json() };
}

// Users with sessions and no money, made at once: a registration takes the time of a password.
async function peopleMade() {
  const { stdout } = await run(env.HB_TEST_BINARY, ['demo', '--users', String(PEOPLE), '--amount', '0', '--out', '-'],
    { env: { ...process.env, HB_DEMO: 'on', HB_CONFIG: join(site.folder, 'hongbao.conf') } });
  return stdout.trim().split('\n').map((line) => line.split('\t')).map(([id, username, cookie]) => ({ id: Number(id), username, cookie }));
}

before(async () => {
  site = await realSite('payroll');
  symlinkSync(env.HB_TEST_BINARY, join(FOLDER, 'hongbao'));
  people = await peopleMade();
  writeFileSync(join(FOLDER, 'people.txt'), people.map(({ username }) => `${username}\n`).join(''));
});
after(() => site.down());

test('the bonus comes in, once', async () => {
  const total = fen(PEOPLE * BONUS);
  assert.equal(await page('The site'), 'off\n');
  assert.match(await page('The bonus'), new RegExp(`^200 rows, ${total}; 0 were there before; 200 to make, ${total}$`, 'm'));
  assert.match(await page('The bonus', 1), new RegExp(`^200 made, ${total}; 0 were there before$`, 'm'));
  assert.match(await page('The bonus', 1), /^0 made, 0\.00; 200 were there before$/m);
  const report = await json('report');
  assert.deepEqual([payroll(report).closing_fen, report.wallets_fen, report.balanced], [-PEOPLE * BONUS, PEOPLE * BONUS, true]);
});

test('at the party everybody opens every packet, and no fen is lost', async (t) => {
  const began = Date.now();
  const sent = await pooled(people.slice(0, PACKETS), WIDTH, async (person) => {
    const { status, json: packet } = await post(person, '/send', { kind: 'lucky', amount: PACKET_YUAN, count: SHARES, request_key: 'party' });
    assert.equal(status, 201);
    return { sender: person, path: `/p/${packet.id}` };
  });
  const tries = sent.flatMap(({ path }) => people.map((person) => ({ path, person })));
  const codes = await pooled(tries, WIDTH, async ({ path, person }) => (await post(person, `${path}/open`)).status);
  assert.equal(codes.filter((code) => code === 200).length, PACKETS * SHARES);
  t.diagnostic(`${tries.length} tries after ${Date.now() - began} ms`);
  await poll('all packets are settled', async () => (await json('report')).escrows_fen === 0);
  const report = await json('report');
  assert.deepEqual([payroll(report).closing_fen, report.wallets_fen, report.balanced], [-PEOPLE * BONUS, PEOPLE * BONUS, true]);
  assert.match(await page('The party'), new RegExp(`^  wallets +${fen(PEOPLE * BONUS)}$`, 'm'));
});

test('the payout takes what wallets have, and the books agree to the fen', async () => {
  // Somebody who spends almost everything keeps the rest; another packet waits, and is ended.
  const [poor] = people;
  const { balances } = await json('balances');
  const has = balances.find(({ user_id: id }) => id === poor.id).balance_fen;
  const last = await post(poor, '/send', { kind: 'lucky', amount: fen(has - 99), count: 1, request_key: 'last' });
  assert.equal(last.status, 201);
  assert.equal((await post(people[1], `/p/${last.json.id}/open`)).status, 200);
  await poll('it is settled', async () => (await json('report')).escrows_fen === 0);

  const checked = await page('The payout');
  assert.match(checked, /clean$/m);
  const paid = PEOPLE * BONUS - 99;
  assert.match(checked, new RegExp(`^199 rows, ${fen(paid)}; 0 were there before; 199 to make, ${fen(paid)}$`, 'm'));
  assert.match(await page('The payout', 1), new RegExp(`^199 made, ${fen(paid)}; 0 were there before$`, 'm'));
  assert.match(await page('The payout', 1), /^0 made, 0\.00; 199 were there before$/m);

  const books = await page('The books');
  assert.match(books, new RegExp(`^channel payroll\n +opening +0\\.00\n +credits +${fen(PEOPLE * BONUS)}\n +debits +${fen(paid)}\n +closing +-0\\.99$`, 'm'));
  assert.match(books, /^ {2}wallets +0\.99$/m);
  assert.match(books, /^ {2}together +0\.00$/m);
  assert.match(books, /clean$/m);
  assert.equal(readFileSync(join(FOLDER, 'payroll.csv'), 'utf8').trim().split('\r\n').length, 1 + PEOPLE + 199);
  assert.deepEqual((await json('balances')).balances.map(({ user_id: id, balance_fen: left }) => [id, left]), [[poor.id, 99]]);
});
