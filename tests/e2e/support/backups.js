// Backups of the site under test, in a folder that is removed with the test file's process.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { tried } from './instance.js';

const run = promisify(execFile);

export const FOLDER = mkdtempSync(join(tmpdir(), 'hongbao-backup-'));
process.once('exit', () => { rmSync(FOLDER, { recursive: true }); });

export const folder = (name) => join(FOLDER, name);

// Runs the program with other settings; expects that it fails, and returns what it says.
export const refusal = async (args, settings) => {
  const { code, stderr } = await tried(args, settings);
  assert.equal(code, 1, `${args.join(' ')}: ${stderr}`);
  return stderr;
};

// Changes a backup: runs shell commands on its tables.sql, and makes its sums anew.
export const spoil = (backup, commands) => run('bash', ['-euo', 'pipefail', '-c', `cd "$0"; gzip -dc tables.sql.gz >tables.sql
  ${commands}
  gzip -f tables.sql; sha256sum manifest redis.rdb tables.sql.gz >SHA256SUMS`, backup]);
