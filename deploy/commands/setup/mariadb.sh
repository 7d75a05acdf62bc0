# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# MariaDB: the server of Debian, or one that exists already (stores.sh); the tables, and a user for each role.

# mariadb_as USER PASSWORD ARGS…
mariadb_as() {
    mariadb --defaults-file=<(printf '[client]\nsocket="%s"\nuser="%s"\npassword="%s"\n' "$MYSQL_SOCKET" "$1" \
        "${2//\\/\\\\}") "${@:3}"
}

# As root, whom MariaDB knows by the socket, or as the administrator of admin.conf.
mariadb_admin() {
    local user
    user=$(admin_value mysql_user)
    mariadb_as "${user:-root}" "$(admin_value mysql_password)" "$@"
}

mariadb_answers() {
    mariadb_admin --connect-timeout=2 -e 'SELECT 1' >/dev/null 2>&1
}

mariadb_make() {
    if store_exists mariadb; then mariadb_use; else mariadb_make_own; fi
}

# Debian's server, with settings for the site.
mariadb_make_own() {
    if [ -d "${MARIADB_CNF%/*}" ]; then
        file_put "$MARIADB_CNF" 644 root:root <"$SHARE/mariadb/settings.cnf"
        [ -z "$changed" ] || systemctl restart mariadb
    fi
    systemctl -q is-active mariadb || systemctl start mariadb
    wait_until 60 mariadb_answers || die "MariaDB does not let root in by $MYSQL_SOCKET: journalctl -u mariadb"
    tables_make
}

# A server that others administer. Without an administrator, setup works as the role migrate.
mariadb_use() {
    store_reachable MariaDB "$MYSQL_SOCKET"
    if mariadb_answers; then
        tables_make
    elif ! mariadb_roles_log_in; then
        store_hand_over mariadb-users.sql "$(mariadb_command)" "$(rights_sql "$ETC/rights" "$DATABASE")"
    else
        hongbao migrate
        ! store_lacks mysql-login mysql-right-missing ||
            store_hand_over mariadb-rights.sql "$(mariadb_command) $DATABASE" "$(rights_grants)"
    fi
}

# Not in the database, on which they have no rights at first.
mariadb_roles_log_in() {
    local role
    for role in "${ROLES[@]}"; do
        [[ $ROLES_WITHOUT_MARIADB == *" $role "* ]] ||
            mariadb_as "hongbao_$role" "$(rights_password "$ETC/rights" "$role")" -e 'SELECT 1' >/dev/null 2>&1 || return 1
    done
}

mariadb_command() {
    printf 'mariadb --socket=%s --user=ADMINISTRATOR -p\n' "$MYSQL_SOCKET"
}

# Tables and rights. Rights are granted only when what the database has is not what it had after the last time: between
# REVOKE and GRANT a running pool would be refused. A routine that a migration made anew has lost its rights.
tables_make() {
    rights_are_as_before || rights_sql "$ETC/rights" "$DATABASE" | mariadb_admin
    hongbao migrate
    if ! rights_are_as_before; then
        rights_grants | mariadb_admin "$DATABASE"
        (umask 077 && rights_state >"$STATE/rights")
    fi
}

rights_are_as_before() {
    [ "$(rights_state)" = "$(cat -- "$STATE/rights" 2>/dev/null)" ]
}

# Prints the rights of the roles on the tables.
rights_grants() {
    cat -- "$SHARE/rights/grants.sql"
    [ "$(setting demo)" != on ] || cat -- "$SHARE/rights/grants-demo.sql"
}

# Prints what the files, the users' passwords and the database say about rights.
rights_state() {
    local role
    rights_sql "$ETC/rights" "$DATABASE"
    rights_grants
    for role in "${ROLES[@]}"; do
        [[ $ROLES_WITHOUT_MARIADB == *" $role "* ]] ||
            mariadb_admin -N -e "SHOW GRANTS FOR hongbao_$role@localhost" 2>&1 | sort
    done
}
