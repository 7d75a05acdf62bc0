// The description at /openapi.json is valid, and it is true: every operation is called as its example says, with a
// session and with a token of the scope that it names, and every answer is compared with its schema.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import formats from 'ajv-formats';
import Ajv from 'ajv/dist/2020.js';
import { Passkey } from './support/authenticator.js';
import { request } from './support/client.js';
import { Client, newUser, PASSWORD, poll, site, unique } from './support/site.js';

const FORM = 'application/x-www-form-urlencoded';
const SCHEMAS = 'templates/openapi.json';

let doc; // the description
let operations; // [{ path, method, ...operation }]
let ajv;
let sender;
let users; // with a session and 1,000 yuan; each call takes one

// Objects of the schemas have no further members, so that a member that is not described is found.
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  if ([copy.type].flat().includes('object') && copy.properties) copy.additionalProperties = false;
  return copy;
}

before(async () => {
  const answer = await request('/openapi.json');
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json');
  doc = answer.json;
  operations = Object.entries(doc.paths).flatMap(([path, methods]) => Object.entries(methods)
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })));
  ajv = new Ajv({ strict: false, allErrors: true });
  formats(ajv);
  ajv.addSchema({ ...doc, components: closed(doc.components) }, 'doc');
  users = await site.usersWithPassword(5 * operations.length);
  sender = users.pop();
});

const named = ({ operationId, method, path }) => `${operationId}, ${method} ${path}`;

