// All Galera nodes are down: ./dev cluster start begins the cluster anew with the node that has the last transaction.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { poll } from '../support/poll.js';
import { Site } from '../support/http.js';
import { testCluster } from './visitors.js';

const NODES = ['db1', 'db2', 'db3'];
const { cluster, skip } = testCluster();
let site;
let users;
let deposits = 0;

before(async () => {
  if (skip) return;
  await cluster.up();
  site = new Site(cluster.url);
  users = await cluster.demoUsers(1);
});

after(() => site?.close());

// Deposits one yuan, trying again until it succeeds.
async function deposit() {
  const fields = { amount: '1.00', request_key: `d${deposits++}` };
  await poll('a deposit is taken', async () => (await site.post('/wallet/deposit', users[0].cookie, fields)).status < 400);
}

const balance = () => poll('the balance is shown', async () => (await site.get('/wallet', users[0].cookie)).json?.balance_fen);

// Every acknowledged deposit is there, and the next one succeeds.
async function nothingIsLost(expected) {
  await cluster.wellAgain();
  assert.equal(await balance(), expected);
  await deposit();
  assert.equal((await cluster.hongbaoOn('app1', 'audit')).code, 0);
}

test('nodes that were all killed at once go on with every acknowledged transaction', { skip }, async () => {
  const had = await balance();
  for (let i = 0; i < 20; i++) await deposit();
  await cluster.do('kill', ...NODES);
  assert.match((await cluster.try('start', 'db1')).stderr, /any may have the last transactions: .*start db1 db2 db3/);
  await cluster.do('start', ...NODES);
  await nothingIsLost(had + 2000);
});

test('the node with the last transaction begins, wherever it is in the list', { skip }, async () => {
  const had = await balance();
  await cluster.do('kill', 'db1');
  await deposit(); // the others take it
  const kept = await balance();
  assert.ok(kept > had);
  await cluster.do('kill', 'db2', 'db3');
  const { code, stderr } = await cluster.try('start', ...NODES);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /db[23] begins the Galera cluster anew/);
  await nothingIsLost(kept);
});

test('nodes that were all stopped in good order go on with the last one', { skip }, async () => {
  const had = await balance();
  for (const node of NODES) await cluster.do('stop', node);
  assert.match((await cluster.try('start', 'db1')).stderr, /db3 was the last one to stop: .*start db3 first/);
  await cluster.do('start', ...NODES);
  await nothingIsLost(had);
});
