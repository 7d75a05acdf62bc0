// Sending a packet: one transaction in MySQL, then Redis.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const CONNECTIONS = 8; // more would only wait: one process sends one packet at a time
const KINDS = {
  'lucky, 10 shares': 'kind=lucky&amount=0.10&count=10',
  'lucky, 100 shares': 'kind=lucky&amount=1.00&count=100',
};

export default {
  name: 'send',
  title: 'sending packets, 8 connections',
  async run(bench) {
    const seconds = bench.size(3, 1);
    const grabs = await Grabs.open(bench);
    const { site } = grabs;
    const us = grabs.target('page');
    let run = 0;
    const count = async () => Number((await site.sql('SELECT COUNT(*) FROM packet'))[0][0]);
    const send = async (fields) => {
      const paths = grabs.file([`POST /send ${fields}&greeting=hi&request_key=bench-${run++}-{n}`]);
      return grabs.load(us, { paths, seconds, count, connections: CONNECTIONS });
    };
    const { rows } = await rounds(bench, Object.entries(KINDS).map(([name, fields]) => ({ name, load: () => send(fields) })));
    await site.mustBeSound();
    return { rows, notes: ['Each was a packet of its own in MySQL, and the audit afterwards was clean.'] };
  },
};
