# shellcheck shell=bash disable=SC2034,SC2154
# The units of the service.

# unit_die UNIT: dies with what its processes have said since setup began, else what systemd says of it, and how to see
# more.
unit_die() {
    local said
    local -a journal=(journalctl -q -S "@$BEGAN_S" -o cat --no-pager)
    journalctl --sync 2>/dev/null || true
    said=$("${journal[@]}" "_SYSTEMD_UNIT=${1%.service}.service" | reason_lines)
    [ -n "$said" ] || said=$("${journal[@]}" -u "$1" | reason_lines)
    die "$1 does not start${said:+:
$said}
More: journalctl -u $1 -n 50"
}

# Prints the last lines that name an error, else the last ones; not what systemd says of every unit that ends.
reason_lines() {
    awk '
        / process exited, code=|: Failed with result|^Failed to start |: Scheduled restart job/ { next }
        /: Deactivated successfully|^(Start|Stopp)(ing|ed) / || seen[$0]++ { next }
        { lines = lines "    " $0 "\n" }
        tolower($0) ~ /error|can.t |cannot|could not|failed|fatal|emerg|denied|refuse/ {
            errors = errors "    " $0 "\n"
        }
        END { printf "%s", errors != "" ? errors : lines }' | tail -n 3
}

# Prints the units of the service: of a pool one for each process.
units() {
    local cpus
    cpus=$(nproc)
    printf 'hongbao-settle.service\n'
    units_pool hot "$cpus"
    units_pool auth 2
    [ -z "$(setting oidc_issuer)" ] || units_pool sso 2
    units_pool card 1
    units_pool money 1
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
    timer_choose
    names+=(hongbao-{hot,auth,card,money,page}.socket hongbao.target)
    sso_choose
    systemctl enable -q "${names[@]}"
    store_exists redis || systemctl add-wants -q hongbao.target "$REDIS_UNIT.service"
    store_exists mariadb || systemctl add-wants -q hongbao.target mariadb.service
    systemctl start "${names[@]}" || units_die "${names[@]}"
    sockets_own
}

# The pool sso belongs to the site while there is an issuer. Adds its socket to names, or ends what was there.
sso_choose() {
    if [ -n "$(setting oidc_issuer)" ]; then
        names+=(hongbao-sso.socket)
    else
        systemctl disable -q --now hongbao-sso.socket hongbao-sso@{1,2}.service
    fi
}

# The backup of every night begins with the site, unless the operator says no. A site that runs keeps the timer as it is,
# and one that comes back after a removal as it was.
timer_choose() {
    if [ "$BACKUPS" = no ]; then
        systemctl disable -q --now hongbao-backup.timer
    elif ! systemctl -q is-enabled hongbao.target 2>/dev/null && [ ! -e "$STATE/backups-off" ]; then
        systemctl enable -q --now hongbao-backup.timer
    fi
}

# Notes the newest backup of the timer of a version that noted none (docs/reference/files.md): the timer verifies each.
backups_note() {
    local newest at
    if [ -e "$STATE/backups" ] || [ ! -d /var/backups/hongbao ]; then return 0; fi
    newest=$(find /var/backups/hongbao -mindepth 1 -maxdepth 1 -type d -name '20??-??-??T??????Z' | sort | tail -n 1)
    [ -f "$newest/manifest" ] || return 0
    at=$(sed -n 's/^tables_at = //p' "$newest/manifest")
    printf '%s = %s\n' clean "$newest" clean_at "$at" >"$STATE/backups"
}

# Before a removal disables the timer.
timer_remember() {
    systemctl -q is-enabled hongbao.target 2>/dev/null || return 0
    if systemctl -q is-enabled hongbao-backup.timer 2>/dev/null; then
        rm -f -- "$STATE/backups-off"
    else
        : >"$STATE/backups-off"
    fi
}

# units_die UNIT…: dies with what the first one says that does not run.
units_die() {
    local unit
    for unit; do
        [[ $unit == *.socket ]] || systemctl -q is-active "$unit" || unit_die "$unit"
    done
    die "a unit does not start: systemctl status 'hongbao-*'"
}

# Gives a socket that was open before an upgrade the owner and mode of its unit: systemd does so only when it opens one.
sockets_own() {
    local unit socket pool
    for pool in hot auth sso card money page; do
        unit=hongbao-$pool.socket socket=/run/hongbao/$pool.sock
        [ -S "$socket" ] || continue
        chown -- "$(systemctl show -P SocketUser "$unit"):$(systemctl show -P SocketGroup "$unit")" "$socket"
        chmod -- "$(systemctl show -P SocketMode "$unit")" "$socket"
    done
}

# The units of the service that run, in the order in which they take a new program: who reads before who writes. Without
# an issuer, units of the pool sso that run still are not among them: units_start ends them.
units_running() {
    local name
    for name in settle hot auth sso card money page; do
        [ "$name" != sso ] || [ -n "$(setting oidc_issuer)" ] || continue
        systemctl list-units --plain --no-legend --state=active "hongbao-$name.service" "hongbao-$name@*.service" |
            cut -d ' ' -f 1
    done
}

# Prints when the last one of them stopped, in microseconds since 1970: the time of the last line about them in the
# journal, because systemd forgets units that are stopped. 0 without one.
units_stopped_us() {
    local line
    journalctl --sync 2>/dev/null || true
    line=$(journalctl -q -n 1 -o short-unix --no-pager -u hongbao-settle.service -u 'hongbao-*@*.service')
    line=${line%% *}
    line=${line/./}
    printf '%s\n' "${line:-0}"
}

# units_reload UNIT…: a restart in place. When a process refuses it, an ordinary restart, but only of a program that
# would start: one that allows other system calls than the program before can't take its place. Also an ordinary one
# when its files have changed, because a process in its place keeps the copies.
units_reload() {
    local unit
    for unit; do
        unit_has_credentials "$unit" && systemctl reload "$unit" && continue
        unit_check "$unit" || die "$unit goes on with the old program, because the new one would not start"
        systemctl restart "$unit" || unit_die "$unit"
    done
}

# unit_has_credentials UNIT: whether the passwords and keys that systemd copied when the unit started are current. A unit
# that an earlier version started has a copy of the secret, which it must lose.
unit_has_credentials() {
    local copy
    for copy in "/run/credentials/$1"/*; do
        case $copy in
        */secret) return 1 ;;
        *.conf | *.keys) cmp -s -- "$copy" "$ETC/rights/${copy##*/}" || return 1 ;;
        esac
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
