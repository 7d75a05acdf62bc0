// The files of the project. Each is read once, for all checks.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export class Sources {
  #root;
  #folders = new Map();
  #texts = new Map();
  #views = new Map();
  #planted = {};

  constructor(root) {
    this.#root = root;
  }

  // The paths of all files below the folder, without what is installed or hidden.
  #below(folder) {
    if (!this.#folders.has(folder)) {
      const entries = existsSync(join(this.#root, folder)) ? readdirSync(join(this.#root, folder), { withFileTypes: true }) : [];
      const seen = entries.filter(({ name }) => name !== 'node_modules' && !name.startsWith('.'));
      const path = ({ name }) => join(folder, name);
      this.#folders.set(folder, seen.flatMap((entry) => (entry.isDirectory() ? this.#below(path(entry)) : [path(entry)])));
    }
    return this.#folders.get(folder);
  }

  // The paths of the files below the folder whose name has the pattern.
  files(folder, pattern = /./) {
    const { file = '' } = this.#planted;
    const all = this.#below(folder);
    return (file.startsWith(`${folder}/`) && !all.includes(file) ? [...all, file] : all)
      .filter((path) => pattern.test(path.slice(path.lastIndexOf('/') + 1)));
  }

  // The names of the documents that lie beside the folders.
  documents() {
    return readdirSync(this.#root).filter((name) => name.endsWith('.md'));
  }

  exists(path) {
    return `${this.#planted.file}/`.startsWith(`${path}/`) || existsSync(join(this.#root, path));
  }

  read(file) {
    if (file === this.#planted.file) return this.#planted.text;
    if (!this.#texts.has(file)) this.#texts.set(file, readFileSync(join(this.#root, file), 'utf8'));
    return this.#texts.get(file);
  }

  // The result of make(text) for the file; make is called only once.
  view(file, make) {
    if (file === this.#planted.file) return make(this.#planted.text);
    if (!this.#views.has(make)) this.#views.set(make, new Map());
    const made = this.#views.get(make);
    if (!made.has(file)) made.set(file, make(this.read(file)));
    return made.get(file);
  }

  // Runs work as if the file had this text, or the text that change(text) returns; nothing is written.
  planted(file, change, work) {
    this.#planted = { file, text: typeof change === 'function' ? change(this.read(file)) : change };
    try {
      return work();
    } finally {
      this.#planted = {};
    }
  }
}
