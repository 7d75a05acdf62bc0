# shellcheck shell=bash
# The users of each role in both stores (docs/reference/rights.md), made from the templates beside this file: for ./dev
# and for a deployment. Needs deploy/common.sh.

RIGHTS_SOURCE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
ROLES=(hot page auth card settle audit migrate support backup operator)
# These have no user in MariaDB.
ROLES_WITHOUT_MARIADB=' hot operator '

# rights_make FOLDER: writes a file ROLE.conf for each role that has none: its users, with one password for both stores.
rights_make() {
    local role password
    install -d -m 700 -- "$1"
    for role in "${ROLES[@]}"; do
        [ ! -f "$1/$role.conf" ] || continue
        password=$(random_hex 16)
        (umask 077 && rights_users "$role" "$password" >"$1/$role.conf.new")
        mv -- "$1/$role.conf.new" "$1/$role.conf"
    done
}

# rights_users ROLE PASSWORD: prints the settings of its users.
rights_users() {
    [[ $ROLES_WITHOUT_MARIADB == *" $1 "* ]] || printf 'mysql_user = hongbao_%s\nmysql_password = %s\n' "$1" "$2"
    printf 'redis_user = hongbao_%s\nredis_password = %s\n' "$1" "$2"
}

# rights_password FOLDER ROLE
rights_password() {
    sed -n 's/^\(mysql\|redis\)_password = //p' "$1/$2.conf" | head -n 1
}

# rights_sql FOLDER DATABASE: prints what makes the database and its users.
rights_sql() {
    local role
    local -a values=("DATABASE=$2")
    for role in "${ROLES[@]}"; do
        values+=("${role^^}_PASSWORD=$(rights_password "$1" "$role")")
    done
    template_print "$RIGHTS_SOURCE/users.sql.in" "${values[@]}"
}

# rights_acl FOLDER DEFAULT: prints the users of Redis. DEFAULT: the rights of the user default.
rights_acl() {
    local role
    local -a values=("DEFAULT=$2")
    for role in "${ROLES[@]}"; do
        values+=("${role^^}_SHA256=$(rights_password "$1" "$role" | tr -d '\n' | sha256sum | cut -d ' ' -f 1)")
    done
    template_print "$RIGHTS_SOURCE/users.acl.in" "${values[@]}" | sed '/^#/d; /^$/d'
}
