// Moves a time of a packet to the present, in both stores, so that a test neither waits for a clock nor is overtaken by
// one.
import assert from 'node:assert/strict';
import { now, poll } from './instance.js';
import { sql } from './mysql.js';
import { liveKey, packetNumber } from '../../support/packet_id.js';
import { redis } from './redis.js';

const isLive = (packet) => poll('Redis has the packet', async () => await redis('EXISTS', liveKey(packet, 'packet')) === '1');

// The packet expires now.
export async function expireNow(packet) {
  await isLive(packet);
  const at = now(), number = packetNumber(packet);
  await redis('HSET', liveKey(packet, 'packet'), 'expires_ms', String(at));
  await sql(`UPDATE packet SET expires_ms = ${at} WHERE id = ${number};
    UPDATE packet_receiver SET expires_ms = ${at} WHERE packet_id = ${number}`);
}

// The packet, whose opening is still to come, opens now. Returns that moment, which is its opens_at.
export async function openNow(packet) {
  await isLive(packet);
  const at = now();
  await sql(`UPDATE packet SET opens_ms = ${at} WHERE id = ${packetNumber(packet)}`);
  await redis('HSET', liveKey(packet, 'packet'), 'opens_ms', String(at));
  return new Date(at).toISOString();
}

// Makes Redis forget the packet, which is over, now: normally it does so packet_grace_ms after the worker has closed
// the packet.
export async function forgetNow(packet) {
  const key = liveKey(packet, 'packet');
  await poll('the packet is closed', async () => Number(await redis('PTTL', key)) > 0);
  const deleted = await redis('DEL', key, ...['shares', 'grabs', 'order'].map((content) => liveKey(packet, content)));
  assert.ok(Number(deleted) >= 3, `${deleted} keys`); // no list of shares is left when all are taken
}
