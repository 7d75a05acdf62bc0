// deploy/commands/doctor.sh: which findings it derives from the output of systemctl, journalctl and logrotate, which
// this test replaces by its own programs, and from certificates. doctor.test.js and package/doctor.test.js test the
// whole doctor.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import { certificate, day, moment } from './support/certificate.js';
import { OwnNginx } from './support/own_nginx.js';
import { poll } from '../support/poll.js';

const SCRIPT = new URL('../../deploy/commands/doctor.sh', import.meta.url).pathname;
const HOST = 'hongbao.example';
const HOUR = 3600;
const DAY = 24 * HOUR;
let folder;
let programs;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'hongbao-doctor-script-'));
  programs = join(folder, 'bin');
  mkdirSync(programs);
});
after(() => rmSync(folder, { recursive: true }));

// Makes the named program print the text to the descriptor, and exit with the status.
function answers(program, text, status = 0, descriptor = 1) {
  const file = join(programs, program);
  writeFileSync(`${file}.txt`, text);
  writeFileSync(file, `#!/bin/sh\ncat '${file}.txt' >&${descriptor}\nexit ${status}\n`, { mode: 0o755 });
}

// The lines of the script, each a list of its fields without the area.
async function lines(...args) {
  const { stdout } = await promisify(execFile)(SCRIPT, args, { env: { PATH: `${programs}:${process.env.PATH}` } });
  return stdout.split('\n').slice(0, -1).map((line) => line.split('\t'));
}
const named = async (...args) => (await lines(...args)).map(([, , name]) => name);

// ---- units ----

const unit = (id, load, active, sub, file, reload = 'no') =>
  `Id=${id}\nLoadState=${load}\nActiveState=${active}\nSubState=${sub}\nUnitFileState=${file}\nNeedDaemonReload=${reload}\n\n`;
const target = (active, file) => unit('hongbao.target', 'loaded', active, active, file);
const units = (...texts) => { answers('systemctl', texts.join('')); return lines('service'); };
const stopped = unit('hongbao-hot@1.service', 'loaded', 'inactive', 'dead', 'enabled');

test('a service that runs has no finding, and of a stopped one only the target is named', async () => {
  assert.deepEqual(await units(target('active', 'enabled'), unit('hongbao-hot@1.service', 'loaded', 'active', 'running', 'enabled'),
    unit('hongbao-backup.service', 'loaded', 'inactive', 'dead', 'static'), unit('hongbao-x.timer', 'loaded', 'inactive', 'dead', 'disabled')), []);
  assert.deepEqual(await units(target('inactive', 'enabled'), stopped, unit('hongbao-backup.timer', 'loaded', 'active', 'waiting', 'enabled')), [
    ['fact', 'backup-timer'], ['fact', 'stopped'],
    ['wrong', 'units', 'unit-stopped', 'the service is stopped: hongbao.target', 'systemctl start hongbao.target']]);
  const [[, area, name]] = await units(target('inactive', 'disabled'), stopped.replace('enabled', 'disabled'));
  assert.deepEqual([area, name], ['service', 'out-of-service']);
  for (const [active, file] of [['active', 'disabled'], ['inactive', 'enabled'], ['failed', 'disabled']]) {
    assert.ok((await units(target(active, file))).every((line) => line[1] !== 'service'), active);
  }
});

test('each state is one finding with its command, and a failed unit has its last words', async () => {
  answers('journalctl', "can't read x:\ty\n\nhongbao-hot@2.service: Failed with result 'exit-code'.\n");
  assert.deepEqual(await units(target('active', 'disabled'),
    unit('hongbao-hot@1.service', 'masked', 'inactive', 'dead', 'masked'),
    unit('hongbao-hot@2.service', 'loaded', 'activating', 'auto-restart', 'enabled'),
    unit('hongbao-backup.service', 'loaded', 'failed', 'failed', 'static'),
    stopped, unit('hongbao-page.socket', 'loaded', 'inactive', 'dead', 'enabled'),
    unit('hongbao-settle.service', 'loaded', 'active', 'running', 'enabled', 'yes')), [
    ['wrong', 'units', 'unit-masked', 'these units are masked, so they never start: hongbao-hot@1.service', 'systemctl unmask hongbao-hot@1.service'],
    ['wrong', 'units', 'unit-failed', 'these units ended with an error: hongbao-hot@2.service hongbao-backup.service;'
      + " hongbao-hot@2.service says: can't read x: y; hongbao-backup.service says: can't read x: y",
    "systemctl restart hongbao-hot@2.service hongbao-backup.service; journalctl -u 'hongbao-*' -n 50 --no-pager"],
    ['wrong', 'units', 'unit-stopped', 'these units are enabled, but do not run: hongbao-hot@1.service hongbao-page.socket',
      'systemctl start hongbao-hot@1.service hongbao-page.socket'],
    ['wrong', 'units', 'unit-disabled', 'these units do not start with the machine: hongbao.target', 'systemctl enable --now hongbao.target'],
    ['wrong', 'units', 'unit-old-file', 'the files of these units have changed since systemd read them: hongbao-settle.service',
      "systemctl daemon-reload; systemctl try-restart 'hongbao-*@*.service' hongbao-settle.service"]]);
  answers('journalctl', `\0${'x'.repeat(100_000)}\n`);
  const [[, , , text]] = await units(target('active', 'enabled'), unit('hongbao-hot@2.service', 'loaded', 'failed', 'failed', 'enabled'));
  assert.ok(text.length > 1000 && text.length < 5000, 'a long line with a NUL');
  answers('systemctl', '', 1);
  assert.deepEqual(await lines('service'), [['unchecked', 'units', 'units', 'systemctl does not tell their states']]);
});

