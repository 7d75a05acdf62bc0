// A winning grab: a share is left and the user has none. All targets run the same script on the same Redis.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const PEERS = ['lua', 'php', 'fcgi8', 'fcgi16'];
const FLOORS = ['constant', 'return'];
const SECONDS = 4;
const SECONDS_QUICK = 1;

export default {
  name: 'grab_win',
  title: 'winning grabs, 64 connections',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const racers = [grabs.target()];
    for (const kind of PEERS) {
      const peer = await grabs.peer(kind);
      await grabs.mustDoTheSame(peer);
      racers.push(peer);
    }
    const floors = [];
    for (const kind of FLOORS) floors.push(await grabs.peer(kind, { answer: '{"result":"grabbed","share_no":1234,"amount_fen":1}\n' }));

    await grabs.withoutSettlement(async () => { for (const racer of racers) await grabs.warmUp(racer); });
    // Floors decide nothing: any packet will do, repeatedly.
    const any = grabs.file([`POST /p/${(await grabs.packets(1))[0]}/open`]);
    const { rows, ratio } = await rounds(bench, [
      ...racers.map((racer) => ({ name: racer.name, load: () => grabs.win(racer, seconds) })),
      ...floors.map((floor) => ({ name: floor.name, load: () => grabs.load(floor, { paths: any, seconds }) })),
    ], (work) => grabs.withoutSettlement(work));
    await grabs.site.mustBeSound();

    const [LUA, PHP, FCGI8, FCGI16] = [1, 2, 3, 4];
    const cpu = (other) => ratio(0, other, 'server µs');
    const rate = (other) => ratio(0, other, '/s');
    return {
      rows,
      ratios: [
        bench.ratio('grab_win_cpu_vs_nginx_lua', cpu(LUA), '<= 0.75'),
        bench.ratio('grab_win_cpu_vs_php_fpm', cpu(PHP), '<= 0.35'),
        bench.ratio('grab_win_cpu_vs_libfcgi', Math.max(cpu(FCGI8), cpu(FCGI16)), '<= 0.45'),
        bench.ratio('grab_win_rate_vs_nginx_lua', rate(LUA), '>= 1.2'),
        bench.ratio('grab_win_rate_vs_php_fpm', rate(PHP), '>= 2'),
        bench.ratio('grab_win_rate_vs_libfcgi', Math.min(rate(FCGI8), rate(FCGI16)), '>= 1.7'),
      ],
      notes: ['Every answer of a load was a share: what is taken in Redis was counted after each, and the audit of all of it was clean.'],
    };
  },
};
