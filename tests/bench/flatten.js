// One template text out of a page with its parent and partials, for engines that know no inheritance. It covers what
// templates/ uses: tags on lines of their own are lines no more, others are replaced where they stand.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = /^\{\{\$(\w+)\}\}\n([\s\S]*?)^\{\{\/\1\}\}\n|\{\{\$(\w+)\}\}([\s\S]*?)\{\{\/\3\}\}/gm;
const PARENT = /^\{\{<([\w/]+)\}\}\n([\s\S]*?)^\{\{\/\1\}\}\n/gm;
const PARTIAL = /^\{\{>([\w/]+)\}\}\n|\{\{>([\w/]+)\}\}/gm;
const COMMENT = /^\{\{![\s\S]*?\}\}\n/gm;

export function flatten(folder, name) {
  const text = readFileSync(join(folder, `${name}.mustache`), 'utf8').replace(COMMENT, '');
  return text
    .replace(PARENT, (_, parent, inside) => {
      const given = new Map([...inside.matchAll(BLOCK)].map(([, line, lines, word, words]) => [line ?? word, lines ?? words]));
      const fill = (source) => source.replace(BLOCK, (_all, line, lines, word, words) => given.get(line ?? word) ?? lines ?? words);
      return fill(readFileSync(join(folder, `${parent}.mustache`), 'utf8').replace(COMMENT, ''));
    })
    .replace(PARTIAL, (_, line, word) => flatten(folder, line ?? word));
}

// The context of a page's first line.
export function example(folder, name) {
  return JSON.parse(/^\{\{! example:([\s\S]*?)\}\}\n/.exec(readFileSync(join(folder, `${name}.mustache`), 'utf8'))[1]);
}
