// The announcement of a packet: the poster that its sender prints, the file for a calendar, and the printed version of
// the sender's page.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { sentPath } from './support/packets.js';
import { LANGUAGES, words } from './support/texts.js';
import { openNow } from './support/moments.js';
import { Client, newUser, site } from './support/site.js';
import { landscape, upload } from './support/upload.js';
import { clientPage, pageAt, testLanguages } from './support/visits.js';

const PHRASE = '芝麻开门';
const AMOUNT = '67.89';
const GREETING = '新春快乐,万事如意; 恭喜发财\\大吉大利';
const SHEETS = ['A4', 'Letter'];
const SHEET_MM = 215.9; // the wider one
const PX_PER_MM = 96 / 25.4;
const opens = () => new Date(Math.ceil(Date.now() / 60_000 + 60) * 60_000);

const browser = fileBrowser();
let sender;
let path;
let at;
before(async () => {
  sender = await newUser({ nickname: '青禾', yuan: '1000' });
  at = opens();
  path = await send({ opens_at: at.toISOString(), phrase: PHRASE });
});

const send = (fields = {}, from = sender) => sentPath(from, { kind: 'lucky', amount: AMOUNT, count: '3', greeting: GREETING, ...fields });

const pages = (pdf) => pdf.toString('latin1').match(/\/Type \/Page\b/g).length;
const secrets = (text) => [PHRASE, AMOUNT].filter((secret) => text.includes(secret));
const printed = async (page) => (await page.emulateMedia({ media: 'print' }), page.innerText('body'));

test('the poster is for the sender alone, and of no exclusive packet', async () => {
  const other = await newUser();
  assert.equal((await sender.client.getHtml(`${path}/poster`)).status, 200);
  assert.equal((await other.client.getHtml(`${path}/poster`)).status, 404);
  assert.equal((await new Client().getHtml(`${path}/poster`)).status, 303);
  assert.equal((await new Client().get(`${path}/poster`)).status, 401);
  const exclusive = await send({ kind: 'exclusive', count: '1', amount: '5', to: other.username });
  assert.equal((await sender.client.getHtml(`${exclusive}/poster`)).status, 404);
  assert.doesNotMatch((await sender.client.getHtml(exclusive)).text, /\/poster"/);
});

testLanguages('the poster says what one needs, without an amount or the passphrase, on one sheet', async ({ locale: language }) => {
  const page = await pageAt(browser, sender.client, path, { locale: language });
  await page.click(`text=${words(language, 'poster_open')}`);
  assert.equal(page.url(), `${site.url}${path}/poster`);
  const shown = await page.innerText('.poster');
  for (const wanted of ['青禾', GREETING, words(language, 'poster_phrase'), words(language, 'screen_scan')]) assert.ok(shown.includes(wanted), wanted);
  assert.equal(await page.getAttribute('.poster time', 'datetime'), at.toISOString());
  assert.deepEqual(secrets(await page.content()), []);
  for (const format of SHEETS) assert.equal(pages(await page.pdf({ format, printBackground: true })), 1, format);
  await page.emulateMedia({ media: 'print' });
  assert.deepEqual([await page.isVisible('[data-print]'), await page.isVisible('.poster .flap')], [false, true]);
  const [code, when, zone] = await Promise.all(['.qr', '.when time', '.when small'].map((selector) => page.locator(selector).boundingBox()));
  assert.ok(code.width / PX_PER_MM >= SHEET_MM / 2, 'the code is half as wide as the sheet');
  const [poster, flap] = await Promise.all(['.poster', '.poster .flap'].map((selector) => page.locator(selector).first().boundingBox()));
  assert.ok(Math.abs(flap.height - 0.6 * flap.width) < 2 && flap.y >= poster.y - 1 && flap.width >= poster.width - 1, 'all of the flap is seen');
  assert.equal(await page.locator('.when time').evaluate((time) => time.getClientRects().length), 1, 'the time is one line');
  assert.ok(zone.y > when.y + when.height / 2, 'its zone is another');
});

test('with the longest name and greeting, and with a cover of one\'s own, the poster is one sheet, too', async () => {
  const long = await newUser({ nickname: '福'.repeat(32), yuan: '1000' });
  const cover = (await upload(long.client, '/covers', landscape(1))).json.name;
  const poster = await send({ greeting: '恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊', phrase: PHRASE, opens_at: at.toISOString(), cover }, long);
  for (const locale of LANGUAGES) {
    const page = await pageAt(browser, long.client, `${poster}/poster`, { locale });
    for (const format of SHEETS) assert.equal(pages(await page.pdf({ format, printBackground: true })), 1, `${locale}, ${format}`);
  }
});

test('the own page of an open packet prints neither the passphrase nor the total', async () => {
  const page = await pageAt(browser, sender.client, path);
  assert.deepEqual(secrets(await page.innerText('body')), [PHRASE, AMOUNT]);
  assert.deepEqual(secrets(await printed(page)), []);
});

// The lines of a calendar file, unfolded: { NAME: value as written }.
const linesOf = (text) => Object.fromEntries(text.replaceAll('\r\n ', '').split('\r\n').filter(Boolean)
  .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]));

