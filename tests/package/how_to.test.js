// The tutorial, and the pages of docs/how-to that need an installed site, command by command as an operator follows them:
// on a separate Debian, in the order of a site's life. Needs root, for debootstrap and systemd-nspawn.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { poll } from '../support/poll.js';
import { MORE, Machine, ROOT, packageReady, toldBy } from './machine.js';
import { Pages } from './pages.js';
import { HOST, NOTHING_WRONG, Site } from './site.js';
import { converse, setupDialogue } from './terminal.js';

const ADDRESS = '192.0.2.10';
const PAGES = ['../../README.md', '../tutorial.md', 'install.md', 'tls.md', 'users.md', 'scale.md', 'logs.md', 'watch.md', 'fail2ban.md',
  'firewall.md', 'branding.md', 'backup.md', 'migrations.md', 'upgrade.md', 'open.md', 'rotate-secrets.md', 'move.md', 'remove.md'];
const pages = new Pages(import.meta.url, PAGES, { HOST });
const machine = new Machine('how-to');
const another = new Machine('how-to-new');
const site = new Site(machine, ADDRESS);
let deb;

// Boots a machine, which gets its own address.
async function boot(it) {
  await it.boot(deb, { packages: MORE, as: 'hongbao_1_all.deb' });
  await it.shell(`echo '${ADDRESS} ${HOST}' >>/etc/hosts`);
  await connect(it);
}

const connect = (it) => it.shell(`ip link add eth1 type veth peer name eth1-end; ip link set eth1 up; ip link set eth1-end up
  ip address add ${ADDRESS}/24 dev eth1`);

const { before, test } = toldBy(machine, another);
before(async () => {
  deb = await packageReady();
  await boot(machine);
});

const run = (page, index, ...replacements) => pages.run(machine, page, index, ...replacements);
const unitIs = async (unit) => machine.try('systemctl', 'is-active', unit);
const shows = async (name, on = machine) => assert.match(await on.run('hongbao', 'user', 'show', name), new RegExp(`^username ${name}$`, 'm'));
// nginx has the certificate that this machine trusts.
const isTrusted = () => poll('nginx has the certificate', async () => /^ready/.test(await machine.try('curl', '-sS', `https://${HOST}/readyz`)));

test('the tutorial: from an empty machine to a packet that a phone opens', async () => {
  await run('../tutorial.md', 0);
  const url = (await run('../tutorial.md', 1, ['192.168.1.20', ADDRESS])).split('\n').pop();
  assert.equal(url, `https://${ADDRESS}/`);
  const browser = machine.spawn(process.execPath, join(ROOT, 'tests/package/tutorial.js'), ADDRESS);
  assert.equal((await once(browser, 'exit'))[0], 0);
  assert.match(await run('../tutorial.md', 2), /^I1 +ok[\s\S]*clean$/);
  assert.match(await run('../tutorial.md', 3), NOTHING_WRONG);
});

test('remove.md: the money stays after a removal, and goes with a purge that was told so', async () => {
  await run('remove.md', 1);
  await run('remove.md', 0);
  assert.doesNotMatch(await machine.run('mariadb', '-N', '-e', 'SHOW DATABASES'), /hongbao/);
  assert.equal(await machine.try('bash', '-c', 'command -v hongbao; ls -d /etc/hongbao 2>/dev/null'), '');
});

test('README.md, install.md: two commands and four answers make a site, which the same commands keep', async () => {
  const { code, output } = await converse(machine.enter('bash', '-ec', pages.script('../../README.md', 0)), setupDialogue(HOST, '', '', ''));
  assert.equal(code, 0, output);
  assert.ok(output.includes(`https://${HOST}/`), output);
  await site.ready();
  await run('install.md', 0);
  await site.ready();
});

test('install.md: a certificate, and the units', async () => {
  const folder = `/etc/letsencrypt/live/${HOST}`;
  await site.sign(`${folder}/fullchain.pem`, `${folder}/privkey.pem`);
  assert.match(await run('install.md', 1), new RegExp(`^https://${HOST}/$`, 'm'));
  await isTrusted();
  await run('install.md', 2);
  assert.equal(await unitIs('hongbao.target'), 'inactive');
  await machine.run('systemctl', 'start', 'hongbao.target');
  await site.ready();
});

test('tls.md: the folder of Let\'s Encrypt, and another certificate', async () => {
  await site.sign('/etc/ssl/site.pem', '/etc/ssl/private/site.key');
  await pages.runAll(machine, 'tls.md');
  await isTrusted();
});

