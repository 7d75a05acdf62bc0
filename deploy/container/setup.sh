#!/bin/bash
# setup.sh: makes what is missing of the secrets in /run/secrets: of the site, of each role, of the stores. It keeps what
# is there. Compose gives each service its own files alone (compose.yaml).
# shellcheck disable=SC2034
set -euo pipefail

PROGRAM='hongbao setup'
FOLDER=/run/secrets
SHARE=/usr/share/hongbao
for part in common rights/roles; do
    # shellcheck source=/dev/null
    source "$SHARE/$part.sh"
done

# put NAME TEXT: writes the file in one step. The services have users of their own and this group.
put() {
    printf '%s\n' "$2" >"$FOLDER/$1.new"
    chmod 440 -- "$FOLDER/$1.new"
    mv -- "$FOLDER/$1.new" "$FOLDER/$1"
}

# The administrator of MariaDB: `migrate` works as this user.
administrator_sql() {
    local password
    password=$(rights_password "$FOLDER" setup)
    printf '%s;\n' "CREATE USER IF NOT EXISTS 'hongbao_setup'@'localhost'" \
        "ALTER USER 'hongbao_setup'@'localhost' IDENTIFIED BY '$password'" \
        "GRANT ALL PRIVILEGES ON *.* TO 'hongbao_setup'@'localhost' WITH GRANT OPTION"
}

main() {
    local text
    umask 077
    # Another secret would end all sessions, and no backup of before would fit.
    [ -s "$FOLDER/secret" ] || [ ! -e /var/lib/hongbao/site/nginx ] ||
        die "this site has data, but the folder secrets is without its files: bring them back (docs/how-to/container.md)"
    [ -w "$FOLDER" ] || die "the user $(id -u) can't write the secrets: install -d -m 700 -o $(id -u) -g $(id -g) secrets"
    [ -s "$FOLDER/secret" ] || { text=$(random_hex 32) && put secret "$text"; }
    rights_make "$FOLDER"
    rights_make_role "$FOLDER" setup
    rights_keys "$FOLDER" hongbao
    chmod 440 -- "$FOLDER"/*.conf "$FOLDER"/*.keys
    text=$(rights_acl "$FOLDER" "$RIGHTS_DEFAULT_OFF" && rights_acl_setup "$FOLDER")
    put redis-users.acl "$text"
    text=$(rights_sql "$FOLDER" hongbao && administrator_sql)
    put mariadb-users.sql "$text"
    text=$(rights_password "$FOLDER" setup)
    put admin.conf "mysql_user = hongbao_setup
mysql_password = $text"
}

main