// ---- nginx ----

test('an nginx that refused a reload, or was not reloaded since a file changed', async () => {
  const own = new OwnNginx(join(folder, 'nginx'));
  const loaded = join(folder, 'loaded');
  const args = () => ['nginx', own.pidFile, own.log, 'conf', own.conf, 'conf', own.site, 'loaded', loaded];
  const texts = async () => (await lines(...args())).map(([kind, area, name, text]) => `${kind} ${area} ${name}: ${text}`);
  const since = (seconds) => utimesSync(own.site, Date.now() / 1000 + seconds, Date.now() / 1000 + seconds);
  const stale = [`wrong nginx nginx-old-file: nginx has not read these files since they changed: ${own.site}`];
  await own.start();
  try {
    since(-60);
    assert.deepEqual(await texts(), []);
    /* The start of a process, in whole seconds, differs by one from call to call: so one second more than needed. */
    const touched = async () => { since(-1); return texts(); };
    await poll('it changed some seconds after nginx began', async () => (await touched()).length > 0);
    since(0);
    assert.deepEqual(await texts(), stale);
    since(60);
    assert.deepEqual(await texts(), [], 'a time to come says nothing');
    since(0);
    writeFileSync(loaded, `${createHash('sha256').update(readFileSync(own.site)).digest('hex')}  ${own.site}\n`);
    assert.deepEqual(await texts(), [], 'setup had nginx read this text');
    writeFileSync(own.site, own.siteText('$request_uri'));
    assert.deepEqual(await texts(), stale);
    await own.reload();
    const [text, ...others] = await poll('nginx has refused', async () => (await texts())[0]?.includes('refused') && texts());
    assert.match(text, /^wrong nginx nginx-old-file: nginx refused the last reload, [^\n]*: \[emerg\] .* uses the "\$request_uri" key while previously it used/);
    assert.deepEqual(others, [], 'one finding of one cause');
    renameSync(own.log, `${own.log}.1`);
    assert.equal((await texts()).length, 1, 'also when the log was rotated');
    renameSync(`${own.log}.1`, own.log);
    const [pid] = readFileSync(own.pidFile, 'utf8').split('\n');
    const at = new Date(Date.now() + DAY * 1000).toISOString().replaceAll('-', '/').replace('T', ' ').slice(0, 19);
    writeFileSync(own.log, `${at} [emerg] ${pid}#${pid}: open() "/x/error.log" failed (13: Permission denied)\n${at} [emerg] 1#1: of another process\n`);
    assert.deepEqual(await texts(), stale, 'neither a log that could not be opened nor nginx -t is a refused reload');
    await own.restart();
    assert.deepEqual(await texts(), []);
  } finally {
    await own.stop();
  }
  assert.deepEqual(await texts(), [], 'nginx-port tells that nothing runs');
});

// ---- logs ----

