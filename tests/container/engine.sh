#!/bin/bash
# engine.sh FOLDER: an engine of containers in namespaces of its own, until it is killed; all that runs in it ends with it.
# It is the first process there. FOLDER has the store of the images, and gets the socket for Compose. Written for a build
# machine whose own groups (cgroups) it must not use: containers have no limits of memory and processes then.
set -euo pipefail

folder=$1
mount --make-rprivate /
mount -t cgroup2 none /sys/fs/cgroup
mount -t tmpfs none /run
touch "$folder/network"
mount --bind /proc/self/ns/net "$folder/network" # of the machine: images are built there

# Without systemd nobody asks the containers whether they are healthy.
ask_health() {
    local container
    while sleep 0.5; do
        for container in $(podman ps -q --filter status=running); do
            podman healthcheck run "$container" || true
        done
    done
}

serve() {
    ip link set lo up
    export CONTAINERS_CONF=$1/containers.conf CONTAINERS_STORAGE_CONF=$1/storage.conf
    ask_health >/dev/null 2>&1 &
    podman system service -t 0 "unix://$1/socket"
}

export -f serve ask_health
# shellcheck disable=SC2016
exec unshare --net bash -euo pipefail -c 'serve "$1"' engine "$folder"