test('whoever sees the envelope gets the opening for a calendar, until it has come', async () => {
  const answer = await new Client().getHtml(`${path}/calendar.ics`, { 'accept-language': 'zh-CN' });
  assert.equal(answer.status, 200);
  assert.match(answer.headers.get('content-type'), /^text\/calendar; charset=utf-8$/);
  assert.match(answer.headers.get('content-disposition'), /filename="hongbao\.ics"/);
  assert.ok(answer.text.split('\r\n').every((line) => Buffer.byteLength(line) <= 75), answer.text);
  const lines = linesOf(answer.text);
  assert.equal(lines.DTSTART, at.toISOString().replaceAll(/[-:]|\.\d+/g, ''));
  assert.equal(lines.SUMMARY, '红包开抢 · 青禾');
  assert.equal(lines.URL, site.url + path);
  assert.ok(answer.text.replaceAll('\r\n ', '').includes(`DESCRIPTION:新春快乐\\,万事如意\\; 恭喜发财\\\\大吉大利\\n${site.url}${path}\r\n`), answer.text);
  assert.deepEqual(secrets(answer.text), []);
  assert.equal((await new Client().get(`${await send()}/calendar.ics`)).status, 404, 'it has no opening');
  const ended = await send({ opens_at: at.toISOString() });
  assert.equal((await sender.client.post(`${ended}/end`)).status, 200);
  const over = await new Client().getHtml(`${ended}/calendar.ics`, { 'accept-language': 'zh-CN' });
  assert.equal(over.status, 410);
  assert.ok(over.text.includes(words('zh-CN', 'calendar_over')) && over.text.includes(`href="${ended}"`), over.text);
  assert.equal((await new Client().get(`${ended}/calendar.ics`)).json.type, 'urn:hongbao:problem:expired');
});

test('the link to the calendar leads to the packet once it has opened', async () => {
  const opened = await send({ opens_at: at.toISOString() });
  await openNow(opened);
  const answer = await new Client().getHtml(`${opened}/calendar.ics`, { 'accept-language': 'en' });
  assert.equal(answer.status, 410);
  assert.ok(answer.text.includes(words('en', 'calendar_opened')) && answer.text.includes(`href="${opened}"`), answer.text);
  assert.equal((await new Client().get(`${opened}/calendar.ics`)).json.type, 'urn:hongbao:problem:opened');
});

test('the calendar does not have the greeting of an exclusive packet', async () => {
  const { username } = await newUser();
  const exclusive = await send({ kind: 'exclusive', count: '1', amount: '5', to: username, opens_at: at.toISOString() });
  const { status, text } = await new Client().getHtml(`${exclusive}/calendar.ics`);
  assert.equal(status, 200);
  assert.doesNotMatch(text, /新春快乐/);
});

test('the envelope that waits has the link, and loses it when the time has come', async () => {
  const guest = await newUser();
  const page = await clientPage(browser, guest.client);
  await page.clock.install();
  await page.goto(site.url + path);
  assert.equal(await page.getAttribute('.under [data-soon] a', 'href'), `${path}/calendar.ics`);
  await page.clock.fastForward(2 * 3_600_000);
  await page.waitForSelector('[data-soon]', { state: 'hidden' });
});
