// A site in containers, by the commands of docs/how-to/container.md: build, start, use, replace under load, back up,
// restore, also without its volumes. Needs root, for namespaces, debootstrap and buildah.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { poll } from '../support/poll.js';
import { ROOT, toldBy } from '../package/machine.js';
import { Pages } from '../package/pages.js';
import { Site, whileLoaded } from '../package/site.js';
import { BASE, Engine } from './engine.js';

if (process.getuid() !== 0) throw new Error('run this test as root: namespaces, debootstrap and buildah need it');

const URL_HERE = 'http://127.0.0.1:8080';
const IMAGE = 'localhost/hongbao:latest';
const SIZE_MAX_MB = 120; // beyond the base
const PAGE = 'container.md';
// The blocks of the page.
const BLOCK = {
  start: 0, audit: 1, build: 2, upgrade: 3, stores: 4, backup: 5, list: 6, restore: 7, lost: 8, copies: 9, passwords: 10,
};
const OFFLINE = ['--pull ', '']; // without a registry
const POOLS = ['hot', 'auth', 'card', 'money', 'page'];
const SERVICES = [...POOLS, 'settle', 'redis', 'mariadb', 'nginx'];
const engine = new Engine();
const sources = join(engine.folder, 'sources');
const folder = join(sources, 'deploy/container');
const pages = new Pages(import.meta.url, [PAGE]);
const { before, test } = toldBy(engine);
let packet;

before(async () => {
  await engine.start();
  await engine.base();
  // The commands write into a copy of the sources.
  mkdirSync(sources);
  const names = (await engine.run('git', '-C', ROOT, '-c', 'safe.directory=*', 'ls-files', '-z', '--cached', '--others', '--exclude-standard')).split('\0');
  for (const name of names.filter((name) => /^(\.dockerignore|CMakeLists|app|deploy|docs\/reference|lua|nginx|sql|static|templates)/.test(name))) {
    cpSync(join(ROOT, name), join(sources, name), { preserveTimestamps: true });
  }
});

// Runs a block of the page in the folder of compose.yaml.
const run = (index, ...replacements) => engine.shell(pages.script(PAGE, index, ...replacements).replace('cd /root', `cd ${index === BLOCK.start ? sources : folder}`));
const compose = (...words) => engine.run('docker', 'compose', '-f', join(folder, 'compose.yaml'), ...words);
const site = new (class extends Site {
  curl(path, ...options) { return engine.run('curl', '-sS', ...options, URL_HERE + path); }

  as(name) { return ['-b', '-c'].flatMap((option) => [option, join(engine.folder, `${name}.jar`)]); }
})(engine);
const upgrade = (...replacements) => run(BLOCK.upgrade, ...replacements);
const audited = async () => assert.match(await run(BLOCK.audit), /^I1 +ok[\s\S]*clean$/m);
const containers = async (service) => (await compose('ps', '-q', service)).split('\n').filter(Boolean);

// Calls the function while 10,000 requests come; returns the errors, { what: count }.
const underLoad = (work) => whileLoaded(engine.spawn(process.execPath, join(ROOT, 'tests/package/load.js'), URL_HERE, packet, join(engine.folder, 'users.tsv')), work);

const imageId = () => engine.run('docker', 'image', 'inspect', '--format', '{{.ID}}', 'hongbao');

// Makes another image of this name, with these additional lines.
async function imageChange(...lines) {
  const file = join(engine.folder, 'Containerfile');
  writeFileSync(file, `FROM ${IMAGE}\n${lines.join('\n')}\n`);
  await engine.run('docker', 'build', '-q', '-f', file, '-t', IMAGE, engine.folder);
}

test('the page builds an image of less than 120 MB beyond its base, and starts a site', async (t) => {
  const trial = 's#^HB_BASE_URL=.*#HB_BASE_URL=http://127.0.0.1:8080#; s#^HB_DEMO=off#HB_DEMO=on#';
  await run(BLOCK.start, OFFLINE, ['cp example.site.env site.env', `sed '${trial}' example.site.env >site.env`]);
  const beyond = (await engine.size(IMAGE) - await engine.size(BASE)) / 1e6;
  t.diagnostic(`${beyond.toFixed(1)} MB beyond the base`);
  assert.ok(beyond <= SIZE_MAX_MB, `${beyond} MB`);
});

