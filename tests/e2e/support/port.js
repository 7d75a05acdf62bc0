// Ports for servers of tests.
import { createServer } from 'node:net';

// Below the ports that outgoing connections get.
const FIRST = 21_000;
const COUNT = 9000;
const TRIES_MAX = 100;

const isFree = (port) => new Promise((resolve) => {
  const server = createServer().on('error', () => resolve(false)).listen(port, () => server.close(() => resolve(true)));
});

// A port that nothing uses now, on any address of this machine.
export async function freePort() {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (await isFree(port)) return port;
  }
  throw new Error('no free port');
}
