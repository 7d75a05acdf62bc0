# shellcheck shell=bash disable=SC2154,SC2030,SC2031
# What ./dev cluster does to the machines of a cluster that runs, and what it prints of them.

cluster_kill() {
    local node
    cluster_need_nodes "$@"
    for node; do network_kill "$node"; done
}

cluster_stop() {
    local node
    cluster_need_nodes "$@"
    for node; do cluster_dev "$node" down; done
}

cluster_start() {
    local node
    local -a dbs=() others=()
    cluster_need_nodes "$@"
    for node; do
        case $PROFILE/$(cluster_kind "$node") in
        */db) dbs+=("$node") && continue ;;
        sentinel/redis) cluster_follow "$node" "$(cluster_primary)" ;;
        esac
        others+=("$node")
    done
    [ ${#dbs[@]} -eq 0 ] || cluster_start_galera "${dbs[@]}"
    cluster_start_all "${others[@]}"
}

# The address of the Redis that the Sentinels call the primary.
cluster_primary() {
    local node address
    for node in $(cluster_nodes sentinel); do
        address=$(network_in "$node" timeout 5 redis-cli -h "$(cluster_address "$node")" -p 26379 \
            SENTINEL get-master-addr-by-name hongbao 2>/dev/null | head -n 1)
        [ -z "$address" ] || break
    done
    printf '%s\n' "${address:-$(cluster_address redis1)}"
}

cluster_cut() {
    local node
    local -a nodes=()
    for node; do [ "$node" = with ] || nodes+=("$node"); done
    cluster_need_nodes "${nodes[@]}"
    network_cut "${nodes[@]}"
}

cluster_heal() {
    [ $# -eq 0 ] || die "cluster heal takes no arguments"
    # shellcheck disable=SC2046
    network_heal $(cluster_nodes)
}

cluster_on() {
    [ $# -ge 2 ] || die "cluster on needs a machine and a command"
    cluster_need_nodes "$1"
    network_in "$@"
}

# ---- reshard ----

# cluster_slots NODE: prints the ranges of slots of a primary, FROM-TO or one number, one a line.
cluster_slots() {
    cluster_redis "$1" CLUSTER NODES 2>/dev/null | grep ' *myself,' | cut -d ' ' -f 9- | tr ' ' '\n' | grep '^[0-9]' || true
}

# cluster_slots_below NODE SLOT: how many slots of the primary are smaller.
cluster_slots_below() {
    local first last count=0
    while IFS=- read -r first last; do
        last=${last:-$first}
        [ "$first" -lt "$2" ] || continue
        count=$((count + (last < $2 ? last + 1 : $2) - first))
    done < <(cluster_slots "$1")
    printf '%s\n' "$count"
}

# cluster_partitions NODE: prints `SLOT PARTITION` of the partitions of the events that the primary serves, by slot.
cluster_partitions() {
    local number slot first last ranges
    ranges=$(cluster_slots "$1")
    for number in {00..15}; do
        slot=$(cluster_redis "$1" CLUSTER KEYSLOT "hb:{p$number}:events")
        while IFS=- read -r first last; do
            [ -z "$first" ] || [ "$slot" -lt "$first" ] || [ "$slot" -gt "${last:-$first}" ] || printf '%s p%s\n' "$slot" "$number"
        done <<<"$ranges"
    done | sort -n
}

# cluster_reshard_pair: sets from and to, the primaries with the most and the least partitions.
cluster_reshard_pair() {
    local node most=0 least=17 count
    [ "$PROFILE" = cluster ] || die "there are no slots to move: the profile is $PROFILE"
    from='' to=''
    for node in $(cluster_nodes redis); do
        [ -n "$(cluster_slots "$node")" ] || continue
        count=$(cluster_partitions "$node" | wc -l)
        if [ "$count" -gt "$most" ]; then most=$count from=$node; fi
        if [ "$count" -lt "$least" ]; then least=$count to=$node; fi
    done
    [ "$from" != "$to" ] || die "there are not two primaries to move slots between; see ./dev cluster status"
}

# redis-cli moves the lowest slots of a primary: so many that the first partition is among them. half: one slot only, which
# keeps half of its keys, as when redis-cli is killed.
cluster_reshard() {
    local from to count slot
    cluster_reshard_pair
    slot=$(cluster_partitions "$from" | head -n 1)
    if [ $# -gt 0 ]; then
        [ "$*" = half ] || die "cluster reshard takes no argument but half"
        cluster_reshard_half "$from" "$to" "$slot"
        return
    fi
    count=$(($(cluster_slots_below "$from" "${slot% *}") + 1))
    say "dev: moving $count slots, with partition ${slot#* }, from $from to $to"
    network_in "$from" redis-cli --cluster reshard "$(cluster_address "$from"):6379" --cluster-yes --cluster-slots "$count" \
        --cluster-from "$(cluster_redis "$from" CLUSTER MYID)" --cluster-to "$(cluster_redis "$to" CLUSTER MYID)" \
        >"$VAR/log/reshard" 2>&1 || {
        tail -n 5 -- "$VAR/log/reshard" >&2
        die "redis-cli --cluster reshard failed; repeat it after ./dev cluster fix"
    }
}

# cluster_reshard_half FROM TO 'SLOT PARTITION'
cluster_reshard_half() {
    local slot=${3% *} count
    local -a keys
    say "dev: moving half of slot $slot, with partition ${3#* }, from $1 to $2"
    cluster_redis_must "$2" CLUSTER SETSLOT "$slot" IMPORTING "$(cluster_redis "$1" CLUSTER MYID)"
    cluster_redis_must "$1" CLUSTER SETSLOT "$slot" MIGRATING "$(cluster_redis "$2" CLUSTER MYID)"
    count=$(cluster_redis "$1" CLUSTER COUNTKEYSINSLOT "$slot")
    mapfile -t keys < <(cluster_redis "$1" CLUSTER GETKEYSINSLOT "$slot" $((count / 2)))
    [ "$((count / 2))" -eq 0 ] ||
        cluster_redis_must "$1" MIGRATE "$(cluster_address "$2")" 6379 '' 0 5000 KEYS "${keys[@]}"
}

# cluster_redis_must NODE COMMAND...: dies unless the answer is OK.
cluster_redis_must() {
    local answer
    answer=$(cluster_redis "$@") || answer="failed $answer"
    [[ $answer == OK* || $answer == NOKEY* ]] || die "redis-cli ${*:2:4}: $answer"
}

# Ends what an aborted reshard has left: each slot that is half moved is moved. `redis-cli --cluster fix` may move it back
# instead, and leaves behind what the site has written meanwhile.
cluster_fix() {
    local node slot to id
    [ $# -eq 0 ] || die "cluster fix takes no arguments"
    [ "$PROFILE" = cluster ] || die "there are no slots: the profile is $PROFILE"
    for node in $(cluster_nodes redis); do
        while read -r slot id; do
            to=$(cluster_redis "$node" CLUSTER NODES | sed -n "s/^$id \([0-9.]*\):.*/\1/p")
            to=$(sed -n "s/ redis $to\$//p" "$VAR/nodes")
            say "dev: moving the rest of slot $slot from $node to $to"
            cluster_move_slot "$node" "$to" "$slot"
        done < <(cluster_redis "$node" CLUSTER NODES 2>/dev/null | grep ' *myself,' |
            grep -o '\[[0-9]*->-[0-9a-f]*\]' | sed 's/\[\([0-9]*\)->-\(.*\)\]/\1 \2/')
    done
}

# cluster_move_slot FROM TO SLOT: moves all keys, then both primaries get the new owner, first the primary that becomes
# it.
cluster_move_slot() {
    local id
    local -a keys
    id=$(cluster_redis "$2" CLUSTER MYID)
    while mapfile -t keys < <(cluster_redis "$1" CLUSTER GETKEYSINSLOT "$3" 50) && [ -n "${keys[0]-}" ]; do
        cluster_redis_must "$1" MIGRATE "$(cluster_address "$2")" 6379 '' 0 5000 KEYS "${keys[@]}"
    done
    cluster_redis_must "$2" CLUSTER SETSLOT "$3" NODE "$id"
    cluster_redis_must "$1" CLUSTER SETSLOT "$3" NODE "$id"
}

# ---- status ----

cluster_status() {
    local node kind address role state status=0
    printf '%-9s  %-8s  %-15s  %-7s  %-5s  %s\n' machine kind address pid state role
    while read -r node kind address; do
        state=ok
        role=$(cluster_role "$node" "$kind") || state=fails
        [ "$(network_group "$node")" = lan ] || { role+="; cut off ($(network_group "$node"))" && state=fails; }
        [ "$state" = ok ] || status=1
        printf '%-9s  %-8s  %-15s  %-7s  %-5s  %s\n' "$node" "$kind" "$address" "$(cluster_pid "$node" "$kind")" "$state" "$role"
    done <"$VAR/nodes"
    printf 'http://%s:%s\n' "$NETWORK.254" "$PORT"
    return "$status"
}

# cluster_pid NODE KIND: of the machine's first server, when it runs.
cluster_pid() {
    local name
    case $2 in
    db) name=mariadb ;;
    app) name=nginx ;;
    lb) name=haproxy ;;
    *) name=$2 ;;
    esac
    (VAR=$VAR/$1 && process_running "$name" && process_recorded "$name") || echo -
}

# cluster_role NODE KIND: one line; false when something is wrong.
cluster_role() {
    [ -n "$(network_pids "$1")" ] || {
        echo down
        return 1
    }
    "cluster_role_$2" "$1"
}

cluster_role_redis() {
    local info
    info=$(cluster_redis "$1" INFO replication 2>/dev/null | tr -d '\r') || { echo 'does not answer' && return 1; }
    case $info in
    *role:master*) cluster_role_primary "$1" "$info" ;;
    *) cluster_role_replica "$1" "$info" ;;
    esac
}

