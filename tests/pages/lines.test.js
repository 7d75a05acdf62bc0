// Where lines break on the pages of a packet, on a small phone with letters of twice the size and on a usual one: no word
// and no amount is torn apart, no line begins with a comma, and a greeting without punctuation fills its lines.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { opened, sentPath, settled } from '../e2e/support/packets.js';
import { newUser, site } from '../e2e/support/site.js';
import { fileWindow } from './support/windows.js';

const LOOKS = { '320 px, 200 %': { width: 320, letters: '200%' }, '390 px': { width: 390, letters: '' } };
// Words of our texts and of the greetings below. Dictionaries of the platform differ between versions.
const WORDS = ['红包', '领取', '还没', '提前', '结束', '小时', '有效', '零钱', '登录', '注册', '生日', '快乐', '妈妈', '朋友', '首页', '口令', '打开',
  '手气', '退还', '退回', '金额', '公平', '验证', '看到', '查看', '大小写', '半角', '全角', '指定', '好友', '账号', '明细', '收据', '分享', '链接', '身体',
  '健康', '谢谢', '老板', '随机', '答谢', '发出', '领走', '存入', '用于', '确认', '自己', '大家', '抢光', '开抢', '日历', '海报', '屏幕', '再发', '无法',
  '撤销', '剩下', '重新', '加载', '最多', '余额', '输入', '用户名', '名字', '立即', '时区', '拼手气', '普通', '专属', '单个', '未领取'];
const RUN = '祝妈妈生日快乐身体健康万事如意天天开心年年有余岁岁平安'.slice(0, 25);

const pages = await fileWindow();
const people = { guest: undefined };
let paths;
before(async () => {
  const sender = await newUser({ nickname: '小明', yuan: '30000' });
  const taker = await newUser({ nickname: '乐乐' });
  Object.assign(people, { sender, taker, stranger: await newUser() });
  const send = (fields) => sentPath(sender, { kind: 'lucky', amount: '20', count: '5', ...fields });
  const grab = async (user, path) => {
    await opened(user, path);
    await settled(user, path);
  };
  paths = {
    short: await send({ greeting: '妈妈生日快乐！' }),
    clauses: await send({ greeting: '祝妈妈生日快乐，身体健康' }),
    run: await send({ greeting: RUN }),
    secret: await send({ greeting: '恭喜发财，大吉大利', phrase: '芝麻开门' }),
    waiting: await send({ opens_at: new Date(Date.now() + 86_400_000).toISOString() }),
    named: await send({ kind: 'exclusive', count: '1', amount: '5.20', to: taker.username, greeting: '生日快乐' }),
    kept: await send({ kind: 'exclusive', count: '1', amount: '5.20', to: taker.username, greeting: '妈妈生日快乐' }),
    taken: await send({ greeting: '祝妈妈生日快乐，身体健康' }),
    great: await send({ kind: 'even', count: '100', amount: '199.99' }),
    gone: await send({ kind: 'even', count: '1', amount: '199.99' }),
    ended: await send({}),
    form: '/send',
    formForOne: '/send?kind=exclusive',
  };
  for (const path of [paths.named, paths.taken, paths.great, paths.gone]) await grab(taker, path);
  assert.equal((await sender.client.post(`${paths.ended}/end`)).status, 200);
  const known = await newUser({ nickname: '乐乐和她的小猫' });
  await send({ kind: 'exclusive', count: '1', amount: '1', to: known.username });
  assert.equal((await known.client.post('/account/nickname', { nickname: '乐乐和她的小猫', face: 'rabbit' })).status, 200);
});

// Runs in the page, on everything except its foot: finds words and amounts that are on two lines, and lines that begin
// with a mark that ends a clause.
function torn(words) {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const top = (text, from, to) => {
    const range = document.createRange();
    range.setStart(text, from);
    range.setEnd(text, to);
    return [...new Set([...range.getClientRects()].filter(({ width }) => width > 0).map((box) => Math.round(box.top)))];
  };
  while (walk.nextNode()) {
    const text = walk.currentNode;
    if (!text.parentElement.checkVisibility({ visibilityProperty: true }) || text.parentElement.closest('.vh, bdi, .run, .bottom')) continue;
    const places = words.flatMap((word) => [...text.data.matchAll(word)]);
    for (const { 0: word, index } of [...places, ...text.data.matchAll(/[\d,]+\.\d\d(\u2060元)?|\S(?=[，。、！？；：」”])/g)]) {
      const next = /[，。、！？；：」”]/.test(text.data[index + word.length]) && word.length === 1 ? 1 : 0;
      if (top(text, index, index + word.length + next).length > 1) found.push(`${word} in ${text.data.trim()}`);
    }
  }
  return found;
}

