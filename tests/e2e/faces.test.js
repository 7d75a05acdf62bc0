// The drawn avatars: a user chooses one, others see it wherever the user is shown, and no text has it beside the nickname.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sql } from './support/mysql.js';
import { opened, sentPath, settled } from './support/packets.js';
import { audit, newUser, sendPacket, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testVisitors } from './support/visits.js';

const TAG = /[\u{e0000}-\u{e007f}]/u; // the characters that carry a face in Redis

const browser = fileBrowser();

async function faced(nickname, face, yuan) {
  const user = await newUser({ nickname, yuan });
  const chosen = await user.client.post('/account/nickname', { nickname, face });
  assert.equal(chosen.status, 200, chosen.text);
  return { ...user, nickname };
}

const html = async ({ client }, path) => {
  const { status, text } = await client.getHtml(path);
  assert.equal(status, 200, path);
  assert.doesNotMatch(text, TAG, path);
  return text;
};
// How many times a page shows the face.
const shows = async (user, path, face) => (await html(user, path)).split(new RegExp(`/static/avatars\\.[0-9a-f]{10}\\.svg#${face}"`)).length - 1;

const grab = async (user, path) => {
  await opened(user, path);
  await settled(user, path);
};

test('a face is one of the drawn ones or the initial, and only its owner chooses it', async () => {
  const user = await newUser({ nickname: '小明' });
  assert.equal((await user.client.get('/account')).json.face, null);
  for (const face of ['unicorn', '@0123456789abcdef', 'Rabbit', 'rat,ox', '1']) {
    const refused = await user.client.post('/account/nickname', { nickname: '小明', face });
    assert.deepEqual([refused.status, refused.json.errors?.[0].field], [422, 'face'], face);
  }
  const page = await user.client.postHtml('/account/nickname', { nickname: '小明', face: 'unicorn' });
  assert.equal(page.status, 422);
  assert.match(page.text, /href="#face"/);
  const foreign = await user.client.post('/account/nickname', { nickname: '小明', face: 'ox' }, { 'sec-fetch-site': 'cross-site' });
  assert.equal(foreign.status, 403);
  assert.equal((await user.client.get('/account')).json.face, null);

  const posted = await user.client.postHtml('/account/nickname', { nickname: '小明', face: 'ox' });
  assert.deepEqual([posted.status, posted.headers.get('location')], [303, '/account?saved=1']);
  const { id, nickname, face } = (await user.client.get('/account')).json;
  assert.deepEqual([id, nickname, face], [user.id, '小明', 'ox']);
  assert.equal((await user.client.post('/account/nickname', { nickname: '小明' })).status, 200);
  assert.equal((await user.client.get('/account')).json.face, 'ox', 'a form without faces leaves it');
  assert.equal(await shows(user, '/wallet', 'ox'), 1, 'in the header');
  await user.client.post('/account/nickname', { nickname: '小明', face: 'initial' });
  assert.equal(await shows(user, '/wallet', 'ox'), 0);
  assert.equal((await user.client.get('/account')).json.face, null);
});