cluster_role_primary() {
    local slots replicas
    replicas=$(sed -n 's/^connected_slaves://p' <<<"$2")
    if [ "$PROFILE" = cluster ]; then
        slots=$(cluster_slots "$1" | tr '\n' ' ')
        printf 'primary of %s(%s), ' "${slots:-nothing }" "$(cluster_partitions "$1" | cut -d ' ' -f 2 | sort | tr '\n' ' ' | sed 's/ $//')"
        [[ $(cluster_redis "$1" CLUSTER INFO) == *cluster_state:ok* ]] || printf 'cluster is not ok, '
    else
        printf 'primary, '
    fi
    printf '%s replicas\n' "$replicas"
    [ "$replicas" -gt 0 ]
}

cluster_role_replica() {
    local link primary
    link=$(sed -n 's/^master_link_status://p' <<<"$2")
    primary=$(sed -n 's/^master_host://p' <<<"$2")
    printf 'replica of %s, link %s\n' "$(sed -n "s/ redis $primary\$//p" "$VAR/nodes")" "$link"
    [ "$link" = up ]
}

cluster_role_sentinel() {
    local primary
    primary=$(network_in "$1" timeout 5 redis-cli -h "$(cluster_address "$1")" -p 26379 \
        SENTINEL get-master-addr-by-name hongbao 2>/dev/null | head -n 1)
    [ -n "$primary" ] || { echo 'does not answer' && return 1; }
    printf 'primary is %s\n' "$(sed -n "s/ redis $primary\$//p" "$VAR/nodes")"
}

