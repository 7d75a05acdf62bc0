// Reads mutants.txt, the list of bugs to plant. An entry:
//
//   NAME  FILE  TESTS
//       the effect of the bug
//       - the text to replace, which FILE has exactly once
//       + its replacement; without such a line the text is removed
//
// TESTS, separated by commas, run first: they should fail. A text of several lines has '- ' or '+ ' on each line; further
// blanks belong to the text. Lines that begin with # are comments.
const LIST = 'tests/mutants/mutants.txt';

// sources: of tests/tidy/sources.js. Returns { mutants: [{ name, file, tests, why, old, new, line }], problems: [`mutants.txt:LINE: why`] }
export function mutantsRead(sources) {
  const mutants = [];
  const problems = [];
  sources.read(LIST).split('\n').forEach((text, i) => {
    const line = i + 1;
    const head = /^(\w\S*) +(\S+) +(\S+)$/.exec(text);
    const body = /^ {4}(?:([-+]) )?(.*)$/.exec(text);
    const last = mutants.at(-1);
    if (head) mutants.push({ name: head[1], file: head[2], tests: head[3].split(','), why: '', old: [], new: [], line });
    else if (body && last && body[1] === '-') last.old.push(body[2]);
    else if (body && last && body[1] === '+') last.new.push(body[2]);
    else if (body && last) last.why += (last.why && ' ') + body[2];
    else if (text !== '' && !text.startsWith('#')) problems.push(`${LIST}:${line}: neither a head nor a part of an entry`);
  });
  const names = new Set();
  for (const mutant of mutants) {
    const say = (why) => problems.push(`${LIST}:${mutant.line}: ${mutant.name}: ${why}`);
    mutant.old = mutant.old.join('\n');
    mutant.new = mutant.new.join('\n');
    if (names.has(mutant.name)) say('another mutant has this name');
    names.add(mutant.name);
    if (!mutant.why) say('no line for the effect of the bug');
    if (!sources.exists(mutant.file)) {
      say(`no file ${mutant.file}`);
      continue;
    }
    const found = mutant.old === '' ? 0 : sources.read(mutant.file).split(mutant.old).length - 1;
    if (found !== 1) say(`${mutant.file} has "${mutant.old}" ${found} times`);
    if (mutant.old === mutant.new) say('it changes nothing');
  }
  return { mutants, problems };
}
