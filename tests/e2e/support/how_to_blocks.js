// The commands of the documents: README.md and docs. Needs no instance.
//
// `<!-- run by tests/e2e/x.test.js -->` in a page names the test that runs the ```sh blocks from there on. A block that no
// test can run has the line `<!-- not run: REASON -->` above it. The tidy check "commands" accepts only these two.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../../', import.meta.url);
const PAGES = new URL('docs/how-to/', ROOT);
const PARTS = /^#{1,2} (?<title>.*)$|^<!-- run by (?<runner>\S+) -->$|(?<reason>^ *<!-- not run: .+ -->\n)?^(?<indent> *)```(?<word>\w*)\n(?<block>[\s\S]*?)^ *```$/gm;

// The ```sh blocks of a text: [{ heading, runner, reason, block, index }]; runner and reason are undefined without one.
export function blocksRead(text) {
  const found = [];
  let heading = '';
  let runner;
  for (const { groups, index } of text.matchAll(PARTS)) {
    if (groups.title !== undefined) heading = groups.title;
    else if (groups.runner !== undefined) runner = groups.runner;
    else if (groups.word === 'sh') {
      const block = groups.block.replaceAll(new RegExp(`^${groups.indent}`, 'gm'), '');
      found.push({ heading, runner, reason: groups.reason, block, index });
    }
  }
  return found;
}

// The blocks of a page (a name in docs/how-to, or a path from there) that this test runs, under their headings: { 'Back
// up': ['cp …', …] }. test: its import.meta.url.
export function blocksOf(page, test) {
  const name = relative(fileURLToPath(ROOT), fileURLToPath(test));
  const blocks = {};
  for (const { heading, runner, reason, block } of blocksRead(readFileSync(new URL(page, PAGES), 'utf8'))) {
    if (!reason && runner === name) (blocks[heading] ??= []).push(block);
  }
  if (Object.keys(blocks).length === 0) throw new Error(`${page} has no commands for ${name}`);
  return blocks;
}
