// The load: some concurrent visitors send, open and view packets, give shares back and thank for them, deposit, log in and
// delete accounts; the seed decides. Each request is recorded in the history as invoked and then as ok, refused or unknown.
// Each page is compared with the answers before it.
import { pause, poll } from './deployment.js';
import { Rng } from './rng.js';

const RECENT_MAX = 12; // the newest packets, which most visitors open; older ones are opened now and then
const SHARES_MAX = 100; // the newest shares; some of them are given back
const RETRIES_MAX = 4;
const THINK_MS_MAX = 30;

// Few texts, so that a share also gets thanks with the same text again.
const THANKS = ['谢谢老板 🙏', '新年快乐', '"thanks", it\'s 100% \\o/'];

// The most requests of a user who deletes the account, until the answer is known.
const LEAVE_TRIES_MAX = 60;

const ACTIONS = { open: 57, view: 16, send: 8, giveBack: 4, wallet: 4, thank: 3, deposit: 3, records: 3, end: 1, login: 1, register: 1, leave: 1 };

// The outcome of a request by the status of its answer.
function outcomeOf(status) {
  if (status >= 200 && status < 400) return 'ok';
  return status >= 400 && status < 500 ? 'refused' : 'unknown';
}

export class Load {
  #site; #users; #history; #seed; #workers = []; #stopped = false;
  #packets = []; #recent = []; #shares = []; #known = new Map(); #shown = new Map(); #accounts = []; #trips = 0;

  // users: [{ id, cookie }] with money.
  constructor({ site, users, history, seed }) {
    [this.#site, this.#users, this.#history, this.#seed] = [site, users, history, seed];
  }

  start(workers) {
    for (let i = 0; i < workers; i++) this.#workers.push(this.#work(new Rng(this.#seed, `visitor ${i}`)));
  }

  // Resolves when every request under way has its answer.
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

  // Sends a request and records it. fields: recorded before the request; result(json): recorded with a successful
  // answer.
  async #ask(op, fields, request, result = () => ({})) {
    const operation = this.#history.invoke(op, fields);
    const answer = await request();
    const outcome = outcomeOf(answer.status);
    const told = outcome === 'ok' ? result(answer.json, answer) : { why: answer.error ?? answer.json?.type?.split(':').pop() };
    this.#history.finish(operation, outcome, { status: answer.status, ...told });
    if (answer.status === 401 && op !== 'delete') this.#history.blame('lost', fields.packet, `request ${operation.n}: the session of user ${fields.user} is lost`);
    if (answer.status === 404) this.#history.blame('lost', fields.packet, `request ${operation.n}: ${op} of an existing packet or page answers 404`);
    if (answer.status === 500) this.#history.blame('broken', fields.packet, `request ${operation.n}: ${op} answers 500`);
    return operation;
  }

  // ---- requests ----

