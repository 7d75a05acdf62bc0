// Logging in: Argon2id, 50 ms of CPU by design: the cost of one guess for an attacker who guesses passwords.
import { Grabs } from '../grabs.js';
import { rounds } from '../rounds.js';

const PEOPLE = 8;
const CONNECTIONS = 8;
const SECONDS = 4;
const SECONDS_QUICK = 2;
const PASSWORD = 'a good password';

// Users who can log in, as lines of a load.
export async function loginLines(site) {
  const lines = [];
  for (let i = 0; i < PEOPLE; i++) {
    const username = `login${Date.now().toString(36)}${i}`;
    const { status, text } = await site.request('/register', { fields: { username, nickname: '登录', password: PASSWORD } });
    if (status !== 201) throw new Error(`POST /register: ${status} ${text}`);
    lines.push(`POST /login ${new URLSearchParams({ username, password: PASSWORD })}`);
  }
  return lines;
}

export default {
  name: 'login',
  title: 'logging in, 8 connections',
  async run(bench) {
    const seconds = bench.quick ? SECONDS_QUICK : SECONDS;
    const grabs = await Grabs.open(bench);
    const { site } = grabs;
    const us = grabs.target('auth');
    const load = { cookies: grabs.file(['none=1']), seconds, connections: CONNECTIONS };
    const right = grabs.file(await loginLines(site));
    const wrong = grabs.file([`POST /login username=nobody&password=wrong-password`]);
    const { rows } = await rounds(bench, [
      { name: 'the right password', load: () => grabs.load(us, { ...load, paths: right }) },
      { name: 'nobody of that name', load: () => grabs.load(us, { ...load, paths: wrong, refused: true }) },
    ]);
    return { rows, ratios: [] };
  },
};
