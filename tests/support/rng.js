// Random numbers from a seed. Every part of a run has a separate stream with a name, so that no part changes the
// numbers of another: the same seed gives the same faults and the same choices of every visitor.
import { createHash } from 'node:crypto';

// sfc32 (Chris Doty-Humphrey's Small Fast Counter): 128 bits of state, here the hash of seed and name.
export class Rng {
  #a; #b; #c; #counter;

  constructor(seed, name) {
    const hash = createHash('sha256').update(`${seed}\0${name}`).digest();
    [this.#a, this.#b, this.#c, this.#counter] = [0, 4, 8, 12].map((at) => hash.readInt32LE(at));
    for (let i = 0; i < 12; i++) this.u32();
  }

  u32() {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  // A whole number from low to high, both included.
  int(low, high) {
    return low + Math.floor((this.u32() / 2 ** 32) * (high - low + 1));
  }

  // True with probability 1/n.
  oneIn(n) {
    return this.int(1, n) === 1;
  }

  pick(list) {
    return list[this.int(0, list.length - 1)];
  }

  // A key of table, whose values are weights.
  weighted(table) {
    const total = Object.values(table).reduce((sum, weight) => sum + weight, 0);
    let at = this.int(1, total);
    return Object.keys(table).find((name) => (at -= table[name]) <= 0);
  }

  word(length) {
    let text = '';
    while (text.length < length) text += this.u32().toString(36).padStart(7, '0');
    return text.slice(0, length);
  }
}
