// The operations of /openapi.json, and how to call each as in its example.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Passkey } from './authenticator.js';
import { request } from './client.js';
import { Client, newUser, PASSWORD, poll, site, unique } from './site.js';
import { sql } from './mysql.js';
import { upload } from './upload.js';
import { openChannel } from './withdrawals.js';

export const FORM = 'application/x-www-form-urlencoded';

// Returns { doc, operations }: the description, and each operation as { path, method, ...its description }.
export async function described() {
  const answer = await request('/openapi.json');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  const operations = Object.entries(answer.json.paths).flatMap(([path, methods]) => Object.entries(methods)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
  return { doc: answer.json, operations };
}

// The code of a new user's login link.
async function linkCode() {
  const { stdout } = await site.hongbao('user', 'login-link', (await newUser()).username);
  return new URL(stdout.split('\n')[0]).searchParams.get('code');
}

let sender;
let users = []; // users with PASSWORD, a session and 1,000 yuan; each call takes one

// Makes the users for count calls.
export async function usersForCalls(count) {
  users = users.concat(await site.demoUsers(count));
  sender ??= users.pop();
}

// packetSender: the user who sends the packets of all calls. takeUser: a user whom no other call uses.
export const packetSender = () => sender;
export const takeUser = () => users.pop();

// The fields of the example, with new names and keys where each can be used only once.
function example({ requestBody }) {
  const fields = { ...requestBody?.content[FORM].example };
  if (fields.request_key) fields.request_key = unique('k');
  if (fields.username) fields.username = unique('u');
  return fields;
}

// A packet of the sender, of a yuan in two shares: its id.
export async function packet(from = sender, more = {}) {
  const sent = await from.post('/send', { kind: 'lucky', amount: '1', count: '2', request_key: unique('k'), ...more });
  assert.equal(sent.status, 201, sent.text);
  return sent.json.id;
}

// A packet of which the user has a share that is paid.
export async function received(client) {
  const id = await packet();
  assert.equal((await client.post(`/p/${id}/open`)).status, 200);
  await poll('it is settled', async () => (await client.get(`/p/${id}`)).json.mine.settled);
  return id;
}

export async function token(client, scopes) {
  const made = await client.post('/account/tokens', { name: 'test', scopes, days: '1', password: PASSWORD });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

const PICTURE = readFileSync(new URL('../../support/pictures/turned.jpg', import.meta.url));

const addCover = async (client) => {
  const added = await upload(client, '/covers', PICTURE);
  assert.equal(added.status, 201, added.text);
  return { path: { key: added.json.name.slice(1) } };
};

// A form of a withdrawal of 10 yuan by a channel that pays them.
const CHANNEL = 'api-example';
async function withdrawal() {
  await openChannel(CHANNEL);
  return { channel: CHANNEL, password: PASSWORD };
}

let channel; // that takes payments

async function topupChannel() {
  if (channel) return channel;
  const name = unique('c').slice(0, 20);
  await sql(`CALL channel_open('${name}', 'Cards', 'test', 0)`);
  await sql(`CALL channel_topup((SELECT id FROM channel WHERE name = '${name}'), 'https://pay.example/')`);
  channel = name;
  return channel;
}

// A client with a service token of this scope, of a channel of its own; and the channel.
export async function service(scope) {
  const [name, channel] = [unique('s').slice(0, 20), unique('c').slice(0, 20)];
  await site.hongbao('money', 'channel', channel);
  const { stdout } = await site.hongbao('service', 'add', name, '--scopes', scope, '--channel', channel);
  return { client: new ServiceClient(stdout.trim()), channel };
}

class ServiceClient extends Client {
  #token;

  constructor(text) {
    super();
    this.#token = text;
  }

  request(path, { headers = {}, ...options } = {}) {
    return super.request(path, { ...options, headers: { authorization: `Bearer ${this.#token}`, ...headers } });
  }
}

const payment = (scope) => async () => {
  const { username, client: payer } = await newUser({ yuan: '100' });
  assert.ok(payer);
  return { client: (await service(scope)).client, fields: { username, reference: unique('r') } };
};

// A pending withdrawal of a new user, by the channel: its number.
export async function pendingWithdrawal(channel) {
  await openChannel(channel);
  const { id } = await newUser({ yuan: '10' });
  const key = unique('w');
  await sql(`CALL withdrawal_hold(${id}, (SELECT id FROM channel WHERE name = '${channel}'), 100, 'x', '${key}', UNIX_TIMESTAMP() * 1000)`);
  return sql(`SELECT id FROM withdrawal WHERE request_key = '${key}'`);
}

const ending = async () => {
  const { client, channel } = await service('withdraw');
  return { client, path: { key: await pendingWithdrawal(channel) }, fields: { reference: unique('r') } };
};
const reading = async () => ({ client: (await service('read')).client });

// What a call needs beyond the default. The default is a user with money and, for {id}, an open packet of another user:
// { client, path: values of the path, fields }.
const special = {
  register: async () => ({ client: new Client() }),
  registerPage: async () => ({ client: new Client() }),
  loginPage: async () => ({ client: new Client() }),
  login: async () => {
    const { username, password } = await newUser();
    return { client: new Client(), fields: { username, password } };
  },
  linkLoginPage: async () => ({ client: new Client(), query: `?code=${await linkCode()}` }),
  linkLogin: async () => ({ client: new Client(), fields: { code: await linkCode() } }),
  recoveryLoginPage: async () => ({ client: new Client() }),
  recoveryLogin: async () => {
    const { client, username, password } = await newUser();
    const { code } = (await client.post('/account/recovery', { password })).json.codes[3];
    return { client: new Client(), fields: { username, code } };
  },
  makeRecoveryCodes: async () => {
    const { client, password } = await newUser();
    return { client, fields: { password } };
  },
  deleteAccount: async () => {
    const { client, username, password } = await newUser();
    return { client, fields: { username, password } };
  },
  changePassword: async () => ({ client: (await newUser()).client }),
  revokeToken: async (client) => ({ path: { id: (await token(client, 'read')).id } }),
  passkeyRegister: async () => {
    const visitor = new Client(), names = { username: unique('u'), nickname: 'Ming' };
    const begun = await visitor.post('/register/passkey/challenge', names);
    return { client: visitor, fields: { ...names, ...new Passkey(site.url).create(begun.json) } };
  },
  passkeyRegisterChallenge: async () => ({ client: new Client() }),
  revokeInvitation: async (client) => {
    const made = await client.post('/account/invitations', {});
    assert.equal(made.status, 201, made.text);
    return { path: { id: made.json.id } };
  },
  passkeyLogin: async (client) => {
    const passkey = new Passkey(site.url);
    await passkey.add(client);
    const visitor = new Client();
    return { client: visitor, fields: passkey.get((await visitor.post('/login/passkey/challenge')).json) };
  },
  addPasskey: async (client) => ({ fields: new Passkey(site.url).create((await Passkey.begin(client)).json) }),
  removePasskey: async (client) => ({ path: { id: (await new Passkey(site.url).add(client)).json.id } }),
  passkeyPage: async (client) => ({ path: { id: (await new Passkey(site.url).add(client)).json.id } }),
  return: async (client) => ({ path: { id: await received(client) } }),
  end: async (client) => ({ path: { id: await packet(client) } }),
  thanks: async (client) => ({ path: { id: await received(client) } }),
  order: async (client) => {
    const key = unique('k');
    await client.post('/send', { kind: 'even', amount: '1', count: '1', request_key: key });
    return { path: { key } };
  },
  topupPage: async () => {
    await topupChannel();
    return {};
  },
  topup: async () => ({ fields: { channel: await topupChannel() } }),
  topupOrder: async (client) => {
    const made = await client.post('/wallet/topup', { amount: '5', channel: await topupChannel(), request_key: unique('k') });
    assert.equal(made.status, 201, made.text);
    return { path: { key: made.json.id } };
  },
  poster: async (client) => ({ path: { id: await packet(client) } }),
  calendar: async (client) => ({ path: { id: await packet(sender, { opens_at: new Date(Date.now() + 3_600_000).toISOString() }) } }),
  receipt: async (client) => ({ path: { id: await received(client) } }),
  receiptFile: async (client) => ({ path: { id: await received(client) } }),
  covers: async (client) => {
    await addCover(client);
    return {};
  },
  addCover: async () => ({ fields: { picture: PICTURE } }),
  deleteCover: addCover,
  coverDeletePage: addCover,
  setPicture: async () => ({ fields: { picture: PICTURE } }),
  picture: async (client) => {
    assert.equal((await upload(client, '/account/picture', PICTURE)).status, 200);
    return { path: { key: `${(await client.get('/account')).json.face.slice(1)}.webp` } };
  },
  withdrawPage: async () => {
    await withdrawal();
    return {};
  },
  withdraw: async () => ({ fields: await withdrawal() }),
  transfer: async (client) => {
    const [{ transfer }] = (await client.get('/wallet')).json.entries;
    return { path: { key: transfer } };
  },
  creditMoney: payment('credit'),
  payTopup: async () => {
    const { client, channel: own } = await service('topup');
    const { id } = await newUser();
    const key = unique('t');
    const channelId = `(SELECT id FROM channel WHERE name = '${own}')`;
    await sql(`CALL channel_topup(${channelId}, 'https://pay.example/'); CALL topup_open(${id}, ${channelId}, 8800, '${key}', 0);
      CALL channel_topup(${channelId}, '')`);
    return { client, path: { key: (await sql(`SELECT id FROM topup WHERE request_key = '${key}'`)).trim() }, fields: { reference: unique('r') } };
  },
  debitMoney: payment('debit'),
  postWithdrawal: ending,
  voidWithdrawal: ending,
  listTransfers: reading,
  listWithdrawals: reading,
  moneyReport: reading,
  tokenPage: async (client) => ({ path: { id: (await token(client, 'read')).id } }),
};

// Prepares a call: { client, user (whose session the client has, unless the call is a visitor's), path, fields }.
export async function prepared(operation) {
  const user = users.pop();
  const own = await special[operation.operationId]?.(user);
  const client = own?.client ?? user;
  const values = own?.path ?? (operation.path.includes('{id}') ? { id: await packet() } : {});
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => values[name]) + (own?.query ?? '');
  return { client, user, path, fields: { ...example(operation), ...own?.fields } };
}

export const call = (client, { method }, path, fields, headers = {}) => {
  if (method !== 'POST') return client.get(path, headers);
  return fields.picture ? upload(client, path, fields.picture, headers) : client.post(path, fields, headers);
};
