// A repeat is answered as done, and a list that others book or pay is answered at all, only when MariaDB can't lose the rows.
// For that the program commits a change of its own. Here it can't: its table has another name.
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { request } from './support/client.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { temporaryFolder } from './support/run.js';
import { audit, newUser, site, unique } from './support/site.js';
import { tried } from './support/instance.js';
import { closeChannels, money, openChannel } from './support/withdrawals.js';

const FOLDER = temporaryFolder('durable');
const CHANNEL = unique('c').slice(0, 20);
const OUTSIDE = () => ({ reference: unique('r'), amount: '1' });

let sender;
let receiver;
let token;
let path;
let spare;

const away = () => sql('RENAME TABLE durable TO durable_away');
const back = () => sql("SET @there = (SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'durable_away');"
  + " SET @sql = IF(@there, 'RENAME TABLE durable_away TO durable', 'DO 0'); PREPARE s FROM @sql; EXECUTE s");

before(async () => {
  await closeChannels();
  await openChannel(CHANNEL, '--topup-url', 'https://pay.example/');
  ({ stdout: token } = await site.hongbao('service', 'add', unique('s').slice(0, 20), '--scopes', 'credit debit read withdraw topup', '--channel', CHANNEL));
  token = token.trim();
  [sender, receiver] = [await newUser({ yuan: '100' }), await newUser({ yuan: '10' })];
  [path, spare] = [await sentPath(sender, { kind: 'even', amount: '1', count: '2' }), await sentPath(sender, { kind: 'even', amount: '1', count: '2' })];
  await opened(receiver, path);
  await settled(receiver, path);
});
after(async () => {
  await back();
  await sql("UPDATE channel SET topup_url = ''");
  await closeChannels();
  await audit();
});

const programs = (method, at, fields) => request(at, { method, headers: { authorization: `Bearer ${token}`,
  ...(fields && { 'content-type': 'application/x-www-form-urlencoded' }) }, body: fields && new URLSearchParams(fields).toString() });
const byUser = (user, at, fields = {}) => () => user.client.post(at, fields);
const byProgram = (at, fields) => () => programs('POST', at, fields);
const read = (at) => () => programs('GET', at);
const command = (...args) => async () => ({ command: true, ...await tried(['money', ...args]) });

// A withdrawal that is pending; its number.
async function pending() {
  const asked = await receiver.client.post('/wallet/withdraw', { amount: '1', account: 'x', channel: CHANNEL, password: receiver.password, request_key: unique('k') });
  assert.equal(asked.status, 201, asked.text);
  return (await sql(`SELECT id FROM withdrawal WHERE hold_id = ${asked.json.id}`)).trim();
}

async function ordered() {
  const made = await receiver.client.post('/wallet/topup', { amount: '2', channel: CHANNEL, request_key: unique('k') });
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

function file(name, text) {
  const at = join(FOLDER, name);
  writeFileSync(at, text);
  return at;
}

const credited = async () => /transfer (\d+)/.exec(await money('credit', receiver.username, '1', '--channel', CHANNEL, '--reference', unique('r')))[1];

// What is asked for twice.
const REPEATS = {
  'a send': () => byUser(sender, '/send', { kind: 'even', amount: '1', count: '1', request_key: unique('k') }),
  'a deposit': () => byUser(sender, '/wallet/deposit', { amount: '1', request_key: unique('k') }),
  'a withdrawal': () => byUser(receiver, '/wallet/withdraw', { amount: '1', account: 'x', channel: CHANNEL, password: receiver.password, request_key: unique('k') }),
  'an order of a top-up': () => byUser(receiver, '/wallet/topup', { amount: '1', channel: CHANNEL, request_key: unique('k') }),
  'an end': () => byUser(sender, `${spare}/end`),
  thanks: () => byUser(receiver, `${path}/thanks`, { text: 'thanks' }),
  'a share given back': () => byUser(receiver, `${path}/return`),
  'a credit by a program': () => byProgram('/money/credits', { username: receiver.username, ...OUTSIDE() }),
  'a debit by a program': () => byProgram('/money/debits', { username: receiver.username, ...OUTSIDE() }),
  'a post by a program': async () => byProgram(`/money/withdrawals/${await pending()}/post`, { reference: unique('r') }),
  'a void by a program': async () => byProgram(`/money/withdrawals/${await pending()}/void`, { reason: 'x' }),
  'a payment by a program': async () => byProgram(`/money/topups/${await ordered()}/paid`, OUTSIDE()),
  'a credit': () => command('credit', receiver.username, '1', '--channel', CHANNEL, '--reference', unique('r')),
  'a debit': () => command('debit', receiver.username, '1', '--channel', CHANNEL, '--reference', unique('r')),
  'a reversal': async () => command('reverse', await credited(), '--reference', unique('r')),
  'a post': async () => command('post', await pending(), '--reference', unique('r')),
  'a void': async () => command('void', await pending(), '--reason', 'x'),
  'a payment': async () => command('paid', String(await ordered()), '--reference', unique('r')),
  'an import': () => command('import', file('credits.csv', `username,amount,reference\n${receiver.username},1,${unique('r')}\n`), '--channel', CHANNEL),
  'an import of posts': async () => command('post', '--import', file('posts.csv', `id,reference\n${await pending()},${unique('r')}\n`)),
};

// What is answered by rows of others at the first time.
const CLAIMS = {
  'where an order is': async () => {
    const key = unique('k');
    await sentPath(sender, { kind: 'even', amount: '1', count: '1', request_key: key });
    return () => sender.client.get(`/orders/${key}`);
  },
  'the transfers of a channel': () => read('/money/transfers'),
  'the pending withdrawals of a channel': async () => { await pending(); return read('/money/withdrawals'); },
  transfers: () => command('transfers', '--channel', CHANNEL),
  'pending withdrawals': async () => { await pending(); return command('withdrawals', '--csv'); },
};

function assertDone(answer) {
  if (answer.command) assert.equal(answer.code, 0, answer.stderr);
  else assert.ok([200, 201].includes(answer.status), answer.text);
}

// type: the problem of an answer by HTTP.
function assertUnsure(answer, type) {
  if (answer.command) assert.notEqual(answer.code, 0, answer.stdout);
  else assert.deepEqual([answer.status, answer.json.type], [503, `urn:hongbao:problem:${type}`], answer.text);
}

for (const [name, prepare] of Object.entries(REPEATS)) {
  test(`${name}: the first answer needs no further commit, a repeat without it is unknown`, async () => {
    const call = await prepare();
    await away();
    try {
      assertDone(await call());
      assertUnsure(await call(), 'unknown');
    } finally {
      await back();
    }
    assertDone(await call());
  });
}

for (const [name, prepare] of Object.entries(CLAIMS)) {
  test(`${name}: not shown before the rows are on the disk`, async () => {
    const call = await prepare();
    await away();
    try {
      assertUnsure(await call(), 'busy');
    } finally {
      await back();
    }
    assertDone(await call());
  });
}