const large = LOOKS['320 px, 200 %'];
async function resize(page, { width, letters }) {
  await page.setViewportSize({ width, height: 844 });
  await page.evaluate((size) => { document.documentElement.style.fontSize = size; }, letters); // as the browser's setting does
}
async function visit(who, path, look = LOOKS['390 px'], locale = 'zh-CN') {
  const page = await pages.visit(people[who]?.client, path, { locale });
  await resize(page, look);
  return page;
}

const unfold = (page) => page.evaluate(() => document.querySelectorAll('details').forEach((part) => { part.open = true; }));
const missing = (page) => page.click('.coin');

const STATES = [
  ['an envelope', 'stranger', 'short'], ['an envelope of two clauses', 'stranger', 'clauses'], ['an envelope for a guest', 'guest', 'clauses'],
  ['an envelope with a passphrase', 'stranger', 'secret'], ['a passphrase that is missing', 'stranger', 'secret', missing],
  ['an envelope that waits', 'stranger', 'waiting'], ['an exclusive one for a guest', 'guest', 'kept'],
  ['an exclusive one for others', 'stranger', 'kept'], ['an exclusive one', 'taker', 'kept'], ['a result', 'taker', 'taken', unfold],
  ['an exclusive result', 'taker', 'named'], ['sold out', 'stranger', 'gone'], ['sold out for a guest', 'guest', 'gone'],
  ['ended', 'stranger', 'ended'], ['one’s own', 'sender', 'short', unfold], ['one’s own, taken', 'sender', 'taken', unfold],
  ['one’s own, exclusive', 'sender', 'kept'], ['one’s own, exclusive and taken', 'sender', 'named'],
  ['one’s own, of a great sum', 'sender', 'great'], ['one’s own, gone', 'sender', 'gone'], ['one’s own, ended', 'sender', 'ended'],
  ['the form', 'sender', 'form', unfold], ['the form for one', 'sender', 'formForOne', unfold],
];

for (const [name, who, packet, act] of STATES) {
  test(`lines break between words: ${name}`, async () => {
    const page = await visit(who, paths[packet]);
    await act?.(page);
    for (const [name, look] of Object.entries(LOOKS)) {
      await resize(page, look);
      assert.deepEqual(await page.evaluate(torn, WORDS), [], name);
    }
  });
}

test('a long greeting without punctuation fills balanced lines', async () => {
  for (const who of ['stranger', 'sender']) {
    const page = await visit(who, paths.run);
    for (const [name, look] of Object.entries(LOOKS)) {
      await resize(page, look);
      const lines = await page.evaluate(() => {
        const range = document.createRange();
        range.selectNodeContents(document.querySelector('.greeting'));
        return [...range.getClientRects()].map(({ width }) => width);
      });
      assert.ok(lines.length > 1 && Math.min(...lines) > Math.max(...lines) / 2, `${name}, ${who}: ${lines}`);
    }
  }
});

test('with letters of twice the size the form shows whole names, of a usual size, and the kinds below each other', async () => {
  const page = await visit('sender', paths.formForOne, large);
  const name = page.locator('.pick > bdi', { hasText: '乐乐和她的小猫' });
  assert.deepEqual(await name.evaluate((text) => [text.scrollWidth <= text.clientWidth, text.scrollHeight <= text.clientHeight + 1]), [true, true]);
  assert.ok(!(await page.locator('.pick small').first().isVisible()), 'a username that nobody needs');
  const tabs = await page.locator('.tabs > label').evaluateAll((labels) => labels.map((label) => label.getBoundingClientRect().top));
  assert.equal(new Set(tabs).size, 3, tabs.join());
  assert.ok(await page.locator('.tabs span').first().evaluate((text) => parseFloat(getComputedStyle(text).fontSize) >= 28));
});

test('names stand on one line below faces of all sorts', async () => {
  const page = await visit('sender', paths.formForOne);
  const tops = await page.locator('.pick').evaluateAll((picks) => picks.map((pick) => pick.children[1].getBoundingClientRect().top - pick.getBoundingClientRect().top));
  assert.ok(tops.length >= 2 && new Set(tops.map(Math.round)).size === 1, tops.join());
});

