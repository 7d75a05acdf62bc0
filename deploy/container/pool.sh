#!/bin/bash
# pool.sh POOL PROCESSES BACKLOG: a pool in a container, until SIGTERM.
#
# nginx connects to /run/hongbao/POOL/pool.sock. Each container listens on a socket of its own, and gives it this name
# once it is ready. So a new container takes over from the one before while both run, and nginx notices nothing. The one
# before still has the connections that wait on its socket: on SIGTERM it ends when it has accepted all of them.
set -euo pipefail

POOL=$1
FOLDER=/run/hongbao/$POOL
PUBLIC=$FOLDER/pool.sock
OWN=$FOLDER/$(cat /proc/sys/kernel/hostname).sock
STOPPING=

asks() {
    /usr/lib/hongbao/ask.sh "$@" >/dev/null 2>&1
}

# publish SOCKET: one step for nginx, which finds either this socket or the one before.
publish() {
    ln -f -- "$1" "$OWN.next"
    mv -f -- "$OWN.next" "$PUBLIC"
}

# Whether nginx may come: the pool is ready, or no other serves. Then a store may be away, and this one says so.
may_publish() {
    asks "$POOL" "$OWN" || { ! asks "$POOL" "$PUBLIC" /healthz && asks "$POOL" "$OWN" /healthz; }
}

# Gives the name to another container that serves, as after a failed upgrade.
retire() {
    local other
    [ "$PUBLIC" -ef "$OWN" ] || return 0
    for other in "$FOLDER"/*.sock; do
        [ "$other" -ef "$OWN" ] || ! asks "$POOL" "$other" /healthz || { publish "$other" && return; }
    done
    rm -f -- "$PUBLIC"
}

# Connections are accepted in their order: once this question has an answer, all earlier ones are accepted. A process that
# is stopped answers what it has accepted (docs/how-to/restart.md).
drain() {
    STOPPING=yes
    retire
    asks "$POOL" "$OWN" /healthz || true
    kill -s TERM "$SUPERVISOR" 2>/dev/null || true
}

hongbao serve --pool "$POOL" --check
spawn-fcgi -n -s "$OWN" -M 0660 -b "$3" -- /usr/bin/multiwatch -f "$2" -r 1000000 -t 1000 -- \
    /usr/bin/hongbao serve --pool "$POOL" &
SUPERVISOR=$!
trap drain TERM INT
until [ -n "$STOPPING" ] || may_publish; do
    kill -0 "$SUPERVISOR" || exit 1
    sleep 0.1
done
[ -n "$STOPPING" ] || publish "$OWN"
while kill -0 "$SUPERVISOR" 2>/dev/null; do
    wait "$SUPERVISOR" || true
done
rm -f -- "$OWN"
[ -n "$STOPPING" ]
