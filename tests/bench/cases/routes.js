// What one request of each route costs the servers in CPU, and with the limits how much of a core one caller can take:
// docs/SECURITY.md, "What is expensive".
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause } from '../../support/deployment.js';
import { cpuBetween, cpuOf, nginxTree, processTree } from '../cpu.js';
import { CORES_MAX, RouteLimits } from '../route_limits.js';

const HISTORY = 1000; // records of a user: as many as a search reads at once
const AT_ONCE = 4;
const SHARES = 100;
const IDLE_MS = 3000;
const YUAN = '10000';
const NAMES_MAX = 100;
const RECORDS_PER_USE = 5000; // app/records/export_limit.h
const SPECIAL = { changePassword: { perUse: 1 / 2 } }; // it makes two hashes, and both count
const SERVERS = ['hot', 'page', 'auth', 'card', 'money', 'settle', 'redis', 'mariadb'];

// The CPU time of all servers of the site, in ns.
class Meter {
  #site; #idle = 0;

  static async open(site) {
    const self = new Meter();
    self.#site = site;
    const [ns, ms] = await self.#raw(() => pause(IDLE_MS));
    self.#idle = ns / ms;
    return self;
  }

  async #raw(work) {
    const pids = [...nginxTree(this.#site.pid('nginx')), ...SERVERS.flatMap((name) => processTree(this.#site.pid(name)))];
    const [cpu, begun] = [cpuOf(pids), performance.now()];
    await work();
    return [cpuBetween(cpu, cpuOf(pids)), performance.now() - begun];
  }

  // The CPU time that work() costs, without the time that idle servers use.
  async ns(work) {
    const [ns, ms] = await this.#raw(work);
    return Math.max(0, ns - this.#idle * ms);
  }
}

// The modules of the tests that call the site; they read its address from a file.
async function modulesFor(bench, site) {
  const file = join(site.var, 'bench.env');
  const facts = { VAR: site.var, DEV: join(bench.root, 'dev'), BINARY: site.binary, CONFIG: join(site.var, 'hongbao.conf'), URL: site.url,
    REDIS_SOCKET: site.socket('redis'), MYSQL_SOCKET: site.socket('mariadb') };
  writeFileSync(file, Object.entries(facts).map(([name, value]) => `HB_TEST_${name}=${value}\n`).join(''));
  process.env.HB_TEST_ENV = file;
  const [calls, stores, { Client, poll, pooled, unique }] = await Promise.all(['operations', 'redis', 'site'].map((name) => import(`../../e2e/support/${name}.js`)));
  return { ...calls, ...stores, Client, poll, pooled, unique };
}

// The user sends count packets of one share, which the other opens.
async function history({ poll, pooled, unique }, from, to, count) {
  await pooled(Array.from({ length: count }), AT_ONCE, async () => {
    const fields = { kind: 'even', amount: '0.01', count: '1', request_key: unique('k') };
    const { json } = await poll('a packet is sent', async () => {
      const answer = await from.post('/send', fields);
      return answer.status === 201 && answer;
    });
    await to.post(`/p/${json.id}/open`);
  });
}

// Requests that cost more than the example of their operation: [{ operationId, as, prepare, … }]: prepare() makes a call
// like operations.js; the rest is for RouteLimits.
async function dearer(site, tools, count) {
  const { Client, takeUser, packet, packetSender, pooled, redis, keys, unique } = tools;
  const search = { more: ['search_address'] };
  const file = (records) => ({ perUse: RECORDS_PER_USE / records });
  const [old, other, stranger] = [takeUser(), takeUser(), takeUser()];
  await history(tools, old, other, count);
  await history(tools, other, old, count);
  const full = await packet(packetSender(), { count: String(SHARES) });
  const others = await keys('hb:*:packet:*');
  const cold = await packet(packetSender(), { count: String(SHARES) });
  const [key] = (await keys('hb:*:packet:*')).filter((name) => !others.includes(name));
  const crowd = (await site.users(SHARES)).map(({ cookie }) => new Client(Object.fromEntries([cookie.split('=')])));
  const names = (await site.users(SHARES)).slice(0, NAMES_MAX).map(({ name }) => name).join(' ');
  for (const id of [full, cold]) await pooled(crowd, AT_ONCE, (client) => client.post(`/p/${id}/open`));
  await site.drained();
  await redis('DEL', ...await keys(`hb:*:${key.split(':').at(-1)}`));
  const secret = await packet(packetSender(), { phrase: 'open sesame' });
  const invented = () => new Client({ sid: unique('').padEnd(43, 'x').slice(0, 43) });
  const call = (client, path, fields) => () => ({ client: typeof client === 'function' ? client() : client, path, fields });
  const send = (fields) => () => ({ client: packetSender(), path: '/send', fields: { kind: 'lucky', amount: '1', request_key: unique('k'), ...fields } });
  return [
    { operationId: 'home', as: 'of a user with a long history', prepare: call(old, '/') },
    { operationId: 'wallet', as: 'of a user with a long history', prepare: call(old, '/wallet') },
    { operationId: 'received', as: 'of a user with a long history', prepare: call(old, '/records/received') },
    { operationId: 'received', as: `a search that finds nothing in ${count} records`, prepare: call(old, '/records/received?q=zz'), ...search },
    { operationId: 'sent', as: `a search that finds nothing in ${count} records`, prepare: call(old, '/records/sent?q=zz'), ...search },
    { operationId: 'received', as: 'an invented session', prepare: call(invented, '/records/received') },
    { operationId: 'receivedFile', as: `${count} records`, prepare: call(old, '/records/received.csv'), ...file(count) },
    { operationId: 'sentFile', as: `${count} records`, prepare: call(old, '/records/sent.csv'), ...file(count) },
    { operationId: 'exportAccount', as: `${2 * count} records`, prepare: call(old, '/account/export'), ...file(2 * count) },
    { operationId: 'packet', as: `all ${SHARES} shares taken`, prepare: call(crowd[0], `/p/${full}`) },
    { operationId: 'packet', as: 'an invented session', prepare: call(invented, `/p/${full}`) },
    { operationId: 'packet', as: `all ${SHARES} shares taken, which only MySQL has`, prepare: call(crowd[0], `/p/${cold}`), isCold: true },
    { operationId: 'screen', as: `all ${SHARES} shares taken`, prepare: call(packetSender(), `/p/${full}/screen`) },
    { operationId: 'verify', as: `all ${SHARES} shares taken`, prepare: call(crowd[0], `/p/${full}/verify`) },
    { operationId: 'screen', as: `all ${SHARES} shares taken, which only MySQL has`, prepare: call(packetSender(), `/p/${cold}/screen`), isCold: true },
    { operationId: 'open', as: 'again, which only MySQL has', prepare: call(crowd[0], `/p/${cold}/open`, {}), isCold: true },
    { operationId: 'open', as: 'again', prepare: call(crowd[0], `/p/${full}/open`, {}) },
    { operationId: 'open', as: 'a wrong phrase', prepare: call(stranger, `/p/${secret}/open`, { phrase: 'sesame' }) },
    { operationId: 'open', as: 'an invented session', prepare: call(invented, `/p/${full}/open`, {}) },
    { operationId: 'send', as: `${SHARES} shares`, prepare: send({ count: String(SHARES) }) },
    { operationId: 'send', as: `${SHARES} receivers, a phrase`, prepare: send({ to: names, phrase: 'open sesame' }) },
    { operationId: 'send', as: 'names of nobody', prepare: send({ to: Array.from({ length: NAMES_MAX }, (_, i) => `nobody${i}`).join(' ') }) },
    { operationId: 'login', as: 'a wrong password', prepare: () => ({ client: new Client(), path: '/login', fields: { username: 'nobody', password: 'a wrong password' } }) },
  ];
}

const acceptOf = { html: 'text/html,application/xhtml+xml,*/*;q=0.8', json: 'application/json' };

// CPU time in ms of one of these calls, as a browser or a program sends it.
async function cost(meter, tools, operation, calls, accept) {
  let answers;
  const ns = await meter.ns(async () => {
    answers = await tools.pooled(calls, AT_ONCE, ({ client, path, fields }) => tools.call(client, operation, path, fields, { accept: acceptOf[accept] }));
  });
  const broken = answers.find(({ status }) => status >= 500);
  if (broken) throw new Error(`${operation.method} ${operation.path}: ${broken.status} ${broken.text}`);
  return { ms: ns / calls.length / 1e6, status: answers.at(-1).status };
}

// The more expensive of the two accepted types.
async function dearest(meter, tools, operation, prepare, count) {
  const costs = [];
  for (const accept of Object.keys(acceptOf)) {
    const calls = [];
    for (let i = 0; i < count; i++) calls.push(await prepare());
    costs.push(await cost(meter, tools, operation, calls, accept));
  }
  return costs.sort((a, b) => b.ms - a.ms)[0];
}

export default {
  name: 'routes',
  title: 'CPU of each route, and what one caller can take',
  async run(bench) {
    const site = await bench.site({ own: true, settings: { HB_PACKET_SHARES_MAX: SHARES } });
    const tools = await modulesFor(bench, site);
    const { operations } = await tools.described();
    const limits = await RouteLimits.open(bench.root, site);
    limits.mustBeAll(operations);
    const count = bench.size(100, 20);
    await tools.usersForCalls(10 + 2 * count * operations.length);
    await tools.packetSender().post('/wallet/deposit', { amount: YUAN, request_key: tools.unique('k') });
    const meter = await Meter.open(site);
    const requests = [...operations.map((operation) => ({ operation, as: '', prepare: () => tools.prepared(operation), ...SPECIAL[operation.operationId] })),
      ...(await dearer(site, tools, bench.size(HISTORY, 100))).map((one) => ({ ...one, operation: operations.find(({ operationId }) => operationId === one.operationId) }))];
    const rows = [];
    for (const { operation, as, prepare, ...special } of requests) {
      const { ms, status } = await dearest(meter, tools, operation, prepare, count);
      rows.push({ route: `${operation.method} ${operation.path}${as && `, ${as}`}`, status, ...limits.rowOf(operation, ms, special) });
    }
    const most = Math.max(...rows.flatMap((row) => [row['cores of an address'], row['cores of a user'] || 0]));
    return { rows, ratios: [bench.ratio('cores_of_one_caller', most, `<= ${CORES_MAX}`)] };
  },
};
