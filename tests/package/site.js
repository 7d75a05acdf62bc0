// The site on a machine (machine.js): its units, and visitors who use it while something happens.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from './machine.js';
import { HOST } from './people.js';

const REQUESTS_MIN = 10000;

export async function units(machine) {
  const lines = (await machine.run('systemctl', 'list-units', '--plain', '--no-legend', 'hongbao-*.service')).split('\n').filter(Boolean);
  return lines.map((line) => line.split(/\s+/)).map(([name, , state]) => ({ name, state }));
}

export async function allRun(machine) {
  const all = await units(machine);
  return all.length >= 6 && all.every(({ state }) => state === 'active');
}

// Calls the function while visitors open the packet, again until there were REQUESTS_MIN requests; returns the errors,
// { what: count }. They look at the paths, too. /root/users.tsv of the machine has them.
export function underLoad(machine, packet, work, ...paths) {
  return whileLoaded(machine.spawn(process.execPath, join(ROOT, 'tests/package/load.js'), HOST, packet, join(machine.folder, 'root/users.tsv'),
    ...paths), work);
}

// Calls the function while load.js runs, and returns its errors.
export async function whileLoaded(load, work) {
  const lines = createInterface({ input: load.stdout })[Symbol.asyncIterator]();
  await lines.next(); // "begun": the load asks for no end before REQUESTS_MIN
  await work().finally(() => load.kill('SIGTERM'));
  const { value } = await lines.next();
  await once(load, 'exit');
  const { requests, errors } = JSON.parse(value);
  assert.ok(requests >= REQUESTS_MIN, `${requests} requests`);
  return errors;
}