test('a greeting of six characters is on one line of a small envelope at home', async () => {
  const page = await visit('taker', '/');
  for (const [name, look] of Object.entries(LOOKS)) {
    await resize(page, look);
    const lines = await page.locator('.mini .greeting', { hasText: '妈妈生日快乐' }).evaluate((text) => {
      const range = document.createRange();
      range.selectNodeContents(text);
      return range.getClientRects().length;
    });
    assert.equal(lines, 1, name);
  }
});

test('with letters of twice the size the navigation covers no action that has the focus, nor the page’s end', async () => {
  for (const [who, path, selector] of [['taker', paths.taken, '.lip .button'], ['stranger', paths.secret, '.phrase .button']]) {
    const page = await visit(who, path, large);
    const nav = await page.locator('.nav').boundingBox();
    await page.locator(selector).focus();
    const { y, height } = await page.locator(selector).boundingBox();
    assert.ok(y + height <= nav.y, `${selector} ends at ${y + height} of ${nav.y}`);
    await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
    const foot = await page.locator('.bottom > :last-child').boundingBox();
    assert.ok(foot.y + foot.height <= nav.y, `the page ends at ${foot.y + foot.height} of ${nav.y}`);
  }
});

// The pictures of an envelope are views of one file: a view without a shape of its own takes the shape of another, by
// turns.
test('the flap and the sea of an envelope keep their shapes, also when the file is in the cache', async () => {
  const shapes = (page, selector) => page.locator(selector).evaluateAll((images) => images.map((image) => getComputedStyle(image).aspectRatio));
  const page = await visit('stranger', paths.short);
  for (let i = 0; i < 10; i += 1) {
    const [flap, sea] = await Promise.all(['.flap', '.sea'].map((one) => page.locator(one).boundingBox()));
    assert.deepEqual([flap, sea].map(({ width, height }) => Math.round(width / height * 10)), [17, 56], `load ${i}`);
    await page.reload();
  }
  for (const path of [paths.short, paths.secret, paths.waiting, '/', '/send', '/covers']) {
    await page.goto(site.url + path);
    const flaps = await shapes(page, 'img:is(.flap, .tile img):not(.photo)');
    assert.deepEqual([...new Set([...flaps, '360 / 216'])], ['360 / 216'], path);
    assert.deepEqual([...new Set([...await shapes(page, '.sea'), '360 / 64'])], ['360 / 64'], path);
  }
});

// Runs in the page: the texts of the lines of the greeting.
const linesOf = (page) => page.locator('.greeting').first().evaluate((greeting) => {
  const text = greeting.firstChild;
  const lines = new Map();
  for (let i = 0; i < text.length; i += 1) {
    const range = document.createRange();
    range.setStart(text, i);
    range.setEnd(text, i + 1);
    const box = range.getBoundingClientRect();
    if (box.width) lines.set(Math.round(box.bottom), (lines.get(Math.round(box.bottom)) ?? '') + text.data[i]);
  }
  return [...lines.values()].map((line) => line.trim());
});

test('a clause of up to twelve characters is not broken: on the envelope, on the sender’s page and in the result', async () => {
  for (const greeting of ['2026年会快乐，感谢大家一年的努力', '祝奶奶福如东海寿比南山，年年有今日岁岁有今朝', '祝大家新的一年万事都如意']) {
    const path = await sentPath(people.sender, { kind: 'lucky', amount: '20', count: '5', greeting });
    const whole = async (who, looks) => {
      const page = await visit(who, path);
      for (const look of looks) {
        await resize(page, look);
        const lines = await linesOf(page);
        assert.equal(lines.join(''), greeting);
        assert.ok(lines.slice(0, -1).every((line) => line.endsWith('，')), `${look.width} px: ${lines.join(' / ')}`);
      }
    };
    for (const who of ['stranger', 'sender']) await whole(who, [320, 390, 1280].map((width) => ({ width, letters: '' })));
    await opened(people.stranger, path);
    await whole('stranger', Object.values(LOOKS));
  }
});

test('a greeting in English fills its lines on a Chinese page, a Chinese one has its own lines on an English page', async () => {
  const lines = async (greeting, locale) => {
    const path = await sentPath(people.sender, { kind: 'lucky', amount: '20', count: '5', greeting });
    return linesOf(await visit('stranger', path, undefined, locale));
  };
  const english = await lines('Happy birthday Grandma, from all of us in New York');
  assert.ok(english.length <= 3, english.join('/'));
  assert.deepEqual(await lines('祝妈妈生日快乐，身体健康', 'en'), ['祝妈妈生日快乐，', '身体健康']);
});
