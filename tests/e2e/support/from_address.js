// Requests from other addresses of this machine, 127.x.y.z, as other people's.
import http from 'node:http';

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

// A form with these fields, or without any a GET: { status, headers, text }.
export function requestFrom(address, url, { fields, accept = 'application/json', cookie } = {}) {
  return new Promise((resolve, reject) => {
    const body = fields && new URLSearchParams(fields).toString();
    const headers = { accept, ...(cookie && { cookie }),
      ...(body && { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }) };
    const request = http.request(url, { method: body ? 'POST' : 'GET', headers, localAddress: address, agent }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString('utf8') }));
    });
    request.on('error', reject);
    request.end(body);
  });
}
