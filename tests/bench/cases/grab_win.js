// The grab that counts: a share is left, the visitor has none of it yet. Everybody asks the same Redis to run the same script.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Grabs } from '../grabs.js';
import { measured, mustBeClean, wrk } from '../load.js';

const PEERS = ['lua', 'php', 'fcgi8', 'fcgi16'];
const SECONDS = 4;
const SECONDS_QUICK = 1;
const BODY = '{"result":"grabbed","share_no":1234,"amount_fen":1}\n';
const ANSWER = `Status: 200 OK\r\nContent-Length: ${BODY.length}\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nVary: Accept\r\n\r\n${BODY}`;

// Floors decide nothing: any packet will do, again and again.
async function floorLoad(grabs, target, seconds, paths) {
  const found = await measured(target.groups(), () => wrk({ root: grabs.bench.root, url: target.url, kind: 'cycle', cookies: grabs.cookies, paths, seconds }));
  mustBeClean(target.name, found.result);
  return found;
}

export default {
  name: 'grab_win',
  title: 'winning grabs, 64 connections',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const targets = [{ ...grabs.target(), load: (self) => grabs.win(self, seconds) }];
    for (const kind of PEERS) {
      const peer = await grabs.peer(kind);
      await grabs.mustDoTheSame(peer);
      targets.push(Object.assign(peer, { load: (self) => grabs.win(self, seconds) }));
    }
    const any = grabs.file([`POST /p/${(await grabs.packets(1))[0]}/open`]);
    for (const kind of ['constant', 'return']) {
      const floor = await grabs.peer(kind, ({ folder }) => writeFileSync(join(folder, 'answer'), ANSWER));
      targets.push(Object.assign(floor, { isFloor: true, load: (self) => floorLoad(grabs, self, seconds, any) }));
    }

    const rows = new Map(targets.map(({ name }) => [name, []]));
    await grabs.withoutSettlement(async () => {
      for (const target of targets.filter(({ isFloor }) => !isFloor)) await grabs.warmUp(target);
    });
    for (let round = 0; round < bench.rounds; round++) {
      // Whoever comes first in one round comes last in the next.
      const order = targets.map((_, i) => targets[(i + round) % targets.length]);
      await grabs.withoutSettlement(async () => {
        for (const target of order) rows.get(target.name).push({ server: target.name, ...(await target.load(target)).row });
      });
    }
    await grabs.site.mustBeSound();

    const found = Object.fromEntries([...rows].map(([name, list]) => [name, bench.medians(list)]));
    const [us, lua, php, fcgi8, fcgi16] = targets.map(({ name }) => found[name]);
    const cpu = (other) => us['server µs'] / other['server µs'];
    const rate = (other) => us['/s'] / other['/s'];
    return {
      rows: Object.values(found),
      ratios: [
        bench.ratio('grab_win_cpu_vs_nginx_lua', cpu(lua), '<= 0.75'),
        bench.ratio('grab_win_cpu_vs_php_fpm', cpu(php), '<= 0.35'),
        bench.ratio('grab_win_cpu_vs_libfcgi', Math.max(cpu(fcgi8), cpu(fcgi16)), '<= 0.45'),
        bench.ratio('grab_win_rate_vs_nginx_lua', rate(lua), '>= 1.2'),
        bench.ratio('grab_win_rate_vs_php_fpm', rate(php), '>= 2'),
        bench.ratio('grab_win_rate_vs_libfcgi', Math.min(rate(fcgi8), rate(fcgi16)), '>= 1.7'),
      ],
      notes: ['Every answer of a load was a share: the shares taken in Redis were counted after each, and the audit of all of them was clean.'],
    };
  },
};
