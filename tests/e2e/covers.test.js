// Covers: the drawn ones, and users' own pictures, which are uploaded with and without JavaScript, sent, seen by a
// guest on a phone, and removed.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { consoleErrors, fileBrowser } from './support/browser.js';
import { fetched } from './support/client.js';
import { unfold } from './support/forms.js';
import { sql } from './support/mysql.js';
import { Client, newUser, poll, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { landscape, noise, upload } from './support/upload.js';
import { clientPage, pageAt, testScripts } from './support/visits.js';

const COVERS_MAX = 6;
const PHOTO = readFileSync(new URL('../support/pictures/turned.jpg', import.meta.url));
const HTML = { accept: 'text/html' };
const SEA = landscape(0);

const browser = fileBrowser();

const order = (fields) => ({ kind: 'even', amount: '0.01', count: '2', request_key: unique('k'), ...fields });
const rowsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM cover WHERE user_id = ${id}`));
const packetsOf = async ({ id }) => Number(await sql(`SELECT COUNT(*) FROM packet WHERE sender_id = ${id}`));

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

// The colour of the flap, beside its art, in a picture to share: [red, green, blue].
async function flapOf({ bytes }) {
  const page = await browser.newPage();
  const colour = await page.evaluate(async (url) => {
    const picture = await createImageBitmap(await (await fetch(url)).blob());
    const context = new OffscreenCanvas(picture.width, picture.height).getContext('2d');
    context.drawImage(picture, 0, 0);
    return [...context.getImageData(picture.width / 5, picture.height / 9, 1, 1).data].slice(0, 3);
  }, `data:image/png;base64,${bytes.toString('base64')}`);
  await page.close();
  return colour;
}
const isRed = ([red, green, blue]) => red > 150 && green < 70 && blue < 70;

// Whether the picture over the flap is drawn, and within the face of its envelope.
const drawn = (page, selector) => poll(`${selector} is drawn`, () => page.locator(selector).first().evaluate((image) => image.complete && image.naturalWidth > 0));

testScripts('a drawn cover is chosen by keyboard and shown on the envelope', async ({ javaScriptEnabled }) => {
  const sender = await newUser({ yuan: '10' });
  const page = await clientPage(browser, sender.client, { locale: 'zh-CN', javaScriptEnabled });
  const problems = consoleErrors(page);
  await page.goto(`${site.url}/send`);
  await page.check('[name=kind][value=even]', { force: true });
  await page.fill('[name=amount]', '0.01');
  await page.fill('[name=count]', '2');
  await page.focus('[name=cover]:checked');
  for (let i = 0; i < 3; i += 1) await page.keyboard.press('ArrowDown');
  assert.ok(await page.isChecked('[name=cover][value=birthday]'));
  if (javaScriptEnabled) {
    assert.equal(await page.getAttribute('[name=greeting]', 'placeholder'), '生日快乐，天天开心');
    assert.equal(await page.textContent('[data-envelope] .greeting'), '生日快乐，天天开心');
    assert.match(await page.getAttribute('[data-envelope] .flap', 'src'), /#birthday$/);
  }
  await page.click('form[action="/send"] button[type=submit]');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  assert.match(await page.innerText('.greeting'), /生日快乐，天天开心/);
  const guest = await clientPage(browser, null, { javaScriptEnabled });
  await guest.goto(page.url());
  const files = [[page, /\/covers\.[0-9a-f]+\.svg#birthday$/], [guest, /\/flap-birthday\.[0-9a-f]+\.svg$/]];
  for (const [one, file] of files) {
    const flap = await one.waitForSelector('.cover-birthday img.flap');
    assert.match(await flap.getAttribute('src'), file);
    assert.ok(await flap.evaluate((image) => image.complete && image.naturalWidth > 0));
  }
  assert.deepEqual(problems, []);
});

test('a cover is a small picture of five to three, without what the file said besides its pixels', async () => {
  const user = await newUser();
  const cover = await added(user, landscape(1, { width: 1200, height: 1200 }));
  assert.match(cover.name, /^@[0-9a-z]{26}$/);
  assert.deepEqual([cover.cover, cover.cover_url], ['own', `/picture/${cover.name.slice(1)}.webp`]);
  const picture = await fetched(cover.cover_url);
  assert.deepEqual([picture.status, picture.headers.get('content-type')], [200, 'image/webp']);
  assert.match(picture.headers.get('content-security-policy'), /sandbox/);
  assert.equal(picture.bytes.subarray(8, 16).toString(), 'WEBPVP8 ');
  assert.deepEqual([picture.bytes.readUInt16LE(26), picture.bytes.readUInt16LE(28)], [720, 432]);
  assert.ok(picture.bytes.length <= 30 << 10, `${picture.bytes.length} bytes`);
  const photo = await added(user, PHOTO);
  assert.doesNotMatch((await fetched(photo.cover_url)).bytes.toString('latin1'), /exif|gps|secret|xmp|iccp/i);
  assert.deepEqual((await user.client.get('/covers')).json.covers.map(({ name }) => name), [photo.name, cover.name]);
});

testScripts('from the form: a picture, the packet, its envelope for a guest on a phone', async ({ javaScriptEnabled }) => {
  const user = await newUser({ yuan: '10' });
  const page = await clientPage(browser, user.client, { locale: 'zh-CN', javaScriptEnabled });
  const problems = consoleErrors(page);
  await page.goto(`${site.url}/send`);
  await page.check('[name=kind][value=even]', { force: true });
  await page.fill('[name=amount]', '0.01');
  await page.fill('[name=count]', '2');
  await page.fill('[name=greeting]', '百年好合 & 早生贵子');
  await page.check('[name=cover][value=wedding]', { force: true });
  await unfold(page, 'phrase');
  await page.fill('[name=phrase]', 'a secret phrase');
  await page.click(javaScriptEnabled ? '.tile.add' : '[name=covers]');
  await page.waitForURL(/\/covers\?next=/);
  assert.doesNotMatch(page.url(), /secret/);
  await page.setInputFiles('#picture', { name: 'sea.png', mimeType: 'image/png', buffer: SEA });
  await page.click('form[action="/covers"] button');
  await page.waitForURL(/\/send\?.*cover=%40/);
  assert.ok(await page.isChecked('[name=kind][value=even]'));
  assert.deepEqual(await Promise.all(['amount', 'count', 'greeting', 'phrase'].map((field) => page.inputValue(`[name=${field}]`))),
    ['0.01', '2', '百年好合 & 早生贵子', javaScriptEnabled ? 'a secret phrase' : '']);
  assert.equal(await page.locator('.retype').isVisible(), !javaScriptEnabled, 'what is lost, as a passphrase is in no address');
  assert.doesNotMatch(page.url(), /secret/);
  assert.equal(await page.evaluate(() => sessionStorage.getItem('phrase')), null, 'kept for the way alone');
  assert.equal(await packetsOf(user), 0, 'nothing was sent');
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
  await phone.close();
});

testScripts('Enter in a field sends the packet, as if there were no picture to choose', async ({ javaScriptEnabled }) => {
  const user = await newUser({ yuan: '10' });
  const page = await pageAt(browser, user.client, '/send', { javaScriptEnabled });
  await page.fill('[name=amount]', '1');
  await page.fill('[name=count]', '1');
  await page.press('[name=count]', 'Enter');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
});

test('the way back to the form: of a removal, of a cover that is there, and nowhere else', async () => {
  const user = await newUser();
  const { name } = await added(user);
  const next = '/send?kind=even&cover=wedding&amount=1';
  const page = (await user.client.getHtml(`/covers?next=${encodeURIComponent(next)}`)).text;
  const back = `/send?kind=even&cover=%40${name.slice(1)}&amount=1#cover`;
  assert.ok(page.includes(`href="${back.replaceAll('&', '&amp;')}"`), page);
  assert.match((await user.client.getHtml(back.replace('#cover', ''))).text, new RegExp(`value="${name}"[^>]* checked`));
  assert.equal(page.split(`name="next" value="${next.replaceAll('&', '&amp;')}"`).length, 3, 'in both forms');
  const added_next = await upload(user.client, '/covers', PHOTO, HTML, { next });
  assert.equal(added_next.headers.get('location').replace(/%40[0-9a-z]{26}/, '%40'), '/send?kind=even&cover=%40&amount=1#cover');
  assert.match((await upload(user.client, '/covers', PHOTO, HTML, { next: '/send?amount=1' })).headers.get('location'), /^\/send\?amount=1&cover=%40/);
  assert.match((await upload(user.client, '/covers', PHOTO, HTML, { next: '/send' })).headers.get('location'), /^\/send\?cover=%40[0-9a-z]{26}#cover$/);
  for (const other of ['/wallet', '//evil.example/send', '/sendmail', '/send\\x', '']) {
    const elsewhere = await upload(user.client, '/covers', SEA, HTML, { next: other });
    assert.equal(elsewhere.headers.get('location'), '/covers?saved=1', other);
    const page = (await user.client.getHtml(`/covers?next=${encodeURIComponent(other)}`)).text;
    assert.equal(page.split('name="next"').length, 2, `${other}: of the language alone`);
  }
  const removed = await user.client.postHtml(`/covers/${name.slice(1)}/delete`, { next });
  assert.equal(removed.headers.get('location'), '/covers?removed=1&next=/send%3Fkind%3Deven%26cover%3Dwedding%26amount%3D1');
});

