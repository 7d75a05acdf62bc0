// Moves a moment of a packet to the present, in both stores: a test waits for no clock, and none passes too early.
import { poll } from './instance.js';
import { sql } from './mysql.js';
import { liveKey, packetNumber } from './packet_id.js';
import { redis } from './redis.js';

const isLive = (packet) => poll('Redis has the packet', async () => await redis('EXISTS', liveKey(packet, 'packet')) === '1');

// The packet expires now.
export async function expireNow(packet) {
  await isLive(packet);
  const now = Date.now(), number = packetNumber(packet);
  await redis('HSET', liveKey(packet, 'packet'), 'expires_ms', String(now));
  await sql(`UPDATE packet SET expires_ms = ${now} WHERE id = ${number};
    UPDATE packet_receiver SET expires_ms = ${now} WHERE packet_id = ${number}`);
}

// The packet, whose opening is still to come, opens now. Returns that moment, which is its opens_at.
export async function openNow(packet) {
  await isLive(packet);
  const now = Date.now();
  await sql(`UPDATE packet SET opens_ms = ${now} WHERE id = ${packetNumber(packet)}`);
  await redis('HSET', liveKey(packet, 'packet'), 'opens_ms', String(now));
  return new Date(now).toISOString();
}
