// Loads on POST /p/ID/open: packets for everybody to win, targets that answer, and the count of what was really grabbed.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONNECTIONS, measured, mustBeClean, wrk } from './load.js';
import { KINDS, Peer } from './peers.js';

export const USERS = 5000;
const SPARE = 1.4;             // more packets than the last rate would need
const SENDERS_AT_ONCE = 4;
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

// The number in a public id: 64 bits behind two zero bits.
export const packetNumber = (id) => [...id].reduce((sum, digit) => sum << 5n | BigInt(DIGITS.indexOf(digit)), 0n) >> 64n;

const liveKey = (id, what) => {
  const number = packetNumber(id);
  return `hb:{p${String(number % 16n).padStart(2, '0')}}:${what}:${number}`;
};

export class Grabs {
  #sent = 0; #files = 0; #rates = new Map();

  // The site that the cases share, with USERS users.
  static async open(bench) {
    const self = new Grabs();
    Object.assign(self, { bench, site: await bench.site(), folder: bench.newFolder('load') });
    mkdirSync(self.folder);
    self.users = await self.site.users(USERS);
    self.cookies = self.file(self.users.map(({ cookie }) => cookie));
    // A rewrite of the log in the middle of a round would be somebody's bad luck.
    await self.site.redis('CONFIG', 'SET', 'auto-aof-rewrite-percentage', '0');
    self.grabHash = await self.site.redis('SCRIPT', 'LOAD', await bench.script('grab'));
    return self;
  }

  // The site itself, to be loaded like a peer.
  target() {
    return { name: 'hongbao', url: this.site.url, groups: () => this.site.groups() };
  }

  // A started peer, one of KINDS.
  async peer(kind, prepare = () => {}) {
    const { bench, site, grabHash } = this;
    const peer = bench.keep(new Peer({ ...KINDS[kind], root: bench.root, build: bench.build, folder: bench.newFolder(`peer-${kind}`), site, grabHash }));
    mkdirSync(peer.folder);
    prepare(peer);
    await peer.start();
    return peer;
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

  // A load of winning grabs only, and proof of it: { result, row } of measured().
  async win(target, seconds) {
    const rate = this.#rates.get(target.name) ?? 0;
    const ids = await this.packets(Math.ceil(rate * seconds * SPARE / USERS) + 2);
    const paths = this.file(ids.map((id) => `POST /p/${id}/open`));
    const found = await measured(target.groups(), () => wrk({ root: this.bench.root, url: target.url, kind: 'every', cookies: this.cookies, paths, seconds }));
    const { result } = found;
    this.#rates.set(target.name, Math.max(rate, result.requests / result.seconds));
    mustBeClean(target.name, result);
    const taken = await this.taken(ids);
    if (taken < result.requests || taken > result.requests + CONNECTIONS) {
      throw new Error(`${target.name}: ${result.requests} requests were answered and ${taken} shares are taken`);
    }
    return found;
  }

  // The rate that the packets are counted by: a short load, thrown away.
  async warmUp(target) {
    this.#rates.set(target.name, USERS);
    for (let seconds = 0.25; seconds <= 1; seconds *= 2) {
      try {
        return await this.win(target, 1);
      } catch (error) {
        if (!/× status/.test(error.message)) throw error;
        this.#rates.set(target.name, 8 * this.#rates.get(target.name));
      }
    }
    throw new Error(`${target.name}: no load is answered without errors`);
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
