// HTTP requests as text, and broken variants of them, for nginx.
import { noise } from './fastcgi.js';

const METHODS = ['GETT', 'get', '', ' ', 'POST', 'PUT', 'TRACE', 'CONNECT', 'PRI', 'OPTIONS', 'G\0T', 'A'.repeat(9000)];
const VERSIONS = ['HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/9', 'http/1.1', 'HTTP/1.1\0', '', 'HTTP/99999999999.1'];
const LENGTHS = ['-1', '0', '1', '99999999999999999999', '1e3', '+5', '5 5', '0x10', ''];
const CHUNKS = ['zz\r\n', '-1\r\nab\r\n', '5\r\nab', '5;a=b\r\nabcde\r\n0\r\n\r\n', 'ffffffffffffffff\r\n', '1\nx\n0\n\n', '0\r\nX: y\r\n\r\n', '3\r\nabcde\r\n0\r\n\r\n'];

const lineOf = (one) => `${one.method} ${one.path} ${one.version}`;

const CHANGES = {
  method: (rng, one) => { one.method = rng.pick(METHODS); },
  version: (rng, one) => { one.version = rng.pick(VERSIONS); },
  path: (rng, one) => {
    one.path = rng.pick([`/${'a'.repeat(rng.pick([100, 8000, 9000, 70_000]))}`, '*', 'http://other/', '//', '/%00', '/%', '/%zz', '/../../etc/passwd',
      '/static/../hongbao.conf', '/static/%2e%2e/run/environment', '/p/\xff\xfe', `/?${'a&'.repeat(3000)}`, '/ /', '\t/', noise(rng, 30).toString('latin1')]);
  },
  host: (rng, one) => { one.headers.Host = rng.pick(['', 'a b', '[::1', 'x'.repeat(9000), '\0', 'a\tb', '../..']); },
  noHost: (rng, one) => { delete one.headers.Host; },
  length: (rng, one) => { one.headers['Content-Length'] = rng.pick(LENGTHS); },
  chunked: (rng, one) => {
    delete one.headers['Content-Length'];
    one.headers['Transfer-Encoding'] = rng.pick(['chunked', 'chunked', 'CHUNKED', 'chunked, chunked', 'gzip, chunked', 'x', ' chunked']);
    one.body = rng.pick(CHUNKS);
  },
  both: (rng, one) => {
    one.headers['Content-Length'] = '5';
    one.headers['Transfer-Encoding'] = 'chunked';
    one.body = rng.pick(CHUNKS);
  },
  header: (rng, one) => { one.headers[noise(rng, rng.int(0, 20)).toString('latin1')] = noise(rng, rng.pick([0, 10, 500])).toString('latin1'); },
  long: (rng, one) => { one.headers['X-Long'] = 'x'.repeat(rng.pick([2000, 8100, 9000, 40_000])); },
  many: (rng, one) => { for (let i = 0; i < 500; i++) one.headers[`X-${i}`] = '1'; },
  cookie: (rng, one) => {
    one.headers.Cookie = rng.pick([`sid=${noise(rng, 43).toString('latin1')}`, `sid=${rng.word(43)}; sid=${rng.word(43)}`, ';'.repeat(4000), '=', 'sid',
      `__Host-sid=${rng.word(43)}`, `language=${noise(rng, 9).toString('latin1')}; device=${rng.word(300)}`]);
  },
  accept: (rng, one) => { one.headers.Accept = rng.pick(['application/json', ',,,;q=', 'text/csv;q=0.0000', '*/*;q=9'.repeat(300), noise(rng, 60).toString('latin1')]); },
  token: (rng, one) => { one.headers.Authorization = rng.pick([`Bearer hbt_${rng.word(40)}`, 'Bearer', 'Basic x', `Bearer ${noise(rng, 80).toString('latin1')}`]); },
  fold: (rng, one) => { one.headers['X-Fold'] = 'a\r\n b'; },
  bareNewline: (rng, one) => { one.eol = '\n'; },
  upgrade: (rng, one) => { one.headers.Upgrade = 'h2c'; one.headers.Expect = rng.pick(['100-continue', 'x']); },
  range: (rng, one) => { one.headers.Range = rng.pick(['bytes=0-', 'bytes=-1', 'bytes=9-1', `bytes=${'0-1,'.repeat(900)}0-2`]); },
  body: (rng, one) => { one.body = noise(rng, rng.pick([0, 1, 100, 3000, 20_000])).toString('latin1'); },
  bodyFits: (rng, one) => {
    one.body = noise(rng, rng.pick([1, 100, 1900])).toString('latin1');
    one.headers['Content-Length'] = String(one.body.length);
  },
};

// The bytes of a variant of { method, path, headers, body }, and the names of its changes.
export function variant(rng, base) {
  const one = { version: 'HTTP/1.1', eol: '\r\n', ...base, headers: { ...base.headers } };
  const changes = Array.from({ length: rng.int(1, 3) }, () => rng.pick(Object.keys(CHANGES)));
  for (const name of changes) CHANGES[name](rng, one);
  const head = [lineOf(one), ...Object.entries(one.headers).map(([name, value]) => `${name}: ${value}`), '', ''].join(one.eol);
  let bytes = Buffer.from(head + (one.body ?? ''), 'latin1');
  if (rng.oneIn(6)) {
    bytes = Buffer.concat([bytes, bytes]);
    changes.push('twice');
  }
  if (rng.oneIn(5)) {
    bytes = bytes.subarray(0, rng.int(0, bytes.length));
    changes.push('cut');
  }
  return { bytes, changes };
}
