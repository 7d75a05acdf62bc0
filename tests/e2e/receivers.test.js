// A packet for several named receivers: only they may open it, and its page says for whom it is.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unfold } from './support/forms.js';
import { audit, clientPage, launch, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';

let browser;
before(async () => { browser = await launch(); });
after(async () => { await browser?.close(); });

const people = (count) => Promise.all(Array.from({ length: count }, (_, i) => newUser({ nickname: `友${i + 1}` })));
const namesOf = (users, separator) => users.map(({ username }) => username).join(separator);
const order = (more) => ({ kind: 'lucky', amount: '1', request_key: unique('k'), ...more });

const pageOf = ({ client }, options) => clientPage(browser, client, options);

test('only the named receivers open it, each once, and as many shares as they are by default', async () => {
  const sender = await newUser({ yuan: '10' });
  const friends = await people(4);
  const sent = await sendPacket(sender, order({ to: namesOf(friends, ', ') }));
  assert.equal(sent.status, 201, sent.text);
  const path = `/p/${sent.json.id}`;
  const stranger = await newUser();
  for (const user of [stranger, sender]) {
    const refused = await user.client.post(`${path}/open`);
    assert.equal(refused.status, 403);
    assert.match(refused.json.type, /:not-for-you$/);
  }
  const opened = await Promise.all(friends.map(({ client }) => client.post(`${path}/open`)));
  assert.deepEqual(opened.map(({ json }) => json.result), Array(4).fill('grabbed'));
  assert.equal(opened.reduce((sum, { json }) => sum + json.amount_fen, 0), 100);
  const late = await stranger.client.post(`${path}/open`);
  assert.match(late.json.type, /:not-for-you$/);
  const shown = (await stranger.client.get(path)).json;
  assert.equal(shown.receivers.count, 4);
  assert.equal(shown.receivers.named.length, 3);
  assert.equal(shown.state, 'finished');
  assert.deepEqual([shown.grabs, shown.next], [[], null]); // a stranger learns nothing of who got what
  assert.equal((await friends[0].client.get(path)).json.grabs.length, 4);
  assert.equal((await sender.client.get(path)).json.grabs.length, 4);
  const draw = async ({ client }) => (await client.get(`${path}/verify`)).json;
  assert.deepEqual([(await draw(stranger)).shares, (await draw(stranger)).amount_fen], [[], null]);
  const page = (await stranger.client.getHtml(path)).text;
  assert.ok(page.includes(words('zh-CN', 'not_for_you')));
  assert.ok(!/class="rows"|data-refresh|友4/.test(page), 'no list, and nothing that asks for one');
  await poll('the draw is shown to a receiver', async () => (await draw(friends[0])).shares.length === 4);
  await audit();
});

test('a packet without names is for everybody', async () => {
  const sender = await newUser({ yuan: '10' });
  const sent = await sendPacket(sender, order({ count: '1', to: ' ' }));
  assert.equal((await sender.client.get(`/p/${sent.json.id}`)).json.receivers, null);
  assert.equal((await sender.client.post(`/p/${sent.json.id}/open`)).status, 200);
});

test('unknown names, the own name and too many shares get a message beside the field', async () => {
  const sender = await newUser({ yuan: '10' });
  const [friend] = await people(1);
  const cases = [
    [{ to: `${friend.username} nobody-here` }, 'to', words('zh-CN', 'to_unknown', 'nobody-here')],
    [{ to: `<x> ${friend.username},Nobody-Here，小明`, amount: '500' }, 'to', words('zh-CN', 'to_unknown', '<x>、nobody-here、小明')],
    [{ to: `${friend.username}\n${sender.username}` }, 'to', words('zh-CN', 'to_self')],
    [{ to: friend.username, count: '2' }, 'count', words('zh-CN', 'count_over_to', '1')],
    [{ kind: 'exclusive', to: `${friend.username},bob` }, 'to', words('zh-CN', 'to_one')],
  ];
  for (const [fields, field, message] of cases) {
    const refused = await sendPacket(sender, order(fields));
    assert.equal(refused.status, 422);
    assert.deepEqual(refused.json.errors, [{ field, message }]);
  }
  const [amount, to] = (await sendPacket(sender, order({ to: '! nobody-here', amount: 'x' }))).json.errors;
  assert.equal(amount.field, 'amount');
  assert.deepEqual(to, { field: 'to', message: words('zh-CN', 'to_unknown', '!、nobody-here') });
});

for (const language of LANGUAGES) {
  for (const javaScriptEnabled of [true, false]) {
    test(`the page says for whom it is, ${language}, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async () => {
      const options = { locale: language, javaScriptEnabled };
      const sender = await newUser({ yuan: '10' });
      const friends = await people(5);
      const form = await pageOf(sender, options);
      await form.goto(`${site.url}/send`);
      await form.fill('[name=amount]', '5');
      await unfold(form, 'to');
      await form.fill('[name=to]', namesOf(friends, '\n'));
      await form.click('form[action="/send"] button[type=submit]');
      await form.waitForURL(/\/p\/[0-9a-z]{26}$/);
      const path = new URL(form.url()).pathname;
      const said = language === 'en' ? /^Just for 友\d, 友\d, 友\d and 2 others$/ : /^给友\d、友\d、友\d和另外2人的专属红包$/;
      assert.match(await form.innerText('.kind >> nth=0'), said);
      const ready = language === 'en' ? /^It is on the home page of 友\d, 友\d, 友\d and 2 others$/ : /^已送到友\d、友\d、友\d和另外2人的首页$/;
      assert.match(await form.innerText('.ready'), ready);
      await form.context().close();

      const stranger = await pageOf(await newUser(), options);
      await stranger.goto(site.url + path);
      assert.match(await stranger.innerText('main'), new RegExp(words(language, 'not_for_you')));
      assert.equal(await stranger.locator('button.coin').count(), 0);
      await stranger.context().close();

      const receiver = await pageOf(friends[0], options);
      await receiver.goto(site.url + path);
      assert.match(await receiver.innerText('.kind >> nth=0'), said);
      await receiver.click(`form[action="${path}/open"] button`);
      await receiver.waitForSelector('.result');
      await receiver.context().close();
    });
  }
}

test('without a count the live total has a share for each named receiver', async () => {
  const form = await pageOf(await newUser(), {});
  await form.goto(`${site.url}/send`);
  await form.check('[value=even]', { force: true });
  await form.fill('[name=amount]', '1.50');
  const asked = await form.getAttribute('[name=count]', 'placeholder');
  const total = () => form.innerText('[data-total] output');
  assert.equal(await total(), '0.00');
  await unfold(form, 'to');
  await form.fill('[name=to]', ' a1，a2、A1\na3');
  assert.equal(await total(), '4.50');
  assert.equal(await form.getAttribute('[name=count]', 'placeholder'), words('zh-CN', 'count_each').replace('~', '3'));
  assert.equal(await form.innerText('[data-receivers]'), words('zh-CN', 'to_named').replace('~', 'a1、a2、a3'));
  await form.fill('[name=count]', '2');
  assert.equal(await total(), '3.00');
  await form.fill('[name=count]', '');
  await form.fill('[name=to]', '');
  assert.equal(await form.getAttribute('[name=count]', 'placeholder'), asked);
  await form.context().close();
});

test('from one packet of the home page to the next: the result leads on while others wait', async () => {
  const [sender, friend] = [await newUser({ yuan: '10' }), await newUser()];
  const sent = [];
  for (let i = 0; i < 3; i += 1) sent.push((await sendPacket(sender, order({ to: friend.username }))).json.id);
  const later = await sendPacket(sender, order({ to: friend.username, opens_at: new Date(Date.now() + 86400000).toISOString() }));
  assert.equal(later.status, 201, later.text);
  const page = await pageOf(friend, {});
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
  for (const count of [2, 1]) {
    await more.getByText(words('zh-CN', 'inbox_waits').replace('#', count)).waitFor();
    await more.getByRole('link').click();
    await open();
  }
  await poll('the home page was looked at', () => home.length === 3);
  assert.equal(await more.isVisible(), false);
  await page.reload();
  await page.waitForLoadState('load');
  assert.equal(home.length, 3, 'nobody waits: nothing is asked for');
  await page.context().close();
});
