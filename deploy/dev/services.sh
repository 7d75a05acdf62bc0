# shellcheck shell=bash disable=SC2153,SC2154
# The servers of an instance. service_start_NAME returns when the server is ready; service_end ends it.

# In the order of starting; they are ended in reverse order. A machine of a cluster has only some (VAR/node), and may have
# others (cluster_services.sh).
SERVICES=(mariadb redis settle auth sso card money page hot nginx)

service_known() {
    [[ " ${SERVICES[*]} sso " == *" $1 "* ]] || die "no server '$1'; there are: ${SERVICES[*]}"
}

service_start() {
    # Workers that a killed supervisor left behind would share the socket with the new ones.
    service_end "$1"
    "service_start_$1"
}

service_end() {
    case $1 in
    nginx) process_end nginx QUIT 4 ;;
    haproxy | sentinel) process_end "$1" TERM 4 ;;
    mariadb)
        # MariaDB 10.11 may deadlock when it gets SIGTERM while it starts.
        wait_until 10 service_mariadb_started_or_ended || true
        process_end mariadb TERM 30
        ;;
    redis) process_end redis TERM 15 ;;
    *) process_end "$1" TERM 8 ;;
    esac
}

service_start_mariadb() {
    local program
    program=$(command -v mariadbd || echo /usr/sbin/mariadbd)
    # Only root needs to (and may) set the server's user.
    local -a options=()
    [ "$(id -u)" -ne 0 ] || options=(--user=root)
    [ -d "$VAR/data/mariadb" ] || service_install_mariadb "${options[@]}"
    # What one Galera node writes, all get: cluster.sh makes users and tables once.
    if instance_is_node; then
        options+=(--wsrep-start-position="$(service_galera_position "$program" "${options[@]}")")
    else
        options+=(--init-file="$VAR/mariadb-init.sql")
    fi

    process_spawn mariadb "$program" --defaults-file="$VAR/mariadb.cnf" "${options[@]}" \
        --datadir="$VAR/data/mariadb" --tmpdir="$VAR/tmp" --socket="$SOCKETS/mariadb.sock" \
        --pid-file="$VAR/run/mariadbd.pid"
    process_wait_ready mariadb "$process_spawned" 60 service_mariadb_answers
    instance_is_node || service_migrate
}

service_mariadb_answers() {
    service_mariadb_admin --connect-timeout=2 -e 'SELECT 1' >/dev/null 2>&1
}

service_mariadb_started_or_ended() {
    process_running mariadb || return 0
    kill -s CONT "$(process_recorded mariadb)" 2>/dev/null || true
    service_mariadb_answers
}

# The client as administrator, which every user is who may open the socket of a private instance.
service_mariadb_admin() {
    mariadb --no-defaults --socket="$SOCKETS/mariadb.sock" --user=root "$@"
}

# Creates the data folder VAR/data/mariadb.new. The caller sends the output to a log.
service_mariadb_bootstrap() {
    rm -rf -- "$VAR/data/mariadb.new"
    mkdir -p -- "$VAR/data/mariadb.new"
    # mariadb-install-db does not support a space in a path; the relative path has none. As in mariadb.cnf: no io_uring
    # (its locked memory is limited per user, all servers together), and temporary files of the instance's own.
    (cd -- "$VAR/data" && TMPDIR=$VAR/tmp mariadb-install-db --no-defaults "$@" --datadir=./mariadb.new \
        --skip-test-db --auth-root-authentication-method=normal --skip-name-resolve \
        --innodb-log-file-size=64M --innodb-use-native-aio=0) </dev/null 9>&-
}

# Creates the data folder. It gets its final name when it is complete, so an interrupted start can simply be repeated.
# A bootstrap that fails (seen once on a loaded machine) is repeated once.
service_install_mariadb() {
    local log=$VAR/log/mariadb-install.log
    say "dev: creating the database"
    if ! service_mariadb_bootstrap "$@" >"$log" 2>&1; then
        grep -iE 'error|fail|signal|space|denied' -- "$log" >&2 || true
        say "dev: creating the database failed, trying once more (the first log: $log.1)"
        mv -- "$log" "$log.1"
        service_mariadb_bootstrap "$@" >"$log" 2>&1 || die "mariadb-install-db failed; its output is in $log"
    fi
    mv -- "$VAR/data/mariadb.new" "$VAR/data/mariadb"
}

