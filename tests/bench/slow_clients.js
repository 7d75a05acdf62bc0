// Clients that send a request byte by byte and never finish it: each occupies a connection, and none may occupy a process.
import { connect } from 'node:net';

const BYTE_EVERY_MS = 500;

export class SlowClients {
  #sockets = new Set(); #timer; #url; #path;

  constructor(url, path) {
    this.#url = new URL(url);
    this.#path = path;
  }

  #open() {
    const socket = connect(Number(this.#url.port), this.#url.hostname);
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', () => {});
    // nginx closes the connection after a while: the client connects again.
    socket.on('close', () => {
      this.#sockets.delete(socket);
      if (this.#timer) this.#open();
    });
    socket.write(`POST ${this.#path} HTTP/1.1\r\nHost: ${this.#url.host}\r\nX-Slow: `);
  }

  start(count) {
    this.#timer = setInterval(() => { for (const socket of this.#sockets) if (socket.writable) socket.write('x'); }, BYTE_EVERY_MS);
    for (let i = 0; i < count; i++) this.#open();
  }

  stop() {
    clearInterval(this.#timer);
    this.#timer = null;
    for (const socket of this.#sockets) socket.destroy();
  }
}
