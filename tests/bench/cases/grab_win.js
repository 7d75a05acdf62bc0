// A winning grab: a share is left and the user has none. All targets run the same function on the same Redis.
import { Grabs, SPREAD, USERS } from '../grabs.js';
import { rounds } from '../rounds.js';

const PEERS = ['lua', 'php', 'fcgi8', 'fcgi16'];
const SPREAD_TOO = 2; // the site and the first peer

export default {
  name: 'grab_win',
  title: 'winning grabs, 64 connections',
  async run(bench) {
    const seconds = bench.size(4, 1);
    const grabs = await Grabs.open(bench);
    const racers = [grabs.target()];
    for (const kind of PEERS) {
      const peer = await grabs.peer(kind);
      await grabs.mustDoTheSame(peer);
      racers.push(peer);
    }
    const floor = await grabs.peer('constant', { answer: '{"result":"grabbed","share_no":1234,"amount_fen":1,"left_count":1234}\n' });
    await grabs.withoutSettlement(async () => { for (const racer of racers) await grabs.warmUp(racer); });
    // The floor decides nothing: any packet will do, repeatedly.
    const any = grabs.file([`POST /p/${(await grabs.packets(1))[0]}/open`]);
    const { rows, ratio } = await rounds(bench, [
      ...racers.map((racer) => ({ name: racer.name, load: () => grabs.win(racer, seconds) })),
      ...racers.slice(0, SPREAD_TOO).map((racer) => ({ name: `${racer.name}, ${SPREAD} packets`, load: () => grabs.winSpread(racer, seconds) })),
      { name: floor.name, load: () => grabs.load(floor, { paths: any, seconds }) },
    ], { around: (work) => grabs.withoutSettlement(work) });
    await grabs.site.mustBeSound();

    const [LUA, PHP, FCGI8, FCGI16] = [1, 2, 3, 4];
    const cpu = (peer) => ratio(0, peer, 'server µs');
    const rate = (peer) => ratio(0, peer, '/s');
    return {
      rows,
      ratios: [
        bench.ratio('grab_win_cpu_vs_nginx_lua', cpu(LUA), '<= 0.55'),
        bench.ratio('grab_win_cpu_vs_php_fpm', cpu(PHP), '<= 0.18'),
        bench.ratio('grab_win_cpu_vs_libfcgi', Math.max(cpu(FCGI8), cpu(FCGI16)), '<= 0.28'),
        bench.ratio('grab_win_rate_vs_nginx_lua', rate(LUA), '>= 1.7'),
        bench.ratio('grab_win_rate_vs_php_fpm', rate(PHP), '>= 4'),
        bench.ratio('grab_win_rate_vs_libfcgi', Math.min(rate(FCGI8), rate(FCGI16)), '>= 3'),
      ],
      notes: [
        'Every answer of a load was a share: what is taken in Redis was counted after each, and the audit of all of it was clean.',
        `All grabs of a load are on one packet until ${USERS.toLocaleString('en-US')} users have a share of it; those of the rows with ${SPREAD} packets are on all of these in turn.`,
      ],
    };
  },
};
