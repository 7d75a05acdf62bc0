// Ten logins a second of people with addresses of their own, with the limits on: alone, and beside an attack from one
// address by 40 accounts, each of which makes four sets of recovery codes, a password and a token, again and again, as
// fast as nginx lets a session go on: faster, and the load itself would take the CPU on this machine from the logins.
import http from 'node:http';

const PASSWORD = 'a good password';
const ATTACKERS = 40;
const SETS = 4;
const ATTACKER_PAUSE_MS = 50;
const LOGINS_EACH_S = 10;
const SECONDS = 30;
const SECONDS_QUICK = 5;
const LOGINS_OF_ONE = 3; // each comes from another network
const LOGIN_SECONDS_MAX = 1;
const FROM_ATTACK = '127.200.0.1';
const HEADERS = { accept: 'application/json', 'content-type': 'application/x-www-form-urlencoded' };

const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

// Posts a form from the address: { status, ms }.
function post(site, agent, from, path, fields, cookie = '') {
  const body = new URLSearchParams(fields).toString();
  const begun = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { ...HEADERS, cookie, 'content-length': Buffer.byteLength(body) };
    const request = http.request(site.url + path, { method: 'POST', localAddress: from, agent, headers }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve({ status: answer.statusCode, ms: performance.now() - begun }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

// Users who have PASSWORD and a session.
async function people(site, count) {
  const username = `first${Date.now().toString(36)}`;
  const { status, text } = await site.request('/register', { fields: { username, nickname: '登录', password: PASSWORD } });
  if (status !== 201) throw new Error(`POST /register: ${status} ${text}`);
  const users = await site.users(count);
  await site.sql(`UPDATE user d JOIN user f ON f.username = '${username}' SET d.password_hash = f.password_hash WHERE d.password_hash IS NULL`);
  return users;
}

// Logs the users in, LOGINS_EACH_S of them a second: the times in milliseconds.
async function logins(site, users, seconds, network) {
  const agent = new http.Agent({ keepAlive: false });
  const begun = performance.now();
  const under = [];
  for (let i = 0; i < seconds * LOGINS_EACH_S; i++) {
    await sleep(Math.max(0, begun + i * 1000 / LOGINS_EACH_S - performance.now()));
    const from = `127.${network + Math.floor(i / 250)}.${i % 250}.1`;
    under.push(post(site, agent, from, '/login', { username: users[i % users.length].name, password: PASSWORD }));
  }
  const answers = await Promise.all(under);
  const refused = answers.filter(({ status }) => status !== 200);
  if (refused.length > 0) throw new Error(`${refused.length} of ${answers.length} logins were refused: ${refused[0].status}`);
  return answers.map(({ ms }) => ms).sort((a, b) => a - b);
}

// Attacks until it is told to end; returns { status: number of answers }.
function attack(site, attackers) {
  const agent = new http.Agent({ keepAlive: true });
  const counts = {};
  let ended = false;
  const forms = [...Array(SETS).fill(['/account/recovery', { password: PASSWORD }]),
    ['/account/password', { old_password: PASSWORD, new_password: PASSWORD }],
    ['/account/tokens', { name: 'x', scopes: 'read', days: '1', password: PASSWORD }]];
  const running = attackers.map(async ({ cookie }) => {
    while (!ended)
      for (const [path, fields] of forms) {
        const { status } = await post(site, agent, FROM_ATTACK, path, fields, cookie);
        counts[status] = (counts[status] ?? 0) + 1;
        await sleep(ATTACKER_PAUSE_MS);
      }
  });
  return async () => {
    ended = true;
    await Promise.all(running);
    return counts;
  };
}

const at = (times, part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
const rowOf = (load, times, refused) => ({ load, logins: times.length, 'p50 ms': at(times, 0.5), 'p99 ms': at(times, 0.99), refused });

export default {
  name: 'login_beside',
  title: 'ten logins a second beside an attack by 40 accounts of one address, limits on',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const site = await bench.site({ own: true, settings: { HB_LIMITS: 'on' } });
    const others = Math.ceil(seconds * LOGINS_EACH_S / LOGINS_OF_ONE);
    const all = await people(site, ATTACKERS + others);
    const users = all.slice(ATTACKERS);
    const alone = await logins(site, users, seconds, 1);
    const end = attack(site, all.slice(0, ATTACKERS));
    const beside = await logins(site, users, seconds, 100);
    const counts = await end();
    const strange = Object.keys(counts).filter((status) => !['200', '201', '204', '303', '422', '429'].includes(status));
    if (strange.length > 0) throw new Error(`the attack was answered ${JSON.stringify(counts)}`);
    return { rows: [rowOf('alone', alone, 0), rowOf('beside the attack', beside, counts[429] ?? 0)],
      ratios: [bench.ratio('login_beside_p99_s', at(beside, 0.99) / 1000 / LOGIN_SECONDS_MAX, '<= 1')] };
  },
};
