// A picture of one's own as avatar: uploaded by curl and by a browser, seen by others, without what the file said besides its
// pixels; refused ones; and what is left of one that was removed.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { fileBrowser } from './support/browser.js';
import { sql } from './support/mysql.js';
import { clientPage, newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

const run = promisify(execFile);
const PICTURES = join(dirname(fileURLToPath(import.meta.url)), '../support/pictures');
const FOLDER = mkdtempSync(join(tmpdir(), 'hongbao-picture-'));
const file = (name) => join(PICTURES, name);
const PHOTO = file('turned.jpg');

const browser = fileBrowser();
after(async () => {
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
  for (const [path, word] of [
    [made('cut.jpg', photo.subarray(0, 500)), 'picture_unreadable'],
    [made('empty.jpg', ''), 'picture_missing'],
    [made('large.jpg', Buffer.concat([photo, Buffer.alloc(4 << 20)])), 'picture_large'],
    [made('larger.jpg', Buffer.alloc(7 << 20)), 'picture_large'], // nginx does not read it to its end
  ]) {
    const { status, json } = await upload(user.client, path);
    assert.deepEqual([status, json?.errors?.[0].field], [422, 'picture'], `${path}: ${JSON.stringify(json)}`);
    for (const language of LANGUAGES) {
      const said = await upload(user.client, path, { headers: ['accept: text/html', `accept-language: ${language}`] });
      assert.deepEqual([said.status, said.text.includes(words(language, word))], [422, true], path);
      assert.match(said.text, /<a href="#picture">[^]*id="picture"[^>]* aria-invalid="true"/);
    }
  }
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
