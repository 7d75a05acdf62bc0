// A site under the loads of the benchmarks: its users, requests and packets, and the state of its stores.
import http from 'node:http';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { poll } from '../chaos/deployment.js';
import { partitionKeys, PARTITIONS } from '../e2e/support/packet_id.js';

const DEMO_USERS_MAX = 20_000;
export const REQUEST_MS_MAX = 60_000;

// Settings as variables of the environment: { HB_NAME: text }.
export const environmentOf = (settings) => Object.fromEntries(Object.entries(settings).map(([name, value]) => [name, String(value)]));

// A subclass has url, tmp (a folder that the program can write to), and
//   hongbao(...args)    runs the program and returns its output; rejects when it fails
//   redisAll(commands)  their replies; errors are Error objects among them
//   processes()         the pids of all its processes
export class SiteUnderLoad {
  #agent = new http.Agent({ keepAlive: true, maxSockets: 32 }); #users = [];

  // Ends the connections to the site.
  disconnect() {
    this.#agent.destroy();
  }

  // The reply to one command.
  async redis(...args) {
    const [reply] = await this.redisAll([args]);
    if (reply instanceof Error) throw reply;
    return reply;
  }

  // The first count demo users with a session and 1,000 yuan each: [{ id, name, cookie }]. Creates missing ones.
  async users(count) {
    while (this.#users.length < count) {
      const file = join(this.tmp, 'bench-users');
      await this.hongbao('demo', '--users', String(Math.min(count - this.#users.length, DEMO_USERS_MAX)), '--out', file);
      for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
        const [id, name, cookie] = line.split('\t');
        this.#users.push({ id, name, cookie });
      }
    }
    return this.#users.slice(0, count);
  }

  // Sends one request: { status, headers, text, json }. With fields it is a POST. accept: JSON by default.
  // base: another server's address. from: the client's address, over a connection of its own.
  request(path, { cookie, fields, accept = 'application/json', base = this.url, from } = {}) {
    const body = fields ? new URLSearchParams(fields).toString() : null;
    const headers = { Accept: accept, ...(cookie ? { Cookie: cookie } : {}),
      ...(body !== null ? { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body) } : {}) };
    return new Promise((resolve, reject) => {
      const request = http.request(base + path, { method: body === null ? 'GET' : 'POST', headers, localAddress: from,
        agent: from === undefined && this.#agent, timeout: REQUEST_MS_MAX }, (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString('utf8');
          resolve({ status: response.statusCode, headers: response.headers, text,
            get json() { return text ? JSON.parse(text) : null; } });
        });
      });
      request.on('timeout', () => request.destroy(new Error(`${path}: no answer in time`)));
      request.on('error', reject);
      request.end(body ?? undefined);
    });
  }

  // Sends a packet of count shares of one fen each; returns its public id.
  async send(user, count) {
    const { status, json, text } = await this.request('/send', { cookie: user.cookie, fields: {
      kind: 'even', amount: '0.01', count: String(count), greeting: '恭喜发财', request_key: `bench-${SiteUnderLoad.#keys++}-${Date.now()}` } });
    if (status !== 201) throw new Error(`POST /send: ${status} ${text}`);
    return json.id;
  }
  static #keys = 0;

  // Waits until every event is settled: the last entry of each stream is the published position.
  async drained(seconds = 120) {
    const partitions = Array.from({ length: PARTITIONS }, (_, i) => partitionKeys(i));
    const found = await poll(seconds, async () => {
      const replies = await this.redisAll(partitions.flatMap((key) => [['XREVRANGE', `${key}:events`, '+', '-', 'COUNT', '1'], ['GET', `${key}:settled`]]));
      return partitions.every((_, i) => (replies[2 * i][0]?.[0] ?? null) === replies[2 * i + 1]);
    });
    if (!found) throw new Error(`after ${seconds} s not everything is settled`);
  }

  // Throws unless the audit is clean and no event waits.
  async mustBeSound() {
    const found = JSON.parse(await this.hongbao('audit', '--json'));
    if (!found.ok || found.unsettled !== 0) throw new Error(`the audit is not clean: ${JSON.stringify(found)}`);
  }
}
