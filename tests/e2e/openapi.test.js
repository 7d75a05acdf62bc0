// The description at /openapi.json is valid and true: every operation is called as in its example, with a session and
// with a token of its scope, and every answer is compared with its schema.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import formats from 'ajv-formats';
import Ajv from 'ajv/dist/2020.js';
import { reference } from './support/api_reference.js';
import { request } from './support/client.js';
import { env } from './support/instance.js';
import { FORM, call, described, packet, packetSender, prepared, takeUser, token, usersForCalls } from './support/operations.js';
import { Client, PASSWORD, site } from './support/site.js';
import { closeChannels } from './support/withdrawals.js';

const SCHEMAS = 'templates/openapi.json';

let doc; // the description
let operations; // [{ path, method, ...operation }]
let ajv;

// Forbids further members in the schemas' objects, so that a member without a description is found.
function closed(schema) {
  if (Array.isArray(schema)) return schema.map(closed);
  if (schema === null || typeof schema !== 'object') return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]));
  if ([copy.type].flat().includes('object') && copy.properties) copy.additionalProperties = false;
  return copy;
}

before(async () => {
  ({ doc, operations } = await described());
  ajv = new Ajv({ strict: false, allErrors: true });
  formats(ajv);
  ajv.addSchema({ ...doc, components: closed(doc.components) }, 'doc');
  await site.start('sso'); // which a site without an issuer has not
  await usersForCalls(5 * operations.length);
});

after(async () => {
  await closeChannels();
  await site.dev('stop', 'sso');
});

// This site has no issuer to lead to.
const isOfIssuer = ({ path }) => path.includes('/oidc');

const named = ({ operationId, method, path }) => `${operationId}, ${method} ${path}`;

// Checks that the answer has a status, a content type and members that the operation describes.
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

const scopesOf = ({ security }) => security.find((one) => one.token)?.token;
const isForService = ({ security }) => security.some((one) => one.service);
const needsUser = ({ security }) => security.length > 0 && !security.some((one) => Object.keys(one).length === 0);
const bearer = ({ token: text }) => ({ authorization: `Bearer ${text}` });

test('it is valid OpenAPI 3.1, say two validators', async () => {
  assert.equal(doc.openapi, '3.1.0');
  const { valid, errors } = await new Validator().validate(structuredClone(doc));
  assert.ok(valid, JSON.stringify(errors, null, 1));
  await SwaggerParser.validate(structuredClone(doc));
});

test('what is the same for everybody has a tag, and is sent compressed or not at all', async () => {
  for (const path of ['/openapi.json', '/.well-known/hongbao-receipt-keys']) {
    const [plain, packed] = await Promise.all(['identity', 'gzip'].map(async (encoding) => {
      const answer = await fetch(site.url + path, { headers: { 'accept-encoding': encoding } });
      return { status: answer.status, headers: answer.headers, text: await answer.text() };
    }));
    const tag = plain.headers.get('etag');
    assert.match(tag, /^W\/"[0-9a-f]+"$/, path);
    assert.match(plain.headers.get('cache-control'), /^public, max-age=/);
    assert.deepEqual([packed.status, packed.headers.get('etag'), packed.text], [200, tag, plain.text], path);
    assert.equal(packed.headers.get('content-encoding'), plain.text.length < 600 ? null : 'gzip', path);
    assert.equal((await request(path, { headers: { 'if-none-match': tag } })).status, 304, path);
  }
});

// HB_TEST_UPDATE_REFERENCE=1 writes the page.
test('docs/reference/api.md has the routes, fields and refusals of the program', () => {
  const page = join(dirname(env.HB_TEST_DEV), 'docs/reference/api.md');
  const text = readFileSync(page, 'utf8');
  const [mark] = /^<!-- From here on .*\n\n/m.exec(text);
  const wanted = text.slice(0, text.indexOf(mark)) + mark + reference(doc);
  if (process.env.HB_TEST_UPDATE_REFERENCE === '1') writeFileSync(page, wanted);
  else assert.equal(text, wanted, 'HB_TEST_UPDATE_REFERENCE=1 ./dev test e2e/openapi writes it');
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
    assert.ok(answer.status < 400 || (isOfIssuer(operation) && answer.status === 404), `${named(operation)}: ${answer.status} ${answer.text}`);
    check(operation, answer);
  }
});

test('every example works with a token of the scopes that it names, and with no other token', async () => {
  for (const operation of operations.filter((one) => one.security.length > 0 && !isForService(one))) {
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
    if (!isForService(operation)) {
      const foreign = await client.post(path, fields, { 'sec-fetch-site': 'cross-site' });
      assert.equal(foreign.status, 403, named(operation));
      check(operation, foreign);
    }
    const text = await client.postRaw(path, 'x', { 'content-type': 'text/plain' });
    assert.equal(text.status, 415, named(operation));
    check(operation, text);
  }
});

test('a packet that is finished or does not exist is answered as described', async () => {
  const [show, open] = ['packet', 'open'].map((id) => operations.find(({ operationId }) => operationId === id));
  const id = await packet();
  const [first, second, late, sender] = [takeUser(), takeUser(), takeUser(), packetSender()];
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
  const sender = packetSender();
  const { limits } = (await sender.get('/send')).json;
  const form = (id) => operations.find((one) => one.operationId === id).requestBody.content[FORM].schema;
  const yuan = (fen) => (fen / 100).toFixed(2);
  const wanted = { greeting: `${limits.greeting_max} characters`, phrase: '20 characters', to: 'at most 100',
    share_min: `at most ${yuan(limits.share_fen_max)}`, amount: `at most ${yuan(limits.packet_fen_max)}` };
  const fields = form('send').properties;
  for (const [name, limit] of Object.entries(wanted)) assert.ok(fields[name].description.includes(limit), fields[name].description);
  assert.match(form('makeToken').properties.name.description, /32 characters/);
  assert.deepEqual(form('makeToken').required, ['name', 'days']);
  const boxes = await sender.post('/account/tokens', { name: '三'.repeat(32), scope_read: '1', days: '1', password: PASSWORD });
  assert.equal(boxes.status, 201, boxes.text);
  for (const [path, fields] of [['/send', { amount: '1', count: '1', phrase: '三'.repeat(21) }],
    ['/account/tokens', { name: '三'.repeat(33), scope_read: '1', days: '1' }], ['/account/tokens', { name: 'x', days: '1' }]]) {
    assert.equal((await sender.post(path, fields)).status, 422, path);
  }
});
