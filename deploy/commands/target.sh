# shellcheck shell=bash disable=SC2154
# What the stores of the site must allow before a restore may change anything: each check dies with what mends it, and
# changes nothing. Needs archive.sh and stores.sh.

TARGET_MARIADB_MIN=10.6
TARGET_MYSQL_MIN=8.0
TARGET_REDIS_MIN=7.0
# The rights on the database that a restore needs.
TARGET_RIGHTS=(SELECT INSERT UPDATE DELETE CREATE DROP ALTER INDEX REFERENCES 'LOCK TABLES' 'CREATE ROUTINE'
    'ALTER ROUTINE' EXECUTE)
RIGHTS= # of this user on the database, a line each

# target_check FOLDER
target_check() {
    tables_target_check
    tables_dump_check "$1"
    program_check
    redis_target_check
}

# version_reaches VERSION LEAST
version_reaches() {
    [ "$(printf '%s\n%s\n' "$2" "${1%%-*}" | sort -V | head -n 1)" = "$2" ]
}

# variable NAME: prints the value of the server; nothing when it has no such variable.
variable() {
    sql -e "SHOW GLOBAL VARIABLES LIKE '$1'" | cut -f 2
}

# Prints the rights of this user, and of the roles of MariaDB that it has now, on the database or on all.
rights_list() {
    local mine="(grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''') OR EXISTS (SELECT 1
        FROM information_schema.enabled_roles WHERE grantee LIKE CONCAT('''', role_name, '''%')))"
    sql -e "SELECT privilege_type FROM information_schema.user_privileges WHERE $mine
        UNION SELECT privilege_type FROM information_schema.schema_privileges
        WHERE '$DATABASE' LIKE table_schema AND $mine"
}

# rights_have RIGHT…: one of these.
rights_have() {
    local right
    for right; do
        ! grep -qx -- "$right" <<<"$RIGHTS" || return 0
    done
    return 1
}

# The server: its version, whether it may be written, the rights of the user, and whether it lets the user create
# functions.
tables_target_check() {
    local version right lacks='' least=$TARGET_MYSQL_MIN
    version=$(sql -e 'SELECT VERSION()' 2>"$WORK/target.log") ||
        mysql_die "$(<"$WORK/target.log")"
    RIGHTS=$(rights_list 2>"$WORK/target.log") || mysql_die "$(<"$WORK/target.log")"
    [[ $version != *MariaDB* ]] || least=$TARGET_MARIADB_MIN
    version_reaches "$version" "$least" || die "the database server is $version; the tables need $least or later"
    [ "$(variable read_only)" = OFF ] || rights_have 'READ_ONLY ADMIN' 'READ ONLY ADMIN' SUPER ||
        die "the database server is read-only: is it a replica? SET GLOBAL read_only = 0 makes it writable"
    for right in "${TARGET_RIGHTS[@]}"; do
        rights_have "$right" || lacks+="${lacks:+, }$right"
    done
    [ -z "$lacks" ] || die "the user $(sql -e 'SELECT CURRENT_USER()') lacks rights on the database $DATABASE: $lacks. \
GRANT ALL PRIVILEGES ON \`$DATABASE\`.* gives them (deploy/rights/users.sql.in)"
    [ "$(variable log_bin)" != ON ] || [ "$(variable log_bin_trust_function_creators)" = ON ] || rights_have SUPER ||
        die "the database server has a binary log and lets only an administrator create functions, which the backup \
has: SET GLOBAL log_bin_trust_function_creators = 1, also in its configuration"
}

# Prints what the tables of a backup need of the server: the lines `bytes N` and `longest N`, of the longest statement, and
# a line for each character set and collation, and for each command that a client may not know.
# shellcheck disable=SC2016
DUMP_NEEDS_AWK='
    { bytes += length($0) + 1; if (length($0) > longest) longest = length($0) }
    /^INSERT / { next }
    /^\/\*M?![0-9]*[ \t]*\\/ && !/^\/\*M?!999999\\- / { print "command", $0 }
    {
        line = $0
        while (match(line, /(CHARSET=|COLLATE[ =]|CHARACTER SET |(character_set_client|collation_connection) += )[a-z0-9_]+/)) {
            name = substr(line, RSTART, RLENGTH)
            line = substr(line, RSTART + RLENGTH)
            kind = name ~ /^(CHAR|char)/ ? "charset" : "collation"
            sub(/.*[ =]/, "", name)
            if (!seen[kind, name]++) print kind, name
        }
    }
    END { printf "bytes %.0f\nlongest %.0f\n", bytes, longest }'

# tables_dump_check FOLDER: the server knows the character sets, takes statements as long as the longest one, and has room
# where that can be seen.
tables_dump_check() {
    local kind value known
    gzip -dc -- "$1/tables.sql.gz" | LC_ALL=C awk "$DUMP_NEEDS_AWK" >"$WORK/needs" || die "the tables can't be read"
    known=$(sql -e "SELECT CONCAT('charset ', character_set_name) FROM information_schema.character_sets
        UNION SELECT CONCAT('collation ', collation_name) FROM information_schema.collations")
    # Newer servers list these without the character set.
    known+=$'\n'$(sed -n 's/^collation uca1400_/collation utf8mb4_uca1400_/p' <<<"$known")
    while read -r kind value; do
        case $kind in
        bytes) tables_room_check "$value" ;;
        command) die "the backup has a command that this program does not know, of a newer mariadb-dump: $value" ;;
        longest)
            [ "$value" -le "$(variable max_allowed_packet)" ] || die "the longest statement of the backup has $value \
bytes, and the database server takes $(variable max_allowed_packet): SET GLOBAL max_allowed_packet = 1073741824"
            ;;
        *)
            grep -qx -- "$kind $value" <<<"$known" || die "the database server does not know the $kind $value \
of the backup: it needs the version of the backup, $(archive_value "$1" mariadb), or a later one"
            ;;
        esac
    done <"$WORK/needs"
}

