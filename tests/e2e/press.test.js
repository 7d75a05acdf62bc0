// A press is a click, whatever the page does meanwhile: leaving a field makes chips or shows a message, and the page
// refreshes itself. Mouse and finger are real: only what is under them when they come down and when they leave counts.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { unfold } from './support/forms.js';
import { opened, sentPath, settled } from './support/packets.js';
import { Client, newUser, poll, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, pageAt } from './support/visits.js';

const browser = fileBrowser();

const placeOf = async (part) => {
  const { x, y, width, height } = await part.boundingBox();
  return [x + width / 2, y + height / 2];
};

// Presses the middle of this part at its present place; at the release it may be elsewhere. meanwhile: what happens in
// between.
async function press(page, part, meanwhile) {
  const place = await placeOf(part);
  await page.mouse.move(...place);
  await page.mouse.down();
  await meanwhile?.();
  await page.mouse.up();
}

const tap = async (page, part) => page.touchscreen.tap(...await placeOf(part));

// Waits until the page has the next answer that changes it, and has had time to show it.
async function refreshed(page, path) {
  const answer = await page.waitForResponse((one) => one.url() === site.url + path && one.status() === 200);
  await answer.finished();
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => setTimeout(done)); }));
}

// A sender whose form offers the faces of these friends.
let sender;
const friends = { Ann: '', 小明: '' }; // nickname → username
before(async () => {
  sender = await newUser({ yuan: '100' });
  for (const nickname of Object.keys(friends)) {
    const { username } = await newUser({ nickname });
    friends[nickname] = username;
    await sentPath(sender, { kind: 'lucky', amount: '1', count: '1', to: username });
  }
  await poll('the faces are offered', async () => (await sender.client.get('/send')).json.people.length === 2);
});

// Texts that become chips above the names that are none when the field is left: the button moves away.
const TYPED = [{ kind: 'exclusive', to: () => friends.小明 }, { kind: 'lucky', to: () => 'x y z Ann' }];
const LOOKS = {
  'a phone': { locale: 'zh-CN' },
  'a narrow one': { locale: 'zh-CN', viewport: { width: 360, height: 640 } },
  'a desktop': { locale: 'en', viewport: { width: 1280, height: 800 } },
  'a finger': { locale: 'en', hasTouch: true, isMobile: true },
};

for (const [look, options] of Object.entries(LOOKS)) {
  test(`who has just typed a name sends by one press: ${look}`, async () => {
    const page = await clientPage(browser, sender.client, options);
    const posts = [];
    await page.route('**/send', (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      posts.push(new URLSearchParams(route.request().postData()).get('to'));
      return route.fulfill({ status: 204 }); // the page stays
    });
    const button = page.locator('.send button.wide');
    let moved = false;
    for (const { kind, to } of TYPED) {
      await page.goto(`${site.url}/send?kind=${kind}`);
      await page.fill('[name=amount]', '1');
      await unfold(page, 'to');
      await page.locator('#to').pressSequentially(to());
      await button.scrollIntoViewIfNeeded();
      const place = await placeOf(button);
      await (options.hasTouch ? tap : press)(page, button);
      await poll(`${to()} is posted`, () => posts.length === 1);
      assert.equal(posts.pop(), await page.inputValue('[name=to]'));
      moved ||= String(await placeOf(button)) !== String(place);
    }
    assert.ok(moved, 'the button gave way');
  });
}

test('a press on a chip takes its receiver away, though what is typed becomes a chip before it', async () => {
  const page = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN' });
  await unfold(page, 'to');
  const chips = page.locator('.receivers .chips:not([aria-live]) .chip');
  await page.locator('#to').pressSequentially('小明 ann');
  assert.equal(await chips.count(), 1);
  await press(page, chips.first());
  assert.deepEqual(await chips.locator('bdi').allInnerTexts(), ['Ann']);
});

