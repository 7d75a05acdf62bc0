// The page of a packet, for users without a share: the envelope of an open one, and a finished one with its list of grabs.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 50;

export default {
  name: 'view',
  title: `the page of a packet, open or finished with ${SHARES} rows`,
  async run(bench) {
    const seconds = bench.size(3, 1);
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const [open] = await grabs.packets(1, SHARES);
    const settled = await grabs.emptied(SHARES);
    await grabs.site.drained(); // then a process answers from its memory; before, Redis answers
    const viewers = grabs.file(grabs.users.slice(SHARES).map(({ cookie }) => cookie));
    const look = (target, id, accept = 'text/html') => grabs.load(target, { cookies: viewers, paths: grabs.file([`/p/${id}`]), seconds, accept });
    const openFloor = await grabs.floorFor(`/p/${open}`, grabs.users.at(-1));
    const floor = await grabs.floorFor(`/p/${settled}`, grabs.users.at(-1));
    const { rows, ratio } = await rounds(bench, [
      { name: 'open', load: () => look(us, open) },
      { name: 'open, as JSON', load: () => look(us, open, 'application/json') },
      { name: 'open, floor: the loop, the same bytes', load: () => look(openFloor, open) },
      { name: 'finished', load: () => look(us, settled) },
      { name: 'finished, as JSON', load: () => look(us, settled, 'application/json') },
      { name: 'finished, floor: the loop, the same bytes', load: () => look(floor, settled) },
      { name: 'finished, before it is settled', load: async () => look(us, await grabs.emptied(SHARES)) },
    ], { around: (work) => grabs.withoutSettlement(work) });
    return {
      rows,
      ratios: [
        bench.ratio('view_finished_cpu_vs_constant', ratio(3, 5, 'server µs'), '<= 1.6'),
        bench.ratio('view_finished_unsettled_cpu_vs_constant', ratio(6, 5, 'server µs'), '<= 1.6'),
      ],
      notes: [`The finished page has ${floor.bytes.toLocaleString('en-US')} bytes.`],
    };
  },
};