// The answer has a status, a content type and members that the operation names.
function check(operation, { status, headers, text, json }) {
  const response = operation.responses[status];
  assert.ok(response, `${named(operation)} answers ${status}, which it does not name: ${text}`);
  const type = (headers.get('content-type') ?? '').split(';')[0];
  if (!response.content) return;
  assert.ok(response.content[type], `${named(operation)}: ${status} is ${type}`);
  if (json === undefined) return;
  const pointer = ['paths', operation.path, operation.method.toLowerCase(), 'responses', status, 'content', type, 'schema']
    .map((part) => encodeURIComponent(String(part).replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
  const validate = ajv.compile({ $ref: `doc#/${pointer}` });
  const wrong = validate(json) ? '' : validate.errors
    .map((e) => `${e.instancePath || 'the answer'} ${e.message} ${e.params.additionalProperty ?? ''}`).join('\n');
  assert.equal(wrong, '', `${named(operation)}, ${status}: describe it in ${SCHEMAS}\n${text}`);
}

// The fields of the example. Names and keys that can be used once are new.
function example({ requestBody }) {
  const fields = { ...requestBody?.content[FORM].example };
  if (fields.request_key) fields.request_key = unique('k');
  if (fields.username) fields.username = unique('u');
  return fields;
}

async function packet(from = sender, more = {}) {
  const sent = await from.post('/send', { kind: 'lucky', amount: '1', count: '2', request_key: unique('k'), ...more });
  assert.equal(sent.status, 201, sent.text);
  return sent.json.id;
}

// A packet of which the user has a share that is paid.
async function received(client) {
  const id = await packet();
  assert.equal((await client.post(`/p/${id}/open`)).status, 200);
  await poll('it is settled', async () => (await client.get(`/p/${id}`)).json.mine.settled);
  return id;
}

async function token(client, scopes) {
  const made = await client.post('/account/tokens', { name: 'test', scopes, days: '1', password: PASSWORD });
  assert.equal(made.status, 201, made.text);
  return made.json;
}

// What a call needs beyond the default, a user with money and, for {id}, an open packet of another user: { client, path:
// values of the path, fields }.
const special = {
  register: async () => ({ client: new Client() }),
  registerPage: async () => ({ client: new Client() }),
  loginPage: async () => ({ client: new Client() }),
  login: async () => {
    const { username, password } = await newUser();
    return { client: new Client(), fields: { username, password } };
  },
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
  receipt: async (client) => ({ path: { id: await received(client) } }),
  receiptFile: async (client) => ({ path: { id: await received(client) } }),
  tokenPage: async (client) => ({ path: { id: (await token(client, 'read')).id } }),
};

async function prepared(operation) {
  const user = users.pop();
  const own = await special[operation.operationId]?.(user);
  const client = own?.client ?? user;
  const values = own?.path ?? (operation.path.includes('{id}') ? { id: await packet() } : {});
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => values[name]);
  return { client, user, path, fields: { ...example(operation), ...own?.fields } };
}

const call = (client, operation, path, fields, headers = {}) => (operation.method === 'POST'
  ? client.post(path, fields, headers) : client.get(path, headers));

const scopesOf = ({ security }) => security.find((one) => one.token)?.token;
const needsUser = ({ security }) => security.length > 0 && !security.some((one) => Object.keys(one).length === 0);
const bearer = ({ token: text }) => ({ authorization: `Bearer ${text}` });

test('it is valid OpenAPI 3.1, say two validators', async () => {
  assert.equal(doc.openapi, '3.1.0');
  const { valid, errors } = await new Validator().validate(structuredClone(doc));
  assert.ok(valid, JSON.stringify(errors, null, 1));
  await SwaggerParser.validate(structuredClone(doc));
});

test('every schema is used', () => {
  const text = JSON.stringify(doc);
  for (const name of Object.keys(doc.components.schemas)) {
    assert.ok(text.includes(`"#/components/schemas/${name}"`), `${name} of ${SCHEMAS} is not used`);
  }
});

test('every example works with a session, and the answer is as described', async () => {
  for (const operation of operations) {
    const { client, path, fields } = await prepared(operation);
    const answer = await call(client, operation, path, fields);
    assert.ok(answer.status < 400, `${named(operation)}: ${answer.status} ${answer.text}`);
    check(operation, answer);
  }
});

test('every example works with a token of the scopes that it names, and with no other token', async () => {
  for (const operation of operations.filter(({ security }) => security.length > 0)) {
    const { user, path, fields } = await prepared(operation);
    const scopes = scopesOf(operation);
    const others = ['read', 'send', 'open'].filter((scope) => !scopes?.includes(scope)).join(' ');
    const refused = await call(new Client(), operation, path, fields, bearer(await token(user, others)));
    assert.equal(refused.status, 403, `${named(operation)}: ${refused.text}`);
    check(operation, refused);
    if (!scopes) continue;
    const answer = await call(new Client(), operation, path, fields, bearer(await token(user, scopes.join(' '))));
    assert.ok(answer.status < 400, `${named(operation)}: ${answer.status} ${answer.text}`);
    check(operation, answer);
  }
});

test('what needs a user is refused without one', async () => {
  for (const operation of operations.filter(needsUser)) {
    const { path, fields } = await prepared(operation);
    const answer = await call(new Client(), operation, path, fields);
    assert.equal(answer.status, 401, named(operation));
    check(operation, answer);
  }
});

test('a form without its fields, a foreign page, a body that is no form: refused as described', async () => {
  for (const operation of operations.filter(({ method }) => method === 'POST')) {
    const { client, path, fields } = await prepared(operation);
    if (operation.requestBody?.required) {
      const empty = await client.post(path, {});
      assert.ok([400, 422].includes(empty.status), `${named(operation)}: ${empty.status}`);
      check(operation, empty);
    }
    const foreign = await client.post(path, fields, { 'sec-fetch-site': 'cross-site' });
    assert.equal(foreign.status, 403, named(operation));
    check(operation, foreign);
    const text = await client.postRaw(path, 'x', { 'content-type': 'text/plain' });
    assert.equal(text.status, 415, named(operation));
    check(operation, text);
  }
});

test('a packet that is finished or does not exist is answered as described', async () => {
  const [show, open] = ['packet', 'open'].map((id) => operations.find(({ operationId }) => operationId === id));
  const id = await packet();
  const [first, second, late] = users.splice(-3);
  for (const client of [first, second]) check(open, await client.post(`/p/${id}/open`));
  const empty = await late.post(`/p/${id}/open`);
  assert.equal(empty.status, 410);
  check(open, empty);
  for (const client of [first, late, sender, new Client()]) check(show, await client.get(`/p/${id}`));
  const { username } = (await first.get('/account')).json;
  check(show, await first.get(`/p/${await packet(sender, { to: username, count: '1' })}`));
  const secret = await packet(sender, { phrase: 'open sesame' });
  for (const phrase of ['', 'sesame']) {
    const wrong = await late.post(`/p/${secret}/open`, { phrase });
    assert.equal(wrong.status, 422, wrong.text);
    check(open, wrong);
  }
  const missing = await late.get(`/p/${'0'.repeat(26)}`);
  assert.equal(missing.status, 404);
  check(show, missing);
  const records = operations.find(({ operationId }) => operationId === 'sent');
  check(records, await sender.get('/records/sent?kind=lucky'));
  check(records, await sender.get('/records/sent?kind=x'));
});

test('fields have the limits of the site in words where JSON Schema has none', async () => {
  const { limits } = (await sender.get('/send')).json;
  const form = (id) => operations.find((one) => one.operationId === id).requestBody.content[FORM].schema;
  const yuan = (fen) => (fen / 100).toFixed(2);
  const wanted = { greeting: `${limits.greeting_max} characters`, phrase: '20 characters', to: 'at most 100',
    share_min: `at most ${yuan(limits.share_fen_max)}`, amount: `at most ${yuan(limits.packet_fen_max)}` };
  const fields = form('send').properties;
  for (const [name, limit] of Object.entries(wanted)) assert.ok(fields[name].description.includes(limit), fields[name].description);
  assert.match(form('makeToken').properties.name.description, /32 characters/);
  assert.deepEqual(form('makeToken').required, ['name', 'days', 'password']);
  const boxes = await sender.post('/account/tokens', { name: '三'.repeat(32), scope_read: '1', days: '1', password: PASSWORD });
  assert.equal(boxes.status, 201, boxes.text);
  for (const [path, fields] of [['/send', { amount: '1', count: '1', phrase: '三'.repeat(21) }],
    ['/account/tokens', { name: '三'.repeat(33), scope_read: '1', days: '1' }], ['/account/tokens', { name: 'x', days: '1' }]]) {
    assert.equal((await sender.post(path, fields)).status, 422, path);
  }
});
