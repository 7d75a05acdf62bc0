# shellcheck shell=bash disable=SC2154,SC2030,SC2031
# ./dev cluster: several machines on this one (docs/how-to/cluster.md). Each is an instance of its own, in a network
# namespace of its own, with some of the servers (VAR/node in instance.sh):
#   VAR/cluster/NODE/    the folder of a machine's instance
#   VAR/cluster/rights/  the users of both stores, the same on all machines
#   VAR/cluster/nodes    `NODE KIND ADDRESS` of each machine
#   VAR/cluster/run/{network,profile,lock}   VAR/cluster/log/NODE.up
# `down` removes the folder, the processes and the namespaces, whatever state a killed `up` has left.

CLUSTER_PORT=8080 # of the machines; --port is the balancer's
CLUSTER_PROFILES=(cluster sentinel)

cluster_usage() {
    cat <<'TEXT'
usage: ./dev [--port N] [--var DIR] cluster COMMAND

  up [--profile cluster|sentinel] [--network 10.X.Y]
                      starts the machines, prints the balancer's address. cluster (the default): a Redis Cluster of
                      three primaries with two replicas each; sentinel: Redis, two replicas, three Sentinels.
                      Both: three Galera nodes, two machines with nginx, the pools and a settle worker, HAProxy
  down                stops them, and removes all that they have left
  status              machine, kind, role, address, processes; fails unless all are well
  kill NODE...        kill -9 of all processes of these machines
  stop, start NODE... ends the servers of these machines in good order; starts them. When all Galera nodes were down,
                      start all three together: the one with the last transaction begins the cluster anew
  drain NODE...       the balancer sends these machines of the site no new request, and waits for those under way
  ready NODE...       it sends to them again
  restart [NODE...]   drain, stop, start, ready: one machine of the site after the other; nobody notices
  upgrade             another program (HB_BINARY) and its migrations on all machines of the site, in the same way
  cut NODE...         these machines see only each other, and the others only the others
  heal                all see all again
  reshard [half]      moves slots of one primary to another, with at least one partition of the events; half: aborts it
                      with the keys of that partition on both
  fix                 ends what an aborted reshard has left
  on NODE COMMAND...  runs a command on that machine
TEXT
}

cluster_do() {
    local command=${1-help} reason
    [ $# -eq 0 ] || shift
    case $command in
    help | -h | --help) cluster_usage && return ;;
    up | down | status | kill | stop | start | drain | ready | restart | upgrade | cut | heal | reshard | fix | on) ;;
    *)
        say "dev: there is no command 'cluster $command'"
        cluster_usage >&2
        exit 2
        ;;
    esac
    ! reason=$(network_impossible) || die "a cluster can't be made here: $reason"
    VAR=$VAR/cluster
    case $command in
    up | down) ;;
    *) cluster_open ;;
    esac
    "cluster_$command" "$@"
}

# Absolute, as the names of the namespaces come from it.
cluster_find() {
    VAR=$(realpath -m -- "$VAR")
}

cluster_open() {
    cluster_find
    [ -f "$VAR/nodes" ] || die "no cluster runs in ${VAR%/cluster}; ./dev cluster up starts one"
    NETWORK=$(<"$VAR/run/network")
    PROFILE=$(<"$VAR/run/profile")
    instance_recall_port
}

# ---- the machines ----

# cluster_machines: prints `NODE KIND SERVICES` of each.
cluster_machines() {
    local i
    case $PROFILE in
    cluster) for i in {1..9}; do echo "redis$i redis redis"; done ;;
    sentinel)
        for i in {1..3}; do echo "redis$i redis redis"; done
        for i in {1..3}; do echo "sentinel$i sentinel sentinel"; done
        ;;
    esac
    for i in {1..3}; do echo "db$i db mariadb"; done
    for i in 1 2; do echo "app$i app settle auth card money page hot nginx"; done
    echo "lb lb haproxy"
}

# cluster_nodes [KIND]: prints the names.
cluster_nodes() {
    sed -n "s/^\([a-z0-9]*\) ${1:-[a-z]*} .*/\1/p" "$VAR/nodes"
}

cluster_kind() {
    sed -n "s/^$1 \([a-z]*\) .*/\1/p" "$VAR/nodes"
}

# cluster_address NODE: the address that the other machines see.
cluster_address() {
    sed -n "s/^$1 [a-z]* //p" "$VAR/nodes"
}

