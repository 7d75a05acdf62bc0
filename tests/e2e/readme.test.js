// The commands of README.md: both READMEs have the same ones, and those with curl do what it says.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { blocksOf, blocksRead } from './support/how_to_blocks.js';
import { env, url } from './support/instance.js';
import { run, temporaryFolder } from './support/run.js';

const ROOT = dirname(env.HB_TEST_DEV);

// All blocks of a README, without comments.
async function commands(file) {
  const blocks = blocksRead(await readFile(join(ROOT, file), 'utf8'));
  return blocks.map(({ block }) => block.replace(/^#.*\n| +# .*$/gm, ''));
}

test('both READMEs have the same commands', async () => {
  assert.deepEqual(await commands('README.zh-CN.md'), await commands('README.md'));
});

test('with the commands of the README a user sends a packet, opens a share of it, and reads the wallet', async () => {
  const script = Object.values(blocksOf('../../README.md', import.meta.url)).flat().join('').replace('http://127.0.0.1:8080', url);
  const folder = temporaryFolder('readme');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', `${script}\necho; echo "$packet"`], { cwd: folder, maxBuffer: 64 << 20 });
  assert.match(stdout, /<p class="money"><small><\/small>\d+\.\d\d</, 'the amount');
  assert.match(stdout, /^\{"balance_fen":9\d{3},"entries":\[.*\],.*"next":null\}$/m, 'the wallet');
  assert.match(stdout, /\/p\/[0-9a-z]{26}\n/, 'the address of the packet');
});
