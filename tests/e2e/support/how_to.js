// Runs the commands of a page of docs/how-to as written there, as an operator would type them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { blocksOf } from './how_to_blocks.js';
import { env, PATIENCE, url } from './instance.js';
import { run, temporaryFolder } from './run.js';

const ROOT = dirname(env.HB_TEST_DEV);

const operatorPassword = () => /^redis_password = (.*)$/m.exec(readFileSync(join(env.HB_TEST_VAR, 'rights/operator.conf'), 'utf8'))[1];

const namesOf = (text) => [...text.matchAll(/"(\w+)":/g)].map((match) => match[1]);

// Runs all commands of a page as one walk of this user. Every line "# {…}" of the page promises an answer with these
// members; the answers must come in this order. test: the test's import.meta.url. Returns the files that the commands
// wrote.
export async function walk(page, test, { username, password }) {
  const script = Object.values(blocksOf(page, test)).flat().join('\n');
  const folder = temporaryFolder('walk');
  const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script.replace('http://127.0.0.1:8080', url)],
    { cwd: folder, env: { ...process.env, NAME: username, PASSWORD: password }, timeout: 60_000 * PATIENCE });
  const answers = [...stdout.matchAll(/^\{.*\}$/gm)].map((match) => match[0]);
  const shown = [...script.matchAll(/^# (\{.*\})$/gm)].map((match) => match[1]);
  assert.equal(answers.length, shown.length, stdout);
  shown.forEach((promise, i) => {
    const names = new Set(namesOf(answers[i]));
    for (const name of namesOf(promise)) assert.ok(names.has(name), `${name} of ${promise} in ${answers[i]}`);
  });
  return Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

// A page whose commands can be run; ./dev is this instance's. step('Back up', 0, { BACKUP: … }) runs the first command under that heading and
// returns { stdout, stderr }; it rejects when the command fails. steps(heading, vars, skip) runs all commands under the
// heading, except those whose text matches skip.
export class HowTo {
  #blocks;
  #bin;
  #ran = new Set();

  // test: its import.meta.url.
  constructor(page, test) {
    this.#blocks = blocksOf(page, test);
    this.#bin = temporaryFolder('bin');
    symlinkSync(env.HB_TEST_BINARY, join(this.#bin, 'hongbao'));
    // $SITE is split into words by the shell; the paths of this instance may hold spaces.
    writeFileSync(join(this.#bin, 'site'), '#!/bin/sh\nexec "$HB_TEST_DEV" --var "$VAR" "$@"\n', { mode: 0o755 });
  }

  step(heading, index, vars = {}) {
    const block = this.#blocks[heading]?.[index];
    if (block === undefined) throw new Error(`no command ${index} under "${heading}"`);
    this.#ran.add(block);
    return run('bash', ['-euo', 'pipefail', '-c', block.replaceAll(/^\.\/dev /gm, '$SITE ')], {
      cwd: ROOT,
      env: {
        ...process.env,
        PATH: `${this.#bin}:${process.env.PATH}`,
        HB_BINARY: env.HB_TEST_BINARY,
        HB_CONFIG: env.HB_TEST_CONFIG,
        VAR: env.HB_TEST_VAR,
        HB_TEST_DEV: env.HB_TEST_DEV,
        SITE: 'site',
        MYSQL_SOCKET: env.HB_TEST_MYSQL_SOCKET,
        REDIS_SOCKET: env.HB_TEST_REDIS_SOCKET,
        REDISCLI_AUTH: operatorPassword(),
        REDIS_DIR: `${env.HB_TEST_VAR}/data/redis`,
        ...vars,
      },
      maxBuffer: 64 << 20,
    });
  }

  async steps(heading, vars, skip) {
    for (const [i, block] of this.#blocks[heading].entries()) if (!skip?.test(block)) await this.step(heading, i, vars);
  }

  // The commands that no step has run.
  untested() {
    return Object.values(this.#blocks).flat().filter((block) => !this.#ran.has(block));
  }
}
