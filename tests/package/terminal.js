// A person at a terminal, which script(1) provides.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PATIENCE } from '../support/poll.js';

const WAIT_MS = 120_000 * PATIENCE;
const quoted = (word) => `'${word.replaceAll("'", "'\\''")}'`;

// Runs the command (a list of words). dialogue: pairs of a RegExp that the terminal must show after the last answer,
// and the next answer. Returns { code, output }. Throws when a RegExp is never matched.
export async function converse(command, dialogue) {
  const program = spawn('script', ['-qfec', command.map(quoted).join(' '), '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  let seen = 0;
  let wake = () => {};
  program.stdout.setEncoding('utf8').on('data', (text) => { output += text; wake(); });
  program.stdout.on('end', () => wake());
  const ended = once(program, 'close');
  const late = setTimeout(() => program.kill('SIGKILL'), WAIT_MS);
  try {
    for (const [shown, answer] of dialogue) {
      while (!shown.test(output.slice(seen))) {
        if (program.stdout.readableEnded) throw new Error(`${shown} is not shown: ${output.slice(seen)}`);
        await new Promise((resolve) => { wake = resolve; });
      }
      seen = output.length;
      program.stdin.write(`${answer}\n`);
    }
    const [code] = await ended;
    return { code, output };
  } finally {
    clearTimeout(late);
  }
}

// The questions of `hongbao setup`, with these answers; key: '' for a certificate that it makes itself.
export const setupDialogue = (host, certificate, key, demo) => [
  [/Name of the site.*: $/, host], [/certificate.*: $/, certificate], ...(key ? [[/File of its key: $/, key]] : []),
  [/Play money\?.*: $/, demo], [/A backup every night.*: $/, ''],
];
