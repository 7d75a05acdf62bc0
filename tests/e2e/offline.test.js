// Without a network: the page that the service worker shows, live pages that wait, and shares that are taken once. The
// browser reaches the site through a proxy, which a test cuts: other visitors of the site notice nothing.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { after, before, test } from 'node:test';
import { consoleErrors, fileBrowser } from './support/browser.js';
import { opened, sentPath } from './support/packets.js';
import { audit, newUser, poll, site } from './support/site.js';
import { words } from './support/texts.js';
import { clientPage, testLanguages } from './support/visits.js';

const KEPT = ['/static/app.css', '/static/calm.svg', '/static/favicon.svg', '/static/offline.html', '/static/offline.js'];
const PAPER = 'rgb(250, 243, 231)';

// A proxy to the site: { url, cut(), mend(), options, close() }. options.refuse: a request with this text is cut off.
// options.deaf: answers are lost.
async function line() {
  const sockets = new Set();
  const options = {};
  const server = createServer((near) => {
    const far = connect(Number(new URL(site.url).port), '127.0.0.1');
    for (const [one, other] of [[near, far], [far, near]]) {
      sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => { sockets.delete(one); other.destroy(); });
    }
    near.on('data', (bytes) => (options.refuse && bytes.includes(options.refuse) ? near.destroy() : far.write(bytes)));
    far.on('data', (bytes) => (options.deaf ? near.destroy() : near.write(bytes)));
  });
  const mend = async (port) => { await once(server.listen(port, '127.0.0.1'), 'listening'); };
  await mend(0);
  const { port } = server.address();
  const cut = async () => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of sockets) socket.destroy();
    await closed;
  };
  return { url: `http://127.0.0.1:${port}`, cut, mend: () => mend(port), options, close: () => server.listening && cut() };
}

const browser = fileBrowser();
let sender;
let receiver;
let net;
before(async () => {
  sender = await newUser({ yuan: '100' });
  receiver = await newUser();
  net = await line();
});
after(async () => { await net?.close(); });

const packet = () => sentPath(sender, { kind: 'lucky', amount: '3', count: '3' });

const taken = async (path) => (await sender.client.get(path)).json.grabbed_count;

