// Checks the HTML of pages as sent by the W3C's checker (vnu: errors and warnings) and by html-validate.
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { HtmlValidate, StaticConfigLoader } from 'html-validate';
import { temporaryFolder } from '../../e2e/support/run.js';

const VNU = createRequire(import.meta.url).resolve('vnu-jar/build/dist/vnu.jar');

// For short runs: without the optimizing compiler, which would take most of the CPU time.
const JAVA = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-Xss4m'];

// All rules of the presets except these.
const CONFIG = {
  root: true,
  extends: ['html-validate:recommended', 'html-validate:document', 'html-validate:a11y', 'html-validate:browser'],
  rules: {
    'doctype-style': 'off', // requires capitals; the HTML standard writes <!doctype html>
    'long-title': ['error', { maxlength: 120 }], // search engines show 70; ours contain names of 32 characters
    'require-sri': 'off', // only useful for files of other hosts
  },
};

const output = (program, args) => new Promise((resolve, reject) => {
  execFile(program, args, { maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
    if (stdout) resolve(stdout);
    else reject(error ?? new Error(stderr));
  });
});

// pages: Map of name → HTML. Both checkers return a list of findings.
export async function vnu(pages) {
  const folder = temporaryFolder('html');
  const names = [...pages.keys()];
  await Promise.all(names.map((name, i) => writeFile(join(folder, `${i}.html`), pages.get(name))));
  const files = names.map((_, i) => join(folder, `${i}.html`));
  const text = await output('java', [...JAVA, '-jar', VNU, '--stdout', '--exit-zero-always', '--format', 'json', ...files]);
  return JSON.parse(text).messages.map(({ url, type, subType, lastLine, message, extract }) => {
    const name = names[/(\d+)\.html$/.exec(url)?.[1]] ?? url;
    return `${name}: ${subType ?? type} in line ${lastLine}: ${message} ${extract ?? ''}`;
  });
}

// Resolves the configuration once, not for each page.
class Loader extends StaticConfigLoader {
  #resolved;

  getConfigFor(...options) {
    return this.#resolved ??= super.getConfigFor(...options);
  }
}

export async function htmlValidate(pages) {
  const checker = new HtmlValidate(new Loader(CONFIG));
  const found = [];
  for (const [name, html] of pages) {
    const { results } = await checker.validateString(html);
    for (const { messages } of results) {
      for (const { ruleId, message, line, selector } of messages) {
        found.push(`${name}: ${ruleId} in line ${line}: ${message} ${selector ?? ''}`);
      }
    }
  }
  return found;
}
