// The cluster of a test, and visitors who use it meanwhile: the load of chaos, whose requests must all succeed.
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { Load } from '../support/client.js';
import { History } from '../support/history.js';
import { Site } from '../support/http.js';
import { Cluster } from '../support/cluster.js';

const VISITORS = 8;
const USERS = 30;

// The cluster of a test file, which is ended after its tests: { cluster, skip }; skip: why no cluster can run here, or false.
export function testCluster(settings) {
  const dir = process.env.HB_TEST_CLUSTER_DIR;
  const cluster = new Cluster(dir, process.env.HB_TEST_BINARY, settings);
  mkdirSync(dir, { recursive: true });
  const skip = Cluster.impossible(dir) ?? false;
  after(async () => {
    if (!skip) await cluster.try('down');
    rmSync(dir, { recursive: true, force: true });
  });
  return { cluster, skip };
}

// A share that is not in its wallet yet can't be given back or thanked for: that is no error.
const isEarly = ({ op, why }) => (op === 'return' && why === 'unsettled') || (op === 'thanks' && why === 'busy');
const isError = (request) => request.outcome !== 'ok' && request.outcome !== 'refused' && !isEarly(request);

// Runs work() under load; returns { requests, errors }, errors as lines of JSON.
export async function underLoad(cluster, work) {
  const users = await cluster.demoUsers(USERS);
  const site = new Site(cluster.url);
  const history = new History(join(cluster.dir, 'history.jsonl'));
  const load = new Load({ site, users, history, seed: String(Date.now()) });
  load.start(VISITORS);
  try {
    await work();
  } finally {
    await load.stop();
    site.close();
    await history.close();
  }
  const errors = [...history.operations.filter(isError), ...history.blames].map((one) => JSON.stringify(one));
  return { requests: history.operations.length, errors };
}
