// A small HTTP client. It keeps cookies, follows no redirects, and does not throw for an error status.
import http from 'node:http';
import { url } from './instance.js';
import { PATIENCE } from '../../support/poll.js';

const ANSWER_SECONDS_MAX = 30 * PATIENCE;
const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });

// The number of requests that were repeated because their connection was closed.
export const retries = { count: 0 };

// { status, headers (Headers), cookies (Set-Cookie lines), text, json (undefined unless the answer is JSON) }. options:
// method, headers, body.
export function request(path, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const all = { ...headers };
    if (body !== undefined) all['content-length'] = Buffer.byteLength(body);
    const outgoing = http.request(url + path, { method, headers: all, agent, timeout: ANSWER_SECONDS_MAX * 1000 }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('close', () => reject(new Error(`${method} ${path}: the answer is cut`))); // after `end` this does nothing
      answer.on('end', () => {
        const found = new Headers();
        const cookies = answer.headers['set-cookie'] ?? []; // Headers of Debian's node 18 would join them
        for (let i = 0; i < answer.rawHeaders.length; i += 2) found.append(answer.rawHeaders[i], answer.rawHeaders[i + 1]);
        const text = Buffer.concat(chunks).toString('utf8');
        const isJson = /^application\/(problem\+)?json/.test(found.get('content-type') ?? '');
        resolve({ status: answer.statusCode, headers: found, cookies, text, json: isJson && text ? JSON.parse(text) : undefined });
      });
    });
    // nginx may close a kept connection just when it is reused. Only a GET is repeated, because a POST may have been
    // executed.
    outgoing.on('error', (error) => {
      if (outgoing.reusedSocket && error.code === 'ECONNRESET' && method === 'GET') {
        retries.count += 1;
        request(path, { method, headers, body }).then(resolve, reject);
      } else {
        reject(error);
      }
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`${method} ${path}: no answer in ${ANSWER_SECONDS_MAX} s`)));
    outgoing.end(body);
  });
}

// The answer with its bytes: { status, headers, bytes }. It follows no redirects.
export async function fetched(path, options = {}) {
  const answer = await fetch(url + path, { redirect: 'manual', ...options });
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const HTML_TYPE = 'text/html,application/xhtml+xml,*/*;q=0.8';

// A visitor with separate cookies. get and post use JSON; getHtml and postHtml act as a browser does.
export class Client {
  #cookies;

  constructor(cookies = {}) {
    this.#cookies = new Map(Object.entries(cookies));
  }

  cookie(name) {
    return this.#cookies.get(name);
  }

  async request(path, { headers = {}, ...options } = {}) {
    const jar = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await request(path, { ...options, headers: { ...(jar && { cookie: jar }), ...headers } });
    for (const line of answer.cookies) this.#take(line);
    return answer;
  }

  #take(line) {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim());
    const name = pair.slice(0, pair.indexOf('='));
    const gone = attributes.some((attribute) => /^max-age=(0|-)/i.test(attribute));
    if (gone) this.#cookies.delete(name);
    else this.#cookies.set(name, pair.slice(name.length + 1));
  }

  get(path, headers = {}) {
    return this.request(path, { headers: { accept: JSON_TYPE, ...headers } });
  }

  getHtml(path, headers = {}) {
    return this.request(path, { headers: { accept: HTML_TYPE, ...headers } });
  }

  post(path, fields = {}, headers = {}) {
    return this.postRaw(path, new URLSearchParams(fields).toString(), headers);
  }

  postHtml(path, fields = {}, headers = {}) {
    return this.post(path, fields, { accept: HTML_TYPE, ...headers });
  }

  postRaw(path, body, headers = {}) {
    return this.request(path, { method: 'POST', body, headers: { accept: JSON_TYPE, 'content-type': FORM, ...headers } });
  }
}
