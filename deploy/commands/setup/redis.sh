# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# Redis: an instance of the site's own, or one that exists already (stores.sh).

# What hongbao doctor says of rights that the roles lack, and of those that are too many.
REDIS_LACKS=(redis-login redis-right-missing)
REDIS_EXCESS=(redis-right-excess redis-nopass redis-passwords)

# Sets the names of the site's own instance, as Debian's packages have them: of Redis or of Valkey. The setting decides
# which, else the data of an earlier site, else what is installed. deploy/debian/hongbao.postrm chooses alike.
redis_names() {
    local name
    REDIS_NAME=$(redis_program server)
    REDIS_NAME=${REDIS_NAME%-server}
    [ ! -d /var/lib/valkey/hongbao ] || REDIS_NAME=valkey
    [ ! -d /var/lib/redis/hongbao ] || REDIS_NAME=redis
    for name in redis valkey; do
        [[ $(setting redis 2>/dev/null) != "unix:/run/$name-hongbao/"* ]] || REDIS_NAME=$name
    done
    REDIS_UNIT=$REDIS_NAME-server@hongbao
    REDIS_CONF=/etc/$REDIS_NAME/$REDIS_NAME-hongbao.conf
    REDIS_ACL=/etc/$REDIS_NAME/hongbao-users.acl
    REDIS_RUN=/run/$REDIS_NAME-hongbao
    REDIS_SOCKET_OWN=$REDIS_RUN/$REDIS_NAME-server.sock
}

redis_make() {
    if store_exists redis; then redis_use; else redis_make_own; fi
    [ -n "$HANDED_NEEDED" ] || wait_until 60 redis_answers ||
        die "Redis does not answer on $REDIS_SOCKET: journalctl -u '$REDIS_NAME*'"
}

# An instance of the site's own.
redis_make_own() {
    local quarter_mb acl
    command -v "$REDIS_NAME-server" >/dev/null ||
        die "there is no $REDIS_NAME-server, which has the sessions and open packets of this site: apt install
$REDIS_NAME-server. To take another store: docs/how-to/install.md, Valkey in place of Redis"
    quarter_mb=$(($(sed -n 's/^MemTotal: *\([0-9]*\) kB/\1/p' /proc/meminfo) / 1024 / 4))
    rights_make_role "$ETC/rights" setup
    acl=$(rights_acl "$ETC/rights" "$RIGHTS_DEFAULT_OFF" && rights_acl_setup "$ETC/rights")
    file_put "$REDIS_ACL" 640 "$REDIS_NAME:$REDIS_NAME" <<<"$acl"
    # As its user, who may write in /var/lib/redis: root would change what a symbolic link there points to.
    setpriv --reuid="$REDIS_NAME" --regid="$REDIS_NAME" --init-groups install -d -m 750 "/var/lib/$REDIS_NAME/hongbao"
    file_put "$REDIS_CONF" 640 "$REDIS_NAME:$REDIS_NAME" <<TEXT
# Redis of hongbao: an instance of its own, $REDIS_UNIT.
include $SHARE/redis/settings.conf
unixsocket $REDIS_SOCKET_OWN
unixsocketperm 777
aclfile $REDIS_ACL
dir /var/lib/$REDIS_NAME/hongbao
pidfile $REDIS_RUN/$REDIS_NAME-server.pid
logfile /var/log/$REDIS_NAME/$REDIS_NAME-server-hongbao.log
# A quarter of the memory of this machine. Beyond this Redis refuses writes.
maxmemory $((quarter_mb > 256 ? quarter_mb : 256))mb
TEXT
    if ! systemctl -q is-active "$REDIS_UNIT"; then
        systemctl enable -q --now "$REDIS_UNIT" || unit_die "$REDIS_UNIT"
    elif [ "$(file_sum "$REDIS_ACL")" != "$(cat -- "$STATE/acl-loaded" 2>/dev/null)" ]; then
        redis_users_change grow
        return
    fi
    file_sum "$REDIS_ACL" >"$STATE/acl-loaded"
}

# Takes from the users of the roles what no process needs any more, once all processes are of this version.
redis_rights_end() {
    if store_exists redis; then
        redis_is_admin && [ "$(redis_commands exact)" != "$(cat -- "$STATE/acl-loaded" 2>/dev/null)" ] || return 0
        redis_commands_run exact
    elif [ "$(file_sum "$REDIS_ACL")" != "$(cat -- "$STATE/acl-loaded" 2>/dev/null)" ]; then
        redis_users_change exact
        file_sum "$REDIS_ACL" >"$STATE/acl-loaded"
    fi
}

