# shellcheck shell=bash disable=SC2154
# The servers that only a machine of a cluster has; as in services.sh.

service_start_haproxy() {
    local program
    program=$(command -v haproxy || echo /usr/sbin/haproxy)
    process_spawn haproxy "$program" -db -f "$VAR/node-haproxy.conf"
    process_wait_ready haproxy "$process_spawned" 10 service_haproxy_answers
}

# Whether it answers; any status will do, as the machines of the site may not run yet.
service_haproxy_answers() {
    [ "$(service_http_code /healthz)" != 000 ]
}

service_start_sentinel() {
    process_spawn sentinel redis-server "$VAR/node-sentinel.conf" --sentinel --dir "$VAR/data" --logfile ''
    process_wait_ready sentinel "$process_spawned" 20 service_sentinel_answers
}

service_sentinel_answers() {
    [ "$(timeout 2 redis-cli -h "$(instance_node address)" -p 26379 PING 2>/dev/null)" = PONG ]
}

# service_galera_position PROGRAM OPTION...: prints the last transaction in the data folder, which InnoDB knows even after
# a crash: with it the node gets from another one only what came later. As Debian's galera_recovery does.
service_galera_position() {
    local position=
    if [ -f "$VAR/data/mariadb/grastate.dat" ]; then
        position=$("$1" --defaults-file="$VAR/mariadb.cnf" "${@:2}" --datadir="$VAR/data/mariadb" --tmpdir="$VAR/tmp" \
            --socket="$VAR/tmp/recover.sock" --skip-networking --wsrep-recover --disable-log-error </dev/null 2>&1 9>&- |
            sed -n 's/.*WSREP: Recovered position: *\([^ ,]*\).*/\1/p' | tail -n 1) || true
    fi
    printf '%s\n' "${position:-00000000-0000-0000-0000-000000000000:-1}"
}
