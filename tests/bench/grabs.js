// Loads on POST /p/ID/open: packets for everybody to win, targets that answer, and the count of what was really grabbed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pause, poll } from '../chaos/instance.js';
import { CONNECTIONS, measured, mustBeClean, wrk } from './load.js';
import { KINDS, Peer } from './peers.js';

export const USERS = 5000;
const SPARE = 1.4;             // more packets than the last rate would need
const SENDERS_AT_ONCE = 4;
const GRABS_AT_ONCE = 25;
const REST_MS = 100;
const REST_S_MAX = 20;
const RATE_FIRST = 10_000;
const RATE_LAST = 160_000;
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

// The number in a public id: 64 bits behind two zero bits.
export const packetNumber = (id) => [...id].reduce((sum, digit) => sum << 5n | BigInt(DIGITS.indexOf(digit)), 0n) >> 64n;

const liveKey = (id, what) => {
  const number = packetNumber(id);
  return `hb:{p${String(number % 16n).padStart(2, '0')}}:${what}:${number}`;
};

export class Grabs {
  #sent = 0; #files = 0; #rates = new Map();

  // With USERS users of the site that the cases share; or on another one.
  static async open(bench, { site, users = USERS } = {}) {
    const self = new Grabs();
    Object.assign(self, { bench, site: site ?? await bench.site(), folder: bench.newFolder('load') });
    mkdirSync(self.folder);
    self.users = await self.site.users(users);
    self.cookies = self.file(self.users.map(({ cookie }) => cookie));
    // A rewrite of the log in the middle of a round would be somebody's bad luck.
    await self.site.redis('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
    self.grabHash = await self.site.redis('SCRIPT', 'LOAD', await bench.script('grab'));
    return self;
  }

  // The site itself, to be loaded like a peer; pool: which of its pools answers.
  target(pool = 'hot') {
    return { name: 'hongbao', url: this.site.url, groups: () => this.site.groups(pool) };
  }

  // A started peer, one of KINDS. answer: what a floor answers, with its type.
  async peer(kind, { answer, type = 'application/json' } = {}) {
    const { bench, site, grabHash } = this;
    const peer = bench.keep(new Peer({ ...KINDS[kind], root: bench.root, build: bench.build, folder: bench.newFolder(`peer-${kind}`), site, grabHash }));
    mkdirSync(peer.folder);
    if (answer !== undefined) {
      const head = `Status: 200 OK\r\nContent-Length: ${Buffer.byteLength(answer)}\r\nContent-Type: ${type}\r\nCache-Control: no-store\r\nVary: Accept, Accept-Language, Cookie\r\n\r\n`;
      writeFileSync(join(peer.folder, 'answer'), head + answer);
    }
    await peer.start();
    return peer;
  }

  // The loop answering what path is for user now, for ever; bytes: of its body.
  async floorFor(path, user) {
    const { status, text, headers } = await this.site.request(path, { cookie: user.cookie, accept: 'text/html' });
    if (status !== 200) throw new Error(`GET ${path}: ${status}`);
    return Object.assign(await this.peer('constant', { answer: text, type: headers['content-type'] }), { bytes: Buffer.byteLength(text) });
  }

  // A file of these lines; its path.
  file(lines) {
    const path = join(this.folder, `lines-${++this.#files}`);
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }

  // count packets with a share for every user: their ids.
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

  // The first count users take all shares of a packet.
  async empty(id, count) {
    const take = async (user) => {
      const { status, json } = await this.site.request(`/p/${id}/open`, { cookie: user.cookie, fields: {} });
      if (status !== 200 || json.result !== 'grabbed') throw new Error(`a grab before the load: ${status} ${JSON.stringify(json)}`);
    };
    for (let at = 0; at < count; at += GRABS_AT_ONCE) await Promise.all(this.users.slice(at, Math.min(count, at + GRABS_AT_ONCE)).map(take));
  }

  // A load of one kind of request: its row. refused: each is to be answered with an error, otherwise none; tolerant: what
  // went wrong is a figure of the row. count(): a number that each request moves by one, as a proof.
  async load(target, { paths, cookies = this.cookies, seconds, refused = false, tolerant = false, count = null, kind = 'cycle', ...more }) {
    const before = count ? await this.#atRest(count) : 0;
    const { result, row } = await measured(target.groups(),
      () => wrk({ root: this.bench.root, url: target.url, kind, cookies, paths, seconds, ...more }),
      async ({ requests, errors }) => {
        if (!tolerant) mustBeClean(target.name, { errors }, { status: refused ? requests : 0 });
        if (!count) return requests;
        const moved = await this.#atRest(count) - before;
        // What was refused moves nothing, and of what broke nobody knows; those on their way at the end may be more.
        const least = requests - (tolerant ? errors.status : 0);
        const most = least + (more.connections ?? CONNECTIONS) + (tolerant ? errors.read + errors.write + errors.timeout + errors.status : 0);
        if (moved < least || moved > most) throw new Error(`${target.name}: ${requests} requests were answered, and ${moved} were counted`);
        return moved;
      });
    return tolerant ? { ...row, errors: Object.values(result.errors).reduce((sum, number) => sum + number, 0) } : row;
  }

  // What count() tells once it no longer moves: the last requests of a load are worked for after it has gone.
  async #atRest(count) {
    let last = await count();
    const found = await poll(REST_S_MAX, async () => {
      await pause(REST_MS);
      const now = await count();
      const same = now === last;
      last = now;
      return same;
    });
    if (!found) throw new Error('the servers do not come to rest');
    return last;
  }

  // Reads a counter of the site's /metrics.
  async counter(name) {
    const { text } = await this.site.request('/metrics', { accept: 'text/plain' });
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    if (!line) throw new Error(`/metrics has no ${name}`);
    return Number(line.slice(name.length));
  }

  // A load of winning grabs only: its row. beside(load): what else goes on while it runs; the packets are sent before.
  async win(target, seconds, { beside = (load) => load(), ...more } = {}) {
    const rate = this.#rates.get(target.name) ?? 0;
    const ids = await this.packets(Math.ceil(rate * seconds * SPARE / USERS) + 2);
    const paths = this.file(ids.map((id) => `POST /p/${id}/open`));
    const row = await beside(() => this.load(target, { paths, seconds, kind: 'every', count: () => this.taken(ids), ...more }));
    this.#rates.set(target.name, Math.max(rate, row['/s']));
    return row;
  }

  // A short load, thrown away: it tells the rate by which packets are made. The first guess is raised until it suffices.
  async warmUp(target) {
    for (let rate = RATE_FIRST; ; rate *= 4) {
      this.#rates.set(target.name, rate);
      try {
        await this.win(target, 1);
        return;
      } catch (error) {
        if (rate >= RATE_LAST || !/× status/.test(error.message)) throw error;
      }
    }
  }

  // Settlement is no request's work, and it would take its CPU from whoever is measured just then: it stands still while
  // work() runs, and what has been grabbed meanwhile is settled before this returns.
  async withoutSettlement(work) {
    await this.site.stop('settle');
    try {
      return await work();
    } finally {
      await this.site.start('settle');
      await this.site.drained();
    }
  }

  // The same grab, the same answer: throws when a peer does less than the site.
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
      if (facts[name] !== want) throw new Error(`${peer.name} is no fair comparison: ${name} is ${facts[name]} instead of ${want}`);
    }
  }
}
