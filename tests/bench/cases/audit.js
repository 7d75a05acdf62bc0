// The whole audit of settled and closed packets: time and memory.
import { join } from 'node:path';
import { makeWorld, startStores, timed, watched } from '../stores.js';

const SECONDS_MAX = 60;
const ROUNDS_MAX = 3; // a million rows are steady, and take a while to make

export async function auditOnce(site) {
  let one;
  const servers = await timed(site, ['mariadb'], async () => {
    one = await watched(site.binary, ['audit', '--json'], { HB_CONFIG: join(site.var, 'hongbao.conf') });
  });
  if (one.code !== 0 || !JSON.parse(one.stdout).ok) throw new Error(`the audit says: ${one.code} ${one.stdout}`);
  return { seconds: one.seconds, 'CPU s': one.cpu, 'MariaDB CPU s': servers.mariadb, 'peak KiB': one.peak_kib };
}

export default {
  name: 'audit',
  title: 'hongbao audit',
  async run(bench) {
    const grabs = bench.quick ? 20_000 : 1_000_000;
    const rows = [];
    const look = async (count, shares) => {
      const site = await startStores(bench);
      await makeWorld(bench, site, 'closed', count, shares);
      const found = [];
      for (let round = 0; round < Math.min(bench.rounds, ROUNDS_MAX); round++) found.push(await auditOnce(site));
      await site.down();
      rows.push({ grabs: count, packets: Math.ceil(count / shares), ...bench.medians(found) });
      return rows.at(-1);
    };
    const small = await look(grabs / 20, 100);
    const hundreds = await look(grabs, 100);
    const ones = await look(grabs, 1);
    return { rows, ratios: [
      bench.ratio('audit_seconds_shares_of_hundred', hundreds.seconds, `<= ${SECONDS_MAX}`),
      bench.ratio('audit_seconds_packets_of_one', ones.seconds, `<= ${SECONDS_MAX}`),
      bench.ratio('audit_memory_growth', Math.max(hundreds['peak KiB'], ones['peak KiB']) / small['peak KiB'], '<= 1.15'),
    ] };
  },
};
