// Runs the commands of a page of docs/how-to as written there, as an operator would type them.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { env } from './instance.js';

const run = promisify(execFile);
const ROOT = dirname(env.HB_TEST_DEV);

// The ```sh blocks of a page under its headings: { 'Back up': ['cp …', …] }.
function blocksOf(page) {
  const blocks = {};
  let heading = '';
  const text = readFileSync(join(ROOT, 'docs/how-to', page), 'utf8');
  for (const [, title, block] of text.matchAll(/^#{1,2} (.*)$|^```sh\n([\s\S]*?)^```$/gm)) {
    if (title !== undefined) heading = title;
    else (blocks[heading] ??= []).push(block);
  }
  return blocks;
}

// A page whose commands can be run. step('Back up', 0, { BACKUP: … }) runs the first command under that heading and
// returns { stdout, stderr }; it rejects when the command fails. steps(heading, vars, skip) runs all commands under the
// heading, except those whose text matches skip.
export class HowTo {
  #blocks;
  #bin;
  #ran = new Set();

  constructor(page) {
    this.#blocks = blocksOf(page);
    this.#bin = mkdtempSync(join(tmpdir(), 'hongbao-bin-'));
    symlinkSync(env.HB_TEST_BINARY, join(this.#bin, 'hongbao'));
    // $SITE is split into words by the shell; the paths of this instance may hold spaces.
    writeFileSync(join(this.#bin, 'site'), '#!/bin/sh\nexec "$HB_TEST_DEV" --var "$VAR" "$@"\n', { mode: 0o755 });
  }

  step(heading, index, vars = {}) {
    const block = this.#blocks[heading]?.[index];
    if (block === undefined) throw new Error(`no command ${index} under "${heading}"`);
    this.#ran.add(block);
    return run('bash', ['-euo', 'pipefail', '-c', block], {
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

  end() {
    rmSync(this.#bin, { recursive: true });
  }
}
