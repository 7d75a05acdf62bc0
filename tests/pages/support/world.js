// People and packets in every state that a page can show, created once for a test file: `world = await buildWorld()`,
// at the end `await world.end()`. Only a few people have passwords, because hashing is slow.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Passkey } from '../../e2e/support/authenticator.js';
import { poll } from '../../e2e/support/instance.js';
import { expireNow } from '../../e2e/support/moments.js';
import { sql } from '../../e2e/support/mysql.js';
import { opened, sentPath, settled as isSettled } from '../../e2e/support/packets.js';
import { redis } from '../../e2e/support/redis.js';
import { Client, newUser, PASSWORD, pooled, site, unique } from '../../e2e/support/site.js';
import { landscape, upload } from '../../e2e/support/upload.js';
import { closeChannels, money, openChannel } from '../../e2e/support/withdrawals.js';
import { topupOrders, topupPages } from './topups.js';

const SHARES_MAX = 100;
const SMALL_PACKETS = 25; // more than one page of records
const PLANTED_FEN = 123456789;

// The longest allowed texts: greetings of 25 wide graphemes, nicknames of 32.
export const LONGEST = {
  emoji: '👨‍👩‍👧‍👦🏳️‍🌈🇨🇳👩🏽‍🚀👨‍❤️‍💋‍👨'.repeat(5),
  arabic: 'كل عام وأنتم بخير ٢٠٢٦!!!',
  wide: '福'.repeat(32),
  issuer: '福'.repeat(16), // oidc_name: 48 bytes
  latin: 'W'.repeat(32),
  rtl: 'عبد الرحمن بن محمد ١٢٣٤ الأنصاري',
  phrase: '芝麻开门'.repeat(5), // 20 graphemes
  note: '报销'.repeat(25), // 50
};
const FACES = ['rabbit', 'horse', 'tiger', 'dragon', 'monkey', 'pig']; // of the first people
export const COVERS = ['plain', 'spring-festival', 'mid-autumn', 'birthday', 'wedding', 'baby', 'new-job', 'thanks'];

// Sends a packet and returns its path.
export const send = (client, fields) => sentPath({ client }, { count: '1', ...fields });
export const grab = (client, path) => opened({ client }, path);

const settled = (client, path) => isSettled({ client }, path);
const over = (client, path) => poll(`${path} is over`, async () => (await client.get(`${path}/verify`)).json.seed);

async function choose(client, face) {
  const { nickname } = (await client.get('/account')).json;
  const chosen = await client.post('/account/nickname', { nickname, face });
  assert.equal(chosen.status, 200, chosen.text);
}

async function people() {
  const [sender, grabber, stranger, fresh, ...crowd] = await site.demoUsers(4 + SHARES_MAX - 3);
  const named = ['wide', 'latin', 'rtl', 'arabic'].map((name) => newUser({ nickname: LONGEST[name] }));
  const [wide, latin, rtl, awaited] = await Promise.all(named);
  for (let i = 0; i < 5; i += 1) {
    const deposit = await latin.client.post('/wallet/deposit', { amount: '200000', request_key: unique('k') });
    assert.equal(deposit.status, 201, deposit.text);
  }
  for (const name of [LONGEST.wide, LONGEST.rtl]) {
    const made = await sender.post('/account/tokens', { name, scopes: 'read send open', days: '1', password: PASSWORD });
    assert.equal(made.status, 201, made.text);
  }
  await sql(`UPDATE token SET expires_ms = 1, used_ms = 1 WHERE name = '${LONGEST.rtl}'`);
  for (const name of [LONGEST.wide, LONGEST.rtl, '']) {
    const passkey = new Passkey(site.url);
    const added = await passkey.add(wide.client, { name });
    assert.equal(added.status, 201, added.text);
    if (name) assert.equal((await passkey.login(new Client())).status, 200);
  }
  await Promise.all(FACES.map((face, i) => choose([sender, wide.client, ...crowd][i], face)));
  assert.equal((await wide.client.post('/account/recovery', { password: wide.password })).status, 201);
  // Without a password: keyed with a passkey, bare with nothing, and in a session that is not new, stale.
  const bare = await Promise.all(['keyed', 'bare', 'stale'].map(() => newUser({ yuan: '10' })));
  const [keyed, , stale] = bare;
  assert.equal((await new Passkey(site.url).add(keyed.client)).status, 201);
  await sql(`UPDATE user SET password_hash = NULL WHERE id IN (${bare.map(({ id }) => id)})`);
  const session = `hb:session:${createHash('sha256').update(stale.client.cookie('sid')).digest('hex')}`;
  const [version, id, began, seen, ...rest] = (await redis('GET', session)).split(',');
  await redis('SET', session, [version, id, began - 700_000, seen, ...rest].join(','), 'KEEPTTL');
  const [keyedClient, bareClient, staleClient] = bare.map(({ client }) => client);
  const long = { keyed: keyedClient, bare: bareClient, stale: staleClient, wide: wide.client, latin: latin.client, rtl: rtl.client, awaited: awaited.client };
  Object.assign(long, { wideName: wide.username, latinName: latin.username, rtlName: rtl.username, awaitedName: awaited.username });
  return { sender, grabber, stranger, fresh, crowd, ...long };
}

