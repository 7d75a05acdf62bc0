// Faults of an installed site, for doctor.test.js. Each is planted by a script of the shell as root, found by the doctor
// as `finding` with a text that matches `says`, and mended by the commands that the doctor prints. Where these commands
// only show what to do, as for a full disk, `mend` does it first. e2e/doctor.test.js has the faults that a site of
// ./dev can have, too, and a wrong clock, because a machine uses the clock of its host.
const HOST = 'hongbao.example';
const CONF = '/etc/hongbao/hongbao.conf';
const AUDIT = '/etc/hongbao/rights/audit.conf';
const TLS = '/etc/hongbao/tls';
const REDIS = 'redis-cli -e -s /run/redis-hongbao/redis-server.sock --user hongbao_operator';
const ACL = '/etc/redis/hongbao-users.acl';
const OPERATOR = "export REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/operator.conf)";
const MYSQL_STOP = 'systemctl stop mariadb.socket mariadb';

// A fault: [finding, says, plant, options]. Options: mend; alone: nothing else is found then; count: how many times it
// is found.
const redisSet = (finding, says, name, bad) => [finding, says, `${OPERATOR}; ${REDIS} CONFIG SET ${name} ${bad}`];
// Somebody has typed ACL SETUSER: Redis has other rights than its file, which is right.
const redisUser = (finding, says, change) => [finding, says, `${OPERATOR}; cp -p ${ACL} ${ACL}.good; sed -i '${change}' ${ACL}
    ${REDIS} ACL LOAD; mv ${ACL}.good ${ACL}`];
const query = (text) => `mariadb hongbao -e "${text}"`;
const sql = (finding, says, bad, good, more) => [finding, says, query(bad), { ...(good && { mend: query(good) }), ...more }];
const mode = (finding, path, bad, says = new RegExp(path), more = {}) => [finding, says, `chmod ${bad} ${path}`, more];
const set = (line) => `sed -i '/^${line.split(' ')[0]} /d' ${CONF}; echo '${line}' >>${CONF}`;
const setting = (finding, says, line) => [finding, says, set(line)];
const away = (finding, path, mend = `mv ${path}.away ${path}`, says = new RegExp(path)) => [finding, says, `mv ${path} ${path}.away`, { mend }];
// A small file system in place of the folder; before: what stops its store, as Redis does by itself when its disk is full.
const smallDisk = (finding, folder, before = '') => [finding, /only \d+ MiB are free/, `${before}mount -t tmpfs -o size=16m tmpfs ${folder}`,
  { mend: `umount -l ${folder}` }];

// Another certificate of the site: a name and its days. doctor.test.js makes CERTIFICATES as /root/NAME.pem and .key.
export const CERTIFICATES = [];
function certificate(finding, says, host, from, to, more) {
  CERTIFICATES.push({ name: finding, host, from, to });
  return [finding, says, `cat /root/${finding}.pem >${TLS}/fullchain.pem; cat /root/${finding}.key >${TLS}/privkey.pem`, more];
}

const DROPIN = '/etc/systemd/system/hongbao-hot@2.service.d';
const dropin = (text) => `mkdir -p ${DROPIN}; printf '%s\\n' '[Service]' ${text} >${DROPIN}/planted.conf`;

