// Packets of the users of site.js: sent, opened, and settled.
import assert from 'node:assert/strict';
import { poll, sendPacket, unique } from './site.js';

// Sends a packet; returns its path.
export async function sentPath(user, fields) {
  const sent = await sendPacket(user, { request_key: unique('k'), ...fields });
  assert.equal(sent.status, 201, sent.text);
  return `/p/${sent.json.id}`;
}

// Opens a packet; returns the answer.
export async function opened({ client }, path, fields = {}) {
  const answer = await client.post(`${path}/open`, fields);
  assert.equal(answer.status, 200, answer.text);
  return answer.json;
}

// Waits until the user's share of the packet is settled.
export const settled = ({ client }, path) => poll('the share is settled', async () => (await client.get(path)).json?.mine?.settled);
