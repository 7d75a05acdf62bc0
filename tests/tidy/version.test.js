// deploy/version.sh: the version of the sources, in the order of dpkg, and the build that has it (app/cmake/version.cmake).
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
// The inputs from which a version is computed, and a program that has it.
const BASIS = ['deploy/version.sh', 'deploy/commit.txt', '.gitattributes', 'app/cmake/version.cmake', 'app/commands/version.h'];
const PROGRAM = ['CMakeLists.txt', 'main.c', 'later.c'];
const folder = mkdtempSync(join(tmpdir(), 'hongbao-version-'));
after(() => rmSync(folder, { recursive: true }));

const run = (program, args, options = {}) => execFileSync(program, args, { encoding: 'utf8', ...options });
const WHO = ['-c', 'user.name=a', '-c', 'user.email=a@example', '-c', 'commit.gpgsign=false', '-c', 'tag.gpgsign=false'];
const git = (at, args, env = {}) => run('git', ['-C', at, ...WHO, ...args], { env: { ...process.env, ...env }, stdio: 'pipe' }).trim();
const version = (at, env = {}) => run('bash', [join(at, 'deploy/version.sh')], { env: { ...process.env, ...env } }).trim();
const epoch = (at) => Number(run('bash', [join(at, 'deploy/version.sh'), '--time']));
const ascend = (...found) => found.slice(1).forEach((later, i) => assert.doesNotThrow(() => run('dpkg', ['--compare-versions', found[i], 'lt', later]),
  `${found[i]} is not before ${later}`));
const fileTouch = (file, time) => utimesSync(file, new Date(time), new Date(time));

function sourcesMake(name) {
  const at = join(folder, name);
  for (const file of BASIS) cpSync(join(ROOT, file), join(at, file));
  writeFileSync(join(at, 'CMakeLists.txt'), `cmake_minimum_required(VERSION 3.22)
project(hongbao VERSION 3.4.5 LANGUAGES C)
include(app/cmake/version.cmake)
add_executable(a main.c later.c)
target_include_directories(a PRIVATE app)
hb_version(a)
`);
  writeFileSync(join(at, 'main.c'), '#include <stdio.h>\n#include "commands/version.h"\nint main(void) { return puts(VERSION) < 0; }\n');
  writeFileSync(join(at, 'later.c'), '#include "commands/version.h"\nint later(void);\nint later(void) { return 0; }\n');
  return at;
}

const commit = (at, time) => git(at, ['commit', '-q', '--allow-empty', '-m', 'a'], { GIT_COMMITTER_DATE: time, GIT_AUTHOR_DATE: '2020-01-01T00:00:00Z' });

function checkoutMake(name) {
  const at = sourcesMake(name);
  git(at, ['init', '-q', '-b', 'main']);
  git(at, ['add', '-A']);
  commit(at, '2026-11-28T09:05:59Z');
  return at;
}

test('a later commit has a later version, of its own time and hash, also on one day and after 1.0.0', () => {
  const at = checkoutMake('days');
  const found = ['1.0.0', '3.4.4', version(at)];
  assert.equal(found.at(-1), `3.4.5~20261128.090559.g${git(at, ['rev-parse', 'HEAD']).slice(0, 12)}`);
  for (const time of ['2026-11-28T09:06:00Z', '2026-11-28T20:00:00Z', '2026-11-29T05:00:00+0800', '2026-11-28T22:00:00Z']) {
    commit(at, time);
    found.push(version(at));
  }
  ascend(...found, '3.4.5', '3.4.5.1', '3.5.0~20261201.000000.g0');
});

test('a commit has one version: whatever the zone, language, hook and copy of the repository', () => {
  const at = checkoutMake('one');
  const wanted = version(at);
  assert.equal(epoch(at), Date.parse('2026-11-28T09:05:59Z') / 1000);
  assert.equal(version(at, { TZ: 'Asia/Shanghai', LC_ALL: 'zh_CN.UTF-8' }), wanted);
  assert.equal(version(at, { GIT_DIR: join(folder, 'none'), GIT_WORK_TREE: folder, GIT_INDEX_FILE: join(folder, 'index') }), wanted);
  fileTouch(join(at, 'main.c'), '2026-12-24T00:00:00Z');
  assert.equal(version(at), wanted, 'a file of another time with the same bytes');
  commit(at, '2026-11-28T10:00:00Z');
  git(at, ['reset', '-q', '--hard', 'HEAD~1']);
  assert.equal(version(at), wanted);
  const shallow = join(folder, 'shallow');
  git(folder, ['clone', '-q', '--depth=1', '--no-tags', `file://${at}`, shallow]);
  assert.equal(version(shallow), wanted);
  git(at, ['worktree', 'add', '-q', '--detach', join(folder, 'worktree')]);
  assert.equal(version(join(folder, 'worktree')), wanted);
});