# redis_users_change STEP: gives the running Redis the users of its aclfile (rights_acl_change). The requests in flight
# go on: no connection is closed.
redis_users_change() {
    local shown wanted answer
    wanted=$(file_print "$REDIS_ACL")
    if shown=$(redis_as setup ACL LIST 2>/dev/null); then
        answer=$(rights_acl_change "$1" "$shown" "$wanted" | redis_as setup 2>&1) || die "Redis refuses $REDIS_ACL: $answer"
        ! grep -Eqv '^(OK|1)$' <<<"$answer" || die "Redis refuses $REDIS_ACL: $answer"
    else # Version 1.0 made no user that may change others. ACL LOAD closes the connections of all users.
        redis_operator ACL LOAD >/dev/null || die "Redis refuses $REDIS_ACL: journalctl -u $REDIS_UNIT"
    fi
}

# redis_as ROLE ARGUMENT…: the client as the user of the role.
redis_as() {
    local client
    client=$(redis_program cli)
    REDISCLI_AUTH=$(rights_password "$ETC/rights" "$1") "$client" -e -s "$REDIS_SOCKET" --user "hongbao_$1" "${@:2}"
}

redis_operator() {
    redis_as operator "$@"
}

# As the role audit, which may list the keys.
redis_audit() {
    redis_as audit "$@"
}

redis_answers() {
    [ "$(redis_operator PING 2>/dev/null)" = PONG ]
}

# The users of the roles in a Redis that others administer: made when this one lets setup in as an administrator.
redis_use() {
    local commands
    store_reachable Redis "$REDIS_SOCKET"
    commands=$(redis_commands exact)
    if redis_is_admin; then
        if [ "$commands" != "$(cat -- "$STATE/acl-loaded" 2>/dev/null)" ] ||
            store_has "${REDIS_LACKS[@]}" "${REDIS_EXCESS[@]}"; then
            rm -f -- "$STATE/acl-loaded"
            redis_is_alone redis_admin
            redis_commands_run grow
        fi
    elif store_has "${REDIS_LACKS[@]}"; then
        store_hand_over NEEDED redis.txt "$(redis_command)" "$commands"
        return
    elif store_has "${REDIS_EXCESS[@]}"; then
        store_hand_over EXCESS redis.txt "$(redis_command)" "$commands"
    fi
    redis_is_alone redis_audit
}

# Prints the users of the roles. The user default is of others.
redis_users() {
    rights_acl "$ETC/rights" "$RIGHTS_DEFAULT_OFF" | sed '/^user default /d'
}

# redis_commands STEP: prints what makes them, by the steps of rights_acl_change.
redis_commands() {
    if [ "$1" = grow ]; then
        redis_users | sed 's/^user \([^ ]*\) /ACL SETUSER \1 /; s/ resetchannels//; s/ -@all//'
    else
        redis_users | sed 's/^user \([^ ]*\) /ACL SETUSER \1 reset /'
    fi
    printf 'ACL SAVE\n'
}

redis_command() {
    printf "read -rsp 'Password: ' REDISCLI_AUTH && export REDISCLI_AUTH && %s -s %s --user ADMINISTRATOR\n" \
        "$(redis_program cli)" "$REDIS_SOCKET"
}

# As the administrator of admin.conf, or as the user default without a password.
redis_admin() (
    local user
    user=$(admin_value redis_user)
    REDISCLI_AUTH=$(admin_value redis_password)
    if [ -n "$REDISCLI_AUTH" ]; then export REDISCLI_AUTH; else unset REDISCLI_AUTH; fi
    exec "$(redis_program cli)" -e -s "$REDIS_SOCKET" ${user:+--user "$user"} "$@"
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
    # awk reads to the end: an earlier one would end the client by a signal.
    [ -n "$others" ] || others=$("$1" --scan | LC_ALL=C awk '!/^hb:/ && !n++ { print "\047" $0 "\047" }') ||
        die "Redis on $REDIS_SOCKET does not list its keys"
    [ -z "$others" ] ||
        die "Redis on $REDIS_SOCKET has keys of others, such as $others: the site needs a Redis of its own"
    printf '%s\n' "$REDIS_SOCKET" >"$STATE/redis-alone"
}

# redis_commands_run STEP: the configuration file of Redis is its administrator's: setup does not have it rewritten.
redis_commands_run() {
    local answer commands
    commands=$(redis_commands "$1")
    answer=$(grep -v '^ACL SAVE$' <<<"$commands" | redis_admin 2>&1) || die "Redis refuses the users of the roles: $answer"
    ! grep -qv '^OK$' <<<"$answer" || die "Redis refuses the users of the roles: $answer"
    [ "$1" = exact ] || return 0
    redis_admin ACL SAVE >/dev/null 2>&1 || store_hand_over USERS redis-users.conf '' "$(redis_users)"
    (umask 077 && printf '%s\n' "$commands" >"$STATE/acl-loaded")
}
