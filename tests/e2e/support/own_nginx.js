// An nginx of a test alone, in a folder of its own, with a limit. A reload that gives the limit's zone another key is
// refused by the running master only: `nginx -t` takes it.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../../support/poll.js';

export const PROGRAM = execFileSync('sh', ['-c', 'PATH="$PATH:/usr/sbin" command -v nginx'], { encoding: 'utf8' }).trim();

export class OwnNginx {
  #process;

  constructor(folder) {
    mkdirSync(folder, { recursive: true });
    this.folder = folder;
    this.pidFile = join(folder, 'nginx.pid');
    this.log = join(folder, 'error.log');
    this.conf = join(folder, 'nginx.conf');
    this.site = join(folder, 'site');
    writeFileSync(this.conf, `daemon off; worker_processes 1; pid ${this.pidFile}; error_log ${this.log}; events {}
      http { access_log off; include ${this.site}; }\n`);
    writeFileSync(this.site, this.siteText('$binary_remote_addr'));
  }

  siteText(key) {
    const paths = ['client_body', 'fastcgi', 'proxy', 'scgi', 'uwsgi'].map((name) => `${name}_temp_path ${this.folder}/temp;`);
    return `${paths.join(' ')}\nlimit_req_zone ${key} zone=own:1m rate=1r/s; server { listen unix:${this.folder}/socket; }\n`;
  }

  arguments() {
    return ['-e', this.log, '-p', this.folder, '-c', this.conf];
  }

  // Its processes, without the master.
  processes() {
    const pid = existsSync(this.pidFile) ? Number(readFileSync(this.pidFile, 'utf8')) : 0;
    return pid === 0 ? [] : readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  }

  async start() {
    this.#process = spawn(PROGRAM, this.arguments(), { stdio: 'inherit' });
    await poll('nginx has a worker', () => this.processes().length > 0);
  }

  reload() {
    this.#process.kill('SIGHUP');
  }

  async stop() {
    if (this.#process.exitCode === null && this.#process.kill()) await once(this.#process, 'exit');
    rmSync(join(this.folder, 'socket'), { force: true });
  }

  async restart() {
    await this.stop();
    await this.start();
  }
}
