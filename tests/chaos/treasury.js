// The load of an operator: credits, debits, reversals and payments of top-ups by `hongbao money`, from several shells at
// once, and credits and debits by HTTP with a service token; the seed decides. A repeat may go either way: both ask for
// the same transfer.
// Requests are repeated, also by two shells at the same time, and now and then with another amount, which must be refused.
// Each is recorded in the history as invoked and then as ok, refused or unknown.
import { pause } from '../support/deployment.js';
import { Rng } from '../support/rng.js';

export const CHANNEL = 'payroll';
const SHELLS = 2;
const RECENT_MAX = 20; // the newest requests, which are repeated
const REPEATS_MAX = 3;
const THINK_MS_MAX = 400;
const ANSWER_MS_MAX = 60_000;
const SERVICE = 'machine';

const ACTIONS = { credit: 6, debit: 3, topup: 3, reverse: 1, again: 3, otherwise: 1 };

// What the command says when it has understood the request, and will never do it.
const REFUSED = /belongs to|was reversed|has less|there is no credit|is being deleted/;

export class Treasury {
  #instance; #site; #users; #history; #seed; #shells = []; #stopped = false; #recent = []; #count = 0; #token;

  // instance: a Deployment. site: a Site. users: [{ id, name, cookie }], whose accounts stay.
  constructor({ instance, site, users, history, seed }) {
    [this.#instance, this.#site, this.#users, this.#history, this.#seed] = [instance, site, users, history, seed];
  }

  // Call it before faults: it makes the channel, and the service.
  async start() {
    const { code, stderr } = await this.#instance.hongbao('money', 'channel', CHANNEL, '--topup-url', 'https://pay.example/');
    if (code !== 0) throw new Error(`hongbao money channel: ${stderr}`);
    const added = await this.#instance.hongbao('service', 'add', SERVICE, '--scopes', 'credit debit', '--channel', CHANNEL);
    if (added.code !== 0) throw new Error(`hongbao service add: ${added.stderr}`);
    this.#token = added.stdout.trim();
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

  // request: { op, user, name, amount_fen, reference }; of a reversal also transfer, of a paid top-up order.
  async #ask(request, rng) {
    const { op, name, amount_fen: fen, reference, transfer, order } = request;
    if (['credit', 'debit'].includes(op) && rng.oneIn(2)) return this.#askByHttp(request);
    const amount = (fen / 100).toFixed(2);
    const what = { reverse: [transfer], paid: [order, '--amount', amount] }[op] ?? [name, amount, '--channel', CHANNEL];
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

  // The outcome is unknown without an answer, and when the pool or a store was away.
  async #askByHttp(request) {
    const { op, name, amount_fen: fen, reference } = request;
    const operation = this.#history.invoke(op, { ...request, by: 'http' });
    const answer = await fetch(`${this.#instance.url}/money/${op}s`, { method: 'POST', signal: AbortSignal.timeout(ANSWER_MS_MAX),
      headers: { authorization: `Bearer ${this.#token}` },
      body: new URLSearchParams({ username: name, amount: (fen / 100).toFixed(2), channel: CHANNEL, reference }) })
      .then(async (found) => ({ status: found.status, text: await found.text() })).catch((error) => ({ status: 0, text: error.message }));
    if (answer.status === 200 || answer.status === 201) {
      const { id, amount_fen } = JSON.parse(answer.text);
      this.#history.finish(operation, 'ok', { id: String(id), got_fen: amount_fen, repeated: answer.status === 200 });
    } else {
      const isRefused = answer.status === 409 || answer.status === 422;
      this.#history.finish(operation, isRefused ? 'refused' : 'unknown', { why: `${answer.status} ${answer.text}` });
    }
    return operation;
  }

  async #askNew(request, rng) {
    this.#recent.push(request);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
    const operation = await this.#ask(request, rng);
    if (operation.outcome === 'ok') request.made = operation.id;
    return operation;
  }

  #request(op, rng) {
    const user = rng.pick(this.#users);
    return { op, user: user.id, name: user.name, amount_fen: rng.int(1, 3000), reference: `${op[0]}-${++this.#count}` };
  }

  credit(rng) {
    return this.#askNew(this.#request('credit', rng), rng);
  }

  debit(rng) {
    return this.#askNew(this.#request('debit', rng), rng);
  }

  // The order is made by its user, and sometimes another amount is paid. A site that is away makes no order.
  async topup(rng) {
    const user = rng.pick(this.#users);
    const reference = `t-${++this.#count}`;
    const fen = rng.int(1, 3000);
    const made = await this.#site.post('/wallet/topup', user.cookie, { amount: (fen / 100).toFixed(2), request_key: reference }).catch(() => ({}));
    if (made.status !== 201) return;
    const request = { op: 'paid', user: user.id, name: user.name, amount_fen: fen + rng.int(0, 1), reference, order: String(made.json.id) };
    await this.#askNew(request, rng);
  }

  async reverse(rng) {
    const made = this.#recent.filter((request) => request.made);
    if (made.length === 0) return;
    const { user, name, amount_fen, made: transfer } = rng.pick(made);
    await this.#askNew({ op: 'reverse', user, name, amount_fen, transfer, reference: `r-${++this.#count}` }, rng);
  }

  // The same request again, some of them while the first one is under way in the other shell.
  async again(rng) {
    if (this.#recent.length === 0) return;
    const { made, ...request } = rng.pick(this.#recent);
    for (let i = rng.int(1, REPEATS_MAX); i > 0 && !this.#stopped; i--) await this.#ask(request, rng);
  }

  // The reference of another request with another amount. It is refused, or it was there first.
  async otherwise(rng) {
    const payments = this.#recent.filter(({ op }) => op !== 'reverse');
    if (payments.length === 0) return;
    const { made, ...request } = rng.pick(payments);
    await this.#ask({ ...request, amount_fen: request.amount_fen + 1 }, rng);
  }
}
