// The protocol of a login by an issuer (app/oidc) against the certified oidc-provider, and against it when it lies, is
// slow or is away. tests/support/oidc_client.c has the role of the site; signIn has the role of the browser.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { poll } from '../support/poll.js';
import { freePort } from '../support/port.js';
import { certificate, day } from './support/certificate.js';
import { startIssuer, signIn } from './support/issuer.js';
import { temporaryFolder } from './support/run.js';

const REDIRECT = 'http://127.0.0.1:1/login/oidc/callback';
const FOLDER = temporaryFolder('oidc');

const open = [];
const began = async (options = {}) => {
  const issuer = await startIssuer({ redirect: REDIRECT, ...options });
  issuer.users.set('ming', { name: '小明', email: 'ming@example.org', email_verified: true, groups: ['staff'] });
  open.push(issuer);
  return issuer;
};

// The site's side: authorize, finish and so on answer with the line of oidc_client.
function client(issuer, { secret = issuer.clientSecret, ca = '-', domain = '-', group = '-', env = {} } = {}) {
  const child = spawn(process.env.HB_TEST_OIDC_CLIENT, [issuer.url, issuer.clientId, secret, REDIRECT, ca, domain, group],
    { stdio: ['pipe', 'pipe', 'inherit'], env: { ...process.env, ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (...words) => {
    child.stdin.write(`${words.map((word) => word ?? '-').join(' ')}\n`);
    const { value, done } = await lines.next();
    assert.ok(!done, `oidc_client ended at ${words[0]}`);
    return JSON.parse(value);
  };
  return {
    ask,
    begin: (kind = 'plain') => ask('authorize', '/wallet', kind),
    finish(back, cookie) {
      const query = new URL(back).searchParams;
      return ask('finish', cookie, ...['state', 'code', 'iss', 'error'].map((name) => query.get(name) ?? '-'));
    },
    async login(user = 'ming', kind = 'plain', jar = new Map()) {
      const { url, cookie, fault } = await this.begin(kind);
      return fault === 'ok' ? this.finish(await signIn(url, user, jar), cookie) : { fault };
    },
    async close() {
      child.stdin.end();
      const [code] = await once(child, 'exit');
      assert.equal(code, 0); // also no report of a sanitizer
    },
  };
}

const withClient = async (issuer, options, act) => {
  const site = client(issuer, options);
  try {
    return await act(site);
  } finally {
    await site.close();
  }
};

let issuer;
before(async () => { issuer = await began(); });
after(() => Promise.all(open.map((one) => one.close())));

// ---- it works ----

test('a login gives the claims of the user, from the ID token and from the UserInfo endpoint', async () => {
  await withClient(issuer, { domain: 'example.org', group: 'staff' }, async (site) => {
    const claims = await site.login();
    assert.deepEqual({ ...claims, sid: null }, { fault: 'ok', kind: 'none', sub: 'ming', sid: null, username: 'ming', nickname: '小明',
      email: 'ming@example.org', carried: '/wallet', fresh: false, groups: 1 });
    assert.equal((await site.login('hong')).fault, 'email');
  });
});

for (const algorithm of ['RS256', 'ES256', 'EdDSA']) {
  for (const auth of ['client_secret_basic', 'client_secret_post']) {
    test(`${algorithm} and ${auth}`, async () => {
      const one = await began({ algorithm, auth, claimsInToken: auth.endsWith('post') });
      await withClient(one, {}, async (site) => {
        const { fault, sub } = await site.login();
        assert.deepEqual([fault, sub], ['ok', 'ming']);
        assert.equal(one.asked.some(({ endpoint }) => endpoint === 'info'), !auth.endsWith('post'));
      });
    });
  }
}

test('a fresh login asks the user again and proves it', async () => {
  await withClient(issuer, {}, async (site) => {
    const jar = new Map();
    await site.login('ming', 'plain', jar);
    const pages = () => issuer.asked.filter(({ method, path }) => method === 'POST' && path.startsWith('/interaction/')).length;
    const before = pages();
    assert.equal((await site.login('ming', 'plain', jar)).fault, 'ok');
    assert.equal(pages(), before); // known by its cookie
    const claims = await site.login('ming', 'fresh', jar);
    assert.deepEqual([claims.fault, claims.fresh, pages()], ['ok', true, before + 1]);
  });
});

test('rotated keys are read again', async () => {
  const one = await began();
  await withClient(one, {}, async (site) => {
    assert.equal((await site.login()).fault, 'ok');
    one.rotate();
    // the keys were read a moment ago: OIDC_KEYS_PAUSE_MS
    await poll('the new keys', async () => {
      const { fault } = await site.login();
      assert.ok(['key', 'ok'].includes(fault), fault);
      return fault === 'ok';
    });
    assert.equal(one.asked.filter(({ endpoint }) => endpoint === 'keys').length, 2);
  });
});

test('a logout token of the issuer is accepted, and of nobody else', async () => {
  const other = await began();
  await withClient(issuer, {}, async (site) => {
    const { sid, fault } = await site.ask('logout', issuer.logoutToken('ming', 's1'));
    assert.deepEqual([fault, sid], ['ok', 's1']);
    for (const [change, header, wanted] of [[{}, { typ: 'JWT' }, 'type'], [{ nonce: 'x' }, {}, 'nonce'], [{ events: {} }, {}, 'events'],
      [{ aud: 'another' }, {}, 'audience'], [{ sub: undefined, sid: undefined }, {}, 'claims'], [{ jti: undefined }, {}, 'claims']]) {
      assert.equal((await site.ask('logout', issuer.logoutToken('ming', 's1', change, header))).fault, wanted);
    }
    assert.equal((await site.ask('logout', other.logoutToken('ming', 's1', { iss: issuer.url }))).fault, 'signature');
  });
});

// ---- it lies, or is broken ----

const REFUSED = {
  'wrong-key': 'signature', changed: 'signature', 'alg-none': 'algorithm', 'alg-confusion': 'algorithm', 'unknown-key': 'key',
  'key-in-header': 'signature', crit: 'critical', 'logout-token': 'type', 'wrong-aud': 'audience', 'wrong-azp': 'party',
  'wrong-iss': 'issuer', 'wrong-nonce': 'nonce', 'no-nonce': 'nonce', 'wrong-hash': 'access-hash', 'no-subject': 'claims',
  expired: 'expired', future: 'future', old: 'stale', 'huge-token': 'size', cut: 'cut', redirect: 'redirect', error: 'unavailable',
  garbage: 'answer', 'huge-answer': 'size', 'mix-up': 'mix-up', 'no-iss': 'mix-up', 'wrong-state': 'state', 'no-code': 'no-code',
  'wrong-code': 'code', 'server-error': 'unavailable', 'used-code': 'code',
};

for (const [name, fault] of Object.entries(REFUSED)) {
  test(`${name}: ${fault}`, async () => {
    await withClient(issuer, {}, async (site) => {
      issuer.misbehave(name);
      const before = issuer.asked.length;
      const answer = await site.login();
      issuer.misbehave(null);
      assert.equal(answer.fault, fault);
      assert.equal(answer.sub, null);
      assert.ok(!issuer.asked.slice(before).some(({ path }) => path.startsWith('/elsewhere')), 'no redirect is followed');
      assert.equal((await site.login()).fault, 'ok');
    });
  });
}

for (const [name, at, fault] of [['another-issuer', 'discovery', 'discovery'], ['endpoint-elsewhere', 'discovery', 'endpoint'],
  ['only-symmetric', 'discovery', 'discovery'], ['garbage', 'discovery', 'discovery'], ['huge-answer', 'discovery', 'size'],
  ['redirect', 'discovery', 'redirect'], ['cut', 'discovery', 'cut'], ['garbage', 'keys', 'keys'], ['huge-answer', 'keys', 'size'],
  ['cut', 'keys', 'cut'], ['redirect', 'keys', 'redirect'], ['error', 'info', 'unavailable'], ['garbage', 'info', 'answer'],
  ['redirect', 'info', 'redirect']]) {
  test(`${name} at ${at}: ${fault}`, async () => {
    await withClient(issuer, {}, async (site) => {
      issuer.misbehave(name, at);
      const answer = await site.login();
      issuer.misbehave(null);
      assert.equal(answer.fault, fault);
      assert.equal((await site.login()).fault, 'ok');
    });
  });
}

test('the user says no', async () => {
  await withClient(issuer, {}, async (site) => {
    const { fault, kind, carried } = await site.login(null);
    assert.deepEqual([fault, kind, carried], ['denied', 'user', '/wallet']);
  });
});

test('a wrong secret', async () => {
  await withClient(issuer, { secret: 'another' }, async (site) => assert.equal((await site.login()).fault, 'client'));
});

test('a callback counts once, in its own browser', async () => {
  await withClient(issuer, {}, async (site) => {
    const mine = await site.begin();
    const other = await site.begin();
    const back = await signIn(mine.url, 'ming');
    assert.equal((await site.finish(back, other.cookie)).fault, 'state');
    assert.equal((await site.finish(back, '-')).fault, 'state');
    assert.equal((await site.finish(back, mine.cookie)).fault, 'ok');
    assert.equal((await site.finish(back, mine.cookie)).fault, 'code');
  });
});

test('the code of one login in the attempt of another has the wrong verifier', async () => {
  await withClient(issuer, {}, async (site) => {
    const [mine, stolen] = [await site.begin(), await site.begin()];
    const [own, other] = [await signIn(mine.url, 'ming'), await signIn(stolen.url, 'hong')].map((url) => new URL(url));
    own.searchParams.set('code', other.searchParams.get('code'));
    assert.equal((await site.finish(own.href, mine.cookie)).fault, 'code');
  });
});

// ---- it is slow, or away ----

test('a slow issuer costs a deadline, and is asked again after a while', async () => {
  const one = await began();
  await withClient(one, {}, async (site) => {
    one.misbehave('slow', 'discovery');
    assert.equal((await site.begin()).fault, 'slow');
    assert.equal((await site.begin()).kind, 'temporary'); // at once: OIDC_PAUSE_MS
    one.misbehave(null);
    await poll('a login', async () => (await site.login()).fault === 'ok');
  });
});

test('nobody listens, no such name, or somebody accepts and is silent', async () => {
  const silent = createServer(() => {}).listen(await freePort(), '127.0.0.1');
  await once(silent, 'listening');
  const at = (url) => ({ url, clientId: 'x', clientSecret: 'x' });
  for (const [url, faults] of [[`http://127.0.0.1:${await freePort()}`, ['away']], ['https://no-such-name.invalid', ['away', 'slow']],
    [`https://127.0.0.1:${silent.address().port}`, ['slow']]]) {
    await withClient(at(url), {}, async (site) => {
      const { fault } = await site.begin();
      assert.ok(faults.includes(fault), `${url}: ${fault}`);
    });
  }
  silent.close();
  silent.unref();
});

test('proxies of the environment are not used', async () => {
  const proxy = `http://127.0.0.1:${await freePort()}`;
  await withClient(issuer, { env: { http_proxy: proxy, https_proxy: proxy, ALL_PROXY: proxy } }, async (site) => {
    assert.equal((await site.login()).fault, 'ok');
  });
});

// ---- TLS ----

test('a certificate must be of a trusted authority, of this host, and valid', async () => {
  const files = {};
  for (const [file, name, from, to] of [['good', 'IP:127.0.0.1', -1, 9], ['other', 'DNS:other.example', -1, 9], ['past', 'IP:127.0.0.1', -9, -1]]) {
    files[file] = certificate(FOLDER, file, name, day(from), day(to));
  }
  const begin = async (file, ca) => {
    const one = await began({ tls: files[file] });
    return withClient(one, { ca }, async (site) => (await site.begin()).fault);
  };
  assert.equal(await begin('good', files.good.pem), 'ok');
  assert.equal(await begin('good', '-'), 'tls');
  assert.equal(await begin('other', files.other.pem), 'tls');
  assert.equal(await begin('past', files.past.pem), 'tls');
});