// Somebody without a password, whose login link nobody uses.
async function invitedPeople() {
  const { client: invited, username } = await newUser({ nickname: LONGEST.wide });
  await sql(`UPDATE user SET password_hash = NULL WHERE username = '${username}'`);
  const { stdout } = await site.hongbao('user', 'login-link', username);
  return { invited, linkCode: new URL(stdout.split('\n')[0]).searchParams.get('code') };
}

const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString();

async function openPackets({ sender, grabber, wide, wideName, latin, latinName, rtl, rtlName }) {
  const sentForm = { kind: 'even', amount: '1', count: '3', request_key: unique('k') };
  const packets = {
    untouched: await send(sender, sentForm),
    sentForm,
    sentAt: Date.now(),
    open: await send(sender, { kind: 'lucky', amount: '10', count: '5', greeting: '新年快乐' }),
    exclusive: await send(sender, { kind: 'exclusive', amount: '3', to: wideName }),
    covered: await send(sender, { kind: 'lucky', amount: '1', count: '3', cover: 'mid-autumn' }),
    settling: await send(sender, { kind: 'even', amount: '1', count: '2' }),
    dear: await send(latin, { kind: 'exclusive', amount: '200', to: wideName, greeting: LONGEST.emoji }),
  };
  packets.waiting = await send(sender, { kind: 'lucky', amount: '10', count: '5', cover: 'wedding', opens_at: tomorrow() });
  packets.several = await send(sender, { kind: 'lucky', amount: '10', count: '2', to: `${wideName} ${latinName} ${rtlName}` });
  packets.secret = await send(sender, { kind: 'lucky', amount: '10', count: '5', phrase: '芝麻开门' });
  await grab(grabber, packets.open);
  await grab(grabber, packets.covered);
  await grab(wide, packets.open);
  await settled(wide, packets.open);
  await rtl.post('/wallet/deposit', { amount: '100', request_key: unique('k') });
  packets.poster = await send(rtl, { kind: 'lucky', amount: '10', count: '5', greeting: LONGEST.emoji, phrase: LONGEST.phrase, opens_at: tomorrow() });
  packets.lost = await send(rtl, { kind: 'even', amount: '1', count: '2' });
  packets.arabic = await send(rtl, { kind: 'lucky', amount: '10', count: '5', greeting: LONGEST.arabic });
  return packets;
}

// Packets with options. everything: with all of them.
async function optionPackets({ sender, wideName, latinName, rtlName, awaitedName, grabber, wide, rtl }) {
  const all = { cover: 'birthday', to: `${wideName} ${latinName} ${rtlName}`, phrase: LONGEST.phrase, opens_at: tomorrow(), lifetime: '7d', share_min: '0.50', note: LONGEST.note };
  const packets = {
    everything: await send(sender, { kind: 'lucky', amount: '10', count: '3', greeting: LONGEST.emoji, ...all }),
    forAwaited: await send(sender, { kind: 'exclusive', amount: '3', to: awaitedName }),
    thirds: await send(sender, { kind: 'even', amount: '10', amount_of: 'total', count: '3', lifetime: '3d' }),
    floored: await send(sender, { kind: 'lucky', amount: '10', count: '3', share_min: '2' }),
    endedWaiting: await send(sender, { kind: 'lucky', amount: '10', count: '3', opens_at: tomorrow() }),
  };
  for (const client of [grabber, wide, rtl]) for (const name of ['thirds', 'floored']) await grab(client, packets[name]);
  assert.equal((await sender.post(`${packets.endedWaiting}/end`, {})).status, 200);
  for (const name of ['thirds', 'floored', 'endedWaiting']) await over(sender, packets[name]);
  const covers = await Promise.all(COVERS.map((cover) => send(sender, { kind: 'lucky', amount: '1', count: '3', cover })));
  return { ...packets, covers: Object.fromEntries(COVERS.map((cover, i) => [cover, covers[i]])) };
}

