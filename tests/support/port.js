// Ports for servers of tests.
import { createServer } from 'node:net';

// The ports of the test (tests/CMakeLists.txt); without ctest, any port of all tests.
const [FIRST, LAST] = (process.env.HB_TEST_PORTS ?? '20000-29999').split('-').map(Number);
const COUNT = LAST - FIRST + 1;
let next = Math.floor(Math.random() * COUNT);

const isFree = (port) => new Promise((resolve) => {
  const server = createServer().on('error', () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
});

// A port that nothing uses now, on any address of this machine. Another one each time.
export async function freePort() {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + next++ % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}
