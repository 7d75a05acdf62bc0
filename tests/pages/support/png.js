// Small PNG files with a palette, for the repository. A page has few colours except at the edges of its letters. When
// there are more than 256, rare colours are replaced by their nearest neighbours, which is invisible.
import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const COLOURS_MAX = 256;
const DEPTH = 8;
const PALETTE = 3;

// { width, height, data: RGBA }
export const decode = (file) => PNG.sync.read(file);

const CRC = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function chunk(type, data) {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  let crc = 0xffffffff;
  for (const byte of out.subarray(4, data.length + 8)) crc = CRC[(crc ^ byte) & 255] ^ (crc >>> 8);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, data.length + 8);
  return out;
}

const rgb = (c) => [c >> 16, (c >> 8) & 255, c & 255];

function distance(a, b) {
  const [left, right] = [rgb(a), rgb(b)];
  return left.reduce((sum, level, i) => sum + Math.abs(level - right[i]), 0);
}

// Chooses the colours of a palette: the most frequent first, leaving out colours within distance `apart` of a chosen
// one. undefined: more than 256.
function choose(colours, apart) {
  const chosen = [];
  for (const colour of colours) {
    if (chosen.some((other) => distance(colour, other) <= apart)) continue;
    if (chosen.push(colour) > COLOURS_MAX) return undefined;
  }
  return chosen;
}

// Returns { palette, lines }: the colours, and the index of the nearest one for each pixel, in lines with a filter
// byte, as in PNG.
function indexed({ width, height, data }) {
  const counts = new Map();
  const at = (i) => (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
  for (let i = 0; i < data.length; i += 4) counts.set(at(i), (counts.get(at(i)) ?? 0) + 1);
  const colours = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a));
  let palette;
  for (let apart = 0; !palette; apart += 2) palette = choose(colours, apart);
  const nearest = (colour) => palette.reduce((best, other, i) => (
    distance(colour, other) < distance(colour, palette[best]) ? i : best), 0);
  const index = new Map(colours.map((colour) => [colour, nearest(colour)]));
  const lines = Buffer.alloc(height * (width + 1));
  for (let y = 0, i = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, i += 4) lines[y * (width + 1) + 1 + x] = index.get(at(i));
  }
  return { palette, lines };
}

// Encodes { width, height, data: RGBA without transparency } as a PNG file.
export function encode(picture) {
  const { palette, lines } = indexed(picture);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(picture.width, 0);
  header.writeUInt32BE(picture.height, 4);
  header[8] = DEPTH;
  header[9] = PALETTE;
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('PLTE', Buffer.from(palette.flatMap(rgb))),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })), chunk('IEND', Buffer.alloc(0))]);
}
