// A store that accepts connections but does not answer (SIGSTOP). Each request waits for one timeout at most, not also
// for the timeouts of the requests before it. The program itself answers. nginx gives up only after ten seconds, which
// some answers may take on a busy machine; its 503 has no `instance`.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, audit, newUser, poll, site, unique } from './support/site.js';
import { processes, stopProcess } from './support/instance.js';

const VISITORS = 33;

let user;
let visitor; // logs in so often that older sessions end

before(async () => {
  user = await newUser({ yuan: '100' });
  visitor = await newUser();
});
after(() => site.allUp());

const requests = {
  '/login': () => new Client().post('/login', { username: visitor.username, password: visitor.password }),
  '/register': () => new Client().post('/register', { username: unique('u'), nickname: 'n', password: user.password }),
  '/wallet': () => user.client.get('/wallet'),
  '/send': () => user.client.post('/send', { kind: 'even', amount: '0.01', count: '1', request_key: unique('k') }),
};

const flood = (request, visitors = VISITORS) => Promise.all(Array.from({ length: visitors }, request));

// Waits until every process of both pools has its connections.
async function allServed() {
  const served = async (path, visitors) => (await flood(requests[path], visitors)).every(({ status }) => status === 200);
  await poll('all requests are served', async () => await served('/wallet', VISITORS) && served('/login', 4));
}

for (const store of ['mariadb', 'redis']) {
  for (const [path, request] of Object.entries(requests)) {
    test(`${VISITORS} concurrent requests for ${path} get 503 with Retry-After while ${store} stalls`, async (t) => {
      await allServed();
      const [pid] = processes(store);
      try {
        await stopProcess(pid);
        const started = Date.now();
        const answers = await flood(request);
        t.diagnostic(`the slowest answer took ${Date.now() - started} ms`);
        for (const { status, headers, text } of answers) {
          assert.equal(status, 503, text);
          assert.ok(Number(headers.get('retry-after')) >= 1);
        }
        // On a busy machine nginx may answer for a pool after its ten seconds, without an instance; but not every time.
        const instances = new Set(answers.map(({ json }) => json.instance));
        instances.delete(undefined);
        assert.deepEqual([...instances], [path]);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    });
  }
}

test('after a stall all requests are served and nothing is lost', async () => {
  await allServed();
  await audit();
});