// The painter has two covers, and a packet with one, of which the gifted has a share.
async function paintedPackets({ crowd }) {
  const [gifted, painter] = crowd.slice(-2);
  const covers = [];
  for (const seed of [0, 3]) {
    const added = await upload(painter, '/covers', landscape(seed));
    assert.equal(added.status, 201, added.text);
    covers.push(added.json.name);
  }
  const ownCover = await send(painter, { kind: 'lucky', amount: '1', count: '3', cover: covers[0] });
  await grab(gifted, ownCover);
  await settled(gifted, ownCover);
  return { painter, gifted, cover: covers[0], ownCover };
}

// The grabber gives a share back: into an open packet, and after the sender has ended the packet. wide keeps one.
async function returnedPackets({ sender, grabber, wide, wideName, rtlName }) {
  const packets = {
    returned: await send(sender, { kind: 'lucky', amount: '10', count: '3' }),
    returnedEnded: await send(sender, { kind: 'lucky', amount: '10', count: '3' }),
    oneEach: await send(sender, { kind: 'even', amount: '1', count: '2', to: `${wideName} ${rtlName}` }),
  };
  const { returned, returnedEnded, oneEach } = packets;
  for (const path of [returned, returnedEnded]) for (const client of [grabber, wide]) await grab(client, path);
  await grab(wide, oneEach);
  assert.equal((await sender.post(`${returnedEnded}/end`, {})).status, 200);
  for (const path of [returned, returnedEnded]) {
    await settled(grabber, path);
    assert.equal((await grabber.post(`${path}/return`, {})).status, 200);
    await settled(wide, path);
  }
  await settled(wide, oneEach);
  assert.equal((await wide.post(`${returned}/thanks`, { text: LONGEST.emoji })).status, 200);
  return packets;
}

async function finishedPackets({ sender, grabber, wide, latin, rtl, crowd }) {
  const packets = {
    finished: await send(sender, { kind: 'lucky', amount: '10', count: '3' }),
    single: await send(sender, { kind: 'even', amount: '1' }),
    hundred: await send(latin, { kind: 'lucky', amount: '19999.99', count: String(SHARES_MAX), greeting: LONGEST.emoji }),
  };
  const damaged = { key: unique('k') };
  damaged.path = await send(sender, { kind: 'lucky', amount: '10', request_key: damaged.key });
  await grab(grabber, damaged.path);
  for (const client of [grabber, wide, rtl]) await grab(client, packets.finished);
  await grab(grabber, packets.single);
  await pooled([...crowd, wide, rtl, latin], 8, (client) => grab(client, packets.hundred));
  await pooled(Array.from({ length: SMALL_PACKETS }), 4, async () => {
    await grab(grabber, await send(sender, { kind: 'even', amount: '0.01' }));
  });
  for (const path of [...Object.values(packets), damaged.path]) await over(sender, path);
  for (const [i, text] of [LONGEST.arabic, LONGEST.emoji].entries()) {
    await settled(crowd[i], packets.hundred);
    assert.equal((await crowd[i].post(`${packets.hundred}/thanks`, { text })).status, 200);
  }
  return { ...packets, damaged };
}

// Its sender has deleted the account.
async function packetOfDeleted(grabber) {
  const { client, username, password } = await newUser({ yuan: '10' });
  const path = await send(client, { kind: 'lucky', amount: '1', count: '2' });
  await grab(grabber, path);
  await settled(grabber, path);
  const deleted = await client.post('/account/delete', { username, password, give_up: '1' });
  assert.ok(deleted.status < 400, deleted.text);
  await over(grabber, path);
  return path;
}

async function expiredPackets({ sender, grabber, wideName }) {
  const packets = {};
  const order = unique('k');
  packets.expired = await send(sender, { kind: 'lucky', amount: '10', count: '3', request_key: order });
  await grab(grabber, packets.expired);
  packets.missed = await send(sender, { kind: 'exclusive', amount: '3', to: wideName });
  for (const path of Object.values(packets)) await expireNow(path);
  packets.ended = await send(sender, { kind: 'lucky', amount: '10', count: '3' });
  await grab(grabber, packets.ended);
  assert.equal((await sender.post(`${packets.ended}/end`, {})).status, 200);
  for (const path of Object.values(packets)) await over(sender, path);
  packets.ofDeleted = await packetOfDeleted(grabber);
  return { ...packets, order };
}

