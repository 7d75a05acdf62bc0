// Withdrawals: people ask for them by the page, and an operator posts and voids them by `hongbao money`; the seed decides.
// Requests are repeated, also at the same time, and now and then with another amount under the same key, which must be
// refused. Each is recorded in the history as invoked and then as ok, refused or unknown.
import { PASSWORD, PASSWORD_HASH } from '../support/password.js';
import { pause } from '../support/deployment.js';
import { Rng } from '../support/rng.js';

const PAYEES = 6; // who have a password
const AT_ONCE_MAX = 3;
const THINK_MS_MAX = 600;

const ACTIONS = { withdraw: 4, again: 2, otherwise: 1, end: 4, endAgain: 1 };

// What the command says when it will never do it.
const REFUSED = /was (posted|voided) by|belongs to another|there is no withdrawal/;

// A 429 says nothing of what an earlier request has done.
function outcomeOf(status) {
  if (status === 201) return 'ok';
  return status === 422 || status === 404 ? 'refused' : 'unknown';
}

export class Payouts {
  #instance; #site; #users; #history; #channel; #seed; #workers = []; #stopped = false; #asked = []; #ended = []; #count = 0;

  // instance: a Deployment. site: a Site. users: [{ id, name, cookie }], whose accounts stay.
  constructor({ instance, site, users, history, channel, seed }) {
    [this.#instance, this.#site, this.#users, this.#history, this.#channel, this.#seed] = [instance, site, users.slice(0, PAYEES), history, channel, seed];
  }

  // Call it before faults, when the channel is there.
  async start() {
    const { code, stderr } = await this.#instance.hongbao('money', 'channel', this.#channel, '--withdrawals', 'on');
    if (code !== 0) throw new Error(`hongbao money channel: ${stderr}`);
    await this.#instance.sql(`UPDATE user SET password_hash = '${PASSWORD_HASH}' WHERE id IN (${this.#users.map(({ id }) => id)})`);
    for (const name of ['payee', 'cashier']) this.#workers.push(this.#work(new Rng(this.#seed, name)));
  }

  // Resolves when every request under way has ended.
  async stop() {
    this.#stopped = true;
    await Promise.all(this.#workers);
  }

  async #work(rng) {
    while (!this.#stopped) {
      await this[rng.weighted(ACTIONS)](rng);
      await pause(rng.int(0, THINK_MS_MAX));
    }
  }

  // request: { user, cookie, key, amount_fen }.
  async #ask({ cookie, ...request }) {
    const operation = this.#history.invoke('withdraw', request);
    const { status, json, error } = await this.#site.post('/wallet/withdraw', cookie, {
      amount: (request.amount_fen / 100).toFixed(2), account: `account of ${request.user}`, password: PASSWORD, request_key: request.key,
    });
    const outcome = outcomeOf(status);
    const told = outcome === 'ok' ? { id: String(json.id), got_fen: json.amount_fen } : { why: error ?? json?.type?.split(':').pop() };
    this.#history.finish(operation, outcome, { status, ...told });
    if (status === 500) this.#history.blame('broken', undefined, `request ${operation.n}: a withdrawal answers 500`);
  }

  async withdraw(rng) {
    const { id, cookie } = rng.pick(this.#users);
    const request = { user: id, cookie, key: `w-${rng.word(12)}`, amount_fen: rng.int(1, 800) };
    this.#asked.push(request);
    await Promise.all(Array.from({ length: rng.int(1, AT_ONCE_MAX) }, () => this.#ask(request)));
  }

  async again(rng) {
    if (this.#asked.length > 0) await this.#ask(rng.pick(this.#asked));
  }

  async otherwise(rng) {
    if (this.#asked.length === 0) return;
    const request = rng.pick(this.#asked);
    await this.#ask({ ...request, amount_fen: request.amount_fen + 1 });
  }

  // end: { op, withdrawal, reference or reason }.
  async #end(end) {
    const { op, withdrawal, reference, reason } = end;
    const operation = this.#history.invoke(op, end);
    const how = op === 'post' ? ['--reference', reference] : ['--reason', reason];
    const { code, stderr } = await this.#instance.hongbao('money', op, withdrawal, ...how, '--json');
    const outcome = code === 0 ? 'ok' : REFUSED.test(stderr) ? 'refused' : 'unknown';
    this.#history.finish(operation, outcome, code === 0 ? {} : { why: stderr.trim().split('\n').pop() });
  }

  // Posts or voids one of the pending withdrawals.
  async end(rng) {
    const { code, stdout } = await this.#instance.hongbao('money', 'withdrawals', '--json');
    const pending = code === 0 ? JSON.parse(stdout).withdrawals : [];
    if (pending.length === 0) return;
    const withdrawal = String(rng.pick(pending).id);
    const [post, no] = [rng.int(0, 1) === 0, ++this.#count];
    const end = post ? { op: 'post', withdrawal, reference: `p-${no}` } : { op: 'void', withdrawal, reason: `reason ${no}` };
    this.#ended.push(end);
    await this.#end(end);
  }

  // The same again, or the other end, which is refused unless the first one was not done.
  async endAgain(rng) {
    if (this.#ended.length === 0) return;
    const end = rng.pick(this.#ended);
    if (rng.int(0, 1) === 0) {
      await this.#end(end);
      return;
    }
    const { withdrawal } = end;
    const no = ++this.#count;
    await this.#end(end.op === 'void' ? { op: 'post', withdrawal, reference: `p-${no}` } : { op: 'void', withdrawal, reason: `reason ${no}` });
  }
}
