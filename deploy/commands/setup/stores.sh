# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Redis and MariaDB: an instance and a database of the site's own, with a user for each role.

redis_make() {
    local quarter_mb acl
    quarter_mb=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024 / 4))
    acl=$(rights_acl "$ETC/rights" off)
    file_put "$REDIS_ACL" 640 redis:redis <<<"$acl"
    install -d -m 750 -o redis -g redis /var/lib/redis/hongbao
    file_put "$REDIS_CONF" 640 redis:redis <<TEXT
# Redis of hongbao: an instance of its own, redis-server@hongbao.
include $SHARE/redis/settings.conf
unixsocket $REDIS_SOCKET
unixsocketperm 777
aclfile $REDIS_ACL
dir /var/lib/redis/hongbao
pidfile /run/redis-hongbao/redis-server.pid
logfile /var/log/redis/redis-server-hongbao.log
# A quarter of the memory of this machine. Beyond this Redis refuses writes.
maxmemory $((quarter_mb > 256 ? quarter_mb : 256))mb
TEXT
    if ! systemctl -q is-active redis-server@hongbao; then
        systemctl enable -q --now redis-server@hongbao
    elif ! sha256sum --status -c -- "$STATE/acl-loaded" 2>/dev/null; then
        REDISCLI_AUTH=$(rights_password "$ETC/rights" operator) \
            redis-cli -e -s "$REDIS_SOCKET" --user hongbao_operator ACL LOAD >/dev/null ||
            die "Redis refuses $REDIS_ACL: journalctl -u redis-server@hongbao"
    fi
    sha256sum -- "$REDIS_ACL" >"$STATE/acl-loaded"
    wait_until 60 redis_answers || die "Redis does not answer: journalctl -u redis-server@hongbao"
}

redis_answers() {
    [ "$(REDISCLI_AUTH=$(rights_password "$ETC/rights" operator) \
        redis-cli -s "$REDIS_SOCKET" --user hongbao_operator PING 2>/dev/null)" = PONG ]
}

mariadb_admin() {
    mariadb --no-defaults --socket="$MYSQL_SOCKET" --user=root "$@"
}

mariadb_answers() {
    mariadb_admin --connect-timeout=2 -e 'SELECT 1' >/dev/null 2>&1
}

mariadb_make() {
    if [ -d "${MARIADB_CNF%/*}" ]; then
        file_put "$MARIADB_CNF" 644 root:root <"$SHARE/mariadb/settings.cnf"
        [ -z "$changed" ] || systemctl restart mariadb
    fi
    systemctl -q is-active mariadb || systemctl start mariadb
    wait_until 60 mariadb_answers || die "MariaDB does not let root in by $MYSQL_SOCKET: journalctl -u mariadb"
    tables_make
}

# Tables and rights. Rights are granted only when what the database has is not what it had after the last time: between
# REVOKE and GRANT a running pool would be refused. A routine that a migration made anew has lost its rights.
tables_make() {
    local state=$STATE/rights
    local -a grants=("$SHARE/rights/grants.sql")
    [ "$(setting demo)" != on ] || grants+=("$SHARE/rights/grants-demo.sql")
    rights_state "${grants[@]}" | cmp -s -- "$state" || rights_sql "$ETC/rights" "$DATABASE" | mariadb_admin
    hongbao migrate
    if ! rights_state "${grants[@]}" | cmp -s -- "$state"; then
        mariadb_admin "$DATABASE" < <(cat -- "${grants[@]}")
        (umask 077 && rights_state "${grants[@]}" >"$state")
    fi
}

# rights_state FILE…: prints what the files, the users' passwords and the database say about rights.
rights_state() {
    local role
    rights_sql "$ETC/rights" "$DATABASE"
    cat -- "$@"
    for role in "${ROLES[@]}"; do
        [[ $ROLES_WITHOUT_MARIADB == *" $role "* ]] ||
            mariadb_admin -N -e "SHOW GRANTS FOR hongbao_$role@localhost" 2>&1 | sort
    done
}
