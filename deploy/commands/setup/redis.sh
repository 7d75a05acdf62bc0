# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Redis: an instance of the site's own, or one that exists already (stores.sh).

redis_make() {
    if store_exists redis; then redis_use; else redis_make_own; fi
    [ -n "$HANDED_TEXT" ] || wait_until 60 redis_answers ||
        die "Redis does not answer on $REDIS_SOCKET: journalctl -u 'redis*'"
}

# An instance of the site's own.
redis_make_own() {
    local quarter_mb acl
    quarter_mb=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024 / 4))
    acl=$(rights_acl "$ETC/rights" off)
    file_put "$REDIS_ACL" 640 redis:redis <<<"$acl"
    # As redis, which may write in /var/lib/redis: root would change what a symbolic link there points to.
    setpriv --reuid=redis --regid=redis --init-groups install -d -m 750 /var/lib/redis/hongbao
    file_put "$REDIS_CONF" 640 redis:redis <<TEXT
# Redis of hongbao: an instance of its own, redis-server@hongbao.
include $SHARE/redis/settings.conf
unixsocket $REDIS_SOCKET_OWN
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
        redis_operator ACL LOAD >/dev/null ||
            die "Redis refuses $REDIS_ACL: journalctl -u redis-server@hongbao"
    fi
    sha256sum -- "$REDIS_ACL" >"$STATE/acl-loaded"
}

redis_operator() {
    REDISCLI_AUTH=$(rights_password "$ETC/rights" operator) redis-cli -e -s "$REDIS_SOCKET" --user hongbao_operator "$@"
}

# As the role audit, which may list the keys.
redis_audit() {
    REDISCLI_AUTH=$(rights_password "$ETC/rights" audit) redis-cli -e -s "$REDIS_SOCKET" --user hongbao_audit "$@"
}

redis_answers() {
    [ "$(redis_operator PING 2>/dev/null)" = PONG ]
}

# The users of the roles in a Redis that others administer: made when this one lets setup in as an administrator.
redis_use() {
    local acl command
    store_reachable Redis "$REDIS_SOCKET"
    acl=$(redis_commands)
    if [ "$acl" != "$(cat -- "$STATE/acl-loaded" 2>/dev/null)" ] || store_lacks redis-login redis-right-missing; then
        if redis_is_admin; then
            redis_is_alone redis_admin
            redis_commands_run "$acl"
        elif store_lacks redis-login redis-right-missing; then
            command="redis-cli -s $REDIS_SOCKET --user ADMINISTRATOR"
            store_hand_over redis.txt "read -rsp 'Password: ' REDISCLI_AUTH && export REDISCLI_AUTH && $command" "$acl"
            return
        fi
        (umask 077 && printf '%s\n' "$acl" >"$STATE/acl-loaded")
    fi
    redis_is_alone redis_audit
}

# Prints what makes the users of the roles. The user default is of others.
redis_commands() {
    rights_acl "$ETC/rights" off | sed '/^user default /d; s/^user \([^ ]*\) /ACL SETUSER \1 reset /'
    printf 'ACL SAVE\n'
}

# As the administrator of admin.conf, or as the user default without a password.
redis_admin() (
    local user
    user=$(admin_value redis_user)
    REDISCLI_AUTH=$(admin_value redis_password)
    if [ -n "$REDISCLI_AUTH" ]; then export REDISCLI_AUTH; else unset REDISCLI_AUTH; fi
    exec redis-cli -e -s "$REDIS_SOCKET" ${user:+--user "$user"} "$@"
)

redis_is_admin() {
    redis_admin ACL USERS >/dev/null 2>&1
}

# redis_is_alone CLIENT: dies when Redis has keys of others, because a restore empties it. Asked once for each socket.
redis_is_alone() {
    local answer others
    [ "$REDIS_SOCKET" != "$(cat -- "$STATE/redis-alone" 2>/dev/null)" ] || return 0
    answer=$("$1" INFO keyspace 2>&1) || true
    [[ $answer == *'# Keyspace'* ]] ||
        die "Redis on $REDIS_SOCKET does not tell its databases: $answer"
    others=$(sed -n 's/^\(db[1-9][0-9]*\):.*/\1/p' <<<"$answer" | head -n 1)
    # awk reads to the end: an earlier one would end redis-cli by a signal.
    [ -n "$others" ] || others=$("$1" --scan | LC_ALL=C awk '!/^hb:/ && !n++ { print "\047" $0 "\047" }') ||
        die "Redis on $REDIS_SOCKET does not list its keys"
    [ -z "$others" ] ||
        die "Redis on $REDIS_SOCKET has keys of others, such as $others: the site needs a Redis of its own"
    printf '%s\n' "$REDIS_SOCKET" >"$STATE/redis-alone"
}

# redis_commands_run COMMANDS
redis_commands_run() {
    local answer
    answer=$(grep -v '^ACL SAVE$' <<<"$1" | redis_admin 2>&1) || die "Redis refuses the users of the roles: $answer"
    ! grep -qv '^OK$' <<<"$answer" || die "Redis refuses the users of the roles: $answer"
    redis_admin ACL SAVE >/dev/null 2>&1 || redis_admin CONFIG REWRITE >/dev/null 2>&1 ||
        die "Redis would forget the users of the roles at its next restart: it needs an aclfile (ACL SAVE), or a
configuration file that it can write (CONFIG REWRITE)"
}
