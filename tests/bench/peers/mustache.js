// The same page by mustache.js: node mustache.js TEMPLATE CONTEXT COUNT OUT, as bench_mustache.c. mustache.js caches the
// parsed template. As many rounds run before the measured ones, so that node's compiler has finished.
import { readFileSync, writeFileSync } from 'node:fs';
import Mustache from 'mustache';

const [template, context, count, out] = process.argv.slice(2);
const text = readFileSync(template, 'utf8');
const view = JSON.parse(readFileSync(context, 'utf8'));
let page;
const rounds = (n) => { for (let i = 0; i < n; i++) page = Mustache.render(text, view); };
rounds(Math.max(Number(count), 200));
const before = process.cpuUsage();
rounds(Number(count));
const { user, system } = process.cpuUsage(before);
writeFileSync(out, page);
console.log(JSON.stringify({ count: Number(count), own_ns: (user + system) * 1000 }));
