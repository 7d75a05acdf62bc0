// An issuer of OpenID Connect for tests: the certified oidc-provider, behind a front that can misbehave.
//
//   const issuer = await startIssuer({ redirect: `${site}/login/oidc/callback` });
//   issuer.url, issuer.clientId, issuer.clientSecret      what the site's settings need
//   issuer.users.set('ming', { name: '小明', … })          claims of the user who logs in as ming (sub: ming)
//   issuer.misbehave('wrong-key')                         until issuer.misbehave(null); see TOKENS, ANSWERS, CALLBACKS
//   issuer.misbehave('slow', 'keys')                      at discovery, keys, token or info; without it, at token
//   issuer.rotate()                                       new keys with new names; the old ones are gone
//   issuer.logout('ming', sid)                            the issuer orders a back-channel logout; sid may be left out
//   issuer.asked                                          requests so far: { method, path, endpoint }
//   await issuer.close()
//
// Its page asks for a name and nothing else (input name=login); its second button (name=refuse) says no.
import { createHash, createHmac, createPublicKey, generateKeyPairSync, sign as signBytes } from 'node:crypto';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Provider from 'oidc-provider';
import { freePort } from '../../support/port.js';

const PATHS = { '/.well-known/openid-configuration': 'discovery', '/jwks': 'keys', '/token': 'token', '/me': 'info', '/auth': 'auth' };
const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

// ---- keys and tokens ----

const PAIRS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
};
const ALGORITHMS = Object.keys(PAIRS);

const makeKey = (algorithm, kid) => {
  const { privateKey, publicKey } = PAIRS[algorithm]();
  const more = { kid, alg: algorithm, use: 'sig' };
  return { algorithm, kid, privateKey, secret: { ...privateKey.export({ format: 'jwk' }), ...more }, jwk: { ...publicKey.export({ format: 'jwk' }), ...more } };
};

const encode = (value) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const decode = (part) => JSON.parse(Buffer.from(part, 'base64url'));

