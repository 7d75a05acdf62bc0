// Loads on POST /p/ID/open: the packets, the servers under test, and a check of the grabs in Redis.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause, poll } from '../support/deployment.js';
import { liveKey } from '../support/packet_id.js';
import { CONNECTIONS, measured, mustBeClean, wrk } from './load.js';
import { KINDS, Peer } from './peers.js';

export const USERS = 5000;
const SPARE = 1.4;             // more packets than the last rate would need
const SENDERS_AT_ONCE = 4;
const GRABS_AT_ONCE = 25;
export const SPREAD = 257;     // packets at once; it has no divisor in common with USERS
const SPREAD_ROOM = 2;         // factor for packets of the spread load, whose rate is not known before
const REST_MS = 100;
const REST_S_MAX = 20;
const RATE_FIRST = 10_000;
const RATE_LAST = 160_000;

// How many shares each of SPREAD packets needs.
export const spreadShares = (rate, seconds) => Math.ceil(rate * seconds * SPARE / SPREAD) + 1;

// How many packets with a share for each of these users a load needs.
export const packetsNeeded = (rate, seconds, users = USERS) => Math.ceil(rate * seconds * SPARE / users) + 2;

export class Grabs {
  #sent = 0; #files = 0; #rates = new Map(); // the highest rate of each target's winning loads until now

