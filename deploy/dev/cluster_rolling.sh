# shellcheck shell=bash disable=SC2154
# Work on one machine of the site after the other while the others serve: ./dev cluster drain, ready, restart, upgrade
# (docs/how-to/cluster.md).

CLUSTER_DRAIN_S=90  # longer than a request may take (timeout server of the balancer)
CLUSTER_READY_S=120 # until the balancer sends to a machine again

# cluster_balancer COMMAND: one line for HAProxy's administrator; prints the answer.
cluster_balancer() {
    printf '%s\n' "$1" | socat -t 5 - "UNIX-CONNECT:$VAR/lb/run/haproxy-admin.sock"
}

# cluster_balancer_state NODE COLUMN: prints the column of `show stat` for the machine, of each backend.
cluster_balancer_state() {
    cluster_balancer 'show stat' | awk -F , -v node="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
        $2 == node { print $at }'
}

# cluster_need_app NODE...
cluster_need_app() {
    local node
    cluster_need_nodes "$@"
    for node; do
        [ "$(cluster_kind "$node")" = app ] || die "$node is no machine of the site; these are: $(cluster_nodes app | tr '\n' ' ')"
    done
}

# cluster_set_state NODE STATE: drain or ready, in both backends.
cluster_set_state() {
    local backend answer
    for backend in ready alive; do
        answer=$(cluster_balancer "set server $backend/$1 state $2") || die "the balancer can't be asked"
        [ -z "${answer//[$'\n ']/}" ] || die "the balancer refuses: $answer"
    done
}

# Whether the balancer has no request under way on the machine.
cluster_is_idle() {
    [ "$(cluster_balancer_state "$1" scur | sort -u)" = 0 ]
}

cluster_is_sent_to() {
    [ "$(cluster_balancer_state "$1" status | sort -u)" = UP ]
}

cluster_is_drained() {
    [ "$(cluster_balancer_state "$1" status | sort -u)" = DRAIN ]
}

cluster_is_one_sent_to() {
    local node
    for node; do
        if cluster_is_sent_to "$node"; then return 0; fi
    done
    return 1
}

# The balancer sends no new request to these machines; ends when none is under way there. Another machine may have missed
# a check, as while its settle worker starts anew: it is waited for.
cluster_drain() {
    local node others=()
    cluster_need_app "$@"
    for node in $(cluster_nodes app); do
        if [[ " $* " != *" $node "* ]] && ! cluster_is_drained "$node"; then others+=("$node"); fi
    done
    if [ ${#others[@]} -eq 0 ] || ! wait_until "$CLUSTER_READY_S" cluster_is_one_sent_to "${others[@]}"; then
        die "no machine of the site would be left to serve"
    fi
    for node; do
        cluster_set_state "$node" drain
        wait_until "$CLUSTER_DRAIN_S" cluster_is_idle "$node" || die "$node still has requests after $CLUSTER_DRAIN_S s"
    done
}

# The balancer sends to these machines again; ends when it does.
cluster_ready() {
    local node
    cluster_need_app "$@"
    for node; do
        cluster_set_state "$node" ready
        wait_until "$CLUSTER_READY_S" cluster_is_sent_to "$node" || die "the balancer does not send to $node: it is not ready"
    done
}

# Without a name: all machines of the site. Each is drained, stopped, started, and gets visitors again before the next one.
cluster_restart() {
    local node
    # shellcheck disable=SC2046
    [ $# -gt 0 ] || set -- $(cluster_nodes app)
    for node; do
        cluster_drain "$node"
        cluster_dev "$node" down 9>&-
        cluster_start_all "$node"
        cluster_ready "$node"
        say "dev: $node serves again"
    done
}

# Another program (HB_BINARY, or what ./dev build has made) with its migrations, on all machines of the site. The settle
# workers come first: a worker has to understand what the pools write.
cluster_upgrade() {
    local node
    [ $# -eq 0 ] || die "cluster upgrade takes no arguments"
    build_binary
    cluster_migrate "$(cluster_nodes db | head -n 1)"
    for node in $(cluster_nodes app); do
        cluster_dev "$node" stop settle 9>&-
        cluster_dev "$node" start settle 9>&-
    done
    cluster_restart
}
