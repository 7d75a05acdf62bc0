# shellcheck shell=bash disable=SC2034,SC2154
# The units of the service.

# Prints the units of the service: of a pool one for each process.
units() {
    local cpus
    cpus=$(nproc)
    printf 'hongbao-settle.service\n'
    units_pool hot "$cpus"
    units_pool auth 2
    units_pool card 1
    units_pool page $((cpus < 2 ? 2 : cpus > 4 ? 4 : cpus))
}

units_pool() {
    local i
    for ((i = 1; i <= $2; i++)); do
        printf 'hongbao-%s@%d.service\n' "$1" "$i"
    done
}

units_start() {
    local -a names
    mapfile -t names < <(units)
    systemctl daemon-reload
    names+=(hongbao-{hot,auth,card,page}.socket hongbao.target)
    systemctl enable -q "${names[@]}"
    store_exists redis || systemctl add-wants -q hongbao.target redis-server@hongbao.service
    store_exists mariadb || systemctl add-wants -q hongbao.target mariadb.service
    systemctl start "${names[@]}" ||
        die "a unit does not start: systemctl status 'hongbao-*'"
    sockets_own
}

# Gives a socket that was open before an upgrade the owner and mode of its unit: systemd does so only when it opens one.
sockets_own() {
    local unit socket pool
    for pool in hot auth card page; do
        unit=hongbao-$pool.socket socket=/run/hongbao/$pool.sock
        [ -S "$socket" ] || continue
        chown -- "$(systemctl show -P SocketUser "$unit"):$(systemctl show -P SocketGroup "$unit")" "$socket"
        chmod -- "$(systemctl show -P SocketMode "$unit")" "$socket"
    done
}

# The units of the service that run, in the order in which they take a new program: who reads before who writes.
units_running() {
    local name
    for name in settle hot auth card page; do
        systemctl list-units --plain --no-legend --state=active "hongbao-$name.service" "hongbao-$name@*.service" |
            cut -d ' ' -f 1
    done
}

# units_reload UNIT…: a restart in place. When a process refuses it, an ordinary restart, but only of a program that
# would start: one that allows other system calls than the program before can't take its place.
units_reload() {
    local unit
    for unit; do
        systemctl reload "$unit" && continue
        unit_check "$unit" || die "$unit goes on with the old program, because the new one would not start"
        systemctl restart "$unit" || die "$unit does not start: journalctl -u $unit"
    done
}

# unit_check UNIT: what its process checks when it starts.
unit_check() {
    local pool=${1#hongbao-}
    case $pool in
    settle*) hongbao settle --check ;;
    *) hongbao serve --pool "${pool%%@*}" --check ;;
    esac
}
