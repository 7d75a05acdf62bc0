// hongbao money: channels, credits and debits, files of them, withdrawals, reports; as an operator uses it.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { blocksOf } from './support/how_to_blocks.js';
import { dev, env, tried } from './support/instance.js';
import { sql } from './support/mysql.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, audit, newUser, poll, site, unique } from './support/site.js';
import { closeChannels } from './support/withdrawals.js';

const FOLDER = temporaryFolder('money');
const BATCH = 1000;
const AUTHOR = userInfo().uid === 0 ? 'anna' : userInfo().username;
const CHANNEL = unique('c').slice(0, 20);

// { code, stdout, stderr }; lines of the log are in log.
async function money(...args) {
  const { code, stdout, stderr } = await tried(['money', ...args], { SUDO_USER: 'anna' });
  const lines = stderr.split('\n');
  return { code, stdout, stderr: lines.filter((line) => !line.startsWith('ts=')).join('\n'), log: lines.filter((line) => line.startsWith('ts=')) };
}

async function done(...args) {
  const { code, stdout, stderr } = await money(...args);
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

const json = async (...args) => JSON.parse(await done(...args, '--json'));
const by = (...more) => ['--channel', CHANNEL, ...more];
const balance = async ({ id }) => Number(await sql(`SELECT balance_fen FROM account WHERE id = ${id}`));
const transfersOf = async (channel) => Number(await sql(`SELECT COUNT(*) FROM external_transfer AS x JOIN channel AS c ON c.id = x.channel_id
  WHERE c.name = '${channel}'`));
const reportOf = async (channel, ...args) => (await json('report', ...args)).channels.find(({ name }) => name === channel);

function file(name, text) {
  const path = join(FOLDER, name);
  writeFileSync(path, text);
  return path;
}

let alice;
let bob;
before(async () => {
  [alice, bob] = [await newUser(), await newUser()];
  await done('channel', CHANNEL, '--note', 'ACME 工资', '--withdrawals', 'on', '--withdraw-hint', '银行卡号');
});
after(async () => {
  await closeChannels();
  await audit();
});

test('a channel is made once, keeps its note, and gets another one', async () => {
  const name = unique('x').slice(0, 20);
  const noteOf = async () => (await json('channels')).channels.find((channel) => channel.name === name).note;
  assert.match(await done('channel', name, '--note', 'one'), /: made$/m);
  assert.match(await done('channel', name), /: was there before$/m);
  assert.equal(await noteOf(), 'one');
  assert.match(await done('channel', name, '--note', 'two'), /has this note now$/m);
  assert.equal(await noteOf(), 'two');
  assert.match(await done('channels'), new RegExp(`^${name} +0\\.00 +0\\.00 +0\\.00 +two$`, 'm'));
  assert.match(await done('channels', '--csv'), new RegExp(`^${name},two,0\\.00,0\\.00,0\\.00,${AUTHOR},2\\d{3}-[^,]*,off,0\\.01,,CNY\r$`, 'm'));
  const settings = ['--withdrawals', 'on', '--withdraw-min', '¥5', '--withdraw-hint', ' IBAN  of yours '];
  for (let i = 0; i < 2; i++) assert.match(await done('channel', name, ...settings), /has these settings now$/m);
  assert.match(await done('channels'), new RegExp(`^${name} .*two\n +withdrawals from 5\\.00 {2}IBAN of yours$`, 'm'));
  await done('channel', name, '--withdrawals', 'off');
  const shown = (await json('channels')).channels.find((channel) => channel.name === name);
  assert.deepEqual([shown.note, shown.withdrawals, shown.withdraw_min_fen, shown.withdraw_hint], ['two', false, 500, 'IBAN of yours']);
});

test('under ./dev the author is the person, too', async () => {
  const { stderr } = await dev(['hongbao', 'money', 'channel', unique('v').slice(0, 20)], { SUDO_USER: 'anna' });
  const [, author] = /author="?(\S+?)"?$/m.exec(stderr);
  assert.ok([AUTHOR, 'hongbao-dev'].includes(author), author); // hongbao-dev: ./dev has left root
});

test('a credit, a debit and a reversal move money once, whoever repeats them', async () => {
  const [R1, R2, R3] = [unique('r'), unique('r'), unique('r')];
  const first = await json('credit', alice.username.toUpperCase(), '¥88', ...by('--reference', R1, '--memo', ' 奖金 '));
  assert.deepEqual(first, { id: first.id, kind: 'credit', username: alice.username, amount_fen: 8800, channel: CHANNEL, reference: R1, repeated: false });
  assert.deepEqual(await json('credit', alice.username, '88.00', ...by('--reference', R1, '--memo', '奖金')), { ...first, repeated: true });
  assert.equal(await balance(alice), 8800);
  const { stdout, log } = await money('debit', alice.username, '8', ...by('--reference', R2));
  assert.match(stdout, new RegExp(`^transfer \\d+ {2}debit {2}${alice.username} {2}8\\.00 {2}reference ${R2} {2}made$`, 'm'));
  assert.match(log.join('\n'), new RegExp(`msg="money" action=debit channel=${CHANNEL} interface=command transfer_id=\\d+ user_id=${alice.id} amount_fen=800 repeated=0 author="?${AUTHOR}`));
  assert.equal(await balance(alice), 8000);
  const debit = Number(/^transfer (\d+)/.exec(stdout)[1]);
  const back = await json('reverse', String(debit), '--reference', R3, '--memo', 'wrong');
  assert.deepEqual(back, { id: back.id, kind: 'reverse', username: alice.username, amount_fen: 800, reference: R3, reverses: debit, repeated: false });
  assert.deepEqual(await json('reverse', String(debit), '--reference', R3, '--memo', 'wrong'), { ...back, repeated: true });
  assert.equal(await balance(alice), 8800);
  await done('debit', alice.username, '88', ...by('--reference', unique('r')));
  assert.equal(await balance(alice), 0);
});

test('what is refused changes nothing, and says what to do', async () => {
  const [used, id] = [unique('r'), (await json('credit', bob.username, '5', ...by('--reference', unique('r')))).id];
  await done('credit', bob.username, '1', ...by('--reference', used));
  const back = await json('reverse', String(id), '--reference', unique('r'));
  const reference = ['--reference', unique('r')];
  const refused = [
    [1, /there is no user nobody-here/, 'credit', 'nobody-here', '1', ...by(...reference)],
    [1, /there is no user 艾丽/, 'credit', '艾丽', '1', ...by(...reference)],
    [1, /there is no channel nowhere; hongbao money channels lists them/, 'credit', bob.username, '1', '--channel', 'nowhere', ...reference],
    [1, /there is no channel 工资/, 'credit', bob.username, '1', '--channel', '工资', ...reference],
    [1, /the wallet of \S+ has less/, 'debit', bob.username, '999', ...by(...reference)],
    [1, /reference \S+ belongs to transfer \d+, a credit of 1\.00/, 'credit', bob.username, '2', ...by('--reference', used)],
    [1, /belongs to transfer \d+, a credit/, 'debit', bob.username, '1', ...by('--reference', used)],
    [1, /belongs to transfer \d+, a credit/, 'credit', bob.username, '1', ...by('--reference', used, '--memo', 'other')],
    [1, /^transfer \d+ was reversed before, by transfer \d+ with the reference \S+; nothing/, 'reverse', String(id), ...reference],
    [1, /^the reference \S+ belongs to transfer \d+, a credit of 1\.00/, 'reverse', String(id), '--reference', used],
    [1, /^the reference \S+ belongs to transfer \d+, a reverse of 5\.00 .* memo ""/, 'reverse', String(id), '--reference', back.reference, '--memo', 'x'],
    [1, /^there is no credit, debit or post \d+\n$/, 'reverse', String(back.id), ...reference],
    [1, /there is no credit, debit or post 9999999/, 'reverse', '9999999', ...reference],
    [1, /there is no withdrawal 9999999/, 'post', '9999999', ...reference],
    [1, /there is no withdrawal 9999999/, 'void', '9999999', '--reason', 'x'],
    [1, /demo/, 'channel', 'demo', '--note', 'x'],
    [1, /demo is for the money that users/, 'credit', bob.username, '1', '--channel', 'demo', ...reference],
    [1, /demo is for the money that users/, 'import', join(FOLDER, 'none.csv'), '--channel', 'demo'],
    [1, /is no file, which could be read twice/, 'import', FOLDER, '--channel', CHANNEL],
    [1, /can't be read: No such file/, 'import', join(FOLDER, 'none.csv'), '--channel', CHANNEL],
    [2, /the amount is 0/, 'credit', bob.username, '0', ...by(...reference)],
    [2, /the amount is no amount of CNY, such as 88 or 88\.50: 1\.005$/m, 'credit', bob.username, '1.005', ...by(...reference)],
    [2, /more than 9999999\.99: 1{40}…$/m, 'credit', bob.username, '1'.repeat(41), ...by(...reference)],
    [2, /a reference has 1 to 64/, 'credit', bob.username, '1', ...by('--reference', '编号')],
    [2, /the memo has more than 400/, 'credit', bob.username, '1', ...by(...reference, '--memo', 'x'.repeat(401))],
    [2, /a channel's name has/, 'channel', 'Payroll'],
    [2, /more than 200 characters/, 'channel', CHANNEL, '--note', 'x'.repeat(201)],
    [2, /more than 200 characters/, 'channel', CHANNEL, '--withdraw-hint', 'x'.repeat(201)],
    [2, /--withdrawals is on or off/, 'channel', CHANNEL, '--withdrawals', 'yes'],
    [2, /--withdraw-min is no amount above 0 of CNY/, 'channel', CHANNEL, '--withdraw-min', '0'],
    [2, /--withdraw-min is no amount above 0 of CNY/, 'channel', CHANNEL, '--withdraw-min', 'ten'],
    [1, /forfeited can't pay withdrawals/, 'channel', 'forfeited', '--withdrawals', 'on'],
    [2, /is no number/, 'reverse', 'x', ...reference],
    [2, /is no number/, 'transfers', '--channel', CHANNEL, '--after', '0'],
    [2, /the user reads the reason/, 'void', '1', '--reason', ' '],
    [2, /is no day, such as/, 'report', '--from', '30.11.2026x'],
    [2, /--from is after --to/, 'report', '--from', '2026-11-02', '--to', '2026-11-01'],
    [2, /--daily needs --from/, 'report', '--daily'],
    [2, /--daily needs --from/, 'report', '--daily', '--since', '2026-11-01'],
    [2, /--from and --since exclude each other/, 'report', '--from', '2026-11-01', '--since', '2026-11-01'],
    [2, /--since is after --to/, 'report', '--since', '2026-11-02T00:00', '--to', '2026-11-01'],
    [2, /^soon is no time, such as 2026-11-30T03:30/, 'report', '--since', 'soon'],
    [2, /is in the future/, 'report', '--since', '2200-01-01'],
    [2, /--channel needs --against/, 'report', '--channel', CHANNEL],
    [2, /--missing needs --against/, 'report', '--missing', 'x'],
    [2, /--against needs --since and --channel/, 'report', '--against', 'x', '--since', '2026-11-01'],
    [2, /--against and --daily exclude each other/, 'report', '--daily', ...by('--against', 'x', '--since', '2026-11-01')],
    [2, /there is no channel nowhere/, 'report', '--channel', 'nowhere', '--against', 'x', '--since', '2026-11-01'],
    [2, /can't be read: No such file/, 'report', ...by('--against', join(FOLDER, 'none.csv'), '--since', '2026-11-01')],
    [2, /--all and --min exclude each other/, 'balances', '--all', '--min', '1'],
    [2, /1,5x is no amount of CNY/, 'balances', '--min', '1,5x'],
    [2, /--reference-prefix is for --csv/, 'balances', '--reference-prefix', 'x'],
    ...['=1', '-', '', 'a b', 'x'.repeat(44)].map((prefix) => [2, /a prefix has 1 to 43 letters/, 'balances', '--csv', '--reference-prefix', prefix]),
    [2, /more than 3660 days/, 'report', '--daily', '--from', '2000-01-01'],
    [2, /^hongbao money: nothing is no command\nusage: hongbao money channels/, 'nothing'],
    [2, /^--reference is missing\nusage: hongbao money credit USERNAME AMOUNT/, 'credit', bob.username, '1', '--channel', CHANNEL],
    [2, /^a word is missing\nusage: hongbao money credit/, 'credit', bob.username, ...by(...reference)],
    [2, /^there is a word too many/, 'channel', CHANNEL, 'ACME'],
    [2, /^two is one word too many; a text with blanks/, 'credit', bob.username, '1', 'two', ...by(...reference)],
    [2, /^-5 is no option\nusage: hongbao money credit/, 'credit', bob.username, '-5', ...by(...reference)],
    [2, /^--reference stands twice\nusage: hongbao money credit/, 'credit', bob.username, '1', ...by(...reference, ...reference)],
    [2, /^--json and --csv exclude each other\nusage: hongbao money report/, 'report', '--json', '--csv'],
    [2, /^--memo is no option of this command\nusage: hongbao money report/, 'report', '--memo', 'x'],
    [2, /^--reason has no value\nusage: hongbao money void/, 'void', '1', '--reason'],
    [2, /^usage: hongbao money post ID/, 'post', '1'],
  ];
  const unchanged = [await balance(bob), await transfersOf(CHANNEL)];
  for (const [code, why, ...args] of refused) {
    const answer = await money(...args);
    assert.equal(answer.code, code, `${args.join(' ')}: ${answer.stdout}${answer.stderr}`);
    assert.match(answer.stderr.replace(`hongbao money ${args[0]}: `, ''), why, args.join(' '));
  }
  assert.deepEqual([await balance(bob), await transfersOf(CHANNEL)], unchanged);
});

// Takes the money out of the wallet, as the page will; returns the id of the withdrawal.
async function hold({ id }, fen, channel = CHANNEL) {
  const key = unique('k');
  await sql(`CALL withdrawal_hold(${id}, (SELECT id FROM channel WHERE name = '${channel}'), ${fen}, '工商银行 6222', '${key}', ${site.now()})`);
  return Number(await sql(`SELECT id FROM withdrawal WHERE request_key = '${key}'`));
}

test('withdrawals are listed, oldest first, and posted or voided once', async () => {
  const carol = await newUser();
  await done('credit', carol.username, '10', ...by('--reference', unique('r')));
  const [one, two] = [await hold(carol, 300), await hold(carol, 400)];
  const mine = (await json('withdrawals')).withdrawals.filter(({ username }) => username === carol.username);
  assert.deepEqual(mine.map(({ id, amount_fen: fen, channel, account }) => [id, fen, channel, account]),
    [[one, 300, CHANNEL, '工商银行 6222'], [two, 400, CHANNEL, '工商银行 6222']]);
  assert.match(await done('withdrawals'), new RegExp(`^withdrawal ${one} .* 3\\.00 .*\nwithdrawal ${two} .* 4\\.00 `, 'm'));
  assert.match(await done('withdrawals', '--csv'), new RegExp(`^${one},\\S+Z,${carol.username},${CHANNEL},3\\.00,工商银行 6222,CNY\r$`, 'm'));
  const R = unique('r');
  const posted = { id: one, state: 'posted', username: carol.username, amount_fen: 300, channel: CHANNEL, reference: R, repeated: false };
  assert.deepEqual(await json('post', String(one), '--reference', R), posted);
  assert.deepEqual(await json('post', String(one), '--reference', R), { ...posted, repeated: true });
  const again = await money('post', String(one), '--reference', unique('r'));
  assert.match(`${again.code} ${again.stderr}`, new RegExp(`^1 .*withdrawal ${one} was posted by ${AUTHOR} with the reference ${R}; nothing is changed`));
  const other = await money('post', String(two), '--reference', R);
  assert.match(`${other.code} ${other.stderr}`, /^1 .*belongs to another transfer/);
  assert.match(await done('void', String(two), '--reason', '账号有误'), /^withdrawal \d+ {2}voided .* 4\.00 {2}reason 账号有误$/m);
  assert.match(await done('void', String(two), '--reason', '账号有误'), /was so before$/m);
  const both = await money('post', String(two), '--reference', unique('r'));
  assert.match(`${both.code} ${both.stderr}`, /^1 .* was voided by \S+ with the reason 账号有误/);
  assert.equal(await balance(carol), 700);
});

test('the bank\'s file posts many withdrawals once, or none when a row is wrong', async () => {
  const frank = await newUser();
  await done('credit', frank.username, '10', ...by('--reference', unique('r')));
  const [one, two, three] = [await hold(frank, 100), await hold(frank, 200), await hold(frank, 300)];
  await done('void', String(three), '--reason', 'x');
  const prefix = unique('b');
  const path = file('bank.csv', `reference;id\n${prefix}-1;${one}\n${prefix}-2;${two}\n`);
  const wrong = [
    [`${prefix}-3;${three}`, /^line 4: withdrawal \d+ was voided$/m], [`${prefix}-3;9999999`, /^line 4: there is no withdrawal 9999999$/m],
    [`${prefix}-3;${one}`, /^line 4: the id stands in an earlier row, too$/m], [`${prefix}-3;x`, /^line 4: the id is no number of a withdrawal$/m],
    [`;${three}`, /^line 4: a reference has 1 to 64/m], ['x', /^line 4: it has fewer cells/m],
  ];
  for (const [row, why] of wrong) {
    const { code, stderr } = await money('post', '--import', file('bank-wrong.csv', `${readFileSync(path, 'utf8')}${row}\n`));
    assert.equal(code, 1);
    assert.match(stderr, why);
    assert.match(stderr, /1 of 3 rows are wrong; nothing is changed/);
  }
  assert.match((await money('post', '--import', file('bank-twice.csv', 'id,reference,ID\n'))).stderr, /the header has a column twice/);
  assert.match((await money('post', '--import', file('bank-head.csv', 'id,ref\n'))).stderr, /must name the columns id and reference/);
  assert.match(await done('post', '--import', path, '--check'), /^2 rows, 3\.00; 0 were posted before; 2 to post$/m);
  await done('post', String(one), '--reference', `${prefix}-1`);
  assert.match(await done('post', '--import', path), /^1 posted; 1 were posted before; together 3\.00$/m);
  assert.match(await done('post', '--import', path), /^0 posted; 2 were posted before; together 3\.00$/m);
  const other = file('bank-other.csv', `id,reference\n${one},${prefix}-9\n`);
  assert.match((await money('post', '--import', other)).stderr, /^line 2: withdrawal \d+ was posted with the reference \S+-1$/m);
  assert.deepEqual((await json('withdrawals')).withdrawals.filter(({ username }) => username === frank.username), []);
  assert.equal(await balance(frank), 700);
});

test('the report equals the tables, day by day, and all accounts sum up to 0', async () => {
  const dave = await newUser();
  const channel = unique('r').slice(0, 20);
  await done('channel', channel);
  const at = (...more) => ['--channel', channel, '--reference', unique('r'), ...more];
  const wrong = await json('credit', dave.username, '7', ...at());
  await done('credit', dave.username, '100', ...at());
  await done('debit', dave.username, '30', ...at());
  await done('reverse', String(wrong.id), '--reference', unique('r'));
  const flows = { opening_fen: 0, credits_fen: 10700, debits_fen: 3000, posts_fen: 0, reversed_in_fen: 0, reversed_out_fen: 700, deposits_fen: 0,
    forfeits_fen: 0, closing_fen: -7000 };
  assert.deepEqual(await reportOf(channel), { name: channel, ...flows });
  const day = (ms) => new Date(ms).toISOString().slice(0, 10);
  const range = ['--from', day(site.now() - 2 * 86400_000), '--to', day(site.now() + 2 * 86400_000)];
  const report = await json('report', ...range, '--daily');
  const days = report.days.filter(({ name }) => name === channel);
  const sum = (name) => days.reduce((total, row) => total + row[name], 0);
  for (const name of ['credits_fen', 'debits_fen', 'reversed_out_fen']) assert.equal(sum(name), flows[name], name);
  assert.equal(days.at(-1).closing_fen, -7000);
  assert.deepEqual([report.balanced, report.channels_fen + report.wallets_fen + report.escrows_fen + report.pending_fen], [true, 0]);
  const old = await reportOf(channel, '--to', '2001-01-01');
  assert.deepEqual([old.credits_fen, old.closing_fen], [0, 0]);
  const later = await reportOf(channel, '--from', '2200-01-01');
  assert.deepEqual([later.opening_fen, later.credits_fen, later.closing_fen], [-7000, 0, -7000]);
  assert.match(await done('report', '--csv'), new RegExp(`^,${channel},0\\.00,107\\.00,30\\.00,0\\.00,0\\.00,7\\.00,0\\.00,0\\.00,-70\\.00,CNY\r$`, 'm'));
  assert.match(await done('report'), new RegExp(`^channel ${channel}\n +opening +0\\.00\n +credits +107\\.00\n +debits +30\\.00\n +reversed out +7\\.00\n +closing +-70\\.00\n[^]*together +0\\.00\n$`, 'm'));

  const { transfers } = await json('transfers', '--channel', channel);
  assert.deepEqual(transfers.map(({ kind, username, amount_fen: fen, author, interface: by_, reverses }) => [kind, username, fen, author, by_, reverses]), [
    ['credit', dave.username, 700, AUTHOR, 'command', null], ['credit', dave.username, 10000, AUTHOR, 'command', null],
    ['debit', dave.username, 3000, AUTHOR, 'command', null], ['reverse', dave.username, 700, AUTHOR, 'command', wrong.id]]);
  const behind = async (i) => (await json('transfers', '--channel', channel, '--after', String(transfers[i].id))).transfers;
  assert.deepEqual([await behind(1), await behind(3)], [transfers.slice(2), []]);
  assert.equal((await done('transfers', '--channel', channel, '--csv', ...range)).trim().split('\n').length, 5);
  assert.equal(await done('transfers', '--channel', channel, '--to', '2001-01-01'), '');
});

test('a repeat whose user is deleted by now names the transfer', async () => {
  const [leaver, channel] = [await newUser(), unique('g').slice(0, 20)];
  await done('channel', channel);
  const [used, other] = [unique('r'), unique('r')].map((reference) => ['3', '--channel', channel, '--reference', reference]);
  const { id } = await json('credit', leaver.username, ...used);
  const gone = await leaver.client.post('/account/delete', { username: leaver.username, password: leaver.password, give_up: '1' });
  assert.equal(gone.status, 204, gone.text);
  const answers = [
    [leaver.username, used, new RegExp(`^1 .*belongs to transfer ${id}, a credit of 3\\.00 for user ${leaver.id} `)],
    [leaver.username, other, /^1 .*there is no user /],
    [`~${leaver.id}`, used, new RegExp(`^0 transfer ${id} .* was there before`)],
    [`~${leaver.id}`, other, /^1 .*is being deleted, or was/],
  ];
  for (const [name, args, expected] of answers) {
    const { code, stdout, stderr } = await money('credit', name, ...args);
    assert.match(`${code} ${stdout}${stderr}`, expected);
  }
  assert.equal(await transfersOf(channel), 1);
});

test('each line of the log about money names its channel', async () => {
  const user = await newUser();
  const channel = unique('l').slice(0, 20);
  await done('channel', channel, '--withdrawals', 'on');
  const logged = async (...args) => (await money(...args)).log.join('\n');
  const { id } = await json('credit', user.username, '9', '--channel', channel, '--reference', unique('r'));
  const holds = await Promise.all([1, 2, 3].map((fen) => hold(user, fen, channel)));
  const path = file('posts.csv', `id,reference\n${holds[2]},${unique('r')}\n`);
  for (const [action, args] of [['post', ['post', String(holds[0]), '--reference', unique('r')]], ['void', ['void', String(holds[1]), '--reason', 'x']],
    ['post', ['post', '--import', path]], ['reverse', ['reverse', String(id), '--reference', unique('r')]]]) {
    if (action === 'reverse') await done('credit', user.username, '9', '--channel', channel, '--reference', unique('r'));
    assert.match(await logged(...args), new RegExp(`msg="money" action=${action} channel=${channel} interface=(command|import) `));
  }
  await done('channel', channel, '--withdrawals', 'off');
});

test('what deleted users have left can be credited, but not more', async () => {
  const [user, ref] = [await newUser(), unique('f')];
  const forfeited = ['--channel', 'forfeited'];
  const has = async () => (await json('channels')).channels.find(({ name }) => name === 'forfeited').balance_fen;
  const before = await has();
  await done('credit', user.username, '5', ...by('--reference', unique('r')));
  await done('debit', user.username, '5', ...forfeited, '--reference', `${ref}-debit`);
  const back = (before + 500) / 100;
  for (const amount of [back + 0.01, back, back]) {
    const { code, stderr } = await money('credit', user.username, amount.toFixed(2), ...forfeited, '--reference', ref);
    assert.equal(code, amount === back ? 0 : 1);
    if (code) assert.match(stderr, new RegExp(`forfeited has ${back.toFixed(2)}, which deleted users`));
  }
  assert.equal(await has(), 0);
  const path = file('forfeited.csv', `username,amount,reference\n${user.username},${back.toFixed(2)},${ref}\n`);
  assert.match(await done('import', path, ...forfeited), /^0 made, 0\.00; 1 were there before$/m);
  writeFileSync(path, `${user.username},0.01,${ref}-more\n`, { flag: 'a' });
  for (const check of [['--check'], []]) assert.match((await money('import', path, ...forfeited, ...check)).stderr, /forfeited has 0\.00, /);
});

// The text of a file with so many rows; users in turn, 1.00 each.
const rows = (prefix, count, users) => `username,amount,reference\n${Array.from({ length: count },
  (_, i) => `${users[Math.floor(i / BATCH) % users.length].username},1.00,${prefix}-${i}\n`).join('')}`;

test('a file is checked, imported, and imported again without another transfer', async () => {
  const [eve, prefix] = [await newUser(), unique('f')];
  const path = file('good.csv', `\ufeffReference;memo;"amount";USERNAME;department\r\n${prefix}-1;"两行\r\n文字";1,234.50;@${eve.username};x\r\n${prefix}-2;;.5;${eve.username};\r\n`);
  assert.match(await done('import', path, '--channel', CHANNEL, '--check'), /^2 rows, 1235\.00; 0 were there before; 2 to make, 1235\.00$/m);
  assert.equal(await balance(eve), 0);
  assert.match(await done('import', path, '--channel', CHANNEL), /^2 made, 1235\.00; 0 were there before$/m);
  assert.equal(await balance(eve), 123500);
  assert.match(await done('import', path, '--channel', CHANNEL, '--check'), /^2 rows, 1235\.00; 2 were there before; 0 to make, 0\.00$/m);
  assert.match(await done('import', path, '--channel', CHANNEL), /^0 made, 0\.00; 2 were there before$/m);
  const more = file('more.csv', `${readFileSync(path, 'utf8')}${prefix}-3;;1;${eve.username};\r\n`);
  assert.match(await done('import', more, '--channel', CHANNEL), /^1 made, 1\.00; 2 were there before$/m);
  assert.equal(await balance(eve), 123600);
  const back = file('back.csv', `username,amount,reference\n${eve.username},1236,${prefix}-4`);
  assert.match(await done('import', back, '--channel', CHANNEL, '--debit'), /^1 made, 1236\.00; 0 were there before$/m);
  assert.equal(await balance(eve), 0);
  assert.equal(await sql(`SELECT memo FROM external_transfer WHERE reference = '${prefix}-1'`), '两行 文字\n');
});

test('a file with wrong rows names each by its line, and changes nothing', async () => {
  const [used, prefix] = [unique('r'), unique('w')];
  await done('credit', bob.username, '1', ...by('--reference', used));
  const head = 'username,amount,reference\n';
  const good = `${bob.username},1,${prefix}-good\n`;
  const wrong = [
    [`${head}${good}nobody-here,1,${prefix}-1\n`, /^line 3: there is no user nobody-here$/m],
    [`${head}${good}${bob.username},0,${prefix}-1\n`, /^line 3: the amount is 0$/m],
    [`${head}${good}${bob.username},"1\u202e\n元x",${prefix}-1\n`, /^line 3: the amount is no amount of CNY, such as 88 or 88\.50: 1 元x$/m],
    [`${head}${good}${bob.username},1,\n`, /^line 3: there is no reference$/m],
    [`username,amount,reference,unit\n${bob.username},1,${prefix}-1,CNY\n${bob.username},1,${prefix}-2,HKD\n`,
      /^line 3: the column unit does not say CNY, the unit of this site$/m],
    [`${head}${good}${good}`, /^line 3: the reference \S+-good stands in an earlier row, too$/m],
    [`${head}${bob.username},2,${used}\n`, /^line 2: the reference \S+ belongs to transfer \d+, a credit of 1\.00 with other contents$/m],
    [`${head}nobody-here,1,${used}\n`, /^line 2: the reference \S+ belongs to transfer \d+/m], // a user who is deleted by now
    [`${head}"${bob.username}\n",1,${prefix}-1\n${good}x\n`, /^line 5: it has fewer cells than the header$/m],
    [`${head}${good}${bob.username},"1,${prefix}-1\n`, /line 3: a quotation mark is not closed; nothing is changed/],
    [`name,amount,reference\n${good}`, /the header has no column username/],
    [`username,amount,Amount,reference\n${bob.username},1,2,${prefix}-1\n`, /the header has a column twice/],
    [head, /the file has no rows; nothing is changed/],
    ['', /the file is empty; nothing is changed/],
    [Buffer.from(`${head}${good}${bob.username},1,\xff\n`, 'latin1'), /^line 3: it is not UTF-8/m],
    [`${head}${Array.from({ length: 60 }, (_, i) => `nobody-here,1,${prefix}-${i}\n`).join('')}`, /60 of 60 rows are wrong, of which the first 50 are above/],
  ];
  const unchanged = await transfersOf(CHANNEL);
  for (const [text, why] of wrong) {
    for (const check of [['--check'], []]) {
      const { code, stdout, stderr } = await money('import', file('wrong.csv', text), '--channel', CHANNEL, ...check);
      assert.equal(code, 1, stderr);
      assert.match(stderr, why);
      assert.equal(stdout, '');
      assert.ok((stderr.match(/^line/gm) ?? []).length <= 50);
    }
  }
  const debits = file('debits.csv', `${head}${bob.username},0.60,${prefix}-a\n${bob.username},9999,${prefix}-b\n`);
  assert.match((await money('import', debits, '--channel', CHANNEL, '--debit')).stderr, /^line 3: the wallet of \S+ has less$/m);
  assert.equal(await transfersOf(CHANNEL), unchanged);
});

// What AddressSanitizer, where it is built in, keeps of freed memory does not count.
const ASAN_OPTIONS = `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=1:thread_local_quarantine_size_kb=64`;

// The program, and its lines on stderr as they come.
function begun(...args) {
  const child = spawn(env.HB_TEST_BINARY, ['money', ...args], { env: { ...process.env, ASAN_OPTIONS, HB_CONFIG: env.HB_TEST_CONFIG }, stdio: ['ignore', 'ignore', 'pipe'] });
  const lines = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  const ended = new Promise((resolve) => { child.on('close', (code, signal) => resolve(signal ?? code)); });
  return { child, ended, batches: () => lines.filter((line) => line.includes('interface=import')).length, lines };
}

// Holds the lock of a wallet until release is called.
async function locked({ id }) {
  const options = ['--no-defaults', `--socket=${env.HB_TEST_MYSQL_SOCKET}`, '--user=root', '-N', '--unbuffered', 'hongbao'];
  const child = spawn('mariadb', options, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  const said = new Promise((resolve) => { child.stdout.once('data', resolve); });
  child.stdin.write(`BEGIN; SELECT id FROM account WHERE id = ${id} FOR UPDATE;\n`);
  await said;
  return () => { child.stdin.end(); return ended; };
}

test('an import that is killed is repeated, and makes what is missing', async () => {
  const [users, prefix] = [[await newUser(), await newUser(), await newUser()], unique('k')];
  const path = file('killed.csv', rows(prefix, 3 * BATCH, users));
  const release = await locked(users[1]); // the second batch waits for it
  const { child, ended, batches, lines } = begun('import', path, '--channel', CHANNEL);
  await poll('the first batch is made', () => batches() === 1 || (assert.equal(child.exitCode, null, lines.join('\n')), false));
  child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL');
  await release();
  const made = () => sql(`SELECT COUNT(*) FROM external_transfer WHERE reference LIKE '${prefix}-%'`).then(Number);
  assert.equal(await made(), BATCH);
  assert.match(await done('import', path, '--channel', CHANNEL, '--check'), /^3000 rows, 3000\.00; 1000 were there before; 2000 to make, 2000\.00$/m);
  assert.match(await done('import', path, '--channel', CHANNEL), /^2000 made, 2000\.00; 1000 were there before$/m);
  assert.equal(await made(), 3 * BATCH);
  for (const user of users) assert.equal(await balance(user), 100 * BATCH);
});

test('a file that two people import at once is made once', async () => {
  const [users, prefix] = [[await newUser(), await newUser()], unique('t')];
  const path = file('twice.csv', rows(prefix, 2 * BATCH, users));
  const both = [begun('import', path, '--channel', CHANNEL), begun('import', path, '--channel', CHANNEL)];
  const codes = await Promise.all(both.map(({ ended }) => ended));
  assert.ok(codes.includes(0), both.flatMap(({ lines }) => lines).join('\n'));
  assert.match(await done('import', path, '--channel', CHANNEL), /^0 made, 0\.00; 2000 were there before$/m);
  for (const user of users) assert.equal(await balance(user), 100 * BATCH);
});

test('a wallet that is too small for all rows of a file is named before anything is done', async () => {
  const [user, prefix] = [await newUser(), unique('s')];
  await done('credit', user.username, '1000.50', ...by('--reference', `${prefix}-first`));
  const path = file('small.csv', rows(prefix, BATCH + 1, [user])); // each batch could be paid, but not both
  for (const check of [['--check'], []]) {
    const { code, stderr } = await money('import', path, '--channel', CHANNEL, '--debit', ...check);
    assert.equal(code, 1);
    assert.match(stderr, new RegExp(`^line 1002: the wallet of ${user.username} has less\n.*: 1 of 1001 rows are wrong; nothing is changed$`, 'm'));
  }
  assert.equal(await balance(user), 100050);
  await done('credit', user.username, '0.50', ...by('--reference', `${prefix}-second`));
  assert.match(await done('import', path, '--channel', CHANNEL, '--debit'), /^1001 made, 1001\.00; 0 were there before$/m);
  assert.match(await done('import', path, '--channel', CHANNEL, '--debit'), /^0 made, 0\.00; 1001 were there before$/m);
});

test('an import that stops in the middle says where, and what is made', async () => {
  const [first, second, prefix, other] = [await newUser(), await newUser(), unique('s'), unique('o').slice(0, 20)];
  await done('credit', first.username, String(BATCH), ...by('--reference', `${prefix}-first`));
  await done('credit', second.username, '1', ...by('--reference', `${prefix}-second`));
  await done('channel', other);
  const path = file('stops.csv', rows(prefix, BATCH + 1, [first, second]));
  const release = await locked(first); // the first batch waits for it
  const { ended, lines } = begun('import', path, '--channel', CHANNEL, '--debit');
  // innodb_trx would be a copy that is not renewed while it is read more often than every 100 ms
  const waits = () => sql("SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'INNODB_ROW_LOCK_CURRENT_WAITS'");
  try {
    await poll('the first batch waits', async () => Number(await waits()) > 0);
    await done('debit', second.username, '1', '--channel', other, '--reference', prefix);
  } finally {
    await release();
  }
  assert.equal(await ended, 1);
  const said = lines.filter((line) => !line.startsWith('ts=')).join('\n');
  assert.match(said, new RegExp(`^line 1002: the wallet of ${second.username} has less\n.*stopped at line 1002: .*; 1000 made, 0 were there before; repeat`, 'm'));
  assert.equal(await balance(first), 0);
  await done('credit', second.username, '1', ...by('--reference', `${prefix}-third`));
  assert.match(await done('import', path, '--channel', CHANNEL, '--debit'), /^1 made, 1\.00; 1000 were there before$/m);
  assert.deepEqual([await balance(first), await balance(second)], [0, 0]);
});

test('the balances of all users are the wallets of the report, and an import takes them back as payouts', async () => {
  const [rich, poor, prefix] = [await newUser({ nickname: '=1+1' }), await newUser(), unique('p')];
  await done('credit', rich.username, '88.80', ...by('--reference', `${prefix}-first`));
  const rows = async (...args) => (await json('balances', ...args)).balances.filter(({ user_id: id }) => [rich.id, poor.id].includes(id));
  const line = (user, fen) => ({ user_id: user.id, username: user.username, nickname: user === rich ? '=1+1' : user.username, balance_fen: fen, state: 'active' });
  assert.deepEqual(await rows(), [line(rich, 8880)]);
  assert.deepEqual(await rows('--min', '88.80'), [line(rich, 8880)]);
  assert.deepEqual(await rows('--min', '88.81'), []);
  assert.deepEqual(await rows('--all'), [line(rich, 8880), line(poor, 0)]);
  // The worker may still move money of earlier tests: the lists are compared when none was moved between them.
  const { all, said, csv: { stdout, stderr }, wallets } = await poll('nothing moves meanwhile', async () => {
    const { wallets_fen: before } = await json('report');
    const lists = { all: await json('balances'), said: await done('balances'),
      csv: await money('balances', '--csv', '--reference-prefix', prefix), wallets: (await json('report')).wallets_fen };
    return lists.wallets === before && lists;
  });
  const sum = all.balances.reduce((total, { balance_fen: fen }) => total + fen, 0);
  assert.deepEqual([all.users, all.sum_fen, all.wallets_fen], [all.balances.length, sum, wallets]);
  assert.match(said, new RegExp(`^${rich.username} +88\\.80  active +=1\\+1\n[^]*^${all.users} users, ${(sum / 100).toFixed(2)}; all wallets ${(sum / 100).toFixed(2)} CNY\n$`, 'm'));

  assert.match(stdout, new RegExp(`^\ufeffusername,amount,reference,memo,nickname,state,unit\r\n[^]*^${rich.username},88\\.80,${prefix}-${rich.id},,'=1\\+1,active,CNY\r$`, 'm'));
  assert.match(stderr, new RegExp(`^${all.users} users, `));
  const unnamed = (await done('balances', '--csv')).split('\r\n').find((row) => row.startsWith(rich.username));
  assert.equal(unnamed, `${rich.username},88.80,,,'=1+1,active,CNY`);
  const payouts = file('payouts.csv', stdout.split('\r\n').filter((row, i) => i === 0 || row.startsWith(`${rich.username},`)).join('\r\n'));
  for (const made of [1, 0]) assert.match(await done('import', payouts, '--debit', '--channel', CHANNEL), new RegExp(`^${made} made, `));
  assert.equal(await balance(rich), 0);
});

// The list of a channel, and what the report says of it with these further arguments.
const against = (channel, rows, ...args) => money('report', '--since', '2026-01-01', '--channel', channel, '--against', file('list.csv', `reference,amount,username\n${rows}`), ...args);

test('a channel is compared with its own list: each difference says what to do, as text, CSV and JSON', async () => {
  const channel = unique('a').slice(0, 20);
  await done('channel', channel);
  const [R, id] = [unique('r'), {}];
  for (const [name, amount] of [['same', '5'], ['less', '5'], ['other', '5'], ['back', '5'], ['odd', '5'], ['none', '5']])
    id[name] = (await json('credit', alice.username, amount, '--channel', channel, '--reference', `${R}-${name}`)).id;
  const rows = `${R}-same,5,${alice.username}\n${R}-less,4,\n${R}-other,5,${bob.username}\n${R}-back,-5,\n${R}-same,5,\n${R}-back,5,\n=1+1,7,${bob.username}\n${R}-odd,5,b;c\n`;
  const { code, stdout, stderr } = await against(channel, rows, '--json');
  const { differences, ...sums } = JSON.parse(stdout);
  assert.deepEqual([code, stderr, sums], [1, 'hongbao money report: 7 differences\n', { unit: 'CNY', unit_decimals: 2, rows: 8, transfers: 6 }]);
  const move = (kind, user, amount, reference) => `hongbao money ${kind} ${user} ${amount} --channel ${channel} --reference ${reference}`;
  const reverse = (name) => `hongbao money reverse ${id[name]} --reference NEW`;
  assert.deepEqual(differences.map((one) => [one.difference, one.line, one.transfer, one.do]), [
    ['amount', 3, id.less, `ask the provider; when the list is right: ${move('debit', alice.username, '1.00', 'NEW')}`],
    ['user', 4, id.other, `find out whose payment it is; when the list is right: ${reverse('other')} and ${move('credit', bob.username, '5.00', 'NEW-2')}`],
    ['reversed', 5, id.back, `ask the provider; when it was moved back: ${reverse('back')}`],
    ['twice', 6, null, 'ask the provider; when it was paid twice, enter the second payment with a new reference'],
    ['missing', 8, null, move('credit', bob.username, '7.00', "'=1+1'")],
    ['user', 9, id.odd, `find out whose payment it is; when the list is right: ${reverse('odd')} and ${move('credit', "'b;c'", '5.00', 'NEW-2')}`],
    ['unlisted', null, id.none, `ask the provider; when nothing was paid in: ${reverse('none')}`],
  ]);
  const text = await against(channel, rows);
  assert.deepEqual([text.code, text.stdout.match(/^ {2}do: .*$/gm)], [1, differences.map((one) => `  do: ${one.do}`)]);
  assert.match(text.stdout, new RegExp(`^line 3: 4\\.00 in, reference ${R}-less; here transfer ${id.less}, a credit of 5\\.00, ${alice.username}: the amounts differ$`, 'm'));
  assert.match(text.stdout, /^8 rows in the list, 6 transfers here since then, 7 differences$/m);
  const mean = JSON.parse((await against(channel, `${R}-other,5,$(id)'\n`, '--json')).stdout).differences[0];
  assert.equal(mean.do.slice(mean.do.indexOf(' and ') + 5), move('credit', "'$(id)'\\'''", '5.00', 'NEW-2'), 'the list is not trusted');
  const csv = await against(channel, rows, '--csv', '--missing', join(FOLDER, 'missing'));
  assert.match(csv.stdout, new RegExp(`^unlisted,${R}-none,${alice.username},,,,,${id.none},credit,5\\.00,"ask the provider; .*",CNY\r$`, 'm'));
  assert.equal(csv.stdout.split('\r\n').length, 9);
  assert.match(csv.stderr, new RegExp(`^1 to credit: hongbao money import '.*/missing-credits\\.csv' --channel ${channel}$`, 'm'));
  const again = await against(channel, rows, '--missing', join(FOLDER, 'missing'));
  assert.deepEqual([again.code, again.stdout], [2, '']);
  assert.match(again.stderr, /missing-credits\.csv is there already: choose another name/);
  assert.match(await done('import', join(FOLDER, 'missing-credits.csv'), '--channel', channel), /^1 made, 7\.00;/);
  const wrong = await against(channel, `${rows}x,y,\n,5,\n`);
  assert.deepEqual([wrong.code, wrong.stdout], [2, '']);
  assert.match(wrong.stderr, /^line 10: .*\nline 11: there is no reference\nhongbao money report: 2 of 10 rows are wrong; nothing is changed$/m);
  const since = await json('report', '--since', '2026-01-01 12:00');
  assert.match(since.from, /^2026-01-01T\d\d:00:00\.000Z$/);
  assert.match(await done('report', '--since', '2026-01-01 12:00'), /^from 2026-01-01 12:00:00 to now/);
  for (const name of Object.keys(id)) await done('reverse', String(id[name]), '--reference', `${R}-${name}-back`);
  const half = JSON.parse((await against(channel, `${R}-none-back,-5,\n`, '--json')).stdout).differences;
  assert.deepEqual(half.map((one) => [one.difference, one.reference]), [['unlisted', `${R}-none`], ['unlisted', '=1+1']]);
  assert.equal(half[0].do, `ask the provider: it was moved back here already, with the reference ${R}-none-back`);
});

// The most memory that a process has had, in kB: a function to ask when it has ended.
function peakOf(child) {
  let peak = 0;
  const looking = setInterval(() => {
    try {
      peak = Math.max(peak, Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1] ?? 0));
    } catch (error) {
      if (!['ENOENT', 'ESRCH'].includes(error.code)) throw error;
    }
  }, 50);
  child.once('close', () => clearInterval(looking));
  return () => peak;
}

test('100,000 rows are imported in less than 64 MiB, and compared; reports are balanced meanwhile', async () => {
  const [users, prefix, count, since] = [[await newUser()], unique('m'), 100_000, new Date().toISOString()];
  const { child, ended, batches, lines } = begun('import', file('many.csv', rows(prefix, count, users)), '--channel', CHANNEL);
  const peak = peakOf(child);
  let running = true;
  ended.then(() => { running = false; });
  while (running) {
    const { balanced, channels } = await json('report');
    const { opening_fen: opening, credits_fen: credits, debits_fen: debits, posts_fen: posts, reversed_in_fen: in_, reversed_out_fen: out,
      closing_fen: closing } = channels.find(({ name }) => name === CHANNEL);
    assert.deepEqual([balanced, closing], [true, opening - credits - in_ + debits + posts + out]);
  }
  const code = await ended;
  assert.equal(code, 0, lines.join('\n'));
  assert.equal(batches(), count / BATCH);
  assert.ok(peak() > 0 && peak() < 64 * 1024, `${peak()} kB`);
  assert.equal(await balance(users[0]), 100 * count);
  const comparison = begun('report', '--since', since, '--channel', CHANNEL, '--against', join(FOLDER, 'many.csv'));
  const compared = peakOf(comparison.child);
  assert.equal(await comparison.ended, 0, comparison.lines.join('\n'));
  assert.ok(compared() > 0 && compared() < 64 * 1024, `${compared()} kB`);
});

test('the commands of the page are as an operator types them', async () => {
  for (const username of ['alice', 'bob']) {
    const registered = await new Client().post('/register', { username, nickname: username, password: 'a good password' });
    assert.ok([201, 422].includes(registered.status), registered.text); // 422: a run before has registered it
  }
  symlinkSync(env.HB_TEST_BINARY, join(FOLDER, 'hongbao'));
  const script = Object.values(blocksOf('money.md', import.meta.url)).flat().join('\n');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script],
    { cwd: FOLDER, env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, PATH: `${FOLDER}:${process.env.PATH}` }, maxBuffer: 64 << 20 });
  assert.match(stdout, /^2 rows, 215\.50; /m);
  assert.equal(await sql("SELECT memo FROM external_transfer WHERE reference = '2026-11-002'"), 'November, with the bonus\n');
});
