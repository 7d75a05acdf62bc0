// Builds a package in a Debian of another release than this machine's, because its compiler and the names of its
// libraries are part of the package.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { run } from '../e2e/support/run.js';

export const OUTPUT_MAX = 64 << 20;
export const ENVIRONMENT = ['env', '-i', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', 'HOME=/root', 'LANG=C.UTF-8', 'DEBIAN_FRONTEND=noninteractive'];
// BASE FROM TO [FROM TO…] -- COMMAND…: mounts each folder FROM at TO of the base, visible only to the command.
const ENTER = `mount --make-rprivate /
base=$1; shift
for folder in /dev /proc /sys; do mount --rbind "$folder" "$base$folder"; done
mount -t tmpfs -o mode=1777 tmpfs "$base/tmp"
while [ "$1" != -- ]; do mkdir -p "$base$2"; mount --bind "$1" "$base$2"; shift 2; done
shift
exec chroot "$base" "$@"`;

// The path where ./dev package leaves the package of the sources in the folder, when it runs in a Debian of that
// release.
export const outputFolder = (folder, release) => join(folder, 'build/package', String(release));

// Runs the command in the Debian of the base; returns its output. mounts: of its own, [from, to].
export async function runIn(base, mounts, ...command) {
  const { stdout } = await run('unshare', ['--mount', 'bash', '-ec', ENTER, 'enter', base, ...mounts.flat(), '--', ...ENVIRONMENT, ...command],
    { maxBuffer: OUTPUT_MAX });
  return stdout;
}

// The folder of git that a worktree shares with others; none: these sources have no git of their own.
function gitFolders(folder) {
  try {
    const shared = execFileSync('git', ['-C', folder, 'rev-parse', '--show-toplevel', '--git-common-dir'], { encoding: 'utf8', stdio: 'pipe' });
    const [top, common] = shared.trim().split('\n');
    return top === folder.replace(/\/$/, '') ? [resolve(folder, common)] : [];
  } catch {
    return [];
  }
}

// Builds the package of the sources in the folder, in the base of that release. Returns its path.
export async function buildIn(base, release, folder) {
  const out = outputFolder(folder, release);
  mkdirSync(out, { recursive: true });
  const mounts = [folder, ...gitFolders(folder)].map((path) => [path, path]);
  const said = await runIn(base, [...mounts, [out, join(folder, 'build/package')]], join(folder, 'dev'), 'package');
  return join(out, basename(said.trim().split('\n').pop()));
}