test('of a tall picture the wanted part is kept, and without a wish one near the top', async () => {
  const user = await newUser();
  const tall = landscape(3, { width: 300, height: 900 });
  const names = [];
  for (const part of ['top', 'middle', 'bottom', 'auto', undefined, 'sideways']) {
    const answer = await upload(user.client, '/covers', tall, {}, part ? { part } : {});
    assert.equal(answer.status, 201, answer.text);
    names.push(answer.json.name);
  }
  assert.equal(new Set(names.slice(0, 4)).size, 4);
  assert.deepEqual(names.slice(4), [names[3], names[3]]);
});

// The colour of the preview at a height from 0 to 1: [red, green, blue].
const shown = (page, height) => page.locator('canvas').evaluate((canvas, at) => [...canvas.getContext('2d')
  .getImageData(canvas.width / 4, Math.floor((canvas.height - 1) * at), 1, 1).data].slice(0, 3), height);
const choose = async (page, picture, mimeType = 'image/png') => {
  await page.setInputFiles('#picture', { name: 'picture', mimeType, buffer: picture });
  await poll('the picture was read', () => page.locator('main form[data-picture] [type=submit]').isEnabled());
};

test('what is chosen is seen as it will be, and the part that is kept can be chosen', async () => {
  const user = await newUser();
  const page = await clientPage(browser, user.client, { locale: 'zh-CN' });
  const problems = consoleErrors(page);
  await page.goto(`${site.url}/covers`);
  assert.ok(await page.isHidden('canvas'));
  assert.ok(await page.isHidden('[data-part]'));
  assert.ok(await page.isHidden('[data-picture] [type=submit]'), 'nothing is chosen');
  await choose(page, landscape(0, { width: 720, height: 432 }));
  assert.ok(await page.isVisible('canvas'));
  assert.ok(await page.isHidden('#slide'), 'nothing of it is left out');
  await choose(page, landscape(0, { width: 300, height: 900 }));
  assert.ok(await page.isVisible('#slide'));
  const isGround = ([red, green, blue]) => green > blue && green > red;
  assert.deepEqual([isGround(await shown(page, 0)), isGround(await shown(page, 1))], [false, false], 'the sky, where heads are');
  await page.focus('#slide');
  await page.keyboard.press('ArrowRight');
  assert.equal(await page.inputValue('#slide'), '18');
  const box = await page.locator('canvas').boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2, box.y - 4 * box.height, { steps: 4 });
  assert.deepEqual([isGround(await shown(page, 0.2)), isGround(await shown(page, 1))], [true, true]);
  await page.mouse.up();
  assert.equal(await page.inputValue('#slide'), '100');
  await page.click('form[action="/covers"] button');
  await page.waitForURL(/saved=1$/);
  const [{ name }] = (await user.client.get('/covers')).json.covers;
  const saved = await page.locator(`img[src="/picture/${name.slice(1)}.webp"]`).first().evaluate(async (image) => {
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.getContext('2d').drawImage(image, 0, 0, 10, 10);
    return [...canvas.getContext('2d').getImageData(5, 2, 1, 1).data].slice(0, 3);
  });
  assert.ok(isGround(saved), `the part that was seen: ${saved}`);
  await choose(page, PHOTO, 'image/jpeg'); // must be turned: then red and yellow are at the top
  const [red, green, blue] = await shown(page, 0);
  assert.ok(red > 200 && green < 60 && blue < 60, `${red} ${green} ${blue}`);
  assert.deepEqual(problems, []);
});

