// The whole flow by keyboard, on a narrow phone, once with JavaScript and once without, each in another language. The test
// never clicks, never sets the focus, and opens only the first page by its address.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { fileBrowser } from '../e2e/support/browser.js';
import { audit, newUser, site, unique } from '../e2e/support/site.js';
import { LANGUAGES } from '../e2e/support/texts.js';
import { Walker } from './support/walker.js';

const PACKET = /\/p\/[0-9a-z]{26}$/;
const at = (path) => site.url + path;

const browser = fileBrowser();

async function visit(context, address) {
  const page = await context.newPage();
  await page.goto(address);
  return new Walker(page);
}

// Sends a packet, starting from the header of any page, and returns its link.
async function send(walker, { kind, to, amount, count, split }, submit) {
  // on a phone the form has no navigation
  if (new URL(walker.page.url()).pathname === '/send') await walker.follow('.brand', at('/'));
  await walker.follow('nav a[href="/send"]', at('/send'));
  await walker.tabTo('[name=kind]');
  for (const next of ['even', 'exclusive']) {
    if (kind === 'lucky' || (kind === 'even' && next === 'exclusive')) break;
    await walker.press('ArrowRight');
    await walker.look();
    assert.ok(await walker.at(`[value=${next}]:checked`), next);
  }
  const first = to && await walker.page.evaluate(() => Boolean(document.querySelector('.kinds + .receivers')));
  if (first) await walker.fill('to', to);
  await walker.fill('amount', amount);
  if (count) await walker.fill('count', count);
  if (to && !first) await walker.fill('to', to);
  if (split) {
    await walker.tabTo('.options summary');
    await walker.press('Space');
    await walker.tabTo('[name=split]');
    await walker.press('ArrowDown');
    assert.equal(await walker.page.inputValue('[name=split]'), split);
  }
  await walker.tabTo('form[action="/send"] button[type=submit]');
  if (kind === 'exclusive') {
    await Promise.all([walker.page.waitForEvent('load'), walker.press(submit)]);
    await walker.tabTo('.confirm button[type=submit]');
  }
  await walker.go(submit, PACKET);
  await walker.tabTo('#share_url');
  const link = await walker.page.evaluate(() => document.activeElement.value);
  assert.equal(link, walker.page.url());
  return link;
}

// Logs in from the packet's page of a guest, and returns to that page.
async function logIn(walker, { username, password }) {
  const packet = walker.page.url();
  await walker.follow('main a[href^="/login"]', /\/login\?next=/);
  await walker.fill('username', username);
  await walker.fill('password', password);
  await walker.go('Enter', packet);
}

async function open(walker, key, amount) {
  await walker.tabTo('button.coin');
  await walker.press(key);
  await walker.page.waitForSelector('.result');
  assert.match(await walker.page.innerText('.result .money'), amount);
}

async function walk({ javaScriptEnabled, locale }) {
  const submit = javaScriptEnabled ? 'Enter' : 'Space';
  const options = { viewport: { width: 320, height: 568 }, locale, javaScriptEnabled };
  const sending = await browser.newContext(options);
  const sender = await visit(sending, site.url);

  // The skip link is the first stop and leads past the header.
  await sender.press('Tab');
  assert.ok(await sender.at('.skip'));
  await sender.look();
  await sender.press('Enter');
  await sender.press('Tab');
  await sender.look();
  assert.ok(await sender.at('main a'), 'after the skip link');

  // Register, with a step back to an earlier field.
  await sender.follow('.top a[href="/register"]', at('/register'));
  await sender.fill('username', unique('key'));
  await sender.fill('password', 'a good password');
  await sender.back('[name=nickname]');
  await sender.page.keyboard.type('阿红');
  await sender.tabTo('main form button[type=submit]');
  await sender.go(submit, at('/'));
  await sender.around();

  await sender.follow('nav a[href="/wallet"]', at('/wallet'));
  await sender.fill('amount', '100');
  const before = await sender.page.evaluate(() => performance.timeOrigin);
  await sender.press('Enter');
  await sender.page.waitForFunction((then) => performance.timeOrigin !== then && document.querySelector('.row'), before);

  // A refused form: the link in the error summary leads to the field.
  await sender.follow('nav a[href="/send"]', at('/send'));
  await sender.tabTo('form[action="/send"] button[type=submit]');
  await sender.press(submit);
  await sender.page.waitForSelector('[role=alert]');
  await sender.tabTo('.errors a[href="#amount"]');
  await sender.press('Enter');
  assert.ok(await sender.at('#amount'), 'from the summary to the field');
  await sender.look();
  await sender.around();

  const receiver = await newUser({ nickname: '小明' });
  const lucky = await send(sender, { kind: 'lucky', count: '1', amount: '8.88', split: 'uniform' }, submit);
  if (javaScriptEnabled) {
    await sender.tabTo('[data-copy]');
    await sender.press('Enter');
    await sender.page.waitForFunction(() => document.querySelector('[data-copied]').textContent !== '');
  }
  await sender.around();
  const even = await send(sender, { kind: 'even', count: '2', amount: '1.50' }, submit);
  const exclusive = await send(sender, { kind: 'exclusive', to: receiver.username, amount: '3' }, submit);

  // A second person, a guest, opens the link.
  const opening = await browser.newContext(options);
  const guest = await visit(opening, lucky);
  await guest.around();
  await logIn(guest, receiver);
  await guest.around();
  await open(guest, submit, /8\.88/);
  await guest.around();
  for (const [link, amount] of [[even, /1\.50/], [exclusive, /3\.00/]]) {
    const walker = await visit(opening, link);
    await open(walker, submit, amount);
    assert.match(await walker.page.innerText('.rows'), /小明/);
    await walker.page.close();
  }
  await guest.follow('nav a[href="/records/received"]', at('/records/received'));
  await guest.tabTo('.filters summary');
  await guest.press(submit);
  assert.ok(await guest.page.isVisible('.filters form'), 'the filters');
  await guest.around();
  await guest.follow('.tabs a[href="/records/sent"]', at('/records/sent'));
  await guest.follow('.tabs a[href="/records/received"]', at('/records/received'));
  await guest.follow(`a.row[href="${new URL(lucky).pathname}"]`, lucky);
  await guest.follow('[data-live=settled-links] a, nav a[href="/wallet"]', at('/wallet'));
  await guest.around();
  await guest.tabTo('form[action="/logout"] button');
  await guest.go(submit, at('/'));
  assert.ok(await guest.page.isVisible('.top a[href="/login"]'));

  // A user who is too late looks at the list of grabs.
  const late = await visit(opening, lucky);
  await logIn(late, await newUser({ nickname: '小慢' }));
  await late.tabTo('a.peek');
  await late.press('Enter');
  assert.ok(await late.at('#grabs'));
  assert.match(await late.page.innerText('.rows'), /8\.88/);
  await late.around();

  await sending.close();
  await opening.close();
  return sender.stops + guest.stops + late.stops;
}

describe('by keyboard alone', { concurrency: 2 }, () => {
  for (const [locale, javaScriptEnabled] of [[LANGUAGES[0], true], [LANGUAGES[1], false]]) {
    test(`${locale}, JavaScript ${javaScriptEnabled ? 'on' : 'off'}`, async (t) => {
      t.diagnostic(`${await walk({ locale, javaScriptEnabled })} stops`);
    });
  }
});

test('the audit is clean afterwards', audit);