const signature = (input, { algorithm, privateKey }) => signBytes(algorithm === 'EdDSA' ? null : 'sha256', Buffer.from(input),
  { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url');

const signed = (header, payload, key) => {
  const input = `${encode(header)}.${encode(payload)}`;
  return `${input}.${signature(input, key)}`;
};

// ---- how it can misbehave ----

const now = () => Math.floor(Date.now() / 1000);
const claims = (change) => ({ header, payload, key }) => signed(header, { ...payload, ...change(payload) }, key);

// The ID token: from { header, payload, key, stranger (a key of the same kind that nobody knows), token } to another one.
const TOKENS = {
  'wrong-key': ({ header, payload, stranger }) => signed(header, payload, stranger),
  changed: ({ header, payload, token }) => `${encode(header)}.${encode({ ...payload, sub: 'admin' })}.${token.split('.')[2]}`,
  'alg-none': ({ payload }) => `${encode({ alg: 'none' })}.${encode(payload)}.`,
  // HS256 with the public key as the secret
  'alg-confusion': ({ header, payload, key }) => {
    const input = `${encode({ ...header, alg: 'HS256' })}.${encode(payload)}`;
    const pem = createPublicKey(key.privateKey).export({ type: 'spki', format: 'pem' });
    return `${input}.${createHmac('sha256', pem).update(input).digest('base64url')}`;
  },
  'unknown-key': ({ header, payload, stranger }) => signed({ ...header, kid: 'unknown' }, payload, stranger),
  'key-in-header': ({ header, payload, stranger }) => signed({ ...header, jwk: stranger.jwk }, payload, stranger),
  crit: ({ header, payload, key }) => signed({ ...header, crit: ['exp'] }, payload, key),
  'logout-token': ({ header, payload, key }) => signed({ ...header, typ: 'logout+jwt' }, payload, key),
  'wrong-aud': claims(() => ({ aud: 'another' })),
  'wrong-azp': claims(({ aud }) => ({ aud: [aud, 'another'], azp: 'another' })),
  'wrong-iss': claims(() => ({ iss: 'https://evil.example' })),
  'wrong-nonce': claims(() => ({ nonce: 'of another login' })),
  'no-nonce': claims(() => ({ nonce: undefined })),
  'wrong-hash': claims(() => ({ at_hash: createHash('sha256').update('x').digest().subarray(0, 16).toString('base64url') })),
  'no-subject': claims(() => ({ sub: undefined })),
  expired: claims(() => ({ iat: now() - 50, exp: now() - 120 })),
  future: claims(() => ({ iat: now() + 600, exp: now() + 1200 })),
  old: claims(() => ({ iat: now() - 3600 })),
  'huge-token': claims(() => ({ filler: 'x'.repeat(40000) })),
};

// The answer of an endpoint, instead of the provider's.
const ANSWERS = {
  slow: () => {}, // until the other side gives up
  cut: (res) => { res.writeHead(200, { 'content-length': 1000 }).write('{', () => res.socket.destroy()); },
  redirect: (res, { url, req }) => res.writeHead(307, { location: `${url}/elsewhere${req.url}` }).end(),
  error: (res) => res.writeHead(503).end(),
  garbage: (res) => res.writeHead(200, { 'content-type': 'application/json' }).end('<html>'),
  'huge-answer': (res) => res.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(1000000)}"}`),
};

// The discovery document.
const DOCUMENTS = {
  'another-issuer': (document) => ({ ...document, issuer: 'https://evil.example' }),
  'endpoint-elsewhere': (document) => ({ ...document, token_endpoint: 'https://evil.example/token' }),
  'only-symmetric': (document) => ({ ...document, id_token_signing_alg_values_supported: ['HS256'] }),
};

// The parameters of the callback.
const CALLBACKS = {
  'mix-up': (query) => query.set('iss', 'https://evil.example'),
  'no-iss': (query) => query.delete('iss'),
  'wrong-state': (query) => query.set('state', 'A'.repeat(43)),
  'no-code': (query) => query.delete('code'),
  'wrong-code': (query) => query.set('code', 'forged'),
  'server-error': (query) => { query.delete('code'); query.set('error', 'server_error'); },
};

// 'used-code': the code is exchanged before the site does it.
export const MISBEHAVIOURS = [TOKENS, ANSWERS, DOCUMENTS, CALLBACKS].flatMap(Object.keys).concat('used-code');

// ---- the provider ----

const PAGE = `<!doctype html><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Issuer</title>
<h1>Issuer</h1><form method="post"><label>Name <input name="login" autofocus></label> <button>Log in</button>
<button name="refuse" value="1">No</button></form>`;

const body = async (stream) => {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
};

async function interaction(provider, req, res) {
  if (req.method !== 'POST') {
    await provider.interactionDetails(req, res);
    res.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(PAGE);
    return;
  }
  const form = new URLSearchParams((await body(req)).toString());
  const result = form.has('refuse') ? { error: 'access_denied', error_description: 'the user said no' } : { login: { accountId: form.get('login') } };
  await provider.interactionFinished(req, res, result, { mergeWithLastSubmission: false });
}

// Whoever is logged in has granted everything.
async function granted({ oidc }) {
  const { client, provider, session } = oidc;
  const known = session.grantIdFor(client.clientId);
  if (known) return provider.Grant.find(known);
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope('openid profile email groups');
  await grant.save();
  return grant;
}

function makeProvider(url, { clientId, clientSecret, redirect, backchannel, algorithm, auth, claimsInToken }, keys, users) {
  const provider = new Provider(url, {
    clients: [{
      client_id: clientId, client_secret: clientSecret, redirect_uris: [redirect].flat(), response_types: ['code'],
      grant_types: ['authorization_code'], token_endpoint_auth_method: auth, id_token_signed_response_alg: algorithm,
      ...(backchannel && { backchannel_logout_uri: backchannel, backchannel_logout_session_required: true }),
    }],
    clientAuthMethods: [auth],
    jwks: { keys: keys.map(({ secret }) => secret) },
    enabledJWA: { idTokenSigningAlgValues: ['HS256', ...ALGORITHMS] },
    cookies: { keys: ['only for tests'] },
    scopes: ['openid', 'groups'],
    claims: {
      openid: ['sub'], profile: ['name', 'nickname', 'preferred_username'], email: ['email', 'email_verified'], groups: ['groups'],
    },
    conformIdTokenClaims: !claimsInToken,
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    interactions: { url: (ctx, { uid }) => `/interaction/${uid}` },
    findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ preferred_username: id, name: id, ...users.get(id), sub: id }) }),
    loadExistingGrant: granted,
    pkce: { methods: ['S256'], required: () => true },
    ttl: { Session: 3600, Grant: 3600, Interaction: 3600, AccessToken: 600, IdToken: 600 },
  });
  provider.proxy = true;
  return provider;
}