test('others see it wherever the user is shown, and every text has the nickname alone', async () => {
  const sender = await faced('阿红', 'horse', '20');
  const friend = await faced('小,明', 'rabbit');
  const plain = await newUser({ nickname: '朴素' });
  const { id, screen_url: screen } = (await sender.client.get(await sentPath(sender, { kind: 'even', amount: '1', count: '3' }))).json;
  const path = `/p/${id}`;
  await grab(friend, path);
  await grab(plain, path);
  assert.equal((await friend.client.post(`${path}/thanks`, { text: '谢谢' })).status, 200);
  assert.equal((await friend.client.post(`/p/${id}/thanks`, { text: '谢谢' })).status, 200);
  await audit();

  assert.deepEqual([await shows(plain, path, 'horse'), await shows(plain, path, 'rabbit')], [1, 1], 'the sender, and the list');
  assert.equal(await shows(sender, '/', 'rabbit'), 1, 'thanks');
  assert.equal(await shows(friend, '/records/received', 'horse'), 2, 'records, and the people of their filter');
  assert.equal(await shows(sender, '/send', 'rabbit'), 1, 'receivers');
  const confirm = await sender.client.postHtml('/send', { kind: 'exclusive', amount: '1', to: friend.username, confirmed: '' });
  assert.match(confirm.text, /avatars\.[0-9a-f]{10}\.svg#rabbit"/);
  assert.equal((await sendPacket(sender, { kind: 'exclusive', amount: '1', to: friend.username })).status, 201);
  assert.equal(await shows(friend, '/', 'horse') > 0, true, 'what waits');

  const { grabs, sender: from } = (await friend.client.get(path)).json;
  assert.deepEqual(grabs.map(({ user }) => user), [{ id: plain.id, nickname: '朴素' }, { id: friend.id, nickname: '小,明' }]);
  assert.deepEqual(from, { id: sender.id, nickname: '阿红' });
  const paths = [path, `${path}/receipt`, `${path}/verify`, screen, '/', '/account', '/records/received', '/records/received.csv',
    '/records/sent', '/records/sent.csv', '/account/export', '/wallet', '/wallet.csv'];
  for (const { client } of [sender, friend]) {
    for (const one of paths) {
      assert.doesNotMatch((await client.get(one)).text, TAG, one);
      assert.doesNotMatch((await client.getHtml(one)).text, TAG, one);
    }
  }
  const stored = await sql(`SELECT COUNT(*) FROM \`grab\` WHERE HEX(nickname) LIKE '%F3A08%';
    SELECT COUNT(*) FROM packet WHERE HEX(CONCAT(sender_name, COALESCE(receiver_name, ''))) LIKE '%F3A08%';
    SELECT COUNT(*) FROM packet_receiver WHERE HEX(name) LIKE '%F3A08%'; SELECT COUNT(*) FROM user WHERE HEX(nickname) LIKE '%F3A08%';
    SELECT face FROM user WHERE id = ${friend.id}; SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL;`);
  assert.deepEqual(stored.trim().split('\n'), ['0', '0', '0', '0', 'rabbit', '0']);
});

test('a page is answered anew once its reader has another face', async () => {
  const user = await newUser({ nickname: '小明', yuan: '5' });
  const path = await sentPath(user, { kind: 'even', amount: '1', count: '2' });
  const tag = (await user.client.getHtml(path)).headers.get('etag');
  await user.client.post('/account/nickname', { nickname: '小明', face: 'pig' });
  const again = await user.client.getHtml(path, { 'if-none-match': tag });
  assert.equal(again.status, 200);
  assert.match(again.text, /#pig"/);
});

testVisitors('a face is chosen on the account page', async ({ locale: language, javaScriptEnabled }) => {
  const user = await newUser({ nickname: '小明' });
  const page = await clientPage(browser, user.client, { locale: language, javaScriptEnabled });
  const radio = (face) => page.getByRole('radio', { name: words(language, `face_${face}`) });
  await page.goto(`${site.url}/account`);
  assert.equal(await radio('initial').isChecked(), true);
  assert.equal(await page.locator('[name=face]').count(), 13);
  await radio('initial').focus();
  await page.keyboard.press('ArrowUp');
  assert.equal(await radio('pig').isChecked(), true);
  await radio('dragon').check();
  await page.getByRole('button', { name: words(language, 'nickname_save') }).click();
  await page.waitForURL(`${site.url}/account?saved=1`);
  assert.equal(await radio('dragon').isChecked(), true);
  const shown = page.locator('.me .avatar img');
  assert.match(await shown.getAttribute('src'), /#dragon$/);
  assert.deepEqual(await shown.evaluate((image) => [image.naturalWidth > 0, image.width, image.height]), [true, 32, 32]);
  assert.equal(await page.locator('.me .avatar').innerText(), '');
});
