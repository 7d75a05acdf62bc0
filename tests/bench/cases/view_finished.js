// The page of a finished packet: the list of grabs, 50 rows.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 50;
const SECONDS = 3;
const SECONDS_QUICK = 1;

export default {
  name: 'view_finished',
  title: 'the page of a finished packet, 50 rows',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const fresh = async () => {
      const [id] = await grabs.packets(1, SHARES);
      await grabs.empty(id, SHARES);
      return id;
    };
    // Once the packet is settled, a process answers from its memory; before, Redis does.
    const id = await fresh();
    await grabs.site.drained();
    const viewers = grabs.file(grabs.users.slice(SHARES).map(({ cookie }) => cookie));
    const paths = grabs.file([`/p/${id}`]);
    const floor = await grabs.floorFor(`/p/${id}`, grabs.users.at(-1));
    const html = { cookies: viewers, paths, seconds, accept: 'text/html' };
    const { rows, ratio } = await rounds(bench, [
      { name: 'the page', load: () => grabs.load(us, html) },
      { name: 'the same as JSON', load: () => grabs.load(us, { ...html, accept: 'application/json' }) },
      { name: 'floor: the loop, as many bytes', load: () => grabs.load(floor, html) },
      { name: 'the page, before it is settled', load: async () => grabs.load(us, { ...html, paths: grabs.file([`/p/${await fresh()}`]) }) },
    ], (work) => grabs.withoutSettlement(work));
    return {
      rows,
      ratios: [
        bench.ratio('view_finished_cpu_vs_constant', ratio(0, 2, 'server µs'), '<= 1.6'),
        bench.ratio('view_finished_unsettled_cpu_vs_constant', ratio(3, 2, 'server µs'), '<= 1.6'),
      ],
      notes: [`The page has ${floor.bytes.toLocaleString('en-US')} bytes; the floor answers the very same ones.`],
    };
  },
};