// A page of the user whose service worker is active: { page, problems }.
async function visit({ client }, path, locale = 'zh-CN') {
  const page = await clientPage(browser, client, { locale, serviceWorkers: 'allow' });
  const problems = consoleErrors(page);
  await page.goto(net.url);
  await poll('the worker is active', () => page.evaluate(async () => (
    (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated')));
  await page.goto(net.url + path);
  return { page, problems };
}

const isOffline = async (page) => /没有网络/.test(await page.textContent('h1'));

test('without a network a page says so in the look of the site, and comes when the network is back', async () => {
  const path = await packet();
  const { page, problems } = await visit(sender, '/');
  await page.goto(net.url + path);
  assert.deepEqual(problems, []);
  await net.cut();
  for (const address of [path, '/wallet', '/records/sent?page=2']) {
    await page.goto(net.url + address);
    assert.ok(await isOffline(page), address);
    assert.equal(page.url(), net.url + address);
    assert.equal(await page.$eval('body', (body) => getComputedStyle(body).backgroundColor), PAPER);
  }
  await net.mend();
  await page.click('main a.button');
  await page.waitForSelector('.records, .rows, .tabs');
  assert.equal(page.url(), `${net.url}/records/sent?page=2`);
  await net.cut();
  await page.goto(net.url + path);
  assert.ok(await isOffline(page));
  await page.context().setOffline(true);
  await net.mend();
  await page.context().setOffline(false);
  await page.waitForSelector('[data-live=rows]', { state: 'attached' });
  assert.equal(page.url(), net.url + path);
});

test('only the files of that page are kept', async () => {
  const path = await packet();
  const { page } = await visit(sender, '/');
  for (const address of ['/', path, '/wallet', '/records/sent', '/send', '/account', `${path}/card.png`, '/nothing']) {
    await page.goto(net.url + address);
  }
  await page.goto(net.url);
  const kept = await page.evaluate(async () => {
    const stores = await Promise.all((await caches.keys()).map(async (name) => (await caches.open(name)).keys()));
    return stores.flat().map(({ url }) => new URL(url)).map(({ pathname, search }) => pathname + search);
  });
  assert.deepEqual(kept.sort(), KEPT);
});

test('a file that can not be fetched leaves the others', async () => {
  net.options.refuse = 'GET /static/favicon.svg';
  const { page } = await visit(sender, '/');
  await net.cut();
  await page.goto(`${net.url}/wallet`);
  assert.ok(await isOffline(page));
  net.options.refuse = undefined;
  await net.mend();
});

for (const look of ['', '/screen']) {
  testLanguages(`a live page${look} waits for the network, and then goes on`, async ({ locale: language }) => {
    const path = await packet();
    const { page } = await visit(sender, path + look, language);
    const said = () => page.textContent('main > .offline');
    await page.waitForSelector('main > .offline', { state: 'attached' });
    assert.equal(await said(), '');
    await page.context().setOffline(true);
    await poll('the page says that it waits', async () => await said() === words(language, 'offline'));
    assert.ok(await page.isVisible('main > .offline'));
    await opened(receiver, path);
    await page.context().setOffline(false);
    // The big screen shows the first three on its podium, and not again below.
    await poll('the row is there', async () => await page.locator('[data-live=rows] > li, [data-live=top] > li').count() === 1);
    assert.equal(await said(), '');
  });
}

// Waits until the page says that its pressed coin waits for the network.
const waits = (page, language) => poll('the page says that it waits', async () => (
  await page.textContent('main > .offline') === words(language, 'open_offline')));

testLanguages('a coin pressed without a network waits for it, and then opens the packet', async ({ locale: language }) => {
  const path = await packet();
  const { page } = await visit(receiver, path, language);
  await page.context().setOffline(true);
  await page.click('button.coin');
  await waits(page, language);
  await page.click('button.coin', { force: true });
  assert.equal(page.url(), net.url + path);
  assert.equal(await taken(path), 0);
  await page.context().setOffline(false);
  await page.waitForSelector('.result');
  assert.equal(page.url(), net.url + path);
  assert.equal(await taken(path), 1);
});

test('a network that is away without a word to the browser is waited for, too', async () => {
  const path = await packet();
  const { page } = await visit(receiver, path);
  await net.cut();
  await page.click('button.coin');
  await waits(page, 'zh-CN');
  assert.equal(await taken(path), 0);
  await net.mend();
  await page.waitForSelector('.result');
  assert.equal(await taken(path), 1);
});

test('a browser that believes to have no network, but reaches the site, opens the packet and says thanks', async () => {
  const path = await packet();
  const { page } = await visit(receiver, path);
  await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false }));
  await page.click('button.coin');
  await page.waitForSelector('.result');
  const luck = `button[value="${words('zh-CN', 'thanks_luck')}"]`;
  await page.evaluate(() => Object.defineProperty(navigator, 'onLine', { value: false }));
  await page.click(luck);
  await page.waitForSelector('.rows .thanks');
  assert.equal(await page.innerText('.rows .thanks'), words('zh-CN', 'thanks_luck'));
});

test('a share whose answer was lost is taken once, and shown when the network is back', async () => {
  const path = await packet();
  const { page } = await visit(receiver, path);
  net.options.deaf = true;
  await page.click('button.coin');
  await poll('the share is taken', async () => await taken(path) === 1);
  await waits(page, 'zh-CN');
  net.options.deaf = false;
  await page.waitForSelector('.result');
  assert.equal(await taken(path), 1);
  await audit();
});

test('a send whose answer was lost is made once, when the page of the browser is loaded again', async () => {
  const user = await newUser({ yuan: '10' });
  const { page } = await visit(user, '/send');
  await page.fill('[name=count]', '2');
  await page.fill('[name=amount]', '3');
  net.options.deaf = true;
  await page.click('form[action="/send"] button.wide', { noWaitAfter: true });
  await poll('the packet is sent', async () => (await user.client.get('/wallet')).json.balance_fen === 700);
  await poll('the page of the browser', () => page.url().startsWith('chrome-error:'));
  net.options.deaf = false;
  await page.reload();
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  assert.equal((await user.client.get('/wallet')).json.balance_fen, 700);
  assert.equal((await user.client.get('/records/sent')).json.items.length, 1);
});

test('a phrase that is typed without a network is tried once when it is back', async () => {
  const path = await sentPath(sender, { kind: 'lucky', amount: '3', count: '3', phrase: 'open sesame' });
  const { page } = await visit(receiver, path);
  await page.context().setOffline(true);
  await page.fill('#phrase', 'open barley');
  await page.click('button.coin');
  await waits(page, 'zh-CN');
  await page.context().setOffline(false);
  await page.waitForSelector('#phrase_error');
  assert.match(await page.textContent('#phrase_error'), /9/, 'tries that are left of ten');
  await page.fill('#phrase', 'open sesame');
  await page.click('button.coin');
  await page.waitForSelector('.result');
});

testLanguages('a form that is sent without a network stays as it is, and is sent when it is pressed again', async ({ locale: language }) => {
  const user = await newUser({ yuan: '10' });
  const { page } = await visit(user, '/send', language);
  await page.fill('[name=count]', '2');
  await page.fill('[name=amount]', '3');
  await page.context().setOffline(true);
  await page.click('form[action="/send"] button.wide');
  await poll('the page says so', async () => await page.textContent('main > .offline') === words(language, 'form_offline'));
  assert.equal(await page.inputValue('[name=amount]'), '3');
  await page.context().setOffline(false);
  await poll('the notice goes', async () => await page.textContent('main > .offline') === '');
  assert.equal((await user.client.get('/wallet')).json.balance_fen, 1000);
  await page.click('form[action="/send"] button.wide');
  await page.waitForURL(/\/p\/[0-9a-z]{26}$/);
  assert.equal((await user.client.get('/wallet')).json.balance_fen, 700);
});

test('a site that is busy is asked again, not before it wants', async () => {
  const path = await packet();
  const { page } = await visit(receiver, path);
  const asked = [];
  await page.route(`**${path}/open`, (route) => {
    asked.push([route.request().resourceType(), Date.now()]);
    return asked.length > 1 ? route.continue() : route.fulfill({ status: 503, headers: { 'Retry-After': '1' } });
  });
  await page.click('button.coin');
  await page.waitForSelector('.result');
  assert.deepEqual(asked.map(([type]) => type), ['xhr', 'document']);
  assert.ok(asked[1][1] - asked[0][1] >= 1000);
  assert.equal(await taken(path), 1);
});

test('a session that has ended leads to the login, and back to the packet', async () => {
  const path = await packet();
  const guest = await newUser();
  const { page } = await visit(guest, path);
  await guest.client.post('/logout');
  await page.click('button.coin');
  await page.waitForURL(/\/login\?/);
  assert.equal(new URL(page.url()).searchParams.get('next'), path);
  assert.equal(await taken(path), 0);
});
