// docs/how-to/programs.md: its commands, run one after the other, give the answers that it shows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { env, url } from './support/instance.js';
import { newUser } from './support/site.js';

const run = promisify(execFile);
const PAGE = join(dirname(env.HB_TEST_DEV), 'docs/how-to/programs.md');

const namesOf = (text) => [...text.matchAll(/"(\w+)":/g)].map((match) => match[1]);

test('the walk of the page for programs', async () => {
  const text = await readFile(PAGE, 'utf8');
  const script = [...text.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map((match) => match[1]).join('\n');
  const { username, password } = await newUser({ yuan: '1000' });
  const folder = await mkdtemp(join(tmpdir(), 'hongbao-programs-'));
  try {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script.replace('http://127.0.0.1:8080', url)],
      { cwd: folder, env: { ...process.env, NAME: username, PASSWORD: password }, timeout: 60_000 });
    const answers = [...stdout.matchAll(/^\{.*\}$/gm)].map((match) => match[0]);
    const shown = [...script.matchAll(/^# (\{.*\})$/gm)].map((match) => match[1]);
    assert.equal(answers.length, shown.length, stdout);
    shown.forEach((promise, i) => {
      const names = new Set(namesOf(answers[i]));
      for (const name of namesOf(promise)) assert.ok(names.has(name), `${name} of ${promise} in ${answers[i]}`);
    });
    assert.ok((await readFile(join(folder, 'receipt.json'), 'utf8')).includes('"signature"'));
  } finally {
    await rm(folder, { recursive: true });
  }
});
