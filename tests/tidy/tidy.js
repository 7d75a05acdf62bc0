// node tidy.js CHECK [ROOT]: prints the violations of the rule; exit 1 when there are any.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checks } from './checks.js';
import { Sources } from '../support/sources.js';

const [name, root = join(dirname(fileURLToPath(import.meta.url)), '../..')] = process.argv.slice(2);
if (!checks[name]) {
  console.error(`usage: node tidy.js CHECK [ROOT]; CHECK is one of ${Object.keys(checks).join(' ')}`);
  process.exit(2);
}
const problems = checks[name](new Sources(root));
for (const problem of problems) console.log(problem);
process.exit(problems.length === 0 ? 0 : 1);
