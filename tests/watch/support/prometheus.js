// Debian's Prometheus and its exporters, as private servers of a test.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { poll } from '../../support/poll.js';
import { freePort } from '../../support/port.js';

// Starts a server with these additional variables in its environment; returns the function that ends it.
export function serve(command, args, variables = {}) {
  const server = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env: { ...process.env, ...variables } });
  const exited = once(server, 'exit');
  return async () => {
    server.kill();
    await exited;
  };
}

export class Prometheus {
  #address;

  // Starts it with this configuration.
  async start(config, variables) {
    const folder = mkdtempSync(join(tmpdir(), 'hongbao-prometheus-'));
    writeFileSync(join(folder, 'prometheus.yml'), config);
    this.#address = `127.0.0.1:${await freePort()}`;
    const end = serve('prometheus', [`--config.file=${join(folder, 'prometheus.yml')}`, `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=${this.#address}`, '--log.level=error'], variables);
    this.end = () => end().then(() => rmSync(folder, { recursive: true }));
    await poll('Prometheus answers', () => this.#api('alerts'));
    return this;
  }

  // Undefined as long as it starts.
  async #api(path) {
    const answer = await fetch(`http://${this.#address}/api/v1/${path}`).catch(() => undefined);
    return answer?.status === 503 ? undefined : answer?.json();
  }

  // The answer to a query: { status, error, data }.
  query(expr) {
    return this.#api(`query?query=${encodeURIComponent(expr)}`);
  }

  // The labels of the alerts that fire: [{ alertname, … }].
  async firing() {
    const { data } = await this.#api('alerts');
    return data.alerts.filter(({ state }) => state === 'firing').map(({ labels }) => labels);
  }
}
