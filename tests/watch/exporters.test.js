// deploy/watch/prometheus.yml and blackbox.yml with a real Prometheus and its exporters: at first nothing is wrong;
// then a disk fills up and the certificate ends. The alerts fire, `hongbao doctor` names the fault, and /readyz stays
// as it is.
import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { certificate, day } from '../e2e/support/certificate.js';
import { env, poll } from '../e2e/support/instance.js';
import { freePort } from '../support/port.js';
import { Prometheus, serve } from './support/prometheus.js';

const run = promisify(execFile);
const WATCH = fileURLToPath(new URL('../../deploy/watch', import.meta.url));
const NGINX = join(env.HB_TEST_VAR, 'nginx.conf');
const DISK_BYTES = 64 << 20;
const DISK_FREE_MIB = '16'; // what the doctor wants: less than an empty disk of this size has

const folder = mkdtempSync(join(tmpdir(), 'hongbao-exporters-'));
const disk = join(folder, 'disk');
const withoutTls = readFileSync(NGINX, 'utf8');
const ends = [];
let host;
let files;
let prometheus;
let noDisk; // the reason

const readyz = () => run('curl', ['-sSk', '-o', '/dev/null', '-w', '%{http_code}', `https://${host}/readyz`]);
const fires = async (alertname, labels) => (await prometheus.firing())
  .some((alert) => Object.entries({ alertname, ...labels }).every(([name, value]) => alert[name] === value));

// The names of the doctor's findings, with these additional arguments and settings (environment).
async function findings(args = [], settings = {}) {
  const { stdout } = await run(env.HB_TEST_BINARY, ['doctor', '--json', '--nginx', NGINX, ...args],
    { env: { ...process.env, HB_CONFIG: env.HB_TEST_CONFIG, ...settings } }).catch((error) => error);
  return JSON.parse(stdout).wrong.map(({ name }) => name);
}

// The site's nginx reads its files again.
const reload = () => process.kill(Number(readFileSync(join(env.HB_TEST_VAR, 'run/nginx.pid'), 'utf8')), 'SIGHUP');

// nginx serves a certificate that is valid until this day. The user of the servers may read the key.
function serveCertificate(until) {
  files = certificate(folder, 'site', 'IP:127.0.0.1', '20200101', until);
  const { uid, gid } = statSync(NGINX);
  chownSync(files.key, uid, gid);
  reload();
}

// The site's nginx with a server that speaks TLS, as on every installed site.
function serveTls() {
  const server = `server { listen ${host} ssl; ssl_certificate ${folder}/site.pem; ssl_certificate_key ${folder}/site.key;
    include hongbao/snippets/tls.conf; root "${env.HB_TEST_VAR}/static"; include hongbao/site.conf; }`;
  writeFileSync(NGINX, withoutTls.replace(/\}\s*$/, `${server}\n}\n`));
  serveCertificate(day(300));
}

// A small disk, which root can make from a file. Sets noDisk where that is not possible.
function makeDisk() {
  if (process.getuid() !== 0) {
    noDisk = 'only root can mount a disk';
    return;
  }
  mkdirSync(disk);
  writeFileSync(`${disk}.img`, '');
  execFileSync('truncate', ['-s', String(DISK_BYTES), `${disk}.img`]);
  execFileSync('/usr/sbin/mkfs.ext4', ['-q', '-F', `${disk}.img`]);
  try {
    execFileSync('mount', ['-o', 'loop', `${disk}.img`, disk], { stdio: 'pipe' });
    ends.push(() => execFileSync('umount', [disk]));
  } catch (error) {
    noDisk = `no disk can be mounted: ${error.stderr}`;
  }
}

before(async () => {
  chmodSync(folder, 0o755);
  host = `127.0.0.1:${await freePort()}`;
  serveTls();
  makeDisk();
  const [node, blackbox] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
  const trust = { SSL_CERT_FILE: files.pem };
  ends.push(serve('prometheus-node-exporter', [`--web.listen-address=${node}`, '--log.level=error']));
  ends.push(serve('prometheus-blackbox-exporter', [`--config.file=${WATCH}/blackbox.yml`, `--web.listen-address=${blackbox}`, '--log.level=error'], trust));
  const config = readFileSync(join(WATCH, 'prometheus.yml'), 'utf8').replaceAll('HOST:443', host).replaceAll('HOST', host)
    .replaceAll('127.0.0.1:9100', node).replaceAll('127.0.0.1:9115', blackbox).replaceAll('5s', '1s').replace('[alerts.yml]', `[${WATCH}/alerts.yml]`);
  prometheus = await new Prometheus().start(config, trust);
  ends.push(prometheus.end);
});

after(async () => {
  writeFileSync(NGINX, withoutTls);
  reload();
  for (const end of ends.reverse()) await end();
  rmSync(folder, { recursive: true });
});

test('a site that is well: each job of prometheus.yml has its answers, and no alert about the site fires', async () => {
  const value = async (expr) => Number((await prometheus.query(expr)).data?.result[0]?.value[1]);
  for (const job of ['hongbao', 'node', 'hongbao-readyz', 'hongbao-certificate']) {
    await poll(`an answer of ${job}`, async () => await value(`up{job="${job}"}`) === 1);
  }
  for (const job of ['readyz', 'certificate']) await poll(job, async () => await value(`probe_success{job="hongbao-${job}"}`) === 1);
  assert.ok(await value('probe_ssl_earliest_cert_expiry{job="hongbao-certificate"} - time()') > 290 * 86400);
  for (const alert of ['HongbaoDown', 'HongbaoNotReady', 'HongbaoCertificate', 'HongbaoCertificateEnds']) {
    assert.equal(await fires(alert), false, alert);
  }
});

test('when a disk fills up, HongbaoDiskFilling fires and the doctor names the disk', async (t) => {
  if (noDisk) {
    t.skip(noDisk);
    return;
  }
  const found = () => findings(['--free', DISK_FREE_MIB], { HB_NGINX_COUNTS_DIR: disk });
  assert.ok(!(await found()).includes('disk-logs'));
  assert.equal(await fires('HongbaoDiskFilling', { mountpoint: disk }), false);
  execFileSync('fallocate', ['-l', String(DISK_BYTES * 0.75), join(disk, 'log')]);
  await poll('HongbaoDiskFilling fires', () => fires('HongbaoDiskFilling', { mountpoint: disk }));
  assert.ok((await found()).includes('disk-logs'));
  assert.equal((await readyz()).stdout, '200');
});

test('when the certificate soon ends, HongbaoCertificate fires and the doctor names it', async () => {
  serveCertificate(day(5));
  await poll('HongbaoCertificate fires', () => fires('HongbaoCertificate', { instance: host }));
  assert.equal(await fires('HongbaoCertificateEnds'), false);
  assert.ok((await findings()).includes('certificate-expires'));
  assert.equal((await readyz()).stdout, '200');
});

test('when the certificate has ended, HongbaoCertificateEnds fires and goes on, as do the alerts of visitors who come to nothing', async () => {
  serveCertificate('20200201');
  for (const alert of ['HongbaoCertificateEnds', 'HongbaoNotReady', 'HongbaoDown']) await poll(`${alert} fires`, () => fires(alert));
  assert.equal(await fires('HongbaoCertificateEnds', { instance: host }), true, 'also after no visitor gets in');
  assert.ok((await findings()).includes('certificate-expired'));
  assert.equal((await readyz()).stdout, '200', 'the site itself is ready');
});
