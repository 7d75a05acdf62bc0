// Compares the answers that the load got with the rows of the tables. The result depends only on history and facts.
//
//   lost        acknowledged, but the row is missing
//   unexpected  the row exists, but no request asked for it, or every one was refused
//   duplicated  the row exists, or was acknowledged as new, more than once
//   changed     the row has other content than was acknowledged
//   broken      any other contradiction
// recovered counts requests of unknown outcome that took effect; that is as correct as if they had not.
import { packetNumber, partitionKeys, PARTITIONS } from '../e2e/support/packet_id.js';

const DEMO_FEN = 100_000;
const WALLET_READS_MAX = 5;

// The columns that are read from each table and, of these, the numeric ones; ids stay text.
const TABLES = {
  packets: ['packet', 'id, sender_id, request_key, amount_fen, count, state, grabbed_count, refund_fen, returned_count, returned_fen, ended_ms, thanks_count',
    ['amount_fen', 'count', 'grabbed_count', 'refund_fen', 'returned_count', 'returned_fen', 'thanks_count']],
  returns: ['share_return', 'packet_id, share_no, user_id, amount_fen, position', ['share_no', 'amount_fen']],
  thanks: ['thanks', 'packet_id, share_no, user_id, text', ['share_no']],
  grabs: ['`grab`', 'packet_id, share_no, user_id, amount_fen, grabbed_ms', ['share_no', 'amount_fen', 'grabbed_ms']],
  transfers: ['transfer', 'kind, debit_id, credit_id, amount_fen, packet_id, seq, request_key', ['amount_fen']],
  wallets: ["account WHERE kind = 'wallet'", 'id, balance_fen', ['balance_fen']],
  users: ['user', 'id, username, nickname, deleting_ms, deleted_ms', []],
};

