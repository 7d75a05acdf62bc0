# shellcheck shell=bash disable=SC2034,SC2153,SC2154
# The rights of the roles in MariaDB: what they are, what they should be, and what makes the difference.

rights_are_as_before() {
    [ "$(rights_state)" = "$(cat -- "$STATE/rights" 2>/dev/null)" ]
}

# Prints the rights of the roles on the tables, without the line of grants.sql that first takes all rights away.
rights_grants() {
    sed '/^REVOKE /d' "$SHARE/rights/grants.sql"
    [ "$(setting demo)" != on ] || cat -- "$SHARE/rights/grants-demo.sql"
}

# rights_change SHOWN: prints what gives the roles their rights and takes away what they have besides. Rights are granted
# first, so a pool that runs is refused nothing, and a setup that is killed leaves no role without rights. A REVOKE on a
# table takes the rights on its columns, too, so the grants are repeated behind it. SHOWN: rights_shown_admin or
# rights_shown_own.
rights_change() {
    local excess
    excess=$(rights_excess "$1") || die "can't read the rights of the roles in MariaDB"
    rights_grants
    [ -z "$excess" ] || printf '%s\n%s\n' "$excess" "$(rights_grants)"
}

# Prints what the role has, as MariaDB shows it to an administrator, or to the role.
rights_shown_admin() {
    mariadb_admin -N -r -e "SHOW GRANTS FOR hongbao_$1@localhost"
}

rights_shown_own() {
    mariadb_as "hongbao_$1" "$(rights_password "$ETC/rights" "$1")" -N -r -e 'SHOW GRANTS'
}

# rights_excess SHOWN: prints a REVOKE for each right that a role has and does not need.
rights_excess() {
    local role shown=
    for role in "${ROLES[@]}"; do
        [[ $ROLES_WITHOUT_MARIADB == *" $role "* ]] || shown+=$("$1" "$role")$'\n' || return
    done
    {
        rights_sql "$ETC/rights" "$DATABASE"
        rights_grants
        printf 'SHOWN\n%s' "$shown"
    } | awk -v database="$DATABASE" "$RIGHTS_EXCESS_AWK"
}

# Reads GRANT statements: from the files, the line SHOWN, then from SHOW GRANTS. A right is known by its user, its
# object with the database, and its name: one for each column. Prints the rights that only SHOW GRANTS has: those on
# columns first, because a REVOKE on their table would leave nothing to revoke there, which is an error.
# shellcheck disable=SC2016
RIGHTS_EXCESS_AWK='
    # "user" and "`hongbao`.`user`" are hongbao.user; a routine has PROCEDURE or FUNCTION before it.
    function object_name(text) {
        gsub(/`/, "", text)
        kind = match(text, /^(PROCEDURE|FUNCTION) /) ? substr(text, 1, RLENGTH) : ""
        text = substr(text, 1 + length(kind))
        return kind (index(text, ".") ? text : database "." text)
    }
    function user_name(text) {
        gsub(/[`\047;]/, "", text)
        sub(/@.*/, "", text)
        return text
    }
    function right(user, object, name, statement) {
        if (!shown) needed[user, object, name] = 1
        else if ((user, object, name) in needed) return
        else if (name ~ /\(/) print "REVOKE " statement ";"
        else whole = whole "REVOKE " statement ";\n"
    }
    # One name of the list, such as SELECT or UPDATE (a, b).
    function right_read(name, on, from, columns, count, i, column) {
        if (name == "USAGE") return
        if (!match(name, / *\(/)) {
            right(user_name(from), object_name(on), name, name " ON " on " FROM " from)
            return
        }
        columns = substr(name, RSTART + RLENGTH)
        sub(/\).*/, "", columns)
        name = substr(name, 1, RSTART - 1)
        count = split(columns, column, /, */)
        for (i = 1; i <= count; i++) {
            columns = column[i]
            gsub(/`/, "", columns)
            right(user_name(from), object_name(on), name "(" columns ")", name " (`" columns "`) ON " on " FROM " from)
        }
    }
    $0 == "SHOWN" { shown = 1 }
    !/^GRANT / { next }
    {
        line = substr($0, 7)
        begin = index(line, " ON ")
        to = index(line, " TO ")
        from = substr(line, to + 4)
        sub(/[ ;].*/, "", from)
        if (!begin || begin > to) { # a role of MariaDB
            right(user_name(from), "", substr(line, 1, to - 1), substr(line, 1, to - 1) " FROM " from)
            next
        }
        on = substr(line, begin + 4, to - begin - 4)
        list = substr(line, 1, begin - 1)
        while (match(list, /^[^,(]*(\([^)]*\))?/)) {
            name = substr(list, 1, RLENGTH)
            list = substr(list, RLENGTH + 1)
            right_read(name, on, from)
            if (!sub(/^, */, "", list)) break
        }
        if (/ WITH GRANT OPTION/) right_read("GRANT OPTION", on, from)
    }
    END { printf "%s", whole }'

# Prints what the files, the users' passwords and the database say about rights.
rights_state() {
    local role
    rights_sql "$ETC/rights" "$DATABASE"
    rights_grants
    for role in "${ROLES[@]}"; do
        [[ $ROLES_WITHOUT_MARIADB == *" $role "* ]] ||
            mariadb_admin -N -e "SHOW GRANTS FOR hongbao_$role@localhost" 2>&1 | columns_sort | sort
    done
}

# Sorts the columns in each pair of parentheses: MariaDB lists them in another order after a restart.
columns_sort() {
    local line sorted
    while IFS= read -r line; do
        sorted=
        while [[ $line =~ ^([^\(]*\()([^\)]*)\)(.*)$ ]]; do
            sorted+=${BASH_REMATCH[1]} line=")${BASH_REMATCH[3]}"
            sorted+=$(tr -d ' ' <<<"${BASH_REMATCH[2]}" | tr ',' '\n' | sort | paste -sd ,)
        done
        printf '%s\n' "$sorted$line"
    done
}
