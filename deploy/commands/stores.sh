# shellcheck shell=bash disable=SC2034,SC2154
# The two stores, as the programs of MariaDB (or MySQL) and Redis reach them: the site's, or private ones in WORK that
# end with the command, also when it is killed.

DATABASE=
SQL_OPTIONS= # an option file for the clients of MariaDB
REDIS=()     # the client of Redis with its options
HERE=()      # hongbao, connected with these stores

private_pids=()

# Sets STORE_PATH, or STORE_HOST and STORE_PORT, from the first address of the setting: unix:PATH, HOST:PORT or
# [IPV6]:PORT.
address_first() {
    local address=${SETTING[$1]%%,*}
    STORE_PATH='' STORE_HOST='' STORE_PORT=''
    case $address in
    unix:*) STORE_PATH=${address#unix:} ;;
    *)
        STORE_PORT=${address##*:}
        STORE_HOST=${address%:*}
        STORE_HOST=${STORE_HOST#[}
        STORE_HOST=${STORE_HOST%]}
        ;;
    esac
}

stores_use_site() {
    DATABASE=${SETTING[mysql_database]}
    address_first mysql
    SQL_OPTIONS="[client]
${STORE_PATH:+socket=\"$STORE_PATH\"}
${STORE_HOST:+protocol=tcp
host=$STORE_HOST
port=$STORE_PORT}
user=\"${SETTING[mysql_user]}\"
password=\"${SETTING[mysql_password]//\\/\\\\}\""
    address_first redis
    REDIS=("$(redis_program cli)" -e --no-auth-warning)
    if [ -n "$STORE_PATH" ]; then REDIS+=(-s "$STORE_PATH"); else REDIS+=(-h "$STORE_HOST" -p "$STORE_PORT"); fi
    [ -z "${SETTING[redis_user]}" ] || REDIS+=(--user "${SETTING[redis_user]}")
    unset REDISCLI_AUTH
    [ -z "${SETTING[redis_password]}" ] || export REDISCLI_AUTH=${SETTING[redis_password]}
    # The counters of the site belong to its own processes. Without a sandbox the worker of root keeps the capability
    # that opens sockets of other users.
    HERE=("${WITH_PARENT[@]}" env "HB_METRICS_FILE=$WORK/metrics" HB_SANDBOX=off "$HONGBAO")
}

# Dies unless both stores of the site answer, and let this user in.
stores_answer() {
    local said failed=
    said=$(sql -e 'SELECT 1' 2>&1) || { say "$PROGRAM: $(store_text MariaDB "${SETTING[mysql]}" "$said")" && failed=yes; }
    said=$(redis PING 2>&1) || true
    [ "$said" = PONG ] || { say "$PROGRAM: $(store_text Redis "${SETTING[redis]}" "${said%$'\n'PONG}")" && failed=yes; }
    [ -z "$failed" ] || exit 1
}

# mysql_die SAID, redis_die SAID: dies because the store has failed at a later moment.
mysql_die() {
    die "$(store_text MariaDB "${SETTING[mysql]}" "$1")"
}

redis_die() {
    die "$(store_text Redis "${SETTING[redis]}" "$1")"
}

stores_use_private() {
    DATABASE=${SETTING[mysql_database]}
    SQL_OPTIONS="[client]
socket=\"$WORK/mariadb.sock\"
user=root"
    REDIS=("$(redis_program cli)" -e -s "$WORK/redis.sock")
    unset REDISCLI_AUTH
    HERE=("${WITH_PARENT[@]}" env "HB_METRICS_FILE=$WORK/metrics" HB_BACKUP_RECORD= HB_RIGHTS_DIR= "HB_MYSQL=unix:$WORK/mariadb.sock"
        HB_MYSQL_USER=root HB_MYSQL_PASSWORD= "HB_REDIS=unix:$WORK/redis.sock" HB_REDIS_USER= HB_REDIS_PASSWORD=
        HB_REDIS_TIMEOUT_MS=10000 HB_MYSQL_TIMEOUT_S=30 "$HONGBAO")
}

# sql_program mariadb|mariadb-dump ARGS...: the client, or MySQL's where there is no MariaDB.
sql_program() {
    local name
    name=$(sql_name "$1")
    shift
    "$name" --defaults-file=<(printf '%s\n' "$SQL_OPTIONS") "$@"
}

sql_name() {
    if command -v "$1" >/dev/null; then printf '%s\n' "$1"; else printf '%s\n' "${1/mariadb/mysql}"; fi
}

sql() {
    sql_program mariadb --batch --skip-column-names --default-character-set=utf8mb4 "$@"
}

redis() {
    "${REDIS[@]}" "$@"
}

private_redis_cli() {
    env -u REDISCLI_AUTH "$(redis_program cli)" -e -s "$WORK/redis.sock" "$@"
}

# private_redis FILE: a Redis with the data of an RDB file.
private_redis() {
    local server
    server=$(redis_program server)
    mkdir -- "$WORK/redis"
    cp -- "$1" "$WORK/redis/dump.rdb" || die "no private Redis; $(space_left "$WORK")"
    "${WITH_PARENT[@]}" "$server" --port 0 --unixsocket "$WORK/redis.sock" --unixsocketperm 700 --dir "$WORK/redis" --save '' \
        --aof-use-rdb-preamble no >"$WORK/redis.log" 2>&1 &
    private_pids+=($!)
    wait_until 600 private_redis_answers $! || die "$server can't read the copy of Redis:
$(tail -n 5 -- "$WORK/redis.log")"
    kill -0 $! 2>/dev/null || die "$server can't read the copy of Redis:
$(tail -n 5 -- "$WORK/redis.log")"
}

# private_redis_answers PID: also true when it has ended.
private_redis_answers() {
    ! kill -0 "$1" 2>/dev/null || [ "$(private_redis_cli PING 2>&1)" = PONG ]
}

# A MariaDB with the empty database, in which everything runs as root. Its data may be lost, so it need not be synced.
private_mariadb() {
    local server
    local -a user=()
    server=$(command -v mariadbd || echo /usr/sbin/mariadbd)
    [ -x "$server" ] || die "there is no mariadbd; --verify needs the package mariadb-server-core"
    [ "$(id -u)" -ne 0 ] || user=(--user=root)
    mkdir -- "$WORK/mariadb" "$WORK/tmp"
    TMPDIR=$WORK/tmp "${WITH_PARENT[@]}" mariadb-install-db --no-defaults "${user[@]}" --datadir="$WORK/mariadb" --skip-test-db \
        --auth-root-authentication-method=normal --skip-name-resolve --innodb-use-native-aio=0 \
        >"$WORK/install.log" 2>&1 ||
        die "no private MariaDB; $(space_left "$WORK"): $(errors_first "$WORK/install.log")"
    "${WITH_PARENT[@]}" "$server" --no-defaults "${user[@]}" --datadir="$WORK/mariadb" --socket="$WORK/mariadb.sock" \
        --pid-file="$WORK/mariadb.pid" --tmpdir="$WORK/tmp" --skip-networking --skip-name-resolve --skip-log-bin \
        --character-set-server=utf8mb4 --collation-server=utf8mb4_bin --innodb-use-native-aio=0 \
        --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 >"$WORK/mariadb.log" 2>&1 &
    private_pids+=($!)
    wait_until 60 sql -e 'SELECT 1' >"$WORK/answer" 2>&1 ||
        die "no private MariaDB; $(space_left "$WORK"): $(errors_first "$WORK/mariadb.log")"
    sql -e "CREATE DATABASE \`$DATABASE\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
}

# errors_first LOG: prints the first errors in it, which tell the cause of the others; without one its last lines.
errors_first() {
    grep -m 3 -iE "error|no space" -- "$1" || tail -n 5 -- "$1"
}

private_stop() {
    local pid
    for pid in "${private_pids[@]}"; do
        kill -KILL "$pid" 2>/dev/null || true
        wait "$pid" 2>/dev/null || true
    done
    private_pids=()
}

# private_wait PID: waits for the end of one of them, and returns its status.
private_wait() {
    local pid status=0
    local -a others=()
    wait "$1" || status=$?
    for pid in "${private_pids[@]}"; do
        [ "$pid" = "$1" ] || others+=("$pid")
    done
    private_pids=("${others[@]}")
    return "$status"
}
