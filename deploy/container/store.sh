#!/bin/bash
# store.sh redis|mariadb MEMORY: runs the store of compose.yaml. answers in place of MEMORY: fails unless it answers.
set -euo pipefail

SHARE=/usr/share/hongbao
REDIS_SOCKET=/run/hongbao/redis/redis.sock
MARIADB_SOCKET=/run/hongbao/mariadb/mysqld.sock
TABLES=/var/lib/mysql/tables

redis_run() {
    exec redis-server "$SHARE/redis/settings.conf" --unixsocket "$REDIS_SOCKET" --unixsocketperm 770 \
        --aclfile /run/secrets/redis-users.acl --dir /var/lib/redis --maxmemory "$1"
}

# NOAUTH: this question has no password.
redis_answers() {
    redis-cli -s "$REDIS_SOCKET" PING 2>&1 | grep -q '^NOAUTH'
}

# Makes the tables of MariaDB once; the users of the roles at each start. The administrator is hongbao_setup; of others
# only the user of this process comes in, by unix_socket.
mariadb_run() {
    if [ ! -d "$TABLES" ]; then
        rm -rf -- "$TABLES.new"
        mariadb-install-db --no-defaults --datadir="$TABLES.new" --skip-test-db --skip-name-resolve \
            --auth-root-authentication-method=socket --auth-root-socket-user="$(id -un)" \
            --innodb-log-file-size=256M
        mv -- "$TABLES.new" "$TABLES"
    fi
    rm -rf -- "$TABLES.tmp"
    mkdir -- "$TABLES.tmp" # large sorts: /tmp is memory
    exec mariadbd --defaults-file="$SHARE/mariadb/settings.cnf" --datadir="$TABLES" --skip-networking \
        --skip-name-resolve --socket="$MARIADB_SOCKET" --pid-file=/tmp/mariadbd.pid --tmpdir="$TABLES.tmp" \
        --innodb-buffer-pool-size="$1" --init-file=/run/secrets/mariadb-users.sql
}

mariadb_answers() {
    mariadb --no-defaults --socket="$MARIADB_SOCKET" -e 'DO 1'
}

if [ "$2" = answers ]; then "$1_answers"; else "$1_run" "$2"; fi
