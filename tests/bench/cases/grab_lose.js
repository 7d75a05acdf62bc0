// A losing grab: every share is taken. Most requests for a popular packet are losing grabs.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 100;

export default {
  name: 'grab_lose',
  title: 'grabs of a packet that is empty, beside winning ones',
  async run(bench) {
    const seconds = bench.size(4, 1);
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const settled = await grabs.emptied(SHARES);
    await grabs.site.drained(); // then a process answers from its memory; before, the script answers
    const losers = grabs.file(grabs.users.slice(SHARES).map(({ cookie }) => cookie));
    const count = () => grabs.counter('hongbao_grabs_total{result="empty"}');
    const lose = (target, id, more) => grabs.load(target, { cookies: losers, paths: grabs.file([`POST /p/${id}/open`]), seconds, refused: true, ...more });
    const floor = await grabs.floorFor(`/p/${settled}/open`, grabs.users.at(-1), { wanted: 410, fields: {} });
    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const { rows, ratio } = await rounds(bench, [
      { name: 'winning', load: () => grabs.win(us, seconds) },
      { name: 'losing', load: () => lose(us, settled, { count }) },
      { name: 'losing, before it is settled', load: async () => lose(us, await grabs.emptied(SHARES), { count }) },
      { name: 'floor: the loop, the same answer', load: () => lose(floor, settled) },
    ], { around: (work) => grabs.withoutSettlement(work) });
    return {
      rows,
      ratios: [bench.ratio('grab_lose_cpu_vs_constant', ratio(1, 3, 'server µs'), '<= 1.2')],
      notes: [`Losing: 410, with a problem in JSON that says why; ${ratio(1, 0, '/s').toFixed(2)} of the rate of winning.`],
    };
  },
};