# Applies migrations and grants, after MariaDB has started.
service_migrate() {
    local log=$VAR/log/migrate.log
    if ! service_hongbao migrate >"$log" 2>&1; then
        cat -- "$log" >&2
        die "the tables could not be brought up to date (hongbao migrate)"
    fi
    service_grant
}

# Applies users and grants only when they have changed: between REVOKE and GRANT a running pool would be refused.
service_grant() {
    local folder=$ROOT/deploy/rights wanted=$VAR/mariadb-grants.sql done=$VAR/data/mariadb/hongbao-grants.sql
    local -a files=("$VAR/mariadb-init.sql" "$folder/grants.sql")
    ! site_has_demo || files+=("$folder/grants-demo.sql")
    (umask 077 && cat -- "${files[@]}" >"$wanted")
    ! cmp -s -- "$wanted" "$done" || return 0
    service_mariadb_admin "$(instance_setting mysql_database)" <"$wanted" || die "the rights could not be granted: $wanted"
    mv -- "$wanted" "$done"
}

# Brings new rights of both stores to an instance that runs, whose connections stay open.
service_rights() {
    local done=$VAR/data/redis-users.acl shown answer
    ! process_running mariadb || service_grant
    if process_running redis && ! cmp -s -- "$VAR/redis-users.acl" "$done"; then
        shown=$(redis-cli -e -s "$SOCKETS/redis.sock" ACL LIST) || die "Redis does not list its users: $shown"
        answer=$(rights_acl_change exact "$shown" "$(<"$VAR/redis-users.acl")" | redis-cli -s "$SOCKETS/redis.sock" 2>&1) ||
            die "the rights could not be changed: $answer"
        ! grep -Eqv '^(OK|1)$' <<<"$answer" || die "Redis refuses $VAR/redis-users.acl: $answer"
        (umask 077 && cp -- "$VAR/redis-users.acl" "$done")
    fi
}

service_start_redis() {
    mkdir -p -- "$VAR/data/redis"
    process_spawn redis redis-server "$VAR/redis.conf"
    process_wait_ready redis "$process_spawned" 60 service_redis_answers
    (umask 077 && cp -- "$VAR/redis-users.acl" "$VAR/data/redis-users.acl")
}

service_redis_answers() {
    [ "$(timeout 2 redis-cli -s "$SOCKETS/redis.sock" PING 2>/dev/null)" = PONG ]
}

# The command prefix, NUL-separated, that runs the program with the configuration of the instance and an environment that
# has nothing else: settings, the options of the sanitizers in tests, and a clock that tests move
# (tests/support/servers).
service_environment() {
    local name
    printf '%s\0' env -i "PATH=$PATH" LANG=C.UTF-8
    for name in "${!HB_@}" ASAN_OPTIONS UBSAN_OPTIONS LSAN_OPTIONS LD_PRELOAD; do
        case $name in
        HB_TEST_CLOCK_FILE) ;;
        HB_CONFIG | HB_BUILD | HB_BINARY | HB_TEST_*) continue ;;
        esac
        [ -z "${!name:-}" ] || printf '%s\0' "$name=${!name}"
    done
    printf '%s\0' "HB_CONFIG=$VAR/hongbao.conf"
}

service_hongbao() {
    local -a environment
    mapfile -d '' environment < <(service_environment)
    "${environment[@]}" "$(build_binary_path)" "$@" 9>&-
}

# Links the program to VAR/run/hongbao: multiwatch accepts an ASCII path only.
service_link_program() {
    ln -sfn -- "$(readlink -f -- "$(build_binary_path)")" "$VAR/run/hongbao"
}

# service_listens PATH: whether a process listens on the socket. The file appears a moment before that.
service_listens() {
    local sockets
    sockets=$(</proc/net/unix) # at once: `read` takes its lines one by one, and the kernel makes the file anew for each
    [[ $sockets =~ \ 00010000\ [^$'\n']*\ "$1"($'\n'|$) ]]
}

# service_start_pool NAME PROCESSES BACKLOG: opens the listening socket and starts a supervisor that replaces every
# process that ends, and sends SIGUSR1 to all when it is stopped itself. (Its option -s takes an index for the signal:
# multiwatch 1.0.0 sends SIGILL with -s USR1.) At most BACKLOG connections wait to be accepted; nginx answers the next one
# 503 with Retry-After.
service_start_pool() {
    local -a environment
    mapfile -d '' environment < <(service_environment)
    service_link_program
    process_spawn "$1" "${environment[@]}" spawn-fcgi -n -s "$SOCKETS/$1.sock" -M 0660 -b "$3" -- \
        "$(command -v multiwatch)" -f "$2" -r 1000000 -t 1000 -- \
        run/hongbao serve --pool "$1"
    process_wait_ready "$1" "$process_spawned" 20 service_listens "$SOCKETS/$1.sock"
}