// Inserts totals for the other months of this year and for three past years. Returns a function that removes them.
async function plantTotals(ids) {
  const now = new Date();
  const year = now.getFullYear();
  const at = (...day) => new Date(Date.UTC(...day));
  const months = Array.from({ length: 12 }, (_, i) => i + 1)
    .filter((month) => Math.abs(at(year, month - 1, 15) - now) > 40 * 86_400_000);
  const years = [year - 1, year - 2, year - 3];
  const rows = (list) => ids.flatMap((id) => list.map((item, i) => item(id, i))).join();
  const sums = (i) => `12, ${PLANTED_FEN * (i + 1)}, 34, ${Math.round(PLANTED_FEN / (i + 1))}`;
  const all = [...months.map((month) => `${year}, ${month}`), ...years.map((past) => `${past}, 6`)];
  await sql(`INSERT INTO user_month (user_id, year, month, sent_count, sent_fen, received_count, received_fen, best_count) VALUES
    ${rows(all.map((when) => (id, i) => `(${id}, ${when}, ${sums(i)}, 5)`))}`);
  return () => sql(`DELETE FROM user_month WHERE user_id IN (${ids}) AND (year, month) IN (${all.map((when) => `(${when})`)})`);
}

// Withdrawals of a person with a long name: the numbers of their transfers. Two channels pay them.
export const CHANNELS = ['pages-bank', 'pages-other'];

async function withdrawals({ rtl }) {
  const [bank] = CHANNELS;
  const deposit = await rtl.post('/wallet/deposit', { amount: '100', request_key: unique('k') });
  assert.equal(deposit.status, 201, deposit.text);
  for (const name of CHANNELS) await openChannel(name, '--note', LONGEST.wide, '--withdraw-hint', LONGEST.emoji, '--withdraw-min', '0.50');
  await money('credit', (await rtl.get('/account')).json.username, '5', '--channel', bank, '--reference', unique('R'), '--memo', LONGEST.arabic);
  const made = {};
  for (const name of ['pending', 'posted', 'voided', 'reversed']) {
    const fields = { amount: '1', channel: bank, account: LONGEST.latin.repeat(3), password: PASSWORD, request_key: unique('k') };
    const answer = await rtl.post('/wallet/withdraw', fields);
    assert.equal(answer.status, 201, answer.text);
    made[name] = answer.json.id;
  }
  const idOf = async (name, column = 'id') => (await sql(`SELECT ${column} FROM withdrawal WHERE hold_id = ${made[name]}`)).trim();
  for (const name of ['posted', 'reversed']) await money('post', await idOf(name), '--reference', unique('W'.repeat(40)));
  await money('void', await idOf('voided'), '--reason', LONGEST.emoji);
  await money('reverse', await idOf('reversed', 'end_id'), '--reference', unique('R'), '--memo', LONGEST.arabic);
  const { entries } = (await rtl.get('/wallet')).json;
  const numberOf = (kind) => entries.find((entry) => entry.kind === kind).transfer;
  return { withdrawn: { ...made, void: numberOf('void'), reverse: numberOf('reverse'), credit: numberOf('credit'), deposit: numberOf('deposit') } };
}

// So many channels pay withdrawals.
export async function channelsOpen(count) {
  await closeChannels();
  for (const name of CHANNELS.slice(0, count)) await openChannel(name);
}
const topups = async ({ wide }) => ({ topups: await topupOrders(wide, LONGEST.wide) });

const SCREENS = ['covered', 'untouched', 'open', 'finished', 'waiting', 'ended', 'endedWaiting', 'secret', 'hundred', 'arabic'];
const SENDERS = { hundred: 'latin', arabic: 'rtl' };

const PARTS = { open: openPackets, options: optionPackets, painted: paintedPackets, returned: returnedPackets, finished: finishedPackets, expired: expiredPackets, withdrawn: withdrawals, topups, invited: invitedPeople };

// parts: the names of those PARTS that the test needs.
export async function buildWorld(parts = Object.keys(PARTS)) {
  const who = await people();
  const packets = { screens: {} };
  for (const part of parts) Object.assign(packets, await PARTS[part](who));
  for (const name of SCREENS.filter((one) => packets[one])) {
    packets.screens[name] = (await who[SENDERS[name] ?? 'sender'].get(packets[name])).json.screen_url;
  }
  const ids = await Promise.all([who.sender, who.grabber].map(async (client) => (await client.get('/')).json.user.id));
  const unplant = await plantTotals(ids);
  const end = async () => {
    await unplant();
    await closeChannels();
    await topupPages(0);
  };
  return { ...who, ...packets, end };
}
