// The checker finds each kind of violation: each row plants one in a history or in the tables.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { packetNumber } from '../support/packet_id.js';
import { checkPages, judge } from './checker.js';
import { drillPlan, drillTable } from './drill.js';
import { FAULTS, plan, place } from './nemesis.js';
import { Rng } from '../support/rng.js';

// The public id of a packet by its id in the tables: 2 zero bits, the id, 64 bits that the checker ignores.
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
const LEAVER = '10004';
const DEMO = new Set([SENDER, GRABBER, OTHER]);
const GRABBED = { result: 'grabbed', share_no: 0, amount_fen: 12 };

const transfer = (kind, debit_id, credit_id, amount_fen, about) => ({ kind, debit_id, credit_id, amount_fen, packet_id: 'NULL',
  seq: 'NULL', request_key: 'NULL', ...about });
const OF_PACKET = { packet_id: NUMBER, seq: '0' };

// A packet of 30 fen in two shares: GRABBER's grab of the first one was acknowledged, the rest was refunded.
class Run {
  #n = 0;
  operations = [];
  facts = {
    packets: [{ id: NUMBER, sender_id: SENDER, request_key: 'k1', amount_fen: 30, count: 2, state: 'closed', grabbed_count: 1,
      refund_fen: 18, returned_count: 0, returned_fen: 0, ended_ms: 'NULL', thanks_count: 0 }],
    returns: [],
    thanks: [],
    grabs: [{ packet_id: NUMBER, share_no: 0, user_id: GRABBER, amount_fen: 12 }],
    transfers: [
      transfer('deposit', '1', SENDER, 500, { request_key: `${SENDER}:k2` }),
      transfer('send', SENDER, NUMBER, 30, OF_PACKET),
      transfer('refund', NUMBER, SENDER, 18, OF_PACKET),
      ...[...DEMO].map((id) => transfer('deposit', '1', id, 100_000, { request_key: `${id}:demo` })),
    ],
    wallets: [{ id: SENDER, balance_fen: 100_488 }, { id: GRABBER, balance_fen: 100_012 }, { id: OTHER, balance_fen: 100_000 }],
    externals: [],
    withdrawals: [],
    users: [{ id: LEAVER, username: 'somebody', nickname: 'somebody', deleting_ms: 'NULL', deleted_ms: 'NULL' }],
  };

  constructor() {
    this.send = this.ask('send', 'ok', { user: SENDER, key: 'k1', packet: PACKET, amount_fen: 30, count: 2 });
    this.grab = this.open('ok', GRABBED);
    this.deposit = this.ask('deposit', 'ok', { user: SENDER, key: 'k2', amount_fen: 500, got_fen: 500 });
    this.ask('register', 'ok', { name: 'somebody', user: Number(LEAVER) });
  }

  // The next operation of the history.
  ask(op, outcome, fields) {
    const n = this.#n++;
    const operation = { n, at: 10 * n, end: 10 * n + 5, op, outcome, ...fields };
    this.operations.push(operation);
    return operation;
  }

  open(outcome, fields) {
    return this.ask('open', outcome, { user: GRABBER, packet: PACKET, ...fields });
  }

  thank(outcome, text, fields) {
    return this.ask('thanks', outcome, { user: GRABBER, packet: PACKET, text, ...fields });
  }

  end() {
    return this.ask('end', 'ok', { user: SENDER, packet: PACKET, state: 'expired' });
  }

  // Replaces the outcome of an operation of the example.
  become(operation, outcome, fields) {
    Object.assign(operation, { outcome, result: undefined, ...fields });
  }

  // Removes the operation from the history.
  forget(operation) {
    this.operations.splice(this.operations.indexOf(operation), 1);
  }

  // GRABBER gives the share of 12 fen back after the end: it goes to the sender.
  giveBack() {
    this.facts.returns.push({ packet_id: NUMBER, share_no: 0, user_id: GRABBER, amount_fen: 12, position: 'NULL' });
    this.facts.transfers.push(transfer('return', GRABBER, SENDER, 12, OF_PACKET));
    this.facts.wallets[0].balance_fen += 12;
    this.facts.wallets[1].balance_fen -= 12;
    return this.askReturn();
  }

