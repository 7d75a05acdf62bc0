// The commands of the documents, typed on a machine (machine.js) as an operator does: as root, in /root.
import { blocksOf } from '../e2e/support/how_to_blocks.js';

export class Pages {
  #test;
  #blocks = new Map();
  #left = new Set();

  // test: its import.meta.url. variables: for the commands, { HOST: … }. names: all pages that the test runs.
  constructor(test, names, variables = {}) {
    this.#test = test;
    this.variables = variables;
    for (const name of names) {
      const blocks = Object.values(blocksOf(name, this.#test)).flat();
      this.#blocks.set(name, blocks);
      blocks.forEach((_, index) => this.#left.add(`${name}, block ${index}`));
    }
  }

  // The block with this number of a page; [text, replacement] …: for another machine.
  script(name, index, ...replacements) {
    this.#left.delete(`${name}, block ${index}`);
    let script = this.#blocks.get(name)[index];
    for (const [from, to] of replacements) {
      if (!script.includes(from)) throw new Error(`${name}, block ${index} has no "${from}": ${script}`);
      script = script.replaceAll(from, to);
    }
    const variables = Object.entries(this.variables).map(([key, value]) => `export ${key}='${value}'\n`).join('');
    return `${variables}set -o pipefail\ncd /root\n${script}`;
  }

  // Runs it; returns the output. Throws when a command fails.
  run(machine, name, index, ...replacements) {
    return machine.shell(this.script(name, index, ...replacements));
  }

  // Runs all blocks of a page, one after the other.
  async runAll(machine, name) {
    for (const index of this.#blocks.get(name).keys()) await this.run(machine, name, index);
  }

  // The blocks that were not run.
  get left() {
    return [...this.#left];
  }
}
