// Writes the first inputs of a fuzz target into a folder: node seeds.js TARGET FOLDER. They are the inputs of the tests:
// the string literals of its unit tests, the templates of the site, the settings with their defaults, the routes of the
// route tables; and the replies that the Redis scripts make, as their comments describe them.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
const LITERALS_MAX = 400;
const read = (file) => readFileSync(join(ROOT, file), 'utf8');

const ESCAPES = { n: '\n', r: '\r', t: '\t', 0: '\0', b: '\b', v: '\v', f: '\f', a: '\x07' };

// The bytes of a C string literal without its quotes.
function unescape(text) {
  const parts = [];
  const pattern = /\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))|([^\\]+)/gsu;
  for (const [, u, U, x, octal, letter, plain] of text.matchAll(pattern)) {
    if (u || U) parts.push(Buffer.from(String.fromCodePoint(parseInt(u ?? U, 16))));
    else if (x) parts.push(Buffer.from([parseInt(x, 16)]));
    else if (octal) parts.push(Buffer.from([parseInt(octal, 8) & 255]));
    else parts.push(Buffer.from(plain ?? ESCAPES[letter] ?? letter));
  }
  return Buffer.concat(parts);
}

// The string literals of C sources; adjacent literals are joined, as the compiler does. Names of headers are left out.
function literals(...files) {
  const found = [];
  for (const file of files) {
    const text = read(file).replace(/\/\*[\s\S]*?\*\//g, '').replace(/^#.*$/gm, '');
    for (const [run] of text.matchAll(/"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*/g)) {
      const parts = [...run.matchAll(/"((?:\\.|[^"\\\n])*)"/g)].map(([, inner]) => unescape(inner));
      found.push(Buffer.concat(parts));
    }
  }
  return found.slice(0, LITERALS_MAX);
}

const unit = (...names) => names.map((name) => `tests/unit/test_${name}.c`);
const after = (prefix, list) => list.map((text) => Buffer.concat([Buffer.from(prefix), text]));

// ---- Redis ----

// A value as Redis sends it: arrays, integers, null, errors ({error}), texts.
function resp(value) {
  if (value === null) return Buffer.from('$-1\r\n');
  if (Number.isInteger(value)) return Buffer.from(`:${value}\r\n`);
  if (Array.isArray(value)) return Buffer.concat([Buffer.from(`*${value.length}\r\n`), ...value.map(resp)]);
  if (value.error) return Buffer.from(`-${value.error}\r\n`);
  const text = Buffer.from(value);
  return Buffer.concat([Buffer.from(`$${text.length}\r\n`), text, Buffer.from('\r\n')]);
}

const NOW = 1795000000000; // the time that fuzz_router uses
const hex = 'ab'.repeat(32);
const entry = (user, fen, ms) => `${user},${fen},${ms}-0,小明`;
// Their names, in the order of lua/view-4.lua.
const OPTIONS = [...read('app/packet/members.h').matchAll(/^ +M\((\w+),[^)]* OPTION,/gm)].map(([, name]) => name);

// A reply of lua/view-4.lua: grabs of a packet of three shares, mine: the share of the visitor.
function view({ grabs = 0, mine = null, state = 'open', options = null, close = '', thanks = null, best = null }) {
  const rows = Array.from({ length: grabs }, (_, i) => entry(10001 + i, 100 + i, NOW - 1000 + i));
  const fields = ['10007', '小红', 'lucky', 'double-average', '3', '303', '恭喜发财', '', '', `${NOW + 3600000}`,
    `${NOW - 5000}`, state, hex, hex, '2', `${grabs === 0 ? 0 : grabs * 100 + (grabs * (grabs - 1)) / 2}`, close, null];
  return [13, NOW, `${NOW - 900}-0`, grabs, grabs >= 3 ? rows[2] : null, mine, mine === null ? null : rows[mine], 0, rows,
    fields, null, options, thanks && thanks[0], thanks, best === null ? null : entry(10001 + best, 100 + best, NOW - 2000)];
}

const options = (given) => OPTIONS.map((name) => ({ cover: 'birthday', ...given })[name] ?? null);
const VIEWS = [
  view({}), view({ grabs: 1 }), view({ grabs: 2, mine: 1 }), view({ grabs: 3, mine: 0 }), view({ grabs: 3, best: 2 }),
  view({ grabs: 1, state: 'closed', close: `${NOW - 950}-0` }), view({ state: 'busy' }),
  view({ grabs: 1, options: options({ opens_ms: `${NOW + 60000}` }) }),
  view({ grabs: 2, options: options({ receiver_count: '2', receivers: ',10001,10002,', receiver_names: '小明\n小红\n' }) }),
  view({
    grabs: 3, mine: 1, thanks: ['谢谢', null, '好'],
    options: options({ returned_count: '1', returned_fen: '100', returned_shares: '0', thanks_count: '1' }),
  }),
  [1],
];
const GRABS = [[2, 0, 412, 2], [3, 1, 100, 0, 1], [3, 1, 100, 0, 0], [5, 3], [1], [4], [6], [7], [11, NOW + 60000], [14, 9],
  [15], [0]];
const ENTRIES = [
  ['1-0', ['g', '7000,0,10001,412,小明']], ['1-0', ['g', '7000,0,10001,412,a', 'g', '7000,1,10002,1,b,c']],
  ['1700000000000-3', ['c', '7000,3,412,88']], ['1-0', ['r', '1']], ['1-0', ['g', 'x']], ['x', []],
];
const ERRORS = [{ error: 'OOM command not allowed' }, { error: 'NOSCRIPT No matching script.' }, { error: 'ERR x' }];
const SESSION = `v2,10001,${NOW - 3600000},${NOW - 1000},ming,小明`;

// ---- issuers ----

// The claims of an ID token and of a UserInfo answer, at the time that fuzz_idtoken uses.
const USER_INFO = [
  { iss: 'https://login.example', aud: ['hongbao', 'x'], azp: 'hongbao', sub: 'u1', nonce: 'n', exp: 1800000300, iat: 1800000000 },
  { sub: 'u1', name: '小明', preferred_username: 'ming', email: 'ming@example.org', email_verified: true, groups: ['staff'] },
].map((claims) => JSON.stringify(claims));

// ---- requests ----

const ID = '0a1bcdefghjkmnpqrstvwxyz01';
const BODIES = ['', 'kind=lucky&amount=10&count=3&greeting=%E6%81%AD%E5%96%9C&request_key=a1',
  'kind=even&amount_of=total&amount=10.01&count=3&cover=birthday&lifetime=3d&to=hong+gang&phrase=abc',
  'kind=exclusive&to=hong&amount=8.88&opens_at=2026-11-23T09:00', 'amount=1&request_key=k', 'phrase=%E6%96%B0',
  'username=ming&password=correct-horse&next=/wallet', 'username=ming&nickname=Ming&password=correct-horse',
  'text=thanks', 'name=bot&scopes=read+send&days=30&password=correct-horse', 'language=en&next=/'];
const QUERIES = ['', '?after=2', '?key=abc', '?to=hong', `?again=${ID}`, `?before=1700000000000-${ID}`, '?year=2026',
  '?kind=lucky&state=open&person=hong&q=a&from=2026-01-01&to=2026-12-31&min=1&max=2', '?next=/wallet'];

// The rows of the route tables: method, path, pools.
function routes() {
  const files = ['account', 'wallet', 'pages', 'records'].map((floor) => `app/${floor}/routes.c`).concat('app/site/health.c');
  return files.flatMap((file) => [...read(file).matchAll(/\{ "(GET|POST)", "([^"]+)",[^}]*?((?:POOL_\w+[ |]*)+)/g)])
    .filter(([, , , pools]) => !/^POOL_CARD/.test(pools))
    .map(([, method, path, pools]) => ({ method, path, pool: /POOL_(\w+)/.exec(pools)[1].toLowerCase() }));
}

function request({ method, path, pool }, { query = '', json = false, body = '', replies = [], more = [] } = {}) {
  const lines = [`POOL=${pool}`, `REQUEST_METHOD=${method}`, `REQUEST_URI=${path.replace(/:id|:key/, ID)}${query}`,
    `HTTP_ACCEPT=${json ? 'application/json' : 'text/html'}`, 'HTTP_HOST=127.0.0.1:8080', 'HTTP_SEC_FETCH_SITE=same-origin',
    'CONTENT_TYPE=application/x-www-form-urlencoded', `HTTP_COOKIE=sid=${'a'.repeat(43)}`, ...more];
  const rounds = replies.flatMap((reply) => [resp(reply), Buffer.from('\0')]);
  return Buffer.concat([Buffer.from(`${lines.join('\n')}\0${body}\0`), ...rounds]);
}

function requests() {
  const found = [];
  for (const route of routes()) {
    const hot = route.pool === 'hot';
    const bodies = route.method === 'POST' ? BODIES : [''];
    for (const body of bodies) found.push(request(route, { body, json: body.length % 2 === 0, replies: [SESSION, [GRABS[0]]] }));
    for (const query of QUERIES) found.push(request(route, { query, replies: [SESSION, null, null] }));
    for (const value of hot ? VIEWS : []) {
      found.push(request(route, { replies: [SESSION, value] }), request(route, { json: true, replies: [null, value] }));
    }
    for (const grab of hot && route.method === 'POST' ? GRABS : []) {
      found.push(request(route, { json: true, replies: [SESSION, [grab]] }), request(route, { replies: [SESSION, [grab]] }));
    }
  }
  const show = { method: 'GET', path: '/p/:id', pool: 'hot' };
  found.push(request(show, { more: ['HTTP_ACCEPT_LANGUAGE=en;q=0.9,zh;q=0.1', 'HTTP_IF_NONE_MATCH=W/"a"'], replies: [SESSION, VIEWS[1]] }));
  return found;
}

// ---- passkeys ----

// The bytes of each vector, behind the byte from which fuzz_passkey knows its kind.
function vectors() {
  const text = read('tests/unit/passkey_vectors.h').replace(/\\\n/g, ' ');
  return [...text.matchAll(/^#define (\w+)((?:\s*"[^"\n]*")+)/gm)].map(([, name, quoted]) => {
    const bytes = Buffer.from([...quoted.matchAll(/"([^"]*)"/g)].map(([, part]) => part).join(''), 'base64url');
    const mode = name.endsWith('CLIENT') ? 0 : name.endsWith('CREATE_DATA') ? 1 : 2;
    return Buffer.concat([Buffer.from([mode]), bytes]);
  });
}

// ---- uploads: the content type, a line break, and the body, in which | is a line break of HTTP ----

const PART = 'Content-Disposition: form-data; name="picture"; filename="a \\" b.jpg"|Content-Type: image/jpeg||';
const UPLOADS = [
  `multipart/form-data; boundary=B\n--B|${PART}bytes|--B--|`,
  `multipart/form-data; boundary="----WebKit+Form"; charset=utf-8\n------WebKit+Form|${PART}|------WebKit+Form--`,
  `multipart/form-data; boundary=B\n--B|Content-Disposition: form-data; name=other||1|--B|${PART}2|--B--|`,
];

// ---- the targets ----

const walk = (folder) => readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((item) => (
  item.isDirectory() ? walk(`${folder}/${item.name}`) : [`${folder}/${item.name}`]));
const replies = (list) => list.map(resp);
const number = (n, bytes) => Array.from({ length: bytes }, (_, i) => Number((BigInt(n) >> BigInt(8 * (bytes - 1 - i))) & 255n));

const TARGETS = {
  address: () => literals(...unit('web_form', 'web_fields')),
  form: () => [...literals(...unit('web_form', 'base_utf8', 'base_money', 'base_clock', 'web_fields', 'send_form')),
    ...BODIES.map((text) => Buffer.from(text))],
  phrase: () => after('\x10', literals(...unit('phrase', 'text_fit', 'base_utf8'))),
  headers: () => [...literals(...unit('user_session', 'user_token', 'recovery_code', 'user_shown_once', 'web_language', 'web_respond', 'base_public_id',
    'web_router', 'looked')), Buffer.from(`sid=${'a'.repeat(43)}; language=en`), Buffer.from('cross-site\nhttp://a\na'), Buffer.from(SESSION)],
  passkey: () => [...vectors(), ...after('\0', literals(...unit('user_passkey'))), ...after('\x03', literals(...unit('user_passkey'))),
    ...['9b0000000008000000', 'bb0000000008000000', '9f', 'a1038120'].map((cbor) => Buffer.concat([Buffer.from([1]),
      Buffer.alloc(54), Buffer.from([1, 7]), Buffer.from(cbor, 'hex')]))],
  live: () => replies([...VIEWS, ...GRABS, ...ENTRIES, ...ERRORS]),
  router: requests,
  settle: () => [Buffer.from([2, 64, 0, 1, 60, 64, 1, 2, 60, 0, 2, 120, 0, 0]), Buffer.from([0, 8, 0, 0, 0, 0, 2, 9, 0, 50, 0])],
  sql: () => [...after('\0', literals('tests/integration/test_db.c')), ...after('\x01', literals(...unit('base_utf8')))],
  config: () => [...literals(...unit('config')),
    ...[...read('docs/reference/config.md').matchAll(/^\| `(\w+)` \| ([^|]*)/gm)]
      .map(([, name, preset]) => Buffer.from(`${name} = ${preset.replace(/`/g, '').trim()}\n`))],
  mustache: () => walk('templates').filter((file) => /\.(mustache|txt)$/.test(file)).map((file) => readFileSync(join(ROOT, file)))
    .concat(literals(...walk('tests/unit/mustache').filter((file) => file.endsWith('.c')))),
  split: () => [0, 1, 2, 3].map((method) => Buffer.from([method, ...number(10, 2), ...number(1000, 4), ...number(1, 3),
    ...number(20000, 5), 1, 2, 3, 4])),
  typed: () => Object.values(JSON.parse(read('tests/unit/typed.json'))).flat().flatMap((row) => row.cases ?? [row])
    .flatMap((row) => [1, 6, 11, 16].map((first) => Buffer.concat([Buffer.from([first]), Buffer.from(row.at(-2))]))),
  csv: () => literals(...unit('money_csv')),
  output: () => literals(...unit('web_csv', 'base_value')),
  nginx: () => [...literals(...unit('nginx_conf')), ...walk('nginx').map((file) => Buffer.from(read(file).replace(/^\s*include .*$/gm, '')))],
  picture: () => walk('tests/support/pictures').map((file) => readFileSync(join(ROOT, file))),
  multipart: () => UPLOADS.map((text) => Buffer.from(text.replaceAll('|', '\r\n'))),
  idtoken: () => [0, 1, 2, 3].flatMap((mode) => after(String.fromCharCode(mode), literals(...unit('oidc_token', 'oidc_login'))))
    .concat(after('\x01', [Buffer.from(USER_INFO.join('\0'))])),
  issuer: () => [0, 1, 2].flatMap((mode) => after(String.fromCharCode(mode), literals(...unit('oidc_token', 'oidc_login'))))
    .concat(literals(...unit('oidc_token')).filter((text) => text.includes('"kty"') && text[0] === 123)
      .map((text) => Buffer.from(`\x01{"keys":[${text}]}`))),
  receipt: () => [...literals(...unit('receipt')),
    ...[...read('docs/reference/receipt.md').matchAll(/```json\n([\s\S]*?)```/g)].map(([, json]) => Buffer.from(json))],
};

const [, , target, folder] = process.argv;
if (!TARGETS[target] || !folder) {
  console.error(`usage: seeds.js ${Object.keys(TARGETS).join('|')} FOLDER`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });
for (const seed of TARGETS[target]()) {
  writeFileSync(join(folder, createHash('sha256').update(seed).digest('hex').slice(0, 16)), seed);
}
