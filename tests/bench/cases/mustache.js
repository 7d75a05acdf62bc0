// The page of a packet with 50 rows: our engine, mustache.js and kainjow's header, one text, one context, one page.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { example, flatten } from '../flatten.js';
import { measure } from '../program.js';
import { rounds } from '../rounds.js';

const ROWS = 50;
const NAMES = ['小明', '阿红', '阿强 & 丽丽', '<大伟>', '"静静"'];
const SPELLINGS = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#96': '`', '#x2F': '/', '#x60': '`', '#x3D': '=' };

// Engines write an escaped character differently, and kainjow leaves empty lines after tags; in a browser it is the same.
const spellOut = (page) => page.replace(/&(#?\w+);/g, (all, word) => SPELLINGS[word] ?? all).replace(/^\n/gm, '');

function context(templates) {
  const model = example(templates, 'pages/packet');
  model.count = model.grabbed_count = ROWS;
  model.grabs = Array.from({ length: ROWS }, (_, i) => {
    const nickname = NAMES[i % NAMES.length];
    return { ...model.grabs[i % 2], share_no: i, best: i === 7, amount_text: `${i + 1}.20`,
      user: { id: 10_001 + i, nickname, initial: [...nickname][0], hue: 1 + i % 8 } };
  });
  return model;
}

export default {
  name: 'mustache',
  title: `the page of a packet with ${ROWS} rows`,
  async run(bench) {
    const templates = join(bench.root, 'templates');
    const flat = join(bench.folder, 'flat');
    const file = (name) => join(flat, name);
    mkdirSync(file('text'), { recursive: true });
    for (const language of ['zh-CN', 'en']) writeFileSync(file(`text/${language}.txt`), ''); // the flat page has its texts
    writeFileSync(file('page.mustache'), flatten(templates, 'pages/packet'));
    writeFileSync(file('context.json'), JSON.stringify(context(templates)));
    const count = bench.quick ? 2000 : 10_000;
    const ours = (folder, name, out) => [bench.program('bench_mustache'), [folder, name, file('context.json'), count, file(out)]];
    const peer = (n, out) => [file('page.mustache'), file('context.json'), n, file(out)];
    const engines = {
      'ours, flat text': ours(flat, 'page', 'ours'),
      'ours, parent and partials': ours(templates, 'pages/packet', 'whole'),
      'mustache.js': [process.execPath, [join(bench.root, 'tests/bench/peers/mustache.js'), ...peer(count / 10, 'js')]],
    };
    const notes = [];
    if (existsSync(bench.program('kainjow'))) engines["kainjow's header"] = [bench.program('kainjow'), peer(count / 10, 'kainjow')];
    else notes.push('kainjow is missing: libkainjow-mustache-dev and g++ were not there when the programs were built.');
    const names = Object.keys(engines);
    const { rows, ratio } = await rounds(bench, names.map((name) => ({ name, load: async () => {
      const one = await measure(...engines[name]);
      return { 'µs/page': one.own_ns / one.count / 1000 };
    } })));
    const pages = ['ours', 'whole', 'js', ...(engines["kainjow's header"] ? ['kainjow'] : [])].map((name) => spellOut(readFileSync(file(name), 'utf8')));
    if (pages.some((page) => page !== pages[0])) throw new Error(`the engines made different pages: diff the files of ${flat} (--keep)`);
    notes.push(`All made the same page but for the spelling of escapes and for empty lines, ${Buffer.byteLength(readFileSync(file('ours')))} bytes of ours.`);
    const against = (name) => (names.includes(name) ? ratio(names.indexOf(name), 0, 'µs/page') : NaN);
    return { rows, notes, ratios: [
      bench.ratio('mustache_js_vs_ours', against('mustache.js'), '>= 5'),
      bench.ratio('mustache_kainjow_vs_ours', against("kainjow's header"), '>= 3'),
    ] };
  },
};