test('no process is root, has capabilities or could get some, and the program confines itself further', async () => {
  const all = await engine.processes();
  assert.ok(all.filter(({ Name }) => Name === 'hongbao').length >= 8, JSON.stringify(all.map(({ Name }) => Name)));
  for (const one of all) {
    assert.doesNotMatch(one.Uid, /\b0\b/, one.Name);
    assert.match(`${one.CapEff} ${one.CapPrm} ${one.CapBnd}`, /^[0 ]+$/, one.Name);
    assert.equal(one.NoNewPrivs, '1', one.Name);
    if (one.Name === 'hongbao') assert.equal(one.Seccomp_filters, '2'); // the engine's, and its own
  }
});

test('a service has a read-only image, and the secrets of its role alone', async () => {
  for (const service of SERVICES) {
    const [mount, ...secrets] = (await compose('exec', '-T', service, 'sh', '-c', 'grep " / " /proc/mounts; ls /run/secrets 2>/dev/null || true')).split('\n').filter(Boolean);
    assert.match(mount, / ro,/, service);
    const own = { nginx: [], money: ['money.conf'], settle: ['settle.conf'], redis: ['redis-users.acl'], mariadb: ['mariadb-users.sql'] };
    assert.deepEqual(secrets.sort(), own[service] ?? [`${service}.conf`, `${service}.keys`], service);
  }
});

test('a service reaches the sockets that it needs and no others, and nginx alone has a network', async () => {
  const stores = ['mariadb/mysqld.sock', 'redis/redis.sock'];
  for (const service of SERVICES) {
    const [sockets, networks] = (await compose('exec', '-T', service, 'bash', '-c', 'find /run/hongbao -type s -printf "%P "; echo; sed -n "s/^ *\\([a-z0-9]*\\):.*/\\1/p" /proc/net/dev | xargs')).split('\n');
    const own = { hot: ['hot', 'redis/redis.sock'], settle: stores, redis: ['redis/redis.sock'], mariadb: ['mariadb/mysqld.sock'], nginx: POOLS };
    const reached = new Set(sockets.split(' ').filter(Boolean).map((name) => name.replace(/^(hot|page|auth|card|money)\/.*/, '$1')));
    assert.deepEqual([...reached].sort(), [...own[service] ?? [service, ...stores]].sort(), service);
    assert.match(networks, service === 'nginx' ? /\beth0\b/ : /^lo$/, service);
  }
});

test('the address of a visitor is what the proxy has written, and nobody else reads the metrics', async () => {
  const forwarded = ['-H', 'X-Forwarded-For: 127.0.0.1, 203.0.113.7'];
  assert.equal(await site.status('/metrics', ...forwarded), '403');
  const last = (await compose('logs', '--no-color', '--tail', '9', 'nginx')).split('\n').filter((line) => line.includes('"uri":"/metrics"')).pop();
  assert.match(last, /"from":"203\.0\.113\.7"/);
});

test('the site knows all of its processes, though those of two containers may have the same number', async () => {
  const metrics = await site.curl('/metrics');
  for (const [role, count] of Object.entries({ hot: 2, page: 4, auth: 2, card: 1, money: 1, settle: 1 })) {
    assert.match(metrics, new RegExp(`^hongbao_processes\\{pool="${role}"\\} ${count}$`, 'm'));
  }
});

test('the whole flow works, by HTTP', async () => {
  await site.register('ming', 'hong');
  await site.deposit('ming', 100);
  packet = await site.send('ming', 'first-packet', 'kind=lucky', 'amount=50', 'count=100');
  await site.has('hong', await site.open('hong', packet));
  await audited();
});

