// A picture of one's own as avatar: uploaded by curl and by a browser, seen by others, without what the file said besides its
// pixels; refused ones; and what is left of one that was removed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from './support/mysql.js';
import { Client, clientPage, launch, newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const run = promisify(execFile);
const PICTURES = join(dirname(fileURLToPath(import.meta.url)), '../support/pictures');
const FOLDER = mkdtempSync(join(tmpdir(), 'hongbao-picture-'));
const file = (name) => join(PICTURES, name);
const PHOTO = file('turned.jpg');

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  await site.allUp();
  rmSync(FOLDER, { recursive: true });
});

const made = (name, bytes) => {
  writeFileSync(join(FOLDER, name), bytes);
  return join(FOLDER, name);
};

// Uploads as curl does. { status, json, location }
async function upload(client, path, { field = 'picture', headers = ['accept: application/json'] } = {}) {
  const { stdout } = await run('curl', ['-s', '-w', '\n%{http_code} %{redirect_url}', '-H', `cookie: sid=${client.cookie('sid')}`,
    ...headers.flatMap((header) => ['-H', header]), '-F', `${field}=@${path}`, `${site.url}/account/picture`], { maxBuffer: 1 << 24 });
  const at = stdout.lastIndexOf('\n');
  const [status, location] = stdout.slice(at + 1).split(' ');
  const text = stdout.slice(0, at);
  return { status: Number(status), location, text, json: text.startsWith('{') ? JSON.parse(text) : undefined };
}

