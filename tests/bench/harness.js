// The interface for the cases in cases/. They start servers only through it, so that all servers are ended.
//
// A case exports { name, title, run(bench) }; run returns { rows, details, ratios, notes }:
//   rows    flat objects, one per line of the table; the keys are the column heads
//   details rows of a second table
//   ratios  results of bench.ratio(name, value, want)
//   notes   sentences below the table
// A case that throws has failed; the next one runs.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rng } from '../support/rng.js';
import { Site } from './site.js';
import { median, medians, percentile, ratio } from './stats.js';

const ROUNDS = 5;
const ROUNDS_QUICK = 2;

export class Bench {
  #servers = []; #shared = null; #count = 0; #closing = null;

  // root: the tree of the sites under measurement, whose ./dev starts them; build: the folder of their program and of
  // bench_world. seed: of the order of the loads in each round.
  constructor({ root, build, quick, rounds, seed }) {
    this.root = root;
    this.build = build;
    this.quick = quick;
    this.order = new Rng(seed, 'order of the loads');
    this.rounds = rounds ?? (quick ? ROUNDS_QUICK : ROUNDS);
    this.folder = mkdtempSync(join(tmpdir(), 'hongbao-bench-'));
    chmodSync(this.folder, 0o755); // the servers have a user of their own
    // setting of every site: with so many shares, each request of a load can win
    this.settings = { HB_PACKET_SHARES_MAX: 100_000 };
    Object.assign(this, { median, medians, percentile, ratio });
  }

  log(text) {
    console.error(`bench: ${text}`);
  }

  // A number for the whole run, or the second one for a run with --quick.
  size(whole, quick) {
    return this.quick ? quick : whole;
  }

  // A program of the CMake target bench.
  program(name) {
    return join(this.build, 'tests/bench', name);
  }

  // The path of a new folder below this.folder; the folder is not created.
  newFolder(name) {
    return join(this.folder, `${name}-${++this.#count}`);
  }

  // Registers a site, which has down(), or any object with stop(), to be ended with the case (shared: with the run).
  keep(server, shared = false) {
    if (this.#closing) throw new Error('the run is over');
    this.#servers.push({ server, shared });
    return server;
  }

  // The site that the cases share, started at the first call; a case that stops one of its servers starts it again.
  // own: makes a site for this case alone, with its own settings, and on one CPU if given.
  async site({ own = false, settings = {}, cpu = null } = {}) {
    if (!own && this.#shared) return this.#shared;
    const site = this.keep(new Site({ root: this.root, build: this.build, folder: this.newFolder('site'),
      settings: { ...this.settings, ...settings }, cpu }), !own);
    await site.up();
    if (!own) this.#shared = site;
    return site;
  }

  // Ends all servers, also when ending one of them fails.
  async #end(servers) {
    const ended = [];
    for (const { server } of servers.reverse()) ended.push(...await Promise.allSettled([server.down ? server.down() : server.stop()]));
    const failed = ended.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  }

  async endCase() {
    const own = this.#servers.filter(({ shared }) => !shared);
    this.#servers = this.#servers.filter(({ shared }) => shared);
    await this.#end(own);
  }

  // Ends everything, once, and removes the folder, unless keepFolder.
  close(keepFolder) {
    this.#closing ??= (async () => {
      await this.#end(this.#servers.splice(0));
      if (keepFolder) this.log(`the files are in ${this.folder}`);
      else rmSync(this.folder, { recursive: true, force: true });
    })();
    return this.#closing;
  }
}
