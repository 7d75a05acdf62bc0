// A packet for several named receivers: only they may open it, and its page shows them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { unfold } from './support/forms.js';
import { newUser, poll, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt, testScripts, testVisitors } from './support/visits.js';

const browser = fileBrowser();

// One after another: a packet lists its receivers in the order of their registration.
async function people(count) {
  const all = [];
  while (all.length < count) all.push(await newUser({ nickname: `友${all.length + 1}` }));
  return all;
}
const namesOf = (users, separator) => users.map(({ username }) => username).join(separator);
const order = (more) => ({ kind: 'lucky', amount: '1', request_key: unique('k'), ...more });

testVisitors('the page says for whom it is', async ({ locale: language, javaScriptEnabled }) => {
  const options = { locale: language, javaScriptEnabled };
  const sender = await newUser({ yuan: '10' });
  const friends = await people(5);
  const form = await pageAt(browser, sender.client, '/send', options);
  await form.fill('[name=amount]', '5');
  await unfold(form, 'to');
  await form.fill('#to', namesOf(friends, '\n'));
  await form.click('form[action="/send"] button[type=submit]');
  assert.equal(await form.innerText('.confirm h1'), words(language, 'confirm_ask_several').replace('{{count}}', '5'));
  assert.deepEqual((await form.locator('.confirm .pick > bdi').allInnerTexts()).sort(), ['友1', '友2', '友3', '友4', '友5']);
  assert.deepEqual((await form.locator('.confirm .pick small').allInnerTexts()).sort(), namesOf(friends, ' ').split(' ').sort());
  await form.click('.confirm button[type=submit]');
  await form.waitForURL(/\/p\/[0-9a-z]{26}$/);
  const path = new URL(form.url()).pathname;
  const said = language === 'en' ? /^Just for 友\d, 友\d, 友\d and 2 others$/ : /^只给友\d、友\d、友\d和另外2人的红包$/;
  assert.match(await form.innerText('.kind >> nth=0'), said);
  const ready = language === 'en' ? /^It is on the home page of 友\d, 友\d, 友\d and 2 others$/ : /^已送到友\d、友\d、友\d和另外2人的首页$/;
  assert.match(await form.innerText('.ready'), ready);

  const stranger = await pageAt(browser, (await newUser()).client, path, options);
  assert.match(await stranger.innerText('main'), new RegExp(words(language, 'not_for_you')));
  assert.equal(await stranger.locator('button.coin').count(), 0);

  const receiver = await pageAt(browser, friends[0].client, path, options);
  assert.match(await receiver.innerText('.kind >> nth=0'), said);
  await receiver.click(`form[action="${path}/open"] button`);
  await receiver.waitForSelector('.result');
});

test('without a count the live total has a share for each named receiver', async () => {
  const form = await pageAt(browser, (await newUser()).client, '/send');
  await form.check('[value=even]', { force: true });
  await form.fill('[name=amount]', '1.50');
  const asked = await form.getAttribute('[name=count]', 'placeholder');
  const total = () => form.innerText('[data-total] output');
  assert.equal(await total(), '0.00');
  await unfold(form, 'to');
  await form.fill('#to', ' a1，a2、A1\na3');
  assert.equal(await total(), '4.50');
  assert.equal(await form.getAttribute('[name=count]', 'placeholder'), words('zh-CN', 'count_each').replace('~', '3'));
  assert.equal(await form.innerText('.receivers > summary'), words('zh-CN', 'to_only').replace(/\{\{.*\}\}/, 'a1、a2、a3'));
  await form.fill('[name=count]', '2');
  assert.equal(await total(), '3.00');
  await form.fill('[name=count]', '');
  await form.fill('#to', '');
  assert.equal(await form.getAttribute('[name=count]', 'placeholder'), asked);
});