test('what a username lacks is said when the field is left, and the link that was pressed is followed', async () => {
  const page = await pageAt(browser, new Client(), '/register', { locale: 'en' });
  let followed = 0;
  await page.route('**/login', (route) => {
    followed += 1;
    return route.fulfill({ status: 204 });
  });
  await page.fill('#username', '');
  await page.locator('#username').pressSequentially('a');
  const link = page.locator('main a[href="/login"]');
  const place = await placeOf(link);
  await press(page, link);
  await poll('the link is followed', () => followed === 1);
  assert.equal(await page.locator('#username_error').count(), 1);
  assert.notDeepEqual(await placeOf(link), place, 'it gave way');
});

test('a registration has the username that its nickname proposes, though the nickname was typed last', async () => {
  const page = await pageAt(browser, new Client(), '/register', { locale: 'en' });
  await page.fill('#password', 'a good password');
  await page.locator('#nickname').pressSequentially('Annabel');
  const [request] = await Promise.all([
    page.waitForRequest((one) => one.method() === 'POST'),
    press(page, page.locator('main form button[type=submit]')),
  ]);
  assert.match(new URLSearchParams(request.postData()).get('username'), /^annabel\d*$/);
});

test('a page that refreshes itself waits for the release: its list grows above the button that is pressed', async () => {
  const owner = await newUser({ yuan: '10' });
  const path = await sentPath(owner, { kind: 'lucky', amount: '3', count: '3' });
  await opened(await newUser(), path); // with the first grab the list appears above
  const page = await pageAt(browser, owner.client, path, { locale: 'zh-CN', permissions: ['clipboard-read', 'clipboard-write'] });
  const button = page.locator('[data-copy]').first();
  await button.scrollIntoViewIfNeeded();
  const before = await placeOf(button);
  await press(page, button, async () => {
    await Promise.all([refreshed(page, path), newUser().then((user) => opened(user, path))]);
    assert.deepEqual(await placeOf(button), before);
  });
  await page.getByText(words('zh-CN', 'link_copied')).waitFor();
  await poll('the button gave way', async () => String(await placeOf(button)) !== String(before));
});

test('a button that a refreshed page replaces under a press sends its form', async () => {
  const path = await sentPath(sender, { kind: 'even', amount: '2', count: '2' });
  const receiver = await newUser();
  await opened(receiver, path);
  await settled(receiver, path); // from then on the thanks are in sight
  const page = await pageAt(browser, receiver.client, path, { locale: 'zh-CN' });
  const chip = page.locator('form[action$="/thanks"] .chip').first();
  await chip.scrollIntoViewIfNeeded();
  let sent = 0;
  await page.route('**/thanks', (route) => {
    sent += 1;
    return route.fulfill({ status: 204 }); // the page stays
  });
  await press(page, chip, async () => {
    await page.route(`**${path}`, async (route) => {
      const answer = await route.fetch({ headers: { ...route.request().headers(), 'if-none-match': '' } });
      await route.fulfill({ response: answer, body: (await answer.text()).replaceAll('class="chip"', 'class="chip fresh"') });
    }, { times: 1 });
    await refreshed(page, path);
  });
  await poll('the thanks are sent', () => sent === 1);
  await page.locator('form[action$="/thanks"] .chip.fresh').first().waitFor();
});

for (const [name, path, selector] of [
  ['button', async () => [sender.client, '/send'], '.send button.wide'],
  ['coin', async () => [(await newUser()).client, await sentPath(sender, { kind: 'even', amount: '1', count: '1' })], 'button.coin'],
]) {
  test(`a ${name} is pressed at its edge, though it gets smaller under the pointer`, async () => {
    const [client, at] = await path();
    const page = await pageAt(browser, client, at, { reducedMotion: 'reduce' }); // it shrinks at once
    const part = page.locator(selector).first();
    await part.scrollIntoViewIfNeeded();
    await part.evaluate((element) => element.addEventListener('click', (event) => {
      event.preventDefault();
      element.dataset.clicked = 'yes';
    }));
    await part.hover();
    const { x, y, width, height } = await part.boundingBox();
    await page.mouse.move(x + 1, y + height / 2);
    await page.mouse.down();
    await poll('it is smaller', async () => (await part.boundingBox()).width < width - 2);
    await page.mouse.up();
    assert.equal(await part.getAttribute('data-clicked'), 'yes');
  });
}
