// The picture to share: what is on it, for whom, and what it costs.
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fetched } from './support/client.js';
import { env } from './support/instance.js';
import { opened, sentPath } from './support/packets.js';
import { run, temporaryFolder } from './support/run.js';
import { Client, newUser, poll, site } from './support/site.js';

const folder = temporaryFolder('card');
const PNG = Buffer.from('89504e470d0a1a0a', 'hex');

let sender;
before(async () => { sender = await newUser({ nickname: '艾丽', yuan: '100' }); });

const send = (fields = {}) => sentPath(sender, { kind: 'lucky', amount: '1', count: '3', ...fields });

// { status, headers, bytes, width, height }
async function picture(path, options) {
  const answer = await fetched(path, options);
  const isPng = answer.bytes.subarray(0, 8).equals(PNG);
  return { ...answer, width: isPng ? answer.bytes.readUInt32BE(16) : 0, height: isPng ? answer.bytes.readUInt32BE(20) : 0 };
}

// Empties the cache: nginx has everything drawn again.
function cacheEmpty() {
  const cache = `${env.HB_TEST_VAR}/tmp/nginx-cards`;
  for (const name of readdirSync(cache)) rmSync(join(cache, name), { recursive: true });
}

// What a phone reads from the picture.
async function scanned(bytes) {
  const file = join(folder, 'card.png');
  writeFileSync(file, bytes);
  return (await run('zbarimg', ['-q', '--raw', file])).stdout.trim();
}

const drawn = async () => Number(/^hongbao_requests_total\{pool=\"card\"\} (\d+)$/m.exec((await new Client().get('/metrics')).text)[1]);

for (const [shape, width, height] of [['wide', 1200, 630], ['tall', 1080, 1440]]) {
  for (const lang of ['zh-CN', 'en']) {
    test(`${shape}, ${lang}: a picture of ${width} × ${height}, whose code leads to the packet`, async () => {
      const path = await send({ cover: 'birthday', greeting: '<新年> & "快乐" \'!\'' });
      const card = await picture(`${path}/card.png?shape=${shape}&lang=${lang}`);
      assert.deepEqual([card.status, card.width, card.height], [200, width, height]);
      assert.equal(card.headers.get('content-type'), 'image/png');
      assert.match(card.headers.get('cache-control'), /^public, max-age=\d+$/);
      assert.equal(card.headers.get('set-cookie'), null);
      assert.equal(await scanned(card.bytes), site.url + path);
    });
  }
}

for (const shape of ['wide', 'tall']) {
  test(`${shape}: the opening is on it, and leaves room for the code`, async () => {
    const opens = new Date(Date.now() + 3_600_000).toISOString();
    for (const fields of [{}, { opens_at: opens }, { phrase: 'sesame' }, { opens_at: opens, phrase: 'sesame' }]) {
      const path = await send({ greeting: '恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊', ...fields });
      const { bytes } = await picture(`${path}/card.png?shape=${shape}`);
      assert.equal(await scanned(bytes), site.url + path, JSON.stringify(fields));
    }
  });
}

test('every cover and every greeting can be drawn', async () => {
  const greetings = ['👨‍👩‍👧‍👦🏳️‍🌈🇨🇳👩🏽‍🚀👨‍❤️‍💋‍👨'.repeat(5), 'كل عام وأنتم بخير ٢٠٢٦!!!', 'W'.repeat(50), '\uffff\ufffe', ']]>&amp;<!--', '{{x}}', ''];
  const covers = ['plain', 'spring-festival', 'mid-autumn', 'birthday', 'wedding', 'baby', 'new-job', 'thanks'];
  for (const [i, cover] of covers.entries()) {
    const path = await send({ cover, greeting: greetings[i % greetings.length], ...(i === 0 && { to: (await newUser({ nickname: '福'.repeat(32) })).username, count: '1' }) });
    const card = await picture(`${path}/card.png`);
    assert.equal(card.status, 200, `${cover}, ${greetings[i % greetings.length]}`);
    assert.equal(await scanned(card.bytes), site.url + path);
  }
});

test('the picture is the same for everybody and shows no grab', async () => {
  const path = await send();
  const first = await picture(`${path}/card.png?lang=en`);
  const grabber = await newUser({ nickname: '小明' });
  await opened(grabber, path);
  cacheEmpty();
  const cookie = `sid=${sender.client.cookie('sid')}`;
  const later = await picture(`${path}/card.png?lang=en&shape=wide`, { headers: { cookie } });
  assert.ok(first.bytes.equals(later.bytes));
  assert.ok(!first.bytes.equals((await picture(`${path}/card.png?lang=zh-CN`)).bytes), 'another language, other words');
});

test('a crowd costs one drawing, and what was drawn is served without the pool', async () => {
  const path = await send();
  const before = await drawn();
  const crowd = await Promise.all(Array.from({ length: 40 }, (_, i) => picture(`${path}/card.png?lang=en&x=${i}`)));
  assert.deepEqual([...new Set(crowd.map(({ status }) => status))], [200]);
  assert.equal(await drawn() - before, 1);
  await site.without(['card'], async () => {
    assert.equal((await picture(`${path}/card.png?lang=en`)).status, 200);
    assert.equal((await picture(`${path}/card.png?lang=en`, { method: 'HEAD' })).status, 200);
    assert.equal((await picture(`${path}/card.png?lang=zh-CN`)).status, 503);
    assert.equal((await sender.client.get(path)).status, 200, 'pages do not need the pool');
  });
  await poll('the pool is back', async () => (await picture(`${path}/card.png?lang=zh-CN`)).status === 200);
});

test('a query in another spelling gets no other picture into the cache', async () => {
  const path = await send();
  const ask = (query, language) => picture(`${path}/card.png${query}`, { headers: { 'accept-language': language } });
  const sly = await ask('?l%61ng=en', 'zh-CN');
  const chinese = await ask('?lang=zh-CN', 'en');
  assert.equal(sly.status, 200);
  assert.ok(sly.bytes.equals(chinese.bytes));
  assert.ok((await ask('', 'zh-CN')).bytes.equals(chinese.bytes));
  assert.ok(!(await ask('', 'en')).bytes.equals(chinese.bytes));
});

test('forged and differently written ids are not found, and other methods are refused', async () => {
  const path = await send();
  assert.equal((await picture('/p/00000000000000000000000000/card.png')).status, 404);
  assert.equal((await picture(`${path.replace('/p/', '').toUpperCase().replace(/^/, '/p/')}/card.png`)).status, 404);
  assert.equal((await picture(`${path}/card.png`, { method: 'POST' })).status, 405);
});
