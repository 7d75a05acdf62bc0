// The curl walk of README.md: runs its commands as written and compares the answers with those in the README.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { blocksOf, blocksRead } from './support/how_to_blocks.js';
import { env, url } from './support/instance.js';

const run = promisify(execFile);
const ROOT = dirname(env.HB_TEST_DEV);

// A reader is slower than a test: the share is in the wallet before it is thanked for.
const SETTLED = `for i in $(seq 400); do curl -sS -H "$json" -b gang.txt "$packet" | grep -q '"settled":true' && break; sleep 0.05; done\n`;

// All blocks of a README, without comments.
async function commands(file) {
  const blocks = blocksRead(await readFile(join(ROOT, file), 'utf8'));
  return blocks.map(({ block }) => block.replace(/^#.*\n| +# .*$/gm, ''));
}

// Each curl command of the JSON block, with the status and the members of the first answer below it: [{ status, names
// }].
function promises(block) {
  return block.split(/^(?=curl )/m).slice(1).map((part) => {
    const [, status, body] = part.match(/^# (\d{3}) (.*)$/m);
    return { status, names: [...body.matchAll(/"(\w+)":/g)].map((match) => match[1]) };
  });
}

test('both READMEs have the same commands', async () => {
  assert.deepEqual(await commands('README.zh-CN.md'), await commands('README.md'));
});

test('the commands of the walk give the answers of the README', async () => {
  const [pages, json] = Object.values(blocksOf('../../README.md', import.meta.url)).flat(); // HTML and JSON
  const folder = await mkdtemp(join(tmpdir(), 'hongbao-readme-'));
  try {
    const script = `${pages}\n${json}`.replace('http://127.0.0.1:8080', url)
      .replace(/^(?=curl .*\/thanks"$)/m, SETTLED)
      .replace(/^curl .*-H "\$json"/gm, (command) => `${command} -w '%{http_code}\n'`);
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { cwd: folder, maxBuffer: 64 << 20 });
    assert.match(stdout, /\/p\/[0-9a-z]{26}\n/, 'the address of the packet');
    assert.match(stdout, /data-open/, 'the envelope');
    assert.match(stdout, /<p class="money"><small><\/small>\d+\.\d\d</, 'the amount');
    const answers = [...stdout.matchAll(/^(\{.*\})\n(\d{3})$/gm)];
    const expected = promises(json);
    assert.equal(answers.length, expected.length);
    expected.forEach(({ status, names }, i) => {
      const [, body, code] = answers[i];
      assert.equal(code, status, body);
      assert.ok(names.length > 0);
      for (const name of names) assert.ok(body.includes(`"${name}":`), `${name} in ${body}`);
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