service_start_hot() {
    # The backlog is the default maximum of Linux: the hot pool answers waiting connections within milliseconds.
    service_start_pool hot "${HB_TEST_HOT_PROCESSES:-$(cpu_count)}" 4096
}

service_start_page() {
    local count
    count=$(cpu_count)
    service_start_pool page $((count < 2 ? 2 : count > 4 ? 4 : count)) 1024
}

service_start_sso() {
    service_start_pool sso 2 128
}

service_start_card() {
    # One process: with its fonts it takes some tens of megabytes, and nginx keeps what it draws.
    service_start_pool card 1 128
}

service_start_money() {
    service_start_pool money 1 128
}

LOW_NICENESS=10 # as in app/commands/serve.c

service_start_auth() {
    service_start_pool auth 2 1024
    [ ! -f "$VAR/nginx-seconds" ] || return 0
    # Linux divides the CPU between sessions first (autogroup), and each server has a session of its own: the niceness
    # that the processes set for themselves counts only within their session.
    [ ! -f "/proc/$process_spawned/autogroup" ] || wait_until 2 service_session_nice "$process_spawned" "$LOW_NICENESS" ||
        say "dev: could not set the niceness of auth's session; a flood of logins will slow the rest"
}

# service_session_nice PID NICENESS: may fail for a moment, as Linux allows ten changes a second by all users but root.
service_session_nice() {
    { printf '%s\n' "$2" >"/proc/$1/autogroup"; } 2>/dev/null
}

service_start_settle() {
    local -a environment
    mapfile -d '' environment < <(service_environment)
    service_link_program
    process_spawn settle "${environment[@]}" multiwatch -f 1 -r 1000000 -t 1000 -- run/hongbao settle
    process_wait_ready settle "$process_spawned" 5 process_running settle
}

service_start_nginx() {
    local program
    program=$(command -v nginx || echo /usr/sbin/nginx)
    process_spawn nginx "$program" -e "$VAR/log/nginx.log" -p "$VAR" -c "$VAR/nginx.conf" -g 'daemon off;'
    process_wait_ready nginx "$process_spawned" 10 service_nginx_answers
}

# Whether nginx answers; any status will do, as the pools may not run yet. nginx has workers once it has bound the port:
# without them the answer would come from another program.
service_nginx_answers() {
    local pid
    pid=$(process_recorded nginx) && [ -n "$(process_children "$pid")" ] &&
        [ "$(service_http_code /-/)" != 000 ]
}

service_curl() {
    curl --noproxy '*' -A hongbao-dev -s "$@"
}

# service_http_code PATH: prints the status of the site's answer, 000 without an answer.
service_http_code() {
    service_curl -o /dev/null -w '%{http_code}' --max-time 3 "$(instance_url)$1" || true
}

# service_restart NAME: restarts a running server; pools, settle and nginx without losing a request.
service_restart() {
    case $1 in
    mariadb | redis)
        service_end "$1"
        "service_start_$1"
        ;;
    nginx) service_reload_nginx ;;
    *) service_restart_in_place "$1" ;;
    esac
}

# service_restart_in_place NAME: one process after another executes the new program and keeps its connections
# (app/io/process.h). A process that has ended meanwhile was replaced by its supervisor, with the new program, too.
service_restart_in_place() {
    local pid
    for pid in $(process_children "$(process_recorded "$1")"); do
        ! process_alive "$pid" || "$ROOT/deploy/systemd/reload.sh" "$pid" || ! process_alive "$pid" || {
            process_show_log "$1"
            die "$1: process $pid was not restarted; it continues with the old program"
        }
    done
}

service_reload_nginx() {
    local program pid old
    program=$(command -v nginx || echo /usr/sbin/nginx)
    "$program" -q -t -e "$VAR/log/nginx.log" -p "$VAR" -c "$VAR/nginx.conf" || die "the configuration of nginx is broken"
    pid=$(process_recorded nginx)
    old=" $(process_children "$pid") "
    kill -s HUP "$pid"
    wait_until 10 service_nginx_has_new_worker "$pid" "$old" || die "nginx has started no new worker"
}

service_nginx_has_new_worker() {
    local worker
    for worker in $(process_children "$1"); do
        [[ $2 == *" $worker "* ]] || return 0
    done
    return 1
}
