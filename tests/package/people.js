// People of a site on a machine (machine.js), and what they see of their money.
import assert from 'node:assert/strict';
import { poll } from '../e2e/support/poll.js';

export const HOST = 'hongbao.example';
const PASSWORD = 'correct-horse-9';

// All amounts in an answer, { where: fen }.
function amounts(value, where = '') {
  if (value === null || typeof value !== 'object') return where.endsWith('_fen') ? { [where]: value } : {};
  return Object.assign({}, ...Object.entries(value).map(([key, part]) => amounts(part, `${where}.${key}`)));
}

export class People {
  #machine;

  constructor(machine) {
    this.#machine = machine;
  }

  // What the site answers the person to a GET, or to a POST of these fields, as JSON.
  async ask(name, path, ...fields) {
    return JSON.parse(await this.#machine.run('curl', '-sSk', '--resolve', `${HOST}:443:127.0.0.1`, '-H', 'Accept: application/json',
      '-b', `/root/${name}.jar`, '-c', `/root/${name}.jar`, ...fields.flatMap((field) => ['--data-urlencode', field]), `https://${HOST}${path}`));
  }

  // Waits until the site is ready.
  ready() {
    return poll('the site is ready', async () => (await this.#machine.try('curl', '-sk', '--resolve', `${HOST}:443:127.0.0.1`, '-o', '/dev/null',
      '-w', '%{http_code}', `https://${HOST}/readyz`)) === '200');
  }

  async register(...names) {
    for (const name of names) {
      const made = await this.ask(name, '/register', `username=${name}`, `nickname=${name}`, `password=${PASSWORD}`);
      assert.equal(made.username, name, JSON.stringify(made));
    }
  }

  async login(...names) {
    for (const name of names) await this.ask(name, '/login', `username=${name}`, `password=${PASSWORD}`);
  }

  // Opens the packet as a new user while nothing settles, restarts the unit of Redis, and waits until the share is in the
  // wallet: what Redis has written to its disk is all that knows of it.
  async keepsUnsettled(unit, name, packet) {
    await this.register(name);
    await this.#machine.run('systemctl', 'stop', 'hongbao-settle');
    const amount = await this.open(name, packet);
    await this.#machine.run('systemctl', 'restart', unit);
    await this.#machine.run('systemctl', 'start', 'hongbao-settle');
    await this.ready();
    await poll('the share is in the wallet', async () => (await this.ask(name, '/wallet')).balance_fen === amount);
  }

  // Sends a packet; returns its path.
  async send(name, key, ...fields) {
    const sent = await this.ask(name, '/send', 'greeting=x', `request_key=${key}`, ...fields);
    assert.ok(sent.url, JSON.stringify(sent));
    return new URL(sent.url).pathname;
  }

  // Opens the packet and returns the amount in fen.
  async open(name, packet, ...fields) {
    const opened = await this.ask(name, `${packet}/open`, 'x=', ...fields);
    assert.equal(opened.result, 'grabbed', JSON.stringify(opened));
    return opened.amount_fen;
  }

  // What these people see in their wallets, their records and the packets: { who and where: fen }.
  async money(names, packets) {
    const found = {};
    for (const name of names) {
      for (const path of ['/wallet', '/records/received', '/records/sent', ...packets]) {
        Object.assign(found, amounts(await this.ask(name, path), `${name} ${path}`));
      }
    }
    return found;
  }
}
