// The program for arm64: built by Debian's cross-compiler, tested under qemu-user with servers of this machine's processor,
// and on a kernel of arm64's where the kernel is the subject. arm64.sh has the commands.
import assert from 'node:assert/strict';
import { toldBy } from '../package/machine.js';
import { Bare } from './bare.js';

const machine = new Bare('release-arm64', 13);
const { before, test } = toldBy(machine);
const step = (name) => machine.succeeds(machine.starts('tests/release/arm64.sh', name));

before(async () => {
  await machine.bootBare();
  await step('install');
});

test('unit and integration tests pass under qemu-user', async () => {
  const text = await step('test');
  assert.doesNotMatch(text, /warning:/i);
  const [, count] = /^100% tests passed, 0 tests failed out of (\d+)$/m.exec(text);
  assert.ok(Number(count) > 100, count);
});

test('the package is built', async () => {
  assert.match(await step('package'), /^\/\S+\/hongbao_\S+_arm64\.deb$/m);
});

test("on a kernel of arm64's the filter of system calls holds, a restart in place works, and the package's program runs", async () => {
  const text = await step('kernel');
  for (const name of ['test_io_process', 'test_io_sandbox', 'hongbao']) assert.match(text, new RegExp(`^ended ${name} 0$`, 'm'), text);
  assert.match(text, /^hongbao \d+\.\d+\.\d+/m);
});
