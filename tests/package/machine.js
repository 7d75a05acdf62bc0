// A separate Debian: made by debootstrap from this machine's mirror, booted with systemd in systemd-nspawn. Its network
// is isolated, or is this machine's.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { poll } from '../support/poll.js';
import { run } from '../e2e/support/run.js';
import { ENVIRONMENT, OUTPUT_MAX, buildIn, outputFolder, runIn } from './builder.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = join(ROOT, 'build/package');
const STAMP = 'sources.sha256'; // beside a package: the hash of its sources
export const RELEASES = { 12: 'bookworm', 13: 'trixie' };
// The release that the machines of a test have, and for which packages are built.
export const RELEASE = Number(process.env.HB_TEST_RELEASE ?? 12);
const OWN_RELEASE = Number(/^VERSION_ID="?(\d+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1]);
const ARCHITECTURE = execFileSync('dpkg', ['--print-architecture'], { encoding: 'utf8' }).trim();
// Packages of a machine before the package is installed, besides the package's dependencies.
const SYSTEM = ['systemd', 'systemd-sysv', 'dbus', 'apt-utils', 'debconf', 'procps', 'iproute2', 'bash-completion'];
// Packages that the documents install from a mirror, which a machine does not have. All tests that need some of them
// share one bare system with all of them.
export const MORE = ['prometheus', 'prometheus-node-exporter', 'prometheus-blackbox-exporter', 'fail2ban', 'python3-systemd', 'nftables', 'rsync',
  'stunnel4', 'sudo', 'logrotate'];
const BOOT_SECONDS_MAX = 300; // usually it takes three seconds
// The part of the journal that a failed test prints, each with a title.
const JOURNAL = [
  ['warnings', '--priority=warning'],
  ...['hongbao*', 'redis-server@hongbao', 'valkey-server@hongbao', 'mariadb', 'nginx'].map((unit) => [unit, `--unit=${unit}`]),
];
const JOURNAL_LINES = 100;
const CGROUPS_SECONDS_MAX = 5;

// The names of all source files: what git lists.
function sources() {
  const listed = execFileSync('git', ['-C', ROOT, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' });
  return listed.split('\0').filter((file) => file && existsSync(join(ROOT, file)));
}

// The commit is part of it: a package of the same files at another commit has another version.
function sourcesDigest() {
  const hash = createHash('sha256').update(execFileSync(join(ROOT, 'deploy/version.sh')));
  for (const file of sources()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex');
}

// The Debian in which packages for another release than this machine's are built. ./dev installs whatever else it needs
// there.
const builderBase = (release) => base(`build-${release}`, release, ['git']);

// Runs the command where packages of the release are built, with access to these folders; returns its output.
export async function runWhereBuilt(folders, ...command) {
  if (RELEASE !== OWN_RELEASE) return runIn(await builderBase(RELEASE), folders.map((folder) => [folder, folder]), ...command);
  return (await run(command[0], command.slice(1), { maxBuffer: OUTPUT_MAX })).stdout;
}

// Builds the package of the sources in the folder for the release, and returns its path.
export async function packageMake(folder, release = RELEASE) {
  if (release !== OWN_RELEASE) return buildIn(await builderBase(release), release, folder);
  const { stdout } = await run(join(folder, 'dev'), ['package'], { maxBuffer: OUTPUT_MAX });
  return stdout.trim().split('\n').pop();
}

const packageFolder = (release) => (release === OWN_RELEASE ? FOLDER : outputFolder(ROOT, release));

// Builds the package and returns its path.
export async function packageBuild(release = RELEASE) {
  const digest = sourcesDigest();
  const stamp = join(packageFolder(release), STAMP);
  rmSync(stamp, { force: true });
  const deb = await packageMake(ROOT, release);
  writeFileSync(stamp, digest);
  return deb;
}

// The path of the package of these sources. Builds the package unless it was built already.
export async function packageReady(release = RELEASE) {
  const folder = packageFolder(release);
  const [deb] = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('hongbao_') && name.endsWith(`_${ARCHITECTURE}.deb`)) : [];
  const stamp = join(folder, STAMP);
  return deb && existsSync(stamp) && readFileSync(stamp, 'utf8') === sourcesDigest() ? join(folder, deb) : packageBuild(release);
}

// Copies the sources into the folder.
export function sourcesCopy(folder) {
  const list = join(folder, '.sources');
  writeFileSync(list, sources().join('\0'));
  execFileSync('bash', ['-c', 'tar -C "$1" --null -T "$2" -cf - | tar -C "$3" -xf -', 'copy', ROOT, list, folder]);
  rmSync(list);
}

// Builds the package of a changed program: copies the sources into the folder, where edit(folder) changes them. Returns
// its path.
export async function packageEdited(folder, edit) {
  sourcesCopy(folder);
  await edit(folder);
  return packageMake(folder);
}

// The mirror from which this machine gets its packages.
export function mirror() {
  const [, codename] = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'));
  const targets = execFileSync('apt-get', ['indextargets', '--format', '$(REPO_URI)', 'Created-By: Packages', `Codename: ${codename}`],
    { encoding: 'utf8' });
  return targets.split('\n')[0];
}

// The packages that the package depends on or recommends; of alternatives, the store's package, else the first.
function dependencies(deb, store) {
  const fields = execFileSync('dpkg-deb', ['--showformat=${Depends}, ${Recommends}', '-W', deb], { encoding: 'utf8' });
  return fields.split(',').map((entry) => {
    const names = entry.split('|').map((name) => name.trim().split(/[ (:]/)[0]);
    return names.find((name) => name.startsWith(`${store}-`)) ?? names[0];
  });
}

// Does the work while no other process has the lock of this name.
async function locked(name, work) {
  const holder = spawn('flock', [join(FOLDER, name), 'bash', '-c', 'echo locked; cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(holder.stdout, 'data');
  try {
    return await work();
  } finally {
    holder.stdin.end();
  }
}

// Makes the folder with a bare Debian and these packages, once, because it takes minutes; later calls may add packages.
// debootstrap itself installs no package whose dependency has alternatives. Returns the folder.
async function baseMake(name, release, packages) {
  const folder = join(FOLDER, name);
  const wanted = [...SYSTEM, ...packages];
  const has = (name) => [name, `${name}:${ARCHITECTURE}`].some((one) => existsSync(join(folder, `var/lib/dpkg/info/${one}.list`)));
  if (existsSync(folder) && wanted.every(has)) return folder;
  rmSync(folder, { recursive: true, force: true });
  rmSync(`${folder}.new`, { recursive: true, force: true });
  execFileSync('debootstrap', ['--variant=minbase', `--include=${SYSTEM.join(',')}`, RELEASES[release], `${folder}.new`, mirror()],
    { stdio: ['ignore', 'ignore', 'inherit'] });
  await runIn(`${folder}.new`, [[join(ROOT, 'deploy'), '/mnt']], 'bash', '/mnt/dev/apt-install.sh', ...packages);
  await runIn(`${folder}.new`, [], 'apt-get', 'clean');
  renameSync(`${folder}.new`, folder);
  return folder;
}

// The folder of the base with this name; makes it unless it exists with all of these packages.
function base(name, release, packages) {
  mkdirSync(FOLDER, { recursive: true });
  return locked(`${name}.lock`, () => baseMake(name, release, packages));
}

// The control groups of this process: folders of the hierarchies that systemd uses, as proc(5) and systemd-nspawn(1) name
// them.
function cgroups() {
  const unified = existsSync('/sys/fs/cgroup/unified') ? '/sys/fs/cgroup/unified' : '/sys/fs/cgroup';
  const tops = { 'name=systemd': '/sys/fs/cgroup/systemd', '': unified };
  const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n').map((line) => /^\d+:([^:]*):(.*)$/.exec(line));
  return lines.filter(([, controllers]) => controllers in tops).map(([, controllers, path]) => join(tops[controllers], path));
}

export class Machine {
  #nspawn;
  #cgroup; // the name of its folder in each hierarchy
  #leader;
  #release;
  #network;

  constructor(name, release = RELEASE, { network = ['--private-network'] } = {}) {
    if (process.getuid() !== 0) throw new Error('run this test as root: debootstrap and systemd-nspawn need it');
    this.folder = join(FOLDER, `${name}-${release}`);
    this.#release = release;
    this.#network = network; // options of systemd-nspawn; none: this machine's
  }

  // Boots the machine with the package's dependencies and these packages, because it has no mirror later, an apt that
  // asks no questions, and the package in /root. store: valkey in place of redis.
  async boot(deb, { packages = [], store = 'redis', as = 'hongbao.deb' } = {}) {
    const name = `debian-${this.#release}${packages.length ? '-more' : ''}${store === 'redis' ? '' : `-${store}`}`;
    await this.bootWith(name, [...packages, ...dependencies(deb, store)]);
    await this.shell("echo 'APT::Get::Assume-Yes \"true\";' >/etc/apt/apt.conf.d/90test");
    this.give(deb, as);
  }

  // The same with only these packages. name: the name of the folder of the bare system, which is kept.
  async bootWith(name, packages) {
    const bare = await base(name, this.#release, packages);
    rmSync(this.folder, { recursive: true, force: true });
    execFileSync('cp', ['-a', '--reflink=auto', bare, this.folder]);
    writeFileSync(join(this.folder, 'etc/hosts'), '127.0.0.1 localhost\n');
    rmSync(`${this.folder}.log`, { force: true });
    await this.#start();
  }

  // Runs work, which reboots the machine, and starts it again. Files stay; network and processes are as after boot().
  async reboots(work) {
    const ended = once(this.#nspawn, 'exit'); // systemd-nspawn ends where --keep-unit is given
    await work().catch(() => {}); // it may end with the machine
    await ended;
    await this.#start();
  }

  async #start() {
    const log = openSync(`${this.folder}.log`, 'a');
    this.#nspawn = this.#spawnIn(this.#cgroupsMake(), ['systemd-nspawn', '-D', this.folder, '--register=no', '--keep-unit',
      ...this.#network, '-b', '--console=read-only'], { stdio: ['ignore', log, log], detached: true });
    const { pid } = this.#nspawn;
    await poll('the machine has booted', async () => {
      this.#leader = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim(); // at first a helper of systemd-nspawn
      return this.#leader && /running|degraded/.test(await this.try('systemctl', 'is-system-running'));
    }, BOOT_SECONDS_MAX);
  }

  // Makes separate control groups. In shared groups, the units of all machines would have the same paths: each systemd
  // would remove groups of the others and try to end their processes ("Failed to kill control group"), and a unit might
  // fail to start.
  #cgroupsMake() {
    this.#cgroup = `hongbao-${basename(this.folder)}-${process.pid}`;
    const made = cgroups().map((folder) => join(folder, this.#cgroup));
    for (const folder of made) mkdirSync(folder, { recursive: true });
    return made;
  }

  // Best effort: a group that is still in use stays.
  async #cgroupsRemove() {
    const tops = readdirSync('/sys/fs/cgroup').map((name) => join('/sys/fs/cgroup', name));
    const folders = [...tops, ...cgroups()].map((folder) => join(folder, this.#cgroup));
    await poll('the groups are removed', () => {
      const left = folders.filter(existsSync);
      for (const folder of left) spawnSync('find', [folder, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';'], { stdio: 'ignore' });
      return left.length === 0;
    }, CGROUPS_SECONDS_MAX).catch(() => {});
  }

  // Starts the command as a member of the groups.
  #spawnIn(groups, command, options) {
    const move = 'while [ "$1" != -- ]; do echo $$ >"$1/cgroup.procs"; shift; done; shift; exec "$@"';
    return spawn('bash', ['-ec', move, 'machine', ...groups, '--', ...command], options);
  }

  // Prints the failed units and the end of the journal, and saves the journal, because end() removes the rest.
  async tell() {
    const journal = join(this.folder, 'var/log/journal');
    if (!existsSync(journal)) return;
    const say = (title, text) => process.stderr.write(`\n---- ${basename(this.folder)}: ${title} ----\n${text}\n`);
    say('units that failed', await this.try('systemctl', 'list-units', '--failed', '--plain', '--no-legend', '--no-pager'));
    await this.try('journalctl', '--sync');
    const kept = `${this.folder}.journal`;
    rmSync(kept, { recursive: true, force: true });
    execFileSync('cp', ['-a', journal, kept]);
    for (const [title, option] of JOURNAL) {
      const options = ['-D', kept, '--no-pager', '-o', 'short-precise', '-n', String(JOURNAL_LINES), option];
      // journalctl exits with an error for a unit without lines
      const { stdout, stderr } = await run('journalctl', options).catch((error) => error);
      say(`journal, ${title}`, `${stdout}${stderr}`);
    }
    say('the whole journal', `journalctl -D ${kept}`);
  }

  // Ends the machine, if it was booted.
  async end() {
    if (this.#nspawn?.exitCode === null) {
      this.#nspawn.kill('SIGTERM');
      await once(this.#nspawn, 'exit');
      await this.#cgroupsRemove();
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  #enter(command, ...network) {
    return ['-t', this.#leader, '-m', '-u', '-i', ...network, '-p', '-C', '-r', '-w', ...ENVIRONMENT, ...command];
  }

  // The command line that runs the command in the machine.
  enter(...command) {
    return ['nsenter', ...this.#enter(command, '-n')];
  }

  // Runs the command in the machine and returns its output, without the last line break. Throws when it fails.
  async run(...command) {
    const { stdout } = await run('nsenter', this.#enter(command, '-n'), { maxBuffer: OUTPUT_MAX });
    return stdout.trimEnd();
  }

  // The same; a command that fails returns its output, too.
  try(...command) {
    return this.run(...command).catch((error) => `${error.stdout}${error.stderr}`.trimEnd());
  }

  shell(script) {
    return this.run('bash', '-ec', script);
  }

  // The same with this machine's network, for commands that need a mirror.
  async online(script) {
    const { stdout } = await run('nsenter', this.#enter(['bash', '-ec', script]), { maxBuffer: OUTPUT_MAX });
    return stdout.trimEnd();
  }

  // A cable between the two machines: eth1 of both, with these addresses.
  async connect(address, other, otherAddress) {
    await run('nsenter', ['-t', this.#leader, '-n', 'ip', 'link', 'add', 'eth1', 'type', 'veth', 'peer', 'name', 'eth1', 'netns', other.#leader]);
    const up = (machine, own) => machine.shell(`ip address add ${own}/24 dev eth1; ip link set eth1 up`);
    await up(this, address);
    await up(other, otherAddress);
  }

  // Copies a file into /root of the machine; returns its path there.
  give(file, name) {
    execFileSync('cp', ['--', file, join(this.folder, 'root', name)]);
    return `/root/${name}`;
  }

  read(file) {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  // Starts a program of this machine in the network of the other one.
  spawn(...command) {
    return spawn('nsenter', ['-t', this.#leader, '-n', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  }
}

// test() and before() of a file that has these machines. The machines end with the file; a failure prints the logs of
// their units.
export function toldBy(...machines) {
  after(async () => {
    for (const machine of machines) await machine.end();
  });
  const told = (work) => async (...given) => {
    try {
      return await work(...given);
    } catch (error) {
      for (const machine of machines) await machine.tell(); // nothing, when it is not booted
      throw error;
    }
  };
  return { test: (name, ...rest) => test(name, ...rest.slice(0, -1), told(rest.at(-1))), before: (work) => before(told(work)) };
}
