// People and packets for screenshots, and a function that makes pages equal in every run: ids, times and QR codes are
// replaced before a screenshot, and amounts are not random (even shares, and lucky packets whose shares all have the
// maximum).
import { sql } from '../../e2e/support/mysql.js';
import { newUser, poll, unique } from '../../e2e/support/site.js';
import { closeChannels, money, openChannel } from '../../e2e/support/withdrawals.js';
import { grab, send } from './world.js';

const NAMES = {
  'zh-CN': { sender: '阿红', viewer: '小明', others: ['李雷', '韩梅梅', '王小虎'], greeting: '新年快乐，万事如意', thanks: '谢谢阿红！' },
  en: { sender: 'Alice', viewer: 'Ben', others: ['Carol', 'Dave', 'Erin'], greeting: 'Happy New Year!', thanks: 'Thank you, Alice!' },
};

const CHANNELS = { 'zh-CN': ['工商银行', '银行卡号'], en: ['First Bank', 'IBAN'] };

// Runs work while a channel pays withdrawals.
export async function withChannel(language, work) {
  const [note, hint] = CHANNELS[language];
  await closeChannels();
  await openChannel(`scene-${language.toLowerCase()}`, '--note', note, '--withdraw-hint', hint, '--withdraw-min', '10');
  try {
    return await work();
  } finally {
    await closeChannels();
  }
}

// The path of a withdrawal that is paid.
async function paidOut({ client, password }, language) {
  return withChannel(language, async () => {
    const { json } = await client.post('/wallet/withdraw', { amount: '66', account: '6222 0000 1234', password, request_key: unique('k') });
    const id = (await sql(`SELECT id FROM withdrawal WHERE hold_id = ${json.id}`)).trim();
    await money('post', id, '--reference', unique('PAID-'));
    return `/wallet/transfers/${json.id}`;
  });
}

// Returns { sender, viewer, payee: clients; viewerName: the viewer's username; open, opened, finished, draw, screen,
// transfer: paths }. The payee has withdrawn money. The viewer has a share of each packet except the open one. draw (only
// with withDraw) is a random lucky packet, for pictures that are not compared.
export async function buildScene(language, { withDraw = false } = {}) {
  const { greeting, thanks, ...names } = NAMES[language];
  const sender = await newUser({ nickname: names.sender, yuan: '2000' });
  const viewer = await newUser({ nickname: names.viewer, yuan: '66.66' });
  const others = [];
  for (const nickname of names.others) others.push(await newUser({ nickname }));

  const single = await send(sender.client, { kind: 'exclusive', to: viewer.username, amount: '5.20' });
  const finished = await send(sender.client, { kind: 'lucky', count: '3', amount: '600', greeting });
  const draw = withDraw && await send(sender.client, { kind: 'lucky', count: '5', amount: '88.88', greeting });
  const opened = await send(sender.client, { kind: 'even', count: '5', amount: '8.88', greeting });
  const open = await send(sender.client, { kind: 'lucky', count: '5', amount: '66.66', greeting });
  await grab(viewer.client, single);
  for (const person of [others[0], viewer, others[1]]) await grab(person.client, finished);
  for (const person of draw ? [others[0], others[1], viewer, others[2], sender] : []) await grab(person.client, draw);
  for (const person of [others[1], others[0], viewer]) await grab(person.client, opened);
  await send(viewer.client, { kind: 'even', count: '3', amount: '6.66', greeting });
  for (const path of [single, finished, draw, opened].filter(Boolean)) {
    await poll(`${path} is settled`, async () => (await viewer.client.get(path)).json.mine.settled);
  }
  if (draw) await viewer.client.post(`${draw}/thanks`, { text: thanks });
  const payee = await newUser({ nickname: names.others[0], yuan: '88.88' });
  const transfer = await paidOut(payee, language);
  const screen = (await sender.client.get(finished)).json.screen_url;
  return { sender: sender.client, viewer: viewer.client, viewerName: viewer.username, open, opened, finished, draw, screen, payee: payee.client, transfer };
}

