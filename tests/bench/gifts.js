// Loads of whole gifts: one send, and for each share a view of the envelope, an open, a look at the result, and the
// settlement. By the site, and by peers that keep packets and money in MariaDB and settle within the open.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packetNumber } from '../support/packet_id.js';
import { signalSettle, workerCost } from './cases/settlement.js';
import { Grabs, SPREAD } from './grabs.js';
import { PeerTables } from './peer_tables.js';

export const STEPS = ['send', 'view', 'open', 'result', 'settlement'];
const COSTS = ['nginx µs', 'app µs', 'redis µs', 'mariadb µs', 'server µs'];
export const FIGURES = ['/s', 'p50 ms', 'p99 ms', ...COSTS];

const PEERS = ['giftPhp', 'giftFcgi', 'rowLock'];
const SHARE_FEN = 10; // on average
const WALLET_FEN = 100_000; // as the site's demo users have
const SEND_CONNECTIONS = 8; // more would only wait: one process sends one packet at a time
const STEP_S_MAX = 600;
const WARM_UP_SHARES = 50;
const HTML = { accept: 'text/html' };

// The users of a step: `shares` users for each gift. SPREAD gifts take turns, so that two requests for one gift hardly
// meet.
export function turnsOf(gifts, shares, users) {
  const turns = [];
  for (let from = 0; from < gifts.length; from += SPREAD) {
    const block = gifts.slice(from, from + SPREAD);
    for (let n = 0; n < shares; n++)
      block.forEach((gift, i) => turns.push({ gift, user: users[(shares * (from + i) + n) % users.length] }));
  }
  return turns;
}

// A gift from the rows of one request of each of its steps: gifts a second when the steps come one after another, and
// the CPU time of each group of processes and of each step.
export function wholeOf(steps, shares) {
  const times = (step) => (step === 'send' ? 1 : shares);
  const sum = (value) => Object.entries(steps).reduce((all, [step, row]) => all + times(step) * value(row), 0);
  const costs = COSTS.map((name) => [name, sum((row) => row[name] ?? 0)]);
  const parts = STEPS.map((step) => [`${step} µs`, step in steps ? times(step) * steps[step]['server µs'] : 0]);
  return { '/s': 1 / sum((row) => 1 / row['/s']), ...Object.fromEntries([...costs, ...parts]) };
}

// A site, and the peers that use its stores and its CPU.
export class Gifts {
  #tables; #wrk; #runs = 0;

  // cpu: makes a separate site with all servers on this CPU, and wrk on the CPU `other`. peers: kinds of peers.js.
  static async open(bench, { cpu = null, other = null, peers = PEERS } = {}) {
    const self = new Gifts();
    const site = await bench.site({ own: cpu !== null, cpu });
    self.grabs = await Grabs.open(bench, { site });
    self.#wrk = { cpu: other };
    self.#tables = await PeerTables.open(bench, site, self.grabs.users, WALLET_FEN);
    const script = readFileSync(new URL('peers/take.lua', import.meta.url), 'utf8');
    const given = { take: await site.redis('SCRIPT', 'LOAD', script), page: await self.#pageOfSite() };
    self.targets = [self.grabs.target()];
    for (const kind of peers) {
      const peer = await self.grabs.peer(kind, given);
      await self.#mustServe(peer);
      self.targets.push(peer);
    }
    // The first rows of a new table cost several times as much: MariaDB's threads wait busily while its file grows.
    for (const target of self.targets) await self.#send(target, WARM_UP_SHARES, SPREAD);
    return self;
  }

  // The site's page of an open packet. The peers show it, too, with the data of their own packet.
  async #pageOfSite() {
    const { site, users: [sender, viewer] } = this.grabs;
    const { text } = await site.request(`/p/${await site.send(sender, 2)}`, { cookie: viewer.cookie, ...HTML });
    const page = text.replace('</main>', '<?= $gift ?></main>');
    if (page === text || text.includes('<?')) throw new Error('the page of a packet is not as the peers need it');
    return page;
  }