const setPicture = async (user, path = PHOTO) => {
  const answer = await upload(user.client, path);
  assert.equal(answer.status, 200, answer.text);
};
const addressIn = (html) => /\/picture\/[0-9a-z]{26}\.webp/.exec(html)?.[0];
const addressOf = async (user) => addressIn((await user.client.getHtml('/account')).text);
const fetched = async (path) => {
  const answer = await fetch(site.url + path);
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};
const rowsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM picture WHERE user_id = ${id}`));

test('a picture that curl has uploaded is served without what the file said besides its pixels', async () => {
  const user = await newUser();
  assert.match(readFileSync(PHOTO, 'latin1'), /GPS 31\.2304 N[\s\S]*secret camera/);
  await setPicture(user);
  const path = await addressOf(user);
  const picture = await fetched(path);
  assert.equal(picture.status, 200);
  assert.equal(picture.headers.get('content-type'), 'image/webp');
  assert.equal(picture.headers.get('x-content-type-options'), 'nosniff');
  assert.match(picture.headers.get('content-security-policy'), /sandbox/);
  assert.equal(picture.headers.get('cache-control'), 'public, max-age=86400');
  assert.equal(picture.bytes.subarray(8, 16).toString(), 'WEBPVP8 ');
  assert.doesNotMatch(picture.bytes.toString('latin1'), /exif|gps|secret|xmp|iccp/i);
});

test('other users see the picture in the list of a packet', async () => {
  const [sender, grabber] = [await newUser({ yuan: '2' }), await newUser({ nickname: 'Grabber' })];
  await setPicture(grabber);
  const path = await addressOf(grabber);
  const { id } = (await sender.client.post('/send', { kind: 'even', amount: '1', count: '2' })).json;
  assert.equal((await grabber.client.post(`/p/${id}/open`)).status, 200);
  assert.equal((await sender.client.post(`/p/${id}/open`)).status, 200);
  const page = await clientPage(browser, sender.client);
  await page.goto(`${site.url}/p/${id}`);
  const shown = page.locator(`.rows img[src="${path}"]`);
  await shown.scrollIntoViewIfNeeded();
  await poll('the picture is drawn', () => shown.evaluate((image) => image.complete && image.naturalWidth > 0));
  await page.context().close();
});

test('a browser uploads a picture, sees it, and removes it; without JavaScript, too', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const user = await newUser({ nickname: 'Zoe' });
    const page = await clientPage(browser, user.client, { javaScriptEnabled });
    await page.goto(`${site.url}/account`);
    await page.setInputFiles('#picture', file('sixteen.png'));
    await page.click('#own_picture form:first-of-type button');
    await page.waitForURL(/picture=set/);
    assert.ok(addressIn(await page.content()));
    await page.click('[action="/account/picture/delete"] button');
    await page.waitForURL(/picture=removed/);
    assert.equal(addressIn(await page.content()), undefined);
    assert.match(await page.locator('.me .avatar').first().textContent(), /Z/);
    await page.context().close();
  }
});

test('a refused upload says why beside the field, on the account page', async () => {
  const user = await newUser();
  const photo = readFileSync(PHOTO);
  const bomb = Buffer.from(readFileSync(file('sixteen.png')));
  bomb.writeUInt32BE(50_000, 16);
  bomb.writeUInt32BE(50_000, 20);
  const large = made('large.jpg', Buffer.concat([photo, Buffer.alloc(4 << 20)]));
  const larger = made('larger.jpg', Buffer.alloc(7 << 20));
  const cases = [
    [made('text.jpg', 'no picture'), 'picture_unreadable'],
    [made('cut.jpg', photo.subarray(0, 500)), 'picture_unreadable'],
    [made('bomb.png', bomb), 'picture_unreadable'],
    [made('page.svg', '<svg xmlns="http://www.w3.org/2000/svg"/>'), 'picture_unreadable'],
    [made('empty.jpg', ''), 'picture_missing'],
    [large, 'picture_large'],
    [larger, 'picture_large'], // nginx does not read it to its end
  ];
  for (const [path, word] of cases) {
    const { status, json } = await upload(user.client, path);
    assert.deepEqual([status, json?.errors?.[0].field], [422, 'picture'], `${path}: ${JSON.stringify(json)}`);
    for (const language of LANGUAGES) {
      const said = await upload(user.client, path, { headers: ['accept: text/html', `accept-language: ${language}`] });
      const message = words(language, word);
      assert.equal(said.status, 422);
      assert.ok(said.text.includes(message), `${path}: ${message}`);
      assert.match(said.text, /id="picture"[^>]* aria-invalid="true"/);
      assert.match(said.text, /<a href="#picture">/);
    }
  }
  assert.equal(await addressOf(user), undefined);
  assert.equal((await upload(user.client, PHOTO, { field: 'other' })).json.errors[0].field, 'picture');
});

test('bodies that are no form of this page are refused before anything is decoded', async () => {
  const { client } = await newUser();
  const post = (body, headers) => client.request('/account/picture', { method: 'POST', body, headers: { accept: 'application/json', ...headers } });
  assert.equal((await post('picture=x', { 'content-type': 'application/x-www-form-urlencoded' })).status, 415);
  assert.equal((await post('--B\r\nnonsense', { 'content-type': 'multipart/form-data; boundary=B' })).status, 400);
  assert.equal((await client.request('/account/nickname', { method: 'POST', body: '--B--', headers: { 'content-type': 'multipart/form-data; boundary=B' } })).status, 415);
  assert.equal((await client.request('/send', { method: 'POST', body: 'a'.repeat(20_000), headers: { 'content-type': 'application/x-www-form-urlencoded' } })).status, 413);
});

test('strangers, guests and tokens upload nothing', async () => {
  const user = await newUser();
  const guest = await upload(new Client({ sid: 'a'.repeat(43) }), PHOTO);
  assert.equal(guest.status, 401);
  const foreign = await upload(user.client, PHOTO, { headers: ['accept: application/json', 'origin: http://elsewhere.example', 'sec-fetch-site: cross-site'] });
  assert.equal(foreign.status, 403);
  assert.equal((await new Client().post('/account/picture/delete')).status, 401);
  assert.equal((await user.client.post('/account/picture/delete', {}, { origin: 'http://elsewhere.example', 'sec-fetch-site': 'cross-site' })).status, 403);
  assert.equal(await addressOf(user), undefined);
});

test('the same picture twice is one, another replaces it, and a deleted account leaves none', async () => {
  const user = await newUser();
  await setPicture(user, file('lossy.webp'));
  const first = await addressOf(user);
  await setPicture(user, file('lossy.webp'));
  assert.equal(await addressOf(user), first);
  await setPicture(user, file('grey.jpg'));
  const second = await addressOf(user);
  assert.notEqual(second, first);
  assert.equal((await fetched(first)).status, 404, 'nobody has asked for it before, so no cache has it');
  assert.equal(await rowsOf(user), 1);
  const left = await user.client.post('/account/delete', { username: user.username, password: user.password });
  assert.equal(left.status, 204, left.text);
  assert.equal(await rowsOf(user), 0);
  assert.equal((await fetched(second)).status, 404);
});

test('whoever chooses a drawn face or none leaves no picture, and a new name alone keeps it', async () => {
  for (const face of ['dragon', 'initial']) {
    const user = await newUser();
    await setPicture(user, file('grey.jpg'));
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红' })).status, 200);
    assert.ok(await addressOf(user));
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红', face: 'no-face' })).status, 422);
    assert.equal(await rowsOf(user), 1);
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红', face })).status, 200);
    assert.equal(await rowsOf(user), 0);
    assert.equal(await addressOf(user), undefined);
  }
});

test('while a store is away an upload is answered 503, and works when it is repeated', async () => {
  const user = await newUser();
  await site.dev('stop', 'mariadb');
  try {
    assert.equal((await upload(user.client, PHOTO)).status, 503);
  } finally {
    await site.allUp();
  }
  await poll('a repeat works', async () => (await upload(user.client, PHOTO)).status === 200);
  assert.ok(await addressOf(user));
});

test('names that are no hash are not found', async () => {
  for (const name of ['a.webp', `${'0'.repeat(26)}.webp`, `${'u'.repeat(26)}.webp`, `${'0'.repeat(26)}`, `${'0'.repeat(26)}.webp.webp`]) {
    assert.equal((await fetched(`/picture/${name}`)).status, 404, name);
  }
});
