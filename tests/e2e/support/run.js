// Programs that a test runs, and folders for their files.
import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// Runs a program to its end: { stdout, stderr }. Rejects with an error that has code, stdout and stderr, too, when it
// fails. The arguments are as for execFile.
export const run = promisify(execFile);

const folders = [];
process.once('exit', () => { for (const folder of folders) rmSync(folder, { recursive: true, force: true }); });

// Makes a folder that is removed when the process of the test file ends. mode: 0o755 also lets other users read it.
export function temporaryFolder(name, mode = 0o700) {
  const folder = mkdtempSync(join(tmpdir(), `hongbao-${name}-`));
  chmodSync(folder, mode);
  folders.push(folder);
  return folder;
}