  askReturn() {
    return this.ask('return', 'ok', { user: GRABBER, packet: PACKET, returned_fen: 12, to: 'sender' });
  }

  // GRABBER says "hi".
  thanked() {
    this.facts.thanks.push({ packet_id: NUMBER, share_no: 0, user_id: GRABBER, text: 'hi' });
    this.facts.packets[0].thanks_count = 1;
    return this.thank('ok', 'hi', { said: 'hi' });
  }

  // An operator credits GRABBER with 50 fen; op 'paid': for an order.
  credited(op) {
    this.facts.externals.push({ id: '70', kind: 'credit', debit_id: '16', credit_id: GRABBER, amount_fen: 50, reference: 'c-1', reverses: 'NULL' });
    this.facts.transfers.push(transfer('credit', '16', GRABBER, 50, { request_key: '16:c-1' }));
    this.facts.wallets[1].balance_fen += 50;
    return this.askCredit('ok', { id: '70', got_fen: 50, repeated: false }, op);
  }

  askCredit(outcome, fields, op = 'credit') {
    return this.ask(op, outcome, { user: GRABBER, amount_fen: 50, reference: 'c-1', ...fields });
  }

  // The operator reverses it.
  reversed(reference = 'r-2') {
    this.facts.externals.push({ id: '71', kind: 'reverse', debit_id: GRABBER, credit_id: '16', amount_fen: 50, reference, reverses: '70' });
    this.facts.transfers.push(transfer('reverse', GRABBER, '16', 50, { request_key: `16:${reference}` }));
    this.facts.wallets[1].balance_fen -= 50;
    return this.ask('reverse', 'ok', { user: GRABBER, amount_fen: 50, reference, transfer: '70', id: '71', got_fen: 50, repeated: false });
  }

  // GRABBER withdraws 40 fen.
  withdrawn() {
    this.facts.withdrawals.push({ id: '7', user_id: GRABBER, request_key: 'w-1', amount_fen: 40, state: 'pending', hold_id: '80', end_id: 'NULL', reason: '' });
    this.facts.transfers.push(transfer('withdraw', GRABBER, '3', 40, { request_key: `${GRABBER}:w-1` }));
    this.facts.wallets[1].balance_fen -= 40;
    return this.askWithdraw('ok', { id: '80', got_fen: 40 });
  }

  askWithdraw(outcome, fields) {
    return this.ask('withdraw', outcome, { user: GRABBER, key: 'w-1', amount_fen: 40, ...fields });
  }

  // The operator pays it.
  posted() {
    Object.assign(this.facts.withdrawals[0], { state: 'posted', end_id: '81' });
    this.facts.externals.push({ id: '81', kind: 'post', debit_id: '3', credit_id: '16', amount_fen: 40, reference: 'p-1', reverses: 'NULL' });
    this.facts.transfers.push(transfer('post', '3', '16', 40, { request_key: '16:p-1' }));
    return this.ask('post', 'ok', { withdrawal: '7', reference: 'p-1' });
  }

  // The operator does not pay it.
  voided() {
    Object.assign(this.facts.withdrawals[0], { state: 'voided', end_id: '82', reason: 'why' });
    this.facts.transfers.push(transfer('void', '3', GRABBER, 40, { request_key: '7' }));
    this.facts.wallets[1].balance_fen += 40;
    return this.ask('void', 'ok', { withdrawal: '7', reason: 'why' });
  }

  // somebody deletes the account, with 5.00 yuan in the wallet.
  leave() {
    this.ask('deposit', 'ok', { user: LEAVER, key: 'k3', amount_fen: 500, got_fen: 500 });
    this.facts.users = [{ id: LEAVER, username: `~${LEAVER}`, nickname: '', deleting_ms: '1', deleted_ms: '2' }];
    this.facts.transfers.push(transfer('deposit', '1', LEAVER, 500, { request_key: `${LEAVER}:k3` }),
      transfer('forfeit', LEAVER, '1', 500, { request_key: `${LEAVER}:2` }));
    this.facts.wallets.push({ id: LEAVER, balance_fen: 0 });
    return this.ask('delete', 'ok', { user: LEAVER, name: 'somebody' });
  }
}

