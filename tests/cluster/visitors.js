// Visitors of a cluster while something is done to it: the load of chaos, whose requests must all be answered well.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Load } from '../chaos/client.js';
import { History } from '../chaos/history.js';
import { Site } from '../chaos/http.js';

const VISITORS = 8;
const USERS = 30;

// Makes users with a session and money on a machine of the site: [{ id, name, cookie }].
export async function demoUsers(cluster, count, node = 'app1') {
  const file = join(cluster.folder, node, 'tmp', 'users');
  const { code, stderr } = await cluster.hongbao(node, 'demo', '--users', String(count), '--out', file);
  if (code !== 0) throw new Error(`hongbao demo: ${stderr}`);
  return readFileSync(file, 'utf8').trim().split('\n').map((line) => {
    const [id, name, cookie] = line.split('\t');
    return { id, name, cookie };
  });
}

// A share that is not in its wallet yet can't be given back or thanked for: that is no error.
const isEarly = ({ op, why }) => (op === 'return' && why === 'unsettled') || (op === 'thanks' && why === 'busy');
const isError = (request) => request.outcome !== 'ok' && request.outcome !== 'refused' && !isEarly(request);

// Runs work() under load; returns { requests, errors }, errors as lines of JSON.
export async function underLoad(cluster, work) {
  const users = await demoUsers(cluster, USERS);
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
