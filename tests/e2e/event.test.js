// docs/how-to/event.md: its commands, executed in order, give the answers that it shows; its numbers for the limits of a hall agree with nginx and the program.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileBrowser } from './support/browser.js';
import { requestFrom } from './support/from_address.js';
import { walk } from './support/how_to.js';
import { env } from './support/instance.js';
import { sentPath } from './support/packets.js';
import { newUser, poll, pooled, site, unique } from './support/site.js';
import { LANGUAGES, words } from './support/texts.js';
import { clientPage, pageAt } from './support/visits.js';

const PAGE = readFileSync(new URL('../../docs/how-to/event.md', import.meta.url), 'utf8');
const CROWD = 60; // guests at once, without the lines for a hall
const AT_ONCE = 20; // the number of guests at once that is never refused
// guests of e2e.event_hall: as many as in the page, above each limit
const HALL = Number(process.env.HB_TEST_GUESTS ?? 40);
const WIDTH = 16; // registrations at the same time
const HALL_FILE = join(env.HB_TEST_VAR, 'hongbao-hall.conf');
const TOO_MANY = 429;

// The lines of a block of this kind without their comments.
const linesOf = (kind) => new RegExp(`\`\`\`${kind}\n([^]*?)\`\`\``).exec(PAGE)[1].replaceAll(/ *#.*$/gm, '').split('\n').filter(Boolean);
const settings = Object.fromEntries(linesOf('ini').map((line) => line.split(' = ')).map(([name, value]) => [`HB_${name.toUpperCase()}`, value]));

const restart = (extra) => site.startAnew(['nginx', 'auth', 'page'], extra);

async function register(address) {
  const username = unique('h');
  return requestFrom(address, `${site.url}/register`, { fields: { username, nickname: username, password: `a good ${username}` } });
}

const browser = fileBrowser();
const countOf = (answers, status) => answers.filter((answer) => answer.status === status).length;

after(async () => {
  await rm(HALL_FILE, { force: true });
  await restart({});
});

test('the walk of the page for events', async () => {
  await restart(settings);
  const files = await walk('event.md', import.meta.url, await newUser());
  assert.ok(files['sent.json'].includes('"commitment"'));
});

// 800 as in the page, with the settings of the walk.
test('the words of the page are those of the pages, in the order of the errand', async () => {
  const sender = await newUser({ yuan: '3200' });
  for (const [i, locale] of LANGUAGES.entries()) {
    // 总金额 (Total amount): both words of a place. Chinese has no blanks.
    const said = (chinese) => {
      const both = new RegExp(`${chinese}\\s\\(([^)]+)\\)`).exec(PAGE.replaceAll(/\s+/g, ' '));
      assert.ok(both, `the page has no ${chinese} (…)`);
      return [chinese, both[1]][i];
    };
    const page = await pageAt(browser, sender.client, '/', { locale });
    await page.click(`.nav >> text=${said('发红包')}`);
    await page.getByRole('radio', { name: said('拼手气红包') }).check();
    await page.getByLabel(said('总金额')).fill('1600');
    await page.getByLabel(said('红包个数')).fill('800');
    await page.getByText(said('封面')).first().waitFor();
    await page.click(`summary:has-text("${said('更多选项')}")`);
    await page.getByLabel(said('口令')).fill('年会快乐');
    await page.getByLabel(said('有效期')).selectOption('1h');
    const opens = new Date(Date.now() + 86_400_000).toISOString().slice(0, 16);
    await page.getByLabel(said('开抢时间')).fill(opens);
    if (i === 0) await page.click(`button:has-text("${said('塞钱进红包')}")`);
    else assert.equal((await page.innerText('.pay button')).trim(), said('塞钱进红包'));
    if (i === 0) await page.waitForURL(/\/p\//);
    else await page.goto(site.url + sender.packet);
    sender.packet = new URL(page.url()).pathname;
    const own = page.url();
    const shown = await page.innerText('main');
    for (const word of ['复制链接', '打印海报', '打开大屏幕', '提前结束']) assert.ok(shown.includes(said(word)), `${said(word)}: ${shown}`);
    await page.click(`text=${said('打印海报')}`);
    await page.waitForSelector('.poster');
    await page.goto(own);
    await page.click(`text=${said('打开大屏幕')}`);
    assert.equal((await page.innerText('[data-full]')).trim(), said('全屏'));
    assert.equal(said('开抢！'), words(locale, 'screen_start'));
    assert.ok(words(locale, 'problem_busy').startsWith(said('太火爆啦')));
    const guest = await clientPage(browser, (await newUser()).client, { locale });
    await guest.goto(own);
    assert.ok((await guest.innerText('main')).includes(said('加入日历，到点提醒我')));
  }
});

test('the limits of a hall on the page are those of nginx and of the program', async () => {
  const { stdout } = await site.hongbao('settings', '--markdown');
  for (const name of ['limit_hash_address', 'limit_register_address']) {
    const [, burst, rate] = new RegExp(`\`${name}\` \\| \`(\\d+) (\\d+)/s\``).exec(stdout);
    assert.match(PAGE, new RegExp(`\`${name}\`:.* \\| ${burst}, then ${rate} a second \\|`));
  }
  const conf = (name) => readFileSync(new URL(`../../nginx/${name}`, import.meta.url), 'utf8');
  const [, rate] = /zone=hongbao_logins:\w+ rate=(\d+)r\/s/.exec(conf('http.conf'));
  const [, burst] = /zone=hongbao_logins burst=(\d+)/.exec(conf('site.conf'));
  assert.match(PAGE, new RegExp(`\`hongbao_logins\`:.* \\| ${burst}, then ${rate} a second \\|`));
});

test('without the lines, guests behind one address are refused after the first twenty', async () => {
  await restart({ HB_LIMITS: 'on' });
  const first = await Promise.all(Array.from({ length: AT_ONCE }, () => register('127.90.0.1')));
  assert.equal(countOf(first, 201), AT_ONCE, first.find(({ status }) => status !== 201)?.text);
  await poll('some are refused', async () => {
    const answers = await Promise.all(Array.from({ length: CROWD }, () => register('127.90.0.1')));
    assert.equal(countOf(answers, 201) + countOf(answers, TOO_MANY), CROWD);
    return countOf(answers, TOO_MANY) > 0;
  });
});

const session = (answer) => /^sid=[^;]+/.exec([answer.headers['set-cookie']].flat().find((cookie) => cookie.startsWith('sid=')))[0];

test(`with the lines, ${HALL} guests behind one address register and open a share each, and none is refused`, async (t) => {
  const address = '127.91.0.1';
  await writeFile(HALL_FILE, `${linesOf('nginx').join('\n')}\n`.replace('192.0.2.10', address));
  await restart({ HB_LIMITS: 'on', ...settings });
  const sender = await newUser({ yuan: '2000' });
  const path = await sentPath(sender, { kind: 'lucky', amount: '2000', count: String(HALL) });
  const begun = Date.now();
  const guests = await pooled(Array.from({ length: HALL }), WIDTH, () => register(address));
  assert.equal(countOf(guests, 201), HALL, guests.find(({ status }) => status !== 201)?.text);
  const registered = Date.now();
  const opened = await Promise.all(guests.map(async (guest) => {
    const seen = await requestFrom(address, site.url + path, { cookie: session(guest) });
    const answer = await requestFrom(address, `${site.url}${path}/open`, { fields: { phrase: '' }, cookie: session(guest) });
    return { ...answer, seen: seen.status };
  }));
  t.diagnostic(`${HALL} registrations took ${registered - begun} ms, ${HALL} views and grabs at once ${Date.now() - registered} ms`);
  assert.equal(opened.filter(({ status, seen }) => status === 200 && seen === 200).length, HALL, opened.find(({ status }) => status !== 200)?.text);
  const amounts = opened.map(({ text }) => JSON.parse(text).amount_fen).sort((a, b) => b - a);
  assert.equal(amounts.reduce((sum, fen) => sum + fen, 0), 200_000);
  const screen = (await sender.client.get(`${path}/screen`)).json;
  assert.deepEqual([screen.state, screen.left_count], ['finished', 0]);
  assert.deepEqual(screen.top.map(({ amount_fen: fen }) => fen), amounts.slice(0, 3), 'the luckiest of all, however many');
});
