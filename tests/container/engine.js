// An engine of containers in namespaces of its own (engine.sh), for the commands of a page: images are built by buildah,
// run by podman, and compose.yaml is read by Compose. No registry of images is needed: the base is made by debootstrap.
import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { poll } from '../support/poll.js';
import { ROOT, mirror } from '../package/machine.js';

const run = promisify(execFile);
const HERE = fileURLToPath(new URL('.', import.meta.url));
const OUTPUT_MAX = 64 << 20;
export const BASE = 'docker.io/library/debian:13-slim';
// What debian:13-slim also leaves out.
const SLIM = ['doc', 'man', 'locale'].map((name) => `path-exclude=/usr/share/${name}/*\n`).join('');

export class Engine {
  #process;
  #first; // the first process of the namespaces

  constructor() {
    this.folder = join(ROOT, 'build/container');
  }

  async start() {
    this.#remove();
    mkdirSync(join(this.folder, 'bin'), { recursive: true });
    symlinkSync(join(HERE, 'docker.sh'), join(this.folder, 'bin/docker'));
    writeFileSync(join(this.folder, 'containers.conf'), `[containers]
cgroups = "disabled"
pids_limit = 0
default_ulimits = ["nofile=8192:8192", "nproc=8192:8192"]
log_driver = "k8s-file"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
`);
    writeFileSync(join(this.folder, 'storage.conf'), `[storage]
driver = "overlay"
graphroot = "${this.folder}/store"
runroot = "${this.folder}/run"
`);
    const log = openSync(join(this.folder, 'engine.log'), 'w');
    this.#process = spawn('setpriv', ['--pdeathsig=KILL', 'unshare', '--mount', '--pid', '--fork', '--mount-proc', '--kill-child', join(HERE, 'engine.sh'), this.folder],
      { stdio: ['ignore', log, log] });
    const { pid } = this.#process;
    await poll('the engine runs', () => {
      this.#first = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
      return this.#first && existsSync(join(this.folder, 'socket'));
    });
  }

  // Ends the engine with all containers, and removes the images.
  async end() {
    if (this.#process?.exitCode === null) {
      this.#process.kill('SIGKILL');
      await once(this.#process, 'exit');
    }
    this.#remove();
  }

  #remove() {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #enter(command) {
    return ['-t', this.#first, '-m', '-n', '-p', 'env', '-i', `PATH=${this.folder}/bin:/usr/sbin:/usr/bin:/sbin:/bin`, 'HOME=/root', 'LANG=C.UTF-8',
      `CONTAINERS_CONF=${this.folder}/containers.conf`, `CONTAINERS_STORAGE_CONF=${this.folder}/storage.conf`,
      `DOCKER_HOST=unix://${this.folder}/socket`, `HB_ENGINE=${this.folder}`, 'COMPOSE_HTTP_TIMEOUT=600',
      'HONGBAO_UPGRADE_SECONDS=600', ...command];
  }

  // Runs the command in the namespaces and returns its output. Throws when it fails.
  async run(...command) {
    const { stdout } = await run('nsenter', this.#enter(command), { maxBuffer: OUTPUT_MAX });
    return stdout.trimEnd();
  }

  try(...command) {
    return this.run(...command).catch((error) => `${error.stdout}${error.stderr}`.trimEnd());
  }

  shell(script) {
    return this.run('bash', '-ec', script);
  }

  // Starts a program of this machine in the network of the engine.
  spawn(...command) {
    return spawn('nsenter', ['-t', this.#first, '-n', ...command], { stdio: ['ignore', 'pipe', 'inherit'] });
  }

  #buildah(...words) {
    return this.run('nsenter', `--net=${this.folder}/network`, 'buildah', '--root', `${this.folder}/store`, '--runroot', `${this.folder}/run`, ...words);
  }

  // The image `name` of a folder.
  async import(name, folder) {
    const container = await this.#buildah('from', 'scratch');
    await this.#buildah('copy', '-q', container, folder, '/');
    await this.#buildah('config', '--env', 'PATH=/usr/sbin:/usr/bin:/sbin:/bin', '--cmd', 'bash', container);
    await this.#buildah('commit', '-q', container, name);
    await this.#buildah('rm', container);
  }

  // Debian 13 as debian:13-slim has it.
  async base() {
    const folder = join(this.folder, 'debian');
    execFileSync('debootstrap', ['--variant=minbase', 'trixie', folder, mirror()], { stdio: ['ignore', 'ignore', 'inherit'] });
    writeFileSync(join(folder, 'etc/dpkg/dpkg.cfg.d/docker'), SLIM);
    rmSync(join(folder, 'var/cache/apt'), { recursive: true });
    rmSync(join(folder, 'var/lib/apt/lists'), { recursive: true });
    await this.import(BASE, folder);
    rmSync(folder, { recursive: true });
  }

  // Bytes of all layers of the image.
  async size(image) {
    return Number(await this.run('podman', 'image', 'inspect', '--format', '{{.Size}}', image));
  }

  // The status files (proc(5)) of all processes in containers: those in another namespace of processes than the
  // engine's. A process named crun is the engine itself, on its way into a container.
  async processes() {
    const script = `own=$(readlink /proc/self/ns/pid)
      for folder in /proc/[0-9]*; do
        [ "$(readlink $folder/ns/pid)" = "$own" ] || { cat $folder/status 2>/dev/null && echo; }
      done`;
    const all = (await this.shell(script)).split('\n\n').filter(Boolean);
    return all.map((text) => Object.fromEntries(text.split('\n').map((line) => line.split(':\t')).filter(([, value]) => value !== undefined)))
      .filter(({ Name }) => !Name.startsWith('crun'));
  }

  // Prints the logs of the containers, for a test that has failed.
  async tell() {
    process.stderr.write(await this.try('bash', '-c', `podman ps -a; for c in $(podman ps -aq); do echo "---- $(podman inspect -f '{{.Name}}' $c)"; podman logs --tail 20 $c 2>&1; done`));
  }
}
