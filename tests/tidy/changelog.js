// CHANGELOG.md says for each version what changes for operators; its first heading has the version of CMakeLists.txt, the
// one place where the version is written (deploy/version.sh).
import { basename } from 'node:path';

const FILE = 'CHANGELOG.md';
const HEADING = /^## (\d+\.\d+\.\d+) \((not released|\d{4}-\d\d-\d\d)\)$/;
const lineOf = (text, index) => text.slice(0, index).split('\n').length;

// Finds other files that name the present version. An example VERSION~TIME is allowed.
function repeated(sources, version) {
  const pattern = new RegExp(`(?<![\\d.])${version.replaceAll('.', '\\.')}(?![\\d.]*[~\\d])`, 'g');
  const files = [...['docs', 'deploy', 'app', 'nginx'].flatMap((folder) => sources.files(folder, /\.(md|sh|[ch]|cmake|txt|yaml|conf|in)$|^control$/)),
    ...sources.documents().filter((file) => file !== FILE)];
  return files.flatMap((file) => [...sources.read(file).matchAll(pattern)]
    .map(({ index }) => `${file}:${lineOf(sources.read(file), index)}: the version ${version}, which CMakeLists.txt alone has`));
}

export function changelog(sources) {
  const version = /^project\(hongbao VERSION ([\d.]+)/m.exec(sources.read('CMakeLists.txt'))?.[1];
  const text = sources.read(FILE);
  const found = [...text.matchAll(/^## .*$/gm)].map(({ 0: line, index }) => [line, lineOf(text, index), HEADING.exec(line)]);
  const newest = sources.files('sql/migrations', /\.sql$/).map((file) => basename(file).slice(0, 4)).sort().at(-1);
  return [
    ...(found[0]?.[2]?.[1] === version ? [] : [`${FILE}:${found[0]?.[1] ?? 1}: the first heading must be of ${version}, the version of CMakeLists.txt`]),
    ...found.filter(([, , heading], i) => !heading || (i > 0 && heading[2] === 'not released'))
      .map(([line, at]) => `${FILE}:${at}: "${line}" must be "## VERSION (YYYY-MM-DD)", or first "## VERSION (not released)"`),
    ...(text.includes(newest) ? [] : [`${FILE}:1: the newest migration, ${newest}, is not named: is it additive, what must an operator do?`]),
    ...repeated(sources, version),
  ];
}
