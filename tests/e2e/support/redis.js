// The Redis of the site under test, as its administrator.
import { env } from './instance.js';
import { run } from './run.js';

// Runs a command; returns what redis-cli prints. Rejects when Redis can't be reached or refuses it.
export async function redis(...words) {
  return (await run('redis-cli', ['-e', '-s', env.HB_TEST_REDIS_SOCKET, ...words])).stdout.trim();
}

// The keys that match the pattern.
export const keys = async (pattern) => JSON.parse(await redis('--json', 'KEYS', pattern));

// Replaces the first event for which `change(content)` returns a new content, while no worker settles. An id can't be
// used again, so all entries of its stream are added anew. An entry has several events if a crowd grabbed at once.
// Returns { key, id, content }: the stream, the entry, and the old content of the event.
export async function replaceEvent(change) {
  for (const key of await keys('hb:{p??}:events')) {
    const entries = JSON.parse(await redis('--json', 'XRANGE', key, '-', '+'));
    const [id, fields] = entries.find(([, words]) => words.some(change)) ?? [];
    if (!id) continue;
    const at = fields.findIndex(change), content = fields[at];
    fields[at] = change(content);
    await redis('DEL', key);
    for (const [each, words] of entries) await redis('XADD', key, each, ...words);
    return { key, id, content };
  }
  throw new Error('no stream has the event');
}
