// The checker finds each kind of violation: each case plants one in a history or in the tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packetNumber } from '../e2e/support/packet_id.js';
import { checkPages, judge } from './checker.js';
import { drillPlan, drillTable } from './drill.js';
import { FAULTS, plan, place } from './nemesis.js';
import { Rng } from './rng.js';

// A packet's public id of its id in the tables: 2 zero bits, the id, 64 bits that the checker ignores.
const publicId = (number) => {
  let bits = BigInt(number) << 64n;
  let text = '';
  for (let i = 0; i < 26; i++, bits >>= 5n) text = '0123456789abcdefghjkmnpqrstvwxyz'[Number(bits & 31n)] + text;
  return text;
};
const NUMBER = '382147236910252288';
const PACKET = publicId(NUMBER);
const SENDER = '10001';
const GRABBER = '10002';
const OTHER = '10003';
const DEMO = new Set([SENDER, GRABBER, OTHER]);

// A packet of 30 fen in two shares: GRABBER's grab of the first one was acknowledged, the rest was refunded.
function example() {
  let n = 0;
  const ask = (op, outcome, fields) => ({ n, at: 10 * n, end: 10 * n++ + 5, op, outcome, ...fields });
  const open = (outcome, fields = {}) => ask('open', outcome, { user: GRABBER, packet: PACKET, ...fields });
  const grabbed = { result: 'grabbed', share_no: 0, amount_fen: 12 };
  const operations = [
    ask('send', 'ok', { user: SENDER, key: 'k1', packet: PACKET, amount_fen: 30, count: 2 }),
    open('ok', grabbed),
    ask('deposit', 'ok', { user: SENDER, key: 'k2', amount_fen: 500, got_fen: 500 }),
    ask('register', 'ok', { name: 'somebody', user: 10004 }),
  ];
  const facts = {
    packets: [{ id: NUMBER, sender_id: SENDER, request_key: 'k1', amount_fen: 30, count: 2, state: 'closed', grabbed_count: 1, refund_fen: 18, returned_count: 0, returned_fen: 0, ended_ms: 'NULL', thanks_count: 0 }],
    returns: [],
    thanks: [],
    grabs: [{ packet_id: NUMBER, share_no: 0, user_id: GRABBER, amount_fen: 12 }],
    transfers: [
      { kind: 'deposit', debit_id: '1', credit_id: SENDER, amount_fen: 500, packet_id: 'NULL', seq: 'NULL', request_key: `${SENDER}:k2` },
      { kind: 'send', debit_id: SENDER, credit_id: NUMBER, amount_fen: 30, packet_id: NUMBER, seq: '0', request_key: 'NULL' },
      { kind: 'refund', debit_id: NUMBER, credit_id: SENDER, amount_fen: 18, packet_id: NUMBER, seq: '0', request_key: 'NULL' },
      ...[...DEMO].map((id) => ({ kind: 'deposit', debit_id: '1', credit_id: id, amount_fen: 100_000, packet_id: 'NULL', seq: 'NULL', request_key: `${id}:demo` })),
    ],
    wallets: [{ id: SENDER, balance_fen: 100_488 }, { id: GRABBER, balance_fen: 100_012 }, { id: OTHER, balance_fen: 100_000 }],
    users: [{ id: '10004', username: 'somebody', nickname: 'somebody', deleting_ms: 'NULL', deleted_ms: 'NULL' }],
  };
  return { operations, facts, ask, open, grabbed };
}

const kinds = ({ violations }) => [...new Set(violations.map(({ kind }) => kind))].sort();

function finds(kind, spoil) {
  const run = example();
  spoil(run);
  const verdict = judge(run.operations, run.facts, DEMO);
  assert.ok(kinds(verdict).includes(kind), `found ${JSON.stringify(verdict.violations)}`);
}

function accepts(spoil) {
  const run = example();
  spoil(run);
  const verdict = judge(run.operations, run.facts, DEMO);
  assert.deepEqual(verdict.violations, []);
  return verdict;
}

test('a run without violations is accepted', () => { accepts(() => {}); });

test('the id of a packet is read from its link', () => {
  assert.equal(packetNumber(PACKET), NUMBER);
  assert.equal(packetNumber('059x2akbt01w9hmx3gt9r1z9ej'), '382599988930154259');
});

