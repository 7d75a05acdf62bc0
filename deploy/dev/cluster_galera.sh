# shellcheck shell=bash disable=SC2154,SC2030,SC2031
# The start of Galera nodes (docs/how-to/cluster.md, "When all MariaDB machines were down"). A node joins the nodes that
# serve. When none runs, the node that has all transactions begins the cluster anew.

# cluster_write_galera NODE PEERS: without peers it begins a new cluster.
cluster_write_galera() {
    template_fill "$ROOT/deploy/dev/cluster/mariadb.conf.in" "$VAR/$1/node-mariadb.conf" \
        "ADDRESS=$(cluster_address "$1")" "NODE=$1" "PEERS=$2"
    cat -- "$ROOT/deploy/mariadb/galera.cnf" >>"$VAR/$1/node-mariadb.conf"
    cluster_patience "$VAR/$1/node-mariadb.conf"
}

# cluster_start_galera NODE...
cluster_start_galera() {
    local node first=
    if ! cluster_galera_runs; then
        first=$(cluster_galera_first "$@")
        cluster_galera_begin "$first"
    elif ! cluster_galera_serves; then
        # The nodes that run wait for the others of the last majority.
        cluster_start_all "$@"
        return
    fi
    for node; do
        [ "$node" = "$first" ] || cluster_start_all "$node"
    done
}

# Whether a process of any node runs.
cluster_galera_runs() {
    local node
    for node in $(cluster_nodes db); do
        [ -z "$(network_pids "$node")" ] || return 0
    done
    return 1
}

# Whether a node is in the primary component.
cluster_galera_serves() {
    local node
    for node in $(cluster_nodes db); do
        ! cluster_role_db "$node" >/dev/null || return 0
    done
    return 1
}

# cluster_galera_first NODE...: prints the node that has all transactions: the node that stopped last in good order, or
# after a crash the node with the highest number, which is only known when all are there.
cluster_galera_first() {
    local node position cluster='' number best=-1 first=
    for node in $(cluster_nodes db); do
        if grep -qx 'safe_to_bootstrap: *1' "$VAR/$node/data/mariadb/grastate.dat"; then
            [[ " $* " == *" $node "* ]] || die "$node was the last one to stop: ./dev cluster start $node first"
            printf '%s\n' "$node"
            return
        fi
    done
    for node in $(cluster_nodes db); do
        [[ " $* " == *" $node "* ]] ||
            die "all Galera nodes are down, and any may have the last transactions: ./dev cluster start $(cluster_nodes db | tr '\n' ' ')"
        position=$(cluster_galera_position "$node")
        number=${position##*:}
        say "dev: $node has $position"
        [ -z "$cluster" ] || [ "${position%:*}" = "$cluster" ] || die "$node is of another Galera cluster than the others"
        cluster=${position%:*}
        if [ "$number" -gt "$best" ]; then best=$number first=$node; fi
    done
    [ "$best" -ge 0 ] || die "no Galera node has a transaction"
    printf '%s\n' "$first"
}

# cluster_galera_position NODE: prints CLUSTER:NUMBER of the last transaction of a node that does not run.
cluster_galera_position() {
    (
        VAR=$VAR/$1
        service_galera_position "$(command -v mariadbd || echo /usr/sbin/mariadbd)" --user="$(stat -c %U -- "$VAR/data/mariadb")"
    )
}

# cluster_galera_begin NODE: it begins the cluster anew; at its next start it joins the others.
cluster_galera_begin() {
    say "dev: $1 begins the Galera cluster anew"
    sed -i 's/^safe_to_bootstrap:.*/safe_to_bootstrap: 1/' "$VAR/$1/data/mariadb/grastate.dat"
    cluster_write_galera "$1" ''
    cluster_start_all "$1"
    cluster_write_galera "$1" "$(cluster_list db)"
}
