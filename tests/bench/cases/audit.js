// The whole audit of settled and closed packets: time and memory.
import { join } from 'node:path';
import { makeWorld, startStores, timed, watched } from '../stores.js';

const SECONDS_MAX = 60;
const ROUNDS = 3; // few rounds: the time for a million rows varies little, and making them takes long
const MADE_MS = Date.UTC(2025, 5, 16);

async function auditOnce(site) {
  let one;
  const servers = await timed(site, ['mariadb'], async () => {
    one = await watched(site.binary, ['audit', '--json'], { HB_CONFIG: join(site.var, 'hongbao.conf') });
  });
  if (one.code !== 0 || !JSON.parse(one.stdout).ok) throw new Error(`the audit says: ${one.code} ${one.stdout}`);
  return { seconds: one.seconds, 'CPU s': one.cpu, 'MariaDB CPU s': servers.mariadb, 'peak KiB': one.peak_kib };
}

// Makes so many grabs of packets of so many shares, and returns their row of the table.
async function auditWorld(bench, grabs, shares) {
  const site = await startStores(bench);
  await makeWorld(bench, site, 'closed', grabs / shares, shares, MADE_MS);
  const found = [];
  for (let round = 0; round < ROUNDS; round++) found.push(await auditOnce(site));
  await site.down();
  return { grabs, packets: grabs / shares, ...bench.medians(found) };
}

export default {
  name: 'audit',
  title: 'hongbao audit',
  async run(bench) {
    const grabs = bench.size(1_000_000, 20_000);
    const rows = [];
    for (const [count, shares] of [[grabs / 20, 100], [grabs, 100], [grabs, 1]]) rows.push(await auditWorld(bench, count, shares));
    const [small, hundreds, ones] = rows;
    return { rows, ratios: [
      bench.ratio('audit_seconds_shares_of_hundred', hundreds.seconds, `<= ${SECONDS_MAX}`),
      bench.ratio('audit_seconds_packets_of_one', ones.seconds, `<= ${SECONDS_MAX}`),
      bench.ratio('audit_memory_growth', Math.max(hundreds['peak KiB'], ones['peak KiB']) / small['peak KiB'], '<= 1.15'),
    ] };
  },
};
