// A million credits by `hongbao money import`; then the audit of them, and the wallet of a user who has many.
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';
import { timed, watched } from '../stores.js';

const RATE_MIN = 5000;
const MIB_MAX = 64; // of which the references of the file, to find one that stands twice
const GROWTH_MAX = '<= 1.15';
const READERS = 16; // connections of a load on the page pool
const PART = 10_000;

// The file of an import: the row of each number from first to last credits 1.00 to the user whom nameOf names.
function rowsWrite(file, first, last, nameOf) {
  const out = openSync(file, 'w');
  writeSync(out, 'username,amount,reference,memo\r\n');
  for (let from = first; from <= last; from += PART) {
    const numbers = Array.from({ length: Math.min(PART, last - from + 1) }, (_, i) => from + i);
    writeSync(out, numbers.map((n) => `${nameOf(n)},1.00,B-${n},bonus\r\n`).join(''));
  }
  closeSync(out);
}

const command = (site, ...args) => watched(site.binary, args, { HB_CONFIG: join(site.var, 'hongbao.conf') });

// Credits the rows from first to last; made: how many of them were not there before.
async function importRows(site, first, last, made, nameOf) {
  const file = join(site.var, 'tmp/credits.csv');
  rowsWrite(file, first, last, nameOf);
  let one;
  const servers = await timed(site, ['mariadb'], async () => {
    one = await command(site, 'money', 'import', file, '--channel', 'payroll');
  });
  if (one.code !== 0 || !one.stdout.startsWith(`${made} made`)) throw new Error(`the import says: ${one.code} ${one.stdout}`);
  return { work: 'import', credits: made, seconds: one.seconds, '/s': made / one.seconds, 'CPU s': one.cpu, 'MariaDB CPU s': servers.mariadb,
    'peak KiB': one.peak_kib };
}

async function auditOnce(site, credits) {
  let one;
  const servers = await timed(site, ['mariadb'], async () => { one = await command(site, 'audit', '--json'); });
  if (one.code !== 0 || !JSON.parse(one.stdout).ok) throw new Error(`the audit says: ${one.code} ${one.stdout}`);
  return { work: 'audit', credits, seconds: one.seconds, '/s': credits / one.seconds, 'CPU s': one.cpu, 'MariaDB CPU s': servers.mariadb,
    'peak KiB': one.peak_kib };
}

// The first page of the wallet, and one in the middle of its statement, in turn, of users with so many credits.
function wallets(bench, grabs, users) {
  const us = grabs.target('page');
  return rounds(bench, users.map(({ cookie, credits }) => ({ name: `wallet of ${credits} credits`, load: async () => {
    const { status, json } = await grabs.site.request('/wallet', { cookie });
    if (status !== 200 || !json.next) throw new Error(`/wallet: ${status}`);
    const row = await grabs.load(us, { cookies: grabs.file([cookie]), paths: grabs.file(['/wallet', `/wallet?before=${encodeURIComponent(json.next)}`]),
      seconds: bench.size(3, 1), connections: READERS, accept: 'text/html' });
    return { credits, 'µs': row['server µs'], 'nginx µs': row['nginx µs'], 'app µs': row['app µs'], 'Redis µs': row['redis µs'], 'MariaDB µs': row['mariadb µs'] };
  } })));
}

export default {
  name: 'credits',
  title: 'hongbao money import: credits of a channel',
  async run(bench) {
    const all = bench.size(1_000_000, 20_000), few = all / 10, one = all / 10, people = bench.size(10_000, 200);
    const grabs = await Grabs.open(bench, { site: await bench.site({ own: true }), users: people });
    const { site, users } = grabs;
    await site.hongbao('money', 'channel', 'payroll');
    const nameOf = (n) => users[n % (people - 1) + 1].name; // the first user gets none of these
    const rows = [await importRows(site, 1, few, few, nameOf), await auditOnce(site, few)];
    rows.push(await importRows(site, 1, all, all - few, nameOf), await auditOnce(site, all));
    await importRows(site, all + 1, all + one, one, () => users[0].name);
    await site.sql('ANALYZE TABLE transfer, external_transfer');
    const pages = await wallets(bench, grabs, [{ ...users[1], credits: Math.floor(all / (people - 1)) }, { ...users[0], credits: one }]);
    await site.mustBeSound();
    return { rows, details: pages.rows, ratios: [
      bench.ratio('credits_per_second', rows[2]['/s'], `>= ${RATE_MIN}`),
      bench.ratio('credits_import_peak_mib', rows[2]['peak KiB'] / 1024, `<= ${MIB_MAX}`),
      bench.ratio('credits_audit_memory_growth', rows[3]['peak KiB'] / rows[1]['peak KiB'], GROWTH_MAX),
      bench.ratio('credits_wallet_growth', pages.ratio(1, 0, 'µs'), GROWTH_MAX),
    ], notes: ['The import reads the file twice: it checks every row before it makes the first. The second import finds the credits of the first.'] };
  },
};
