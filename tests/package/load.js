// load.js HOST PACKET COOKIES [PATH...]: visitors of the machine in whose network it runs (machine.js), each from
// separate addresses, because an address has limits. HOST is a name, or the http:// address of a site behind a proxy,
// which keeps no connection and is faster. Each reads the packet, opens it once more, and looks at the wallet, the
// login and each PATH, until it gets SIGTERM and 10,000 requests are done. Prints { requests, errors: {"METHOD PATH
// STATUS PROBLEM after N s": count} } as JSON. COOKIES is a file of `hongbao demo`.
import { readFileSync } from 'node:fs';
import * as http from 'node:http';
import * as https from 'node:https';

const [host, packet, cookies, ...paths] = process.argv.slice(2);
const VISITORS = 16;
const REQUESTS_MIN = 10000;
const users = readFileSync(cookies, 'utf8').trim().split('\n').map((line) => line.split('\t')[2]);
const url = new URL(host.startsWith('http://') ? host : `https://${host}`);
const { Agent, request } = url.protocol === 'http:' ? http : https;
// An agent with maxSockets keeps connections even without keepAlive.
const agent = url.protocol === 'https:' && new Agent({ keepAlive: true, maxSockets: VISITORS, rejectUnauthorized: false });
const KINDS = [['GET', packet], ['POST', `${packet}/open`], ['GET', '/wallet'], ['GET', packet], ['GET', '/login'],
  ['POST', `${packet}/open`], ...paths.map((path) => ['GET', path])];
const errors = {};
let requests = 0;
let ended = false;

// The status of the answer and the name of its problem; 0 when the answer is not complete.
function ask(localAddress, method, path, cookie) {
  return new Promise((resolve) => {
    const headers = { Host: url.host, Accept: 'application/json', Cookie: cookie, 'Content-Type': 'application/x-www-form-urlencoded' };
    const place = url.protocol === 'http:' ? { port: url.port } : { localAddress, servername: url.hostname, port: 443 };
    if (url.protocol === 'http:') headers['X-Forwarded-For'] = localAddress.replace('20.0', `20.${requests % 250}`);
    const asked = request({ host: '127.0.0.1', ...place, agent, method, path, headers }, (answer) => {
      let body = '';
      answer.on('data', (part) => { body += part; });
      answer.on('end', () => resolve(answer.complete ? [answer.statusCode, /hongbao:problem:([a-z-]+)/.exec(body)?.[1]] : [0]));
      answer.on('error', () => resolve([0]));
    });
    asked.on('error', (error) => resolve([error.code]));
    asked.end();
  });
}

// 410: the packet is empty; a page that is only for people who are not logged in redirects.
const FINE = new Set([200, 303, 410]);

async function visit(number) {
  for (let turn = number; !ended || requests < REQUESTS_MIN; turn += VISITORS) {
    const [method, path] = KINDS[Math.floor(turn / VISITORS) % KINDS.length];
    const begun = performance.now();
    const [status, problem] = await ask(`127.20.0.${number + 1}`, method, path, users[turn % users.length]);
    requests++;
    if (!FINE.has(status)) {
      const seconds = Math.floor((performance.now() - begun) / 1000);
      const name = `${method} ${path.replace(packet, 'PACKET')} ${status} ${problem ?? ''} after ${seconds} s`;
      errors[name] = (errors[name] ?? 0) + 1;
    }
  }
}

process.on('SIGTERM', () => { ended = true; });
process.stdout.write('begun\n');
await Promise.all(Array.from({ length: VISITORS }, (_, number) => visit(number)));
process.stdout.write(`${JSON.stringify({ requests, errors })}\n`);
process.exit(0);