function judged(change) {
  const run = new Run();
  change(run, run.facts);
  return judge(run.operations, run.facts, DEMO);
}

// What is planted, under the kind of violation that must be found.
const PLANTED = {
  lost: {
    'a withdrawal without a row': (run, facts) => { run.withdrawn(); facts.withdrawals = []; },
    'a post that was told ok, of a pending withdrawal': (run) => { run.withdrawn(); run.ask('post', 'ok', { withdrawal: '7', reference: 'p-1' }); },
    'a payment of an order without a row': (run, facts) => { run.credited('paid'); facts.externals = []; },
    'a credit without a row': (run, facts) => { run.credited(); facts.externals = []; },
    'a return without a row': (run) => { run.askReturn(); },
    'a return without its transfer': (run, { transfers }) => { run.giveBack(); transfers.pop(); },
    'thanks without a row': (run, facts) => { run.thanked(); facts.thanks = []; },
    'thanks refused for want of a share that was not given back': (run) => { run.thank('refused', 'hi', { why: 'no-share' }); },
    'an end that is not there': (run, { packets }) => { run.end(); packets[0].state = 'open'; },
    'a grab without a row': (run, facts) => { facts.grabs = []; },
    'a packet without a row': (run, facts) => { facts.packets = []; },
    'a deposit without its transfer': (run, { transfers }) => { transfers.shift(); },
    'a send without its transfer': (run, { transfers }) => { transfers.splice(1, 1); },
    'a refund without its transfer': (run, { transfers }) => { transfers.splice(2, 1); },
    'an account without a row': (run, facts) => { facts.users = []; },
    'a deletion that did not begin': (run, facts) => {
      run.leave();
      Object.assign(facts.users[0], { username: 'somebody', deleting_ms: 'NULL' });
    },
  },
  changed: {
    'a withdrawal with another amount': (run, { withdrawals }) => { run.withdrawn(); withdrawals[0].amount_fen = 41; },
    'a withdrawal that took another amount': (run, { transfers }) => { run.withdrawn(); transfers.at(-1).amount_fen = 41; },
    'a withdrawal with another id than told': (run) => { run.withdrawn().id = '79'; },
    'a withdrawal that is refused after it was told ok': (run) => { run.withdrawn(); run.askWithdraw('refused'); },
    'a post with another reference': (run, { externals }) => { run.withdrawn(); run.posted(); externals[0].reference = 'p-2'; },
    'a void that was told ok, of a posted withdrawal': (run) => { run.withdrawn(); run.posted(); run.ask('void', 'ok', { withdrawal: '7', reason: 'why' }); },
    'a payment of an order with another amount': (run, { externals }) => { run.credited('paid'); externals[0].amount_fen = 49; },
    'a credit with another amount': (run, { externals }) => { run.credited(); externals[0].amount_fen = 49; },
    'a credit of another user': (run, { externals }) => { run.credited(); externals[0].credit_id = OTHER; },
    'a credit with another id than told': (run) => { run.credited().id = '69'; },
    'a credit that is refused after it was told ok': (run) => { run.credited(); run.askCredit('refused'); },
    'a credit with another amount that was told ok': (run) => {
      run.credited();
      run.askCredit('ok', { amount_fen: 51, id: '70', got_fen: 51, repeated: true });
    },
    'a reversal of another transfer': (run, { externals }) => { run.credited(); run.reversed(); externals[1].reverses = '69'; },
    'a return that went elsewhere than told': (run) => { run.giveBack().to = 'packet'; },
    'thanks with another text in the row': (run, { thanks }) => { run.thanked(); thanks[0].text = 'ho'; },
    'thanks with another text in the answer': (run) => { run.thanked().said = 'ho'; },
    'thanks again with another text': (run) => { run.thanked(); run.thank('ok', 'ho', { said: 'ho' }); },
    'thanks refused for want of a share, after they were said': (run) => {
      run.thanked();
      run.giveBack();
      run.thank('refused', 'hi', { why: 'no-share' });
    },
    'a grab with another amount': (run, { grabs }) => { grabs[0].amount_fen = 13; },
    'a grab with another share': (run, { grabs }) => { grabs[0].share_no = 1; },
    'a grab that is refused after it was told ok': (run) => { run.open('refused', { why: 'empty' }); },
    'a packet with another total': (run, { packets }) => { packets[0].amount_fen = 31; },
    'a deposit with another amount': (run, { transfers }) => { transfers[0].amount_fen = 499; },
    'the transfer of a send to another account': (run, { transfers }) => { transfers[1].credit_id = OTHER; },
    'the transfer of a refund to another account': (run, { transfers }) => { transfers[2].credit_id = OTHER; },
  },
  unexpected: {
    'a withdrawal that nobody asked for': (run) => { run.forget(run.withdrawn()); },
    'a withdrawal that was refused': (run) => { run.withdrawn().outcome = 'refused'; },
    'a post that nobody asked for': (run) => { run.withdrawn(); run.forget(run.posted()); },
    'a void that was refused': (run) => { run.withdrawn(); run.voided().outcome = 'refused'; },
    'a credit that nobody asked for': (run) => { run.forget(run.credited()); },
    'a credit that was refused': (run) => { run.credited().outcome = 'refused'; },
    'a credit that was asked for with another amount': (run) => { run.credited().outcome = 'refused'; run.askCredit('unknown', { amount_fen: 51 }); },
    'a return that nobody asked for': (run) => { run.forget(run.giveBack()); },
    'thanks that nobody said': (run) => { run.forget(run.thanked()); },
    'thanks of which only another text was said': (run) => { run.forget(run.thanked()); run.thank('unknown', 'ho'); },
    'thanks that were refused': (run) => { run.forget(run.thanked()); run.thank('refused', 'hi', { why: 'missing' }); },
    'a grab without a request': (run) => { run.forget(run.grab); },
    'a grab that was refused': (run) => { run.become(run.grab, 'refused', { why: 'expired' }); },
    '"already" without a grab': (run) => { run.grab.result = 'already'; },
    'a packet without a request': (run) => { run.forget(run.send); },
    'a packet that was refused': (run) => { run.become(run.send, 'refused', { packet: undefined }); },
    'a deposit that was refused': (run) => { run.deposit.outcome = 'refused'; },
    'a deletion that nobody asked for': (run) => { run.forget(run.leave()); },
    'a second refund': (run, { transfers }) => { transfers.push({ ...transfers[2], seq: '1' }); },
    'the transfer of a grab': (run, { transfers }) => { transfers.push({ ...transfers[2], kind: 'grab' }); },
  },
  duplicated: {
    'two withdrawals of one key': (run, { withdrawals }) => { run.withdrawn(); withdrawals.push({ ...withdrawals[0], id: '8' }); },
    'money of a withdrawal that is taken twice': (run, { transfers }) => { run.withdrawn(); transfers.push(transfers.at(-1)); },
    'two payments with one reference': (run, { externals }) => { run.withdrawn(); run.posted(); externals.push(externals[0]); },
    'a credit that was told as new twice': (run) => { run.credited(); run.askCredit('ok', { id: '70', got_fen: 50, repeated: false }); },
    'two rows of a reference': (run, { externals }) => { run.credited(); externals.push({ ...externals[0], id: '72' }); },
    'a transfer that is reversed twice': (run) => { run.credited(); run.reversed(); run.reversed('r-3'); },
    'two thanks of one user': (run, { thanks }) => { run.thanked(); thanks.push({ ...thanks[0], share_no: 1 }); },
    'two thanks for one share': (run, { thanks }) => { run.thanked(); thanks.push({ ...thanks[0], user_id: OTHER }); },
    'a grab that was told as new twice': (run) => { run.open('ok', GRABBED); },
    'two grabs of one user': (run, { grabs }) => { grabs.push({ ...grabs[0], share_no: 1 }); },
    'two grabs of one share': (run, { grabs }) => { grabs.push({ ...grabs[0], user_id: OTHER }); },
    'two packets of one request': (run, { packets }) => { packets.push({ ...packets[0], id: '99' }); },
    'two transfers of a send': (run, { transfers }) => { transfers.push(transfers[1]); },
    'two transfers of a refund': (run, { transfers }) => { transfers.push(transfers[2]); },
    'two transfers of a deposit': (run, { transfers }) => { transfers.push(transfers[0]); },
  },
  broken: {
    'a withdrawal that left the wallet as it was': (run, { wallets }) => { run.withdrawn(); wallets[1].balance_fen += 40; },
    'a void that gave nothing back': (run, { wallets }) => { run.withdrawn(); run.voided(); wallets[1].balance_fen -= 40; },
    'a credit that was not paid': (run, { wallets }) => { run.credited(); wallets[1].balance_fen -= 50; },
    'a share at a wrong position': (run, { returns }) => { run.giveBack(); returns[0].position = '3'; },
    'thanks for the share of somebody else': (run, { thanks }) => { run.thanked(); thanks[0].share_no = 1; },
    'miscounted thanks': (run, { packets }) => { run.thanked(); packets[0].thanks_count = 0; },
    'a refusal for another text than this one': (run) => { run.thanked(); run.thank('refused', 'hi', { why: 'thanks-already' }); },
    'a refusal for another text, of which there is none': (run) => { run.thank('refused', 'hi', { why: 'thanks-already' }); },
    '"empty" while shares are left': (run) => { run.open('refused', { user: OTHER, why: 'empty' }); },
    'a deletion that is not completed': (run, facts) => { run.leave(); facts.users[0].deleted_ms = 'NULL'; },
    'a deleted user with a nickname': (run, facts) => { run.leave(); facts.users[0].nickname = 'somebody'; },
    'a deleted user with money': (run, { wallets }) => { run.leave(); wallets[3].balance_fen = 500; },
    'a wallet with a fen more': (run, { wallets }) => { wallets[0].balance_fen += 1; },
    'a grab that was not paid': (run, { wallets }) => { wallets[1].balance_fen -= 12; },
    'a grab that was paid twice': (run, { wallets }) => { wallets[1].balance_fen += 12; },
    'a grab that was paid to another user': (run, { wallets }) => { wallets[1].balance_fen -= 12; wallets[2].balance_fen += 12; },
  },
};