// ---- the front ----

class Issuer {
  constructor(url, options) {
    Object.assign(this, { url, clientId: options.clientId, clientSecret: options.clientSecret, algorithm: options.algorithm });
    this.users = new Map();
    this.asked = [];
    this.first = ALGORITHMS.map((algorithm) => makeKey(algorithm, `${algorithm}-1`));
    this.keys = this.first;
    this.rotations = 1;
    this.stranger = makeKey(options.algorithm, `${options.algorithm}-1`);
    this.wrong = null;
    this.provider = makeProvider(url, options, this.first, this.users);
    this.backchannel = options.backchannel;
  }

  misbehave(name, at) {
    if (name !== null && !MISBEHAVIOURS.includes(name)) throw new Error(`no such misbehaviour: ${name}`);
    this.wrong = name;
    this.wrongAt = at ?? (name in DOCUMENTS ? 'discovery' : name in CALLBACKS ? 'auth' : 'token');
  }

  rotate() {
    this.rotations += 1;
    this.keys = ALGORITHMS.map((algorithm) => makeKey(algorithm, `${algorithm}-${this.rotations}`));
  }

  key() {
    return this.keys.find(({ algorithm }) => algorithm === this.algorithm);
  }

  // A logout token; change: of its claims.
  logoutToken(sub, sid, change = {}, header = {}) {
    const payload = { iss: this.url, aud: this.clientId, iat: now(), exp: now() + 120, jti: createHash('sha256').update(`${Math.random()}`).digest('hex'),
      events: { [LOGOUT_EVENT]: {} }, sub, sid, ...change };
    return signed({ alg: this.algorithm, typ: 'logout+jwt', kid: this.key().kid, ...header }, payload, this.key());
  }

  // Sends it to the site. Returns the status.
  async logout(sub, sid, change) {
    const { status } = await fetch(this.backchannel, { method: 'POST', body: new URLSearchParams({ logout_token: this.logoutToken(sub, sid, change) }) });
    return status;
  }

  // The answer of the provider, changed where it has to be.
  changed(endpoint, answer) {
    const wrong = this.wrongAt === endpoint ? this.wrong : null;
    if (endpoint === 'keys') return JSON.stringify({ keys: this.keys.map(({ jwk }) => jwk) });
    if (endpoint === 'discovery' && DOCUMENTS[wrong]) return JSON.stringify(DOCUMENTS[wrong](JSON.parse(answer)));
    const tokens = endpoint === 'token' ? JSON.parse(answer) : {};
    if (!tokens.id_token) return answer;
    const [header, payload] = tokens.id_token.split('.').slice(0, 2).map(decode);
    const key = this.key();
    const right = { ...header, kid: key.kid };
    const token = this.keys === this.first ? tokens.id_token : signed(right, payload, key);
    return JSON.stringify({ ...tokens, id_token: TOKENS[wrong] ? TOKENS[wrong]({ header: right, payload, key, stranger: this.stranger, token }) : token });
  }

  changedLocation(location) {
    const change = this.wrongAt === 'auth' ? CALLBACKS[this.wrong] : null;
    if (!change || !location?.includes('state=')) return location;
    const target = new URL(location);
    change(target.searchParams);
    return target.href;
  }

  async pass(req, sent, scheme) {
    return new Promise((resolve, reject) => {
      const headers = { ...req.headers, 'x-forwarded-proto': scheme };
      httpRequest({ socketPath: this.socket, method: req.method, path: req.url, headers }, async (answer) => {
        resolve({ status: answer.statusCode, headers: answer.headers, bytes: await body(answer) });
      }).on('error', reject).end(sent);
    });
  }