# The settings of the server that the program relies on: a server without them is unreachable to it. What it says of the
# tables does not matter here.
program_check() {
    "${HERE[@]}" migrate --check >"$WORK/target.log" 2>&1 || ! grep -q 'mysql unreachable' "$WORK/target.log" ||
        die "the program can't use the database: $(<"$WORK/target.log")"
}

# tables_room_check BYTES: on the disk of a server of this machine. The tables that --replace drops make room.
tables_room_check() {
    local folder free_kib dropped_kib
    folder=$(variable datadir)
    [[ $SQL_OPTIONS == *socket=* ]] && [ -d "$folder" ] || return 0
    free_kib=$(df -Pk -- "$folder" | awk 'NR == 2 { print $4 }')
    dropped_kib=$(sql -e "SELECT COALESCE(SUM(data_length + index_length) DIV 1024, 0) FROM information_schema.tables
        WHERE table_schema = '$DATABASE'")
    [ $((free_kib + dropped_kib)) -ge $(($1 / 1024)) ] ||
        die "the tables of the backup have $(($1 >> 20)) MB; $(space_left "$folder"): make room"
}

# Redis: its version, whether it may be written, and whether the role may empty it: FLUSHALL with a wrong word is refused
# for the missing right, or else for the word.
redis_target_check() {
    local info version said
    info=$(redis INFO 2>&1 | tr -d '\r') || redis_die "$info"
    version=$(sed -n 's/^redis_version://p' <<<"$info")
    version_reaches "$version" "$TARGET_REDIS_MIN" || die "Redis is $version; the site needs $TARGET_REDIS_MIN or later"
    grep -qx role:master <<<"$info" || die "Redis is a replica: name the primary in the configuration"
    said=$(redis FLUSHALL nothing 2>&1) || true
    [[ $said == *syntax* ]] || die "Redis does not let the role migrate empty it: $said"
}
