// Probes of a cluster under faults: a grab in each partition and a deposit, four times a second each. The longest time
// between two successes shows how long the site could not do it.
import { PARTITIONS, partitionOf } from '../support/packet_id.js';
import { pause } from '../support/deployment.js';

const EVERY_MS = 250;
const STOCK = 3; // packets of each partition: enough for a time in which none can be sent
const AGE_MS_MAX = 30_000; // greatest age of a packet that is used; it expires some time later
const WAITING_MAX = 80; // requests of one series under way

export class Probes {
  #load; #users; #stopped = false; #loops = []; #sent = 0;
  #stocks = Array.from({ length: PARTITIONS }, () => []);
  #grabs = Array.from({ length: PARTITIONS }, () => []); // times of successful grabs
  #deposits = [];

  // users: each opens each packet once.
  constructor({ load, users }) {
    [this.#load, this.#users] = [load, users];
  }

  start() {
    this.#loops.push(this.#stock());
    this.#loops.push(this.#repeat(this.#deposits, () => this.#load.depositFor(this.#users[this.#sent++ % this.#users.length])));
    for (let i = 0; i < PARTITIONS; i++) this.#loops.push(this.#repeat(this.#grabs[i], () => this.#grab(i)));
  }

  async stop() {
    this.#stopped = true;
    await Promise.all(this.#loops);
  }

  // Whether a grab has succeeded in every partition.
  get work() {
    return this.#deposits.length > 0 && this.#grabs.every((times) => times.length > 0);
  }

  // Sends packets until each partition has some; a packet's partition is known only then.
  async #stock() {
    for (let i = 0; !this.#stopped; i++) {
      const young = Date.now() - AGE_MS_MAX;
      for (const stock of this.#stocks) while (stock.length > 0 && stock[0].at < young) stock.shift();
      if (this.#stocks.every(({ length }) => length >= STOCK)) {
        await pause(EVERY_MS);
        continue;
      }
      const sender = this.#users[i % this.#users.length];
      const packet = await this.#load.sendFor(sender, this.#users.length - 1);
      if (!packet) await pause(EVERY_MS);
      else if (this.#stocks[partitionOf(packet)].length < STOCK) {
        this.#stocks[partitionOf(packet)].push({ packet, at: Date.now(), openers: this.#users.filter((user) => user !== sender) });
      }
    }
  }

  async #grab(partition) {
    const stock = this.#stocks[partition];
    if (stock[0]?.openers.length === 0) stock.shift();
    const opener = stock[0]?.openers.pop();
    return opener !== undefined && this.#load.openFor(stock[0].packet, opener);
  }

  // Begins a probe at each interval, whether or not the earlier ones have an answer.
  async #repeat(times, probe) {
    const waiting = new Set();
    while (!this.#stopped) {
      if (waiting.size < WAITING_MAX) {
        const one = probe().then((succeeded) => {
          if (succeeded) times.push(Date.now());
          waiting.delete(one);
        });
        waiting.add(one);
      }
      await pause(EVERY_MS);
    }
    await Promise.all(waiting);
  }

  // The longest times without a success from `from` to `to`, in ms: { grabs: one for each partition, deposits }.
  gaps(from, to) {
    const longest = (times) => {
      const before = times.findLast((at) => at <= from) ?? from;
      const within = times.filter((at) => at > from && at <= to);
      return Math.max(...[...within, to].map((at, i) => at - (i === 0 ? before : within[i - 1])));
    };
    return { grabs: this.#grabs.map(longest), deposits: longest(this.#deposits) };
  }
}