test('a photo above the limit is made smaller before it is sent, as a cover and as an avatar', async () => {
  const user = await newUser();
  const large = noise(1300, 1100);
  assert.ok(large.length > 4 << 20);
  assert.equal((await upload(user.client, '/covers', large)).status, 422);
  const page = await clientPage(browser, user.client, { locale: 'zh-CN' });
  for (const [path, done] of [['/covers', /saved=1$/], ['/account', /picture=set/]]) {
    await page.goto(site.url + path);
    await choose(page, large);
    const [size, type] = await page.locator('#picture').evaluate(({ files: [file] }) => [file.size, file.type]);
    assert.ok(size < 4 << 20, `${size} bytes`);
    assert.equal(type, 'image/jpeg');
    await page.click('form[data-picture] [type=submit]');
    await page.waitForURL(done);
  }
  assert.equal(await rowsOf(user), 1);
});

test('a file that the browser can’t read is refused at its field at once', async () => {
  const user = await newUser();
  const page = await pageAt(browser, user.client, '/covers', { locale: 'zh-CN' });
  await choose(page, SEA);
  await choose(page, Buffer.from('    ftypheic'), 'image/heic');
  assert.equal(await page.textContent('#picture_error'), words('zh-CN', 'picture_unreadable'));
  assert.equal(await page.getAttribute('#picture', 'aria-invalid'), 'true');
  assert.equal(await page.locator('#picture').evaluate(({ files }) => files.length), 0);
  assert.ok(await page.isHidden('canvas'));
  await choose(page, SEA);
  assert.equal(await page.textContent('#picture_error'), '');
  assert.equal(await page.getAttribute('#picture', 'aria-invalid'), null);
  assert.ok(await page.isVisible('canvas'));
});