test('a changed tree is later than its commit, earlier than the next one, and later after each change', () => {
  const at = checkoutMake('changed');
  const found = [version(at)];
  const change = (name, time, text = time) => {
    writeFileSync(join(at, name), text);
    fileTouch(join(at, name), time);
    found.push(version(at));
  };
  change('main.c', '2026-11-28T09:20:00Z');
  assert.match(found.at(-1), /^3\.4\.5~20261128\.090559\.g[0-9a-f]{12}\.changed20261128\.092000$/);
  assert.equal(version(at), found.at(-1), 'the same sources');
  assert.equal(epoch(at), Date.parse('2026-11-28T09:20:00Z') / 1000);
  change('a new file\nof two lines "é', '2026-11-28T09:20:01Z');
  git(at, ['add', 'main.c']);
  change('later.c', '2026-11-28T10:00:00Z');
  git(at, ['tag', 'v3.4.5']);
  assert.equal(version(at), found.at(-1), 'a tag is not that of changes');
  git(at, ['add', '-A']);
  commit(at, '2026-11-28T10:00:01Z');
  found.push(version(at));
  rmSync(join(at, 'later.c'));
  assert.match(version(at), /\.changed/);
  ascend(...found);
});

test('a release has the plain version, with its tag alone', () => {
  const at = checkoutMake('release');
  git(at, ['tag', '3.4.4']);
  git(at, ['tag', 'v3.4.5-rc1']);
  const before = version(at);
  assert.match(before, /^3\.4\.5~/);
  git(at, ['tag', '-a', '-m', 'x', 'v3.4.5']);
  assert.equal(version(at), '3.4.5');
  ascend(before, '3.4.5');
});

test('an archive has the version of its commit, and copied files have that of the newest one, also inside another checkout', () => {
  const at = checkoutMake('archive');
  const unpack = (to) => {
    mkdirSync(to, { recursive: true });
    run('tar', ['-x', '-C', to], { input: execFileSync('git', ['-C', at, 'archive', 'HEAD']) });
    return to;
  };
  const inside = unpack(join(checkoutMake('outer'), 'build/against'));
  assert.equal(version(inside), version(at));
  assert.equal(epoch(inside), epoch(at));
  git(at, ['tag', 'v3.4.5']);
  assert.equal(version(unpack(join(folder, 'unpacked'))), '3.4.5');

  const files = sourcesMake('outer/build/files');
  for (const name of [...PROGRAM, ...BASIS]) fileTouch(join(files, name), '2026-11-28T09:00:00Z');
  fileTouch(join(files, 'later.c'), '2026-11-28T11:00:00Z');
  mkdirSync(join(files, 'build'));
  writeFileSync(join(files, 'build/made'), '');
  assert.equal(version(files), '3.4.5~20261128.110000.files');
});

test('each build has the version of its sources; a new commit compiles one file, and the same sources nothing', () => {
  const at = checkoutMake('built');
  writeFileSync(join(at, '.gitignore'), '/build/\n');
  git(at, ['add', '-A']);
  commit(at, '2026-11-28T10:00:00Z');
  const build = join(at, 'build');
  run('cmake', ['-G', 'Ninja', '-S', at, '-B', build]);
  const built = () => {
    const log = run('cmake', ['--build', build, '--verbose']);
    assert.equal(run(join(build, 'a'), []).trim(), version(at));
    return log.split('\n').filter((line) => / -c \S+\.c\b/.test(line)).map((line) => /([\w.]+)\.c$/.exec(line.trim())?.[1]);
  };
  assert.deepEqual(built().sort(), ['a_version', 'later', 'main']);
  const program = () => statSync(join(build, 'a')).mtimeMs;
  const first = program();
  assert.deepEqual(built(), []);
  assert.equal(program(), first, 'it is not linked');
  commit(at, '2026-11-28T11:00:00Z');
  assert.deepEqual(built(), ['a_version']);
  writeFileSync(join(at, 'README'), '');
  assert.deepEqual(built(), ['a_version']);
  run('cmake', ['-DHB_VERSION=9~a', build]);
  run('cmake', ['--build', build]);
  assert.equal(run(join(build, 'a'), []).trim(), '9~a', 'as debian/rules gives it');
  assert.match(readFileSync(join(ROOT, 'deploy/debian/rules'), 'utf8'), /-DHB_VERSION=\$\(DEB_VERSION\)/);
});
