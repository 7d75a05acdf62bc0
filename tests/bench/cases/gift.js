// What a gift costs: the site beside the usual alternatives, on both cores and on one.
import { cpusOf, mustBePinned } from '../cpu.js';
import { FIGURES, Gifts, STEPS } from '../gifts.js';
import { SPREAD } from '../grabs.js';
import { rounds } from '../rounds.js';

const [FEW, MANY] = [5, 50];

// A gift as a row of the first table. alone: the same gift on one core.
function giftRow({ load, ...row }, alone) {
  const costs = [...STEPS, 'nginx', 'app', 'redis', 'mariadb', 'server'].map((name) => `${name} µs`);
  const figures = Object.fromEntries([...costs, 'result bytes'].map((name) => [name, row[name]]));
  return { load, 'gifts/s': row['/s'], 'on one core': alone['/s'], ...figures };
}

// The steps of a gift, each a row with the figures of one request.
function stepRows({ load, ...row }) {
  const figures = (step) => Object.fromEntries(FIGURES.map((name) => [name, row[`${step}: ${name}`]]));
  return STEPS.filter((step) => `${step}: /s` in row).map((step) => ({ load: `${load}: ${step}`, ...figures(step) }));
}

export default {
  name: 'gift',
  title: 'a whole gift: one send, then for each share a view, an open, a look at the result, and the settlement',
  async run(bench) {
    const [cpu, other] = cpusOf('self');
    if (other === undefined) throw new Error('this case needs two CPUs: one for the site, one for the load');
    const counts = { [FEW]: SPREAD * bench.size(4, 1), [MANY]: SPREAD };
    const places = [await Gifts.open(bench), await Gifts.open(bench, { cpu, other })];
    const loadsOf = (gifts, shares) => gifts.targets.map((target) => (
      { name: `${target.name}, ${shares} shares`, load: () => gifts.load(target, shares, counts[shares]) }));
    const { rows, ratio } = await rounds(bench, places.flatMap((gifts) => (
      [...loadsOf(gifts, FEW), ...loadsOf(gifts, MANY)])));
    for (const gifts of places) await gifts.mustBeSound();
    mustBePinned(places[1].grabs.site.processes(), cpu);

    const both = rows.slice(0, rows.length / 2), alone = rows.slice(rows.length / 2);
    const cost = (peer) => ratio(0, peer, 'server µs');
    const [PHP, FCGI, ROW_LOCK] = [1, 2, 3];
    return {
      rows: both.map((row, i) => giftRow(row, alone[i])),
      details: both.flatMap(stepRows),
      ratios: [
        bench.ratio('gift_of_5_cpu_vs_php_fpm', cost(PHP), '<= 0.3'),
        bench.ratio('gift_of_5_cpu_vs_libfcgi', cost(FCGI), '<= 0.5'),
        bench.ratio('gift_of_5_cpu_vs_mariadb', cost(ROW_LOCK), '<= 0.7'),
      ],
      notes: [
        'The first table has all of a gift, the second one request of each step, on both cores.',
        'After each load each share was a row, of another user, with all of the money. At the end the audit was clean, '
          + 'and all sums of the peers agreed.',
      ],
    };
  },
};