test('everywhere the envelope is, the picture is: home, packet, login, poster, screen, opened, and the picture to share', async () => {
  const [user, friend] = [await newUser({ yuan: '10' }), await newUser()];
  const { name, cover_url } = await added(user);
  const id = await sent(user, { cover: name, to: friend.username, count: '1' });
  const image = `<img class="flap photo" src="${cover_url}"`;
  for (const [client, path, html] of [
    [friend.client, '/', image],
    [user.client, `/p/${id}`, image],
    [user.client, `/p/${id}/poster`, image],
    [new Client(), `/login?next=/p/${id}`, image],
    [user.client, `/p/${id}/screen`, `<img class="own" src="${cover_url}"`],
  ]) assert.ok((await client.getHtml(path)).text.includes(html), path);
  assert.equal((await friend.client.get('/')).json.inbox.find(({ packet }) => packet === id).cover_url, cover_url);
  assert.equal((await friend.client.post(`/p/${id}/open`)).status, 200);
  assert.ok((await friend.client.getHtml(`/p/${id}`)).text.includes(`<img class="photo" src="${cover_url}"`), 'the lining of the opened one');
  const [card, plain] = await Promise.all([id, await sent(user, { to: friend.username, count: '1' })].map((one) => fetched(`/p/${one}/card.png`)));
  assert.deepEqual([card.status, plain.status], [200, 200]);
  assert.deepEqual([isRed(await flapOf(card)), isRed(await flapOf(plain))], [false, true]);
  assert.ok(!isRed(await flapOf(await fetched(`/p/${id}/card.png?shape=tall`))));
});