test('the fonts of the image draw every character of the texts, and a picture is drawn', async () => {
  assert.equal(await site.curl(`${packet}/card.png`, '-o', '/dev/null', '-w', '%{http_code} %{content_type}'), '200 image/png');
  const texts = join(ROOT, 'templates/text');
  const letters = new Set(readdirSync(texts).map((name) => readFileSync(join(texts, name), 'utf8')).join(''));
  const codes = [...letters].filter((letter) => letter > '~' && !/\p{Emoji_Presentation}/u.test(letter)).map((letter) => letter.codePointAt(0));
  const has = (await compose('exec', '-T', 'card', 'fc-list', '--format', '%{charset} ')).split(' ').filter(Boolean)
    .map((range) => range.split('-').map((code) => parseInt(code, 16)));
  const lacks = codes.filter((code) => !has.some(([first, last = first]) => code >= first && code <= last));
  assert.deepEqual(lacks.map((code) => String.fromCodePoint(code)), []);
});

test('no pool and no worker was refused a system call or a file', async () => {
  const lines = (await compose('logs', '--no-color', ...POOLS, 'settle')).split('\n');
  assert.ok(lines.some((line) => line.includes('fences opened')), lines.join('\n'));
  assert.deepEqual(lines.filter((line) => /system call|Fontconfig|ermission denied|Read-only/.test(line)), []);
});

// Until the work is done, people register (nothing limits their number), send, open and look at a picture; then each
// must have the right money.
async function withGifts(work) {
  const before = await site.balance('hong');
  let received = 0;
  let gifts = 0;
  let isDone = false;
  const done = work().finally(() => { isDone = true; });
  while (!isDone) {
    gifts++;
    await site.register(`guest${Date.now()}`);
    const gift = await site.send('ming', `gift-${Date.now()}`, 'kind=lucky', 'amount=0.04', 'count=2');
    received += await site.open('hong', gift);
    assert.equal(await site.status(`${gift}/card.png`), '200');
    await sleep(1000); // less than the limit of a session
  }
  await done;
  assert.ok(gifts >= 5, `${gifts} gifts`);
  await site.has('hong', before + received);
}

test('10,000 requests see no error while every service of the program is replaced by another image', async () => {
  const users = await compose('run', '-T', '--rm', '--entrypoint', 'sh', 'hongbao', '-c',
    'hongbao demo --users 2000 --out /tmp/users.tsv >&2 && cat /tmp/users.tsv');
  writeFileSync(join(engine.folder, 'users.tsv'), `${users}\n`);
  const services = [...POOLS, 'settle'];
  const before = await Promise.all(services.map(containers));
  // A label makes another image with the same sources.
  await run(BLOCK.build, OFFLINE, ['-t hongbao', '--label next=yes -t hongbao']);
  assert.deepEqual(await underLoad(() => withGifts(upgrade)), {});
  const now = await Promise.all(services.map(containers));
  for (const [i, [container]] of now.entries()) {
    assert.equal(now[i].length, 1);
    assert.notEqual(container, before[i][0]);
    assert.equal(await engine.run('podman', 'inspect', '--format', '{{index .Config.Labels "next"}}', container), 'yes');
  }
  await audited();
});

test('10,000 requests see no error while an image that does not become ready is tried, and the way back', async () => {
  const before = await containers('hot');
  const good = await imageId();
  // An image whose pools answer, but find no Redis.
  await imageChange('USER root', "RUN sed -i 's#^spawn-fcgi#HB_REDIS=unix:/nowhere spawn-fcgi#' /usr/lib/hongbao/pool.sh", 'USER hongbao');
  const errors = await underLoad(() => withGifts(async () => {
    await assert.rejects(upgrade(['./upgrade.sh', 'HONGBAO_UPGRADE_SECONDS=10 ./upgrade.sh']), /the old container of hot serves on/);
    assert.equal(await imageId(), good);
    assert.deepEqual(await containers('hot'), before);
    await upgrade();
  }));
  assert.deepEqual(errors, {});
  await audited();
});

