// A separate site with demo = off, beside the site of the tests.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { env } from './instance.js';
import { freePort } from '../../support/port.js';
import { run } from './run.js';

// As an operator writes them before the first start: ./dev adds what it needs, such as the secret.
const SETTINGS = `demo = off
redis_timeout_ms = 20000
mysql_timeout_s = 40
`;

// name: of its folder. { url, folder, dev(...args), sql(statement, role), down() }
export async function realSite(name) {
  const folder = join(dirname(env.HB_TEST_VAR), name); // there `servers stop-all` stops it even after a failure
  const port = await freePort();
  const dev = (...args) => run(env.HB_TEST_DEV, ['--var', folder, '--port', String(port), ...args],
    { env: { ...process.env, HB_BINARY: env.HB_TEST_BINARY }, maxBuffer: 64 << 20 });
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'hongbao.conf'), SETTINGS, { mode: 0o600 });
  await writeFile(join(folder, 'nginx-seconds'), '120\n');
  await dev('up');

  // Executes a statement as the administrator or as the user of a role; rejects with stderr when the server refuses.
  const sql = async (statement, role) => {
    const options = ['--user=root'];
    const environment = { ...process.env };
    if (role) {
      const settings = await readFile(join(folder, `rights/${role}.conf`), 'utf8');
      options[0] = `--user=${/^mysql_user = (.*)$/m.exec(settings)[1]}`;
      environment.MYSQL_PWD = /^mysql_password = (.*)$/m.exec(settings)[1];
    }
    const { stdout } = await run('mariadb', ['--no-defaults', `--socket=${join(folder, 'run/mariadb.sock')}`, ...options, '-N', '-e', statement,
      'hongbao'], { env: environment });
    return stdout.trim();
  };

  const down = async () => {
    await dev('down');
    await rm(folder, { recursive: true, force: true });
  };

  return { url: `http://127.0.0.1:${port}`, folder, dev, sql, down };
}
