// `hongbao doctor` on an installed site: each fault of faults.js is found, and the commands that it prints mend it.
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { certificate, day } from '../e2e/support/certificate.js';
import { poll } from '../support/poll.js';
import { CERTIFICATES, FAULTS } from '../support/faults.js';
import { Machine, packageReady, toldBy } from './machine.js';
import { SETUP, Site } from './site.js';

const ROUNDS_MAX = 4;
const machine = new Machine('doctor');

const doctor = () => new Site(machine).doctor();

const { before, test } = toldBy(machine);
before(async () => {
  await machine.boot(await packageReady(), { as: 'hongbao_1.deb' });
  await machine.run('apt-get', 'install', '/root/hongbao_1.deb');
  await machine.run(...SETUP);
  for (const { name, host, from, to } of CERTIFICATES) {
    certificate(join(machine.folder, 'root'), name, `DNS:${host}`, day(from), day(to));
  }
});

// Whether the mend begins with a command instead of a sentence.
const isCommand = (mend) => new RegExp(`^(${['systemctl', 'systemd-tmpfiles', 'REDISCLI_AUTH=.* redis-cli', 'mariadb', 'mariadb-dump', 'chmod', 'chown', 'mv', 'cat',
  'sed', 'hongbao', 'apt-get', 'nginx', 'install', 'mount', 'du', 'df'].join('|')}) `).test(mend);

// Does what the doctor prints, as a person would, until it finds nothing: mending a fault can reveal another one.
async function mendAll() {
  let seen = await doctor();
  for (let round = 0; round < ROUNDS_MAX && !seen.ok; round++) {
    for (const { mend } of seen.wrong.filter((one) => isCommand(one.mend))) {
      await machine.try('bash', '-c', `cd /root; ${mend}`); // where the package is
    }
    seen = await poll('the doctor finds nothing', async () => {
      seen = await doctor();
      return seen.ok && seen;
    }, 10).catch(() => seen);
  }
  assert.deepEqual(seen.wrong, []);
}

test('nothing is wrong after the setup, and everything was looked at', async () => {
  const { audited_at: _, ...seen } = await doctor();
  assert.deepEqual(seen, { ok: true, wrong: [], unchecked: [] });
});

for (const fault of FAULTS) {
  test(`${fault.finding}: ${fault.plant.split('\n')[0].slice(0, 90)}`, async () => {
    await machine.shell(fault.plant);
    try {
      const { wrong } = await doctor();
      const found = wrong.filter(({ name, text }) => name === fault.finding && fault.says.test(text));
      assert.ok(found.length > 0, `not among ${JSON.stringify(wrong, null, 1)}`);
      if (fault.count) assert.equal(found.length, fault.count, JSON.stringify(found));
      if (fault.alone) assert.equal(wrong.length, 1, JSON.stringify(wrong));
      for (const { mend } of wrong) assert.ok(isCommand(mend), mend);
    } finally {
      if (fault.mend) await machine.shell(fault.mend);
      await mendAll();
    }
  });
}

test('the file of a role that is missing is told before the unit that fails without it', async () => {
  await machine.shell('mv /etc/hongbao/rights/card.conf /root/; systemctl restart hongbao-card@1 || true');
  const names = await poll('the unit has failed', async () => {
    const found = (await doctor()).wrong.map(({ name }) => name);
    return found.includes('unit-failed') && found;
  });
  assert.ok(names.includes('role-file') && names.indexOf('role-file') < names.indexOf('unit-failed'), names.join(' '));
  await mendAll();
});

test('the money is right after all faults', () => machine.run('hongbao', 'audit'));
