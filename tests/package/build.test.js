// The package: lintian has nothing against it, and the same sources give the same bytes.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { run, temporaryFolder } from '../e2e/support/run.js';
import { ROOT, packageBuild, runWhereBuilt } from './machine.js';

let deb;
const digest = (file) => createHash('sha256').update(readFileSync(file)).digest('hex');

test('the package is built twice from the same sources, with the same bytes, and lintian accepts it', async (t) => {
  const first = digest(await packageBuild());
  deb = await packageBuild();
  assert.equal(digest(deb), first);
  const said = await runWhereBuilt([dirname(deb)], 'lintian', '--allow-root', '--fail-on', 'error,warning', '--info', deb);
  assert.doesNotMatch(said, /^[EW]: /m);
  t.diagnostic(`lintian: ${said.match(/^[A-Z]: /gm)?.length ?? 0} remarks, none an error or a warning`);
});

test('the package, its file and its program have the version of the sources, which is later than 1.0.0', async () => {
  const version = (await run(join(ROOT, 'deploy/version.sh'))).stdout.trim();
  assert.equal((await run('dpkg-deb', ['-f', deb, 'Version'])).stdout.trim(), version);
  assert.match(deb, new RegExp(`/hongbao_${version.replace(/\./g, '\\.')}_[a-z0-9]+\\.deb$`));
  const folder = temporaryFolder('package');
  await run('dpkg-deb', ['-x', deb, folder]);
  assert.equal(await runWhereBuilt([folder], join(folder, 'usr/bin/hongbao'), 'version'), `hongbao ${version}\n`);
  await run('dpkg', ['--compare-versions', version, 'gt', '1.0.0']);
  const changelog = gunzipSync(readFileSync(join(folder, 'usr/share/doc/hongbao/changelog.gz'))).toString();
  const entries = [...changelog.matchAll(/^hongbao \((.*)\) /gm)].map((match) => match[1]);
  assert.equal(entries[0], version);
  assert.ok(entries.includes('1.0.0'), `the releases of CHANGELOG.md: ${entries}`);
});

test('the package has what the site needs, and nothing of the tests', async () => {
  const { stdout } = await run('dpkg-deb', ['-c', deb], { maxBuffer: 16 << 20 });
  for (const path of ['usr/bin/hongbao', 'usr/share/hongbao/commands/setup.sh', 'usr/lib/hongbao/reload.sh', 'usr/share/hongbao/nginx/debian/site.in', 'usr/share/hongbao/rights/grants.sql',
    'usr/share/doc/hongbao/CHANGELOG.md', 'usr/share/man/man1/hongbao.1.gz', 'usr/share/man/man5/hongbao.conf.5.gz', 'usr/share/bash-completion/completions/hongbao']) {
    assert.ok(stdout.includes(` ./${path}\n`), path);
  }
  for (const unit of ['hongbao-hot@.service', 'hongbao-hot.socket']) { // Debian 13 has them in /usr
    assert.match(stdout, new RegExp(` \\./(usr/)?lib/systemd/system/${unit}\n`));
  }
  assert.doesNotMatch(stdout, /templates\/examples|tests\//);
});

test('./dev machine says nothing where a machine boots, and in one line why it does not', async () => {
  const dev = join(ROOT, 'dev');
  assert.deepEqual(await run(dev, ['machine']), { stdout: '', stderr: '' });
  const refused = run('setpriv', ['--bounding-set=-sys_admin', '--inh-caps=-sys_admin', dev, 'machine']);
  await assert.rejects(refused, ({ code, stdout, stderr }) => code === 1 && stdout === ''
    && /^no machine can boot here: systemd-nspawn ends with status \d+: .*not permitted\n$/i.test(stderr));
});
