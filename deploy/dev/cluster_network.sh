# shellcheck shell=bash disable=SC2154
# The network of a cluster: a namespace for each machine, and NAME-net with the bridge that joins them. From outside only
# the balancer can be reached, over a link of its own.
#
#   NETWORK.11 …     the machines, in the order of VAR/nodes
#   NETWORK.253/30   this machine's end of the link to the balancer, whose end is NETWORK.254

# network_name: prints the prefix of the names of all namespaces and links of this cluster: it fits into the 15 letters
# that Linux allows a link.
network_name() {
    printf 'hb%s' "$(printf %s "$VAR" | sha256sum | cut -c 1-8)"
}

# network_impossible: prints why no namespaces can be made here; false: they can.
network_impossible() {
    local name reason=
    if [ "$(id -u)" -ne 0 ]; then
        echo "it makes network namespaces, which only root may"
        return
    fi
    name=hbtry$$
    reason=$(ip netns add "$name" 2>&1 && ip -n "$name" link add bridge type bridge 2>&1 &&
        ip -n "$name" link add left type veth peer name right 2>&1) && reason=
    ip netns delete "$name" 2>/dev/null || true
    [ -n "$reason" ] || return 1
    echo "Linux makes no network namespaces here: $reason"
}

# network_in NODE COMMAND...: runs it on that machine.
network_in() {
    nsenter --net="/run/netns/$(network_name)-$1" -- "${@:2}"
}

# network_free: prints a network, 10.X.Y, that no address and no route of this machine names. Different clusters begin to
# look at different ones.
network_free() {
    local network taken seed try
    taken=$(ip -4 -o address && ip -4 route)
    seed=$((0x$(network_name | tail -c 7)))
    for ((try = 0; try < 100; try++)); do
        network=10.$((64 + (seed + try) % 64)).$((seed / 64 % 256))
        if ! grep -qF "$network." <<<"$taken"; then
            printf '%s\n' "$network"
            return
        fi
    done
    die "no private network is free; choose one with --network 10.X.Y"
}

# network_up NETWORK NODE...: the first machine gets NETWORK.11.
network_up() {
    local network=$1 name node number=11
    shift
    name=$(network_name)
    ip netns add "$name-net"
    ip -n "$name-net" link add lan type bridge
    ip -n "$name-net" link set lan up
    network_unfilter "$name-net"
    for node; do
        ip netns add "$name-$node"
        ip -n "$name-$node" link add eth0 type veth peer name "$node" netns "$name-net"
        ip -n "$name-net" link set "$node" master lan up
        ip -n "$name-$node" address add "$network.$number/25" dev eth0
        ip -n "$name-$node" link set eth0 up
        ip -n "$name-$node" link set lo up
        number=$((number + 1))
    done
}

# network_unfilter NAMESPACE: its bridges forward frames without the packet filter of IP, which has no rules there and
# costs the sender CPU. The setting is of this namespace. Without the module br_netfilter the files do not exist; where
# they can't be written, it costs CPU and does no harm.
network_unfilter() {
    # shellcheck disable=SC2016 # the other shell expands it
    nsenter --net="/run/netns/$1" -- bash -c \
        'for file in /proc/sys/net/bridge/bridge-nf-call-*; do [ ! -w "$file" ] || echo 0 >"$file"; done' \
        2>/dev/null || true
}

# network_open NETWORK NODE: the link from this machine to that one.
network_open() {
    local name
    name=$(network_name)
    ip link add "$name" type veth peer name outside netns "$name-$2"
    ip address add "$1.253/30" dev "$name"
    ip link set "$name" up
    ip -n "$name-$2" address add "$1.254/30" dev outside
    ip -n "$name-$2" link set outside up
}

# network_namespaces: prints the names of all that exist.
network_namespaces() {
    ip netns list | cut -d ' ' -f 1 | grep "^$(network_name)-" || true
}

# network_pids [NODE]: the processes on this machine, or on all.
network_pids() {
    local namespace
    for namespace in ${1:+"$(network_name)-$1"} $([ $# -gt 0 ] || network_namespaces); do
        ip netns pids "$namespace" 2>/dev/null || true
    done
}

# network_kill [NODE]: kill -9 for all processes of this machine, or of all; returns when none is left.
network_kill() {
    wait_until 20 network_killed "$@" || die "processes can't be killed: $(network_pids "$@" | tr '\n' ' ')"
}

network_killed() {
    local -a pids
    mapfile -t pids < <(network_pids "$@")
    [ ${#pids[@]} -gt 0 ] || return 0
    kill -s KILL "${pids[@]}" 2>/dev/null || true
    return 1
}

# network_down: the links end with their namespaces.
network_down() {
    local namespace
    for namespace in $(network_namespaces); do
        ip netns delete "$namespace"
    done
    ip link delete "$(network_name)" 2>/dev/null || true
}

# network_cut NODE...: from now on these see only each other.
network_cut() {
    local name bridge number=1
    name=$(network_name)
    while ip -n "$name-net" link show "cut$number" >/dev/null 2>&1; do number=$((number + 1)); done
    bridge=cut$number
    ip -n "$name-net" link add "$bridge" type bridge
    ip -n "$name-net" link set "$bridge" up
    network_move "$bridge" "$@"
}

network_move() {
    local bridge=$1 node
    shift
    for node; do
        ip -n "$(network_name)-net" link set "$node" master "$bridge"
    done
}

# network_heal NODE...: all see all again.
network_heal() {
    local name bridge
    name=$(network_name)
    network_move lan "$@"
    for bridge in $(ip -n "$name-net" -o link show type bridge | sed -n 's/^[0-9]*: \(cut[0-9]*\):.*/\1/p'); do
        ip -n "$name-net" link delete "$bridge"
    done
}

# network_group NODE: prints the bridge that it is joined to: lan or cutN.
network_group() {
    ip -n "$(network_name)-net" -o link show "$1" 2>/dev/null | sed -n 's/.* master \([a-z0-9]*\) .*/\1/p'
}