test('from one packet of the home page to the next: the result leads on while others wait', async () => {
  const [sender, friend] = [await newUser({ yuan: '10' }), await newUser()];
  const sent = [];
  for (let i = 0; i < 3; i += 1) sent.push((await sendPacket(sender, order({ to: friend.username }))).json.id);
  const later = await sendPacket(sender, order({ to: friend.username, opens_at: new Date(Date.now() + 86400000).toISOString() }));
  assert.equal(later.status, 201, later.text);
  const page = await clientPage(browser, friend.client);
  const home = [];
  page.on('request', (request) => { if (new URL(request.url()).pathname === '/' && request.resourceType() === 'xhr') home.push(request.url()); });
  const open = async () => {
    await page.click('form[action$="/open"] button');
    await page.waitForSelector('.result');
  };
  const more = page.locator('[data-waits]');
  await page.goto(`${site.url}/`);
  await page.click(`main a[href="/p/${sent[0]}"]`);
  await open();
  const first = page.locator('.lip a'); // the page's one action
  for (const count of [2, 1]) {
    await first.getByText(words('zh-CN', 'inbox_waits').replace('#', count)).waitFor();
    assert.equal(await more.innerText(), words('zh-CN', 'send_too'));
    assert.match(await more.getByRole('link').getAttribute('href'), /^\/send\?back=/);
    await first.click();
    await open();
  }
  await poll('the home page was looked at', () => home.length === 3);
  assert.equal(await more.isVisible(), false);
  assert.equal(await first.innerText(), words('zh-CN', 'send_too'));
  await page.reload();
  await page.waitForLoadState('load');
  assert.equal(home.length, 3, 'nobody waits: nothing is asked for');
});

// A sender who has exchanged packets with some friends; their faces are offered.
async function acquainted(count) {
  const sender = await newUser({ yuan: '10', nickname: '主人' });
  const friends = (await people(count)).map((friend, i) => ({ ...friend, nickname: `友${i + 1}` }));
  const sent = await sendPacket(sender, order({ to: namesOf(friends, ' ') }));
  await Promise.all(friends.map(({ client }) => client.post(`/p/${sent.json.id}/open`)));
  await poll('the faces are offered', async () => (await sender.client.get('/send')).json.people.length === count);
  return { sender, friends, packet: sent.json.id };
}

const posted = (form) => form.inputValue('[name=to]');
const top = async (form, selector) => (await form.locator(selector).boundingBox()).y;

testScripts('who gets an exclusive packet, or one in return, is on top of the form', async ({ javaScriptEnabled }) => {
  const { sender, friends: [friend], packet } = await acquainted(1);
  for (const [{ client }, path, said] of [[sender, `/send?to=${friend.username}`, '发给 友1'], [friend, `/send?back=${packet}`, '回礼给 主人']]) {
    const form = await pageAt(browser, client, path, { locale: 'zh-CN', javaScriptEnabled });
    assert.equal((await form.innerText('.receivers > summary b')).replace(/\s+/g, ' '), said);
    assert.equal(await form.locator('.receivers > summary .avatar').count(), 1);
    assert.ok(await form.isHidden('#to'), 'the names are folded away');
    const places = [await top(form, '.receivers > summary'), await top(form, '#amount'), await top(form, '#greeting')];
    assert.deepEqual(places, [...places].sort((a, b) => a - b), 'receiver, amount, greeting');
    assert.ok(await top(form, '#amount') < 400);
  }
  const form = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN', javaScriptEnabled });
  await form.check('[value=exclusive]', { force: true });
  assert.ok(await form.isVisible('#to'));
  if (javaScriptEnabled) assert.ok(await top(form, '#to') < await top(form, '#amount'));
  await form.check('[value=lucky]', { force: true });
  assert.ok(await top(form, '#amount') < await top(form, '.receivers'));
});

