// The decisions of nginx alone, tested on a real nginx with the site's files, without pools: static names, who may read
// the counters, who may embed what, and TLS as in docs/how-to/tls.md.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { appendFile, mkdir, readdir, symlink, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { basename, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { poll } from '../support/poll.js';
import { run, temporaryFolder } from './support/run.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const HOST = 'hongbao.example';
const HASHED = /^app\.[0-9a-f]{10}\.css$/;
const folder = temporaryFolder('front');
let nginx;
let http2; // what `hongbao setup` writes for the nginx of this machine: { HTTP2, LISTEN_HTTP2 }

// Replaces each of these words in the text.
function replaced(text, changes) {
  for (const [from] of changes) assert.ok(text.includes(from), from);
  return changes.reduce((changed, [from, to]) => changed.replaceAll(from, to), text);
}

// The two servers of the how-to, on Unix sockets instead of ports.
function howTo() {
  const [, block] = /^```nginx\n([\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/how-to/tls.md'), 'utf8'));
  return replaced(block, [['listen 80 ', `listen unix:${folder}/plain `], ['listen 443 ssl http2 default_server;', `listen unix:${folder}/tls ssl${http2.LISTEN_HTTP2} default_server; ${http2.HTTP2}http2 on;`],
    ['root /srv/hongbao/static;', `root ${folder}/static;`]]);
}

// The package's server of port 80, on a Unix socket.
function packagePlain() {
  const [block] = /^server \{\n[\s\S]*?^\}$/m.exec(readFileSync(join(ROOT, 'nginx/debian/site.in'), 'utf8'));
  return replaced(block, [['listen 80;', `listen unix:${folder}/package-plain;`], ['@IPV6@', '# '], ['@HOST@', HOST],
    ['include hongbao/debian/logs.conf;', ''], ['/var/lib/hongbao/acme;', `${folder}/acme;`]]);
}

// The lines of the reference that count what nginx's limits refuse, for another folder.
function countLines(to) {
  const [, block] = /^```nginx\n(access_log [\s\S]*?)^```$/m.exec(readFileSync(join(ROOT, 'docs/reference/config.md'), 'utf8'));
  return block.trim().split('\n').map((line) => line.replace(/ (\S+) /, (_, path) => ` "${to}/${basename(path)}" `));
}

async function http2Find() {
  const { stdout } = await run('bash', ['-ec', 'source "$1"; nginx_http2', 'bash', join(ROOT, 'deploy/commands/setup/nginx.sh')]);
  return Object.fromEntries(stdout.trimEnd().split('\n').map((line) => line.split('=')));
}

const copyStatic = (from) => run(join(ROOT, 'deploy/static-copy.sh'), [from, join(folder, 'static')]);

before(async () => {
  http2 = await http2Find();
  await copyStatic(join(ROOT, 'static'));
  await symlink(join(ROOT, 'nginx'), join(folder, 'hongbao'));
  await mkdir(join(folder, 'hongbao-tls'));
  await run('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2',
    '-subj', `/CN=${HOST}`, '-addext', `subjectAltName=DNS:${HOST}`, '-keyout', join(folder, 'hongbao-tls/privkey.pem'),
    '-out', join(folder, 'hongbao-tls/fullchain.pem')]);
  await writeFile(join(folder, 'hongbao-metrics.conf'), 'allow 192.0.2.10;\n');
  await writeFile(join(folder, 'hongbao-root.conf'), `own "${folder}/files";\n`);
  const temporary = ['client_body', 'fastcgi', 'proxy', 'scgi', 'uwsgi'].map((name) => `${name}_temp_path ${folder}/${name};`);
  const pools = ['hot', 'page', 'auth', 'sso', 'card', 'money'].map((name) => `upstream hongbao_${name} { server unix:${folder}/${name}; }`);
  await writeFile(join(folder, 'nginx.conf'), `daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
    events {}
    http {
      ${temporary.join(' ')}
      fastcgi_cache_path ${folder}/cards keys_zone=hongbao_cards:1m;
      include hongbao/http.conf;
      access_log ${folder}/access.log hongbao;
      ${countLines(folder).join('\n')}
      include hongbao/limits-off.conf;
      set_real_ip_from unix:;
      real_ip_header X-Real-IP;
      ${pools.join(' ')}
      server { listen unix:${folder}/address; set $hb_error ""; set $hb_login_path ""; location / { return 200 "$hb_address"; } }
      server { listen unix:${folder}/site; root ${folder}/static; include hongbao/site.conf; }
      ${howTo()}
      ${packagePlain()}
    }`);
  nginx = spawn('nginx', ['-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
  await poll('nginx listens', () => existsSync(join(folder, 'tls')));
});

after(async () => {
  if (nginx?.exitCode === null && nginx.kill()) await once(nginx, 'exit');
});

// { status, headers, text } of an answer with its head.
function parsed(answer) {
  const [head, ...body] = answer.split('\r\n\r\n');
  const lines = head.split('\r\n');
  const headers = new Map(lines.slice(1).map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]));
  return { status: Number(lines[0].split(' ')[1]), headers, text: body.join('\r\n\r\n') };
}

// The answer; options are for curl.
async function get(address, ...options) {
  const socket = { 'http:': 'site', 'https:': 'tls' }[new URL(address).protocol];
  const { stdout } = await run('curl', ['-sSi', '--unix-socket', join(folder, socket), '--cacert', join(folder, 'hongbao-tls/fullchain.pem'),
    ...options, address]);
  return parsed(stdout);
}

const site = (path, ...options) => get(`http://${HOST}${path}`, ...options);

// ---- static files ----

const cacheOf = ({ headers }) => headers.get('cache-control');
const YEAR = 'public, max-age=31536000, immutable';

test('a static name is kept for a year only with the hash of the file behind it', async () => {
  const css = readFileSync(join(ROOT, 'static/app.css'), 'utf8');
  const [name] = (await readdir(join(folder, 'static'))).filter((entry) => HASHED.test(entry));
  for (const [path, cache] of [[name, YEAR], ['app.0123456789.css', 'no-cache'], ['app.css', 'no-cache']]) {
    for (const encoding of ['identity', 'gzip']) {
      const answer = await site(`/static/${path}`, '--compressed', '-H', `Accept-Encoding: ${encoding}`);
      assert.deepEqual([answer.status, cacheOf(answer), answer.text], [200, cache, css], `${path} ${encoding}`);
      assert.equal(answer.headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : undefined);
    }
  }
  for (const file of ['app.css', 'app.js', 'calm.svg']) { // what nginx compresses itself has no Content-Length
    const [plain, packed] = await Promise.all(['identity', 'gzip'].map((encoding) => site(`/static/${file}`, '-I', '-H', `Accept-Encoding: ${encoding}`)));
    const [whole, length] = [plain, packed].map(({ headers }) => Number(headers.get('content-length')));
    assert.ok(packed.headers.get('content-encoding') === 'gzip' && length > 0 && length < whole, `${file}: ${length} of ${whole} bytes`);
  }
  for (const path of ['nothing.0123456789.css', 'nothing.css']) {
    const answer = await site(`/static/${path}`);
    assert.deepEqual([answer.status, cacheOf(answer)], [404, 'no-store'], 'no pool is asked');
  }
});

test('a static name with a hash has the headers that are about a file, and nothing to compare it by', async () => {
  const [name] = (await readdir(join(folder, 'static'))).filter((entry) => HASHED.test(entry));
  const { headers } = await get(`https://${HOST}/static/${name}`);
  assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin');
  assert.match(headers.get('strict-transport-security'), /^max-age=63072000/);
  for (const other of ['etag', 'last-modified', 'permissions-policy', 'server-timing', 'x-request-id']) {
    assert.ok(!headers.has(other), other);
  }
});

test('after a change both hashes have their own file, and the bare name the new one', async () => {
  const changed = join(folder, 'changed');
  await run('cp', ['-r', join(ROOT, 'static'), changed]);
  const earlier = (await readdir(join(folder, 'static'))).find((entry) => HASHED.test(entry));
  await appendFile(join(changed, 'app.css'), '/* changed */\n');
  await copyStatic(changed);
  const names = (await readdir(join(folder, 'static'))).filter((entry) => HASHED.test(entry));
  assert.equal(names.length, 2);
  for (const name of [...names, 'app.css']) {
    for (const encoding of ['identity', 'gzip']) {
      const { text } = await site(`/static/${name}`, '--compressed', '-H', `Accept-Encoding: ${encoding}`);
      assert.equal(text.endsWith('/* changed */\n'), name !== earlier, `${name} ${encoding}`);
    }
  }
});

// ---- addresses that browsers look for ----

test('icons, robots.txt, the manifest and the worker are at their addresses, with all headers', async () => {
  const PNG = '\x89PNG';
  for (const [path, type, start] of [['/favicon.ico', 'image/x-icon', '\0\0\x01\0'], ['/apple-touch-icon.png', 'image/png', PNG],
    ['/static/icon-192.png', 'image/png', PNG], ['/static/icon-512.png', 'image/png', PNG], ['/static/icon-maskable.png', 'image/png', PNG],
    ['/robots.txt', 'text/plain; charset=utf-8', '#'], ['/sw.js', 'text/javascript; charset=utf-8', '/*'],
    ['/static/offline.html', 'text/html; charset=utf-8', '<!doctype html>'], ['/manifest.webmanifest', 'application/manifest+json', '{']]) {
    const answer = await get(`https://${HOST}${path}`, '--no-include', '--output', join(folder, 'body'), '--dump-header', '-');
    assert.deepEqual([answer.status, answer.headers.get('content-type'), cacheOf(answer)], [200, type, 'no-cache'], path);
    assert.equal(readFileSync(join(folder, 'body'), 'latin1').slice(0, start.length), start, path);
    for (const header of ['content-security-policy', 'strict-transport-security', 'x-content-type-options', 'referrer-policy']) {
      assert.ok(answer.headers.has(header), `${path} ${header}`);
    }
  }
});

test('the manifest is in the language of the visitor, and names icons of the size that they have', async () => {
  for (const [options, lang] of [[[], 'zh-CN'], [['-H', 'Accept-Language: en'], 'en'],
    [['-H', 'Accept-Language: en', '-H', 'Cookie: language=zh-CN'], 'zh-CN']]) {
    const { text, headers } = await site('/manifest.webmanifest', ...options);
    const manifest = JSON.parse(text);
    assert.equal(manifest.lang, lang);
    assert.match(headers.get('vary'), /Accept-Language, Cookie/);
    for (const { src, sizes } of manifest.icons) {
      const png = readFileSync(join(folder, src));
      assert.equal(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`, sizes, src);
    }
    assert.deepEqual(manifest.icons.map(({ sizes, purpose }) => [sizes, purpose]), [['192x192', undefined], ['512x512', undefined], ['512x512', 'maskable']]);
  }
});

// ---- the counters ----

test('the counters are for this machine, and for the addresses that hongbao-metrics.conf names', async () => {
  const from = async (address) => (await site('/metrics', '-H', `X-Real-IP: ${address}`)).status;
  for (const address of ['127.0.0.1', '127.9.9.9', '::1', '192.0.2.10']) assert.equal(await from(address), 503, address); // no pool
  for (const address of ['10.0.0.1', '172.16.0.1', '192.168.1.1', 'fd00::1', '192.0.2.11', '2001:db8::1']) {
    assert.equal(await from(address), 403, address);
  }
});

test('the lines that count refused requests are those of ./dev, and count nothing else', async () => {
  const ours = readFileSync(join(ROOT, 'nginx/nginx.conf.in'), 'utf8').split('\n').filter((line) => line.includes('hongbao_count'));
  assert.deepEqual(ours.map((line) => line.trim()), countLines('@VAR@/run'));
  for (const path of ['/static/app.css', '/login', '/nothing', '/-/too-many.json']) await site(path);
  const sizes = ours.map((line) => statSync(join(folder, basename(line.split('"')[1]))).size);
  assert.deepEqual(sizes, [0, 0, 0, 0]);
});

// ---- what nginx refuses by itself ----

// Sends bytes as they are, and returns the answer.
const exchanged = (bytes, name = 'site') => new Promise((resolve, reject) => {
  const socket = connect(join(folder, name), () => socket.write(bytes));
  let answer = '';
  socket.on('data', (data) => { answer += data; });
  socket.on('close', () => resolve(parsed(answer)));
  socket.on('error', reject);
});
const raw = async (bytes) => (await exchanged(bytes)).status;

const CSS = '/static/app.css';
const LONG = 'x'.repeat(20_000);
// Requests that nginx refuses: status and type, the request line, and further header lines.
const REFUSED = [
  [400, 'bad-request', `GET ${CSS} HTTP/1.1`, 'Content-Length: x'],
  [400, 'bad-request', `GET ${CSS} HTTP/1.1`, 'Host: a/b'],
  [400, 'header-too-large', `GET ${CSS} HTTP/1.1`, `Cookie: theirs=${LONG}`],
  [400, 'header-too-large', `GET ${CSS} HTTP/1.1`, ...Array.from({ length: 6 }, (_, i) => `X-${i}: ${LONG.slice(0, 12_000)}`)],
  [403, 'forbidden', 'GET /metrics HTTP/1.1', 'X-Real-IP: 10.0.0.1'],
  [404, 'not-found', 'GET /-/ HTTP/1.1'],
  [404, 'not-found', 'GET /-/too-many.html HTTP/1.1'],
  [405, 'method-not-allowed', `POST ${CSS} HTTP/1.1`, 'Content-Length: 0'],
  [405, 'method-not-allowed', `PUT ${CSS} HTTP/1.1`, 'Content-Length: 0'],
  [405, 'method-not-allowed', 'POST /robots.txt HTTP/1.1', 'Content-Length: 0'],
  [405, 'method-not-allowed', `TRACE ${CSS} HTTP/1.1`],

  [412, 'file-changed', `GET ${CSS} HTTP/1.1`, 'If-Match: "other"'],
  [412, 'file-changed', `GET ${CSS} HTTP/1.1`, 'If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT'],
  [413, 'too-large', 'POST /send HTTP/1.1', 'Content-Length: 999999'],
  [416, 'no-such-part', `GET ${CSS} HTTP/1.1`, 'Range: bytes=9999999-'],
  [501, 'not-supported', 'POST /send HTTP/1.1', 'Transfer-Encoding: planted'],
  [503, 'busy', 'GET /send HTTP/1.1', 'If-Unmodified-Since: Mon, 01 Jan 2001 00:00:00 GMT'],
  [503, 'busy', 'GET /send HTTP/1.1', `If-Modified-Since: ${new Date(Date.now() - 1000).toUTCString()}`],
  [503, 'busy', 'GET /send HTTP/1.1', 'Range: bytes=9999999-'],
];
const RETRIED = ['busy', 'unknown', 'too-many'];

test('what nginx refuses is answered by a page of the site, or a problem, in the visitor\'s language', async () => {
  const asks = (line, ...lines) => exchanged([line, 'Host: x', 'Connection: close', ...lines, '', ''].join('\r\n'));
  for (const [status, type, line, ...lines] of REFUSED) {
    const name = `${line} ${(lines.at(-1) ?? '').slice(0, 40)}`;
    for (const [language, home] of [['en', 'Back to home'], ['zh-CN', '返回首页']]) {
      const page = await asks(line, 'Accept: text/html', `Accept-Language: ${language}`, ...lines);
      assert.deepEqual([page.status, page.headers.get('content-type')], [status, 'text/html; charset=utf-8'], name);
      assert.ok(page.text.includes(`<html lang="${language}">`) && page.text.includes(home), `${name}\n${page.text}`);
      assert.ok(page.text.includes(`<p class="trace">${status}</p>`) && /<h1>[^<]+<\/h1>\s*<p>[^<]+<\/p>/.test(page.text), name);
      assert.ok(page.headers.has('content-security-policy') && page.headers.has('x-request-id'), name);
      assert.deepEqual([page.headers.get('cache-control'), page.headers.get('retry-after')],
        ['no-store', RETRIED.includes(type) ? '1' : undefined], name);
      assert.equal(page.headers.get('allow'), status === 405 ? 'GET, HEAD' : undefined, name);
    }
    const answer = await asks(line, 'Accept: application/json', ...lines);
    assert.equal(answer.status, status, name);
    assert.match(answer.headers.get('content-type'), /^application\/problem\+json\b/, name);
    const problem = JSON.parse(answer.text);
    assert.deepEqual([problem.type, problem.status, problem.retry_after],
      [`urn:hongbao:problem:${type}`, status, RETRIED.includes(type) ? 1 : undefined], name);
    assert.ok(problem.title && problem.detail && problem.request_id, name);
  }
});

test('a program of the operator gets JSON, whatever it accepts; an nginx without the upstreams of later pools serves all the rest', async () => {
  for (const [status, type, ...lines] of [[503, 'busy', 'GET /money/report HTTP/1.1'], [413, 'too-large', 'POST /money/credits HTTP/1.1', 'Content-Length: 999999']]) {
    const answer = await exchanged([...lines, 'Host: x', 'Connection: close', 'Accept: text/html', '', ''].join('\r\n'));
    const problem = JSON.parse(answer.text);
    assert.deepEqual([answer.status, problem.type, answer.headers.get('content-type')],
      [status, `urn:hongbao:problem:${type}`, 'application/problem+json'], answer.text);
  }
  const text = readFileSync(join(folder, 'nginx.conf'), 'utf8');
  const [older, without] = [join(folder, 'older.conf'), text.replace(/upstream hongbao_(?:money|sso) \{[^}]*\}/g, '')];
  assert.notEqual(without, text);
  await writeFile(older, without);
  const { stderr } = await run('nginx', ['-t', '-q', '-e', join(folder, 'error.log'), '-p', folder, '-c', older]);
  assert.equal(stderr, '');
});

test('nginx knows what moves money: when a pool has died over it, the result is unknown', async () => {
  for (const [name, path] of [['money', '/money/credits'], ['auth', '/wallet/withdraw'], ['page', '/wallet/deposit']]) {
    const pool = createServer((socket) => socket.on('data', () => socket.destroy())).listen(join(folder, name));
    await once(pool, 'listening');
    for (const [type, ...options] of [['busy'], ['unknown', '-d', 'reference=x']])
      assert.equal(JSON.parse((await site(path, '-H', 'Accept: application/json', ...options)).text).type, `urn:hongbao:problem:${type}`, path);
    pool.close();
  }
});

test('each step of a login by an issuer goes to the pool sso, and nothing else does', async (t) => {
  let reached = 0;
  const pool = createServer((socket) => socket.on('data', () => socket.destroy())).on('connection', () => reached++).listen(join(folder, 'sso'));
  t.after(() => pool.close());
  await once(pool, 'listening');
  for (const [wanted, path, ...options] of [[1, '/login/oidc?next=/wallet'], [1, '/login/oidc/callback?code=x&state=y'],
    [1, '/login/oidc/backchannel', '-d', 'logout_token=x'], [0, '/account/oidc/unlink', '-d', ''],
    [0, '/login'], [0, '/login/oidcs'], [0, '/login/oidc/other'], [0, '/account/oidc']]) {
    const before = reached;
    assert.equal((await site(path, ...options)).status, 503, path);
    assert.equal(reached - before, wanted, path);
  }
});

test('a request that is refused before its language is read gets a page in both languages', async () => {
  for (const [status, bytes, zh, en] of [[400, 'HELLO\r\n\r\n', '请求有误', 'This request is not valid'],
    [400, 'GET nothing HTTP/1.1\r\n\r\n', '请求有误', 'This request is not valid'],
    [414, `GET /records?q=${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, '链接太长', 'This address is too long'],
    [400, `GET / HTTP/1.1\r\nCookie: theirs=${LONG}\r\nHost: x\r\nAccept-Language: en\r\n\r\n`, '浏览器发来的内容太多', 'Your browser sends too much'],
    [505, 'GET / HTTP/7.7\r\nHost: x\r\n\r\n', '不支持这样的请求', 'This kind of request is not supported']]) {
    const page = await exchanged(bytes);
    assert.deepEqual([page.status, page.headers.get('content-type')], [status, 'text/html; charset=utf-8'], bytes.slice(0, 40));
    assert.match(page.text, new RegExp(`<h1>${zh}</h1>[^]*<h2 lang="en">${en}</h2>[^]*返回首页 · Back to home`));
    assert.equal(page.headers.get('retry-after'), undefined);
  }
});

test('over HTTP/2, too, and on the port of TLS without TLS', async () => {
  const english = ['-H', 'Accept-Language: en', '--http2'];
  const large = join(folder, 'large');
  await writeFile(large, Buffer.alloc(6 << 20)); // the program answers, and this process has none
  for (const [status, title, path, ...options] of [[400, 'This request is not valid', CSS, '-H', 'Content-Length: x'],
    [405, 'This request method is not supported', CSS, '-d', 'x'], [416, 'The file has no such part', CSS, '-H', 'Range: bytes=9999999-'],
    [404, 'Page not found', '/-/'], [413, 'What you sent is too large', '/login', '-d', LONG],
    [503, 'Very busy right now, please try again soon', '/account/picture', '--data-binary', `@${large}`]]) {
    const page = await get(`https://${HOST}${path}`, ...english, ...options);
    assert.equal(page.status, status, path);
    assert.ok(page.text.includes(`<h1>${title}</h1>`) && page.headers.has('strict-transport-security'), page.text);
  }
  const { stdout } = await run('curl', ['-sSi', '--unix-socket', join(folder, 'tls'), '-H', 'Accept-Language: en', `http://${HOST}/`]);
  assert.equal(parsed(stdout).status, 400);
  assert.match(stdout, /<h1>This address begins with https:\/\/<\/h1>/);
});

test('a browser with many cookies of its other sites, and a long link, are served', async () => {
  const long = LONG.slice(0, 14_000);
  for (const address of [`http://${HOST}${CSS}`, `https://${HOST}${CSS}`]) {
    assert.equal((await get(address, '--http2', '-H', `Cookie: theirs=${long}`)).status, 200, address);
    assert.equal((await get(`${address}?${long}`, '--http2')).status, 200, address);
  }
});

// ---- the access log ----

// The lines of the access log, which must be valid UTF-8, that work has caused.
async function logged(count, work) {
  const log = join(folder, 'access.log');
  const before = statSync(log).size;
  await work();
  const added = () => readFileSync(log).subarray(before);
  await poll('nginx has logged them', () => added().toString().split('\n').length > count);
  return new TextDecoder('utf-8', { fatal: true }).decode(added()).trim().split('\n').map((line) => JSON.parse(line));
}

const bytes = (...parts) => Buffer.concat(parts.map((part) => (Buffer.isBuffer(part) ? part : Buffer.from(part))));
const asked = (path, agent) => bytes('GET ', path, ' HTTP/1.0\r\nHost: x\r\nUser-Agent: ', agent, '\r\n\r\n');

test('each line of the access log is valid JSON in UTF-8, whatever the client sends', async () => {
  const broken = [[0xff], [0xc3], [0xc0, 0xaf], [0xe3, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf8, 0x88]].map((b) => Buffer.from(b));
  const agents = ['a\u00e9z', '微信/8.0 🧧', 'say "hi" \\ {}', 'tab\there', '\u{10ffff}', ''];
  const lines = await logged(agents.length + broken.length, async () => {
    for (const agent of agents) await raw(asked('/static/app.css', agent));
    for (const one of broken) await raw(asked(bytes('/static/app.css', one, 'b'), bytes('红包 a', one, 'b')));
  });
  assert.deepEqual(lines.map(({ agent }) => agent), [...agents, ...broken.map(() => '红包 a\ufffd')]);
  assert.deepEqual(lines.slice(agents.length).map(({ uri }) => uri), broken.map(() => '/static/app.css…'));
});

test('no header, request line or length of them breaks a line of the access log', async () => {
  const long = Buffer.from('红'.repeat(4000));
  const agents = ['\x7f', '\x01\x1b[31m', long, bytes(long, Buffer.from([0xe7])), Buffer.alloc(12_000, 0xff), Buffer.alloc(12_000, 0xe7)];
  const requests = [
    ...agents.map((agent) => asked('/static/app.css', agent)),
    bytes('GET /static/app.css HTTP/1.0\r\nHost: ', Buffer.from([0xff]), '\r\nReferer: http://x/', Buffer.from([0xb0, 0xc5]), '\r\n\r\n'),
    bytes('GET /static/app.css HTTP/1.0\r\nX-Request-ID: ', Buffer.from([0xff]), '\r\nX-Forwarded-For: ', Buffer.from([0xfe]), '\r\n\r\n'),
    bytes('GET /static/app.css HTTP/1.0\r\nAuthorization: Basic ', Buffer.from([0xff, 0x3a, 0xfe]).toString('base64'), '\r\n\r\n'),
    bytes('GET http://', Buffer.from([0xff]), '/ HTTP/1.1\r\nHost: x\r\n\r\n'), bytes('G', Buffer.from([0xff]), 'T / HTTP/1.1\r\nHost: x\r\n\r\n'),
    bytes(Buffer.from([0xff, 0xfe, 0x01]), '\r\n\r\n'), bytes('GET / HTTP/', Buffer.from([0xff]), '\r\n\r\n'), bytes('"}\\ / HTTP/1.1\r\nHost: x\r\n\r\n'),
    bytes('FOO-BAR_X /static/app.css HTTP/1.0\r\n\r\n'),
  ];
  const lines = await logged(requests.length, async () => {
    for (const one of requests) await raw(one);
  });
  assert.equal(lines.length, requests.length);
  assert.deepEqual(lines.slice(0, agents.length).map(({ agent }) => agent), ['\x7f', '\x01\x1b[31m', `${long}`, `${long}\ufffd`, '\ufffd', '\ufffd']);
});

test('no spelling of a query gets a key into the access log, and none is in the referrer', async () => {
  const secret = '7b6c0123456789abcdef7b6c01234567';
  const page = `/p/${'0'.repeat(26)}/screen`;
  const addresses = ['?key=', '?k%65y=', '?K=1&KEY=', '?%6bey%3D', '?key%3d', '?a=1;key=', '?key=0&key=', '?after=1&key=', '??key=', '?after=',
    ';key=', '&key=', '%3Fkey=', '%3fkey%3D', '%253Fkey=', '#key=', '/key=', '=', '%26'].map((spelling) => page + spelling + secret);
  const lines = await logged(addresses.length + 3, async () => {
    for (const address of addresses) await raw(asked(address, 'x'));
    await raw(`GET ${page}?key=${secret}\x01 HTTP/1.1\r\nHost: x\r\n\r\n`);
    await raw(`GET ${page}?key=${secret} HTTP/9.9\r\nHost: x\r\n\r\n`);
    await raw(`GET ${page}?key=${secret} HTTP/1.1\r\nHost: x\r\nReferer: ${page}?key=${secret}\r\nContent-Length: x\r\n\r\n`);
  });
  for (const [i, line] of lines.entries()) assert.ok(!JSON.stringify(line).includes(secret), `${addresses[i]} ${JSON.stringify(line)}`);
  assert.deepEqual(lines.slice(0, 10).map(({ uri }) => uri), Array(10).fill(page));
  const [list] = await logged(1, () => raw(asked(`/p/${'0'.repeat(26)}?after=12`, 'x')));
  assert.equal(list.uri, `/p/${'0'.repeat(26)}?after=12`);
  const policy = async (path) => (await site(path)).headers.get('referrer-policy');
  assert.deepEqual([await policy(`${page}?key=${secret}`), await policy(`/p/${'0'.repeat(26)}`), await policy('/')],
    ['strict-origin', 'same-origin', 'same-origin']);
});

// ---- who is one visitor to the limits ----

test('an address is a visitor of its own, also one of IPv4 inside IPv6; a /64 of IPv6 is one', async () => {
  const visitor = async (address) => {
    const { stdout } = await run('curl', ['-sS', '--unix-socket', join(folder, 'address'), '-H', `X-Real-IP: ${address}`, `http://${HOST}/`], { encoding: 'latin1' });
    return stdout;
  };
  for (const [address, name] of [['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'], ['2001:db8:1:2::9', '2001:db8:1:2'], ['2001:db8::7', '2001:db8::'],
    ['2001:db8::7:8', '2001:db8::'], ['::1', '::']]) assert.equal(await visitor(address), name, address);
  for (const [one, other] of [['2001:db8:1:3::9', '2001:db8:1:2::9'], ['192.0.2.65', '192.0.2.66'], ['::ffff:192.0.2.65', '::ffff:192.0.2.66']]) {
    assert.notEqual(await visitor(one), await visitor(other), one);
  }
});

// ---- files of the operator at the root ----

test('a regular file of the folder is at the root and below /.well-known/, and nothing else of the disk is', async () => {
  const files = join(folder, 'files');
  await mkdir(join(files, '.well-known/folder'), { recursive: true });
  await mkdir(join(files, 'sub.txt'));
  const put = (name, text = name) => writeFile(join(files, name), text);
  const served = [['google1234.html', 'text/html; charset=utf-8'], ['MP_verify_x-1.txt', 'text/plain; charset=utf-8'], ['BingSiteAuth.xml', 'application/xml'],
    ['a.json', 'application/json'], ['.well-known/apple-app-site-association', 'application/json'], ['.well-known/assetlinks.json', 'application/json'],
    ['.well-known/pki.txt', 'text/plain; charset=utf-8']];
  for (const [name] of served) await put(name);
  for (const [name, type] of served) {
    const answer = await get(`https://${HOST}/${name}`);
    assert.deepEqual([answer.status, answer.headers.get('content-type'), cacheOf(answer), answer.text], [200, type, 'no-cache', name], name);
    assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', name);
    assert.match(answer.headers.get('strict-transport-security'), /^max-age/, name);
    assert.ok((await run('curl', ['-sSi', '--unix-socket', join(folder, 'site'), `http://${HOST}/${name}`])).stdout.includes('Content-Security-Policy: sandbox\r\n'), name);
    assert.equal((await site(`/${name}`, '-d', 'x=1')).status, 405, name);
  }
  // What the program has an address for, or may get one, stays the program's: without a pool 503.
  const secret = join(folder, 'secret.txt');
  await writeFile(secret, 'secret');
  await symlink(secret, join(files, 'link.txt'));
  await symlink(folder, join(files, '.well-known/out'));
  for (const name of ['.htpasswd', '.secret.txt', 'send', 'login', 'wallet', 'x.php', 'x.svg', 'openapi.json', 'story.png', '.well-known/security.txt',
    '.well-known/change-password', '.well-known/hongbao-receipt-keys', '.well-known/folder/x.txt', '.well-known/.x']) await put(name, 'theirs');
  for (const path of ['.htpasswd', '.secret.txt', 'send', 'login', 'wallet', 'x.php', 'x.svg', 'openapi.json', 'story.png', '.well-known/security.txt',
    '.well-known/change-password', '.well-known/hongbao-receipt-keys', '.well-known/folder/x.txt', '.well-known/.x', '.well-known/', '.well-known/folder',
    'sub.txt', 'link.txt', '.well-known/out', '.well-known/out/secret.txt', '..%2fsecret.txt', '.well-known/..%2f..%2fsecret.txt', 'no.txt']) {
    const answer = await site(`/${path}`, '--path-as-is');
    assert.ok([400, 404, 503].includes(answer.status), `${path} ${answer.status}`);
    assert.ok(!/theirs|secret\b(?!\.)/.test(answer.text), `${path}: ${answer.text}`);
  }
  assert.match((await site('/robots.txt')).text, /^#/);
});

// ---- embedding ----

test('other sites may embed only the pictures of a shared link', async () => {
  const id = '0'.repeat(26);
  const policy = async (path) => (await site(path)).headers.get('cross-origin-resource-policy');
  for (const path of [`/p/${id}/card.png`, `/p/${id}/card.png?shape=tall`, '/static/cover.png', '/static/cover.0123456789.png']) {
    assert.equal(await policy(path), 'cross-origin', path);
  }
  for (const path of ['/', `/p/${id}`, `/p/${id}/card.pngx`, `/p/${id}?/card.png`, '/static/app.css', '/static/covers.svg', '/wallet',
    '/metrics', '/nothing', '/favicon.ico']) {
    assert.equal(await policy(path), 'same-origin', path);
  }
});

// ---- connections ----

const WAITING = 1500; // nginx has 512 (worker_connections)

const waiting = () => new Promise((resolve, reject) => {
  const socket = connect(join(folder, 'site'), () => resolve(socket));
  socket.on('error', (error) => (socket.connecting ? reject(error) : undefined));
});

test('connections that send nothing give way when nginx runs short of connections', async () => {
  const sockets = [];
  try {
    for (let i = 0; i < WAITING; i++) sockets.push(await waiting());
    assert.equal((await site('/static/app.css')).status, 200);
    await poll('nginx has closed the oldest', () => sockets[0].destroyed);
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

// ---- TLS ----

test('over TLS every answer tells the browser to stay with TLS; without TLS none does', async () => {
  for (const path of ['/', '/static/app.css', '/metrics', '/nothing', '/-/']) {
    const secure = await get(`https://${HOST}${path}`);
    assert.equal(secure.headers.get('strict-transport-security'), 'max-age=63072000; includeSubDomains', path);
    assert.ok(secure.headers.has('content-security-policy'), path);
    assert.equal((await site(path)).headers.get('strict-transport-security'), undefined, path);
  }
});

test('a plain request is sent to the same address over TLS, of our host', async () => {
  const { stdout } = await run('curl', ['-sSi', '--unix-socket', join(folder, 'plain'), 'http://evil.example/p/x?y=1']);
  assert.match(stdout, /^HTTP\/1\.1 308 /);
  assert.match(stdout, /^Location: https:\/\/hongbao\.example\/p\/x\?y=1\r$/m);
  assert.match(stdout, /^Content-Security-Policy: /m);
});

test('what port 80 refuses is answered as the site does, and it serves nothing but answers to an authority', async () => {
  await mkdir(join(folder, 'acme/.well-known/acme-challenge'), { recursive: true });
  await writeFile(join(folder, 'acme/.well-known/acme-challenge/token'), 'the answer');
  const NOWHERE = '/.well-known/acme-challenge/nothing';
  for (const socket of ['plain', 'package-plain']) {
    const asks = (line, ...lines) => exchanged([line, 'Host: x', 'Connection: close', 'Accept-Language: en', ...lines, '', ''].join('\r\n'), socket);
    for (const [status, type, title, line, ...lines] of [
      [400, 'bad-request', 'This request is not valid', 'GET / HTTP/1.1', 'Content-Length: x'],
      [400, 'header-too-large', 'Your browser sends too much', 'GET / HTTP/1.1', `Cookie: theirs=${LONG}`],
      [404, 'not-found', 'Page not found', `GET ${socket === 'plain' ? '/-/' : NOWHERE} HTTP/1.1`],
      [405, 'method-not-allowed', 'This request method is not supported', 'TRACE / HTTP/1.1']]) {
      const name = `${socket} ${line} ${(lines[0] ?? '').slice(0, 40)}`;
      const page = await asks(line, 'Accept: text/html', ...lines);
      assert.deepEqual([page.status, page.headers.get('content-type')], [status, 'text/html; charset=utf-8'], name);
      assert.ok(page.text.includes(`<h1>${title}</h1>`) && page.headers.has('content-security-policy'), `${name}\n${page.text}`);
      const problem = await asks(line, 'Accept: application/json', ...lines);
      assert.deepEqual([problem.status, JSON.parse(problem.text).type], [status, `urn:hongbao:problem:${type}`], name);
    }
    const long = await exchanged(`GET /records?q=${LONG} HTTP/1.1\r\nHost: x\r\n\r\n`, socket);
    assert.equal(long.status, 414);
    assert.match(long.text, /<h1>链接太长<\/h1>[^]*<h2 lang="en">This address is too long<\/h2>/);
    for (const path of ['/', CSS, '/login']) assert.equal((await asks(`GET ${path} HTTP/1.1`)).headers.get('location'), `https://${HOST}${path}`);
  }
  const token = await exchanged('GET /.well-known/acme-challenge/token HTTP/1.0\r\nHost: x\r\n\r\n', 'package-plain');
  assert.deepEqual([token.status, token.text], [200, 'the answer']);
});

test('only TLS 1.2 and 1.3 with forward secrecy are spoken', async () => {
  const speaks = (...options) => get(`https://${HOST}/static/app.css`, ...options).then(({ status }) => status, () => 'refused');
  assert.equal(await speaks('--tlsv1.3'), 200);
  assert.equal(await speaks('--tlsv1.2', '--tls-max', '1.2'), 200);
  assert.equal(await speaks('--tlsv1.0', '--tls-max', '1.1', '--ciphers', 'DEFAULT:@SECLEVEL=0'), 'refused');
  assert.equal(await speaks('--tlsv1.2', '--tls-max', '1.2', '--ciphers', 'AES128-GCM-SHA256'), 'refused');
  assert.equal(await speaks('--tlsv1.2', '--tls-max', '1.2', '--ciphers', 'ECDHE-ECDSA-AES128-SHA'), 'refused');
});

// ---- Debian's nginx ----

// Writes the file of nginx/debian with its paths in the folder, and returns the new path.
async function debianFile(name, changes) {
  let text = readFileSync(join(ROOT, 'nginx/debian', name), 'utf8');
  for (const [from, to] of changes) text = text.replaceAll(from, to);
  const path = join(folder, `debian-${name}`);
  await writeFile(path, text);
  return path;
}

test('the site of the package fits into nginx.conf of Debian, which has settings of its own', async () => {
  const paths = [['/var/log/nginx', folder], ['/var/cache/hongbao', folder], ['/var/lib/hongbao', folder]];
  const logs = await debianFile('logs.conf', paths);
  const site = await debianFile('site.in', [...paths, ['hongbao/debian/logs.conf', logs], ['@HOST@', HOST], ['@IPV6@', '# '],
    ['@HTTP2@', http2.HTTP2], ['@LISTEN_HTTP2@', http2.LISTEN_HTTP2], ['@NAMES_HASH@', ''], ['@NAMES_HASH_BYTES@', '512'],
    ['@CERTIFICATE@', 'hongbao-tls/fullchain.pem'], ['@KEY@', 'hongbao-tls/privkey.pem'],
    ['listen 80;', `listen unix:${folder}/debian-plain;`], ['listen 443 ', `listen unix:${folder}/debian-tls `]]);
  const http = await debianFile('http.conf', paths);
  const debian = `pid ${folder}/debian-pid; error_log ${folder}/error.log; events { worker_connections 768; }
    http { sendfile on; tcp_nopush on; types_hash_max_size 2048; include /etc/nginx/mime.types; default_type application/octet-stream;
      ssl_protocols TLSv1 TLSv1.1 TLSv1.2 TLSv1.3; ssl_prefer_server_ciphers on; access_log ${folder}/access.log; gzip on;
      include ${http}; include ${site};
      server { listen unix:${folder}/other default_server; root /var/www/html; location / { try_files $uri =404; } } }`;
  await writeFile(join(folder, 'debian.conf'), debian);
  const { stderr } = await run('nginx', ['-t', '-q', '-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'debian.conf')]);
  assert.equal(stderr, ''); // also no warning
});
