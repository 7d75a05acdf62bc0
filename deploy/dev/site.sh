# shellcheck shell=bash
# The whole site: starts and stops the servers in the right order; a start that fails stops what it has started.

DEMO_PASSWORD=hongbao-demo
DEMO_USERS=(alice:艾丽 bob:小波 carol:卡萝 dave:大卫)

# The servers that this call has started; they are ended when it fails or is interrupted.
site_started=()

# Background processes of `run`: the tail that shows the logs, the sleep between two checks of the servers.
site_helpers=()

site_up() {
    [ $# -eq 0 ] || die "up takes no arguments"
    site_bring_up
    if [ -n "$site_was_running" ]; then
        instance_url
        return
    fi
    if ! instance_is_node; then
        site_make_demo_users
        site_print_welcome "$(site_command down) stops everything"
    fi
    trap - EXIT
}

# site_command WORD: prints the ./dev command for this instance.
site_command() {
    if [ "$VAR" = "$ROOT/var" ]; then
        printf './dev %s\n' "$1"
    else
        printf './dev --var %q %s\n' "$VAR" "$1"
    fi
}

site_run() {
    [ $# -eq 0 ] || die "run takes no arguments"
    set -- --var "$VAR" run
    [ -z "$PORT_GIVEN" ] || set -- --port "$PORT" "$@"
    case ${HONGBAO_RUN:-} in
    '')
        # A shell starts its background jobs with SIGINT ignored, and bash can't trap a signal that is ignored when bash
        # starts.
        HONGBAO_RUN=traps exec env --default-signal=INT,QUIT "$ROOT/dev" "$@"
        ;;
    traps)
        site_run_apart "$@"
        return
        ;;
    esac
    unset HONGBAO_RUN
    export HB_RELOAD=${HB_RELOAD:-on}

    site_bring_up
    if [ -n "$site_was_running" ]; then
        site_print_welcome "$(site_command down) stops everything"
        return 0
    fi
    trap 'site_leave' EXIT
    trap 'exit 0' INT TERM HUP
    site_make_demo_users
    site_print_welcome "Ctrl-C stops everything"
    site_follow
}

# bash loses some SIGINTs that come during a command substitution, but no SIGTERM. So this process only waits, and sends
# Ctrl-C on as SIGTERM to a worker, which ignores SIGINT, as all commands that it runs do.
site_run_apart() {
    local worker='' signalled='' status
    trap 'signalled=yes; [ -z "$worker" ] || kill -s TERM "$worker" 2>/dev/null || true' INT TERM HUP
    HONGBAO_RUN=works "$ROOT/dev" "$@" <&0 &
    worker=$!
    [ -z "$signalled" ] || kill -s TERM "$worker"
    while true; do
        signalled=
        status=0
        wait "$worker" || status=$?
        [ -n "$signalled" ] || return "$status"
    done
}

# Shows the logs until Ctrl-C, or until another ./dev stops the instance.
site_follow() {
    local name
    local -a logs=()
    for name in access nginx hot page auth sso card money settle; do
        [ ! -f "$VAR/log/$name.log" ] || logs+=("$VAR/log/$name.log")
    done
    # nginx writes its access log with a delay: the lines of our own requests would follow the welcome text.
    tail -q -n 0 -F --pid="$$" -- "${logs[@]}" 2>/dev/null > >(grep --line-buffered -v '"agent":"hongbao-dev"') &
    site_helpers[0]=$!
    # A trap runs only between commands, but interrupts `wait`: so sleep in the background.
    while process_running nginx || process_running mariadb; do
        sleep 1 &
        site_helpers[1]=$!
        wait "${site_helpers[1]}" || true
    done
    say "dev: the instance was stopped"
}

site_leave() {
    trap '' INT TERM HUP
    trap - EXIT
    kill "${site_helpers[@]}" 2>/dev/null || true
    say ''
    say "dev: stopping"
    instance_lock
    site_end_all
}