test('users.md: a user is shown, reset, disabled and enabled', async () => {
  await site.register('alice');
  const said = await run('users.md', 0);
  assert.match(said, /^username alice$/m);
  assert.match(said, /^new password \S+$/m);
  assert.match(said, /^alice \(\d+\): /m);
});

test('users.md: people who help users run hongbao user with sudo, and nothing else as root', async () => {
  assert.match(await run('users.md', 1), /parsed OK$/m);
  const anna = (...command) => machine.run('runuser', '-u', 'anna', '--', ...command);
  assert.match(await anna('sudo', '-n', 'hongbao', 'user', 'show', 'alice'), /^username alice$/m);
  assert.match(await anna('sudo', '-n', 'hongbao', 'user', 'reset', 'alice'), /^new password \S+$/m);
  await assert.rejects(anna('hongbao', 'user', 'show', 'alice'), /support\.conf: Permission denied/);
  for (const command of [['hongbao', 'audit'], ['hongbao', '--config', '/dev/null', 'user', 'show', 'alice'], ['cat', '/etc/hongbao/secret']]) {
    await assert.rejects(anna('sudo', '-n', ...command), /a password is required/);
  }
  await poll('the journal has it', async () => /anna : .*COMMAND=\/usr\/bin\/hongbao user reset alice/.test(await run('users.md', 2)));
  await machine.run('usermod', '-aG', 'adm', 'anna');
  const id = /"id":"([0-9a-f]{32})"/.exec(machine.read('var/log/nginx/hongbao.access.log'))[1];
  assert.match(await anna('hongbao', 'trace', id), new RegExp(id));
});

test('scale.md: one more process', async () => {
  await run('scale.md', 0);
  assert.equal(await unitIs('hongbao-page@3'), 'active');
});

test('logs.md: a request is found by its id, also in an older file, and logs are kept as long as the page says', async () => {
  await run('logs.md', 0);
  const id = await machine.shell(`${pages.script('logs.md', 1)}\necho "$ID"`);
  const trace = (index) => machine.shell(`ID=${id}\n${pages.script('logs.md', index)}`);
  const line = new RegExp(`"id":"${id}".*"uri":"/wallet"`);
  await poll('nginx has written its line', async () => line.test(await trace(2).catch(() => '')));
  assert.match(await run('logs.md', 3), /considering log \/var\/log\/nginx\/hongbao\.access\.log/);
  await run('logs.md', 4);
  assert.match(machine.read('etc/logrotate.d/nginx'), /^\trotate 7$/m);
  assert.match(await trace(5), line);
  assert.ok(existsSync(join(machine.folder, 'var/log/nginx/hongbao.access.log.1')));
  assert.ok(JSON.parse(await run('logs.md', 7)).MESSAGE);
  await site.nothingIsWrong();
});

test('watch.md: Prometheus gets answers from every job', async () => {
  await run('watch.md', 0);
  await run('watch.md', 1);
  assert.match(machine.read('etc/nginx/hongbao-metrics.conf'), new RegExp(`^allow ${ADDRESS};$`, 'm'));
  const value = async (query) => {
    const answer = await machine.try('curl', '-sS', '-G', 'http://127.0.0.1:9090/api/v1/query', '--data-urlencode', `query=${query}`);
    return answer.startsWith('{') ? JSON.parse(answer).data?.result[0]?.value[1] : undefined;
  };
  await poll('four jobs are up', async () => await value('count(up{instance!~"localhost.*"} == 1)') === '4');
  await poll('the site answers visitors', async () => await value('count(probe_success == 1)') === '2');
  await run('watch.md', 2);
  await poll('all answer again', async () => await value('count(up{instance!~"localhost.*"} == 1)') === '4');
  await run('watch.md', 3);
  assert.match(await run('watch.md', 4), /^PONG\nappendonly\nyes\nmaxmemory-policy\nnoeviction\nmaxmemory\n\d+$/);
  const [, runbook] = /runbook: (\S+)#/.exec(machine.read('etc/prometheus/alerts.yml'));
  await machine.run('test', '-f', `/usr/share/doc/hongbao/${runbook}`);
});