// GRABBER gives the share of 12 fen back after the end: it goes to the sender.
function giveBack({ operations, facts, ask }) {
  operations.push(ask('return', 'ok', { user: GRABBER, packet: PACKET, returned_fen: 12, to: 'sender' }));
  facts.returns.push({ packet_id: NUMBER, share_no: 0, user_id: GRABBER, amount_fen: 12, position: 'NULL' });
  facts.transfers.push({ kind: 'return', debit_id: GRABBER, credit_id: SENDER, amount_fen: 12, packet_id: NUMBER, seq: '0', request_key: 'NULL' });
  facts.wallets[0].balance_fen += 12;
  facts.wallets[1].balance_fen -= 12;
}

test('a return is accepted', () => { accepts(giveBack); });
test('an acknowledged return without a row is lost', () => finds('lost', ({ operations, ask }) => {
  operations.push(ask('return', 'ok', { user: GRABBER, packet: PACKET, returned_fen: 12, to: 'sender' }));
}));
test('a return that went elsewhere than told is changed', () => finds('changed', (run) => {
  giveBack(run);
  run.operations.at(-1).to = 'packet';
}));
test('a return that nobody asked for is unexpected', () => finds('unexpected', (run) => {
  giveBack(run);
  run.operations.pop();
}));
test('a return without its transfer is lost', () => finds('lost', (run) => {
  giveBack(run);
  run.facts.transfers.pop();
}));
test('a share at a wrong position is broken', () => finds('broken', (run) => {
  giveBack(run);
  run.facts.returns[0].position = '3';
}));
const thank = ({ ask }, outcome, text, fields) => ask('thanks', outcome, { user: GRABBER, packet: PACKET, text, ...fields });

// GRABBER says "hi".
function thanked(run) {
  run.operations.push(thank(run, 'ok', 'hi', { said: 'hi' }));
  run.facts.thanks.push({ packet_id: NUMBER, share_no: 0, user_id: GRABBER, text: 'hi' });
  run.facts.packets[0].thanks_count = 1;
}
const thankedThen = (spoil) => (run) => { thanked(run); spoil(run); };

test('thanks are accepted, also repeated, and before a return', () => {
  accepts(thanked);
  accepts(thankedThen((run) => run.operations.push(thank(run, 'ok', 'hi', { said: 'hi' }))));
  accepts(thankedThen(giveBack));
});
test('acknowledged thanks without a row are lost', () => finds('lost', thankedThen(({ facts }) => { facts.thanks = []; })));
test('thanks with another text than acknowledged are changed', () => {
  finds('changed', thankedThen(({ facts }) => { facts.thanks[0].text = 'ho'; }));
  finds('changed', thankedThen(({ operations }) => { operations.at(-1).said = 'ho'; }));
  finds('changed', thankedThen((run) => run.operations.push(thank(run, 'ok', 'ho', { said: 'ho' }))));
});
test('thanks that nobody said, or only with another text, are unexpected', () => {
  finds('unexpected', thankedThen(({ operations }) => { operations.pop(); }));
  finds('unexpected', thankedThen((run) => { run.operations.splice(-1, 1, thank(run, 'unknown', 'ho')); }));
  finds('unexpected', thankedThen((run) => { run.operations.splice(-1, 1, thank(run, 'refused', 'hi', { why: 'missing' })); }));
});
test('thanks of unknown outcome may have a row, which counts as recovered, or none', () => {
  const present = accepts(thankedThen((run) => { run.operations.splice(-1, 1, thank(run, 'unknown', 'hi')); }));
  assert.deepEqual(present.recovered, { thanks: 1 });
  const missing = accepts((run) => run.operations.push(thank(run, 'unknown', 'hi')));
  assert.deepEqual(missing.recovered, {});
});
test('two thanks of one user, or for one share, are duplicated', () => {
  finds('duplicated', thankedThen(({ facts }) => { facts.thanks.push({ ...facts.thanks[0], share_no: 1 }); }));
  finds('duplicated', thankedThen(({ facts }) => { facts.thanks.push({ ...facts.thanks[0], user_id: OTHER }); }));
});
test('thanks for the share of somebody else, or miscounted thanks, are broken', () => {
  finds('broken', thankedThen(({ facts }) => { facts.thanks[0].share_no = 1; }));
  finds('broken', thankedThen(({ facts }) => { facts.packets[0].thanks_count = 0; }));
});
test('a refusal for another text is accepted only with another text', () => {
  const refused = (run, text) => run.operations.push(thank(run, 'refused', text, { why: 'thanks-already' }));
  accepts(thankedThen((run) => refused(run, 'ho')));
  finds('broken', thankedThen((run) => refused(run, 'hi')));
  finds('broken', (run) => refused(run, 'hi'));
});
test('thanks are refused for want of a share only after a return', () => {
  const denied = (run) => run.operations.push(thank(run, 'refused', 'hi', { why: 'no-share' }));
  finds('lost', denied);
  accepts((run) => { giveBack(run); denied(run); });
  finds('changed', thankedThen((run) => { giveBack(run); denied(run); })); // said before
});

