#!/bin/bash
# The command docker of the pages, in the namespaces of engine.sh: Compose, buildah and podman do the work.
set -euo pipefail

# A test ends upgrade.sh before the first command that has these words.
if [ -e "$HB_ENGINE/kill" ] && grep -qE -f "$HB_ENGINE/kill" <<<"$*"; then
    rm -- "$HB_ENGINE/kill"
    pkill -KILL -x upgrade.sh
    exit 1
fi
case $1 in
compose) exec docker-compose "${@:2}" ;;
# The machine may let nobody use the namespaces and groups that a build in a container needs.
build) exec nsenter --net="$HB_ENGINE/network" buildah --root "$HB_ENGINE/store" --runroot "$HB_ENGINE/run" bud \
    --isolation chroot --layers "${@:2}" ;;
*) exec podman "$@" ;;
esac
