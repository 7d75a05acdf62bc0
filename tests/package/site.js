// The site on a machine (machine.js): its people and their money, its units, the doctor's findings, and visitors who
// use it while something happens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { poll } from '../support/poll.js';
import { ROOT } from './machine.js';

export const HOST = 'hongbao.example';
export const SETUP = ['hongbao', 'setup', '--non-interactive', '--host', HOST, '--self-signed', '--demo'];
export const NOTHING_WRONG = /^0 wrong, 0 not checked$/m;
// A certificate for the site, which it has signed itself, and its key; variables of the shell name the files.
const SIGN = `mkdir -p $(dirname $file) $(dirname $key)
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 90 -subj /CN=${HOST} -addext subjectAltName=DNS:${HOST} \\
    -keyout $key -out $file 2>/dev/null`;
const PASSWORD = 'correct-horse-9';
const REQUESTS_MIN = 10000;

// All amounts in an answer, { where: fen }.
function amounts(value, where = '') {
  if (value === null || typeof value !== 'object') return where.endsWith('_fen') ? { [where]: value } : {};
  return Object.assign({}, ...Object.entries(value).map(([key, part]) => amounts(part, `${where}.${key}`)));
}

export class Site {
  #address;

  // address: where nginx listens, also for visitors on the machine.
  constructor(machine, address = '127.0.0.1') {
    this.machine = machine;
    this.#address = address;
  }

  // curl in the machine; a path of the site and options.
  curl(path, ...options) {
    const there = [443, 80].flatMap((port) => ['--resolve', `${HOST}:${port}:${this.#address}`]);
    return this.machine.run('curl', '-sSk', ...there, ...options, `https://${HOST}${path}`);
  }

  status(path, ...options) {
    return this.curl(path, '-o', '/dev/null', '-w', '%{http_code}', ...options);
  }

  ready() {
    return poll('the site is ready', async () => await this.status('/readyz').catch(() => '') === '200');
  }

  // Options by which curl acts as the person with this name.
  as(name) {
    return ['-b', `/root/${name}.jar`, '-c', `/root/${name}.jar`];
  }

  // The site's JSON answer to the person's GET, or to a POST of these fields.
  async ask(name, path, ...fields) {
    return JSON.parse(await this.curl(path, '-H', 'Accept: application/json', ...this.as(name),
      ...fields.flatMap((field) => ['--data-urlencode', field])));
  }

  async register(...names) {
    for (const name of names) {
      const made = await this.ask(name, '/register', `username=${name}`, `nickname=${name}`, `password=${PASSWORD}`);
      assert.equal(made.username, name, JSON.stringify(made));
    }
  }

  async login(...names) {
    for (const name of names) {
      const there = await this.ask(name, '/login', `username=${name}`, `password=${PASSWORD}`);
      assert.equal(there.username, name, JSON.stringify(there));
    }
  }

  deposit(name, yuan, key = 'first-deposit') {
    return this.ask(name, '/wallet/deposit', `amount=${yuan}`, `request_key=${key}`);
  }