for (const [kind, planted] of Object.entries(PLANTED)) {
  for (const [what, plant] of Object.entries(planted)) {
    test(`${what}: ${kind}`, () => {
      const { violations } = judged(plant);
      assert.ok(violations.some((found) => found.kind === kind), `found ${JSON.stringify(violations)}`);
    });
  }
}

// Changes that are accepted, and which of them count as recovered.
for (const [what, change, recovered = {}] of [
  ['a run without violations', () => {}],
  ['a return', (run) => run.giveBack()],
  ['thanks', (run) => run.thanked()],
  ['thanks repeated', (run) => { run.thanked(); run.thank('ok', 'hi', { said: 'hi' }); }],
  ['thanks before a return', (run) => { run.thanked(); run.giveBack(); }],
  ['thanks of unknown outcome with a row', (run) => run.become(run.thanked(), 'unknown'), { thanks: 1 }],
  ['thanks of unknown outcome without a row', (run) => run.thank('unknown', 'hi')],
  ['a refusal for another text', (run) => { run.thanked(); run.thank('refused', 'ho', { why: 'thanks-already' }); }],
  ['a refusal of thanks after a return', (run) => { run.giveBack(); run.thank('refused', 'hi', { why: 'no-share' }); }],
  ['an end of a packet that was over before', (run) => run.end()],
  ['a grab of unknown outcome with a row', (run) => run.become(run.grab, 'unknown'), { open: 1 }],
  ['a grab of unknown outcome without a row', (run) => run.open('unknown', { user: OTHER })],
  ['"already" after a grab', (run) => run.open('ok', { ...GRABBED, result: 'already' })],
  ['"already" after an unknown outcome',
    (run) => { run.become(run.grab, 'unknown'); run.open('ok', { ...GRABBED, result: 'already' }); }],
  ['a refusal before the grab', (run) => { Object.assign(run.open('refused', { why: 'expired' }), { at: 0, end: 1 }); }],
  ['a packet of unknown outcome', (run) => run.become(run.send, 'unknown', { packet: undefined }), { send: 1 }],
  ['a credit, repeated', (run) => { run.credited(); run.askCredit('ok', { id: '70', got_fen: 50, repeated: true }); }],
  ['a payment of an order, repeated', (run) => { run.credited('paid'); run.askCredit('ok', { id: '70', got_fen: 50, repeated: true }, 'paid'); }],
  ['a credit refused with another amount', (run) => { run.credited(); run.askCredit('refused', { amount_fen: 51 }); }],
  ['a credit of unknown outcome with a row', (run) => run.become(run.credited(), 'unknown'), { credit: 1 }],
  ['a credit of unknown outcome without a row', (run) => run.askCredit('unknown')],
  ['a withdrawal, repeated', (run) => { run.withdrawn(); run.askWithdraw('ok', { id: '80', got_fen: 40 }); }],
  ['a withdrawal refused with another amount', (run) => { run.withdrawn(); run.askWithdraw('refused', { amount_fen: 41 }); }],
  ['a withdrawal of unknown outcome with a row', (run) => run.become(run.withdrawn(), 'unknown'), { withdraw: 1 }],
  ['a withdrawal of unknown outcome without a row', (run) => run.askWithdraw('unknown')],
  ['a post, and a void that was refused', (run) => { run.withdrawn(); run.posted(); run.ask('void', 'refused', { withdrawal: '7', reason: 'why' }); }],
  ['a void, repeated', (run) => { run.withdrawn(); run.voided(); run.ask('void', 'ok', { withdrawal: '7', reason: 'why' }); }],
  ['a post of unknown outcome', (run) => { run.withdrawn(); run.become(run.posted(), 'unknown'); }, { pay: 1 }],
  ['a reversal', (run) => { run.credited(); run.reversed(); }],
  ['a deletion', (run) => run.leave()],
  ['a deletion of unknown outcome', (run) => run.become(run.leave(), 'unknown'), { delete: 1 }],
]) {
  test(`${what}: accepted`, () => {
    const verdict = judged(change);
    assert.deepEqual([verdict.violations, verdict.recovered], [[], recovered]);
  });
}

