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

# mariadb_do ARGS…: executes the statements of stdin as mariadb_admin; dies when one fails.
mariadb_do() {
    local said
    said=$(mariadb_admin "$@" 2>&1) || die "$(store_text MariaDB "unix:$MYSQL_SOCKET" "$said")"
}

mariadb_answers() {
    mariadb_admin --connect-timeout=2 -e 'SELECT 1' >/dev/null 2>&1
}

# What hongbao doctor says of rights that the roles lack.
MARIADB_LACKS=(mysql-login mysql-right-missing)

mariadb_make() {
    if store_exists mariadb; then mariadb_use; else mariadb_make_own; fi
}

# Debian's server, with settings for the site.
mariadb_make_own() {
    if [ -d "${MARIADB_CNF%/*}" ]; then
        file_put "$MARIADB_CNF" 644 root:root <"$SHARE/mariadb/settings.cnf"
        [ -z "$changed" ] || systemctl restart mariadb || unit_die mariadb
    fi
    systemctl -q is-active mariadb || systemctl start mariadb || unit_die mariadb
    wait_until 60 mariadb_answers || die "MariaDB does not let root in by $MYSQL_SOCKET: journalctl -u mariadb"
    tables_make
}

# A server that others administer. Without an administrator, setup works as the role migrate.
mariadb_use() {
    store_reachable MariaDB "$MYSQL_SOCKET"
    if mariadb_answers; then
        tables_make
    elif ! mariadb_roles_log_in; then
        store_hand_over NEEDED mariadb-users.sql "$(mariadb_command)" "$(rights_sql "$ETC/rights" "$DATABASE")"
    else
        tables_migrate
        if store_has "${MARIADB_LACKS[@]}"; then
            store_hand_over NEEDED mariadb-rights.sql "$(mariadb_command) $DATABASE" "$(rights_change rights_shown_own)"
        elif store_has mysql-right-excess; then
            store_hand_over EXCESS mariadb-rights.sql "$(mariadb_command) $DATABASE" "$(rights_change rights_shown_own)"
        fi
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

# Tables and rights. Rights are changed only when what the database has is not what it had after the last time. A routine
# that a migration made anew has lost its rights.
tables_make() {
    [ -n "$RESTORE" ] || site_is_whole
    rights_are_as_before || rights_sql "$ETC/rights" "$DATABASE" | mariadb_do
    tables_migrate
    if ! rights_are_as_before; then
        rights_change rights_shown_admin | mariadb_do "$DATABASE"
        (umask 077 && rights_state >"$STATE/rights")
    fi
}

# A restore that follows makes the stores belong together.
tables_migrate() {
    hongbao migrate ${RESTORE:+--restoring} || die "the tables are as they were"
}

# Dies when the tables of a site are gone that Redis still has: empty ones would make its users strangers.
site_is_whole() {
    local tables
    tables=$(mariadb_admin -N -e "SELECT COUNT(*) FROM information_schema.tables
        WHERE table_schema = '$DATABASE' AND table_name = 'user'" 2>&1) ||
        die "$(store_text MariaDB "unix:$MYSQL_SOCKET" "$tables")"
    [ "$tables" = 0 ] && [ -z "$HANDED_NEEDED" ] || return 0
    redis_audit --scan --pattern 'hb:{p??}:*' | LC_ALL=C awk '/}:(site|events|settled)$/ { n = 1 } END { exit !n }' ||
        return 0
    die "MariaDB has no tables of this site, but Redis has its data: MariaDB has lost its data. Bring a backup back:
    systemctl stop hongbao.target
    hongbao setup --restore BACKUP --replace
Other ways: /usr/share/doc/hongbao/docs/how-to/lost.md"
}
