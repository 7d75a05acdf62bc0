// The pages that read a user's history from MySQL: records, wallet and home.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const READERS = 64;
const PACKETS = 60; // more than a page shows

export default {
  name: 'records',
  title: 'records, wallet and home',
  async run(bench) {
    const seconds = bench.size(3, 1);
    const grabs = await Grabs.open(bench);
    const { site } = grabs;
    const readers = grabs.users.slice(0, READERS);
    for (const id of await grabs.packets(PACKETS, READERS)) await grabs.empty(id, READERS);
    await site.drained();
    const { json } = await site.request('/records/received', { cookie: readers[0].cookie });
    if (json.count < PACKETS) throw new Error(`${json.count} records instead of ${PACKETS}`);
    const us = grabs.target('page');
    const cookies = grabs.file(readers.map(({ cookie }) => cookie));
    const look = (name, path, accept) => {
      const paths = grabs.file([path]);
      return { name, load: () => grabs.load(us, { cookies, paths, seconds, accept }) };
    };
    const { rows } = await rounds(bench, [
      look('received packets', '/records/received', 'text/html'),
      look('the same as JSON', '/records/received', 'application/json'),
      look('wallet', '/wallet', 'text/html'),
      look('home', '/', 'text/html'),
    ]);
    return { rows, notes: [`The records have ${json.items.length} rows and the year's totals.`] };
  },
};
