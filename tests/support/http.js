// HTTP client of the load. It never rejects: a broken connection or a timeout is an answer with status 0.
import http from 'node:http';
import { PATIENCE } from './poll.js';

const TIMEOUT_MS = 15_000 * PATIENCE;

export class Site {
  #url; #agent;

  constructor(url) {
    this.#url = url;
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: 64 });
  }

  close() {
    this.#agent.destroy();
  }

  get(path, cookie) {
    return this.#request('GET', path, cookie);
  }

  post(path, cookie, fields = {}) {
    return this.#request('POST', path, cookie, new URLSearchParams(fields).toString());
  }

  // { status, json, cookies, error }: status 0 with error when no complete answer arrived.
  #request(method, path, cookie, body) {
    return new Promise((resolve) => {
      const headers = { accept: 'application/json' };
      if (cookie) headers.cookie = cookie;
      if (body !== undefined) {
        headers['content-type'] = 'application/x-www-form-urlencoded';
        headers['content-length'] = Buffer.byteLength(body);
      }
      const broken = (error) => resolve({ status: 0, error: error.code ?? error.message, cookies: [] });
      const request = http.request(this.#url + path, { method, headers, agent: this.#agent, timeout: TIMEOUT_MS }, (answer) => {
        const chunks = [];
        answer.on('data', (chunk) => chunks.push(chunk));
        answer.on('error', broken);
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8');
          const cookies = (answer.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]);
          const told = /^application\/(problem\+)?json/.test(answer.headers['content-type'] ?? '');
          let json;
          try {
            json = told && text ? JSON.parse(text) : undefined;
          } catch (error) {
            broken(error);
          }
          resolve({ status: answer.statusCode, json, cookies });
        });
      });
      request.on('error', broken);
      request.on('timeout', () => request.destroy(new Error('timeout')));
      request.end(body);
    });
  }
}
