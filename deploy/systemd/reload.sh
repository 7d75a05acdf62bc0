#!/usr/bin/env bash
# reload.sh PID: restarts a process of the service in place (docs/how-to/restart.md): `systemctl reload` runs this as
# root, and ./dev restart. Ends when the new program serves; fails at once, with the old one still serving, when the new
# one would not start.
set -euo pipefail

SECONDS_MAX=60 # the program gives its check 20

# Prints the numbers in the name of the process: how many times it has restarted, then how many restarts it has refused.
numbers() {
    local count refusals
    { read -r _ count refusals <"/proc/$1/comm"; } 2>/dev/null || die "process $1 has ended"
    printf '%s %s\n' "${count:-0}" "${refusals:-0}"
}

# Whether the process has a handler for SIGHUP (signal 1), which would end it otherwise. Its last step to serve.
handles_sighup() {
    local name mask
    while read -r name mask; do
        [ "$name" != SigCgt: ] || { [[ $mask == *[13579bdf] ]] && return 0 || return 1; }
    done 2>/dev/null <"/proc/$1/status" || true
    return 1
}

# wait_for COMMAND…: false when the command does not succeed in time.
wait_for() {
    until "$@"; do
        [ "$SECONDS" -lt "$SECONDS_MAX" ] || return 1
        sleep 0.1
    done
}

# Whether the process serves after a restart, or has refused it: then refused=yes.
has_decided() {
    local now
    now=$(numbers "$1") || exit
    [ "${now% *}" != "${before% *}" ] || [ "${now#* }" = 0 ] || [ "$now" = "$before" ] || refused=yes
    [ -n "$refused" ] || { [ "${now% *}" != "${before% *}" ] && handles_sighup "$1"; }
}

die() {
    echo "reload: $*" >&2
    exit 1
}

main() {
    local before refused=
    [ $# -eq 1 ] || { echo "usage: reload.sh PID" >&2 && exit 2; }
    wait_for handles_sighup "$1" || die "process $1 does not serve"
    before=$(numbers "$1")
    kill -s HUP "$1"
    wait_for has_decided "$1" || die "process $1 has neither restarted nor refused it within $SECONDS_MAX s"
    [ -z "$refused" ] ||
        die "process $1 refuses the new program and goes on with the old one; the lines before this one tell why"
}

main "$@"