// Compares the pages, which show this share, with the tables.
// now: the balance in the table when it is read again.
async function pagesOf({ facts }, share, { shown = 100_012, now = 100_012 } = {}) {
  const pages = {
    '/wallet': { balance_fen: shown },
    '/records/received': { year: 2026, total_fen: 0, count: 0 },
    [`/p/${PACKET}`]: { grabs: [{ share_no: 0, user: { id: 10002 }, amount_fen: 12, returned: false, thanks: 'hi', ...share }], next: null },
  };
  const site = { get: (path) => ({ status: 200, json: pages[path] }) };
  facts.grabs[0].grabbed_ms = 0; // in another year
  const { blames } = await checkPages({ site, users: [{ id: GRABBER }], facts, sample: facts.packets, publicIds: new Map([[NUMBER, PACKET]]), balanceNow: () => now });
  return blames;
}
test('a page that differs from the tables is broken', async () => {
  const run = example();
  thanked(run);
  assert.deepEqual(await pagesOf(run, {}), []);
  for (const share of [{ thanks: null }, { thanks: 'ho' }, { returned: true }, { amount_fen: 13 }, { user: { id: 10003 } }, { share_no: 1 }]) {
    assert.equal((await pagesOf(run, share)).length, 1, JSON.stringify(share));
  }
});
test('a wallet page that differs from the table is broken, unless a refund came between the two reads', async () => {
  const run = example();
  thanked(run);
  assert.deepEqual(await pagesOf(run, {}, { shown: 100_030, now: 100_030 }), []);
  assert.equal((await pagesOf(run, {}, { shown: 100_030, now: 100_012 })).length, 1);
});

test('an end that was told and is not there is lost', () => finds('lost', ({ operations, facts, ask }) => {
  operations.push(ask('end', 'ok', { user: SENDER, packet: PACKET, state: 'expired' }));
  facts.packets[0].state = 'open';
}));
test('an end of a packet that was over before is accepted', () => {
  accepts(({ operations, ask }) => { operations.push(ask('end', 'ok', { user: SENDER, packet: PACKET, state: 'expired' })); });
});

test('an acknowledged grab without a row is lost', () => finds('lost', ({ facts }) => { facts.grabs = []; }));

test('a grab with another amount or share than acknowledged is changed', () => {
  finds('changed', ({ facts }) => { facts.grabs[0].amount_fen = 13; });
  finds('changed', ({ facts }) => { facts.grabs[0].share_no = 1; });
});

test('a grab without a request, or whose request was refused, is unexpected', () => {
  finds('unexpected', ({ operations }) => { operations.splice(1, 1); });
  finds('unexpected', ({ operations, open }) => { operations[1] = open('refused', { why: 'expired' }); });
});

test('a grab with an unknown outcome may have a row, which counts as recovered, or none', () => {
  const present = accepts(({ operations, open }) => { operations[1] = open('unknown'); });
  assert.deepEqual(present.recovered, { open: 1 });
  const missing = accepts(({ operations, ask }) => { operations.push(ask('open', 'unknown', { user: OTHER, packet: PACKET })); });
  assert.deepEqual(missing.recovered, {});
});

test('"already" is accepted after a grab and unexpected without one', () => {
  accepts(({ operations, open, grabbed }) => { operations.push(open('ok', { ...grabbed, result: 'already' })); });
  accepts(({ operations, open, grabbed }) => { operations[1] = open('unknown'); operations.push(open('ok', { ...grabbed, result: 'already' })); });
  finds('unexpected', ({ operations, open, grabbed }) => { operations[1] = open('ok', { ...grabbed, result: 'already' }); });
});

