// The form of the JSON files that people edit: an object or a list is one line when it fits in 120 columns and has at most
// one level below it; each member of `properties` has a line of its own.
//   node json_form.js [FILE...]: writes the files (default: all of FILES) in this form.
import { readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const FILES = ['templates/openapi.json', 'deploy/watch/dashboard.json'];
const COLUMNS = 120;

const isParent = (value) => value !== null && typeof value === 'object';
const depth = (value) => (isParent(value) ? 1 + Math.max(0, ...Object.values(value).map(depth)) : 0);

function oneLine(value) {
  if (!isParent(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`;
  const members = Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${oneLine(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}

// Fills each line with as many words as fit.
function filled(words, indent) {
  const lines = [''];
  for (const word of words) {
    if (lines.at(-1) !== '' && `${indent}${lines.at(-1)} ${word},`.length > COLUMNS) lines.push('');
    lines.push(`${lines.pop()} ${word},`.trim());
  }
  return lines.map((line) => indent + line).join('\n').replace(/,$/, '');
}

// The text of a value whose first line begins behind `used` columns and is indented by `level`.
function lines(value, level = 0, used = 0, name = '') {
  const whole = oneLine(value);
  const fits = used + whole.length < COLUMNS && depth(value) <= 2 && (name !== 'properties' || depth(value) < 2);
  if (!isParent(value) || fits) return whole;
  const indent = ' '.repeat(level + 1);
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const members = Object.entries(value).map(([key, member]) => {
    const head = open === '{' ? `${indent}${JSON.stringify(key)}: ` : indent;
    return head + lines(member, level + 1, head.length, key);
  });
  const isFlat = open === '[' && depth(value) === 1;
  return `${open}\n${isFlat ? filled(value.map(oneLine), indent) : members.join(',\n')}\n${' '.repeat(level)}${close}`;
}

// The JSON text in the form. Throws when it is not JSON.
export const jsonForm = (text) => `${lines(JSON.parse(text))}\n`;

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
  const given = process.argv.slice(2);
  for (const file of given.length > 0 ? given : FILES.map((name) => join(root, name))) {
    const text = readFileSync(file, 'utf8');
    const wanted = jsonForm(text);
    if (text !== wanted) writeFileSync(file, wanted);
  }
}
