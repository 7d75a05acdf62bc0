// Faults of an installed site, for doctor.test.js (alone: nothing else is found then; count: that often). Each is planted
// by a script of the shell as root, found by the doctor as `finding` with a text that matches `says`, and mended by the
// commands that the doctor prints. Where these only show what is to be done, as on a full disk, `mend` does it before.
// What a site of ./dev shows, too, is in e2e/doctor.test.js; the clock of the machine is that of its host, so a wrong one
// is planted only there.
export const HOST = 'hongbao.example';

const CONF = '/etc/hongbao/hongbao.conf';
const AUDIT = '/etc/hongbao/rights/audit.conf';
const TLS = '/etc/hongbao/tls';
const REDIS = 'redis-cli -e -s /run/redis-hongbao/redis-server.sock --user hongbao_operator';
const ACL = '/etc/redis/hongbao-users.acl';
const OPERATOR = "export REDISCLI_AUTH=$(sed -n 's/^redis_password = //p' /etc/hongbao/rights/operator.conf)";

const redisSet = (finding, says, name, bad) => ({
  finding, says,
  plant: `${OPERATOR}; ${REDIS} CONFIG SET ${name} ${bad}`,
});

// Redis reads other rights, and the file has the right ones again: somebody has typed ACL SETUSER.
const redisUser = (finding, says, change) => ({ finding,
  says,
  plant: `${OPERATOR}; cp -p ${ACL} ${ACL}.good; sed -i '${change}' ${ACL}
    ${REDIS} ACL LOAD; mv ${ACL}.good ${ACL}` });
const sql = (finding, says, bad, good) => ({ finding,
  says,
  plant: `mariadb hongbao -e "${bad}"`,
  mend: good && `mariadb hongbao -e "${good}"` });
const mode = (finding, path, bad) => ({ finding, says: new RegExp(path), plant: `chmod ${bad} ${path}` });
const setting = (finding, says, line) => ({
  finding, says, plant: `sed -i '/^${line.split(' ')[0]} /d' ${CONF}; echo '${line}' >>${CONF}`,
});
const away = (finding, path, mend) => ({
  finding,
  says: new RegExp(path),
  plant: `mv ${path} ${path}.away`,
  mend: mend ?? `mv ${path}.away ${path}`,
});

// A small file system in place of the folder.
const smallDisk = (finding, folder) => ({
  finding,
  says: /only \d+ MiB are free/,
  plant: `mount -t tmpfs -o size=16m tmpfs ${folder}`,
  mend: `umount -l ${folder}`,
});

// The same with a store that has stopped, as Redis does when its disk is full.
const fullAndStopped = (finding, folder, units) => ({
  ...smallDisk(finding, folder),
  plant: `systemctl stop ${units}; ${smallDisk(finding, folder).plant}`,
});

// Another certificate of the site: a name and its days. doctor.test.js makes CERTIFICATES as /root/NAME.pem and .key.
export const CERTIFICATES = [];
function certificate(finding, says, host, from, to, mend) {
  CERTIFICATES.push({ name: finding, host, from, to });
  const plant = `cat /root/${finding}.pem >${TLS}/fullchain.pem; cat /root/${finding}.key >${TLS}/privkey.pem`;
  return { finding, says, plant, mend };
}

const DROPIN = '/etc/systemd/system/hongbao-hot@2.service.d';
const dropin = (text) => `mkdir -p ${DROPIN}; printf '%s\\n' '[Service]' ${text} >${DROPIN}/planted.conf`;

