#!/bin/bash
# nginx.sh [reload|answers]: runs nginx of compose.yaml. reload: it takes the files that `migrate` has put there.
# answers: fails unless the site is ready.
set -euo pipefail

FILES=/var/lib/hongbao/site/nginx
COPY=/tmp/nginx # nginx reads them again when it starts its processes anew, while `migrate` replaces them
NEW=/tmp/nginx.new

# Prints the address from which this machine comes, as the network of nginx has it: its gateway.
gateway() {
    local hex
    hex=$(awk '$2 == "00000000" { print $3; exit }' /proc/net/route)
    printf '%d.%d.%d.%d\n' "0x${hex:6:2}" "0x${hex:4:2}" "0x${hex:2:2}" "0x${hex:0:2}"
}

# Makes COPY the files, once nginx has found them right.
copy() {
    local machine
    machine=$(gateway)
    rm -rf -- "$NEW"
    cp -r -- "$FILES" "$NEW"
    printf 'set_real_ip_from %s;\n' "$machine" >"$NEW/machine.conf"
    printf 'allow %s;\n' "$machine" >"$NEW/hongbao-metrics.conf"
    nginx -q -t -e stderr -c "$NEW/nginx.conf"
    rm -rf -- "$COPY"
    mv -- "$NEW" "$COPY"
}

run() {
    copy
    exec nginx -e stderr -c "$COPY/nginx.conf" -g 'daemon off;'
}

reload() {
    copy
    nginx -e stderr -c "$COPY/nginx.conf" -s reload
}

answers() {
    local line
    exec 3<>/dev/tcp/127.0.0.1/8080
    printf 'GET /readyz HTTP/1.0\r\nHost: localhost\r\n\r\n' >&3
    read -r line <&3
    [[ $line == 'HTTP/1.'*' 200 '* ]]
}

"${1:-run}"