test('letters of a name propose the people who have them; usernames tell apart two of the same name, and nobody else', async () => {
  const sender = await newUser({ yuan: '10' });
  const [one, two] = [await newUser({ nickname: '小明' }), await newUser({ nickname: '小明' })];
  const [anna, ivan] = [await newUser({ nickname: 'Anna Li' }), await newUser({ nickname: 'Иван' })];
  for (const { username } of [one, two, anna, ivan]) assert.equal((await sendPacket(sender, order({ to: username, count: '1' }))).status, 201);
  const form = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN' });
  await unfold(form, 'to');
  assert.deepEqual((await form.locator('.pick small').allInnerTexts()).sort(), [one.username, two.username].sort());
  const proposed = () => form.locator('.receivers [aria-live] .chip').allInnerTexts();
  const held = () => form.locator('.receivers .chips:not([aria-live]) .chip bdi').allInnerTexts();
  assert.deepEqual(await proposed(), []);
  await form.locator('#to').pressSequentially('aNN');
  assert.equal((await proposed()).length, 1);
  await form.click('.receivers [aria-live] .chip');
  assert.deepEqual([await held(), await proposed(), await form.inputValue('#to'), await posted(form)], [['Anna Li'], [], '', anna.username]);
  assert.ok(await form.locator('#to').evaluate((element) => element === document.activeElement), 'the next name can be typed');
  await form.locator('#to').pressSequentially('nobody-known 小');
  assert.equal((await proposed()).length, 2, 'who is chosen is not proposed');
  assert.deepEqual((await proposed()).map((text) => text.replace(/[\s小明]/g, '')).sort(), [one.username, two.username].sort());
  await form.locator('.receivers [aria-live] .chip', { hasText: two.username }).focus();
  await form.keyboard.press('Enter');
  assert.deepEqual([await held(), await form.inputValue('#to')], [['Anna Li', '小明'], 'nobody-known']);
  assert.equal(await posted(form), `${anna.username} ${two.username} nobody-known`);
  await form.fill('#to', 'nobody-known ИВ');
  await form.click('.receivers [aria-live] .chip');
  assert.deepEqual([await held(), await form.inputValue('#to')], [['Anna Li', '小明', 'Иван'], 'nobody-known'], 'capitals of any letters');
  await form.click('.receivers .chips:not([aria-live]) .chip');
  await form.fill('#to', 'nobody-known anna l');
  assert.equal((await proposed()).length, 1, 'a nickname with a blank');
  await form.click('.receivers [aria-live] .chip');
  assert.deepEqual([await held(), await form.inputValue('#to')], [['小明', 'Иван', 'Anna Li'], 'nobody-known']);
  await form.fill('#to', '');
  assert.deepEqual([await proposed(), await posted(form)], [[], namesOf([two, ivan, anna], ' ')]);
  const hints = () => form.locator('.receivers [data-strange]').isVisible();
  assert.equal(await hints(), false);
  await form.fill('#to', 'nobody-known');
  assert.equal(await hints(), true, 'a name of nobody one knows');
});

test('Enter takes the first proposal: the whole name, else what begins so; a name that another begins with waits', async () => {
  const sender = await newUser({ yuan: '10' });
  const users = [];
  for (const nickname of ['Ann', 'Ann Bo', 'Joann']) {
    users.push(await newUser({ nickname }));
    assert.equal((await sendPacket(sender, order({ to: users.at(-1).username, count: '1' }))).status, 201);
  }
  const form = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN' });
  await unfold(form, 'to');
  const proposed = () => form.locator('.receivers [aria-live] .chip bdi').allInnerTexts();
  const held = () => form.locator('.receivers .chips:not([aria-live]) .chip bdi').allInnerTexts();
  await form.locator('#to').pressSequentially('ann');
  assert.deepEqual(await proposed(), ['Ann', 'Ann Bo', 'Joann']);
  await form.locator('#to').pressSequentially(' ');
  assert.deepEqual([await held(), await form.inputValue('#to')], [[], 'ann ']);
  await form.locator('#to').pressSequentially('b');
  assert.deepEqual(await proposed(), ['Ann Bo']);
  await form.keyboard.press('Enter');
  assert.deepEqual([await held(), await form.inputValue('#to'), await proposed()], [['Ann Bo'], '', []]);
  await form.locator('#to').pressSequentially('ann');
  assert.deepEqual(await proposed(), ['Ann', 'Joann']);
  await form.keyboard.press('Enter');
  assert.deepEqual([await held(), await posted(form)], [['Ann Bo', 'Ann'], `${users[1].username} ${users[0].username}`]);
  assert.equal(new URL(form.url()).pathname, '/send');
});