test('an upgrade that was killed is ended by the next, and one that would not start changes nothing', async () => {
  const good = await imageId();
  for (const moment of ['^stop ', '^rm ', 'reload$']) {
    await imageChange(`LABEL moment="${moment}"`);
    writeFileSync(join(engine.folder, 'kill'), `${moment}\n`);
    await assert.rejects(upgrade(), /Killed|code: 137|failed/);
    assert.equal(await site.status('/readyz'), '200', moment);
    await upgrade();
    for (const pool of POOLS) {
      const [one, ...others] = await containers(pool);
      assert.deepEqual(others, [], `${pool} ${moment}`);
      assert.equal(await engine.run('podman', 'inspect', '--format', '{{.Image}}', one), await imageId(), `${pool} ${moment}`);
    }
  }
  const file = join(folder, 'compose.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/^ {2}money:\n(?: {4}.*\n)+/m, '')); // of a version without this pool
  await assert.rejects(upgrade(), /compose\.yaml has no service money/);
  writeFileSync(file, text);
  const [one] = await containers('hot');
  await imageChange('USER root', 'RUN echo no_setting = 1 >>/etc/hongbao/container.conf', 'USER hongbao');
  await assert.rejects(upgrade(), /no_setting/);
  assert.deepEqual(await containers('hot'), [one]);
  assert.equal(await site.status('/readyz'), '200');
  await engine.run('docker', 'tag', good, 'hongbao'); // back
  await upgrade();
  await audited();
});

test('a service that is killed comes back, also all at once', async () => {
  const killed = async (services) => {
    const all = (await Promise.all(services.map(containers))).flat();
    const pids = () => engine.run('podman', 'inspect', '--format', '{{.State.Pid}}', ...all).then((text) => text.split('\n'));
    const before = await pids(); // `podman kill` would be an end that is wanted
    await engine.run('kill', '-KILL', ...before);
    await poll('other processes run', async () => (await pids()).every((pid) => pid !== '0' && !before.includes(pid)));
    await site.ready();
  };
  for (const service of SERVICES) await killed([service]);
  await killed(SERVICES);
  await audited();
  await run(BLOCK.stores);
  await site.ready();
});

test('a restore brings back what a verified backup has, and nothing of later', async () => {
  const before = await site.balance('ming');
  await run(BLOCK.backup);
  await site.deposit('ming', 7, 'second-deposit');
  assert.equal(await site.balance('ming'), before + 700);
  const name = (await run(BLOCK.list)).split('\n').pop();
  await run(BLOCK.restore, ['2026-11-29T033000Z', name]);
  await site.ready();
  assert.equal(await site.balance('ming'), before);
  assert.ok(await site.share('hong', packet));
  await audited();
});

test('the volume of a store is lost, and then all volumes: the secrets, a backup and the page bring the money back', async (t) => {
  const before = await site.balance('ming');
  const name = (await run(BLOCK.list)).split('\n').pop();
  const restored = async () => {
    await run(BLOCK.restore, ['2026-11-29T033000Z', name]);
    await site.ready();
    assert.equal(await site.balance('ming'), before);
    await audited();
  };
  await run(BLOCK.lost);
  await restored();
  await compose('down', '-v');
  const begun = performance.now();
  await compose('up', '-d');
  await site.ready();
  t.diagnostic(`an empty site is ready after ${((performance.now() - begun) / 1000).toFixed(1)} s`);
  await run(BLOCK.copies);
  await restored();
});

test('a site whose secrets are gone gets no others, and a role gets a new password', async () => {
  await engine.shell(`mv ${folder}/secrets ${folder}/kept && install -d -m 700 -o 10000 -g 10000 ${folder}/secrets`);
  await assert.rejects(upgrade(), /this site has data, but the folder secrets is without its files/);
  await engine.shell(`rmdir ${folder}/secrets && mv ${folder}/kept ${folder}/secrets`);
  const before = readFileSync(join(folder, 'secrets/hot.conf'), 'utf8');
  await run(BLOCK.passwords);
  assert.notEqual(readFileSync(join(folder, 'secrets/hot.conf'), 'utf8'), before);
  await site.ready();
  await audited();
});

test('the page has no other commands', () => assert.deepEqual(pages.left, []));