test('fail2ban.md: guesses are counted from the journal, and their address is blocked', async () => {
  await run('fail2ban.md', 0);
  const guess = () => site.curl('/login', '-o', '/dev/null', '-d', 'username=nobody&password=guessed');
  await guess();
  const look = () => run('fail2ban.md', 1).catch(({ stdout }) => stdout);
  await poll('the filter finds it', async () => /Journal matches:.*hongbao[^]*^Lines: .*, [1-9]\d* matched/m.test(await look()));
  await machine.run('fail2ban-client', 'set', 'hongbao', 'ignoreself', 'false');
  await machine.run('fail2ban-client', 'set', 'hongbao', 'maxretry', '3');
  for (let i = 0; i < 5; i++) await guess().catch(() => {}); // the last guesses may already be blocked
  await poll('the address is blocked', async () => new RegExp(`Banned IP list:\\s+${ADDRESS}`).test(await machine.run('fail2ban-client', 'status', 'hongbao')));
  // The list has the address before its rule is loaded.
  const isRefused = () => site.curl('/', '-m', '5').then(() => false, ({ message }) => /Failed to connect|timed out|refused/i.test(message));
  await poll('the address is refused', isRefused);
  await machine.shell(`ADDRESS=${ADDRESS}\n${pages.script('fail2ban.md', 2)}`);
  await poll('the address is served again', async () => !await isRefused());
  await machine.run('systemctl', 'stop', 'fail2ban');
  await site.ready();
});

test('firewall.md: the rules are loaded', async () => {
  await pages.runAll(machine, 'firewall.md');
  assert.match(await machine.run('nft', 'list', 'table', 'inet', 'hongbao'), /ct count over 1000/);
  await site.ready();
});

// What a visitor with this language gets: the home page, its style sheet, and a page of nginx itself.
async function lookOf(language) {
  const get = (path) => site.curl(path, '-H', `Accept-Language: ${language}`);
  const home = await get('/');
  const [sheet] = /\/static\/app\.[0-9a-f]{10}\.css/.exec(home);
  return { home, sheet, css: await site.curl(sheet, '-f'), missing: await get('/static/missing.css') };
}

