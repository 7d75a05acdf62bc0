// The frames of the moment of opening, on a phone and on a desktop, from Chromium's trace with a processor that is six
// times slower: what moves, moves on the compositor, and nothing is pushed aside. Long tasks of the page depend on the
// machine: they are printed, and have no limit.
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { fileBrowser } from '../e2e/support/browser.js';
import { clientPage, newUser, poll, site } from '../e2e/support/site.js';
import { grab, send } from './support/world.js';

const SLOWER = 6;
const LONG_MS = 50;
const SHIFT_MAX = 0.01;
const SIZES = { 'a phone': { width: 390, height: 844 }, 'a desktop': { width: 1280, height: 800 } };
const CATEGORIES = ['blink.animations', 'devtools.timeline', 'disabled-by-default-devtools.timeline', 'loading'];

const browser = fileBrowser({}, []);
let sender;
let others;
before(async () => {
  sender = await newUser({ nickname: '阿红', yuan: '2000' });
  others = [];
  for (const nickname of ['李雷', '韩梅梅', '王小虎']) others.push(await newUser({ nickname }));
});

// The trace of an opening, from the press until the share is settled and nothing moves any more.
async function traced(client, path, viewport) {
  const page = await clientPage(browser, client, { locale: 'zh-CN', viewport });
  await page.goto(site.url + path);
  const cpu = await page.context().newCDPSession(page);
  await cpu.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await browser.startTracing(page, { categories: CATEGORIES });
  await page.click('button.coin');
  await page.waitForSelector('.result');
  await page.waitForSelector('[data-live=settled-links] a');
  await poll('nothing moves', () => page.evaluate(() => (
    !document.querySelector('.fresh') && !document.getAnimations().length)));
  const { traceEvents } = JSON.parse(await browser.stopTracing());
  await page.context().close();
  return traceEvents;
}

const idOf = ({ id, id2 }) => id2?.local ?? id2?.global ?? id;

// The page's tasks for which the processor worked longer than LONG_MS, and their largest part. Time in which the thread
// waited, on a busy machine, is not counted. A script without an address is the test's own.
function longTasks(events) {
  const main = events.find(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
  const ours = events.filter(({ ph, pid, tid }) => ph === 'X' && pid === main.pid && tid === main.tid);
  return ours.filter(({ name, tdur }) => name === 'RunTask' && tdur > LONG_MS * 1000).map((task) => {
    const [part] = ours.filter((one) => one !== task && one.ts >= task.ts && one.ts + one.dur <= task.ts + task.dur)
      .sort((a, b) => b.dur - a.dur);
    return { ms: Math.round(task.tdur / 1000), part: part?.name, url: part?.args.data?.url };
  }).filter(({ part, url }) => part !== 'EvaluateScript' || url).map(({ ms, part }) => `${ms} (${part})`);
}

// The processor time of our scripts at the press, from its click to the request that is sent.
function pressMs(events) {
  const press = events.find(({ name, args }) => name === 'EventDispatch' && args.data?.type === 'submit');
  return Math.round(press.tdur / 1000);
}

for (const [where, viewport] of Object.entries(SIZES)) {
  test(`on ${where} the opening moves on the compositor, and nothing is pushed aside`, async (t) => {
    const path = await send(sender.client, { kind: 'lucky', count: '6', amount: '66.66' });
    for (const { client } of others.slice(1)) await grab(client, path);
    const events = await traced(others[0].client, path, viewport);
    const animations = events.filter(({ name, args }) => name === 'Animation' && args?.data);
    const begun = new Map(animations.filter(({ ph }) => ph === 'b').map((event) => [idOf(event), event.args.data]));
    assert.ok(begun.size >= 10, `${begun.size} animations`);
    const failed = animations.filter(({ args }) => args.data.compositeFailed)
      .map((event) => ({ ...begun.get(idOf(event)), ...event.args.data }));
    assert.deepEqual(failed, []);
    const shifts = events.filter(({ name }) => name === 'LayoutShift').map(({ args }) => args.data);
    assert.deepEqual(shifts.filter((shift) => shift.weighted_score_delta > SHIFT_MAX), []);
    const long = longTasks(events);
    t.diagnostic(`${begun.size} animations; the press: ${pressMs(events)} ms; ${long.length} tasks longer than ${LONG_MS} ms: `
      + long.join(', '));
  });
}