  async answer(req, res, scheme) {
    const path = req.url.split('?')[0];
    const endpoint = PATHS[path] ?? (path.startsWith('/auth') ? 'auth' : path);
    this.asked.push({ method: req.method, path, endpoint });
    const sent = await body(req);
    if (this.wrongAt === endpoint && ANSWERS[this.wrong]) {
      ANSWERS[this.wrong](res, { url: this.url, req });
      return;
    }
    if (endpoint === 'token' && this.wrong === 'used-code') await this.pass(req, sent, scheme);
    const { status, headers, bytes } = await this.pass(req, sent, scheme);
    const changed = status === 200 ? Buffer.from(this.changed(endpoint, bytes)) : bytes;
    if (headers.location) headers.location = this.changedLocation(headers.location);
    delete headers['transfer-encoding'];
    res.writeHead(status, { ...headers, 'content-length': changed.length }).end(changed);
  }

  async listen(port, tls) {
    this.folder = mkdtempSync(join(tmpdir(), 'issuer-'));
    this.socket = join(this.folder, 's');
    const callback = this.provider.callback();
    const failed = (res) => (error) => { if (!res.headersSent) res.writeHead(500).end(String(error)); };
    this.inner = createHttpServer((req, res) => {
      if (req.url.startsWith('/interaction/')) interaction(this.provider, req, res).catch(failed(res));
      else callback(req, res);
    });
    await new Promise((resolve) => { this.inner.listen(this.socket, resolve); });
    const front = (req, res) => this.answer(req, res, tls ? 'https' : 'http').catch(failed(res));
    this.front = tls ? createHttpsServer({ cert: readFileSync(tls.pem), key: readFileSync(tls.key) }, front) : createHttpServer(front);
    await new Promise((resolve) => { this.front.listen(port, '127.0.0.1', resolve); });
  }

  // The issuer is away: nothing listens. Comes back with open().
  async stop() {
    this.front.closeAllConnections();
    await new Promise((resolve) => { this.front.close(resolve); });
  }

  async open() {
    await new Promise((resolve) => { this.front.listen(this.port, '127.0.0.1', resolve); });
  }

  async close() {
    for (const server of [this.front, this.inner]) {
      server.closeAllConnections();
      server.close();
    }
    rmSync(this.folder, { recursive: true });
  }
}

// redirect: the callback of the site, or several. backchannel: its address for back-channel logouts. tls: the files of a
// certificate, { pem, key }, for 127.0.0.1 or host; without it, http. claimsInToken: the ID token has the claims that a
// strict issuer gives only at its UserInfo endpoint.
export async function startIssuer({ redirect, backchannel, tls, host = '127.0.0.1', port, algorithm = 'RS256', auth = 'client_secret_basic',
  clientId = 'hongbao', clientSecret = 'a secret: of+tests/only', claimsInToken = false }) {
  const at = port ?? await freePort();
  const url = `${tls ? 'https' : 'http'}://${host}:${at}`;
  const issuer = new Issuer(url, { redirect, backchannel, algorithm, auth, clientId, clientSecret, claimsInToken });
  issuer.port = at;
  await issuer.listen(at, tls);
  return issuer;
}

// ---- a browser without pages ----

// Follows the redirects from the URL of an authorization request, logs in as the user (null: presses No), and returns
// the URL that leads back to the site. jar: a Map of the cookies at the issuer; with a known one no page comes.
export async function signIn(start, user, jar = new Map()) {
  const { origin } = new URL(start);
  let url = start;
  for (let steps = 0; steps < 10; steps++) {
    const asked = new URL(url).pathname.startsWith('/interaction/');
    const headers = { cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; ') };
    const form = asked && { method: 'POST', body: new URLSearchParams(user === null ? { refuse: '1' } : { login: user }) };
    const answer = await fetch(url, { redirect: 'manual', headers, ...form });
    for (const cookie of answer.headers.getSetCookie?.() ?? []) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie);
      if (value === '') jar.delete(name);
      else jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`${answer.status} at ${url}: ${await answer.text()}`);
    url = new URL(location, url).href;
    if (new URL(url).origin !== origin) return url;
  }
  throw new Error('too many redirects');
}