test('a log is rotated when logrotate considers it, and its timer runs', async () => {
  const log = join(folder, 'a b.log');
  writeFileSync(log, '');
  answers('systemctl', '');
  const considers = (text) => answers('logrotate', `reading config file /etc/logrotate.conf\nconsidering log ${text}\n`, 0, 2);
  considers(log);
  assert.deepEqual(await lines('log', log, 'log', '/nowhere/yet.log'), []);
  considers(`${log}.1`);
  const [[, , name, text, mend], ...others] = await lines('log', log);
  assert.deepEqual([name, others], ['log-rotation', []]);
  assert.match(text, /^no file in \/etc\/logrotate\.d has \S+\/a b\.log, so the addresses/);
  assert.match(mend, /^sed 's\|@LOG@\|/);
  considers(log);
  answers('systemctl', '', 1);
  assert.match((await lines('log', log))[0][3], /^logrotate\.timer is not enabled/);
  const late = [['unchecked', 'logs', 'logs']];
  answers('systemctl', '', 124); // what `timeout` answers for a program that does not end
  assert.deepEqual((await lines('log', log)).map((line) => line.slice(0, 3)), late);
  answers('systemctl', '');
  answers('logrotate', '', 124);
  assert.deepEqual((await lines('log', log)).map((line) => line.slice(0, 3)), late);
});

// ---- certificates ----

// The files of a self-signed certificate for the host, valid between these times, in seconds from now.
function selfSigned(file, from, to, host = HOST) {
  const { pem, key } = certificate(folder, file, `${host.includes(':') ? 'IP' : 'DNS'}:${host}`, moment(from), moment(to));
  return [pem, key];
}

test('a certificate is judged to the second and by its host', async () => {
  const SELF = 'certificate-self-signed';
  const cases = [
    [-HOUR, 100 * DAY, HOST, []], [-2 * HOUR, -HOUR, HOST, ['certificate-expired']], [-HOUR, HOUR, HOST, ['certificate-expires']],
    [-HOUR, 14 * DAY - HOUR, HOST, ['certificate-expires']], [-HOUR, 14 * DAY + HOUR, HOST, []], [HOUR, 100 * DAY, HOST, ['certificate-early']],
    [-HOUR, 100 * DAY, 'other.example', ['certificate-host']], [-HOUR, 100 * DAY, '2001:db8::1', ['certificate-host']],
  ];
  for (const [from, to, host, wanted] of cases) {
    const files = selfSigned('one', from, to, host);
    const dated = wanted.filter((name) => name !== 'certificate-host');
    const of = wanted.filter((name) => name === 'certificate-host');
    assert.deepEqual(await named('host', HOST, 'tls', 'certificate', ...files), [...dated, SELF, ...of], `${from} ${to} ${host}`);
    assert.deepEqual(await named('host', host, 'tls', 'certificate', ...files), [...dated, SELF], host);
  }
  const files = selfSigned('one', -HOUR, 100 * DAY);
  const mends = async (...args) => (await lines(...args, 'host', 'other.example', 'tls', 'certificate', ...files)).map((line) => line[4]);
  assert.deepEqual(await mends(), ['request a certificate of an authority (docs/how-to/tls.md)', `nginx -s reload # once ${files[0]} and its key are right`]);
  answers('systemctl', '');
  assert.match((await mends('service'))[1], /^hongbao setup --certificate FILE --key FILE # /);
});

test('a certificate and its key that are not there, do not fit, or are open to everybody', async () => {
  const authority = certificate(folder, 'authority', 'DNS:authority.example', '20200101', day(900));
  const made = certificate(folder, 'signed', `DNS:${HOST}`, '20200101', day(300), authority);
  // a shell must not expand these names
  const [pem, key] = [join(folder, "-it's $(x) `y`.pem"), join(folder, '-"*".key')];
  renameSync(made.pem, pem);
  renameSync(made.key, key);
  const finds = async (...files) => (await lines('host', HOST, 'tls', 'certificate', ...files)).map(([, , name, text]) => `${name}: ${text}`);
  assert.deepEqual(await finds(pem, key), [], 'signed by an authority');
  assert.deepEqual(await finds(pem, ''), [], 'nginx names no key for it');
  assert.deepEqual(await finds(pem, authority.key), [`certificate-key: the private key ${authority.key} is not that of the certificate ${pem}`]);
  assert.deepEqual(await finds(pem, '/nowhere/key'), ["certificate-key: the private key /nowhere/key can't be read"]);
  assert.deepEqual(await finds(key, '/nowhere/key'), [`certificate-missing: the certificate ${key} can't be read`, "certificate-key: the private key /nowhere/key can't be read"]);
  assert.deepEqual(await finds('/nowhere/pem', key), ["certificate-missing: the certificate /nowhere/pem can't be read"]);
  for (const mode of [0o604, 0o602]) {
    chmodSync(key, mode);
    assert.deepEqual(await finds(pem, key), [`certificate-key-mode: everybody on this machine may read the private key ${key}`]);
  }
});

// ---- what a server shows ----

test('of several sites the certificate of the host is asked for, and a server without an answer is left', async () => {
  const [pem, key] = selfSigned('served', -HOUR, 100 * DAY);
  const [otherPem, otherKey] = selfSigned('default', -HOUR, 100 * DAY, 'default.example');
  const server = createTlsServer({ cert: readFileSync(otherPem), key: readFileSync(otherKey) });
  server.addContext(HOST, { cert: readFileSync(pem), key: readFileSync(key) });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address();
  const asks = async (listen, ...files) => (await lines('host', HOST, 'plain', 'certificate', ...files, 'listen', listen)).slice(1); // the first: self-signed
  for (const listen of [`${port} ssl`, `127.0.0.1:${port} ssl http2`, `*:${port} ssl`, `0.0.0.0:${port} ssl`, `name.example:${port} ssl`]) {
    assert.deepEqual(await asks(listen, pem, key), [], listen);
    assert.deepEqual((await asks(listen, otherPem, otherKey)).map((line) => line[2]), ['certificate-served'], listen);
  }
  server.close();
  assert.deepEqual(await asks(`${port} ssl`, pem, key), [], 'nginx-port tells that nothing listens');
  assert.match((await asks('unix:/nowhere/tls ssl', pem, key))[0][3],
    /^no TLS handshake for hongbao\.example with nginx \(listen unix:\/nowhere\/tls ssl\): No such file/);
  const silent = createServer((socket) => socket.on('error', () => {}));
  await once(silent.listen(0, '127.0.0.1'), 'listening');
  assert.match((await asks(`${silent.address().port} ssl`, pem, key))[0][3], /: Connection timed out$/);
  silent.close();
});

test('wrong arguments are refused', async () => {
  await assert.rejects(lines('nonsense'), { code: 2 });
});
