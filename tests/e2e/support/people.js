// People for tests, made without registering: `hongbao demo` makes many at once, and no password is hashed. People that
// a test does not use stay in the folder of the site, for the next test.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PASSWORD, PASSWORD_HASH } from '../../support/password.js';
import { Client } from './client.js';
import { env, hongbao, poll } from './instance.js';
import { sql } from './mysql.js';

export { PASSWORD };

const AT_ONCE = 30;
const FILE = join(env.HB_TEST_VAR, 'people');
const OWN_FILE = `${FILE}.${process.pid}`;

// [id, username, cookie] of unused people; undefined: the file was not read
let stock;
let filling;

const rowsOf = (text) => text.split('\n').filter(Boolean).map((line) => line.split('\t'));

async function make(count, yuan) {
  const { stdout } = await hongbao('demo', '--users', String(count), '--amount', yuan, '--out', '-');
  const made = rowsOf(stdout);
  assert.equal(made.length, count);
  const [[, first], [, last]] = [made[0], made.at(-1)];
  await sql(`UPDATE user SET password_hash = '${PASSWORD_HASH}' WHERE username BETWEEN '${first}' AND '${last}'`);
  return made;
}

// Takes the people whom the last test left, unless the tables were replaced since.
async function leftBehind() {
  try {
    renameSync(FILE, OWN_FILE); // only one process succeeds
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  const left = rowsOf(readFileSync(OWN_FILE, 'utf8'));
  rmSync(OWN_FILE);
  const names = left.map(([, username]) => `'${username}'`);
  const known = new Map(rowsOf(await sql(`SELECT username, id FROM user WHERE username IN (${names})`)));
  return left.filter(([id, username]) => known.get(username) === id);
}

async function fill() {
  if (!stock) {
    stock = await leftBehind();
    process.on('exit', leaveBehind);
  }
  if (!stock.length) stock = await make(AT_ONCE, '0');
}

function leaveBehind() {
  if (!stock.length || !existsSync(env.HB_TEST_VAR)) return; // ./dev bench may have removed its site by now
  writeFileSync(OWN_FILE, stock.map((row) => `${row.join('\t')}\n`).join(''));
  renameSync(OWN_FILE, FILE);
}

async function take() {
  while (!stock?.length) {
    filling ??= fill().finally(() => { filling = undefined; });
    await filling;
  }
  return stock.shift();
}

function personOf([id, username, cookie]) {
  const [name, token] = cookie.split('=');
  return { client: new Client({ [name]: token }), username, password: PASSWORD, id: Number(id) };
}

// A person with a session, the nickname (else made of the username) and an empty wallet.
export function takePerson(nickname) {
  return poll('a person is there', async () => {
    const person = personOf(await take());
    const named = await person.client.post('/account/nickname', { nickname: nickname ?? person.username });
    if (named.status === 401) stock = []; // the sessions are over, or the stores were emptied
    if (named.status === 401 || named.status === 503) return undefined;
    assert.equal(named.status, 200, named.text);
    return person;
  });
}

// Makes count people with this money each.
export const makePeople = async (count, yuan) => (await make(count, yuan)).map(personOf);
