// Flattens a page, its parent, partials and Chinese texts into one template, for engines without inheritance. It supports
// what templates/ uses: a tag alone on its line is removed with the line, any other is replaced in place.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const BLOCK = /^\{\{\$(\w+)\}\}\n([\s\S]*?)^\{\{\/\1\}\}\n|\{\{\$(\w+)\}\}([\s\S]*?)\{\{\/\3\}\}/gm;
const PARENT = /^\{\{<([\w/]+)\}\}\n([\s\S]*?)^\{\{\/\1\}\}\n|\{\{<([\w/]+)\}\}([\s\S]*?)\{\{\/\3\}\}/gm;
const PARTIAL = /^\{\{>([\w/]+)\}\}\n|\{\{>([\w/]+)\}\}/gm;
const COMMENT = /^\{\{![\s\S]*?\}\}\n/gm;
// A partial that is inserted within a line has no tags alone on a line any more.
const LINE_TAG = /^(\{\{[#^/>][\w./]+\}\})\n/gm;

function source(folder, name) {
  const [, key] = /^text\/(\w+)$/.exec(name) ?? [];
  if (!key) return readFileSync(join(folder, `${name}.mustache`), 'utf8').replace(COMMENT, '');
  return new RegExp(`^${key} =(.*)$`, 'm').exec(readFileSync(join(folder, 'text/zh-CN.txt'), 'utf8'))[1].trim();
}

const blocks = (text) => new Map([...text.matchAll(BLOCK)].map(([, line, lines, word, words]) => [line ?? word, lines ?? words]));

export function flatten(folder, name, { given = new Map(), insideLine = false } = {}) {
  const parents = (text) => text.replace(PARENT, (_, line, lines, word, words) =>
    flatten(folder, line ?? word, { given: blocks(lines ?? words), insideLine: line === undefined }));
  const whole = parents(source(folder, name).replace(LINE_TAG, insideLine ? '$1' : '$&'));
  const filled = whole.replace(BLOCK, (_, line, lines, word, words) => given.get(line ?? word) ?? lines ?? words);
  return parents(filled)
    .replace(PARTIAL, (_, line, word) => flatten(folder, line ?? word, { insideLine: line === undefined }));
}

// The example of a page.
export function example(folder, name) {
  return JSON.parse(readFileSync(join(folder, 'examples', `${name}.json`), 'utf8'));
}