test('two grabs of one user, or of one share, are duplicated', () => {
  finds('duplicated', ({ operations, open, grabbed }) => { operations.push(open('ok', grabbed)); });
  finds('duplicated', ({ facts }) => { facts.grabs.push({ ...facts.grabs[0], share_no: 1 }); });
  finds('duplicated', ({ facts }) => { facts.grabs.push({ ...facts.grabs[0], user_id: OTHER }); });
});

test('a refusal after an acknowledged grab is a change, one before it is not', () => {
  finds('changed', ({ operations, open }) => { operations.push(open('refused', { why: 'empty' })); });
  accepts(({ operations, open }) => { operations.unshift({ ...open('refused', { why: 'expired' }), at: 0, end: 1 }); });
});

test('"empty" is broken while shares are left', () => {
  finds('broken', ({ operations, ask }) => { operations.push(ask('open', 'refused', { user: OTHER, packet: PACKET, why: 'empty' })); });
});

test('a sent packet has one row, with its total', () => {
  finds('lost', ({ facts }) => { facts.packets = []; });
  finds('changed', ({ facts }) => { facts.packets[0].amount_fen = 31; });
  finds('duplicated', ({ facts }) => { facts.packets.push({ ...facts.packets[0], id: '99' }); });
  finds('unexpected', ({ operations }) => { operations.shift(); });
  finds('unexpected', ({ operations }) => { Object.assign(operations[0], { outcome: 'refused', packet: undefined }); });
  assert.deepEqual(accepts(({ operations }) => { Object.assign(operations[0], { outcome: 'unknown', packet: undefined }); }).recovered, { send: 1 });
});

test('a deposit has one transfer, with its amount', () => {
  finds('lost', ({ facts }) => { facts.transfers.shift(); });
  finds('changed', ({ facts }) => { facts.transfers[0].amount_fen = 499; });
  finds('duplicated', ({ facts }) => { facts.transfers.push(facts.transfers[0]); });
  finds('unexpected', ({ operations }) => { operations[2].outcome = 'refused'; });
});

test('an acknowledged account without a row is lost', () => finds('lost', ({ facts }) => { facts.users = []; }));

// somebody deletes the account, with 5.00 yuan in the wallet.
function leave({ operations, facts, ask }) {
  operations.push(ask('deposit', 'ok', { user: '10004', key: 'k3', amount_fen: 500, got_fen: 500 }));
  operations.push(ask('delete', 'ok', { user: '10004', name: 'somebody' }));
  facts.users = [{ id: '10004', username: '~10004', nickname: '', deleting_ms: '1', deleted_ms: '2' }];
  const money = { amount_fen: 500, packet_id: 'NULL', seq: 'NULL' };
  facts.transfers.push({ kind: 'deposit', debit_id: '1', credit_id: '10004', ...money, request_key: '10004:k3' });
  facts.transfers.push({ kind: 'forfeit', debit_id: '10004', credit_id: '1', ...money, request_key: '10004:2' });
  facts.wallets.push({ id: '10004', balance_fen: 0 });
}

test('a deletion is accepted, and one that is lost, incomplete or not asked for is found', () => {
  accepts(leave);
  finds('lost', (run) => { leave(run); Object.assign(run.facts.users[0], { username: 'somebody', deleting_ms: 'NULL' }); });
  finds('broken', (run) => { leave(run); run.facts.users[0].deleted_ms = 'NULL'; });
  finds('broken', (run) => { leave(run); run.facts.users[0].nickname = 'somebody'; });
  finds('unexpected', (run) => { leave(run); run.operations.pop(); });
  finds('broken', (run) => { leave(run); run.facts.wallets[3].balance_fen = 500; });
  assert.deepEqual(accepts((run) => { leave(run); run.operations.at(-1).outcome = 'unknown'; }).recovered, { delete: 1 });
});

