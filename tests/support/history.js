// The requests and their answers: in memory for the checker, and as JSON lines in a file for the reader.
import { createWriteStream } from 'node:fs';

export class History {
  #file; #began = performance.now();
  operations = []; // { n, at, op, user, …, end, outcome: ok | refused | unknown, … }; end is missing while it runs
  blames = [];     // violations that the load itself noticed: { kind, packet, text }

  constructor(path) {
    this.#file = createWriteStream(path);
  }

  now() {
    return Math.round(performance.now() - this.#began);
  }

  #write(line) {
    this.#file.write(`${JSON.stringify(line)}\n`);
  }

  invoke(op, fields) {
    const operation = { n: this.operations.length, at: this.now(), op, ...fields };
    this.operations.push(operation);
    this.#write({ ...operation, type: 'invoked' });
    return operation;
  }

  finish(operation, outcome, fields) {
    Object.assign(operation, { end: this.now(), outcome }, fields);
    this.#write({ n: operation.n, at: operation.end, type: outcome, ...fields });
  }

  // A fault, an audit, a phase of the run.
  note(what, fields = {}) {
    this.#write({ at: this.now(), note: what, ...fields });
  }

  // kind: lost | unexpected | duplicated | changed | broken
  blame(kind, packet, text) {
    this.blames.push({ kind, packet, text });
    this.#write({ at: this.now(), blame: kind, packet, text });
  }

  broken(text) {
    this.blame('broken', undefined, text);
  }

  close() {
    return new Promise((resolve) => { this.#file.end(resolve); });
  }
}