test('branding.md: another name, colour and logo, which an upgrade keeps, and back', async () => {
  const looks = () => Promise.all(['en', 'zh-CN'].map(lookOf));
  const earlier = await looks();
  writeFileSync(join(machine.folder, 'root/logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 28 28"><path d="M0 0h28v28z"/></svg>');
  for (const block of [0, 1, 2, 3]) await run('branding.md', block);
  assert.match(await run('branding.md', 4), NOTHING_WRONG);
  const shown = async () => {
    for (const [look, name, title] of (await looks()).map((it, i) => [it, ...[['Lucky Goose', 'send some luck'], ['福鹅', '发一份好运']][i]])) {
      assert.match(look.home, new RegExp(`<title>${name}[^<]*${title}</title>`));
      assert.match(look.missing, new RegExp(`<title>.* · ${name}</title>`));
      assert.match(look.css, /--red: #0b5d55/);
      const [logo] = /\/static\/logo\.[0-9a-f]{10}\.svg/.exec(look.home);
      assert.match(await site.curl(logo, '-f'), /M0 0h28v28z/);
    }
  };
  const areShown = () => poll('the pages have it', () => shown().then(() => true, () => false)).catch(shown);
  await areShown();
  assert.match(await site.curl('/static/sw.js'), /look 1/);

  // The state after an upgrade: the earlier version had another text, and lacked a file.
  await machine.shell(`cd /etc/hongbao/look
    for folder in . original; do sed -i 's/^home_title = .*/home_title = Begin/' $folder/templates/text/en.txt; rm $folder/static/verify.js; done
    echo 'Disallow: /mine' >>static/robots.txt; echo 'Disallow: /earlier' >>original/static/robots.txt`);
  assert.match(await run('branding.md', 5), /^by hand: static\/robots\.txt$[^]*^< home_title = Begin$/m);
  await run('branding.md', 6);
  const file = (name) => machine.read(`etc/hongbao/look/${name}`);
  assert.match(file('templates/text/en.txt'), /^site_name = Lucky Goose$[^]*^home_title = Home$/m);
  assert.equal(file('static/verify.js'), machine.read('usr/share/hongbao/static/verify.js'));
  assert.match(file('static/robots.txt'), /Disallow: \/mine/);
  await areShown();

  await run('branding.md', 7);
  await poll('the pages are as before', async () => isDeepStrictEqual(await looks().catch(() => {}), earlier));
  await site.nothingIsWrong();
});

test('backup.md: a backup is restored, also without its copy of Redis, and one is made every night', async () => {
  await site.register('bob');
  await run('backup.md', 0);
  await site.ready();
  await shows('bob');
  await run('backup.md', 1);
  await run('backup.md', 2);
  await site.ready();
  await shows('bob');
  assert.match(await machine.run('systemctl', 'list-timers', '--no-legend', 'hongbao-backup.timer'), /03:|04:0/);
});

test('migrations.md, upgrade.md: nothing is missing afterwards', async () => {
  await pages.runAll(machine, 'migrations.md');
  await pages.runAll(machine, 'upgrade.md');
  await site.nothingIsWrong();
});

test('open.md: the list before the site opens', async () => {
  const alert = () => run('open.md', 9).catch(() => '');
  // otherwise it would block this address again
  await machine.shell('rm /var/lib/fail2ban/fail2ban.sqlite3; systemctl start fail2ban');
  await poll('the jail is there', async () => /Currently banned:\s+0/.test(await machine.try('fail2ban-client', 'status', 'hongbao')));
  assert.equal(await run('open.md', 0), 'off');
  await run('open.md', 1);
  assert.equal(await run('open.md', 0), 'on');
  assert.equal(await run('open.md', 2), `ready\n308 https://${HOST}/\nCertificate will not expire`);
  assert.match(await run('open.md', 3), /^the audit was last clean: .*\n0 wrong, 0 not checked\n.* clean$/);
  assert.equal(await run('open.md', 4), 'hongbao/secret\nhongbao/rights/page.conf');
  assert.match(await run('open.md', 5), /^\/var\/backups\/hongbao\/\S+Z: restored into private stores, the audit is clean$/);
  // Whether the clock is synchronized is a matter of the machine that runs the test.
  assert.match(await run('open.md', 6), /^enabled\nconsidering log \/var\/log\/nginx\/hongbao\.access\.log\n(yes|no)$/);
  const [jail, rules, ...ports] = (await run('open.md', 7)).split('\n');
  assert.deepEqual([jail, rules], ['Status for the jail: hongbao', '2']);
  const reachable = new Set(ports.map((port) => port.split(':').pop()));
  reachable.delete('3306'); // left by a machine that enabled all units at its first boot
  assert.deepEqual([...reachable].sort(), ['443', '80']);
  await run('open.md', 8);
  await poll('the alert fires', async () => /alertstate="firing"/.test(await alert()));
  await run('open.md', 10);
  await machine.reboots(() => run('open.md', 11));
  await connect(machine);
  await poll('nothing is wrong', async () => (await run('open.md', 12).catch(() => '')).endsWith('\n0 wrong, 0 not checked'));
  await site.ready();
  await poll('fail2ban runs', async () => await unitIs('fail2ban') === 'active');
  await machine.run('systemctl', 'stop', 'fail2ban');
  assert.match(await run('open.md', 13), /^\{"result":"grabbed",.*"amount_fen":100,/);
  const newest = 'SELECT id FROM packet ORDER BY created_ms DESC LIMIT 1';
  const openers = async () => machine.shell(`NUMBER=${await machine.run('mariadb', '-N', 'hongbao', '-e', newest)}\n${pages.script('logs.md', 6)}`);
  await poll('logs.md: root sees who opened it', async () => /^0\t\d+\tfirst-opener\t100\t20/m.test(await openers()));
  assert.match(await machine.run('hongbao', 'user', 'find', 'first-opener'), /disabled/);
});

test('rotate-secrets.md: new passwords, another certificate, another secret', async () => {
  const before = machine.read('etc/hongbao/rights/page.conf');
  const secret = machine.read('etc/hongbao/secret');
  await pages.runAll(machine, 'rotate-secrets.md');
  assert.notEqual(machine.read('etc/hongbao/rights/page.conf'), before);
  assert.notEqual(machine.read('etc/hongbao/secret'), secret);
  await site.ready();
  await site.nothingIsWrong();
});

// A folder stands for the other machine here: the machines of this test have no network.
test('move.md: another machine has the users of the old one', async () => {
  await boot(another);
  const old = join(another.folder, 'root/old');
  const copies = (folder) => {
    mkdirSync(join(old, folder), { recursive: true });
    execFileSync('cp', ['-aT', join(machine.folder, folder), join(old, folder)]);
  };
  copies('etc/hongbao');
  for (const file of ['fullchain.pem', 'privkey.pem']) another.give(join(machine.folder, `etc/letsencrypt/live/${HOST}/${file}`), file);
  await new Site(another).trust('/root/fullchain.pem');
  await pages.run(another, 'move.md', 0, ['old-machine:', '/root/old']);
  await run('move.md', 1);
  copies('var/backups/hongbao-move');
  await pages.run(another, 'move.md', 2, ['old-machine:', '/root/old']);
  let found;
  const look = async () => { found = await pages.run(another, 'move.md', 3).catch(({ stdout }) => stdout); return NOTHING_WRONG.test(found); };
  await poll('nothing is wrong', look).catch(({ message }) => assert.fail(`${message}; the doctor says:\n${found}`));
  await shows('bob', another);
});

test('every command of these pages was run', () => {
  assert.deepEqual(pages.left, []);
});
