// The envelope: the page of an open packet, for a user without a share.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const SHARES = 100;
const SECONDS = 3;
const SECONDS_QUICK = 1;

export default {
  name: 'view_open',
  title: 'the page of an open packet',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const [id] = await grabs.packets(1, SHARES);
    const paths = grabs.file([`/p/${id}`]);
    const floor = await grabs.floorFor(`/p/${id}`, grabs.users.at(-1));
    const { rows } = await rounds(bench, [
      { name: 'the envelope', load: () => grabs.load(us, { paths, seconds, accept: 'text/html' }) },
      { name: 'the same as JSON', load: () => grabs.load(us, { paths, seconds }) },
      { name: 'floor: the loop, as many bytes', load: () => grabs.load(floor, { paths, seconds, accept: 'text/html' }) },
    ], (work) => grabs.withoutSettlement(work));
    return { rows, ratios: [] };
  },
};
