# shellcheck shell=bash
# The users of each role in both stores (docs/reference/rights.md), made from the templates beside this file: for ./dev
# and for a deployment. Needs deploy/common.sh.

RIGHTS_SOURCE=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
ROLES=(hot page auth sso card money settle audit migrate support treasury backup operator)
# These have no user in MariaDB. setup is no role of a process: it is hongbao_setup (rights_acl_setup).
ROLES_WITHOUT_MARIADB=' hot operator setup '

# These get keys derived from the secret (app/base/keys.h).
ROLES_WITH_KEYS=(hot page auth sso card)

# rights_make FOLDER: writes a file ROLE.conf for each role that has none: its users, with one password for both stores.
rights_make() {
    local role
    install -d -m 700 -- "$1"
    for role in "${ROLES[@]}"; do
        rights_make_role "$1" "$role"
    done
}

# rights_make_role FOLDER ROLE: writes ROLE.conf with a new password unless it is there.
rights_make_role() {
    local password
    [ ! -f "$1/$2.conf" ] || return 0
    password=$(random_hex 16)
    (umask 077 && rights_users "$2" "$password" >"$1/$2.conf.new")
    mv -- "$1/$2.conf.new" "$1/$2.conf"
}

# rights_users ROLE PASSWORD: prints the settings of its users.
rights_users() {
    [[ $ROLES_WITHOUT_MARIADB == *" $1 "* ]] || printf 'mysql_user = hongbao_%s\nmysql_password = %s\n' "$1" "$2"
    printf 'redis_user = hongbao_%s\nredis_password = %s\n' "$1" "$2"
}

# rights_keys FOLDER PROGRAM [OPTION...]: writes a file ROLE.keys for each role that gets keys, by `hongbao keys`; one
# that is the same stays.
rights_keys() {
    local folder=$1 role
    shift
    for role in "${ROLES_WITH_KEYS[@]}"; do
        (umask 077 && "$@" keys "$role" >"$folder/$role.keys.new") || return
        if cmp -s -- "$folder/$role.keys.new" "$folder/$role.keys"; then
            rm -- "$folder/$role.keys.new"
        else
            mv -- "$folder/$role.keys.new" "$folder/$role.keys"
        fi
    done
}

# rights_password FOLDER ROLE
rights_password() {
    sed -n '/^\(mysql\|redis\)_password = /{s///; s/[[:space:]]*$//; p; q}' "$1/$2.conf"
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

# rights_hosts PATTERN: passes statements of users.sql.in, grants.sql and grants-demo.sql on with users who log in from
# these hosts ('10.0.0.%'), instead of from the server's own machine.
rights_hosts() {
    sed "s/@'localhost'/@'$1'/g"
}

# The user default of a site's own Redis, as whom nobody can log in. It may do everything, because Redis from 7.2 on and
# Valkey load the append-only file with its rights, and leave out what functions have written when these forbid it.
# shellcheck disable=SC2034 # those that source this file use it
RIGHTS_DEFAULT_OFF='off ~* &* +@all'

# rights_acl FOLDER DEFAULT: prints the users of Redis. DEFAULT: the rights of the user default.
rights_acl() {
    local role
    local -a values=("DEFAULT=$2")
    for role in "${ROLES[@]}"; do
        values+=("${role^^}_SHA256=$(rights_sha256 "$1" "$role")")
    done
    template_print "$RIGHTS_SOURCE/users.acl.in" "${values[@]}" | sed '/^#/d; /^$/d'
}

# rights_acl_setup FOLDER: prints the user with which `hongbao setup` changes the users of the site's own Redis. It may
# make any user, so it may do everything: root alone has its password.
rights_acl_setup() {
    printf 'user hongbao_setup on #%s resetchannels -@all +acl|list +acl|setuser +acl|deluser\n' "$(rights_sha256 "$1" setup)"
}

# rights_sha256 FOLDER ROLE
rights_sha256() {
    local sum
    sum=$(rights_password "$1" "$2") || return
    sum=$(printf %s "$sum" | sha256sum)
    printf '%s\n' "${sum%% *}"
}

# rights_acl_change STEP SHOWN WANTED: prints the commands that change the users of Redis from SHOWN, the output of ACL
# LIST, to WANTED, an aclfile. STEP grow: they get what they lack and lose nothing, because processes of the version
# before still run; exact: they have no more than that. Each takes its new rights at once and keeps its connections: ACL
# LOAD would close them all (Redis 7.0). Only a user with another password is made anew, so whoever had the old one is
# out.
rights_acl_change() {
    awk -v step="$1" '
        function passwords(  i, all) {
            for (i = 3; i <= NF; i++) if ($i ~ /^#/) all = all $i
            return all
        }
        $1 != "user" { next }
        FNR == NR { shown[$2] = passwords(); next }
        {
            grows = step == "grow" && ($2 in shown) && shown[$2] == passwords()
            if ($2 != "default" && ($2 in shown) && shown[$2] != passwords()) print "ACL DELUSER " $2
            delete shown[$2]
            name = $2
            sub(/^user [^ ]+/, "")
            if (grows) { # the first -@all belongs to the user, the others to its selectors
                sub(/ resetchannels/, "")
                sub(/ -@all/, "")
            }
            print "ACL SETUSER " name (grows ? "" : " reset") $0
        }
        END { if (step == "exact") for (name in shown) if (name != "default") print "ACL DELUSER " name }
    ' <(printf '%s\n' "$2") <(printf '%s\n' "$3")
}
