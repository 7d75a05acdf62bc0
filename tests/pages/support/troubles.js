// Faults that some pages need. `await inTrouble(name, world, work)` makes the fault, runs work, repairs it and waits
// until everything is served again. Without a name it only runs work.
import assert from 'node:assert/strict';
import { sql } from '../../e2e/support/mysql.js';
import { redis } from '../../e2e/support/redis.js';
import { poll, site, unique } from '../../e2e/support/site.js';
import { grab, LONGEST } from './world.js';

const DAY_MS = 86_400_000;

const isServed = async (client, path) => (await client.get(path)).status === 200;

async function without(server, work) {
  await site.dev('stop', server);
  try {
    await work();
  } finally {
    await site.dev('start', server);
  }
}

// Nothing is settled, a packet that was paid for is not loaded, and the fence of a restarted Redis stays shut.
const unsettled = (world, work) => without('settle', async () => {
  await grab(world.grabber, world.settling);
  await site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, async () => {
    const answer = await world.sender.post('/send', { kind: 'even', amount: '1', count: '2' });
    assert.equal(answer.status, 503);
  });
  const { json } = await world.sender.get('/records/sent');
  world.unloaded = `/p/${json.items[0].id}`;
  await without('redis', () => {});
  await poll('packets are shown', () => isServed(world.sender, world.open));
  await work();
});

// Makes a packet's row invalid: no draw has shares of at most 1 fen.
async function corrupt({ damaged }, work) {
  const set = (max) => sql(`UPDATE packet SET share_max_fen = ${max} WHERE request_key = '${damaged.key}'`);
  await set(1);
  await work();
  await set(20000);
}

// Users may send once only.
const sendsLimited = ({ sender }, work) => site.withSetting(['page'], { HB_LIMITS: 'on', HB_LIMIT_SEND: '1 1/d' }, async () => {
  await poll('a send is refused', async () => (await sender.post('/send', {})).status === 429);
  await work();
});

// Other settings of who may register, and how.
const door = (settings) => (world, work) => site.withSetting(['hot', 'page', 'auth'], settings, work);

// People may log in by an issuer that is away. latin and bare have linked an account there.
const ISSUER = 'http://127.0.0.1:9';
const withIssuer = (more) => async ({ latin, bare }, work) => {
  const settings = { HB_OIDC_ISSUER: ISSUER, HB_OIDC_CLIENT_ID: 'pages', HB_OIDC_NAME: LONGEST.issuer, ...more };
  for (const client of [latin, bare]) {
    const { id } = (await client.get('/account')).json;
    await sql(`INSERT INTO subject (issuer, subject, user_id, linked_ms) VALUES ('${ISSUER}', '${id}', ${id}, ${Date.now()})`);
  }
  await site.start('sso', settings);
  try {
    await site.withSetting(['hot', 'page', 'auth'], settings, work);
  } finally {
    await site.dev('stop', 'sso');
    await sql(`DELETE FROM subject WHERE issuer = '${ISSUER}'`);
  }
};

// A user may send 10 yuan in a day, of which the sender has sent more. The others have received all of it.
const capped = async ({ sender, grabber, wide }, work) => {
  assert.equal((await sender.post('/send', { kind: 'even', amount: '10', count: '1', request_key: unique('k') })).status, 201);
  for (const client of [grabber, wide]) {
    const { id } = (await client.get('/')).json.user;
    await redis('SET', `hb:capped:${id}`, `${Math.ceil(Date.now() / DAY_MS) * DAY_MS} 1`, 'PX', DAY_MS);
  }
  await site.withSetting(['hot', 'page'], { HB_USER_SEND_DAY_FEN: '1000', HB_USER_SEND_DAY_COUNT: '1', HB_USER_RECEIVE_DAY_FEN: '1' }, work);
};

const TROUBLES = {
  'page pool stopped': (world, work) => without('page', work),
  'mariadb stopped': (world, work) => without('mariadb', work),
  'redis stopped': (world, work) => without('redis', work),
  unsettled,
  corrupt,
  'answers lost': (world, work) => site.withSetting(['page'], { HB_CRASH: 'send-after-commit' }, work),
  // No replica confirms a grab, and no grab is settled, so the page that checks the outcome by itself stays.
  'grabs unconfirmed': (world, work) => without('settle', () => site.withSetting(['hot'], { HB_REDIS_REPLICAS: '1' }, work)),
  'sends limited': sendsLimited,
  'by invitation': door({ HB_REGISTRATION: 'invite', HB_USER_INVITATIONS_MAX: '3' }),
  'with terms': door({ HB_REGISTRATION: 'invite', HB_TERMS_URL: 'https://example.com/terms', HB_TERMS_VERSION: '2026-12-01' }),
  'registration closed': door({ HB_REGISTRATION: 'closed' }),
  'without passwords': door({ HB_PASSWORD_LOGIN: 'off' }),
  'with an issuer': withIssuer({}),
  'an issuer alone': withIssuer({ HB_PASSWORD_LOGIN: 'off', HB_REGISTRATION: 'closed' }),
  capped,
  'sending paused': (world, work) => site.withSetting(['hot', 'page', 'auth'], { HB_SENDING: 'off' }, work),
  'logins limited': (world, work) => site.withSetting(['nginx'], { HB_LIMITS: 'on' }, work),
};

export async function inTrouble(name, world, work) {
  if (!name) return work();
  try {
    return await TROUBLES[name](world, work);
  } finally {
    for (const path of ['/wallet', world.open]) await poll(`${path} is served`, () => isServed(world.sender, path));
  }
}
