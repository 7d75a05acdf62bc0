// A bare Debian with these sources; ./dev gets what it needs from the mirrors and registries of this machine.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, createWriteStream, existsSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Machine, sourcesCopy } from '../package/machine.js';

const SOURCES = '/srv/hongbao'; // where the user of the servers can read them
const CERTIFICATES = 'usr/local/share/ca-certificates'; // an administrator's own, which mirrors may need
const LINES_SHOWN = 150;

export class Bare extends Machine {
  #log;
  #release;

  constructor(name, release) {
    super(name, release, { network: [] });
    this.#release = release;
    this.#log = `${this.folder}.commands.log`;
  }

  // found: packages that are already installed.
  async bootBare(found = []) {
    rmSync(this.#log, { force: true });
    await this.bootWith(['debian', this.#release, 'bare', ...found].join('-'), ['ca-certificates', ...found]);
    if (existsSync(join('/', CERTIFICATES))) cpSync(join('/', CERTIFICATES), join(this.folder, CERTIFICATES), { recursive: true });
    await this.run('update-ca-certificates');
    mkdirSync(join(this.folder, SOURCES));
    sourcesCopy(join(this.folder, SOURCES));
  }

  // The path of a file of the sources on this machine.
  source(path) {
    return join(this.folder, SOURCES, path);
  }

  // Starts a command in the sources. Its output goes to the log. The result has text, what it has printed so far, and
  // later its exit code; ended resolves to that.
  starts(...command) {
    const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
    const environment = ['CI=true', 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt', `npm_config_registry=${registry}`];
    const [file, ...args] = this.enter('env', '-C', SOURCES, ...environment, ...command);
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const out = createWriteStream(this.#log, { flags: 'a' });
    out.write(`---- ${command.join(' ')}\n`);
    const running = { text: '' };
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        running.text += text;
        out.write(text);
      });
    }
    running.ended = new Promise((done) => { child.on('close', (code) => { running.code = code; done(code); }); });
    return running;
  }

  // Waits for it, and returns what it has printed. Fails unless it succeeds.
  async succeeds(running) {
    const code = await running.ended;
    assert.equal(code, 0, `${running.text.split('\n').slice(-LINES_SHOWN).join('\n')}\n(${this.#log} has all)`);
    return running.text;
  }
}