// The tables as lists of objects, from one snapshot: packets expire meanwhile.
export async function readFacts(instance) {
  const facts = Object.fromEntries(Object.keys(TABLES).map((name) => [name, []]));
  const rows = await instance.sql(['SET TRANSACTION ISOLATION LEVEL REPEATABLE READ', 'START TRANSACTION WITH CONSISTENT SNAPSHOT',
    ...Object.entries(TABLES).map(([name, [from, columns]]) => `SELECT '${name}', ${columns} FROM ${from}`)].join('; '));
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

class Verdict {
  violations = [];
  recovered = {};

  blame(kind, packet, text) {
    this.violations.push({ kind, packet, text });
  }

  recover(op) {
    this.recovered[op] = (this.recovered[op] ?? 0) + 1;
  }
}

// Judges one effect: the requests that asked for it, and its rows.
// told(operation, row): null, or how the row differs from the operation's answer.
function judgeEffect(verdict, { op, packet, name, asked, rows, told }) {
  const by = (outcome) => asked.filter((operation) => operation.outcome === outcome);
  if (rows.length > 1) verdict.blame('duplicated', packet, `${name} is there ${rows.length} times`);
  if (by('ok').length > 0) {
    if (rows.length === 0) verdict.blame('lost', packet, `${name}: request ${by('ok')[0].n} was told ok, it is not there`);
    for (const operation of rows.length > 0 ? by('ok') : []) {
      const difference = told(operation, rows[0]);
      if (difference) verdict.blame('changed', packet, `${name}: request ${operation.n} ${difference}`);
    }
    for (const operation of by('refused')) {
      const before = by('ok').find((other) => other.end < operation.at);
      if (before) verdict.blame('changed', packet, `${name}: request ${operation.n} is refused (${operation.why}) after request ${before.n} was told ok`);
    }
  } else if (rows.length > 0) {
    if (by('unknown').length > 0) verdict.recover(op);
    else verdict.blame('unexpected', packet, `${name} is there, ${asked.length === 0 ? 'nobody asked for it' : 'every request was refused'}`);
  }
}

function judgeGrabs(verdict, opens, facts, publicIds) {
  const keyOf = (packet, user) => `${packet} ${user}`;
  const rows = grouped(facts.grabs, (grab) => keyOf(grab.packet_id, grab.user_id));
  const asked = grouped(opens, (open) => keyOf(packetNumber(open.packet), open.user));
  for (const key of new Set([...rows.keys(), ...asked.keys()])) {
    const [number, user] = key.split(' ');
    const packet = publicIds.get(number);
    const requests = asked.get(key) ?? [];
    const name = `the grab of user ${user}`;
    judgeEffect(verdict, { op: 'open', packet, name, asked: requests, rows: rows.get(key) ?? [],
      told: (open, grab) => (open.share_no === grab.share_no && open.amount_fen === grab.amount_fen ? null
        : `was told share ${open.share_no}, ${open.amount_fen} fen, there is share ${grab.share_no}, ${grab.amount_fen} fen`) });
    const grabbed = requests.filter((open) => open.result === 'grabbed');
    if (grabbed.length > 1) verdict.blame('duplicated', packet, `${name} was told as new ${grabbed.length} times`);
    if (grabbed.length === 0 && requests.some((open) => open.outcome === 'ok') && !requests.some((open) => open.outcome === 'unknown')) {
      verdict.blame('unexpected', packet, `${name} was "already" there, but no request can have made it`);
    }
  }
  for (const [key, twice] of grouped(facts.grabs, (grab) => `${grab.packet_id} ${grab.share_no}`)) {
    if (twice.length > 1) verdict.blame('duplicated', publicIds.get(key.split(' ')[0]), `share ${key.split(' ')[1]} is grabbed ${twice.length} times`);
  }
}

// The answer "empty" ("手慢了，红包派完了") is correct only when every share of the packet is grabbed. Shares that were given
// back later may be left.
function judgeEmpty(verdict, opens, packets) {
  const blamed = new Set();
  for (const open of opens) {
    const packet = packets.get(packetNumber(open.packet));
    if (open.why !== 'empty' || !packet || packet.grabbed_count >= packet.count || blamed.has(packet.id)) continue;
    blamed.add(packet.id);
    verdict.blame('broken', open.packet, `request ${open.n} was told that it is empty; grabbed are ${packet.grabbed_count} of ${packet.count}`);
  }
}

// A share is given back once, and to where the answer said.
function judgeReturns(verdict, asked, facts, publicIds) {
  const keyOf = (packet, user) => `${packet} ${user}`;
  const rows = grouped(facts.returns, (row) => keyOf(row.packet_id, row.user_id));
  const requests = grouped(asked, ({ packet, user }) => keyOf(packetNumber(packet), user));
  for (const key of new Set([...rows.keys(), ...requests.keys()])) {
    const [number, user] = key.split(' ');
    judgeEffect(verdict, { op: 'return', packet: publicIds.get(number), name: `the return of user ${user}`,
      asked: requests.get(key) ?? [], rows: rows.get(key) ?? [],
      told: (told, row) => (told.returned_fen === row.amount_fen && (told.to === 'packet') === (row.position !== 'NULL') ? null
        : `was told ${told.returned_fen} fen to the ${told.to}, there are ${row.amount_fen} at position ${row.position}`) });
  }
}

// The shares of a packet that were given back into it follow those of its draw.
function judgePositions(verdict, facts, publicIds) {
  const packets = new Map(facts.packets.map((packet) => [packet.id, packet]));
  const rows = grouped(facts.returns.filter(({ position }) => position !== 'NULL'), ({ packet_id }) => packet_id);
  for (const [id, returns] of rows) {
    const { count, returned_count, returned_fen } = packets.get(id);
    const positions = returns.map(({ position }) => Number(position)).sort((a, b) => a - b);
    const fen = returns.reduce((sum, row) => sum + row.amount_fen, 0);
    if (positions.some((position, i) => position !== count + i) || positions.length !== returned_count || fen !== returned_fen) {
      verdict.blame('broken', publicIds.get(id), `given back are shares ${positions} for ${fen} fen, the packet has ${returned_count} for ${returned_fen} after ${count}`);
    }
  }
}

const thanksOf = ({ packet_id, share_no }) => `${packet_id} ${share_no}`;

// What users thanked with: each with their own text, once, and for the share that they have.
function judgeThanks(verdict, asked, facts, publicIds) {
  const keyOf = (packet, user) => `${packet} ${user}`;
  const rows = grouped(facts.thanks, (row) => keyOf(row.packet_id, row.user_id));
  const requests = grouped(asked, ({ packet, user }) => keyOf(packetNumber(packet), user));
  const returned = new Set(facts.returns.map(({ packet_id, user_id }) => keyOf(packet_id, user_id)));
  for (const key of new Set([...rows.keys(), ...requests.keys()])) {
    const [number, user] = key.split(' ');
    const [packet, name, all, found] = [publicIds.get(number), `the thanks of user ${user}`, requests.get(key) ?? [], rows.get(key) ?? []];
    const text = found[0]?.text;
    // A text that is refused because of another one is no contradiction to that one.
    const others = all.filter(({ why }) => why === 'thanks-already');
    judgeEffect(verdict, { op: 'thanks', packet, name, asked: all.filter((thanks) => !others.includes(thanks)), rows: found,
      told: (thanks) => (thanks.text === text && thanks.said === text ? null : `said "${thanks.text}", was told "${thanks.said}", there is "${text}"`) });
    if (found.length > 0 && !all.some((thanks) => thanks.outcome !== 'refused' && thanks.text === text)) {
      verdict.blame('unexpected', packet, `${name} are "${text}", which was not said`);
    }
    for (const { n, text: refused } of others.filter((other) => found.length === 0 || other.text === text)) {
      verdict.blame('broken', packet, `${name}: request ${n} with "${refused}" was refused for another text, there is ${found.length === 0 ? 'none' : 'this one'}`);
    }
    const denied = all.find(({ why }) => why === 'no-share');
    if (denied && !returned.has(key)) verdict.blame('lost', packet, `${name}: request ${denied.n} was told that there is no share, which was not given back`);
  }
}

// Thanks are for a share of the user who said them, at most one for a share, and the packet counts them.
function judgeThankedShares(verdict, facts, publicIds) {
  const owners = new Map(facts.grabs.map((grab) => [thanksOf(grab), grab.user_id]));
  for (const [share, rows] of grouped(facts.thanks, thanksOf)) {
    const packet = publicIds.get(rows[0].packet_id);
    if (rows.length > 1) verdict.blame('duplicated', packet, `share ${rows[0].share_no} is thanked for ${rows.length} times`);
    for (const { user_id, share_no } of rows.filter((row) => row.user_id !== owners.get(share))) {
      verdict.blame('broken', packet, `user ${user_id} thanks for share ${share_no} of ${owners.get(share) ?? 'nobody'}`);
    }
  }
  const counts = grouped(facts.thanks, ({ packet_id }) => packet_id);
  for (const { id, thanks_count } of facts.packets) {
    const count = counts.get(id)?.length ?? 0;
    if (count !== thanks_count) verdict.blame('broken', publicIds.get(id), `it counts ${thanks_count} thanks, there are ${count}`);
  }
}

// A packet that was ended, as told, is ended in the tables, or every share was taken before.
function judgeEnds(verdict, ends, packets) {
  for (const end of ends.filter(({ outcome }) => outcome === 'ok')) {
    const packet = packets.get(packetNumber(end.packet));
    const taken = packet.grabbed_count >= packet.count;
    if (end.state === 'expired' && packet.ended_ms === 'NULL' && !taken && packet.state === 'open') {
      verdict.blame('lost', end.packet, `request ${end.n} was told that it is over, it is open`);
    }
    if (end.state === 'finished' && !taken) verdict.blame('broken', end.packet, `request ${end.n} was told that it is finished, it is not`);
  }
}

function judgeSends(verdict, sends, facts, publicIds) {
  const rows = grouped(facts.packets, (packet) => `${packet.sender_id} ${packet.request_key}`);
  const asked = grouped(sends, (send) => `${send.user} ${send.key}`);
  for (const key of new Set([...rows.keys(), ...asked.keys()])) {
    const found = rows.get(key) ?? [];
    const requests = asked.get(key) ?? [];
    const packet = publicIds.get(found[0]?.id) ?? requests.find((send) => send.packet)?.packet;
    judgeEffect(verdict, { op: 'send', packet, name: `the packet with key ${key.split(' ')[1]} of user ${key.split(' ')[0]}`,
      asked: requests, rows: found,
      told: (send, row) => (packetNumber(send.packet) === row.id && send.amount_fen === row.amount_fen && send.count === row.count ? null
        : `was told ${send.amount_fen} fen in ${send.count} shares, there is packet ${row.id} with ${row.amount_fen} in ${row.count}`) });
  }
}

function judgeDeposits(verdict, deposits, facts) {
  const made = facts.transfers.filter(({ kind, request_key }) => kind === 'deposit' && !/:demo/.test(request_key));
  const rows = grouped(made, ({ request_key }) => request_key);
  const asked = grouped(deposits, ({ user, key }) => `${user}:${key}`);
  for (const key of new Set([...rows.keys(), ...asked.keys()])) {
    judgeEffect(verdict, { op: 'deposit', name: `the deposit ${key}`, asked: asked.get(key) ?? [], rows: rows.get(key) ?? [],
      told: (deposit, row) => (deposit.amount_fen === row.amount_fen && deposit.got_fen === row.amount_fen && row.credit_id === String(deposit.user) ? null
        : `paid ${deposit.amount_fen} fen in, there are ${row.amount_fen} for account ${row.credit_id}`) });
  }
}

// The row of a user who has asked for the deletion has no name any more.
function judgeAccounts(verdict, registers, deletes, facts) {
  const gone = new Map(deletes.filter(({ outcome }) => outcome !== 'refused').map(({ user, name }) => [`~${user}`, name]));
  const rows = grouped(facts.users, ({ username }) => gone.get(username) ?? username);
  for (const [name, asked] of grouped(registers, (register) => register.name)) {
    judgeEffect(verdict, { op: 'register', name: `the account ${name}`, asked, rows: rows.get(name) ?? [],
      told: (register, row) => (String(register.user) === row.id ? null : `got id ${register.user}, there is ${row.id}`) });
  }
}

// An account is deleted when its user has asked for it, and only then.
function judgeDeletions(verdict, deletes, facts) {
  const asked = grouped(deletes, ({ user }) => String(user));
  for (const { id, username, nickname, deleting_ms, deleted_ms } of facts.users) {
    const requests = asked.get(id) ?? [];
    const begun = deleting_ms !== 'NULL';
    judgeEffect(verdict, { op: 'delete', name: `the deletion of user ${id}`, asked: requests.filter(({ outcome }) => outcome !== 'refused'),
      rows: begun ? [{}] : [], told: () => null });
    if (begun && (username !== `~${id}` || nickname !== '')) verdict.blame('broken', undefined, `user ${id} is deleted and has the name ${username} ${nickname}`);
    if (begun && deleted_ms === 'NULL') verdict.blame('broken', undefined, `the deletion of user ${id} is not completed`);
  }
}

// Every send, refund and return has exactly one transfer, a grab is its own; every wallet has the balance that these give.
function judgeMoney(verdict, facts, publicIds, demoUsers) {
  const transfers = grouped(facts.transfers.filter(({ packet_id }) => packet_id !== 'NULL'),
    ({ kind, packet_id, seq }) => `${kind} ${packet_id} ${seq}`);
  const one = (kind, packet, seq, amount, debit, credit) => {
    const found = transfers.get(`${kind} ${packet} ${seq}`) ?? [];
    transfers.delete(`${kind} ${packet} ${seq}`);
    const name = `the transfer "${kind}" ${seq}`;
    if (found.length === 0) verdict.blame('lost', publicIds.get(packet), `${name} is missing`);
    else if (found.length > 1) verdict.blame('duplicated', publicIds.get(packet), `${name} is there ${found.length} times`);
    else if (found[0].amount_fen !== amount || found[0].debit_id !== debit || found[0].credit_id !== credit) {
      verdict.blame('changed', publicIds.get(packet), `${name} moves ${found[0].amount_fen} fen from ${found[0].debit_id} to ${found[0].credit_id}`);
    }
  };
  const balance = new Map(facts.wallets.map(({ id }) => [id, demoUsers.has(id) ? DEMO_FEN : 0]));
  const add = (user, fen) => balance.set(user, (balance.get(user) ?? 0) + fen);
  for (const packet of facts.packets) {
    one('send', packet.id, '0', packet.amount_fen, packet.sender_id, packet.id);
    if (packet.refund_fen > 0) one('refund', packet.id, '0', packet.refund_fen, packet.id, packet.sender_id);
    add(packet.sender_id, packet.refund_fen - packet.amount_fen);
  }
  const senders = new Map(facts.packets.map((packet) => [packet.id, packet.sender_id]));
  for (const { packet_id: packet, share_no, user_id, amount_fen, position } of facts.returns) {
    const to = position === 'NULL' ? senders.get(packet) : packet;
    one('return', packet, String(share_no), amount_fen, user_id, to);
    add(user_id, -amount_fen);
    if (position === 'NULL') add(to, amount_fen);
  }
  for (const grab of facts.grabs) add(grab.user_id, grab.amount_fen);
  for (const { kind, credit_id, amount_fen, request_key } of facts.transfers) {
    if (kind === 'deposit' && !(demoUsers.has(credit_id) && /:demo$/.test(request_key))) add(credit_id, amount_fen);
  }
  for (const { kind, debit_id, amount_fen } of facts.transfers) {
    if (kind === 'forfeit') add(debit_id, -amount_fen);
  }
  for (const [key, extra] of transfers) {
    verdict.blame('unexpected', publicIds.get(extra[0].packet_id), `a transfer that belongs to nothing: ${key}`);
  }
  for (const { id, balance_fen: fen } of facts.wallets) {
    if (fen !== balance.get(id)) verdict.blame('broken', undefined, `wallet ${id} has ${fen} fen, what happened makes ${balance.get(id)}`);
  }
}

// operations: of the history, all finished. demoUsers: ids (text) of the users that `hongbao demo` created.
export function judge(operations, facts, demoUsers) {
  const verdict = new Verdict();
  const of = (op) => operations.filter((operation) => operation.op === op);
  const publicIds = publicIdsOf(operations);
  judgeGrabs(verdict, of('open'), facts, publicIds);
  judgeEmpty(verdict, of('open'), new Map(facts.packets.map((packet) => [packet.id, packet])));
  judgeReturns(verdict, of('return'), facts, publicIds);
  judgePositions(verdict, facts, publicIds);
  judgeThanks(verdict, of('thanks'), facts, publicIds);
  judgeThankedShares(verdict, facts, publicIds);
  judgeEnds(verdict, of('end'), new Map(facts.packets.map((packet) => [packet.id, packet])));
  judgeSends(verdict, of('send'), facts, publicIds);
  judgeDeposits(verdict, of('deposit'), facts);
  judgeAccounts(verdict, of('register'), of('delete'), facts);
  judgeDeletions(verdict, of('delete'), facts);
  judgeMoney(verdict, facts, publicIds, demoUsers);
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
  const thanks = new Map(facts.thanks.map((row) => [thanksOf(row), row.text]));
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
      returned.has(`${packet.id} ${grab.user_id}`), thanks.get(thanksOf(grab)) ?? null]));
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