# cluster_list KIND PORT: prints ADDRESS:PORT, … of all of this kind; without a port: ADDRESS,….
cluster_list() {
    local node list=
    for node in $(cluster_nodes "$1"); do
        list+=${list:+, }$(cluster_address "$node")${2:+:$2}
    done
    [ -n "${2-}" ] || list=${list// /}
    printf '%s\n' "$list"
}

cluster_need_nodes() {
    local node
    [ $# -gt 0 ] || die "which machine? There are: $(cluster_nodes | tr '\n' ' ')"
    for node; do
        [ -n "$(cluster_kind "$node")" ] || die "there is no machine '$node'; there are: $(cluster_nodes | tr '\n' ' ')"
    done
}

# cluster_socket NODE NAME: the path of a server's socket.
cluster_socket() {
    printf '%s/%s.sock\n' "$(readlink -- "$VAR/$1/run/sockets" || printf %s "$VAR/$1/run")" "$2"
}

# cluster_dev NODE ARGS...: ./dev for the instance of that machine, on that machine.
cluster_dev() {
    network_in "$1" env HONGBAO_BUILT=yes "$ROOT/dev" --var "$VAR/$1" --port "$(cluster_port "$1")" "${@:2}"
}

cluster_port() {
    [ "$(cluster_kind "$1")" = lb ] && printf '%s\n' "$PORT" || printf '%s\n' "$CLUSTER_PORT"
}

# cluster_redis NODE COMMAND...: as the administrator.
cluster_redis() {
    timeout 5 redis-cli -s "$(cluster_socket "$1" redis)" "${@:2}"
}

# cluster_sql NODE OPTION...: as the administrator.
cluster_sql() {
    timeout 60 mariadb --no-defaults --socket="$(cluster_socket "$1" mariadb)" --user=root "${@:2}"
}

# ---- up ----

cluster_up() {
    local profile=cluster network='' options='--profile NAME and --network 10.X.Y'
    while [ $# -gt 0 ]; do
        [ $# -ge 2 ] || die "cluster up takes $options"
        case $1 in
        --profile) profile=$2 ;;
        --network) network=$2 ;;
        *) die "cluster up takes $options, and no $1" ;;
        esac
        shift 2
    done
    [[ " ${CLUSTER_PROFILES[*]} " == *" $profile "* ]] || die "there is no profile '$profile'; there are: ${CLUSTER_PROFILES[*]}"
    [[ -z $network || $network =~ ^10\.[0-9]{1,3}\.[0-9]{1,3}$ ]] || die "'$network' is no network: three numbers, as 10.87.0"
    cluster_find
    [ ! -e "$VAR/nodes" ] || die "a cluster is in $VAR already; ./dev cluster status shows it, ./dev cluster down removes it"

    packages_install run cluster
    build_binary
    cluster_need_port
    trap 'cluster_undo' EXIT
    trap 'exit 130' INT TERM HUP
    cluster_prepare "$profile" "$network"
    cluster_stores
    cluster_site
    trap - EXIT
}

cluster_need_port() {
    [ "$PORT" -ge 1024 ] || die "port $PORT is for root only, and the balancer does not run as root; choose one from 1024 with --port"
}

# What a failed or interrupted `up` has started ends; the logs stay until `down`.
cluster_undo() {
    trap '' INT TERM HUP
    trap - EXIT
    say "dev: the cluster did not start; its logs are in $VAR/*/log, until ./dev cluster down"
    cluster_end
}

# cluster_prepare PROFILE NETWORK: makes folders, network and settings of all machines.
cluster_prepare() {
    local node kind services number=11
    local -a nodes=()
    mkdir -p -- "$VAR"/{run,log}
    chmod 755 "$VAR"
    instance_lock
    (VAR=$VAR/app1 && user_is_usable) || die "the servers of a cluster run as $SERVICE_USER; choose another folder with --var"
    PROFILE=$1
    NETWORK=${2:-$(network_free)}
    printf '%s\n' "$NETWORK" >"$VAR/run/network"
    printf '%s\n' "$PROFILE" >"$VAR/run/profile"
    printf '%s\n' "$PORT" >"$VAR/run/port"
    while read -r node kind services; do
        printf '%s %s %s.%s\n' "$node" "$kind" "$NETWORK" "$number" >>"$VAR/nodes"
        nodes+=("$node")
        number=$((number + 1))
    done < <(cluster_machines)
    say "dev: ${#nodes[@]} machines in network $NETWORK"
    network_up "$NETWORK" "${nodes[@]}"
    network_open "$NETWORK" lb
    rights_make "$VAR/rights"
    random_hex 32 >"$VAR/run/secret"
    while read -r node kind services; do
        cluster_write "$node" "$kind" "$services"
    done < <(cluster_machines)
}

# cluster_patience FILE: in tests a machine is missed PATIENCE times as late, as a busy computer may stall for seconds.
cluster_patience() {
    [ "$PATIENCE" -eq 1 ] || sed -Ei -e "s/^(cluster-node-timeout|sentinel down-after-milliseconds .*) 2000\$/\1 $((2000 * PATIENCE))/" \
        -e "s/suspect_timeout=PT2S/suspect_timeout=PT$((2 * PATIENCE))S/" "$1"
}

# cluster_write NODE KIND SERVICES: what a machine's instance has before its first start.
cluster_write() {
    local folder=$VAR/$1 address servers='' peer
    address=$(cluster_address "$1")
    mkdir -p -- "$folder"
    cp -a -- "$VAR/rights" "$folder/rights"
    (umask 077 && cluster_settings >"$folder/hongbao.conf")
    case $2 in
    redis)
        template_fill "$ROOT/deploy/dev/cluster/redis.conf.in" "$folder/node-redis.conf" "ADDRESS=$address"
        [ "$PROFILE" != cluster ] || cat -- "$ROOT/deploy/redis/cluster.conf" >>"$folder/node-redis.conf"
        cluster_patience "$folder/node-redis.conf"
        [ "$PROFILE" != sentinel ] || [ "$1" = redis1 ] || cluster_follow "$1" "$(cluster_address redis1)"
        ;;
    sentinel)
        template_fill "$ROOT/deploy/dev/cluster/sentinel.conf.in" "$folder/node-sentinel.conf" "ADDRESS=$address" \
            "PRIMARY=$(cluster_address redis1)"
        cluster_patience "$folder/node-sentinel.conf"
        ;;
    db) cluster_write_galera "$1" '' ;;
    app) printf 'balancer = %s\n' "$(cluster_address lb)" >"$folder/node" ;;
    lb)
        for peer in $(cluster_nodes app); do
            servers+="    server $peer $(cluster_address "$peer"):$CLUSTER_PORT"$'\n'
        done
        address=$NETWORK.254
        template_fill "$ROOT/deploy/dev/cluster/haproxy.conf.in" "$folder/node-haproxy.conf" "ADDRESS=$address" \
            "PORT=$PORT" "SERVERS=${servers%$'\n'}"
        ;;
    esac
    printf '%s = %s\n' services "$3" address "$address" >>"$folder/node"
}