export const FAULTS = [
  // units
  ['unit-stopped', /hongbao-page@2\.service$/, 'systemctl stop hongbao-page@2'],
  ['unit-stopped', /hongbao-settle\.service/, 'systemctl stop hongbao-settle'], // worker-down, too
  ['unit-stopped', /hongbao-auth\.socket/, 'systemctl stop hongbao-auth.socket'],
  ['unit-stopped', /: hongbao\.target$/, 'systemctl stop hongbao.target', { alone: true }],
  ['pool-down', /card\.sock/, 'systemctl stop hongbao-card.socket'],
  ['unit-disabled', /hongbao\.target$/, 'systemctl disable hongbao.target'],
  ['unit-disabled', /hongbao-settle\.service$/, 'systemctl disable hongbao-settle'],
  ['unit-disabled', /hongbao-page@7\.service$/, 'systemctl start hongbao-page@7'],
  ['unit-masked', /hongbao-card@1\.service$/, 'systemctl mask --now hongbao-card@1'],
  ['unit-failed', /hongbao-hot@2\.service/, `${dropin("'ExecStart=' 'ExecStart=/bin/false' 'RestartSec=60'")}
      systemctl daemon-reload; systemctl restart hongbao-hot@2 || true`, { mend: `rm -r ${DROPIN}; systemctl daemon-reload` }],
  ['unit-failed', /hongbao-backup\.service; hongbao-backup\.service says: .*can't make/, `rm -rf /var/backups/hongbao; mkdir -p /var/backups
      echo x >/var/backups/hongbao; systemctl start hongbao-backup || true`, { mend: 'rm /var/backups/hongbao' }],
  ['unit-old-file', /hongbao-hot@2\.service/, `${dropin("'CPUWeight=50'")}; systemctl daemon-reload; touch -d tomorrow ${DROPIN}/planted.conf`],

  // the servers beside it
  ['nginx-port', /port 443/, 'systemctl stop nginx', { count: 1 }],
  ['redis-down', /does not answer/, 'systemctl stop redis-server@hongbao'],
  ['mysql-down', /does not answer/, MYSQL_STOP],
  ['pool-silent', /card\.sock/, 'systemctl kill --kill-whom=main -s STOP hongbao-card@1'],

  // Redis
  redisSet('redis-appendonly', /loses every grab/, 'appendonly', 'no'),
  redisSet('redis-appendfsync', /everysec, not always/, 'appendfsync', 'everysec'),
  redisSet('redis-eviction', /allkeys-lru/, 'maxmemory-policy', 'allkeys-lru'),
  redisSet('redis-maxmemory', /maxmemory is 0/, 'maxmemory', '0'),
  redisSet('redis-timeout', /timeout is 300/, 'timeout', '300'),
  redisUser('redis-login', /hongbao_audit/, '/^user hongbao_audit /d'),
  redisUser('redis-right-missing', /hongbao_page lacks \+xadd/, '/^user hongbao_page /s/ +xadd//'),
  redisUser('redis-right-excess', /hongbao_hot has \+flushall/, '/^user hongbao_hot /s/$/ +flushall/'),
  redisUser('redis-nopass', /hongbao_support/, '/^user hongbao_support /s/$/ nopass/'),
  redisUser('redis-default', /no password/, 's/^user default .*/user default on nopass ~* +@all/'),
  redisUser('redis-replay', /loses grabs/, 's/^user default .*/user default off -@all/'),

  // MariaDB
  sql('mysql-right-missing', /hongbao_page lacks UPDATE\(nickname\) on user/, 'REVOKE UPDATE (nickname) ON user FROM hongbao_page@localhost'),
  sql('mysql-right-missing', /hongbao_settle lacks EXECUTE on PROCEDURE ledger_settle/,
    'REVOKE EXECUTE ON PROCEDURE ledger_settle FROM hongbao_settle@localhost'),
  sql('mysql-right-excess', /hongbao_support .*SELECT on \*/, 'GRANT SELECT ON hongbao.* TO hongbao_support@localhost'),
  sql('mysql-right-excess', /everybody, and so each role, has ALL PRIVILEGES on test\.\*/, 'GRANT ALL PRIVILEGES ON test.* TO PUBLIC', '', { count: 1 }),
  sql('schema-definer', /: \w+; \w+; \w+; \w+; \w+; and \d+ more$/,
    "UPDATE mysql.proc SET definer = 'root@localhost' WHERE db = 'hongbao'; FLUSH TABLES", '', { count: 1 }),
  sql('mysql-login', /hongbao_audit/, "ALTER USER hongbao_audit@localhost IDENTIFIED BY 'another'"),
  sql('mysql-flush', /is 2, not 1/, 'SET GLOBAL innodb_flush_log_at_trx_commit = 2'),
  sql('mysql-read-only', /read_only is ON/, 'SET GLOBAL read_only = 1'),
  sql('schema', /9000 was/, "INSERT INTO schema_migration VALUES (9000, 'later', REPEAT('x', 32), 1, FALSE)",
    'DELETE FROM schema_migration WHERE version = 9000'),
  sql('schema', /^tables are missing.*: thanks$/, 'RENAME TABLE thanks TO thanks_away', 'RENAME TABLE thanks_away TO thanks', { alone: true }),
  sql('schema', /^tables are missing.*: grab, stream_cursor$/, 'RENAME TABLE grab TO grab_away, stream_cursor TO cursor_away',
    'RENAME TABLE grab_away TO grab, cursor_away TO stream_cursor', { count: 1 }),
  sql('schema-definer', /: odd/, 'CREATE DEFINER = root@localhost PROCEDURE odd() SQL SECURITY INVOKER DO 1'),
  sql('schema-definer', /: ledger_deposit/, "UPDATE mysql.proc SET definer = 'root@localhost' WHERE db = 'hongbao' AND name = 'ledger_deposit'"),
  ['demo-money', /play money: \d+ deposits/, `hongbao demo --users 1 --out /root/demo-users; ${set('demo = off')}`],
  sql('dead-letters', /operator: 1/,
    "INSERT INTO dead_letter SET partition_no = 0, event_id = '1-1', content = 'x', reason = 'planted', created_ms = 1",
    "DELETE FROM dead_letter WHERE reason = 'planted'"),

  // the audit and the backups
  ['audit-violations', /`hongbao audit` has found violations/,
    `${query('UPDATE account SET balance_fen = balance_fen + 1 WHERE id = 1')}; hongbao audit || true`,
    { mend: query('UPDATE account SET balance_fen = balance_fen - 1 WHERE id = 1') }],
  ['audit-violations', /the settle worker has found violations/, `${query("INSERT INTO account SET id = 77, kind = 'wallet', balance_fen = 0")}
      for i in $(seq 1200); do ! hongbao doctor | grep -q audit-violations || break; sleep 0.1; done`,
  { mend: query('DELETE FROM account WHERE id = 77') }],
  ['backup-none', /no backup is known/, 'rm -f /var/lib/hongbao/backups; systemctl disable -q --now hongbao-backup.timer'],
  ['backup-none', /no backup is known: a lost disk/, `rm -f /var/lib/hongbao/backups; ${query('UPDATE site SET created_ms = 1')}`],
  ['backup-old', /is of 2026-01-01T/,
    "systemctl start hongbao-backup; sed -i 's/^clean_at = .*/clean_at = 2026-01-01T00:00:00.000000Z/' /var/lib/hongbao/backups"],
  ['backup-none', /is not at its place any more/, 'rm -r /var/backups/hongbao'],

  // files
  mode('secret-file', '/etc/hongbao/secret', 644),
  mode('secret-file', '/etc/hongbao/rights/page.conf', 644),
  mode('writable-file', '/usr/share/hongbao/templates/pages/login.mustache', 666),
  mode('writable-file', '/usr/share/hongbao/sql', 777),
  mode('metrics-mode', '/run/hongbao/metrics', 666),
  mode('pool-socket-mode', '/run/hongbao/page.sock', 666),
  mode('certificate-key-mode', `${TLS}/privkey.pem`, 644),
  mode('unreadable-file', '/usr/share/hongbao/templates/pages/login.mustache', 600),
  ['role-file', /\/etc\/hongbao\/rights\/card\.conf/, 'rm /etc/hongbao/rights/card.conf'],
  away('secret-missing', '/etc/hongbao/secret', undefined, /\/usr\/share\/doc\/hongbao\/docs\/how-to\/rotate-secrets\.md/),
  away('templates', '/usr/share/hongbao/templates/pages/login.mustache', undefined, /there is no pages\/login\.mustache/),
  ['role-passwords', /audit\.conf has one password/, `cp -p ${AUDIT} ${AUDIT}.good; sed -i 's/^mysql_password = .*/mysql_password = another/' ${AUDIT}`],
  away('metrics-missing', '/run/hongbao/metrics', 'rm /run/hongbao/metrics.away'),
  ['metrics-missing', /metrics is no file/, 'rm /run/hongbao/metrics; mkdir /run/hongbao/metrics'],
  ['secret-weak', /only 1 different/, 'systemctl stop hongbao.target; printf %064d 0 >/etc/hongbao/secret; systemctl start hongbao.target'],
  ['role-keys', /card\.keys has other keys/, 'cp /etc/hongbao/rights/hot.keys /etc/hongbao/rights/card.keys'],
  away('role-keys', '/etc/hongbao/rights/page.keys', 'rm /etc/hongbao/rights/page.keys.away'),
  mode('secret-file', '/etc/hongbao/rights/auth.keys', 644),
  ['metrics-file', /Read-only/, 'mount --bind /run/hongbao/metrics /run/hongbao/metrics; mount -o remount,bind,ro /run/hongbao/metrics',
    { mend: 'umount -l /run/hongbao/metrics' }],
  mode('file-mode', '/var/lib/hongbao/static', 700),
  mode('file-mode', '/etc/hongbao/hongbao.conf', 600),
  mode('file-mode', '/etc/hongbao/rights', 755),
  ['file-mode', /secret is 640 root:users, not 600/, 'chown root:users /etc/hongbao/secret; chmod 640 /etc/hongbao/secret'],
  mode('file-mode', '/var/log/nginx/hongbao.access.log', 644),
  mode('file-mode', '/var/lib/hongbao', 700, /^\/var\/lib\/hongbao is 700: www-data may not pass/, { count: 1 }),
  ['file-mode', /www-data can't use \S+ and \d+ more, so pages have no style/, 'chmod -R go= /var/lib/hongbao/static; chmod 755 /var/lib/hongbao/static',
    { count: 1 }],
  ['file-mode', /redis\/hongbao is 750 root:root, not 750 redis:redis: redis can't/, 'chown root:root /var/lib/redis/hongbao'],
  ['file-mode', /redis can't use \S+\/appendonlydir\S* and \d+ more/, 'chown -R root:root /var/lib/redis/hongbao/appendonlydir'],
  ['file-mode', /mysql can't use \S+\/packet\.\w+ and 1 more/, 'chown root:root /var/lib/mysql/hongbao/packet.*; chmod 600 /var/lib/mysql/hongbao/packet.*'],
  ['file-mode', /mysql is 755 root:root, not 755 mysql:mysql: mysql can't/, `${MYSQL_STOP}
    chown -R root:root /var/lib/mysql; systemctl start mariadb || systemctl reset-failed mariadb`],
  ['file-mode', /mysql can't use \S+ and \d+ more/, `${MYSQL_STOP}; chown -R root:root /var/lib/mysql/*`, { mend: 'systemctl start mariadb.socket' }],
  mode('file-mode', '/usr/share/hongbao/redis/settings.conf', 600, /settings\.conf is 600 root:root, not 644 root:root: redis can't/),
  ['file-mode', /^\/usr\/share\/hongbao\/redis is 700: redis may not pass/, 'chmod -R go= /usr/share/hongbao/redis'],
  ['static-copy', /nginx serves another file/, 'rm -r /var/lib/hongbao/static', { count: 1 }],
  ['file-missing', /certbot/, 'rm -r /var/lib/hongbao/acme'],
  ['file-missing', /no picture/, 'rm -r /var/cache/hongbao'],

  // disks
  smallDisk('disk-redis', '/var/lib/redis/hongbao'),
  smallDisk('disk-mysql', '/var/lib/mysql'),
  smallDisk('disk-redis', '/var/lib/redis/hongbao', 'systemctl stop redis-server@hongbao; '),
  smallDisk('disk-mysql', '/var/lib/mysql', `${MYSQL_STOP}; `),
  smallDisk('disk-logs', '/var/log/nginx'),
  ['disk-run', /\/run\/hongbao is full/, 'mount -o remount,size=2m /run; head -c 4M /dev/zero >/run/filler || true',
    { mend: 'rm /run/filler; mount -o remount,size=1g /run' }],

  // certificates
  certificate('certificate-expired', /expired \d+ days ago/, HOST, -10, -2),
  certificate('certificate-expires', /in \d+ days/, HOST, -10, 5),
  certificate('certificate-early', /not valid/, HOST, 5, 50),
  certificate('certificate-host', new RegExp(HOST), 'other.example', -10, 90),
  certificate('certificate-served', /still serves an old certificate/, HOST, -10, 90, { count: 1 }),
  ['certificate-missing', /fullchain\.pem can't be read/, `rm ${TLS}/fullchain.pem`],
  ['certificate-key', /privkey\.pem can't be read/, `rm ${TLS}/privkey.pem`],
  ['certificate-key', /not that of/, `openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:prime256v1 -out ${TLS}/privkey.pem`],

  // settings, and the files of nginx
  ['process-settings', /other settings than \/etc\/hongbao\/hongbao\.conf now has: hot \d/,
    `cp -p ${CONF} ${CONF}.good; echo '# planted' >>${CONF}; systemctl reload 'hongbao-*.service'; mv ${CONF}.good ${CONF}`],
  setting('migrations', /\/nowhere/, 'sql_dir = /nowhere'),
  setting('scripts', /\/nowhere/, 'lua_dir = /nowhere'),
  setting('static', /\/nowhere/, 'static_dir = /nowhere'),
  ['static-copy', /static\/app\.css is not as \/srv\/look\/app\.css/,
    `cp -a /usr/share/hongbao/static /srv/look; echo '.top { color: red; }' >>/srv/look/app.css
      ${set('static_dir = /srv/look')}; systemctl reload 'hongbao-*.service'`],
  ['static-copy', /static\/send\.js is not as/, 'rm /var/lib/hongbao/static/send.js'],
  setting('templates', /\/nowhere/, 'template_dir = /nowhere'),
  setting('nginx-address', /port 8443/, `base_url = https://${HOST}:8443`),
  setting('nginx-body', /body_bytes_max is 65536/, 'body_bytes_max = 65536'),
  setting('setup-needed', /older_keys has changed since the last hongbao setup, from 'off' to 'on'/, 'older_keys = on'),
  setting('partitions', /made for 16/, 'partitions = 8'),
  setting('nginx-counts', /no folder \/nowhere/, 'nginx_counts_dir = /nowhere'),
  setting('receipt-keys', /\/nowhere/, 'receipt_keys_file = /nowhere'),
  ['scripts', /grab-5\.lua/, 'rm /usr/share/hongbao/lua/grab-5.lua'],
  ['log-rotation', /no file in \/etc\/logrotate\.d has \/var\/log\/nginx\/hongbao\.access\.log/,
    'mv /etc/logrotate.d/nginx /etc/logrotate.d/nginx.dpkg-old'],
  ['log-rotation', /timer is not enabled/, 'systemctl disable --now logrotate.timer'],
  ['log-rotation', /timer is not enabled/, 'systemctl mask --now logrotate.timer'],
  away('log-rotation', '/usr/sbin/logrotate'),
  ['pool-missing', /pools: hot; page; auth; card; money/, 'rm /etc/nginx/conf.d/hongbao.conf', { count: 1 }],
].map(([finding, says, plant, more]) => ({ finding, says, plant, ...more }));
