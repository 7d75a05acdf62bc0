// The records of a year, from MySQL: one page of them.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const READERS = 64;
const PACKETS = 60; // more than a page shows
const SECONDS = 3;
const SECONDS_QUICK = 1;

export default {
  name: 'records',
  title: 'the page of received packets',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const { site } = grabs;
    const readers = grabs.users.slice(0, READERS);
    for (const id of await grabs.packets(PACKETS, READERS)) await grabs.empty(id, READERS);
    await site.drained();
    const { json } = await site.request('/records/received', { cookie: readers[0].cookie });
    if (json.count < PACKETS) throw new Error(`${json.count} records instead of ${PACKETS}`);
    const us = grabs.target('page');
    const load = { cookies: grabs.file(readers.map(({ cookie }) => cookie)), paths: grabs.file(['/records/received']), seconds };
    const { rows } = await rounds(bench, [
      { name: 'the page', load: () => grabs.load(us, { ...load, accept: 'text/html' }) },
      { name: 'the same as JSON', load: () => grabs.load(us, load) },
    ]);
    return { rows, ratios: [], notes: [`${json.items.length} rows and the year's totals.`] };
  },
};
