// A site whose people log in by an issuer (support/issuer.js).
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { env } from './instance.js';
import { Client, site } from './site.js';
import { signIn } from './issuer.js';

const POOLS = ['hot', 'page', 'auth'];

// The settings (environment) of a site with this issuer; more: further ones.
function settingsFor(issuer, more) {
  const secret = join(env.HB_TEST_VAR, 'issuer.secret'); // the servers may run as another user
  writeFileSync(secret, `${issuer.clientSecret}\n`, { mode: 0o644 });
  return { HB_OIDC_ISSUER: issuer.url, HB_OIDC_CLIENT_ID: issuer.clientId, HB_OIDC_CLIENT_SECRET_FILE: secret, HB_OIDC_NAME: '公司账号', ...more };
}

// Starts the pools anew with the issuer, and the pool sso.
export async function useIssuer(issuer, more = {}) {
  const settings = settingsFor(issuer, more);
  await site.dev('stop', 'sso').catch(() => {});
  await site.startAnew(POOLS, settings);
  await site.start('sso', settings);
}

export async function useNoIssuer() {
  await site.dev('stop', 'sso').catch(() => {});
  await site.startAnew(POOLS);
}

const pathOf = (address) => {
  const { pathname, search } = new URL(address);
  return pathname + search;
};

// Follows a begun login at the issuer; returns the path of the callback. user: null says no. jar: cookies at the issuer.
export async function throughIssuer(start, user, jar) {
  if (start.status !== 303) throw new Error(`${start.status}: ${start.text}`);
  return pathOf(await signIn(start.headers.get('location'), user, jar));
}

// Logs the client in as the user of the issuer. Returns the last answer. query: of /login/oidc.
export async function loginBy(user, { client = new Client(), query = '', jar, html = false } = {}) {
  const start = await client.getHtml(`/login/oidc${query}`);
  if (start.status !== 303) return { client, answer: start };
  const back = await throughIssuer(start, user, jar);
  return { client, answer: html ? await client.getHtml(back) : await client.get(back) };
}
