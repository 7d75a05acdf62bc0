// A connection with a given delay: a TCP proxy on 127.0.0.1 that passes on each piece of an answer after delayMs.
import { connect, createServer } from 'node:net';

export class Delay {
  #server; #sockets = new Set(); #delayMs;

  constructor(delayMs) {
    this.#delayMs = delayMs;
  }

  // Listens on port, and connects to the port `to`.
  async start(port, to) {
    this.#server = createServer((client) => {
      const server = connect({ port: to, host: '127.0.0.1', noDelay: true });
      client.setNoDelay(true);
      client.pipe(server);
      server.on('data', (bytes) => this.#pass(client, bytes));
      for (const [one, other] of [[client, server], [server, client]]) {
        this.#sockets.add(one);
        one.on('error', () => {}).on('close', () => { this.#sockets.delete(one); other.destroy(); });
      }
    });
    await new Promise((resolve, reject) => { this.#server.once('error', reject).listen(port, '127.0.0.1', resolve); });
  }

  #pass(client, bytes) {
    if (this.#delayMs === 0) client.write(bytes);
    else setTimeout(() => { if (!client.destroyed) client.write(bytes); }, this.#delayMs);
  }

  async stop() {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}
