#!/bin/bash
# migrate.sh [--end]: brings stores, nginx and counters to this version, while processes of the version before may run:
# they lose no right in Redis that they need. --end: takes these rights away. Both may be repeated.
# shellcheck disable=SC2034
set -euo pipefail

PROGRAM='hongbao migrate'
ETC=/etc/hongbao
SHARE=/usr/share/hongbao
STATE=$(mktemp -d)
SITE=/var/lib/hongbao/site
DATABASE=hongbao
ACTION=upgrade RESTORE='' DEMO='' REPLACE=''
REDIS_ACL=$ETC/rights/redis-users.acl
REDIS_UNIT='container redis'

for part in common rights/roles commands/setup/{files,config,stores,redis,mariadb,rights}; do
    # shellcheck source=/dev/null
    source "$SHARE/$part.sh"
done
ADMIN=$ETC/rights/admin.conf

# HB_CONFIG names the configuration.
setting() {
    hongbao setting "$1"
}

REDIS_SOCKET=$(setting redis)
REDIS_SOCKET=${REDIS_SOCKET#unix:}
MYSQL_SOCKET=$(setting mysql)
MYSQL_SOCKET=${MYSQL_SOCKET#unix:}

# What nginx serves, and its configuration, which it reads when it starts or reloads.
nginx_files() {
    "$SHARE/static-copy.sh" "$SHARE/static" "$SITE/static"
    rm -rf -- "$SITE/nginx.new"
    mkdir -- "$SITE/nginx.new"
    cp -r -- "$SHARE/nginx" "$SITE/nginx.new/hongbao"
    cp -- "$SHARE/nginx.conf" "$SITE/nginx.new/nginx.conf"
    rm -rf -- "$SITE/nginx"
    mv -- "$SITE/nginx.new" "$SITE/nginx"
}

# All processes map this file, so it is never replaced.
counters_make() {
    local file
    file=$(setting metrics_file)
    (umask 007 && : >>"$file")
}

main() {
    umask 022
    if [ "${1:-}" = --end ]; then
        redis_users_change exact
        return
    fi
    redis_users_change grow
    tables_make
    demo_fits
    nginx_files
    counters_make
}

main "$@"
