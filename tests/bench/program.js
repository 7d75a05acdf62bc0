// Runs the C programs of this folder and reads their output.
import { join } from 'node:path';
import { run } from '../chaos/deployment.js';

// Runs a program that prints one line of JSON. environment: added to ours.
export async function measure(file, args, environment) {
  const { code, stdout, stderr } = await run(file, args.map(String), { env: { ...process.env, ...environment } });
  if (code !== 0) throw new Error(`${file} ${args.join(' ')}: ${code}\n${stderr}`);
  return JSON.parse(stdout);
}

// The environment of a program that uses a Redis alone (redis_server.js). Loading may take long.
export const redisOnly = (bench, server) => ({
  HB_REDIS: `unix:${server.socket}`, HB_REDIS_TIMEOUT_MS: '60000', HB_LUA_DIR: join(bench.root, 'lua'), HB_SECRET: 'of no use to anybody, only long enough' });

// Sums over a list of { count, wall_ns, own_ns, redis_ns }.
export const sum = (list) => Object.fromEntries(Object.keys(list[0]).map((key) => [key, list.reduce((all, one) => all + one[key], 0)]));