  async balance(name) {
    return (await this.ask(name, '/wallet')).balance_fen;
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

  // What the person has of the packet; undefined without a share.
  async share(name, packet) {
    return (await this.ask(name, packet)).mine?.amount_fen;
  }

  // Opens the packet, and waits until the share is settled.
  async openSettled(name, packet) {
    await this.open(name, packet);
    await poll(`the grab of ${name} is settled`, async () => (await this.ask(name, packet)).mine?.settled);
  }

  // The amounts that these people see in their wallets, their records and the packets: { who and where: fen }.
  async money(names, packets) {
    const found = {};
    for (const name of names) {
      for (const path of ['/wallet', '/records/received', '/records/sent', ...packets]) {
        Object.assign(found, amounts(await this.ask(name, path), `${name} ${path}`));
      }
    }
    return found;
  }

  // Checks that these people still see everything they saw before; there may be more.
  async hasStill(seen, names, packets) {
    const now = await this.money(names, packets);
    assert.deepEqual(Object.fromEntries(Object.keys(seen).map((where) => [where, now[where]])), seen);
  }

  // Opens the packets as a new user while nothing settles; returns the sum in fen. fields: of the last packet.
  async openUnsettled(name, packets, ...fields) {
    await this.register(name);
    await this.machine.run('systemctl', 'stop', 'hongbao-settle');
    let sum = 0;
    for (const packet of packets) sum += await this.open(name, packet, ...(packet === packets.at(-1) ? fields : []));
    assert.equal(await this.balance(name), 0);
    return sum;
  }

  // Waits until the person has just this in the wallet.
  has(name, fen) {
    return poll(`the wallet of ${name} has ${fen} fen`, async () => await this.balance(name) === fen);
  }

  // Opens the packet while nothing settles and restarts the unit of Redis: only what Redis has written to its disk
  // still knows of the share.
  async keepsUnsettled(unit, packet) {
    const sum = await this.openUnsettled('late', [packet]);
    await this.machine.run('systemctl', 'restart', unit);
    await this.machine.run('systemctl', 'start', 'hongbao-settle');
    await this.ready();
    await this.has('late', sum);
  }

  // The doctor's report as JSON: { ok, wrong: [{ name, text, mend }], unchecked }.
  async doctor() {
    return JSON.parse(await this.machine.try('hongbao', 'doctor', '--json'));
  }

  async nothingIsWrong() {
    assert.match(await this.machine.try('hongbao', 'doctor'), NOTHING_WRONG);
  }

  // Waits until the doctor finds nothing.
  async nothingIsWrongSoon(pattern = NOTHING_WRONG) {
    let said;
    const look = async () => { said = await this.machine.try('hongbao', 'doctor'); return pattern.test(said); };
    await poll('nothing is wrong', look).catch(({ message }) => assert.fail(`${message}; the doctor says:\n${said}`));
  }

  async audited() {
    assert.match(await this.machine.run('hongbao', 'audit'), /^I1 +ok[\s\S]*clean$/);
  }

  // The doctor and the audit find nothing.
  async isRight() {
    await this.machine.run('hongbao', 'doctor');
    await this.machine.run('hongbao', 'audit');
  }

  // Makes a certificate and its key in these files of the machine, which trusts it.
  async sign(file, key) {
    await this.machine.shell(`file=${file} key=${key}\n${SIGN}`);
    await this.trust(file);
  }

  trust(file) {
    return this.machine.shell(`cp ${file} /usr/local/share/ca-certificates/site.crt && update-ca-certificates >/dev/null 2>&1`);
  }

  async units() {
    const lines = (await this.machine.run('systemctl', 'list-units', '--plain', '--no-legend', 'hongbao-*.service')).split('\n').filter(Boolean);
    return lines.map((line) => line.split(/\s+/)).map(([name, , state]) => ({ name, state }));
  }

  allRun() {
    return poll('all units run', async () => {
      const all = await this.units();
      return all.length >= 6 && all.every(({ state }) => state === 'active');
    });
  }

  // Checks that the picked files of the reference exist with the mode and owner of their row; returns their paths.
  async hasFiles(pick) {
    const rows = [...readFileSync(join(ROOT, 'docs/reference/files.md'), 'utf8').matchAll(/^\| `(\/[^`]+)` \| ([^|]+) \|/gm)]
      .filter(([, path]) => pick(path));
    for (const [, path, what] of rows) {
      const [found, owned] = (await this.machine.run('stat', '-c', '%F\n%a %U:%G', path)).split('\n');
      if (/^\d{3} /.test(what)) assert.equal(owned, what, path);
      else assert.equal(found === 'symbolic link', what === 'link', path);
    }
    return rows.map(([, path]) => path);
  }

  // Calls the function while visitors, whom hongbao demo has made, open the packet and look at the paths; returns the
  // errors, { what: count }.
  underLoad(packet, work, ...paths) {
    const users = join(this.machine.folder, 'root/users.tsv');
    return whileLoaded(this.machine.spawn(process.execPath, join(ROOT, 'tests/package/load.js'), HOST, packet, users, ...paths), work);
  }

  // No visitor sees an error meanwhile.
  async losesNothing(...load) {
    assert.deepEqual(await this.underLoad(...load), {});
  }

  // Purges the package, with the answer "delete the money, too"; checks that nothing is left on the machine, except in
  // these folders.
  async purgesAll(...kept) {
    await this.machine.shell("echo 'hongbao hongbao/drop-money boolean true' | debconf-set-selections; apt-get purge -y hongbao");
    assert.doesNotMatch(await this.machine.run('mariadb', '-N', '-e', 'SHOW DATABASES; SELECT user FROM mysql.user'), /hongbao/);
    assert.doesNotMatch(await this.machine.run('cat', '/etc/passwd', '/etc/group'), /hongbao/);
    const others = ['/proc', '/root', '/var/log/journal', '/var/cache/man', ...kept].map((path) => `-not -path '${path}/*'`);
    assert.equal(await this.machine.shell(`find / -xdev -name '*hongbao*' ${others.join(' ')}`), '');
  }
}

// Calls the function while load.js runs until there were REQUESTS_MIN requests, and returns its errors.
export async function whileLoaded(load, work) {
  const lines = createInterface({ input: load.stdout })[Symbol.asyncIterator]();
  await lines.next(); // "begun": the load asks for no end before REQUESTS_MIN
  await work().finally(() => load.kill('SIGTERM'));
  const { value } = await lines.next();
  await once(load, 'exit');
  const { requests, errors } = JSON.parse(value);
  assert.ok(requests >= REQUESTS_MIN, `${requests} requests`);
  return errors;
}
