// Covers: over HTTP, and in Chromium with and without JavaScript.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, clientPage, launch, newUser, site, unique } from './support/site.js';

const GREETINGS = {
  plain: ['恭喜发财，大吉大利', 'Joy and prosperity'],
  'spring-festival': ['新春快乐，万事如意', 'Happy Spring Festival'],
  'mid-autumn': ['中秋快乐，月圆人圆', 'Happy Mid-Autumn Festival'],
  birthday: ['生日快乐，天天开心', 'Happy birthday to you'],
  wedding: ['新婚快乐，百年好合', 'To a happy life together'],
  baby: ['欢迎小宝贝，健康快乐', 'Welcome, little one'],
  'new-job': ['前程似锦，步步高升', 'Good luck in the new job'],
  thanks: ['感谢有你，一路同行', 'Thank you so much'],
};

let browser;
let sender;
before(async () => {
  browser = await launch();
  sender = await newUser({ nickname: '阿红', yuan: '100' });
});
after(async () => { await browser?.close(); });

const order = (fields) => ({ kind: 'even', amount: '0.01', count: '2', request_key: unique('k'), ...fields });

for (const [name, greetings] of Object.entries(GREETINGS)) {
  test(`${name}: the packet shows its cover and, without another one, its greeting`, async () => {
    for (const [i, language] of ['zh-CN', 'en'].entries()) {
      const sent = await sender.client.post('/send', order({ cover: name }), { 'accept-language': language });
      assert.equal(sent.status, 201, sent.text);
      const packet = (await new Client().get(`/p/${sent.json.id}`)).json;
      assert.equal(packet.cover, name);
      assert.equal(packet.greeting, greetings[i]);
    }
  });
}

test('a packet without the field has the plain cover, and keeps a greeting that was written', async () => {
  const sent = await sender.client.post('/send', order({}));
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.cover, 'plain');
  const own = await sender.client.post('/send', order({ cover: 'birthday', greeting: '十八岁' }));
  assert.equal((await sender.client.get(`/p/${own.json.id}`)).json.greeting, '十八岁');
});

test('a finished packet keeps its cover, in memory and in MySQL', async () => {
  const grabber = await newUser({ nickname: '小明' });
  const sent = await sender.client.post('/send', order({ cover: 'wedding', count: '1' }));
  const path = `/p/${sent.json.id}`;
  assert.equal((await grabber.client.post(`${path}/open`)).status, 200);
  for (let i = 0; i < 20; i += 1) assert.equal((await grabber.client.get(path)).json.cover, 'wedding');
});

test('an unknown cover is refused beside its field, in JSON and in HTML', async () => {
  const refused = await sender.client.post('/send', order({ cover: 'easter' }));
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.json.errors.map(({ field }) => field), ['cover']);
  const page = await sender.client.postHtml('/send', order({ cover: 'easter', greeting: '你好' }));
  assert.equal(page.status, 422);
  assert.match(page.text, /<fieldset class="field" id="cover" [^>]*aria-describedby="cover_error"/);
  assert.match(page.text, /<p class="wrong" id="cover_error">请选择一种封面：plain, spring-festival, /);
  assert.match(page.text, />你好<\/textarea>/);
});

test('the same request key with another cover is another order', async () => {
  const fields = order({ cover: 'baby', greeting: 'x' });
  const first = await sender.client.post('/send', fields);
  assert.equal((await sender.client.post('/send', fields)).json.id, first.json.id);
  const other = await sender.client.post('/send', { ...fields, cover: 'thanks' });
  assert.equal(other.status, 422);
  assert.deepEqual(other.json.errors.map(({ field }) => field), ['request_key']);
});

for (const javaScriptEnabled of [true, false]) {
  test(`a cover is chosen by keyboard and shown on the envelope, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
    const page = await clientPage(browser, sender.client, { locale: 'zh-CN', javaScriptEnabled });
    const problems = [];
    page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
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
    const guest = await (await browser.newContext({ javaScriptEnabled })).newPage();
    await guest.goto(page.url());
    const files = [[page, /\/covers\.[0-9a-f]+\.svg#birthday$/], [guest, /\/flap-birthday\.[0-9a-f]+\.svg$/]];
    for (const [one, file] of files) {
      const flap = await one.waitForSelector('.cover-birthday img.flap');
      assert.match(await flap.getAttribute('src'), file);
      assert.ok(await flap.evaluate((image) => image.complete && image.naturalWidth > 0));
    }
    assert.deepEqual(problems, []);
    await page.context().close();
    await guest.context().close();
  });
}
