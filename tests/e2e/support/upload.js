// Uploads of pictures as a browser makes them, and pictures to upload.
import { randomBytes } from 'node:crypto';
import { deflateSync, gzipSync } from 'node:zlib';

const TYPE = 'multipart/form-data; boundary=B';

const part = (name, more = '') => `--B\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;

// Posts the picture and the other fields. Headers of the answer are as for programs, unless others are given.
export function upload(client, path, picture, headers = {}, fields = {}) {
  const others = Object.entries(fields).map(([name, value]) => `${part(name)}${value}\r\n`).join('');
  const body = Buffer.concat([Buffer.from(others + part('picture', '; filename="a.jpg"\r\nContent-Type: image/jpeg')),
    picture, Buffer.from('\r\n--B--\r\n')]);
  return client.request(path, { method: 'POST', body, headers: { accept: 'application/json', 'content-type': TYPE, ...headers } });
}

// The checksum that gzip writes behind the data, before their length.
function crc32(data) {
  const file = gzipSync(data, { level: 1 });
  return file.readUInt32LE(file.length - 8);
}

function chunk(type, data) {
  const out = Buffer.alloc(data.length + 12);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  data.copy(out, 8);
  out.writeUInt32BE(crc32(out.subarray(4, data.length + 8)), data.length + 8);
  return out;
}

// A PNG file of eight bits of red, green and blue; lines begin with a byte 0.
function png(width, height, lines, level = 6) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level })), chunk('IEND', Buffer.alloc(0))]);
}

// A picture that no format makes smaller.
export function noise(width, height) {
  const lines = randomBytes(height * (3 * width + 1));
  for (let y = 0; y < height; y += 1) lines[y * (3 * width + 1)] = 0;
  return png(width, height, lines, 0);
}

// A landscape with a sun, as a PNG file; each seed from 0 to 6 has colours of its own.
export function landscape(seed, { width = 1000, height = 700 } = {}) {
  const lines = Buffer.alloc(height * (3 * width + 1));
  const shades = (colour, light) => Uint8Array.from(colour, (level) => Math.min(255, level * light));
  const hills = Array.from({ length: width }, (_, x) => 0.62 + 0.08 * Math.sin(7 * (x / width) + seed) + 0.03 * Math.sin(23 * (x / width)));
  for (let y = 0; y < height; y += 1) {
    const v = y / height;
    const sky = shades([120 + 18 * seed, 170 - 10 * seed, 215], 0.75 + 0.25 * v);
    const ground = shades([40 + 20 * seed, 110, 70 + 10 * seed], 1.3 - 0.6 * v);
    for (let x = 0; x < width; x += 1) {
      const sun = Math.hypot(x / width - 0.5, (v - 0.45) * height / width) < 0.09;
      lines.set(v >= hills[x] ? ground : sun ? [250, 222, 150] : sky, y * (3 * width + 1) + 1 + 3 * x);
    }
  }
  return png(width, height, lines);
}