export const FAULTS = [
  // units
  { finding: 'unit-stopped', says: /hongbao-page@2\.service$/, plant: 'systemctl stop hongbao-page@2' },
  { finding: 'unit-stopped', says: /hongbao-settle\.service/, plant: 'systemctl stop hongbao-settle' },
  { finding: 'unit-stopped', says: /hongbao-auth\.socket/, plant: 'systemctl stop hongbao-auth.socket' },
  { finding: 'unit-stopped', says: /: hongbao\.target$/, plant: 'systemctl stop hongbao.target', alone: true },
  { finding: 'pool-down', says: /card\.sock/, plant: 'systemctl stop hongbao-card.socket' },
  { finding: 'worker-down', says: /no settle worker/, plant: 'systemctl stop hongbao-settle' },
  { finding: 'unit-disabled', says: /hongbao\.target$/, plant: 'systemctl disable hongbao.target' },
  { finding: 'unit-disabled', says: /hongbao-settle\.service$/, plant: 'systemctl disable hongbao-settle' },
  { finding: 'unit-disabled', says: /hongbao-page@7\.service$/, plant: 'systemctl start hongbao-page@7' },
  { finding: 'unit-masked', says: /hongbao-card@1\.service$/, plant: 'systemctl mask --now hongbao-card@1' },
  { finding: 'unit-failed',
    says: /hongbao-hot@2\.service/,
    plant: `${dropin("'ExecStart=' 'ExecStart=/bin/false' 'RestartSec=60'")}
      systemctl daemon-reload; systemctl restart hongbao-hot@2 || true`,
    mend: `rm -r ${DROPIN}; systemctl daemon-reload` },
  { finding: 'unit-failed',
    says: /hongbao-backup\.service; hongbao-backup\.service says: .*can't make/,
    plant: `rm -rf /var/backups/hongbao; mkdir -p /var/backups; echo x >/var/backups/hongbao
      systemctl start hongbao-backup || true`,
    mend: 'rm /var/backups/hongbao' },
  { finding: 'unit-old-file',
    says: /hongbao-hot@2\.service/,
    plant: `${dropin("'CPUWeight=50'")}; systemctl daemon-reload; touch -d tomorrow ${DROPIN}/planted.conf` },

  // the servers beside it
  { finding: 'nginx-port', says: /port 443/, count: 1, plant: 'systemctl stop nginx' },
  { finding: 'redis-down', says: /does not answer/, plant: 'systemctl stop redis-server@hongbao' },
  { finding: 'mysql-down', says: /does not answer/, plant: 'systemctl stop mariadb.socket mariadb' },
  { finding: 'pool-silent', says: /card\.sock/, plant: 'systemctl kill --kill-whom=main -s STOP hongbao-card@1' },

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
  sql('mysql-right-missing', /hongbao_page lacks UPDATE\(nickname\) on user/,
    'REVOKE UPDATE (nickname) ON user FROM hongbao_page@localhost'),
  sql('mysql-right-missing', /hongbao_settle lacks EXECUTE on PROCEDURE ledger_settle/,
    'REVOKE EXECUTE ON PROCEDURE ledger_settle FROM hongbao_settle@localhost'),
  sql('mysql-right-excess', /hongbao_support .*SELECT on \*/,
    'GRANT SELECT ON hongbao.* TO hongbao_support@localhost'),
  { ...sql('mysql-right-excess', /everybody, and so each role, has ALL PRIVILEGES on test\.\*/, 'GRANT ALL PRIVILEGES ON test.* TO PUBLIC'), count: 1 },
  { ...sql('schema-definer', /: \w+; \w+; \w+; \w+; \w+; and \d+ more$/,
    "UPDATE mysql.proc SET definer = 'root@localhost' WHERE db = 'hongbao'; FLUSH TABLES"), count: 1 },
  sql('mysql-login', /hongbao_audit/, "ALTER USER hongbao_audit@localhost IDENTIFIED BY 'another'"),
  sql('mysql-flush', /is 2, not 1/,
    'SET GLOBAL innodb_flush_log_at_trx_commit = 2'),
  sql('mysql-read-only', /read_only is ON/, 'SET GLOBAL read_only = 1'),
  sql('schema', /9000 was/,
    "INSERT INTO schema_migration VALUES (9000, 'later', REPEAT('x', 32), 1, FALSE)",
    'DELETE FROM schema_migration WHERE version = 9000'),
  { ...sql('schema', /^tables are missing.*: thanks$/, 'RENAME TABLE thanks TO thanks_away', 'RENAME TABLE thanks_away TO thanks'), alone: true },
  { ...sql('schema', /^tables are missing.*: grab, stream_cursor$/, 'RENAME TABLE grab TO grab_away, stream_cursor TO cursor_away',
    'RENAME TABLE grab_away TO grab, cursor_away TO stream_cursor'), count: 1 },
  sql('schema-definer', /: odd/, 'CREATE DEFINER = root@localhost PROCEDURE odd() SQL SECURITY INVOKER DO 1'),
  sql('schema-definer', /: ledger_deposit/,
    "UPDATE mysql.proc SET definer = 'root@localhost' WHERE db = 'hongbao' AND name = 'ledger_deposit'"),
  { finding: 'demo-money',
    says: /play money: \d+ deposits/,
    plant: `hongbao demo --users 1 --out /root/demo-users; ${setting('', '', 'demo = off').plant}` },
  sql('dead-letters', /operator: 1/,
    "INSERT INTO dead_letter SET partition_no = 0, event_id = '1-1', content = 'x', reason = 'planted', created_ms = 1",
    "DELETE FROM dead_letter WHERE reason = 'planted'"),

  // the audit and the backups
  { finding: 'audit-violations',
    says: /`hongbao audit` has found violations/,
    plant: 'mariadb hongbao -e "UPDATE account SET balance_fen = balance_fen + 1 WHERE id = 1"; hongbao audit || true',
    mend: 'mariadb hongbao -e "UPDATE account SET balance_fen = balance_fen - 1 WHERE id = 1"' },
  { finding: 'audit-violations',
    says: /the settle worker has found violations/,
    plant: `mariadb hongbao -e "INSERT INTO account SET id = 77, kind = 'wallet', balance_fen = 0"
      for i in $(seq 1200); do ! hongbao doctor | grep -q audit-violations || break; sleep 0.1; done`,
    mend: 'mariadb hongbao -e "DELETE FROM account WHERE id = 77"' },
  { finding: 'backup-none', says: /no backup is known/, plant: 'rm -f /var/lib/hongbao/backups; systemctl disable -q --now hongbao-backup.timer' },
  { finding: 'backup-none', says: /no backup is known: a lost disk/, plant: 'rm -f /var/lib/hongbao/backups; mariadb hongbao -e "UPDATE site SET created_ms = 1"' },
  { finding: 'backup-old',
    says: /is of 2026-01-01T/,
    plant: "systemctl start hongbao-backup; sed -i 's/^clean_at = .*/clean_at = 2026-01-01T00:00:00.000000Z/' /var/lib/hongbao/backups" },
  { finding: 'backup-none', says: /is not at its place any more/, plant: 'rm -r /var/backups/hongbao' },

  // files
  mode('secret-file', '/etc/hongbao/secret', 644),
  mode('secret-file', '/etc/hongbao/rights/page.conf', 644),
  mode('writable-file', '/usr/share/hongbao/templates/pages/login.mustache', 666),
  mode('writable-file', '/usr/share/hongbao/sql', 777),
  mode('metrics-mode', '/run/hongbao/metrics', 666),
  mode('pool-socket-mode', '/run/hongbao/page.sock', 666),
  mode('certificate-key-mode', `${TLS}/privkey.pem`, 644),
  mode('unreadable-file', '/usr/share/hongbao/templates/pages/login.mustache', 600),
  { ...away('role-file', '/etc/hongbao/rights/card.conf'), mend: undefined },
  { ...away('secret-missing', '/etc/hongbao/secret'), says: /\/usr\/share\/doc\/hongbao\/docs\/how-to\/rotate-secrets\.md/ },
  { ...away('templates', '/usr/share/hongbao/templates/pages/login.mustache'),
    says: /there is no pages\/login\.mustache/ },
  { finding: 'role-passwords',
    says: /audit\.conf has one password/,
    plant: `cp -p ${AUDIT} ${AUDIT}.good; sed -i 's/^mysql_password = .*/mysql_password = another/' ${AUDIT}` },
  away('metrics-missing', '/run/hongbao/metrics', 'rm /run/hongbao/metrics.away'),
  { finding: 'metrics-missing',
    says: /metrics is no file/,
    plant: 'rm /run/hongbao/metrics; mkdir /run/hongbao/metrics' },
  { finding: 'secret-weak',
    says: /only 1 different/,
    plant: 'systemctl stop hongbao.target; printf %064d 0 >/etc/hongbao/secret; systemctl start hongbao.target' },
  { finding: 'role-keys', says: /card\.keys has other keys/, plant: 'cp /etc/hongbao/rights/hot.keys /etc/hongbao/rights/card.keys' },
  away('role-keys', '/etc/hongbao/rights/page.keys', 'rm /etc/hongbao/rights/page.keys.away'),
  mode('secret-file', '/etc/hongbao/rights/auth.keys', 644),
  { finding: 'metrics-file',
    says: /Read-only/,
    plant: 'mount --bind /run/hongbao/metrics /run/hongbao/metrics; mount -o remount,bind,ro /run/hongbao/metrics',
    mend: 'umount -l /run/hongbao/metrics' },

  mode('file-mode', '/var/lib/hongbao/static', 700),
  mode('file-mode', '/etc/hongbao/hongbao.conf', 600),
  mode('file-mode', '/etc/hongbao/rights', 755),
  { finding: 'file-mode', says: /secret is 640 root:users, not 600/, plant: 'chown root:users /etc/hongbao/secret; chmod 640 /etc/hongbao/secret' },
  mode('file-mode', '/var/log/nginx/hongbao.access.log', 644),
  { ...mode('file-mode', '/var/lib/hongbao', 700), says: /^\/var\/lib\/hongbao is 700: www-data may not pass/, count: 1 },
  { finding: 'file-mode', says: /www-data can't use \S+ and \d+ more, so pages have no style/, count: 1, plant: 'chmod -R go= /var/lib/hongbao/static; chmod 755 /var/lib/hongbao/static' },
  { finding: 'file-mode', says: /redis\/hongbao is 750 root:root, not 750 redis:redis: redis can't/, plant: 'chown root:root /var/lib/redis/hongbao' },
  { finding: 'file-mode', says: /redis can't use \S+\/appendonlydir\S* and \d+ more/, plant: 'chown -R root:root /var/lib/redis/hongbao/appendonlydir' },
  { finding: 'file-mode', says: /mysql can't use \S+\/packet\.\w+ and 1 more/, plant: 'chown root:root /var/lib/mysql/hongbao/packet.*; chmod 600 /var/lib/mysql/hongbao/packet.*' },
  { finding: 'file-mode', says: /mysql is 755 root:root, not 755 mysql:mysql: mysql can't/, plant: `systemctl stop mariadb.socket mariadb
    chown -R root:root /var/lib/mysql; systemctl start mariadb || systemctl reset-failed mariadb` },
  { finding: 'file-mode', says: /mysql can't use \S+ and \d+ more/, plant: 'systemctl stop mariadb.socket mariadb; chown -R root:root /var/lib/mysql/*',
    mend: 'systemctl start mariadb.socket' },
  { finding: 'file-mode', says: /settings\.conf is 600 root:root, not 644 root:root: redis can't/, plant: 'chmod 600 /usr/share/hongbao/redis/settings.conf' },
  { finding: 'file-mode', says: /^\/usr\/share\/hongbao\/redis is 700: redis may not pass/, plant: 'chmod -R go= /usr/share/hongbao/redis' },
  { finding: 'static-copy', says: /nginx serves another file/, plant: 'rm -r /var/lib/hongbao/static', count: 1 },
  { finding: 'file-missing', says: /certbot/, plant: 'rm -r /var/lib/hongbao/acme' },
  { finding: 'file-missing', says: /no picture/, plant: 'rm -r /var/cache/hongbao' },

  // disks
  smallDisk('disk-redis', '/var/lib/redis/hongbao'),
  smallDisk('disk-mysql', '/var/lib/mysql'),
  fullAndStopped('disk-redis', '/var/lib/redis/hongbao', 'redis-server@hongbao'),
  fullAndStopped('disk-mysql', '/var/lib/mysql', 'mariadb.socket mariadb'),
  smallDisk('disk-logs', '/var/log/nginx'),
  { finding: 'disk-run',
    says: /\/run\/hongbao is full/,
    plant: 'mount -o remount,size=2m /run; head -c 4M /dev/zero >/run/filler || true',
    mend: 'rm /run/filler; mount -o remount,size=1g /run' },

  // certificates
  certificate('certificate-expired', /expired \d+ days ago/, HOST, -10, -2),
  certificate('certificate-expires', /in \d+ days/, HOST, -10, 5),
  certificate('certificate-early', /not valid/, HOST, 5, 50),
  certificate('certificate-host', new RegExp(HOST), 'other.example', -10, 90),
  { ...certificate('certificate-served', /still serves an old certificate/, HOST, -10, 90), count: 1 },
  { finding: 'certificate-missing', says: /fullchain\.pem can't be read/, plant: `rm ${TLS}/fullchain.pem` },
  { finding: 'certificate-key', says: /privkey\.pem can't be read/, plant: `rm ${TLS}/privkey.pem` },
  { finding: 'certificate-key',
    says: /not that of/,
    plant: `openssl genpkey -algorithm ec -pkeyopt ec_paramgen_curve:prime256v1 -out ${TLS}/privkey.pem` },

  // settings, and the files of nginx
  { finding: 'process-settings',
    says: /other settings than \/etc\/hongbao\/hongbao\.conf now has: hot \d/,
    plant: `cp -p ${CONF} ${CONF}.good; echo '# planted' >>${CONF}; systemctl reload 'hongbao-*.service'
      mv ${CONF}.good ${CONF}` },
  setting('migrations', /\/nowhere/, 'sql_dir = /nowhere'),
  setting('scripts', /\/nowhere/, 'lua_dir = /nowhere'),
  setting('static', /\/nowhere/, 'static_dir = /nowhere'),
  { finding: 'static-copy',
    says: /static\/app\.css is not as \/srv\/look\/app\.css/,
    plant: `cp -a /usr/share/hongbao/static /srv/look; echo '.top { color: red; }' >>/srv/look/app.css
      ${setting('', '', 'static_dir = /srv/look').plant}; systemctl reload 'hongbao-*.service'` },
  { finding: 'static-copy', says: /static\/send\.js is not as/, plant: 'rm /var/lib/hongbao/static/send.js' },
  setting('templates', /\/nowhere/, 'template_dir = /nowhere'),
  setting('nginx-address', /port 8443/, `base_url = https://${HOST}:8443`),
  setting('nginx-body', /body_bytes_max is 65536/, 'body_bytes_max = 65536'),
  setting('setup-needed', /older_keys has changed since the last hongbao setup, from 'off' to 'on'/, 'older_keys = on'),
  setting('partitions', /made for 16/, 'partitions = 8'),
  setting('nginx-counts', /no folder \/nowhere/, 'nginx_counts_dir = /nowhere'),
  setting('receipt-keys', /\/nowhere/, 'receipt_keys_file = /nowhere'),
  { finding: 'scripts', says: /grab-5\.lua/, plant: 'rm /usr/share/hongbao/lua/grab-5.lua' },
  { finding: 'log-rotation',
    says: /no file in \/etc\/logrotate\.d has \/var\/log\/nginx\/hongbao\.access\.log/,
    plant: 'mv /etc/logrotate.d/nginx /etc/logrotate.d/nginx.dpkg-old' },
  { finding: 'log-rotation', says: /timer is not enabled/, plant: 'systemctl disable --now logrotate.timer' },
  { finding: 'log-rotation', says: /timer is not enabled/, plant: 'systemctl mask --now logrotate.timer' },
  away('log-rotation', '/usr/sbin/logrotate'),
  { finding: 'pool-missing', says: /pools: hot; page; auth; card/, plant: 'rm /etc/nginx/conf.d/hongbao.conf', count: 1 },
];
