// The commands of the pages of docs/how-to. Needs no instance.
import { readFileSync } from 'node:fs';

const PAGES = new URL('../../../docs/how-to/', import.meta.url);

// The ```sh blocks of a page under its headings: { 'Back up': ['cp …', …] }.
export function blocksOf(page) {
  const blocks = {};
  let heading = '';
  const text = readFileSync(new URL(page, PAGES), 'utf8');
  for (const [, title, block] of text.matchAll(/^#{1,2} (.*)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else (blocks[heading] ??= []).push(block);
  }
  return blocks;
}
