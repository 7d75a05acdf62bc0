// Compares the answers that the load got with the rows of the tables. The result depends only on history and facts.
//
//   lost        acknowledged, but the row is missing
//   unexpected  the row exists, but no request asked for it, or every one was refused
//   duplicated  the row exists, or was acknowledged as new, more than once
//   changed     the row has other content than was acknowledged
//   broken      any other contradiction
// recovered counts requests of unknown outcome that took effect, which is correct, just as no effect is.
import { packetNumber, partitionKeys, PARTITIONS } from '../support/packet_id.js';

const DEMO_FEN = 100_000;
const WALLET_READS_MAX = 5;
const EXTERNAL_KINDS = new Set(['credit', 'debit', 'reverse']);
const WALLET_KINDS = new Set([...EXTERNAL_KINDS, 'withdraw', 'void']); // move money of a wallet
const EXTERNAL_OPS = { credit: 'credit', debit: 'debit', reverse: 'reverse', paid: 'credit' }; // the kinds of what they make

// The columns that are read from each table and, of these, the numeric ones; ids stay text.
const TABLES = {
  packets: ['packet', 'id, sender_id, request_key, amount_fen, count, state, grabbed_count, refund_fen, returned_count,'
    + ' returned_fen, ended_ms, thanks_count',
  ['amount_fen', 'count', 'grabbed_count', 'refund_fen', 'returned_count', 'returned_fen', 'thanks_count']],
  returns: ['share_return', 'packet_id, share_no, user_id, amount_fen, position', ['share_no', 'amount_fen']],
  thanks: ['thanks', 'packet_id, share_no, user_id, text', ['share_no']],
  grabs: ['`grab`', 'packet_id, share_no, user_id, amount_fen, grabbed_ms', ['share_no', 'amount_fen', 'grabbed_ms']],
  transfers: ['transfer', 'kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key', ['amount_fen']],
  externals: ['external_transfer JOIN transfer ON id = transfer_id', 'id, kind, debit_id, credit_id, amount_fen, reference, reverses',
    ['amount_fen']],
  withdrawals: ['withdrawal', 'id, user_id, request_key, amount_fen, state, hold_id, end_id, reason', ['amount_fen']],
  wallets: ["account WHERE kind = 'wallet'", 'id, balance_fen', ['balance_fen']],
  users: ['user', 'id, username, nickname, deleting_ms, deleted_ms', []],
};

// The tables as lists of objects, from one snapshot: packets expire meanwhile.
export async function readFacts(instance) {
  const facts = Object.fromEntries(Object.keys(TABLES).map((name) => [name, []]));
  const reads = Object.entries(TABLES).map(([name, [from, columns]]) => `SELECT '${name}', ${columns} FROM ${from}`);
  const rows = await instance.sql(['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ',
    'START TRANSACTION WITH CONSISTENT SNAPSHOT', ...reads].join('; '));
  for (const [name, ...cells] of rows) {
    const [, columns, numbers] = TABLES[name];
    const row = Object.fromEntries(columns.split(', ').map((column, i) => [column, cells[i]]));
    for (const column of numbers) row[column] = Number(row[column]);
    facts[name].push(row);
  }
  return facts;
}

