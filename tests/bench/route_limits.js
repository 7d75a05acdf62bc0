// How often one caller may request each route, beyond the burst: the limits of the routes (app/*/routes.c), of their
// handlers, and of nginx (nginx/http.conf), at their defaults.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

// Limits that handlers check, in addition to the limits in the route's row.
const EXPORT = ['export', 'export_address'];
const HANDLERS = {
  'POST /login': ['hash_address'],
  'POST /register': ['hash_address'],
  'POST /account/password': ['hash_address', 'confirm'],
  'POST /account/recovery': ['hash_address', 'confirm', 'recovery_make'],
  'POST /account/delete': ['hash_address', 'confirm'],
  'POST /account/tokens': ['hash_address', 'confirm'],
  'POST /account/passkeys/challenge': ['hash_address', 'confirm'],
  'POST /wallet/withdraw': ['hash_address', 'confirm'],
  'GET /records/received.csv': EXPORT,
  'GET /records/sent.csv': EXPORT,
  'GET /account/export': EXPORT,
};
const TOKENS_MAX = 20; // app/user/token_store.h
const UNITS_S = { s: 1, m: 60, h: 3600, d: 86400 };
export const CORES_MAX = 0.2;

const textOf = (...path) => readFileSync(join(...path), 'utf8');

// The last of the tiers "N M/U …" is the slowest: how many a second.
function rateOf(text) {
  const [, count, unit] = /(\d+)\/([smhd])$/.exec(text) ?? [];
  if (!count) throw new Error(`"${text}" is no limit`);
  return Number(count) / UNITS_S[unit];
}

// The rows of the tables of routes: Map of "METHOD /path" to [{ pools, limits, isOfUsers }]; the row of the hot pool comes first.
function routesOf(root) {
  const routes = new Map();
  const folders = readdirSync(join(root, 'app'), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const files = folders.flatMap(({ name }) => readdirSync(join(root, 'app', name)).filter((file) => file.endsWith('.c'))
    .map((file) => textOf(root, 'app', name, file)));
  for (const row of files.flatMap((text) => text.match(/\{ "(?:GET|POST)", "\/[^}]*\}/g) ?? [])) {
    const [, method, path] = /"(\w+)", "([^"]*)"/.exec(row);
    const pools = [...row.matchAll(/POOL_(\w+)/g)].map(([, pool]) => pool.toLowerCase());
    const limits = [...row.matchAll(/LIMITED_BY\(LIMIT_(\w+)\)/g)].map(([, limit]) => limit.toLowerCase());
    const name = `${method} ${path}`;
    routes.set(name, [...(routes.get(name) ?? []), { pools, limits, isOfUsers: /NEED_USER|WANT_VISITOR.*POOL_(?:HOT|PAGE)/s.test(row) }]);
  }
  return routes;
}

export class RouteLimits {
  #routes; #defaults; #zones; #sessions; #logins;

  // Throws when a file does not have the form that this module reads.
  static async open(root, site) {
    const self = new RouteLimits();
    const settings = [...(await site.hongbao('settings', '--markdown')).matchAll(/^\| `(\w+)` \| `?([^`|]*)`? \|/gm)];
    const conf = textOf(root, 'nginx/http.conf');
    self.#defaults = new Map(settings.map(([, name, value]) => [name, value.trim()]));
    self.#routes = routesOf(root);
    self.#zones = Object.fromEntries([...conf.matchAll(/zone=hongbao_(\w+):\w+ rate=(\d+)r\/s/g)].map(([, name, rate]) => [name, Number(rate)]));
    self.#sessions = Number(self.#defaults.get('sessions_max')) + TOKENS_MAX;
    const [, logins] = /location ~ "(\^[^"]*hb_login_path[^"]*)"/.exec(textOf(root, 'nginx/site.conf'));
    self.#logins = new RegExp(logins);
    return self;
  }

  #name({ method, path }) {
    return `${method} ${path.replace(/\{(\w+)\}/g, ':$1')}`;
  }

  // Throws when an operation has no route here.
  mustBeAll(operations) {
    const missing = operations.map((operation) => this.#name(operation)).filter((name) => !this.#routes.has(name));
    if (missing.length > 0) throw new Error(`no row in app/*/routes.c: ${missing.join(', ')}`);
  }

  // [{ name, by: 'address' or 'user', rate }] of all limits of an operation.
  #limits(operation, { isCold, more }) {
    const name = this.#name(operation);
    const rows = this.#routes.get(name);
    const { limits } = rows[isCold ? 1 : 0];
    const own = [...limits, ...(HANDLERS[name] ?? []), ...more].map((limit) => {
      const rate = rateOf(this.#defaults.get(`limit_${limit}`));
      return { name: limit, by: /address|network|card/.test(limit) ? 'address' : 'user', rate };
    });
    const login = operation.method === 'POST' && this.#logins.exec(operation.path)?.groups.hb_login_path;
    const [, hot] = / \/p\/:id(|\/open|\/screen)$/.exec(name) ?? [];
    const zone = login ? 'login' : hot === undefined ? 'pages' : hot === '' ? 'views' : 'grabs'; // nginx/site.conf
    return [...own, { name: `nginx ${zone}`, by: 'address', rate: this.#zones[zone] },
      { name: 'nginx visitor', by: 'user', rate: this.#sessions * this.#zones.visitor }];
  }

  // The row of an operation, one request of which costs ms of CPU. isCold: for a packet that only MySQL has; more: names of
  // limits that count only such requests; perUse: such requests for one use of a limit.
  rowOf(operation, ms, { isCold = false, more = [], perUse = 1 } = {}) {
    const [{ pools, isOfUsers }] = this.#routes.get(this.#name(operation));
    const limits = this.#limits(operation, { isCold, more });
    const slowest = (by) => limits.filter((one) => one.by === by).sort((a, b) => a.rate - b.rate)[0];
    const [address, user] = [slowest('address'), isOfUsers && slowest('user')];
    const cores = (limit) => ms * limit.rate * perUse / 1000;
    const most = Math.max(...[address, user].filter(Boolean).map(cores));
    return { pool: pools.join(' '), 'CPU ms': ms, 'limit of an address': address.name, 'cores of an address': cores(address),
      'limit of a user': user ? user.name : '', 'cores of a user': user ? cores(user) : '', '': most <= CORES_MAX ? '' : 'ABOVE' };
  }
}