test('removal takes the picture away, and the envelope is the plain red one, without a broken image', async () => {
  const user = await newUser({ yuan: '10' });
  const [seen, unseen] = [await added(user, landscape(2)), await added(user, landscape(4, { width: 801 }))];
  const id = await sent(user, { cover: unseen.name });
  assert.equal((await user.client.post(`/covers/${unseen.name.slice(1)}/delete`)).status, 204);
  assert.equal((await fetched(unseen.cover_url)).status, 404, 'nobody else has it, and no cache');
  const page = await pageAt(browser, user.client, `/p/${id}`, { javaScriptEnabled: false });
  assert.deepEqual(await page.locator('.face .flap').evaluateAll((images) => images.map(({ naturalWidth }) => naturalWidth > 0)), [true, false]);
  assert.match(await page.locator('.face .flap').first().getAttribute('src'), /#own$/);
  assert.equal(await page.locator('.face .photo').evaluate((image) => image.getBoundingClientRect().height), 0, 'nor a broken image');
  assert.ok(isRed(await flapOf(await fetched(`/p/${id}/card.png`))), 'nor on the picture to share');
  await page.goto(`${site.url}/send?again=${id}`);
  assert.ok(await page.isChecked('[name=cover][value=plain]'), 'what is gone is not sent again');
  await page.goto(`${site.url}/covers`);
  await page.click('main summary');
  await page.click(`form[action="/covers/${seen.name.slice(1)}/delete"] button`);
  await page.waitForURL(/\/covers\?removed=1$/);
  assert.equal(await rowsOf(user), 0);
  assert.equal((await user.client.post(`/covers/${seen.name.slice(1)}/delete`)).status, 204, 'a repeat changes nothing');
});

test('another one’s cover, and one that is gone, are refused at the field, alike, and nothing is sent', async () => {
  const [user, stranger] = [await newUser({ yuan: '10' }), await newUser({ yuan: '10' })];
  const { name } = await added(user);
  for (const cover of [name, `@${'0'.repeat(26)}`]) {
    const refused = await stranger.client.post('/send', order({ cover }), { 'accept-language': 'en' });
    assert.deepEqual([refused.status, refused.json.errors], [422, [{ field: 'cover', message: words('en', 'cover_gone') }]]);
    const page = await stranger.client.postHtml('/send', order({ cover }));
    assert.ok(page.text.includes(`<p class="wrong" id="cover_error">${words('zh-CN', 'cover_gone')}</p>`));
    assert.ok(!page.text.includes(`/picture/${name.slice(1)}`), 'no picture of another one');
  }
  assert.equal(await packetsOf(stranger), 0);
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

test('a refused picture keeps the way back to the form, and adds nothing', async () => {
  const user = await newUser();
  for (const [picture, word] of [[Buffer.from('no picture'), 'picture_unreadable'], [Buffer.alloc(7 << 20), 'picture_large']]) { // nginx does not read that to its end
    const said = await upload(user.client, '/covers', picture, { ...HTML, 'accept-language': 'en' }, { next: '/send?amount=1' });
    assert.deepEqual([said.status, said.text.includes(words('en', word))], [422, true], word);
    if (word === 'picture_unreadable') assert.match(said.text, /name="next" value="\/send\?amount=1"/);
  }
  assert.equal(await rowsOf(user), 0);
});