// Runs in the page.
function makeStill() {
  const TIME = '2026-02-17 20:00';
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode;
    text.data = text.data.replace(/\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?/, TIME).replace(/^(\s*|You \w+ in )20\d\d(?=年|\s*$)/, '$12026');
  }
  const all = (selector, each) => document.querySelectorAll(selector).forEach(each);
  const chinese = document.documentElement.lang === 'zh-CN';
  all('time[title]', (time) => {
    const left = chinese ? '还剩23小时' : '23 h left';
    time.textContent = time.hasAttribute('data-left') ? left : `${chinese ? '今天' : 'today'} 20:00`;
  });
  all('#grabs', (list) => {
    const [text] = [...list.childNodes].filter(({ data }) => /[0-9]/.test(data));
    if (!text) return;
    text.data = text.data.replace(/\d+(秒|分钟)/, '37秒').replace(/\d+ (second|minute)s?/, '37 seconds');
  });
  // The colour of an avatar depends on the user's id.
  all('.avatar:not(:has(img))', (avatar) => {
    avatar.className = `avatar h${(avatar.textContent.codePointAt(0) * 7) % 12}`;
  });
  all('.pick small bdi, .confirm .hint bdi', (username) => { username.textContent = 'username'; });
  // People of the same second come in random order, so they are sorted.
  all('.chips:not(:has([data-amount]))', (list) => list.append(...[...list.children].sort((a, b) => (a.textContent < b.textContent ? -1 : 1))));
  all('.facts dd', (fact) => { if (/\(\S+\)$/.test(fact.textContent)) fact.lastChild.data = ' (username)'; });
  all('.facts code', (code) => { code.textContent = code.textContent.replace(/\S/g, '0'); });
  all('.command code', (code) => { code.textContent = code.textContent.replace(/(?<=receipt-)[0-9a-z]{26}/, '059y04m98019223rqxh10bk9nx'); });
  all('.trace code', (code) => { code.textContent = '5f2b9c0d7e1a4b3c8d6e5f2b9c0d7e1a'; });
  all('[data-proposed]', (input) => { input.value = 'xiaoyu2786'; });
  all('#share_url', (input) => { input.value = 'https://hongbao.example/p/059y04m98019223rqxh10bk9nx'; });
  // The bar of the current month is moved to February.
  all('.bars', (chart) => {
    const [bar, ...others] = chart.querySelectorAll('rect');
    others.forEach((other) => other.remove());
    chart.querySelectorAll('svg')[1].append(bar);
  });
  all('.qr', (code) => {
    code.setAttribute('viewBox', '0 0 4 4');
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('fill', '#555');
    path.setAttribute('d', 'M0 0h2v2h2v2h-2v-2h-2z');
    code.replaceChildren(path);
  });
}

export const freeze = (page) => page.evaluate(makeStill);

// Runs work with totals of the viewer for each past month of this year, for a picture of the chart.
export async function withPastMonths({ viewer }, work) {
  const { id } = (await viewer.get('/')).json.user;
  const { year, months } = (await viewer.get('/records/received')).json;
  const now = months.findLastIndex(({ count }) => count > 0);
  const past = months.slice(0, now).map(({ month }, i) => ({ month, count: 1 + (i * 5) % 4, fen: 4000 + (i * 7919) % 26000 }));
  const rows = past.map(({ month, count, fen }) => `(${id}, ${year}, ${month}, ${count}, ${fen})`);
  if (past.length) await sql(`INSERT INTO user_month (user_id, year, month, received_count, received_fen) VALUES ${rows}`);
  try {
    await work();
  } finally {
    if (past.length) await sql(`DELETE FROM user_month WHERE user_id = ${id} AND year = ${year} AND month <= ${past.at(-1).month}`);
  }
}
