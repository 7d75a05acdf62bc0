// Requests and connections from other addresses of this machine, 127.x.y.z, as if other people sent them.
import http from 'node:http';
import { connect } from 'node:net';
import { url as site } from './instance.js';

const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

// Posts a form with these fields, or without fields sends a GET, unless method is given: { status, headers, text }.
// more: headers.
export function requestFrom(address, url, { fields, accept = 'application/json', cookie, method, more } = {}) {
  return new Promise((resolve, reject) => {
    const body = fields && new URLSearchParams(fields).toString();
    const headers = { ...(accept && { accept }), ...more, ...(cookie && { cookie }),
      ...(body && { 'content-type': 'application/x-www-form-urlencoded', 'content-length': Buffer.byteLength(body) }) };
    const request = http.request(url, { method: method ?? (body ? 'POST' : 'GET'), headers, localAddress: address, agent }, (answer) => {
      const chunks = [];
      answer.on('data', (chunk) => chunks.push(chunk));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString('utf8') }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

// Opens connections to the site, sends this text over each and then nothing: [{ socket, text, closed }]; text: what the
// site sent.
export const connectionsFrom = (address, amount, sent) => Promise.all(Array.from({ length: amount }, () => new Promise((resolve, reject) => {
  const { hostname, port } = new URL(site);
  const one = { text: '', closed: false };
  one.socket = connect({ host: hostname, port: Number(port), localAddress: address }, () => {
    one.socket.write(sent);
    resolve(one);
  });
  one.socket.on('data', (data) => { one.text += data; });
  one.socket.on('close', () => { one.closed = true; });
  one.socket.on('error', (error) => (one.socket.connecting ? reject(error) : undefined));
})));
