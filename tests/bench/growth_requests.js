// Grabs and views as requests to a site, for growing numbers of packets and of shares. bench_world.c loads the packets into
// the site's Redis with the program's own code, `hongbao demo` creates the users; nothing is settled.
import { Grabs } from './grabs.js';
import { rounds } from './rounds.js';
import { unsynced, world } from './stores.js';

const SHARES_MIN = 10;
const PACKETS_MAX = 100_000;  // packets of one load; the next load takes others
const LOADERS = 4;            // side by side: one waits for each answer
const GRABBERS = 20_011;      // a prime number of users: request n is of user n for packet n, and no pair comes twice
const VIEWERS = 989;
const USER_FIRST = 1_000_000; // after the ids of bench_world's people
const RATE_MIN = 30_000;      // shares for so many grabs a second, or
const ROOM = 2;               // for so many times the rate of a trial

const rowOf = (subject, of, n, row) => ({ subject, of, n, 'µs': row['server µs'], 'nginx µs': row['nginx µs'], 'app µs': row['app µs'], 'Redis µs': row['redis µs'] });

class World {
  static async open(bench) {
    const self = Object.assign(new World(), { bench, seconds: bench.size(3, 1), round: 0 });
    self.site = await bench.site({ own: true });
    await self.site.stop('settle');
    await self.site.sql(`ALTER TABLE user AUTO_INCREMENT = ${USER_FIRST}`);
    self.grabs = await Grabs.open(bench, { site: self.site, users: GRABBERS + VIEWERS });
    const cookies = self.grabs.users.map(({ cookie }) => cookie);
    self.grabbers = cookies.slice(0, GRABBERS);
    self.viewers = self.grabs.file(cookies.slice(GRABBERS));
    return self;
  }

  live(command, packets) {
    return world(this.bench, this.site, command, packets);
  }

  remove(first, packets) {
    return unsynced(this.site, () => this.live('remove', { first, packets }));
  }

  // Loads count packets of so many shares, and takes the first shares of each.
  async load(first, count, shares, taken) {
    await unsynced(this.site, async () => {
      const parts = count >= LOADERS * 100 ? LOADERS : 1;
      const from = (part) => Math.floor(part * count / parts);
      await Promise.all(Array.from({ length: parts }, (_, i) => this.live('load', { first: first + from(i), packets: from(i + 1) - from(i), shares })));
      await this.live('grab', { first, packets: count, shares: taken });
    });
  }

  // A file with one line per packet, always with the same number of lines: the list also passes through wrk's CPU caches.
  async #paths(first, step, count, text) {
    const lines = (await this.live('ids', { first, step, packets: count })).map(text);
    return this.grabs.file(Array.from({ length: Math.ceil(PACKETS_MAX / count) * count }, (_, i) => lines[i % count]));
  }

  // Every request wins: by the site's counter during the load, by Redis afterwards.
  async grab(first, step, count) {
    const shift = this.round++ % GRABBERS;
    const cookies = this.grabs.file([...this.grabbers.slice(shift), ...this.grabbers.slice(0, shift)]);
    const paths = await this.#paths(first, step, count, (id) => `POST /p/${id}/open`);
    const ids = await this.live('ids', { first, step, packets: count });
    const won = () => this.grabs.counter('hongbao_grabs_total{result="grabbed"}');
    const [taken, counted] = [await this.grabs.taken(ids), await won()];
    const row = await this.grabs.load(this.grabs.target(), { paths, cookies, seconds: this.seconds, count: won });
    const [more, answered] = [await this.grabs.taken(ids) - taken, await won() - counted];
    if (more !== answered) throw new Error(`${answered} grabs were answered, and ${more} shares taken`);
    return row;
  }

  // The page, for users without a share.
  async view(first, step, count) {
    const paths = await this.#paths(first, step, count, (id) => `/p/${id}`);
    return this.grabs.load(this.grabs.target(), { paths, cookies: this.viewers, seconds: this.seconds, accept: 'text/html' });
  }

  // The number of shares that a load needs; a view of an envelope costs about as much as a grab.
  async room() {
    const paths = this.grabs.file([`/p/${(await this.grabs.packets(1, 1))[0]}`]);
    const { '/s': rate } = await this.grabs.load(this.grabs.target(), { paths, cookies: this.viewers, seconds: 1, accept: 'text/html' });
    return Math.ceil(Math.max(rate * ROOM, RATE_MIN) * this.seconds);
  }
}

// For each number of open packets, on a separate site. One share of each packet is grabbed before, so that every load
// finds all packets in the same state; where there are few packets, they are loaded again for each load.
async function openPackets(bench, worlds, room) {
  for (const world of worlds) {
    world.shares = Math.max(SHARES_MIN, Math.ceil(room / world.n) + 2);
    world.chosen = Math.min(world.n, PACKETS_MAX);
    world.step = Math.floor(world.n / world.chosen);
    await world.load(0, world.n, world.shares, 1);
    bench.log(`growth: ${world.n} packets of ${world.shares} shares are open`);
  }
  const grab = async (world) => {
    if (world.step === 1 && world.round > 0) {
      await world.remove(0, world.n);
      await world.load(0, world.n, world.shares, 1);
    }
    return rowOf('grab', 'open packets', world.n, await world.grab(world.round % world.step, world.step, world.chosen));
  };
  const view = async (world) => rowOf('view', 'open packets', world.n, await world.view(world.viewed++ % world.step, world.step, world.chosen));
  const each = (load) => rounds(bench, worlds.map((world) => ({ name: String(world.n), load: () => load(world) })));
  const views = await each(view); // views first: they read up to 50 rows of grabs, which differ later
  return { grab_open_packets: await each(grab), view_open_packets: views };
}

// For each number of shares, on one site: grabs of half-taken packets, views of fully taken ones.
async function shares(bench, world, sizes, room) {
  const views = sizes.at(-1);
  const each = (load) => rounds(bench, sizes.map((n, i) => ({ name: String(n), load: () => load(n, (2 * i + 1) * 10_000_000, (2 * i + 2) * 10_000_000) })));
  for (const [i, n] of sizes.entries()) await world.load((2 * i + 1) * 10_000_000, views / n, n, n);
  const view = async (n, first) => rowOf('view', 'shares', n, await world.view(first, 1, views / n));
  const grab = async (n, _, first) => {
    const count = Math.ceil(room / Math.min(n / 2, GRABBERS)) + 1;
    await world.load(first, count, n, n / 2);
    const row = rowOf('grab', 'shares', n, await world.grab(first, 1, count));
    await world.remove(first, count);
    return row;
  };
  return { grab_shares: await each(grab), view_shares: await each(view) };
}

// { grab_open_packets, view_open_packets, grab_shares, view_shares }: results of rounds(), smallest number first.
export async function requests(bench, { packets, sizes }) {
  const worlds = [];
  for (const n of packets) worlds.push(Object.assign(await World.open(bench), { n, viewed: 0 }));
  const room = await worlds[0].room();
  return { ...await openPackets(bench, worlds, room), ...await shares(bench, worlds[0], sizes, room) };
}
