// The logs of the site under test.
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { env, poll } from './instance.js';

const FOLDER = join(env.HB_TEST_VAR, 'log');

// Every log: [{ name, text }].
export async function allLogs() {
  return Promise.all((await readdir(FOLDER)).map(async (name) => ({ name, text: await readFile(join(FOLDER, name), 'utf8') })));
}

// The lines of a log about the request of this answer, once there is one. name: of a pool, or access.
export function linesOf(answer, name) {
  const id = answer.headers.get('x-request-id');
  return poll(`${name}.log has the request ${id}`, async () => {
    const lines = (await readFile(join(FOLDER, `${name}.log`), 'utf8')).split('\n').filter((line) => line.includes(id));
    return lines.length > 0 && lines;
  });
}
