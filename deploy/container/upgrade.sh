#!/bin/bash
# upgrade.sh: brings pools and worker of compose.yaml to the image hongbao as it is now, or to other settings, while the
# site serves. The old containers end when the new ones have taken over (pool.sh). It may be repeated, also after it was
# interrupted.
#
# The image that served gets the name hongbao:before. When the new one fails, old containers serve on, and the name
# hongbao goes back to the image of before.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")"
exec </dev/null

SECONDS_MAX=${HONGBAO_UPGRADE_SECONDS:-120} # a new container is healthy within a few seconds
IMAGE=$(docker image inspect --format '{{.ID}}' hongbao)
SERVED='' # the image of before
POOLS=(hot auth card money page)

die() {
    printf 'upgrade: %s\n' "$*" >&2
    exit 1
}

# wait_for COMMAND...
wait_for() {
    local end=$((SECONDS + SECONDS_MAX))
    until "$@"; do
        [ "$SECONDS" -lt "$end" ] || return 1
        sleep 0.2
    done
}

is_healthy() {
    [ "$(docker inspect --format '{{.State.Status}} {{.State.Health.Status}}' "$1")" = 'running healthy' ]
}

site_is_ready() {
    docker compose exec -T nginx /usr/lib/hongbao/nginx.sh answers
}

# container_end CONTAINER: it answers what it has first.
container_end() {
    docker stop -t 90 "$1" >/dev/null
    docker rm "$1" >/dev/null
}

# pool_replace SERVICE: one container more, then an end of those before. Compose would start one again that was stopped.
pool_replace() {
    local -a old
    local new container
    docker compose rm -f "$1" >/dev/null
    mapfile -t old < <(docker compose ps -q "$1")
    if [[ $1 == @(money|sso) ]] && [ "${#old[@]}" -eq 0 ]; then # the version before had none
        docker compose up -d --no-deps "$1"
        new=$(docker compose ps -q "$1")
        wait_for is_healthy "$new" || die "$1 does not serve: docker compose logs --tail 20 $1"
        echo "upgrade: $1 is new; nginx reaches it after: docker compose up -d --no-deps nginx"
        return
    fi
    [ "${#old[@]}" -gt 0 ] || die "$1 does not run: docker compose up -d"
    docker compose up -d --no-deps --no-recreate --scale "$1=$((${#old[@]} + 1))" "$1"
    new=$(docker compose ps -q "$1" | grep -vxF "$(printf '%s\n' "${old[@]}")") || die "$1 has no new container"
    if ! wait_for is_healthy "$new"; then
        docker logs --tail 20 "$new" >&2
        container_end "$new"
        die "the old container of $1 serves on; the lines above tell why the new one does not"
    fi
    for container in "${old[@]}"; do
        container_end "$container"
    done
}

# The last pool that is replaced has the image that served.
image_keep() {
    local container
    container=$(docker compose ps -q page | tail -n 1)
    [ -n "$container" ] || die "page does not run: docker compose up -d"
    SERVED=$(docker inspect --format '{{.Image}}' "$container")
    [ "$SERVED" = "$IMAGE" ] || docker tag "$SERVED" hongbao:before
}

# A container that starts from now on, as the nightly backup, takes the image of before, not the image that failed.
image_back() {
    [ $? -ne 0 ] && [ "$SERVED" != "$IMAGE" ] || return 0
    docker tag "$IMAGE" hongbao:failed
    docker tag "$SERVED" hongbao
    echo 'upgrade: failed. The image hongbao is the one of before again, the new one is hongbao:failed.
upgrade: what was replaced already goes back with: ./upgrade.sh' >&2
}

# An operator may have kept the compose.yaml of an earlier version.
compose_check() {
    local services pool
    services=$(docker compose config --services)
    ! grep -qxF sso <<<"$services" || POOLS=(hot auth sso card money page) # with the profile issuer
    for pool in "${POOLS[@]}"; do
        grep -qxF "$pool" <<<"$services" ||
            die "compose.yaml has no service $pool: take the compose.yaml of this version, and repeat your changes in it"
    done
}

# --no-deps: the stores go on with the image that they have.
main() {
    local pool
    compose_check
    image_keep
    trap image_back EXIT
    docker compose run --rm -T --no-deps setup
    docker compose run --rm -T --no-deps migrate
    # The reader before the writers (docs/how-to/restart.md).
    docker compose run --rm -T --no-deps hongbao settle --check
    docker compose up -d --no-deps --force-recreate settle
    for pool in "${POOLS[@]}"; do
        pool_replace "$pool"
    done
    docker compose exec -T nginx /usr/lib/hongbao/nginx.sh reload
    wait_for site_is_ready || die "the site is not ready: /readyz, docker compose logs --tail 50"
    docker compose run --rm -T --no-deps migrate /usr/lib/hongbao/migrate.sh --end
}

main
