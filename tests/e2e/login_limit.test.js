// Which addresses nginx's login limit counts as one visitor, tested on a real nginx with the site's http.conf.
import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { poll } from './support/poll.js';

const run = promisify(execFile);
const SITE = fileURLToPath(new URL('../../nginx', import.meta.url));
let folder;
let nginx;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hongbao-limit-'));
  const temporary = ['client_body', 'fastcgi', 'proxy', 'scgi', 'uwsgi'].map((name) => `${name}_temp_path ${folder}/${name};`);
  await writeFile(join(folder, 'nginx.conf'), `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      ${temporary.join(' ')}
      access_log off;
      include ${SITE}/http.conf;
      include ${SITE}/limits.conf;
      set_real_ip_from unix:;
      real_ip_header X-Real-IP;
      server { listen unix:${folder}/socket; set $hb_error ""; set $hb_login_path ""; location / { return 200 "$hb_address"; } }
    }`);
  nginx = spawn('nginx', ['-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  await poll('nginx listens', () => existsSync(join(folder, 'socket')));
});

after(async () => {
  if (nginx?.exitCode === null && nginx.kill()) await once(nginx, 'exit');
  if (folder) await rm(folder, { recursive: true });
});

async function name(address) {
  const { stdout } = await run('curl', ['-sS', '--unix-socket', join(folder, 'socket'), '-H', `X-Real-IP: ${address}`,
    'http://site/'], { encoding: 'latin1' });
  return stdout;
}

test('IPv6 addresses of one /64 are one visitor', async () => {
  assert.equal(await name('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2');
  assert.equal(await name('2001:db8:1:2::9'), '2001:db8:1:2');
  assert.notEqual(await name('2001:db8:1:3::9'), '2001:db8:1:2');
  assert.equal(await name('2001:db8::7'), '2001:db8::');
  assert.equal(await name('2001:db8::7:8'), '2001:db8::');
});

test('IPv4 addresses are visitors of their own, also inside IPv6, and every address has a key', async () => {
  assert.notEqual(await name('192.0.2.65'), await name('192.0.2.66'));
  assert.notEqual(await name('::ffff:192.0.2.65'), await name('::ffff:192.0.2.66'));
  assert.equal(await name('::1'), '::');
});
