// A winning grab of a packet with a phrase, named receivers and a scheduled opening, beside one without.
import { pause } from '../../chaos/deployment.js';
import { Grabs, packetsNeeded } from '../grabs.js';
import { rounds } from '../rounds.js';

const GUESTS = 100; // the most receivers that a packet can have
const PHRASE = 'open-sesame';
const OPENS_IN_MS = 3000;
const SECONDS = 4;
const SECONDS_QUICK = 1;

export default {
  name: 'grab_options',
  title: 'winning grabs of packets with conditions, beside those without',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const us = grabs.target();
    const guests = grabs.users.slice(0, GUESTS);
    const senders = grabs.users.slice(GUESTS);
    const cookies = grabs.file(guests.map(({ cookie }) => cookie));
    const to = guests.map(({ name }) => name).join(' ');
    const conditions = () => ({ to, phrase: PHRASE, opens_at: new Date(Date.now() + OPENS_IN_MS).toISOString() });
    // All guests of a packet come at once, packet after packet.
    const win = async ({ fields, body = '' }) => {
      const ids = await grabs.packets(packetsNeeded(grabs.rate(us), seconds, GUESTS), GUESTS, { senders, fields });
      if (fields) await pause(OPENS_IN_MS);
      const paths = grabs.file(ids.map((id) => `POST /p/${id}/open${body}`));
      return grabs.load(us, { cookies, paths, seconds, kind: 'every', count: () => grabs.taken(ids) });
    };
    await grabs.withoutSettlement(() => grabs.warmUp(us));
    const { rows, ratio } = await rounds(bench, [
      { name: 'without conditions', load: () => win({}) },
      { name: 'phrase, receivers, schedule', load: () => win({ fields: conditions, body: ` phrase=${PHRASE}` }) },
    ], (work) => grabs.withoutSettlement(work));
    await grabs.site.mustBeSound();
    return {
      rows,
      ratios: [bench.ratio('grab_options_cpu_vs_none', ratio(1, 0, 'server µs'), '<= 1.15')],
      notes: [`Each packet has ${GUESTS} shares, for ${GUESTS} users. Every answer of a load was a share.`],
    };
  },
};
