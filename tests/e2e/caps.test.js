// What the operator allows in a day: caps of sending and receiving, and sending paused, as people and programs see it.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { opened, sentPath, settled } from './support/packets.js';
import { redis } from './support/redis.js';
import { audit, newUser, poll, sendPacket, site, unique } from './support/site.js';
import { words } from './support/texts.js';
import { pageAt } from './support/visits.js';

const browser = fileBrowser();

const DAY_MS = 86400000;
const ZONE_MS = 8 * 3600000; // the site's zone is Asia/Shanghai
const POOLS = ['hot', 'page', 'settle'];
const CAPS = { HB_USER_SEND_DAY_FEN: '1000', HB_USER_RECEIVE_DAY_FEN: '500' };

// The next midnight of the site.
const midnight = () => new Date(Math.ceil((site.now() + ZONE_MS) / DAY_MS) * DAY_MS - ZONE_MS).toISOString();
const problem = (answer) => answer.json.type.replace('urn:hongbao:problem:', '');
const even = (amount, more) => ({ kind: 'even', amount, count: '1', lifetime: '7d', request_key: unique('k'), ...more });

before(async () => {
  site.passTime(DAY_MS - ((site.now() + ZONE_MS + DAY_MS / 2) % DAY_MS)); // noon: no test sees two days
  await site.startAnew(POOLS, CAPS);
});

after(() => site.startAnew([...POOLS, 'auth']));

test('who has sent all of the day is told what is left, and sends again the next day', async () => {
  const sender = await newUser({ yuan: '100' });
  await sentPath(sender, even('6'));
  const refused = await sendPacket(sender, even('4.01'));
  assert.equal(refused.status, 422, refused.text);
  const { errors: [{ field, message }], cap, left_fen, again_at } = refused.json;
  assert.deepEqual({ field, cap, left_fen, again_at }, { field: 'amount', cap: 'user_send_day_fen', left_fen: 400, again_at: midnight() });
  assert.match(message, /4\.00/);
  const fields = even('4.01');
  const page = await sender.client.postHtml('/send', fields);
  assert.equal(page.status, 422);
  assert.match(page.text, /id="amount_error">[^<]*4\.00/);
  assert.match(page.text, /value="4.01"/, 'what was typed is still there');
  await sentPath(sender, even('4'));
  assert.equal((await sendPacket(sender, even('0.01'))).status, 422);
  site.passTime(DAY_MS);
  await sentPath(sender, even('10'));
});

test('more than what is left of the day is refused beside the amount, before it is sent', async () => {
  const sender = await newUser({ yuan: '100' });
  await sentPath(sender, even('6'));
  const sends = async () => (await sender.client.get('/records/sent')).json.items.length;
  const page = await pageAt(browser, sender.client, '/send', { locale: 'en', timezoneId: 'Asia/Shanghai' });
  const rest = page.locator('#amount_day');
  const told = async () => [await rest.textContent(), await rest.getAttribute('class'), await page.getAttribute('#amount', 'aria-invalid')];
  const [left, excess] = [words('en', 'send_cap_left', '4.00'), (total) => words('en', 'send_day_excess', '4.00').replace('~', total)];
  assert.deepEqual(await told(), [left, 'hint', null]);
  assert.equal(await page.isVisible('#amount_day'), true);
  // The total counts: an amount of each share is multiplied.
  for (const [kind, amount, count, total] of [['lucky', '4.01', '2', '4.01'], ['even', '2.01', '2', '4.02'], ['exclusive', '4.5', '', '4.50'], ['even', '1000', '3', '3,000.00']]) {
    await page.check(`[value=${kind}]`, { force: true });
    await page.fill('#amount', amount);
    if (count) await page.fill('#count', count);
    assert.deepEqual(await told(), [excess(total), 'wrong', 'true'], kind);
    await page.click('[data-pay]');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'amount', 'the press leads to the field');
  }
  assert.equal(await sends(), 1, 'nothing was sent');
  await page.check('[value=even]', { force: true });
  await page.fill('#amount', '2');
  await page.fill('#count', '2');
  assert.deepEqual(await told(), [left, 'hint', null]);
  await page.click('[data-pay]');
  await page.waitForURL(/\/p\//);
  assert.equal(await sends(), 2);

  // Nothing is left: the page says until when, and sends again when the day is over.
  await page.goto(`${site.url}/send`);
  assert.match(await rest.textContent(), /^You have sent all the money that you can send today\. You can send again from tomorrow 12:00\sAM\.$/);
  await page.fill('#amount', '0.01');
  await page.fill('#count', '1');
  assert.match(await page.innerText('[data-total]'), /0\.01/);
  await page.click('[data-pay]');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'amount');
  assert.equal(await sends(), 2);
});

test('without scripts the site refuses it, and says when it is possible again', async () => {
  const sender = await newUser({ yuan: '100' });
  await sentPath(sender, even('10'));
  const page = await pageAt(browser, sender.client, '/send', { locale: 'zh-CN', javaScriptEnabled: false });
  await page.fill('#amount', '0.01');
  await page.fill('#count', '1');
  await page.click('[data-pay]');
  assert.equal(await page.textContent('#amount_error'), words('zh-CN', 'send_cap_reached'));
  assert.match(await page.textContent('#amount_day'), /^\d{4}-\d\d-\d\d 00:00 北京时间起可以再发。$/);
});