  // With USERS users, on the shared site unless another one is given.
  static async open(bench, { site, users = USERS } = {}) {
    const self = new this();
    Object.assign(self, { bench, site: site ?? await bench.site(), folder: bench.newFolder('load') });
    mkdirSync(self.folder);
    self.users = await self.site.users(users);
    self.cookies = self.file(self.users.map(({ cookie }) => cookie));
    // A rewrite of the log would disturb the target that is just being measured.
    await self.site.redis('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
    return self;
  }

  // The site itself as a target; pool: the pool that answers.
  target(pool = 'hot') {
    return { name: 'hongbao', url: this.site.url, groups: () => this.site.groups(pool) };
  }

  // Starts a peer, one of KINDS. answer: the constant answer of a floor, with its media type and status. more: of Peer.
  async peer(kind, { answer, type = 'application/json', status = 200, ...more } = {}) {
    const { bench, site } = this;
    const [, grabFunction] = /"(hongbao_grab_[0-9a-f]+)"/.exec(JSON.stringify(await site.redis('FUNCTION', 'LIST')));
    const peer = bench.keep(new Peer({ ...KINDS[kind], ...more, root: bench.root, build: bench.build, folder: bench.newFolder(`peer-${kind}`), site, grabFunction }));
    mkdirSync(peer.folder);
    if (answer !== undefined) {
      const head = `Status: ${status}\r\nContent-Length: ${Buffer.byteLength(answer)}\r\nContent-Type: ${type}\r\nCache-Control: no-store\r\nVary: Accept, Accept-Language, Cookie\r\n\r\n`;
      writeFileSync(join(peer.folder, 'answer'), head + answer);
    }
    await peer.start();
    return peer;
  }

  // Starts a floor that always gives the answer that the site gives the user now, with the wanted status; bytes: the
  // length of its body. request: of site.request.
  async floorFor(path, user, { wanted = 200, ...request } = { accept: 'text/html' }) {
    const { status, text, headers } = await this.site.request(path, { cookie: user.cookie, ...request });
    if (status !== wanted) throw new Error(`${path}: ${status} instead of ${wanted}`);
    return Object.assign(await this.peer('constant', { answer: text, type: headers['content-type'], status }), { bytes: Buffer.byteLength(text) });
  }

  // Writes a file of these lines; returns its path.
  file(lines) {
    const path = join(this.folder, `lines-${++this.#files}`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }

  // Sends count packets with a share for every user; returns their ids.
  async packets(count, shares = USERS) {
    const ids = new Array(count);
    let next = 0;
    const work = async () => {
      for (let i = next++; i < count; i = next++) ids[i] = await this.site.send(this.users[this.#sent++ % this.users.length], shares);
    };
    await Promise.all(Array.from({ length: SENDERS_AT_ONCE }, work));
    return ids;
  }

  // How many shares of these packets are taken.
  async taken(ids) {
    return (await this.site.redisAll(ids.map((id) => ['LLEN', liveKey(id, 'order')]))).reduce((sum, count) => sum + count, 0);
  }

  // Sends a packet of which the first count users take all shares; its id.
  async emptied(count) {
    const [id] = await this.packets(1, count);
    await this.empty(id, count);
    return id;
  }

  // The first count users take a share each.
  async empty(id, count) {
    const take = async (user) => {
      const { status, json } = await this.site.request(`/p/${id}/open`, { cookie: user.cookie, fields: {} });
      if (status !== 200 || json.result !== 'grabbed') throw new Error(`a grab before the load: ${status} ${JSON.stringify(json)}`);
    };
    for (let at = 0; at < count; at += GRABS_AT_ONCE) await Promise.all(this.users.slice(at, Math.min(count, at + GRABS_AT_ONCE)).map(take));
  }

  // Runs a load of one kind of request; returns its row. refused: every request must be answered with an error, otherwise
  // none may be. count(): a counter that each request must increase by 1. asked: the number of requests that must have
  // been answered.
  async load(target, { paths, cookies = this.cookies, seconds, refused = false, count = null, asked = null, kind = 'cycle', ...more }) {
    const before = count ? await this.#atRest(count) : 0;
    const { row } = await measured(target.groups(),
      () => wrk({ url: target.url, kind, cookies, paths, seconds, ...more }),
      async ({ requests, errors }) => {
        mustBeClean(target.name, { errors }, { status: refused ? requests : 0 });
        if (asked !== null && requests !== asked) throw new Error(`${target.name}: ${requests} of ${asked} requests were answered`);
        if (!count) return requests;
        const moved = await this.#atRest(count) - before;
        // Requests on their way at the end may add to the counter.
        if (moved < requests || moved > requests + (more.connections ?? CONNECTIONS))
          throw new Error(`${target.name}: ${requests} requests were answered, and ${moved} were counted`);
        return moved;
      });
    return row;
  }

  // The value of count() once it is stable: the servers still work on the last requests after wrk has ended.
  async #atRest(count) {
    let last = await count();
    const found = await poll(REST_S_MAX, async () => {
      await pause(REST_MS);
      const now = await count();
      const same = now === last;
      last = now;
      return same;
    });
    if (!found) throw new Error('the servers do not finish the last requests');
    return last;
  }

  // Reads a counter of the site's /metrics.
  async counter(name) {
    const { text } = await this.site.request('/metrics', { accept: 'text/plain' });
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    if (!line) throw new Error(`/metrics has no ${name}`);
    return Number(line.slice(name.length));
  }

  // Runs a load of winning grabs only; returns its row.
  async win(target, seconds, more = {}) {
    const rate = this.#rates.get(target.name) ?? 0;
    const ids = await this.packets(packetsNeeded(rate, seconds));
    const paths = this.file(ids.map((id) => `POST /p/${id}/open`));
    const row = await this.load(target, { paths, seconds, kind: 'every', count: () => this.taken(ids), ...more });
    this.#rates.set(target.name, Math.max(rate, row['/s']));
    return row;
  }

  // Sends SPREAD packets with shares enough for a load over all of them.
  spread(target, seconds) {
    return this.packets(SPREAD, spreadShares(SPREAD_ROOM * Math.max(this.#rates.get(target.name) ?? 0, RATE_FIRST), seconds));
  }

  // The same over SPREAD packets at once: request n is of user n for packet n, and no pair comes twice. After win().
  async winSpread(target, seconds, more = {}) {
    const ids = await this.spread(target, seconds);
    return this.load(target, { paths: this.file(ids.map((id) => `POST /p/${id}/open`)), seconds, count: () => this.taken(ids), ...more });
  }

  // A short load whose result is discarded: it measures the rate, which decides the number of packets. The first guess is
  // raised until there are enough packets.
  async warmUp(target, more = {}) {
    for (let rate = RATE_FIRST; ; rate *= 4) {
      this.#rates.set(target.name, rate);
      try {
        await this.win(target, 1, more);
        return;
      } catch (error) {
        if (rate >= RATE_LAST || !/× status/.test(error.message)) throw error;
      }
    }
  }

  // Stops the settle worker while work() runs, then waits until all grabs are settled. Settlement is not part of a request,
  // and would take CPU from the target that is measured.
  async withoutSettlement(work) {
    await this.site.stop('settle');
    try {
      return await work();
    } finally {
      await this.site.start('settle');
      await this.site.drained();
    }
  }

  // Throws unless the peer does the same work as the site and gives the same answers.
  async mustDoTheSame(peer) {
    const [id] = await this.packets(1);
    const ask = (base, cookie) => this.site.request(`/p/${id}/open`, { base, cookie, fields: {} });
    const first = await ask(this.site.url, this.users[0].cookie);
    const theirs = await ask(peer.url, this.users[1].cookie);
    const again = await ask(peer.url, this.users[1].cookie);
    const nobody = await ask(peer.url);
    const facts = { status: theirs.status, result: theirs.json?.result, repeat: again.json?.result, share: again.json?.share_no, nobody: nobody.status,
      headers: Object.keys(theirs.headers).sort().join(), taken: await this.taken([id]) };
    const wanted = { status: 200, result: 'grabbed', repeat: 'already', share: 1, nobody: 401, headers: Object.keys(first.headers).sort().join(), taken: 2 };
    for (const [name, want] of Object.entries(wanted)) {
      if (facts[name] !== want) throw new Error(`${peer.name} is not comparable: ${name} is ${facts[name]} instead of ${want}`);
    }
  }
}
