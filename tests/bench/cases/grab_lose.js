// A losing grab: every share is taken. Most requests for a popular packet are losing grabs.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 100;
const SECONDS = 4;
const SECONDS_QUICK = 1;

export default {
  name: 'grab_lose',
  title: 'grabs of a packet that is empty, beside winning ones',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    // Once the packet is settled, a process answers from its memory; before, the script does.
    const [settled] = await grabs.packets(1, SHARES);
    await grabs.empty(settled, SHARES);
    await grabs.site.drained();
    const losers = grabs.file(grabs.users.slice(SHARES).map(({ cookie }) => cookie));
    const lose = (id) => grabs.load(us, { cookies: losers, paths: grabs.file([`POST /p/${id}/open`]), seconds, refused: true, count: empty });
    const loseFresh = async () => {
      const [id] = await grabs.packets(1, SHARES);
      await grabs.empty(id, SHARES);
      return lose(id);
    };
    const floor = await grabs.floorFor(`/p/${settled}/open`, grabs.users.at(-1), { wanted: 410, fields: {} });
    const constant = () => grabs.load(floor, { cookies: losers, paths: grabs.file([`POST /p/${settled}/open`]), seconds, refused: true });
    const empty = () => grabs.counter('hongbao_grabs_total{result="empty"}');
    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const { rows, ratio } = await rounds(bench, [
      { name: 'winning', load: () => grabs.win(us, seconds) },
      { name: 'losing', load: () => lose(settled) },
      { name: 'losing, before it is settled', load: loseFresh },
      { name: 'floor: the loop, the same answer', load: constant },
    ], (work) => grabs.withoutSettlement(work));
    return {
      rows,
      ratios: [
        bench.ratio('grab_lose_cpu_vs_constant', ratio(1, 3, 'server µs'), '<= 1.2'),
      ],
      notes: [`Losing: 410, with a problem in JSON that says why; ${ratio(1, 0, '/s').toFixed(2)} of the rate of winning.`],
    };
  },
};