# cluster_follow NODE ADDRESS: the Redis of the machine starts as a replica of that one; its own address: as primary.
cluster_follow() {
    sed -i '/^replicaof /d' "$VAR/$1/node-redis.conf"
    [ "$2" = "$(cluster_address "$1")" ] || printf 'replicaof %s 6379\n' "$2" >>"$VAR/$1/node-redis.conf"
}

# The user's part of hongbao.conf (instance_configure_hongbao), the same on all machines.
cluster_settings() {
    printf '# From here on it is yours.\n'
    printf '%s = %s\n' secret "$(<"$VAR/run/secret")" mysql_database hongbao demo on \
        base_url "http://$NETWORK.254:$PORT" redis "$(cluster_list redis 6379)" mysql "$(cluster_list db 3306)"
}

# cluster_start_all NODE...: starts these machines side by side.
cluster_start_all() {
    local node failed=
    local -A jobs=()
    for node; do
        cluster_dev "$node" up >"$VAR/log/$node.up" 2>&1 9>&- &
        jobs[$node]=$!
    done
    for node; do
        wait "${jobs[$node]}" || failed+=" $node"
    done
    for node in $failed; do
        say "--- $node"
        tail -n 30 -- "$VAR/log/$node.up" >&2
    done
    [ -z "$failed" ] || die "did not start:$failed"
}

# Starts both stores. The first Galera node makes the tables, the others copy them.
cluster_stores() {
    local -a redis dbs sentinels
    mapfile -t redis < <(cluster_nodes redis)
    mapfile -t dbs < <(cluster_nodes db)
    mapfile -t sentinels < <(cluster_nodes sentinel)
    say "dev: starting Redis and the first Galera node"
    cluster_start_all "${redis[@]}" "${dbs[0]}"
    if [ "$PROFILE" = cluster ]; then
        cluster_join_redis
    else
        cluster_start_all "${sentinels[@]}"
    fi
    cluster_tables "${dbs[0]}"
    local node
    for node in "${dbs[@]}"; do cluster_write_galera "$node" "$(cluster_list db)"; done
    say "dev: starting the other Galera nodes"
    for node in "${dbs[@]:1}"; do cluster_start_all "$node"; done
}

