#!/usr/bin/env bash
# hongbao setup [OPTION...]: makes the installed package a running site: secret, rights, stores, nginx, units. It may
# run again: it keeps what exists, and a file that somebody has changed stays as it is. setup/ has its parts.
# shellcheck disable=SC2034
set -euo pipefail
# The environment of a shell does not count for the units, nor for this setup.
unset "${!HB_@}" "${!MYSQL_@}" REDISCLI_AUTH
exec 3<&- # the settings: setup runs before there are any, and asks for them by `hongbao setting`

FOLDER=$(dirname -- "$(readlink -f -- "$0")")
SHARE=/usr/share/hongbao
PROGRAM='hongbao setup'
ETC=/etc/hongbao
STATE=/var/lib/hongbao
SUMS=$STATE/made # checksums of the files that setup has written
DATABASE=hongbao
BEGAN_S=$EPOCHSECONDS
NGINX=/etc/nginx
NGINX_LOG=/var/log/nginx/hongbao.access.log
MARIADB_CNF=/etc/mysql/mariadb.conf.d/60-hongbao.cnf
MYSQL_SOCKET_OWN=/run/mysqld/mysqld.sock

for part in ../common ../rights/roles \
    setup/{options,questions,files,config,certificate,stores,redis,mariadb,rights,nginx,units,site}; do
    # shellcheck source=/dev/null
    source "$FOLDER/$part.sh"
done

main() {
    redis_names
    options_read "$@"
    [ "$(id -u)" -eq 0 ] || die "run it as root"
    [ -d /run/systemd/system ] || die "this system does not run systemd; see docs/how-to/restart.md for the way without"
    umask 022
    install -d -m 755 "$STATE"
    exec 9>"$STATE/setup.lock"
    flock -n 9 || die "another setup is running"
    "setup_$ACTION"
}

main "$@"
exit
