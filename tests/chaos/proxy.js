// A proxy between the program and a store, on Unix sockets. It can stall all bytes, or pass a request on and lose its
// reply.
import { connect, createServer } from 'node:net';
import { chmodSync, rmSync } from 'node:fs';

export class Proxy {
  #path; #target; #server; #pairs = new Set();
  #stalled = false;
  #cut = null; // { every, keep }: every `every`-th chunk of a reply ends its connection after `keep` bytes
  #chunks = 0;
  cuts = 0;

  constructor(path, target) {
    this.#path = path;
    this.#target = target;
  }

  async listen() {
    rmSync(this.#path, { force: true });
    this.#server = createServer({ allowHalfOpen: false }, (client) => this.#join(client));
    await new Promise((resolve, reject) => this.#server.once('error', reject).listen(this.#path, resolve));
    chmodSync(this.#path, 0o777); // for the servers, which have a user of their own
  }

  close() {
    this.#server?.close();
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy();
  }

  stall() {
    this.#stalled = true;
    for (const pair of this.#pairs) for (const socket of pair) socket.pause();
  }

  cutReplies(every, keep) {
    this.#cut = { every, keep };
    this.#chunks = 0;
  }

  heal() {
    this.#stalled = false;
    this.#cut = null;
    for (const pair of this.#pairs) for (const socket of pair) socket.resume();
  }

  #join(client) {
    const server = connect(this.#target);
    const pair = [client, server];
    this.#pairs.add(pair);
    const part = () => {
      this.#pairs.delete(pair);
      for (const socket of pair) socket.destroySoon();
    };
    for (const socket of pair) socket.on('error', part).on('close', part);
    this.#pump(client, server);
    this.#pump(server, client, (bytes) => this.#loses(bytes, client, part));
    if (this.#stalled) for (const socket of pair) socket.pause();
  }

  #pump(from, to, loses = () => false) {
    from.on('data', (bytes) => {
      if (loses(bytes) || to.write(bytes)) return;
      from.pause();
      to.once('drain', () => { if (!this.#stalled) from.resume(); });
    });
    from.on('end', () => to.end());
  }

  // True: the connection is cut within this chunk of a reply. By then the request has been carried out.
  #loses(bytes, client, part) {
    if (!this.#cut || ++this.#chunks % this.#cut.every !== 0) return false;
    this.cuts++;
    client.end(bytes.subarray(0, Math.min(this.#cut.keep, bytes.length - 1)), part);
    return true;
  }
}