# Makes one Redis Cluster of the nodes: the first three get the slots, each two replicas, so that one confirms while the
# other one takes over.
cluster_join_redis() {
    local node number=0 primaries=3
    local -a nodes
    mapfile -t nodes < <(cluster_nodes redis)
    for node in "${nodes[@]}"; do
        cluster_redis_must "$node" CLUSTER SET-CONFIG-EPOCH $((number + 1))
        [ "$number" -ge "$primaries" ] || cluster_redis_must "$node" CLUSTER ADDSLOTSRANGE \
            $((number * 16384 / primaries)) $(((number + 1) * 16384 / primaries - 1))
        [ "$number" = 0 ] || cluster_redis_must "${nodes[0]}" CLUSTER MEET "$(cluster_address "$node")" 6379
        number=$((number + 1))
    done
    wait_until 60 cluster_redis_met ${#nodes[@]} || die "the Redis nodes do not find each other"
    for ((number = primaries; number < ${#nodes[@]}; number++)); do
        cluster_redis_must "${nodes[number]}" CLUSTER REPLICATE "$(cluster_redis "${nodes[number % primaries]}" CLUSTER MYID)"
    done
    wait_until 60 cluster_redis_joined || die "the Redis Cluster is not complete: $(cluster_redis redis1 CLUSTER INFO | head -3)"
}

# Whether every node knows COUNT nodes by their addresses.
cluster_redis_met() {
    local node
    for node in $(cluster_nodes redis); do
        [ "$(cluster_redis "$node" CLUSTER NODES | grep -cv 'handshake\|noaddr')" = "$1" ] || return 1
    done
}

# Whether every node knows that all slots are served, and every replica is connected to its primary.
cluster_redis_joined() {
    local node
    for node in $(cluster_nodes redis); do
        [[ $(cluster_redis "$node" CLUSTER INFO) == *cluster_state:ok* ]] || return 1
        [[ $(cluster_redis "$node" INFO replication) == *@(role:master*connected_slaves:2|master_link_status:up)* ]] || return 1
    done
}

# cluster_tables NODE: database, users, tables and rights. All machines' addresses may log in.
cluster_tables() {
    rights_sql "$VAR/rights" hongbao | rights_hosts "$NETWORK.%" | cluster_sql "$1" || die "the users could not be made in MariaDB"
    cluster_migrate "$1"
}

# cluster_migrate NODE: new tables, and the rights on all of them. Without the line that first takes all rights away: the
# site may serve.
cluster_migrate() {
    local folder=$ROOT/deploy/rights log=$VAR/log/migrate
    cluster_dev app1 hongbao migrate >"$log" 2>&1 9>&- || {
        cat -- "$log" >&2
        die "the tables could not be made (hongbao migrate)"
    }
    sed '/^REVOKE /d' "$folder/grants.sql" "$folder/grants-demo.sql" | rights_hosts "$NETWORK.%" | cluster_sql "$1" hongbao ||
        die "the rights could not be granted in MariaDB"
}

# Starts the machines of the site and the balancer, and makes the demo users through it.
cluster_site() {
    local -a apps
    mapfile -t apps < <(cluster_nodes app)
    say "dev: starting the machines of the site, and the balancer"
    cluster_start_all "${apps[@]}"
    cluster_start_all lb
    (
        VAR=$VAR/lb
        wait_until 60 cluster_site_ready || die "$(instance_url)/readyz answers $(service_http_code /readyz)"
        site_make_demo_users
    )
    cluster_welcome
}

cluster_site_ready() {
    [ "$(service_http_code /readyz)" = 200 ]
}

cluster_welcome() {
    printf '\n  hongbao   http://%s:%s\n' "$NETWORK.254" "$PORT"
    printf '  log in as alice, bob, carol, dave; password %s\n' "$DEMO_PASSWORD"
    printf '  %s shows the machines, %s stops everything\n\n' "$(cluster_hint status)" "$(cluster_hint down)"
}

cluster_hint() {
    (VAR=${VAR%/cluster} && site_command "cluster $1")
}

# ---- down ----

cluster_down() {
    [ $# -eq 0 ] || die "cluster down takes no arguments"
    cluster_find
    if [ ! -d "$VAR" ] && [ -z "$(network_namespaces)" ]; then
        say "dev: no cluster runs in ${VAR%/cluster}"
        return 0
    fi
    mkdir -p -- "$VAR/run"
    instance_lock
    cluster_end
    rm -rf -- "$VAR"
    say "dev: the cluster is stopped"
}

# Ends all processes and removes the network. The machines of the site end in good order: what they say at the end counts.
cluster_end() {
    local node sockets
    local -a jobs
    mapfile -t jobs < <(jobs -p)
    [ ${#jobs[@]} -eq 0 ] || kill -s TERM "${jobs[@]}" 2>/dev/null || true
    wait
    for node in app1 app2; do
        [ ! -e "/run/netns/$(network_name)-$node" ] || [ ! -d "$VAR/$node/run" ] || cluster_dev "$node" down >/dev/null 2>&1 9>&- &
    done
    wait
    network_kill
    network_down
    for sockets in "$VAR"/*/run/sockets; do
        sockets=$(readlink -- "$sockets" || true)
        [[ $sockets != /tmp/hongbao.?????? ]] || rm -rf -- "$sockets"
    done
}
