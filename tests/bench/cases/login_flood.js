// A flood of wrong logins from 1,000 addresses, with the limits on: what a refused guess costs, compared with one that is
// hashed. A refused guess must cost a small part of that, or the limits would not protect the machine.
import http from 'node:http';
import { measured } from '../load.js';

const ADDRESSES = 1000;
const GUESSES = 15; // of each address; nginx refuses an address beyond 20 at once
const GUESSES_QUICK = 3;
const AT_ONCE = 64;
const HASHED = 120; // below what the site allows at once
const NAMES = 5; // accounts under attack
const REFUSED = 429;
const WRONG = 422;

const address = (i) => `127.${1 + Math.floor(i / 250)}.${i % 250}.1`;

// Sends the guesses, AT_ONCE at a time: { requests, hashed, refused } with the columns of a load.
async function guesses(site, list) {
  const agent = new http.Agent({ keepAlive: false });
  const counts = { [WRONG]: 0, [REFUSED]: 0 };
  const took = [];
  const started = Date.now();
  const one = ({ from, username }) => new Promise((resolve, reject) => {
    const body = new URLSearchParams({ username, password: 'a wrong password' }).toString();
    const began = performance.now();
    const request = http.request(`${site.url}/login`, { method: 'POST', localAddress: from, agent, headers: { accept: 'application/json',
      'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) } }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        took.push(performance.now() - began);
        counts[answer.statusCode] = (counts[answer.statusCode] ?? 0) + 1;
        resolve();
      });
    });
    request.on('error', reject);
    request.end(body);
  });
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (next < list.length) await one(list[next++]);
  }));
  const strange = Object.keys(counts).filter((status) => ![WRONG, REFUSED].includes(Number(status)));
  if (strange.length > 0) throw new Error(`logins were answered ${strange.join(', ')}`);
  took.sort((a, b) => a - b);
  const at = (part) => took[Math.min(took.length - 1, Math.floor(took.length * part))];
  return { requests: list.length, seconds: (Date.now() - started) / 1000, hashed: counts[WRONG], refused: counts[REFUSED],
    p50: at(0.5), p99: at(0.99), p999: at(0.999) };
}

export default {
  name: 'login_flood',
  title: 'a flood of wrong logins from 1,000 addresses, limits on',
  async run(bench) {
    const each = bench.quick ? GUESSES_QUICK : GUESSES;
    const site = await bench.site({ own: true, settings: { HB_LIMITS: 'on' } });
    const load = async (list) => {
      const { result, row } = await measured(site.groups('auth'), () => guesses(site, list));
      return { result, row, us: row['server µs'] * result.requests };
    };
    const hashed = await load(Array.from({ length: HASHED }, (_, i) => ({ from: address(i), username: `nobody${i}` })));
    if (hashed.result.hashed !== HASHED) throw new Error(`${hashed.result.refused} of ${HASHED} logins were refused`);
    const perHash = hashed.us / HASHED;
    const flood = await load(Array.from({ length: ADDRESSES * each }, (_, i) => ({ from: address(i % ADDRESSES), username: `victim${i % NAMES}` })));
    const perRefused = (flood.us - flood.result.hashed * perHash) / flood.result.refused;
    const rows = [{ load: 'hashed', requests: HASHED, hashed: HASHED, refused: 0, ...hashed.row, 'µs a guess': perHash },
      { load: 'flood', requests: flood.result.requests, hashed: flood.result.hashed, refused: flood.result.refused, ...flood.row, 'µs a guess': perRefused }];
    return { rows, ratios: [
      bench.ratio('login_flood_refused_per_hash', perRefused / perHash, '<= 0.05'),
      bench.ratio('login_flood_guess_per_hash', flood.us / flood.result.requests / perHash, '<= 0.1'),
    ] };
  },
};
