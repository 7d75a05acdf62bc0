// The parts of a packet's public id: the number in the tables, the partition, and the keys in Redis. `packet` is its
// id, or the path of its page.

export const PARTITIONS = 16;
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

// The number, in decimal digits: in the 26 base32 characters are two zero bits, 64 bits of it, and 64 bits of its MAC.
export function packetNumber(packet) {
  const id = packet.split('/').at(-1);
  return String([...id].reduce((sum, digit) => sum << 5n | BigInt(DIGITS.indexOf(digit)), 0n) >> 64n);
}

export const partitionOf = (packet) => Number(BigInt(packetNumber(packet)) % BigInt(PARTITIONS));

// The beginning of the names of a partition's keys.
export const partitionKeys = (partition) => `hb:{p${String(partition).padStart(2, '0')}}`;

// The key with this content of the packet: `packet`, `order`, …
export const liveKey = (packet, content) => `${partitionKeys(partitionOf(packet))}:${content}:${packetNumber(packet)}`;
