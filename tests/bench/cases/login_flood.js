// A flood of wrong logins from 1,000 addresses, with the limits on: what a refused guess costs, compared with one that is
// hashed. A refused guess must cost a small part of that, or the limits would not protect the machine.
import { measured } from '../load.js';
import { percentile } from '../stats.js';

const ADDRESSES = 1000;
const AT_ONCE = 64;
const HASHED = 120; // below what the site allows at once
const NAMES = 5; // accounts under attack
const REFUSED = 429;
const WRONG = 422;

const address = (i) => `127.${1 + Math.floor(i / 250)}.${i % 250}.1`;

// Sends guesses, AT_ONCE at a time: their columns, and us, the CPU time of all of them.
async function guess(site, count, nameOf) {
  const counts = { [WRONG]: 0, [REFUSED]: 0 };
  const { result, row } = await measured(site.groups('auth'), async () => {
    const started = performance.now();
    const took = [];
    let next = 0;
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (next < count) {
        const i = next++;
        const began = performance.now();
        const { status } = await site.request('/login', { from: address(i % ADDRESSES), fields: { username: nameOf(i), password: 'a wrong password' } });
        if (!(status in counts)) throw new Error(`a login was answered ${status}`);
        counts[status]++;
        took.push(performance.now() - began);
      }
    }));
    return { requests: count, seconds: (performance.now() - started) / 1000,
      p50: percentile(took, 0.5), p99: percentile(took, 0.99), p999: percentile(took, 0.999) };
  });
  return { us: row['server µs'] * result.requests, row: { requests: count, hashed: counts[WRONG], refused: counts[REFUSED], ...row } };
}

export default {
  name: 'login_flood',
  title: 'a flood of wrong logins from 1,000 addresses, limits on',
  async run(bench) {
    const site = await bench.site({ own: true, settings: { HB_LIMITS: 'on' } });
    const hashed = await guess(site, HASHED, (i) => `nobody${i}`);
    if (hashed.row.refused > 0) throw new Error(`${hashed.row.refused} of ${HASHED} logins were refused`);
    const perHash = hashed.us / HASHED;
    // nginx refuses an address beyond 20 at once.
    const flood = await guess(site, ADDRESSES * bench.size(15, 3), (i) => `victim${i % NAMES}`);
    const perRefused = (flood.us - flood.row.hashed * perHash) / flood.row.refused;
    return {
      rows: [{ load: 'hashed', ...hashed.row, 'µs a guess': perHash }, { load: 'flood', ...flood.row, 'µs a guess': perRefused }],
      ratios: [
        bench.ratio('login_flood_refused_per_hash', perRefused / perHash, '<= 0.05'),
        bench.ratio('login_flood_guess_per_hash', flood.us / flood.row.requests / perHash, '<= 0.1'),
      ],
    };
  },
};