test('a missing, duplicated or misdirected transfer is found', () => {
  for (const at of [1, 2]) {
    finds('lost', ({ facts }) => { facts.transfers.splice(at, 1); });
    finds('duplicated', ({ facts }) => { facts.transfers.push(facts.transfers[at]); });
    finds('changed', ({ facts }) => { facts.transfers[at].credit_id = OTHER; });
  }
  finds('unexpected', ({ facts }) => { facts.transfers.push({ ...facts.transfers[2], seq: '1' }); });
  finds('unexpected', ({ facts }) => { facts.transfers.push({ ...facts.transfers[2], kind: 'grab' }); });
});

test('a wallet whose balance is not the sum of its transfers and grabs is found', () => {
  finds('broken', ({ facts }) => { facts.wallets[0].balance_fen += 1; });
  finds('broken', ({ facts }) => { facts.wallets[1].balance_fen -= 12; }); // the grab was not paid
  finds('broken', ({ facts }) => { facts.wallets[1].balance_fen += 12; }); // or twice
  finds('broken', ({ facts }) => { facts.wallets[1].balance_fen -= 12; facts.wallets[2].balance_fen += 12; }); // or to another user
});

test('a seed always gives the same plan, and another seed a different one', () => {
  assert.deepEqual(plan(FAULTS, '7', 120), plan(FAULTS, '7', 120));
  assert.notDeepEqual(plan(FAULTS, '7', 120), plan(FAULTS, '8', 120));
});

test('a plan can be limited to some faults', () => {
  const only = plan(FAULTS, '1', 120, ['kill:redis', 'clock']);
  assert.deepEqual([...new Set(only.map(({ fault }) => fault))].sort(), ['clock', 'kill']);
  assert.ok(only.every(({ fault, target }) => fault !== 'kill' || target === 'redis'));
  assert.ok(plan(FAULTS, '1', 120, [':nginx']).every(({ target }) => target === 'nginx'));
  assert.throws(() => plan(FAULTS, '1', 120, ['kill:nobody']), /no fault/);
});

test('faults of one target never overlap and end within the run', () => {
  for (const seed of ['1', '2', '3']) {
    const until = new Map();
    for (const fault of plan(FAULTS, seed, 300)) {
      assert.ok(fault.at_ms >= (until.get(place(FAULTS, fault)) ?? 0), JSON.stringify(fault));
      assert.ok(fault.at_ms + fault.for_ms <= 300_000);
      until.set(place(FAULTS, fault), fault.at_ms + fault.for_ms);
    }
  }
});

test('a stream of random numbers depends on its seed and its name only', () => {
  const draw = (...args) => { const rng = new Rng(...args); return Array.from({ length: 5 }, () => rng.int(1, 1000)); };
  assert.deepEqual(draw('1', 'a'), draw('1', 'a'));
  assert.notDeepEqual(draw('1', 'a'), draw('1', 'b'));
  assert.notDeepEqual(draw('1', 'a'), draw('2', 'a'));
});

test('a drill has each fault of each target so often, in turn, and refuses what it does not know', () => {
  const names = (text, profile) => drillPlan(text, profile).map(({ fault, target }) => `${fault} ${target}`);
  const cuts = ['cut primary', 'cut primary+app', 'cut db', 'cut db+app'];
  assert.deepEqual(names('cut:2,reshard:1', 'cluster'), [...cuts, 'reshard redis', ...cuts]);
  assert.deepEqual(names('kill:1,reshard:1', 'sentinel'), ['primary', 'replica', 'sentinel', 'db', 'app', 'worker'].map((target) => `kill ${target}`));
  assert.throws(() => drillPlan('kill', 'cluster'), /--times kill: it needs FAULT:COUNT,… of kill cut reshard/);
});

test('a table of a drill has the spread of each fault, and the concerned partitions only where there are some', () => {
  const row = (target, concerned_ms, others_ms, deposits_ms) => ({ fault: 'kill', target, concerned_ms, others_ms, deposits_ms });
  const lines = drillTable([row('primary', 5000, 300, 400), row('db', 0, 400, 4100), row('primary', 6000, 500, 200), row('primary', 5500, 400, 300)]).split('\n');
  assert.deepEqual(lines.slice(2), ['| kill primary | 3 | 5.0 5.5 6.0 | 0.3 0.4 0.5 | 0.2 0.3 0.4 |', '| kill db | 1 |  | 0.4 0.4 0.4 | 4.1 4.1 4.1 |']);
});