  // Throws unless the peer does what the site does: sends once for each request key, gives one share to a user, refuses
  // strangers and forged ids, and shows the list of grabs to those who may see it.
  async #mustServe(peer) {
    const { site, users: [sender, taker, late, other] } = this.grabs;
    const ask = (path, user, more) => site.request(path, { base: peer.url, cookie: user?.cookie, ...more });
    const order = { kind: 'lucky', amount: '0.02', count: '2', greeting: '<恭喜>', request_key: `check-${peer.port}` };
    const send = (more) => ask('/send', sender, { fields: { ...order, ...more } });
    const rows = ({ text }) => text.split('<li class="row"><span class="avatar" aria').length - 1;
    const sent = await send();
    const path = `/p/${sent.json.id}`;
    const open = async (user) => ask(`${path}/open`, user, { fields: {} });
    const again = await send();
    const before = await ask(path, taker, HTML);
    const opened = [await open(taker), await open(taker), await open(sender)].map(({ json }) => json.result);
    const after = await ask(path, other, HTML);
    const cross = { method: 'POST', headers: { Origin: 'https://elsewhere.example', Cookie: late.cookie } };
    const facts = {
      sent: sent.status, 'sent again': again.json.id === sent.json.id, opened: opened.join(),
      'without money': (await send({ amount: '99999.99', request_key: `poor-${peer.port}` })).status,
      'too little': (await send({ amount: '0.01', request_key: `few-${peer.port}` })).status,
      before: before.text.includes('&lt;恭喜&gt;') && rows(before) === 0,
      after: rows(after), empty: (await open(late)).status,
      'from elsewhere': (await fetch(`${peer.url}${path}/open`, cross)).status,
      'without a session': (await ask(path)).status,
      forged: (await ask(path.slice(0, -1) + (path.endsWith('0') ? '1' : '0'), taker)).status,
    };
    const wanted = { sent: 201, 'sent again': true, opened: 'grabbed,already,grabbed', 'without money': 422,
      'too little': 422, before: true, after: 2, empty: 410, 'from elsewhere': 403, 'without a session': 401, forged: 404 };
    const wrong = Object.keys(wanted).filter((name) => facts[name] !== wanted[name]);
    if (wrong.length > 0) throw new Error(`${peer.name} is not comparable: ${wrong}: ${JSON.stringify(facts)}`);
  }

  // Sends and opens count gifts at a target, step by step. Returns the figures of wholeOf, the figures of each step as
  // `STEP: FIGURE`, and the size of a result page in bytes. The settle worker is stopped except in its own step.
  async load(target, shares, count) {
    signalSettle(this.grabs.site, 'SIGSTOP');
    return this.#load(target, shares, count).finally(() => signalSettle(this.grabs.site, 'SIGCONT'));
  }

  async #load(target, shares, count) {
    const { grabs } = this;
    const isSite = target === this.targets[0];
    const { send, gifts } = await this.#send(target, shares, count);
    const turns = turnsOf(gifts, shares, grabs.users);
    const users = turns.map(({ user }) => user);
    const each = (path, more) => this.#step(target, 'hot', turns.map(({ gift }) => path(gift)), users, more);
    const view = await each((gift) => `/p/${gift}`, HTML);
    const open = await each((gift) => `POST /p/${gift}/open`);
    const result = await each((gift) => `/p/${gift}`, HTML);
    const steps = { send, view, open, result, ...(isSite && { settlement: await this.#settle(turns.length) }) };
    await this.#mustBeWhole(isSite, gifts, shares, count);
    const [{ gift, user }] = turns;
    const { text } = await grabs.site.request(`/p/${gift}`, { base: target.url, cookie: user.cookie, ...HTML });
    const figures = Object.entries(steps).flatMap(([step, row]) => FIGURES.filter((name) => name in row)
      .map((name) => [`${step}: ${name}`, row[name]]));
    return { ...wholeOf(steps, shares), 'result bytes': Buffer.byteLength(text), ...Object.fromEntries(figures) };
  }

  // One request of each of these users; its row.
  #step(target, pool, paths, users, more) {
    const { grabs } = this;
    const cookies = grabs.file(users.map(({ cookie }) => cookie));
    // All CPU time of MariaDB is counted in each step, as for the peers: its threads work on after a step.
    const groups = () => ({ ...grabs.site.groups('page'), ...grabs.site.groups(pool) });
    return grabs.load(target === this.targets[0] ? { ...target, groups } : target, { kind: 'once', cookies,
      paths: grabs.file(paths), asked: users.length, seconds: STEP_S_MAX, ...this.#wrk, ...more });
  }

  async #send(target, shares, count) {
    const run = ++this.#runs;
    const answers = join(this.grabs.folder, `answers-${run}`);
    const yuan = (shares * SHARE_FEN / 100).toFixed(2);
    const fields = `kind=lucky&amount=${yuan}&count=${shares}&greeting=hi&request_key=gift-${run}-{n}`;
    const send = await this.#step(target, 'page', [`POST /send ${fields}`], this.grabs.users.slice(0, count),
      { connections: SEND_CONNECTIONS, answers });
    const lines = readFileSync(answers, 'utf8').split('\n').filter(Boolean);
    return { send, gifts: lines.map((line) => JSON.parse(line).id) };
  }

  // The worker, stopped until now, writes so many grabs into the tables. Returns the row.
  async #settle(grabs) {
    const { site } = this.grabs;
    const { seconds, cpu: { 'settle µs': app, ...stores } } = await workerCost(site, grabs, () => site.drained());
    const server = app + stores['mariadb µs'] + stores['redis µs'];
    return { '/s': grabs / seconds, 'app µs': app, ...stores, 'server µs': server };
  }

  // Throws unless each gift was sent once, and each share is a row, of another user, with all of the money.
  async #mustBeWhole(isSite, gifts, shares, count) {
    const query = `SELECT COUNT(*), COUNT(DISTINCT packet_id, user_id), SUM(amount_fen) FROM \`grab\`
      WHERE packet_id IN (${gifts.map(packetNumber)})`;
    const [found] = await (isSite ? this.grabs.site.sql(query) : this.#tables.rows(query));
    const wanted = [count * shares, count * shares, count * shares * SHARE_FEN];
    if (new Set(gifts).size !== count || found.join() !== wanted.join())
      throw new Error(`${gifts.length} gifts of ${count}; their grabs, users and fen are ${found}, not ${wanted}`);
  }

  async mustBeSound() {
    await this.grabs.site.mustBeSound();
    await this.#tables.mustBeSound();
  }
}
