// The load of an operator: credits, debits and reversals by `hongbao money`, from several shells at once; the seed decides.
// Requests are repeated, also by two shells at the same time, and now and then with another amount, which must be refused.
// Each is recorded in the history as invoked and then as ok, refused or unknown.
import { pause } from '../support/deployment.js';
import { Rng } from '../support/rng.js';

export const CHANNEL = 'payroll';
const SHELLS = 2;
const RECENT_MAX = 20; // the newest requests, which are repeated
const REPEATS_MAX = 3;
const THINK_MS_MAX = 400;

const ACTIONS = { credit: 6, debit: 3, reverse: 1, again: 3, otherwise: 1 };

// What the command says when it has understood the request, and will never do it.
const REFUSED = /belongs to|was reversed|has less|there is no credit/;

export class Treasury {
  #instance; #users; #history; #seed; #shells = []; #stopped = false; #recent = []; #count = 0;

  // instance: a Deployment. users: [{ id, name }], whose accounts stay.
  constructor({ instance, users, history, seed }) {
    [this.#instance, this.#users, this.#history, this.#seed] = [instance, users, history, seed];
  }

  // Call it before faults: it makes the channel.
  async start() {
    const { code, stderr } = await this.#instance.hongbao('money', 'channel', CHANNEL);
    if (code !== 0) throw new Error(`hongbao money channel: ${stderr}`);
    for (let i = 0; i < SHELLS; i++) this.#shells.push(this.#work(new Rng(this.#seed, `shell ${i}`)));
  }

  // Resolves when every command under way has ended.
  async stop() {
    this.#stopped = true;
    await Promise.all(this.#shells);
  }

  async #work(rng) {
    while (!this.#stopped) {
      await this[rng.weighted(ACTIONS)](rng);
      await pause(rng.int(0, THINK_MS_MAX));
    }
  }

  // request: { op, user, name, amount_fen, reference }; of a reversal also transfer.
  async #ask(request) {
    const { op, name, amount_fen: fen, reference, transfer } = request;
    const what = op === 'reverse' ? [transfer] : [name, (fen / 100).toFixed(2), '--channel', CHANNEL];
    const operation = this.#history.invoke(op, request);
    const { code, stdout, stderr } = await this.#instance.hongbao('money', op, ...what, '--reference', reference, '--json');
    if (code === 0) {
      const { id, amount_fen, repeated } = JSON.parse(stdout);
      this.#history.finish(operation, 'ok', { id: String(id), got_fen: amount_fen, repeated });
    } else {
      this.#history.finish(operation, REFUSED.test(stderr) ? 'refused' : 'unknown', { why: stderr.trim().split('\n').pop() });
    }
    return operation;
  }

  async #askNew(request) {
    this.#recent.push(request);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    const operation = await this.#ask(request);
    if (operation.outcome === 'ok') request.made = operation.id;
    return operation;
  }

  #request(op, rng) {
    const user = rng.pick(this.#users);
    return { op, user: user.id, name: user.name, amount_fen: rng.int(1, 3000), reference: `${op[0]}-${++this.#count}` };
  }

  credit(rng) {
    return this.#askNew(this.#request('credit', rng));
  }

  debit(rng) {
    return this.#askNew(this.#request('debit', rng));
  }

  async reverse(rng) {
    const made = this.#recent.filter((request) => request.made);
    if (made.length === 0) return;
    const { user, name, amount_fen, made: transfer } = rng.pick(made);
    await this.#askNew({ op: 'reverse', user, name, amount_fen, transfer, reference: `r-${++this.#count}` });
  }

  // The same request again, some of them while the first one is under way in the other shell.
  async again(rng) {
    if (this.#recent.length === 0) return;
    const { made, ...request } = rng.pick(this.#recent);
    for (let i = rng.int(1, REPEATS_MAX); i > 0 && !this.#stopped; i--) await this.#ask(request);
  }

  // The reference of another request with another amount. It is refused, or it was there first.
  async otherwise(rng) {
    const payments = this.#recent.filter(({ op }) => op !== 'reverse');
    if (payments.length === 0) return;
    const { made, ...request } = rng.pick(payments);
    await this.#ask({ ...request, amount_fen: request.amount_fen + 1 });
  }
}
