// The MariaDB of the site under test, as its administrator.
import { env } from './instance.js';
import { run } from './run.js';

// Runs a program of MariaDB and returns its output.
export async function mariadb(program, ...args) {
  const options = ['--no-defaults', `--socket=${env.HB_TEST_MYSQL_SOCKET}`, '--user=root'];
  return (await run(program, [...options, ...args], { maxBuffer: 64 << 20 })).stdout;
}

// Runs statements on the tables, also statements that the site would never send; returns the rows of the answers, a
// line each.
export const sql = (statements) => mariadb('mariadb', '-N', 'hongbao', '-e', statements);
