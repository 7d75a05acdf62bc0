// deploy/nftables with Linux's nftables, in a network namespace of its own: an address with many connections gets no more,
// and nobody else notices. Only root may make a namespace.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { run } from './support/run.js';

const RULES = fileURLToPath(new URL('../../deploy/nftables/hongbao.nft', import.meta.url));
const CONNECT = fileURLToPath(new URL('support/connections.js', import.meta.url));
const ADDRESSES = ['fd00::1/64', 'fd00::2/64', 'fd00::3/64', 'fd00:0:0:1::3/64'];
const MOST = 1000; // of the rules
const MANY = 1500;
const FILES = 2 * (2 * MANY + 200); // both ends are in one process

// Why the kernel lets us make no namespace with rules; false: it does.
function reason() {
  const files = Number(/^Max open files +\S+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))[1]);
  if (files < FILES) return `only ${files} files may be open`;
  try {
    execFileSync('unshare', ['-n', 'nft', '-f', RULES], { stdio: 'pipe' });
    return false;
  } catch (error) {
    return `no namespace or no nftables: ${error.stderr || error.message}`;
  }
}

// How many connections of each address are accepted: [[host, from, number]].
async function accepted(port, wanted) {
  const script = `set -e; ulimit -n ${FILES}; ip link set lo up
    for address in ${ADDRESSES.join(' ')}; do ip -6 address add $address dev lo nodad; done
    nft -f "$1"; nft -f "$1"; shift; exec "$@"`;
  const { stdout } = await run('unshare', ['-n', 'sh', '-c', script, 'sh', RULES, process.execPath, CONNECT, String(port), ...wanted.flat().map(String)]);
  return JSON.parse(stdout);
}

const skip = reason();

test('an address of 1,500 connections gets 1,000, and others connect', { skip }, async () => {
  assert.deepEqual(await accepted(443, [['127.0.0.1', '127.0.0.2', MANY], ['127.0.0.1', '127.0.0.3', 10]]), { '127.0.0.2': MOST, '127.0.0.3': 10 });
});

test('a /64 of IPv6 counts as one address', { skip }, async () => {
  assert.deepEqual(await accepted(80, [['fd00::1', 'fd00::2', MANY], ['fd00::1', 'fd00::3', 10], ['fd00::1', 'fd00:0:0:1::3', 10]]),
    { 'fd00::2': MOST, 'fd00::3': 0, 'fd00:0:0:1::3': 10 });
});

test('other ports have no such limit', { skip }, async () => {
  assert.deepEqual(await accepted(8080, [['127.0.0.1', '127.0.0.2', MOST + 10]]), { '127.0.0.2': MOST + 10 });
});

// ---- the way out ----

const WAY_OUT = readFileSync(fileURLToPath(new URL('../../deploy/nftables/hongbao-sso.nft', import.meta.url)), 'utf8');
const [SSO, OTHER, ANYBODY] = [4001, 4002, 4003]; // users that do not exist here
const ISSUER = '10.9.9.2'; // nobody answers there: who may connect waits

// Whether each of these users may connect to these addresses: [[user, address, port]]; the rules have other values for names.
async function passed(values, wanted) {
  let rules = WAY_OUT.replace('"hongbao-sso"', String(SSO)).replace(/(define OTHERS = ).*/, `$1{ ${OTHER} }`);
  for (const [name, value] of Object.entries(values)) rules = rules.replace(new RegExp(`(define ${name} = ).*`), `$1{ ${value} }`);
  const script = `set -e; ip link set lo up; ip link add out type veth peer name far; ip link set out up; ip link set far up; ip address add 10.9.9.1/24 dev out
    printf %s "$1" >rules; nft -f rules; nft -f rules; shift
    while [ $# -gt 0 ]; do
      status=0; timeout 1 setpriv --reuid="$1" --clear-groups bash -c 'exec 3<>"/dev/tcp/$0/$1"' "$2" "$3" 2>/dev/null || status=$?
      echo $status; shift 3
    done`;
  const { stdout } = await run('unshare', ['-n', '-m', 'sh', '-c', `mount -t tmpfs none /mnt; cd /mnt; ${script}`, 'sh', rules, ...wanted.flat().map(String)]);
  return stdout.trim().split('\n').map((status) => status === '124');
}

test('the pool sso connects to the port of the issuer alone, the other pools nowhere', { skip }, async () => {
  assert.deepEqual(await passed({}, [[SSO, ISSUER, 443], [SSO, ISSUER, 53], [SSO, ISSUER, 22], [SSO, ISSUER, 6379], [OTHER, ISSUER, 443], [OTHER, ISSUER, 53], [ANYBODY, ISSUER, 22]]),
    [true, true, false, false, false, false, true]);
  assert.deepEqual(await passed({ ISSUER, PORT: 8443 }, [[SSO, ISSUER, 8443], [SSO, ISSUER, 443], [SSO, '10.9.9.3', 8443]]), [true, false, false]);
});
