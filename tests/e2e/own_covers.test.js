// Covers of one's own: uploaded with and without JavaScript, sent, seen by a guest on a phone, removed; whose they are; and what
// is refused.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { sql } from './support/mysql.js';
import { Client, clientPage, launch, newUser, poll, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { landscape, upload } from './support/upload.js';

const COVERS_MAX = 6;
const PHOTO = readFileSync(new URL('../support/pictures/turned.jpg', import.meta.url));
const HTML = { accept: 'text/html' };
const SEA = landscape(0);

let browser;
before(async () => { browser = await launch(); });
after(async () => {
  await browser?.close();
  await site.allUp();
});

const order = (fields) => ({ kind: 'even', amount: '0.01', count: '2', request_key: unique('k'), ...fields });
const rowsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM cover WHERE user_id = ${id}`));
const packetsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM packet WHERE sender_id = ${id}`));
const fetched = async (path) => {
  const answer = await fetch(site.url + path);
  return { status: answer.status, headers: answer.headers, bytes: Buffer.from(await answer.arrayBuffer()) };
};

// { name, cover, cover_url } of a new cover.
async function added(user, picture = SEA) {
  const answer = await upload(user.client, '/covers', picture);
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

const sent = async (user, fields) => {
  const answer = await user.client.post('/send', order(fields));
  assert.equal(answer.status, 201, answer.text);
  return answer.json.id;
};

// Whether the picture over the flap is drawn, and within the face of its envelope.
const drawn = (page, selector) => poll(`${selector} is drawn`, () => page.locator(selector).first().evaluate((image) => image.complete && image.naturalWidth > 0));

test('a cover is a small picture of five to three, without what the file said besides its pixels', async () => {
  const user = await newUser();
  const cover = await added(user, landscape(1, { width: 2000, height: 2000 }));
  assert.match(cover.name, /^@[0-9a-z]{26}$/);
  assert.deepEqual([cover.cover, cover.cover_url], ['own', `/picture/${cover.name.slice(1)}.webp`]);
  const picture = await fetched(cover.cover_url);
  assert.equal(picture.status, 200);
  assert.equal(picture.headers.get('content-type'), 'image/webp');
  assert.match(picture.headers.get('content-security-policy'), /sandbox/);
  assert.equal(picture.bytes.subarray(8, 16).toString(), 'WEBPVP8 ');
  assert.deepEqual([picture.bytes.readUInt16LE(26), picture.bytes.readUInt16LE(28)], [720, 432]);
  assert.ok(picture.bytes.length <= 30 << 10, `${picture.bytes.length} bytes`);
  const photo = await added(user, PHOTO);
  assert.doesNotMatch((await fetched(photo.cover_url)).bytes.toString('latin1'), /exif|gps|secret|xmp|iccp/i);
  assert.deepEqual((await user.client.get('/covers')).json.covers.map(({ name }) => name), [photo.name, cover.name]);
});

for (const javaScriptEnabled of [true, false]) {
  test(`from the form: a picture, the packet, its envelope for a guest on a phone; JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
    const user = await newUser({ yuan: '10' });
    const page = await clientPage(browser, user.client, { locale: 'zh-CN', javaScriptEnabled });
    const problems = [];
    page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
    await page.goto(`${site.url}/send`);
    await page.click('.tile[href="/covers?sending=1"]');
    await page.setInputFiles('#picture', { name: 'sea.png', mimeType: 'image/png', buffer: SEA });
    await page.click('form[action="/covers"] button');
    await page.waitForURL(/\/send\?cover=/);
    const [{ name, cover_url }] = (await user.client.get('/covers')).json.covers;
    assert.ok(await page.isChecked(`[name=cover][value="${name}"]`));
    await drawn(page, `.tile img[src="${cover_url}"]`);
    if (javaScriptEnabled) {
      const photo = page.locator('[data-envelope] .photo');
      assert.equal(await photo.getAttribute('src'), cover_url);
      await page.check('[name=cover][value=birthday]', { force: true });
      assert.ok(await photo.isHidden());
      assert.match(await page.getAttribute('[data-envelope] .flap', 'src'), /#birthday$/);
      await page.check(`[name=cover][value="${name}"]`, { force: true });
      assert.match(await page.getAttribute('[data-envelope]', 'class'), /cover-own/);
      assert.equal(await photo.getAttribute('src'), cover_url);
    }
    await page.check('[name=kind][value=even]', { force: true });
    await page.fill('[name=amount]', '0.01');
    await page.fill('[name=count]', '2');
    await page.click('form[action="/send"] button[type=submit]');
    await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
    await drawn(page, `.cover-own .flap.photo[src="${cover_url}"]`);
    const phone = await browser.newContext({ javaScriptEnabled, viewport: { width: 390, height: 844 } });
    const guest = await phone.newPage();
    await guest.goto(page.url());
    const shown = guest.locator(`.envelope.cover-own .flap.photo[src="${cover_url}"]`);
    await drawn(guest, `.envelope.cover-own .flap.photo[src="${cover_url}"]`);
    const [photo, face] = [await shown.boundingBox(), await guest.locator('.face').boundingBox()];
    assert.deepEqual([photo.x, photo.y, photo.width].map(Math.round), [face.x, face.y, face.width].map(Math.round));
    assert.ok(Math.abs(photo.height - photo.width * 0.6) < 1);
    const json = (await new Client().get(new URL(page.url()).pathname)).json;
    assert.deepEqual([json.cover, json.cover_url], ['own', cover_url]);
    assert.deepEqual(problems, []);
    await page.context().close();
    await phone.close();
  });
}

test('everywhere the envelope is, the picture is: home, packet, invitation, poster, screen; the picture to share is plain', async () => {
  const [user, friend] = [await newUser({ yuan: '10' }), await newUser()];
  const { name, cover_url } = await added(user);
  const id = await sent(user, { cover: name, to: friend.username, count: '1' });
  const image = `<img class="flap photo" src="${cover_url}"`;
  for (const [client, path, html] of [
    [friend.client, '/', image],
    [user.client, `/p/${id}`, image],
    [user.client, `/p/${id}/poster`, image],
    [new Client(), `/login?next=/p/${id}`, image],
    [user.client, `/p/${id}/screen`, `<img class="corner" src="${cover_url}"`],
  ]) assert.ok((await client.getHtml(path)).text.includes(html), path);
  assert.equal((await friend.client.get('/')).json.inbox.find(({ packet }) => packet === id).cover_url, cover_url);
  const [card, plain] = await Promise.all([id, await sent(user, { to: friend.username, count: '1' })].map((one) => fetched(`/p/${one}/card.png`)));
  assert.equal(card.status, 200);
  assert.equal(plain.status, 200);
});

test('removal takes the picture away, and the envelope is the plain red one, without a broken image', async () => {
  const user = await newUser({ yuan: '10' });
  const [seen, unseen] = [await added(user, landscape(2)), await added(user, landscape(4, { width: 801 }))];
  const id = await sent(user, { cover: unseen.name });
  assert.equal((await user.client.post(`/covers/${unseen.name.slice(1)}/delete`)).status, 204);
  assert.equal((await fetched(unseen.cover_url)).status, 404, 'nobody else has it, and no cache');
  const page = await clientPage(browser, user.client, { javaScriptEnabled: false });
  await page.goto(`${site.url}/p/${id}`);
  assert.deepEqual(await page.locator('.face .flap').evaluateAll((images) => images.map(({ naturalWidth }) => naturalWidth > 0)), [true, false]);
  assert.match(await page.locator('.face .flap').first().getAttribute('src'), /#own$/);
  assert.equal(await page.locator('.face .photo').evaluate((image) => image.getBoundingClientRect().height), 0, 'nor a broken image');
  assert.equal((await fetched(`/p/${id}/card.png`)).status, 200);
  await page.goto(`${site.url}/send?again=${id}`);
  assert.ok(await page.isChecked('[name=cover][value=plain]'), 'what is gone is not sent again');
  await page.goto(`${site.url}/covers`);
  await page.click('main summary');
  await page.click(`form[action="/covers/${seen.name.slice(1)}/delete"] button`);
  await page.waitForURL(/\/covers\?removed=1$/);
  assert.equal(await rowsOf(user), 0);
  await page.context().close();
  assert.equal((await user.client.post(`/covers/${seen.name.slice(1)}/delete`)).status, 204, 'a repeat changes nothing');
});

test('another one’s cover, and one that is gone, are refused at the field, alike, and nothing is sent', async () => {
  const [user, stranger] = [await newUser({ yuan: '10' }), await newUser({ yuan: '10' })];
  const { name } = await added(user);
  const nobodys = `@${'0'.repeat(26)}`;
  for (const cover of [name, nobodys]) {
    const refused = await stranger.client.post('/send', order({ cover }), { 'accept-language': 'en' });
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.json.errors, [{ field: 'cover', message: words('en', 'cover_gone') }]);
    for (const language of LANGUAGES) {
      const page = await stranger.client.postHtml('/send', order({ cover }), { 'accept-language': language });
      assert.equal(page.status, 422);
      assert.ok(page.text.includes(`<p class="wrong" id="cover_error">${words(language, 'cover_gone')}</p>`));
      assert.ok(!page.text.includes(name.slice(1)) || page.text.includes('/language'), 'no picture of another one');
      assert.ok(!page.text.includes(`/picture/${name.slice(1)}`));
    }
  }
  assert.equal(await packetsOf(stranger), 0);
  assert.equal((await stranger.client.get('/wallet')).json.balance_fen, 1000);
  assert.deepEqual((await stranger.client.get('/covers')).json.covers, []);
  assert.equal((await stranger.client.post(`/covers/${name.slice(1)}/delete`)).status, 204);
  assert.equal(await rowsOf(user), 1, 'a stranger removes nothing');
  assert.ok(!(await stranger.client.getHtml(`/send?cover=${encodeURIComponent(name)}`)).text.includes(`/picture/${name.slice(1)}`));
});

test('an order with a cover is one order: repeated it finds its packet, also after the cover is gone', async () => {
  const user = await newUser({ yuan: '10' });
  const { name } = await added(user);
  const fields = order({ cover: name });
  const first = await user.client.post('/send', fields);
  assert.equal(first.status, 201);
  assert.equal((await user.client.post('/send', { ...fields, cover: 'plain' })).status, 422);
  await user.client.post(`/covers/${name.slice(1)}/delete`);
  assert.equal((await user.client.post('/send', fields)).json.id, first.json.id);
  assert.equal(await packetsOf(user), 1);
});

test('sent again, a packet keeps a cover that is still there; finished ones show it from memory and from MySQL', async () => {
  const user = await newUser({ yuan: '10' });
  const { name, cover_url } = await added(user);
  const id = await sent(user, { cover: name, count: '1' });
  assert.match((await user.client.getHtml(`/send?again=${id}`)).text, new RegExp(`value="${name}"[^>]* checked`));
  const opened = await (await newUser()).client.post(`/p/${id}/open`);
  assert.equal(opened.status, 200);
  for (let i = 0; i < 20; i += 1) assert.equal((await user.client.get(`/p/${id}`)).json.cover_url, cover_url);
});

test('a seventh is refused, the same picture twice is one, and a deleted account leaves none', async () => {
  const user = await newUser();
  for (let i = 0; i < COVERS_MAX; i += 1) await added(user, landscape(i, { width: 60, height: 40 }));
  await added(user, landscape(0, { width: 60, height: 40 }));
  assert.equal(await rowsOf(user), COVERS_MAX);
  const seventh = landscape(6, { width: 60, height: 40 });
  const refused = await upload(user.client, '/covers', seventh, { 'accept-language': 'en' });
  assert.equal(refused.status, 422);
  assert.equal(refused.json.errors[0].field, 'picture');
  assert.match(refused.json.errors[0].message, new RegExp(`up to ${COVERS_MAX} covers`));
  assert.equal(await rowsOf(user), COVERS_MAX);
  const exported = JSON.parse((await user.client.get('/account/export')).text);
  assert.equal(exported.covers.length, COVERS_MAX);
  assert.match(exported.covers[0].cover_url, /^\/picture\/[0-9a-z]{26}\.webp$/);
  const left = await user.client.post('/account/delete', { username: user.username, password: user.password });
  assert.equal(left.status, 204, left.text);
  assert.equal(await rowsOf(user), 0);
});

test('what is no picture, too large, or a bomb is refused beside the field', async () => {
  const user = await newUser();
  const bomb = Buffer.from(landscape(0, { width: 10, height: 10 }));
  bomb.writeUInt32BE(50_000, 16);
  bomb.writeUInt32BE(50_000, 20);
  for (const [picture, word] of [
    [Buffer.from('no picture'), 'picture_unreadable'],
    [bomb, 'picture_unreadable'],
    [PHOTO.subarray(0, 300), 'picture_unreadable'],
    [Buffer.alloc(0), 'picture_missing'],
    [Buffer.concat([PHOTO, Buffer.alloc(4 << 20)]), 'picture_large'],
    [Buffer.alloc(7 << 20), 'picture_large'], // nginx does not read it to its end
  ]) {
    const said = await upload(user.client, '/covers', picture, { ...HTML, 'accept-language': 'en' }, { sending: '1' });
    assert.equal(said.status, 422, word);
    assert.ok(said.text.includes(words('en', word)), word);
    assert.match(said.text, /id="picture"[^>]* aria-invalid="true"/);
    assert.equal((await upload(user.client, '/covers', picture)).json.errors[0].field, 'picture');
    if (word === 'picture_unreadable') assert.match(said.text, /name="sending" value="1"/, 'the way back to the form is kept');
  }
  assert.equal(await rowsOf(user), 0);
});

test('guests, other sites and tokens do nothing here', async () => {
  const user = await newUser();
  const { name } = await added(user);
  const elsewhere = { origin: 'http://elsewhere.example', 'sec-fetch-site': 'cross-site' };
  assert.equal((await new Client().get('/covers')).status, 401);
  assert.equal((await upload(new Client(), '/covers', PHOTO)).status, 401);
  assert.equal((await upload(user.client, '/covers', PHOTO, elsewhere)).status, 403);
  assert.equal((await user.client.post(`/covers/${name.slice(1)}/delete`, {}, elsewhere)).status, 403);
  assert.equal((await new Client().post(`/covers/${name.slice(1)}/delete`)).status, 401);
  assert.equal(await rowsOf(user), 1);
  for (const key of ['x', `${'u'.repeat(26)}`, name]) assert.equal((await user.client.post(`/covers/${key}/delete`)).status, 404, key);
});

test('while MariaDB is away nothing is added and nothing is sent, and a repeat works', async () => {
  const user = await newUser({ yuan: '1' });
  const { name } = await added(user);
  const fields = order({ cover: name });
  await site.dev('stop', 'mariadb');
  try {
    assert.equal((await upload(user.client, '/covers', PHOTO)).status, 503);
    assert.equal((await user.client.post('/send', fields)).status, 503);
  } finally {
    await site.allUp();
  }
  await poll('a repeat works', async () => (await upload(user.client, '/covers', PHOTO)).status === 201);
  assert.equal((await user.client.post('/send', fields)).status, 201);
  assert.equal(await packetsOf(user), 1);
});