test('the id of a packet is read from its link', () => {
  assert.equal(packetNumber(PACKET), NUMBER);
  assert.equal(packetNumber('059x2akbt01w9hmx3gt9r1z9ej'), '382599988930154259');
});

// Compares the pages, which show this share, with the tables, for a run with thanks.
// now: the balance in the table when it is read again.
async function pagesOf(share, { shown = 100_012, now = 100_012 } = {}) {
  const run = new Run();
  run.thanked();
  run.facts.grabs[0].grabbed_ms = 0; // in another year
  const pages = {
    '/wallet': { balance_fen: shown },
    '/records/received': { year: 2026, total_fen: 0, count: 0 },
    [`/p/${PACKET}`]: {
      grabs: [{ share_no: 0, user: { id: 10002 }, amount_fen: 12, returned: false, thanks: 'hi', ...share }], next: null,
    },
  };
  const site = { get: (path) => ({ status: 200, json: pages[path] }) };
  const { blames } = await checkPages({ site, users: [{ id: GRABBER }], facts: run.facts, sample: run.facts.packets,
    publicIds: new Map([[NUMBER, PACKET]]), balanceNow: () => now });
  return blames;
}
test('a page that differs from the tables is broken', async () => {
  assert.deepEqual(await pagesOf({}), []);
  for (const share of [{ thanks: null }, { thanks: 'ho' }, { returned: true }, { amount_fen: 13 }, { user: { id: 10003 } }, { share_no: 1 }]) {
    assert.equal((await pagesOf(share)).length, 1, JSON.stringify(share));
  }
});
test('a wallet page that differs from the table is broken, unless a refund came between the two reads', async () => {
  assert.deepEqual(await pagesOf({}, { shown: 100_030, now: 100_030 }), []);
  assert.equal((await pagesOf({}, { shown: 100_030, now: 100_012 })).length, 1);
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
