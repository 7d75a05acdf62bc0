// Concurrent grabs: exactly as many grabs as shares, one per user, exact sums.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { processes } from './support/instance.js';
import { audit, newUser, poll, pooled, sendPacket, site } from './support/site.js';

async function race({ users, count, amount, width }) {
  const sender = await newUser({ yuan: amount });
  const sent = await sendPacket(sender, { kind: 'lucky', amount, count: String(count) });
  assert.equal(sent.status, 201);
  const path = `/p/${sent.json.id}/open`;
  const clients = await site.demoUsers(users);
  const answers = await pooled(clients, width, (client) => client.post(path, {}));
  const grabbed = answers.filter((answer) => answer.status === 200);
  assert.equal(grabbed.length, count);
  assert.ok(answers.every((answer) => answer.status === 200 || (answer.status === 410 && /empty$/.test(answer.json.type))));
  assert.ok(grabbed.every((answer) => answer.json.result === 'grabbed'));
  assert.deepEqual(grabbed.map((answer) => answer.json.share_no).sort((a, b) => a - b), [...Array(count).keys()]);
  assert.equal(grabbed.reduce((sum, answer) => sum + answer.json.amount_fen, 0), Number(amount) * 100);
  const packet = (await sender.client.get(`/p/${sent.json.id}`)).json;
  assert.equal(packet.state, 'finished');
  assert.equal(packet.grabbed_count, count);
  await audit();
}

test('50 concurrent grabbers on 10 shares of 200.00 yuan', () => race({ users: 50, count: 10, amount: '200.00', width: 50 }));

test('10,000 users on 100 shares', () => race({ users: 10_000, count: 100, amount: '100.00', width: 64 }));

test('200 parallel opens by one user give one share, the same amount 200 times', async () => {
  const sender = await newUser({ yuan: '100' });
  const sent = await sendPacket(sender, { kind: 'lucky', amount: '50', count: '100' });
  const grabber = await newUser();
  const answers = await Promise.all(Array.from({ length: 200 }, () => grabber.client.post(`/p/${sent.json.id}/open`, {})));
  assert.ok(answers.every((answer) => answer.status === 200));
  assert.equal(answers.filter((answer) => answer.json.result === 'grabbed').length, 1);
  assert.equal(new Set(answers.map((answer) => `${answer.json.share_no} ${answer.json.amount_fen}`)).size, 1);
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.grabbed_count, 1);
  await audit();
});

// The nice values of a process and of its session, where Linux groups processes by session (autogroup).
function niceness(pid) {
  const own = Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1).split(' ')[16]);
  const file = `/proc/${pid}/autogroup`;
  const session = existsSync(file) ? Number(/nice (-?\d+)/.exec(readFileSync(file, 'utf8'))?.[1] ?? 0) : null;
  return { own, session };
}

test('the auth pool runs with the lowest CPU priority, also after a killed process was replaced', async () => {
  const lowered = () => {
    const found = processes('auth').map(niceness);
    return found.length === 2 && found.every(({ own, session }) => own >= 10 && (session === null || session >= 10));
  };
  assert.ok(lowered(), JSON.stringify(processes('auth').map(niceness)));
  const here = niceness(process.pid);
  for (const pid of ['hot', 'page', 'nginx', 'redis'].flatMap(processes)) {
    const { own, session } = niceness(pid);
    assert.ok(own <= here.own && (session ?? 0) === 0, `process ${pid} has nice values ${own} and ${session}`);
  }
  await site.killPool('auth');
  await poll('the new processes are lowered', lowered);
});