cluster_role_db() {
    local state
    state=$(cluster_sql "$1" -BN -e "SHOW STATUS LIKE 'wsrep\_%'" 2>/dev/null | awk '
        $1 == "wsrep_local_state_comment" { state = tolower($2) }
        $1 == "wsrep_cluster_status" { part = $2 == "Primary" ? "in the primary component" : "not in the primary component" }
        $1 == "wsrep_cluster_size" { size = $2 }
        END { if (state != "") print state ", " part ", of " size " nodes" }') || true
    printf '%s\n' "${state:-does not answer}"
    [[ $state == "synced, in the"* ]]
}

# The first line of /readyz is "ready" or "not ready", each other one is `PART: ok` or what fails.
cluster_role_app() {
    local answer
    answer=$(network_in "$1" curl -s --noproxy '*' --max-time 5 "http://$(cluster_address "$1"):$CLUSTER_PORT/readyz" |
        grep -v ': ok$' | tr '\n' ';') || true
    answer=${answer%;}
    answer=${answer//;/; }
    printf '%s\n' "${answer:-does not answer}"
    [[ $answer == ready* ]]
}

cluster_role_lb() {
    local up
    up=$(curl -s --max-time 5 --unix-socket "$VAR/$1/run/haproxy.sock" 'http://balancer/;csv' |
        awk -F , '$1 == "ready" && $2 ~ /^app/ && $18 ~ /^UP/ { n++ } END { print n + 0 }') || true
    printf 'sends to %s of 2 machines\n' "${up:-0}"
    [ "${up:-0}" = 2 ]
}