test('receivers who are known are chips with faces, by a press or by typing, and the count is told', async () => {
  const { sender, friends } = await acquainted(5);
  const form = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN' });
  await unfold(form, 'to');
  const face = ({ username }) => form.locator(`.pick[data-to="${username}"]`);
  const pressed = async (user) => await face(user).getAttribute('aria-pressed') === 'true';
  const chips = () => form.locator('.receivers .chip bdi').allInnerTexts();
  for (const user of friends) {
    const { x, width } = await face(user).boundingBox();
    assert.ok(x >= 0 && x + width <= 390, 'no face is scrolled away');
  }
  const [one, two, three] = friends;
  await face(one).click();
  await form.locator('#to').pressSequentially(two.nickname);
  assert.deepEqual([await pressed(one), await pressed(two), await pressed(three)], [true, true, false], 'while it is typed');
  assert.equal(await posted(form), `${one.username} ${two.username}`);
  await form.locator('#to').pressSequentially(`，${three.username.toUpperCase()} nobody-known`);
  assert.deepEqual(await chips(), [one.nickname, two.nickname, three.nickname]);
  assert.equal(await form.inputValue('#to'), 'nobody-known');
  assert.equal(await posted(form), `${namesOf([one, two, three], ' ')} nobody-known`);
  await form.fill('#to', '');
  assert.equal(await form.innerText('#count_hint'), '给3人，红包个数3');
  await form.fill('#count', '2');
  assert.equal(await form.innerText('#count_hint'), '给3人，红包个数2');
  await form.fill('#count', '4');
  assert.deepEqual([await form.innerText('#count_hint'), await form.getAttribute('#count_hint', 'class')], [words('zh-CN', 'count_over').replace('~', '3'), 'wrong']);
  await form.focus('.receivers .chip >> nth=0');
  await form.keyboard.press('Enter');
  assert.deepEqual([await chips(), await pressed(one)], [[two.nickname, three.nickname], false]);
  assert.ok(await face(one).evaluate((element) => element === document.activeElement), 'the focus is not lost');
  await form.focus('#to');
  await form.keyboard.press('Backspace');
  assert.deepEqual([await chips(), await posted(form)], [[two.nickname], two.username]);
  await form.check('[value=exclusive]', { force: true });
  await face(three).click();
  assert.deepEqual([await chips(), await posted(form)], [[three.nickname], three.username], 'one alone');
  assert.equal((await form.innerText('.receivers > summary b')).trim(), `发给 ${three.nickname}`);
  await form.fill('#amount', '1');
  await form.click('main button.wide'); // the sender has seen a person who was picked by face
  await form.waitForURL(/\/p\/[0-9a-z]{26}$/);
  assert.deepEqual((await three.client.get(new URL(form.url()).pathname)).json.receivers.named.map(({ nickname }) => nickname), [three.nickname]);
});

test('several people are confirmed before they are paid for, unless their sender knows them all', async () => {
  const { sender, friends, packet } = await acquainted(2);
  const stranger = await newUser();
  const posts = (to, more = {}) => sender.client.postHtml('/send', order({ to, confirmed: '', ...more }));
  assert.equal((await posts(namesOf(friends, ' '))).status, 303);
  const to = namesOf([stranger, ...friends], ' ');
  for (const confirmed of ['', namesOf(friends, ' '), stranger.username]) assert.equal((await posts(to, { confirmed })).status, 200, confirmed);
  assert.equal((await posts(to, { confirmed: to })).status, 303);
  assert.equal((await sendPacket(sender, order({ to: namesOf([await newUser(), ...friends], ' '), confirmed: '' }))).status, 201, 'JSON is never asked');
  assert.equal((await posts(namesOf([await newUser()], ' '), { amount: '100' })).status, 422, 'nobody confirms what cannot be paid');
  const again = (await sender.client.getHtml(`/send?again=${packet}`)).text;
  const [, confirmed] = /name="confirmed" value="([^"]*)"/.exec(again);
  assert.deepEqual(confirmed.split(' ').sort(), friends.map(({ username }) => username).sort(), 'those of an earlier packet were confirmed');
});