test('a newcomer is offered no amount that is more than a day allows', async () => {
  const home = await (await newUser()).client.getHtml('/');
  const offered = [...home.text.matchAll(/href="\/send\?amount=([\d.]+)"/g)].map(([, amount]) => amount);
  assert.deepEqual(offered, ['6.66', '8.88']);
});

test('who has received all of the day opens no further packet until the next day', async () => {
  const [sender, other, receiver] = [await newUser({ yuan: '100' }), await newUser({ yuan: '100' }), await newUser()];
  const [first, second, third] = [await sentPath(sender, even('5')), await sentPath(sender, even('5')), await sentPath(other, even('5'))];
  assert.equal((await opened(receiver, first)).result, 'grabbed');
  await settled(receiver, first);
  await poll('the worker has marked the user', () => redis('GET', `hb:capped:${receiver.id}`));

  const refused = await receiver.client.post(`${second}/open`);
  assert.equal(refused.status, 403, refused.text);
  assert.deepEqual([problem(refused), refused.json.again_at], ['received-enough', midnight()]);
  const page = await receiver.client.postHtml(`${second}/open`);
  assert.equal(page.status, 403);
  assert.match(page.text, /role="status">\s*<p><strong>[^<]*<\/strong><\/p>\s*<p class="hint"><time datetime="[^"]+T16:00:00\.000Z">[^<]* 00:00</);
  assert.match(page.text, /class="envelope/);
  // What the user may do about this packet.
  const cent = (more) => sentPath(other, even('0.01', more));
  const kept = await cent({ kind: 'exclusive', to: receiver.username });
  for (const [path, key] of [[second, 'received_enough_open'], [await cent({ lifetime: '1h' }), 'received_enough_gone'], [kept, 'received_enough_kept']]) {
    const { text } = await receiver.client.postHtml(`${path}/open`);
    const [before, after] = words('zh-CN', key).split('{{$until}}{{/until}}');
    assert.ok(text.includes(after === undefined ? before : `${before}<time datetime=`), `${key}: ${text}`);
  }

  assert.deepEqual((({ result, amount_fen }) => [result, amount_fen])(await opened(receiver, first)), ['already', 500]);
  assert.equal((await opened(sender, third)).result, 'grabbed', 'others open packets');
  assert.equal(problem(await receiver.client.post(`${third}/open`)), 'empty', 'a packet without shares is empty for everybody');

  site.passTime(DAY_MS);
  assert.equal((await opened(receiver, second)).result, 'grabbed');
  await settled(receiver, second);
  await audit();
});

test('a flag of an earlier day, or of a cap that was lower, refuses nobody', async () => {
  const [sender, receiver] = [await newUser({ yuan: '100' }), await newUser()];
  for (const flag of [`${site.now() - 1} 500`, `${site.now() + DAY_MS} 499`]) {
    const path = await sentPath(sender, even('0.01'));
    await redis('SET', `hb:capped:${receiver.id}`, flag, 'PX', DAY_MS);
    assert.equal((await opened(receiver, path)).result, 'grabbed', flag);
  }
});

test('while sending is paused its page says so, forms are refused, and everything else goes on', async () => {
  const [sender, receiver] = [await newUser({ yuan: '100' }), await newUser()];
  const fields = even('1');
  const path = await sentPath(sender, fields);
  await site.startAnew(['hot', 'page', 'auth'], { HB_SENDING: 'off' });
  const shown = await sender.client.getHtml('/send');
  assert.equal(shown.status, 200);
  assert.doesNotMatch(shown.text, /<form id="kept"| form="kept"/);
  assert.match(shown.text, /<form method="post" action="\/language"/);
  assert.match(shown.text, /<div class="card notice"><p role="status">/);
  assert.equal((await sender.client.get('/send')).json.sending, false);
  assert.equal((await sender.client.get('/')).json.sending, false);
  for (const [user, pages] of [[sender, ['/', '/wallet', '/records/sent', '/records/story', path]], [receiver, ['/', '/records/received', '/account/delete']]]) {
    for (const at of pages) {
      const { text } = await user.client.getHtml(at);
      assert.doesNotMatch(text, /href="\/send/, `no link of ${at} leads to the form`);
      if (at === '/') assert.ok(text.includes(words('zh-CN', 'sending_paused_detail')), 'the home page says why');
    }
  }
  assert.deepEqual([403, 'sending-paused'], await sendPacket(sender, even('1')).then((answer) => [answer.status, problem(answer)]));
  assert.equal((await sender.client.postHtml('/send', even('1'))).status, 403);
  assert.equal(await sentPath(sender, fields), path, 'a repeat gets its packet');
  assert.equal((await opened(receiver, path)).amount_fen, 100);
  await settled(receiver, path);
  assert.equal((await receiver.client.get('/wallet')).json.balance_fen, 100);
});