function grouped(list, keyOf) {
  const groups = new Map();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

const ofUser = ({ packet_id, user_id }) => `${packet_id} ${user_id}`;
const ofShare = ({ packet_id, share_no }) => `${packet_id} ${share_no}`;
const sumFen = (rows) => rows.reduce((sum, { amount_fen }) => sum + amount_fen, 0);

class Verdict {
  violations = [];
  recovered = {};

  constructor(operations, facts) {
    this.operations = operations;
    this.facts = facts;
    this.publicIds = publicIdsOf(operations);
    this.packets = new Map(facts.packets.map((packet) => [packet.id, packet]));
  }

  of(op) {
    return this.operations.filter((operation) => operation.op === op);
  }

  blame(kind, packet, text) {
    this.violations.push({ kind, packet, text });
  }

  // The same, by a packet's number in the tables.
  blameNumber(kind, number, text) {
    this.blame(kind, this.publicIds.get(number), text);
  }

  recover(op) {
    this.recovered[op] = (this.recovered[op] ?? 0) + 1;
  }

  // Groups by user and packet: the requests of this operation, and the rows.
  userEffects(op, rows) {
    const requests = grouped(this.of(op), ({ packet, user }) => ofUser({ packet_id: packetNumber(packet), user_id: user }));
    return effects(requests, grouped(rows, ofUser)).map((effect) => {
      const [number, user] = effect.key.split(' ');
      return { op, packet: this.publicIds.get(number), user, ...effect };
    });
  }
}

// For each key of the two maps: the requests for it, and its rows.
const effects = (asked, rows) => [...new Set([...rows.keys(), ...asked.keys()])]
  .map((key) => ({ key, asked: asked.get(key) ?? [], rows: rows.get(key) ?? [] }));

// Judges one effect. told(operation, row): null, or how the row differs from the operation's answer. tidy: english
function judgeEffect(verdict, { op, packet, name, asked, rows, told }) {
  const by = (outcome) => asked.filter((operation) => operation.outcome === outcome);
  if (rows.length > 1) verdict.blame('duplicated', packet, `${name} is there ${rows.length} times`);
  if (by('ok').length > 0) {
    if (rows.length === 0) verdict.blame('lost', packet, `${name}: request ${by('ok')[0].n} was told ok, it is not there`);
    for (const operation of rows.length > 0 ? by('ok') : []) {
      const difference = told(operation, rows[0]);
      if (difference) verdict.blame('changed', packet, `${name}: request ${operation.n} ${difference}`);
    }
    for (const { n, at, why } of by('refused')) {
      const before = by('ok').find((other) => other.end < at);
      if (!before) continue;
      verdict.blame('changed', packet, `${name}: request ${n} is refused (${why}) after request ${before.n} was told ok`);
    }
  } else if (rows.length > 0) {
    if (by('unknown').length > 0) verdict.recover(op);
    else verdict.blame('unexpected', packet, `${name} is there, ${asked.length === 0 ? 'nobody asked for it' : 'every request was refused'}`);
  }
}

function judgeGrabs(verdict) {
  const { grabs } = verdict.facts;
  for (const effect of verdict.userEffects('open', grabs)) {
    const { packet, user, asked } = effect;
    const name = `the grab of user ${user}`;
    judgeEffect(verdict, { ...effect, name,
      told: (open, grab) => (open.share_no === grab.share_no && open.amount_fen === grab.amount_fen ? null
        : `was told share ${open.share_no}, ${open.amount_fen} fen, there is share ${grab.share_no}, ${grab.amount_fen} fen`) });
    const grabbed = asked.filter((open) => open.result === 'grabbed');
    if (grabbed.length > 1) verdict.blame('duplicated', packet, `${name} was told as new ${grabbed.length} times`);
    const has = (outcome) => asked.some((open) => open.outcome === outcome);
    if (grabbed.length === 0 && has('ok') && !has('unknown')) {
      verdict.blame('unexpected', packet, `${name} was "already" there, but no request can have made it`);
    }
  }
  for (const [{ packet_id, share_no }, ...more] of grouped(grabs, ofShare).values()) {
    if (more.length > 0) verdict.blameNumber('duplicated', packet_id, `share ${share_no} is grabbed ${1 + more.length} times`);
  }
}

// The answer "empty" ("手慢了，红包派完了") is correct only when every share of the packet is grabbed. Shares that were given
// back later may be left.
function judgeEmpty(verdict) {
  const empty = grouped(verdict.of('open').filter(({ why }) => why === 'empty'), ({ packet }) => packet);
  for (const [id, [{ n }]] of empty) {
    const packet = verdict.packets.get(packetNumber(id));
    if (!packet || packet.grabbed_count >= packet.count) continue;
    verdict.blame('broken', id, `request ${n} was told that it is empty; grabbed are ${packet.grabbed_count} of ${packet.count}`);
  }
}

// A share is given back once, to the place that the answer named.
function judgeReturns(verdict) {
  for (const effect of verdict.userEffects('return', verdict.facts.returns)) {
    judgeEffect(verdict, { ...effect, name: `the return of user ${effect.user}`,
      told: (told, row) => (told.returned_fen === row.amount_fen && (told.to === 'packet') === (row.position !== 'NULL') ? null
        : `was told ${told.returned_fen} fen to the ${told.to}, there are ${row.amount_fen} at position ${row.position}`) });
  }
}

// The shares of a packet that were given back into it follow the shares of its draw.
function judgePositions(verdict) {
  const into = verdict.facts.returns.filter(({ position }) => position !== 'NULL');
  for (const [id, returns] of grouped(into, ({ packet_id }) => packet_id)) {
    const { count, returned_count, returned_fen } = verdict.packets.get(id);
    const positions = returns.map(({ position }) => Number(position)).sort((a, b) => a - b);
    const fen = sumFen(returns);
    if (positions.every((position, i) => position === count + i) && positions.length === returned_count && fen === returned_fen) continue;
    verdict.blameNumber('broken', id, `given back are shares ${positions} for ${fen} fen, the packet has ${returned_count} for ${returned_fen} after ${count}`);
  }
}

// The thanks of users: each has the text of its user, exists once, and is for a share of that user.
function judgeThanks(verdict) {
  const returned = new Set(verdict.facts.returns.map(ofUser));
  for (const effect of verdict.userEffects('thanks', verdict.facts.thanks)) {
    const { key, packet, asked, rows } = effect;
    const name = `the thanks of user ${effect.user}`;
    const text = rows[0]?.text;
    // A text that was refused because another text is stored does not contradict that text.
    const others = asked.filter(({ why }) => why === 'thanks-already');
    judgeEffect(verdict, { ...effect, name, asked: asked.filter((thanks) => !others.includes(thanks)),
      told: (thanks) => (thanks.text === text && thanks.said === text ? null
        : `said "${thanks.text}", was told "${thanks.said}", there is "${text}"`) });
    if (rows.length > 0 && !asked.some((thanks) => thanks.outcome !== 'refused' && thanks.text === text)) {
      verdict.blame('unexpected', packet, `${name} are "${text}", which was not said`);
    }
    for (const { n, text: refused } of others.filter((other) => rows.length === 0 || other.text === text)) {
      const there = rows.length === 0 ? 'none' : 'this one';
      verdict.blame('broken', packet, `${name}: request ${n} with "${refused}" was refused for another text, there is ${there}`);
    }
    const denied = asked.find(({ why }) => why === 'no-share');
    if (denied && !returned.has(key)) {
      verdict.blame('lost', packet, `${name}: request ${denied.n} was told that there is no share, which was not given back`);
    }
  }
}

// Thanks are for a share of the user who said them, at most one for a share, and the packet counts them.
function judgeThankedShares(verdict) {
  const { facts } = verdict;
  const owners = new Map(facts.grabs.map((grab) => [ofShare(grab), grab.user_id]));
  for (const [share, rows] of grouped(facts.thanks, ofShare)) {
    const { packet_id: id, share_no } = rows[0];
    if (rows.length > 1) verdict.blameNumber('duplicated', id, `share ${share_no} is thanked for ${rows.length} times`);
    for (const { user_id } of rows.filter((row) => row.user_id !== owners.get(share))) {
      verdict.blameNumber('broken', id, `user ${user_id} thanks for share ${share_no} of ${owners.get(share) ?? 'nobody'}`);
    }
  }
  const counts = grouped(facts.thanks, ({ packet_id }) => packet_id);
  for (const { id, thanks_count } of facts.packets) {
    const count = counts.get(id)?.length ?? 0;
    if (count !== thanks_count) verdict.blameNumber('broken', id, `it counts ${thanks_count} thanks, there are ${count}`);
  }
}

// A packet whose end was acknowledged is ended in the tables, or every share was taken before.
function judgeEnds(verdict) {
  for (const { n, packet: id, state } of verdict.of('end').filter(({ outcome }) => outcome === 'ok')) {
    const packet = verdict.packets.get(packetNumber(id));
    const taken = packet.grabbed_count >= packet.count;
    if (state === 'expired' && packet.ended_ms === 'NULL' && !taken && packet.state === 'open') {
      verdict.blame('lost', id, `request ${n} was told that it is over, it is open`);
    }
    if (state === 'finished' && !taken) verdict.blame('broken', id, `request ${n} was told that it is finished, it is not`);
  }
}

function judgeSends(verdict) {
  const sends = grouped(verdict.of('send'), ({ user, key }) => `${user} ${key}`);
  const packets = grouped(verdict.facts.packets, ({ sender_id, request_key }) => `${sender_id} ${request_key}`);
  for (const { key, asked, rows } of effects(sends, packets)) {
    const [user, requestKey] = key.split(' ');
    const packet = verdict.publicIds.get(rows[0]?.id) ?? asked.find((send) => send.packet)?.packet;
    judgeEffect(verdict, { op: 'send', packet, name: `the packet with key ${requestKey} of user ${user}`, asked, rows,
      told: (send, row) => (packetNumber(send.packet) === row.id && send.amount_fen === row.amount_fen && send.count === row.count ? null
        : `was told ${send.amount_fen} fen in ${send.count} shares, there is packet ${row.id} with ${row.amount_fen} in ${row.count}`) });
  }
}

function judgeDeposits(verdict) {
  const made = verdict.facts.transfers.filter(({ kind, request_key }) => kind === 'deposit' && !/:demo/.test(request_key));
  const deposits = grouped(verdict.of('deposit'), ({ user, key }) => `${user}:${key}`);
  for (const { key, asked, rows } of effects(deposits, grouped(made, ({ request_key }) => request_key))) {
    judgeEffect(verdict, { op: 'deposit', name: `the deposit ${key}`, asked, rows,
      told: ({ amount_fen, got_fen, user }, row) => (amount_fen === row.amount_fen && got_fen === row.amount_fen && row.credit_id === String(user) ? null
        : `paid ${amount_fen} fen in, there are ${row.amount_fen} for account ${row.credit_id}`) });
  }
}

// Credits, debits, reversals and paid top-ups: each reference once, with the contents of one of its requests.
function judgeExternals(verdict) {
  const asked = grouped(Object.keys(EXTERNAL_OPS).flatMap((op) => verdict.of(op)), ({ reference }) => reference);
  for (const { key, asked: all, rows } of effects(asked, grouped(verdict.facts.externals.filter(({ kind }) => kind !== 'post'), ({ reference }) => reference))) {
    const [row] = rows;
    const isOfRow = ({ op, user, amount_fen }) => row.kind === EXTERNAL_OPS[op] && row.amount_fen === amount_fen && [row.debit_id, row.credit_id].includes(String(user));
    // A request with other contents than the row's was rightly refused.
    const same = row ? all.filter((request) => isOfRow(request) || request.outcome === 'ok') : all;
    judgeEffect(verdict, { op: all[0]?.op ?? row.kind, name: `the transfer with reference ${key}`, asked: same, rows,
      told: (request, found) => (isOfRow(request) && request.id === found.id && request.got_fen === found.amount_fen
          && (request.op !== 'reverse' || request.transfer === found.reverses) ? null
        : `was told transfer ${request.id} of ${request.amount_fen} fen, there is ${found.kind} ${found.id} of ${found.amount_fen}`) });
    const made = all.filter(({ outcome, repeated }) => outcome === 'ok' && !repeated);
    if (made.length > 1) verdict.blame('duplicated', undefined, `the reference ${key} was told as new ${made.length} times`);
  }
  for (const [id, rows] of grouped(verdict.facts.externals.filter(({ reverses }) => reverses !== 'NULL'), ({ reverses }) => reverses)) {
    if (rows.length > 1) verdict.blame('duplicated', undefined, `transfer ${id} is reversed ${rows.length} times`);
  }
}

// Each key of a user takes its money once: one withdrawal, with the contents of one of its requests.
function judgeWithdrawals(verdict) {
  const asked = grouped(verdict.of('withdraw'), ({ user, key }) => `${user}:${key}`);
  const holds = grouped(verdict.facts.transfers.filter(({ kind }) => kind === 'withdraw'), ({ request_key }) => request_key);
  const withdrawals = grouped(verdict.facts.withdrawals, ({ user_id, request_key }) => `${user_id}:${request_key}`);
  for (const { key, asked: all, rows } of effects(asked, withdrawals)) {
    const [row] = rows;
    const same = row ? all.filter(({ amount_fen, outcome }) => amount_fen === row.amount_fen || outcome === 'ok') : all;
    judgeEffect(verdict, { op: 'withdraw', name: `the withdrawal ${key}`, asked: same, rows,
      told: ({ id, amount_fen, got_fen }, { hold_id, amount_fen: fen }) => (id === hold_id && amount_fen === fen && got_fen === fen ? null
        : `was told transfer ${id} of ${got_fen} fen, there is ${hold_id} of ${fen}`) });
    const held = holds.get(key) ?? [];
    if (held.length > 1) verdict.blame('duplicated', undefined, `the money of the withdrawal ${key} is taken ${held.length} times`);
    if (row && held[0]?.amount_fen !== row.amount_fen) verdict.blame('changed', undefined, `the withdrawal ${key} took ${held[0]?.amount_fen} fen`);
  }
}

// A withdrawal ends once, as one of the operator's commands has asked for.
function judgePayments(verdict) {
  const asked = grouped(['post', 'void'].flatMap((op) => verdict.of(op)), ({ withdrawal }) => withdrawal);
  const references = new Map(verdict.facts.externals.filter(({ kind }) => kind === 'post').map(({ id, reference }) => [id, reference]));
  for (const { id, state, end_id, reason } of verdict.facts.withdrawals) {
    const isSoEnded = ({ op, reference, reason: why }) => (op === 'post' ? state === 'posted' && references.get(end_id) === reference
      : state === 'voided' && why === reason);
    const all = asked.get(id) ?? [];
    const same = state === 'pending' ? all : all.filter((end) => isSoEnded(end) || end.outcome === 'ok');
    judgeEffect(verdict, { op: 'pay', name: `the end of withdrawal ${id}`, asked: same, rows: state === 'pending' ? [] : [{}],
      told: (end) => (isSoEnded(end) ? null : `was told ${end.op}, it is ${state}`) });
  }
  const posts = grouped(verdict.facts.externals.filter(({ kind }) => kind === 'post'), ({ reference }) => reference);
  for (const [reference, rows] of posts) {
    if (rows.length > 1) verdict.blame('duplicated', undefined, `the payment ${reference} is there ${rows.length} times`);
  }
}

// The row of a user who has asked for the deletion has no name any more.
function judgeAccounts(verdict) {
  const deletes = verdict.of('delete').filter(({ outcome }) => outcome !== 'refused');
  const gone = new Map(deletes.map(({ user, name }) => [`~${user}`, name]));
  const users = grouped(verdict.facts.users, ({ username }) => gone.get(username) ?? username);
  for (const [name, asked] of grouped(verdict.of('register'), (register) => register.name)) {
    judgeEffect(verdict, { op: 'register', name: `the account ${name}`, asked, rows: users.get(name) ?? [],
      told: (register, row) => (String(register.user) === row.id ? null : `got id ${register.user}, there is ${row.id}`) });
  }
}

// An account is deleted when its user has asked for it, and only then.
function judgeDeletions(verdict) {
  const deletes = grouped(verdict.of('delete').filter(({ outcome }) => outcome !== 'refused'), ({ user }) => String(user));
  for (const { id, username, nickname, deleting_ms, deleted_ms } of verdict.facts.users) {
    const begun = deleting_ms !== 'NULL';
    judgeEffect(verdict, { op: 'delete', name: `the deletion of user ${id}`, asked: deletes.get(id) ?? [],
      rows: begun ? [{}] : [], told: () => null });
    if (begun && (username !== `~${id}` || nickname !== '')) {
      verdict.blame('broken', undefined, `user ${id} is deleted and has the name ${username} ${nickname}`);
    }
    if (begun && deleted_ms === 'NULL') verdict.blame('broken', undefined, `the deletion of user ${id} is not completed`);
  }
}

// Every send, refund and return has exactly one transfer; a grab is its own transfer. Every wallet has the balance that
// results from these.
function judgeMoney(verdict, demoUsers) {
  const { facts } = verdict;
  const transfers = grouped(facts.transfers.filter(({ packet_id }) => packet_id !== 'NULL'),
    ({ kind, packet_id, seq }) => `${kind} ${packet_id} ${seq}`);
  const one = (kind, packet, seq, amount, debit, credit) => {
    const key = `${kind} ${packet} ${seq}`;
    const [found, ...more] = transfers.get(key) ?? [];
    transfers.delete(key);
    const blame = (what, text) => verdict.blameNumber(what, packet, `the transfer "${kind}" ${seq} ${text}`);
    if (!found) blame('lost', 'is missing');
    else if (more.length > 0) blame('duplicated', `is there ${1 + more.length} times`);
    else if (found.amount_fen !== amount || found.debit_id !== debit || found.credit_id !== credit) {
      blame('changed', `moves ${found.amount_fen} fen from ${found.debit_id} to ${found.credit_id}`);
    }
  };
  const balance = new Map(facts.wallets.map(({ id }) => [id, demoUsers.has(id) ? DEMO_FEN : 0]));
  const add = (user, fen) => balance.set(user, (balance.get(user) ?? 0) + fen);
  for (const { id, sender_id, amount_fen, refund_fen } of facts.packets) {
    one('send', id, '0', amount_fen, sender_id, id);
    if (refund_fen > 0) one('refund', id, '0', refund_fen, id, sender_id);
    add(sender_id, refund_fen - amount_fen);
  }
  for (const { packet_id: packet, share_no, user_id, amount_fen, position } of facts.returns) {
    const toSender = position === 'NULL';
    const to = toSender ? verdict.packets.get(packet)?.sender_id : packet;
    one('return', packet, String(share_no), amount_fen, user_id, to);
    add(user_id, -amount_fen);
    if (toSender) add(to, amount_fen);
  }
  for (const grab of facts.grabs) add(grab.user_id, grab.amount_fen);
  for (const { kind, debit_id, credit_id, amount_fen, request_key } of facts.transfers) {
    if (kind === 'deposit' && !(demoUsers.has(credit_id) && /:demo$/.test(request_key))) add(credit_id, amount_fen);
    if (kind === 'forfeit') add(debit_id, -amount_fen);
    if (WALLET_KINDS.has(kind)) {
      add(credit_id, amount_fen);
      add(debit_id, -amount_fen);
    }
  }
  for (const [key, [extra]] of transfers) {
    verdict.blameNumber('unexpected', extra.packet_id, `a transfer that belongs to nothing: ${key}`);
  }
  for (const { id, balance_fen: fen } of facts.wallets) {
    if (fen !== balance.get(id)) verdict.blame('broken', undefined, `wallet ${id} has ${fen} fen, what happened makes ${balance.get(id)}`);
  }
}

// operations: all operations of the history, finished. demoUsers: ids (text) of the users that `hongbao demo` created.
export function judge(operations, facts, demoUsers) {
  const verdict = new Verdict(operations, facts);
  for (const part of [judgeGrabs, judgeEmpty, judgeReturns, judgePositions, judgeThanks, judgeThankedShares, judgeEnds,
    judgeSends, judgeDeposits, judgeExternals, judgeWithdrawals, judgePayments, judgeAccounts, judgeDeletions, judgeMoney]) part(verdict, demoUsers);
  return verdict;
}

// A map from the id in the tables to the public id, of every packet in the operations.
export function publicIdsOf(operations) {
  return new Map(operations.filter(({ packet }) => packet).map(({ packet }) => [packetNumber(packet), packet]));
}

// Compares the wallet page of a user with the balance in the table. Returns null when they agree, else { status, shown, fen }:
// the page's status and balance, and the table's. A refund may come between the two reads, so both are read again.
async function walletDifference(site, user, fen, balanceNow) {
  for (let reads = 1; ; reads++) {
    const { status, json } = await site.get('/wallet', user.cookie);
    if (json?.balance_fen === fen) return null;
    if (reads === WALLET_READS_MAX) return { status, shown: json?.balance_fen, fen };
    fen = await balanceNow(user.id);
  }
}

// Compares pages with the tables, once everything is settled. sample: packets whose page is read as their sender.
// balanceNow(id): the balance of a wallet in the table. Returns { pages, blames }: the number of pages read, and the
// violations.
export async function checkPages({ site, users, facts, sample, publicIds, balanceNow }) {
  const blames = [];
  const blame = (packet, text) => blames.push({ kind: 'broken', packet, text });
  const balance = new Map(facts.wallets.map((wallet) => [wallet.id, wallet.balance_fen]));
  const received = grouped(facts.grabs, ({ user_id }) => user_id);
  const returned = new Set(facts.returns.map(({ packet_id, user_id }) => `${packet_id} ${user_id}`));
  const year = (ms) => new Date(ms + 8 * 3_600_000).getUTCFullYear(); // Asia/Shanghai
  let pages = 0;
  for (const user of users) {
    const wallet = await walletDifference(site, user, balance.get(user.id), balanceNow);
    if (wallet) blame(undefined, `the wallet page of user ${user.id} (${wallet.status}) shows ${wallet.shown} fen of ${wallet.fen}`);
    const records = await site.get('/records/received', user.cookie);
    const grabs = (received.get(user.id) ?? []).filter(({ packet_id, grabbed_ms }) => year(grabbed_ms) === records.json?.year
      && !returned.has(`${packet_id} ${user.id}`));
    const fen = grabs.reduce((sum, grab) => sum + grab.amount_fen, 0);
    if (records.json?.total_fen !== fen || records.json?.count !== grabs.length) {
      blame(undefined, `the records of user ${user.id} (${records.status}) show ${records.json?.count} grabs of ${grabs.length}, ${records.json?.total_fen} fen of ${fen}`);
    }
    pages += 2;
  }
  const rows = grouped(facts.grabs, ({ packet_id }) => packet_id);
  const thanks = new Map(facts.thanks.map((row) => [ofShare(row), row.text]));
  const cookies = new Map(users.map(({ id, cookie }) => [id, cookie]));
  for (const packet of sample) {
    const id = publicIds.get(packet.id);
    const shown = [];
    let next = '';
    do {
      const page = await site.get(`/p/${id}${next}`, cookies.get(packet.sender_id));
      shown.push(...page.json?.grabs ?? []);
      next = page.json?.next ? `?after=${page.json.next}` : '';
      pages++;
    } while (next);
    const line = (grabs) => grabs.map((grab) => JSON.stringify(grab)).sort().join(' ');
    const there = line((rows.get(packet.id) ?? []).map((grab) => [grab.share_no, String(grab.user_id), grab.amount_fen,
      returned.has(`${packet.id} ${grab.user_id}`), thanks.get(ofShare(grab)) ?? null]));
    const page = line(shown.map((grab) => [grab.share_no, String(grab.user.id), grab.amount_fen, grab.returned, grab.thanks]));
    if (page !== there) blame(id, `its page shows ${page}, the tables have ${there}`);
  }
  return { pages, blames };
}

const idOf = (text) => text.split('-').map(BigInt);
const isBehind = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

// Time until the events that are in the streams now are settled, in ms; null when it takes longer than limitMs.
export async function measureLag(instance, limitMs) {
  const began = Date.now();
  const streams = Array.from({ length: PARTITIONS }, (_, i) => ['XINFO', 'STREAM', `${partitionKeys(i)}:events`]);
  const ends = (await instance.redis(...streams)).map((reply) => (Array.isArray(reply) ? idOf(reply[reply.indexOf('last-generated-id') + 1]) : [0n, 0n]));
  while (Date.now() - began < limitMs) {
    const cursors = new Map((await instance.sql('SELECT partition_no, last_id FROM stream_cursor')).map(([no, id]) => [Number(no), idOf(id)]));
    if (ends.every((end, i) => !isBehind(cursors.get(i) ?? [0n, 0n], end))) return Date.now() - began;
  }
  return null;
}
