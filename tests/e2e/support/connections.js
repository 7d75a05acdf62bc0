// Run by firewall.test.js in a network namespace: opens connections to a listener of its own, from several addresses, and
// prints as JSON how many of each address were accepted. Arguments: PORT, then HOST FROM NUMBER for each address.
import { connect, createServer } from 'node:net';

const AT_ONCE = 50;
const [port, ...words] = process.argv.slice(2);

const open = (host, from) => new Promise((resolve, reject) => {
  const socket = connect({ host, port: Number(port), localAddress: from });
  socket.once('connect', () => resolve(1)); // and stays open
  socket.once('error', (error) => (error.code === 'ECONNREFUSED' ? resolve(0) : reject(error)));
});

async function accepted(host, from, number) {
  let sum = 0;
  for (let i = 0; i < number; i += AT_ONCE) {
    const all = await Promise.all(Array.from({ length: Math.min(AT_ONCE, number - i) }, () => open(host, from)));
    sum += all.reduce((a, b) => a + b);
  }
  return sum;
}

createServer(() => {}).listen(Number(port), '::', async () => {
  const result = {};
  for (let i = 0; i < words.length; i += 3) result[words[i + 1]] = await accepted(words[i], words[i + 1], Number(words[i + 2]));
  process.stdout.write(JSON.stringify(result));
  process.exit();
});