site_down() {
    [ $# -eq 0 ] || die "down takes no arguments"
    if ! instance_exists; then
        say "dev: nothing runs in $VAR"
        return 0
    fi
    instance_lock
    local message="nothing runs in $VAR"
    ! site_any_running || message=stopped
    site_end_all
    say "dev: $message"
}

site_end_all() {
    local i
    for ((i = ${#SERVICES[@]} - 1; i >= 0; i--)); do
        service_end "${SERVICES[i]}"
    done
    instance_drop_sockets
}

site_start() {
    local name
    local -a missing=()
    [ $# -gt 0 ] || die "start needs names: ${SERVICES[*]}"
    for name; do service_known "$name"; done
    instance_open
    instance_lock
    instance_recall_environment
    for name; do
        if process_running "$name"; then say "dev: $name is running already"; else missing+=("$name"); fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    packages_install run
    [[ " ${missing[*]} " != *" nginx "* ]] || site_check_port
    [ -x "$(build_binary_path)" ] || build_binary
    instance_configure
    [ -f "$VAR/run/port" ] || instance_remember_environment
    trap 'site_undo' EXIT
    trap 'exit 130' INT TERM HUP
    for name in "${missing[@]}"; do site_start_one "$name"; done
    trap - EXIT INT TERM HUP
    instance_unlock
}

site_stop() {
    local name
    [ $# -gt 0 ] || die "stop needs names: ${SERVICES[*]}"
    for name; do service_known "$name"; done
    if ! instance_exists; then
        say "dev: nothing runs in $VAR"
        return 0
    fi
    instance_lock
    for name; do
        if process_recorded "$name" >/dev/null; then service_end "$name"; else say "dev: $name does not run"; fi
    done
}

# Without a name: the pools and settle, so that a new program, new settings or new templates take over while the site
# serves. Environment and number of processes stay as they were at the start. Who reads comes before who writes: settle
# before hot, hot before page.
site_restart() {
    local name
    for name; do service_known "$name"; done
    instance_exists || die "nothing runs in $VAR"
    if [ $# -eq 0 ]; then
        set -- settle hot auth card money page
        ! instance_has sso || set -- "$@" sso
    fi
    instance_lock
    instance_recall_environment
    for name; do process_running "$name" || die "$name does not run"; done
    packages_install run
    build_binary
    service_link_program
    instance_configure
    service_hongbao check >/dev/null || die "the configuration or its files are broken (above)"
    service_rights
    service_hongbao settle --check || die "the configuration does not fit the tables"
    for name; do
        service_restart "$name"
    done
    instance_unlock
}

site_status() {
    local name pid status=0
    if ! instance_exists; then
        say "dev: nothing runs in $VAR"
        return 1
    fi
    instance_recall_environment
    printf '%-8s %s\n' url "$(instance_url)" folder "$VAR"
    for name in "${SERVICES[@]}"; do
        if process_running "$name" && pid=$(process_recorded "$name"); then
            printf '%-8s runs, process %s\n' "$name" "$pid"
        else
            printf '%-8s stopped\n' "$name"
            status=1
        fi
    done
    return "$status"
}

site_hongbao() {
    instance_open
    instance_recall_environment
    if [ ! -x "$(build_binary_path)" ]; then
        packages_install run
        build_binary
    fi
    [ -f "$VAR/run/port" ] || instance_configure # it was never started
    local -a environment
    mapfile -d '' environment < <(service_environment)
    [ -z "${SUDO_USER:-}" ] || environment+=("SUDO_USER=$SUDO_USER") # the author of `money`
    exec "${environment[@]}" "$(build_binary_path)" "$@"
}

site_start_one() {
    site_started=("$1" "${site_started[@]}")
    "service_start" "$1"
}

# Ends the servers that a failed or interrupted call has started.
site_undo() {
    trap '' INT TERM HUP
    trap - EXIT
    [ ${#site_started[@]} -eq 0 ] || say "dev: stopping what has been started"
    process_all_recorded
    local name
    for name in "${site_started[@]}"; do
        service_end "$name"
    done
    site_any_running || instance_drop_sockets
}

site_any_running() {
    local name
    for name in "${SERVICES[@]}"; do
        ! process_running "$name" || return 0
    done
    return 1
}

# Starts the servers that do not run. Sets site_was_running when all were running; otherwise site_undo stays the EXIT
# trap until the caller removes it.
site_bring_up() {
    local name
    local -a missing=()
    site_was_running=
    trap 'exit 130' INT TERM HUP
    instance_open
    instance_lock
    instance_recall_port
    for name in "${SERVICES[@]}"; do
        process_running "$name" || missing+=("$name")
    done
    if [ ${#missing[@]} -lt ${#SERVICES[@]} ]; then
        instance_recall_environment
        [ "$PORT" = "$(<"$VAR/run/port")" ] ||
            die "this instance runs at port $(<"$VAR/run/port"); $(site_command down) first, or choose another folder with --var"
    fi
    if [ ${#missing[@]} -eq 0 ]; then
        say "dev: already running at $(instance_url)"
        site_was_running=yes
        instance_unlock
        return 0
    fi

    packages_install run
    build_binary
    [[ " ${missing[*]} " != *" nginx "* ]] || site_check_port
    instance_configure
    instance_remember_environment
    trap 'site_undo' EXIT

    # One clear message instead of a pool whose processes end again and again.
    ! instance_has settle page || service_hongbao check >/dev/null || die "the configuration or its files are broken (above)"
    for name in "${missing[@]}"; do
        site_start_one "$name"
    done
    ! instance_has nginx || site_wait_ready
    instance_unlock
}

# Checks the port before anything is started; nginx would notice last. Ends workers that a killed nginx has left behind.
site_check_port() {
    local address first=1024
    { read -r first </proc/sys/net/ipv4/ip_unprivileged_port_start; } 2>/dev/null || true
    [ "$PORT" -ge "$first" ] || [ "$(id -u)" -eq 0 ] ||
        die "port $PORT is for root only, and nginx does not run as root; choose one from $first with --port"
    service_end nginx
    for address in 127.0.0.1 ::1; do
        if (exec 3<>"/dev/tcp/$address/$PORT") 2>/dev/null; then
            die "port $PORT is taken by another program; choose one with --port"
        fi
    done
}

# Waits until every pool answers through nginx. The request to the hot pool has a forged id, to which it answers 404
# without any store.
site_wait_ready() {
    local path
    local -a paths=(/readyz /login /p/00000000000000000000000000 /p/00000000000000000000000000/card.png /money/)
    ! instance_has sso || paths+=(/readyz/sso)
    for path in "${paths[@]}"; do
        wait_until 20 site_answers "$path" || {
            say "dev: $(instance_url)$path answers $(service_http_code "$path")"
            process_show_log nginx
            case $path in
            /readyz) process_show_log page ;;
            /login) process_show_log auth ;;
            *card.png) process_show_log card ;;
            /money/) process_show_log money ;;
            /readyz/sso) process_show_log sso ;;
            *) process_show_log hot ;;
            esac
            die "the site did not get ready"
        }
    done
}

site_answers() {
    case $(service_http_code "$1") in
    200 | 404) ;;
    *) return 1 ;;
    esac
}

# Creates demo users with a known password and 1,000 yuan, or units of the site, each, through the site's own forms. The
# request key prevents a second deposit when this runs again.
site_make_demo_users() {
    local entry user nickname jar url done=$VAR/data/demo-users
    url=$(instance_url)
    if [ -f "$done" ] || ! site_has_demo; then
        return 0
    fi
    local -a post=(service_curl -S --max-time 20 --retry 5 -o /dev/null -w '%{http_code}')
    for entry in "${DEMO_USERS[@]}"; do
        user=${entry%%:*}
        nickname=${entry#*:}
        jar=$VAR/tmp/demo.cookies
        rm -f -- "$jar"
        if [ "$("${post[@]}" -c "$jar" --data-urlencode "username=$user" --data-urlencode "nickname=$nickname" \
            --data-urlencode "password=$DEMO_PASSWORD" "$url/register")" != 303 ]; then
            [ "$("${post[@]}" -c "$jar" --data-urlencode "username=$user" \
                --data-urlencode "password=$DEMO_PASSWORD" "$url/login")" = 303 ] || {
                say "dev: could not create the demo user $user"
                return 0
            }
        fi
        [ "$("${post[@]}" -b "$jar" --data-urlencode "amount=1000" --data-urlencode "request_key=demo-1000-yuan-$user" \
            "$url/wallet/deposit")" = 303 ] || {
            say "dev: the demo deposit of $user was refused"
            return 0
        }
    done
    rm -f -- "$VAR/tmp/demo.cookies"
    : >"$done"
}

site_print_welcome() {
    local entry users=
    for entry in "${DEMO_USERS[@]}"; do
        users+="${users:+, }${entry%%:*}"
    done
    printf '\n  hongbao   %s\n' "$(instance_url)"
    ! site_has_demo || printf '  log in as %s; password %s\n' "$users" "$DEMO_PASSWORD"
    printf '  logs      %s\n  %s\n\n' "$VAR/log" "$1"
}

# Whether demo = on: only then deposits are play money and demo users are created.
site_has_demo() {
    [ "$(instance_setting demo)" = on ]
}
