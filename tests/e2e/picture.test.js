// A user's own picture as avatar: uploaded by curl and by a browser, seen by others, without any data of the file
// except its pixels; refused files; and what is left after removal.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { fileBrowser } from './support/browser.js';
import { fetched } from './support/client.js';
import { sql } from './support/mysql.js';
import { opened } from './support/packets.js';
import { run } from './support/run.js';
import { newUser, poll, site } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { upload } from './support/upload.js';
import { pageAt } from './support/visits.js';

const file = (name) => fileURLToPath(new URL(`../support/pictures/${name}`, import.meta.url));
const PHOTO = readFileSync(file('turned.jpg'));
const [OTHER, LOSSY] = ['grey.jpg', 'lossy.webp'].map((name) => readFileSync(file(name)));

const browser = fileBrowser();

const send = (user, picture, headers) => upload(user.client, '/account/picture', picture, headers);
const setPicture = async (user, picture = PHOTO) => {
  const answer = await send(user, picture);
  assert.equal(answer.status, 200, answer.text);
};
const addressIn = (html) => /\/picture\/[0-9a-z]{26}\.webp/.exec(html)?.[0];
const addressOf = async (user) => addressIn((await user.client.getHtml('/account')).text);
const rowsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM picture WHERE user_id = ${id}`));

test('a picture that curl has uploaded is served without what the file said besides its pixels', async () => {
  const user = await newUser();
  assert.match(PHOTO.toString('latin1'), /GPS 31\.2304 N[\s\S]*secret camera/);
  const { stdout } = await run('curl', ['-s', '-w', '%{http_code}', '-o', '/dev/null', '-H', 'accept: application/json',
    '-H', `cookie: sid=${user.client.cookie('sid')}`, '-F', `picture=@${file('turned.jpg')}`, `${site.url}/account/picture`]);
  assert.equal(stdout, '200');
  const path = await addressOf(user);
  const picture = await fetched(path);
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp']);
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
  await opened(grabber, `/p/${id}`);
  await opened(sender, `/p/${id}`);
  const page = await pageAt(browser, sender.client, `/p/${id}`);
  const shown = page.locator(`.rows img[src="${path}"]`);
  await shown.scrollIntoViewIfNeeded();
  await poll('the picture is drawn', () => shown.evaluate((image) => image.complete && image.naturalWidth > 0));
});

test('a browser uploads a picture, sees it, and removes it; without JavaScript, too', async () => {
  for (const javaScriptEnabled of [true, false]) {
    const user = await newUser({ nickname: 'Zoe' });
    const page = await pageAt(browser, user.client, '/account', { javaScriptEnabled });
    await page.setInputFiles('#picture', file('sixteen.png'));
    await page.click('#own_picture form:first-of-type button');
    await page.waitForURL(/picture=set/);
    assert.ok(addressIn(await page.content()));
    await page.click('[action="/account/picture/delete"] button');
    await page.waitForURL(/picture=removed/);
    assert.equal(addressIn(await page.content()), undefined);
    assert.match(await page.locator('.me .avatar').first().textContent(), /Z/);
  }
});

test('a refused upload says why beside the field, on the account page', async () => {
  const user = await newUser();
  for (const [what, picture, word] of [
    ['cut', PHOTO.subarray(0, 500), 'picture_unreadable'],
    ['empty', Buffer.alloc(0), 'picture_missing'],
    ['large', Buffer.concat([PHOTO, Buffer.alloc(4 << 20)]), 'picture_large'],
    ['larger', Buffer.alloc(7 << 20), 'picture_large'], // nginx does not read it to its end
  ]) {
    const { status, json } = await send(user, picture);
    assert.deepEqual([status, json?.errors?.[0].field], [422, 'picture'], what);
    for (const language of LANGUAGES) {
      const said = await send(user, picture, { accept: 'text/html', 'accept-language': language });
      assert.deepEqual([said.status, said.text.includes(words(language, word))], [422, true], what);
      assert.match(said.text, /<a href="#picture">[^]*id="picture"[^>]* aria-invalid="true"/);
    }
  }
  assert.equal(await addressOf(user), undefined);
});

test('the same picture twice is one, another replaces it, and a deleted account leaves none', async () => {
  const user = await newUser();
  await setPicture(user, LOSSY);
  const first = await addressOf(user);
  await setPicture(user, LOSSY);
  assert.equal(await addressOf(user), first);
  await setPicture(user, OTHER);
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
    await setPicture(user, OTHER);
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红' })).status, 200);
    assert.ok(await addressOf(user));
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红', face: 'no-face' })).status, 422);
    assert.equal(await rowsOf(user), 1);
    assert.equal((await user.client.post('/account/nickname', { nickname: '小红', face })).status, 200);
    assert.equal(await rowsOf(user), 0);
    assert.equal(await addressOf(user), undefined);
  }
});