  #deposit(user, key, fen) {
    return this.#ask('deposit', { user: user.id, key, amount_fen: fen },
      () => this.#site.post('/wallet/deposit', user.cookie, { amount: (fen / 100).toFixed(2), request_key: key }),
      (json) => ({ got_fen: json.amount_fen }));
  }

  // fen: the total. fields: of the form, without the key.
  #send(user, key, fen, fields) {
    return this.#ask('send', { user: user.id, key, amount_fen: fen, count: fields.count, kind: fields.kind },
      () => this.#site.post('/send', user.cookie, { ...fields, request_key: key }), (json) => ({ packet: json.id }));
  }

  // The same of even shares of a fen.
  #sendEven(user, key, count) {
    return this.#send(user, key, count, { kind: 'even', amount: '0.01', count });
  }

  #open(packet, user, phrase) {
    return this.#ask('open', { user: user.id, packet },
      () => this.#site.post(`/p/${packet}/open`, user.cookie, phrase ? { phrase } : undefined),
      (json) => ({ result: json.result, share_no: json.share_no, amount_fen: json.amount_fen }));
  }

  // Registers a new account. Returns the operation with the user's id, and a session cookie that is not recorded.
  async #register(prefix, rng) {
    const account = { username: `${prefix}${rng.word(14)}`, password: rng.word(12) };
    let cookie;
    const made = await this.#ask('register', { name: account.username },
      () => this.#site.post('/register', '', { ...account, nickname: account.username }), (json, { cookies }) => {
        cookie = cookies.find((text) => /^(__Host-)?sid=/.test(text));
        return { user: json.id };
      });
    return { account, made, cookie };
  }

  // ---- money into packets ----

  async deposit(rng) {
    const user = rng.pick(this.#users);
    const fen = rng.int(1, 5000);
    const key = rng.word(20);
    await this.#repeat(rng.int(1, RETRIES_MAX), rng, () => this.#deposit(user, key, fen));
  }

  // Repeats the same request while its outcome is unknown, at most tries times.
  async #repeat(tries, rng, ask) {
    for (let i = 0; i < tries && !this.#stopped; i++) {
      const operation = await ask();
      if (operation.outcome !== 'unknown') return operation;
      await pause(rng.int(0, 500));
    }
    return null;
  }

  // Some other users, each once.
  #receivers(rng, sender) {
    const picked = Array.from({ length: rng.int(1, 6) }, () => rng.pick(this.#users));
    return [...new Set(picked)].filter((user) => user !== sender);
  }

  async send(rng) {
    const user = rng.pick(this.#users);
    const receiver = rng.pick(this.#users);
    let kind = rng.weighted({ lucky: 6, even: 3, exclusive: 1 });
    if (receiver === user && kind === 'exclusive') kind = 'even';
    const named = kind !== 'exclusive' && rng.oneIn(6) ? this.#receivers(rng, user) : [];
    const count = kind === 'exclusive' ? 1 : rng.int(1, named.length || 30);
    const fen = kind === 'lucky' ? rng.int(count, 40 * count) : rng.int(1, 40);
    const total = kind === 'lucky' ? fen : fen * count;
    const key = rng.word(20);
    const fields = { kind, amount: (fen / 100).toFixed(2), count, greeting: `恭喜发财 ${rng.word(4)}`,
      split: rng.pick(['double-average', 'uniform', 'gaussian']) };
    if (kind === 'exclusive') fields.to = receiver.name;
    if (named.length > 0) fields.to = named.map(({ name }) => name).join(' ');
    if (rng.oneIn(6)) fields.opens_at = new Date(Date.now() + rng.int(500, 4000)).toISOString();
    if (rng.oneIn(6)) fields.phrase = rng.word(8);
    const sent = await this.#repeat(rng.int(1, RETRIES_MAX), rng, () => this.#send(user, key, total, fields));
    if (sent?.outcome !== 'ok' || this.#known.has(sent.packet)) return;
    const to = kind === 'exclusive' ? [receiver] : named;
    const packet = { id: sent.packet, sender: user, phrase: fields.phrase, to: to.map(({ id }) => id) };
    this.#known.set(packet.id, packet);
    this.#packets.push(packet);
    this.#recent.push(packet);
    if (this.#recent.length > RECENT_MAX) this.#recent.shift();
  }

  // One request of each kind: send, open, settled, register. True when all succeed: then every server works.
  async roundTrip(settledWithin) {
    const rng = new Rng(this.#seed, `round trip ${this.#trips++}`);
    const [sender, other] = this.#users;
    const sent = await this.#sendEven(sender, rng.word(20), 2);
    if (sent.outcome !== 'ok') return false;
    const opened = await this.#open(sent.packet, other);
    const { made } = await this.#register('r', rng);
    if (opened.outcome !== 'ok' || made.outcome !== 'ok') return false;
    return Boolean(await poll(settledWithin, async () => {
      const page = await this.#site.get(`/p/${sent.packet}`, other.cookie);
      return page.json?.mine?.settled;
    }));
  }

  // ---- probes (probes.js): one request each, recorded like all others ----

  // The packet of so many even shares; undefined: it could not be sent.
  async sendFor(sender, count) {
    return (await this.#sendEven(sender, `probe${this.#trips++}`, count)).packet;
  }

  // Whether the user got a share.
  async openFor(packet, user) {
    return (await this.#open(packet, user)).result === 'grabbed';
  }

  // Deposits one fen; true when it worked.
  async depositFor(user) {
    return (await this.#deposit(user, `probe${this.#trips++}`, 1)).outcome === 'ok';
  }

  // ---- money out of packets ----

  #pickPacket(rng) {
    const old = rng.oneIn(6);
    if (this.#packets.length === 0) return null;
    return rng.pick(old || this.#recent.length === 0 ? this.#packets : this.#recent);
  }

  async open(rng) {
    const packet = this.#pickPacket(rng);
    const user = rng.pick(this.#users);
    const taps = rng.oneIn(8) ? rng.int(2, 4) : 1; // a double click
    const phrase = packet?.phrase && rng.oneIn(5) ? rng.word(8) : packet?.phrase;
    if (packet) await Promise.all(Array.from({ length: taps }, () => this.#tap(packet, user, phrase)));
  }

  async #tap(packet, user, phrase) {
    const opened = await this.#open(packet.id, user, phrase);
    if (opened.result === 'grabbed') this.#judgeOpener(opened, packet, user, phrase);
    if (opened.outcome === 'ok') this.#see(opened, packet.id, user.id, opened.share_no, opened.amount_fen);
    if (opened.result === 'grabbed' && !user.leaves) {
      this.#shares.push({ packet, user });
      if (this.#shares.length > SHARES_MAX) this.#shares.shift();
    }
    if (opened.why === 'empty' || opened.why === 'expired') this.#recent = this.#recent.filter((other) => other !== packet);
  }

  // Checks that this user may open the packet: a named receiver, with the passphrase. (The audit checks the time of
  // each grab.)
  #judgeOpener(opened, packet, user, phrase) {
    const not_named = packet.to.length > 0 && !packet.to.includes(user.id);
    const other_phrase = packet.phrase !== undefined && packet.phrase !== phrase;
    if (not_named || other_phrase) {
      this.#history.blame('unexpected', packet.id, `request ${opened.n}: user ${user.id} opened it ${not_named ? 'without being named' : 'with another passphrase'}`);
    }
  }

  // A share that was acknowledged or shown never changes: its user, its number, its amount.
  #see(operation, packet, user, share_no, amount_fen) {
    const now = `share ${share_no}, user ${user}, ${amount_fen} fen`;
    for (const key of [`${packet} share ${share_no}`, `${packet} user ${user}`]) {
      const before = this.#shown.get(key);
      if (before && before !== now) this.#history.blame('changed', packet, `request ${operation.n} shows ${now}; before: ${before}`);
      this.#shown.set(key, now);
    }
  }

  // Gives a share back; some users do it twice at once.
  async giveBack(rng) {
    if (this.#shares.length === 0) return;
    const { packet, user } = rng.pick(this.#shares);
    const taps = rng.oneIn(4) ? 2 : 1;
    await Promise.all(Array.from({ length: taps }, () => this.#ask('return', { user: user.id, packet: packet.id },
      () => this.#site.post(`/p/${packet.id}/return`, user.cookie),
      (json) => ({ returned_fen: json.returned_fen, to: json.to }))));
  }

  // Says thanks for a share; some users do it twice at once, with the same text or another one.
  async thank(rng) {
    if (this.#shares.length === 0) return;
    const { packet, user } = rng.pick(this.#shares);
    const texts = Array.from({ length: rng.oneIn(4) ? 2 : 1 }, () => rng.pick(THANKS));
    await Promise.all(texts.map((text) => this.#ask('thanks', { user: user.id, packet: packet.id, text },
      () => this.#site.post(`/p/${packet.id}/thanks`, user.cookie, { text }), (json) => ({ said: json.text }))));
  }

  // A sender ends a packet early.
  async end(rng) {
    const packet = this.#pickPacket(rng);
    if (!packet) return;
    await this.#ask('end', { user: packet.sender.id, packet: packet.id },
      () => this.#site.post(`/p/${packet.id}/end`, packet.sender.cookie), (json) => ({ state: json.state }));
    this.#recent = this.#recent.filter((other) => other !== packet);
  }

  async view(rng) {
    const packet = this.#pickPacket(rng);
    const user = rng.oneIn(4) && packet ? packet.sender : rng.pick(this.#users);
    if (!packet) return;
    const before = this.#shown.get(`${packet.id} user ${user.id}`);
    let page;
    const viewed = await this.#ask('view', { user: user.id, packet: packet.id },
      () => this.#site.get(`/p/${packet.id}`, user.cookie), (json) => {
        page = json;
        return { state: json.state, grabbed_count: json.grabbed_count, mine: json.mine?.share_no };
      });
    if (!page) return;
    for (const grab of page.grabs) this.#see(viewed, packet.id, grab.user.id, grab.share_no, grab.amount_fen);
    if (page.mine) this.#see(viewed, packet.id, user.id, page.mine.share_no, page.mine.amount_fen);
    else if (before) this.#history.blame('lost', packet.id, `request ${viewed.n}: the page does not show ${before}`);
  }

  async wallet(rng) {
    const user = rng.pick(this.#users);
    await this.#ask('wallet', { user: user.id }, () => this.#site.get('/wallet', user.cookie),
      (json) => ({ balance_fen: json.balance_fen }));
  }

  async records(rng) {
    const user = rng.pick(this.#users);
    await this.#ask('records', { user: user.id }, () => this.#site.get('/records/received', user.cookie),
      (json) => ({ total_fen: json.total_fen }));
  }

  // ---- accounts ----

  async register(rng) {
    const { account, made } = await this.#register('c', rng);
    if (made.outcome === 'ok') this.#accounts.push(account);
  }

  // A new user gets money, sends a packet, opens another one, and deletes the account. Others may open the packet.
  async leave(rng) {
    const { account, made, cookie } = await this.#register('d', rng);
    if (made.outcome !== 'ok' || !cookie) return;
    const user = { id: String(made.user), name: account.username, cookie, leaves: true };
    await this.#deposit(user, rng.word(20), 500);
    const sent = await this.#send(user, rng.word(20), 30, { kind: 'even', amount: '0.10', count: 3 });
    const packet = this.#pickPacket(rng);
    if (packet) await this.#tap(packet, user, packet.phrase);
    if (sent.outcome === 'ok') await this.#tap({ id: sent.packet, to: [] }, rng.pick(this.#users), undefined);
    await this.#delete(user, account, rng);
  }

  // Deletes the account. A repeat gets 401 when an earlier request has begun the deletion, which ends the session.
  async #delete(user, account, rng) {
    for (let i = 0; i < LEAVE_TRIES_MAX && !this.#stopped; i++) {
      const asked = await this.#ask('delete', { user: user.id, name: account.username },
        () => this.#site.post('/account/delete', user.cookie, { ...account, give_up: '1' }));
      if (asked.outcome === 'ok') return;
      if (asked.outcome === 'refused' && (i === 0 || asked.status !== 401)) {
        this.#history.broken(`request ${asked.n}: the deletion of ${account.username} is refused (${asked.status})`);
      }
      if (asked.outcome === 'refused') return;
      await pause(rng.int(100, 500));
    }
  }

  async login(rng) {
    if (this.#accounts.length === 0) return;
    const account = rng.pick(this.#accounts);
    const logged = await this.#ask('login', { name: account.username },
      () => this.#site.post('/login', '', account), () => ({}));
    if (logged.outcome === 'refused') this.#history.blame('lost', undefined, `request ${logged.n}: ${account.username} is registered and can't log in`);
  }
}
