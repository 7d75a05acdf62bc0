#!/usr/bin/env bash
# hongbao restore: brings a backup back into both stores of the site, while none of its processes runs
# (docs/how-to/backup.md).
#
#   hongbao restore DIR                   into empty stores
#   hongbao restore --replace DIR         deletes first what the stores have, if it is of the same site
#   hongbao restore --replace --site ID DIR   deletes the site ID, although the backup is of another one
#   hongbao restore --without-redis DIR   restores the tables alone; packets are rebuilt from them. With --replace, too
#   hongbao restore --violated DIR        takes a backup whose audit is violated, as evidence
#
# main, at the end, has the steps: check everything before anything is changed, restore, then let a settle worker
# make the stores consistent, until the audit is clean.
set -euo pipefail

FOLDER=$(dirname -- "$(readlink -f -- "$0")")
for part in ../common common stores archive target; do
    # shellcheck source=/dev/null
    source "$FOLDER/$part.sh"
done

REPLACE='' WITH_REDIS=yes VIOLATED='' # the options
BACKUP=''     # DIR
OTHER_SITE='' # ID
COMMANDS=''   # a file with the commands that fill Redis
FENCES=()     # the keys of all fences
PROBES=()     # the keys that readiness and waiting for replicas write, and the marks of the site: no data

usage() {
    echo "usage: hongbao restore [--replace [--site ID]] [--without-redis] [--violated] DIR" >&2
    exit 2
}

arguments_read() {
    while [ $# -gt 0 ]; do
        case $1 in
        --replace) REPLACE=yes ;;
        --without-redis) WITH_REDIS= ;;
        --violated) VIOLATED=yes ;;
        --site)
            OTHER_SITE=${2-}
            [[ $OTHER_SITE =~ ^[0-9a-f]{32}$ ]] || usage
            shift
            ;;
        -*) usage ;;
        *)
            [ -z "$BACKUP" ] || usage
            BACKUP=${1%/}
            ;;
        esac
        shift
    done
    [ -n "$BACKUP" ] || usage
}

# Version 1.0 has one fence, hb:fence. PROBES: of app/site/write_probe.c and app/redis/wait.c.
fences_name() {
    local i count=${SETTING[partitions]}
    FENCES=(hb:fence)
    PROBES=('hb:{limit}:unused' 'hb:wait:{0}')
    for ((i = 0; i < count; i++)); do
        FENCES+=("$(printf 'hb:{p%02d}:fence' "$i")")
        PROBES+=("$(printf 'hb:{p%02d}:probe' "$i")" "$(site_mark "$i")")
    done
}

# ---- checks: each one dies when the restore may not begin; target.sh has the checks of the stores ----

# Every process of the site that has worked is connected with Redis.
site_is_stopped() {
    local clients users
    clients=$(redis CLIENT LIST 2>&1) || redis_die "$clients"
    users=$(grep -v ' cmd=client|list ' <<<"$clients" | sed -n 's/.* user=\([^ ]*\).*/\1/p' | sort -u |
        grep -xE "hongbao_(hot|page|auth|sso|card|money|settle)|${SETTING[redis_user]:-default}" | tr '\n' ' ') || true
    [ -z "$users" ] ||
        die "the site runs: stop all pools and the settle worker first, with the package by systemctl stop hongbao.target (connected with Redis: ${users% })"
}

stores_are_empty() {
    local rows keys
    rows=$(sql -e "SELECT COUNT(*) FROM information_schema.tables
        WHERE table_schema = '$DATABASE' AND table_name = 'user'" 2>&1) || mysql_die "$rows"
    [ "$rows" -eq 0 ] || rows=$(sql "$DATABASE" -e 'SELECT (SELECT COUNT(*) FROM user) + (SELECT COUNT(*) FROM packet)')
    keys=$(($(redis DBSIZE) - $(redis EXISTS "${FENCES[@]}" "${PROBES[@]}")))
    [ "$rows" -eq 0 ] || die "the database has users or packets; --replace deletes them"
    [ "$keys" -eq 0 ] || die "Redis has $keys keys; --replace deletes them"
}

# Prints the ids of the sites that the stores have. A new one, which has no users yet, is none.
sites_here() {
    local tables new=none
    tables=$(sql -e "SELECT COUNT(*) FROM information_schema.tables
        WHERE table_schema = '$DATABASE' AND table_name IN ('site', 'user')" 2>&1) || mysql_die "$tables"
    if [ "$tables" -eq 2 ]; then
        sql "$DATABASE" -e 'SELECT id FROM site WHERE EXISTS (SELECT 1 FROM user)'
        new=$(sql "$DATABASE" -e 'SELECT id FROM site WHERE NOT EXISTS (SELECT 1 FROM user)')
    fi
    sites_of_redis | grep -vxF "${new:-none}" || true
}

# Dies when a restore would delete a site that is not the backup's own. A backup of a version before has no identity.
site_fits() {
    local wanted here
    wanted=$(archive_value "$BACKUP" site)
    [ -n "$wanted" ] || return 0
    here=$(sites_here) || exit
    here=$(grep -vxF -e "$wanted" -e "${OTHER_SITE:-$wanted}" <<<"$here" | grep -m 1 .) || true
    [ -z "$here" ] || die "the stores have the site $here, the backup is of the site $wanted: do the settings redis and \
mysql name the right stores? To delete that site: --replace --site $here"
}

# FLUSHALL empties every database; the site uses the first.
redis_is_alone() {
    local keyspace others
    keyspace=$(redis INFO keyspace 2>&1) || redis_die "$keyspace"
    others=$(sed -n 's/^\(db[1-9][0-9]*\):.*/\1/p' <<<"$keyspace" | tr '\n' ' ')
    [ -z "$others" ] || die "Redis has keys of others (${others% }), which a restore would delete"
}

# ---- the steps ----

# Redis can't read an RDB file while it runs. So a private Redis turns the copy into commands. Sets COMMANDS.
redis_commands() {
    private_redis "$BACKUP/redis.rdb"
    # The copy may be of the process that runs: its fences would be open before the tables are compared.
    private_redis_cli DEL "${FENCES[@]}" >"$WORK/fence"
    # Only the settle worker loads functions, and they may be of an earlier program.
    private_redis_cli FUNCTION FLUSH >"$WORK/functions"
    private_redis_cli CONFIG SET appendonly yes >"$WORK/rewrite"
    wait_until 3600 redis_rewritten || die "the copy of Redis can't be read; $(space_left "$WORK")"
    COMMANDS=$(find "$WORK/redis/appendonlydir" -name '*.base.aof')
    private_stop
}

# shellcheck disable=SC2317
redis_rewritten() {
    local info
    info=$(private_redis_cli INFO persistence)
    ! grep -q '^aof_rewrite_\(in_progress\|scheduled\):1' <<<"$info" &&
        grep -q '^aof_last_bgrewrite_status:ok' <<<"$info" &&
        [ -n "$(find "$WORK/redis/appendonlydir" -name '*.base.aof' 2>/dev/null)" ]
}

redis_restore() {
    redis FLUSHALL >"$WORK/flushed" 2>&1 || die "Redis can't be emptied: $(<"$WORK/flushed")"
    [ -z "$WITH_REDIS" ] || "${WITH_PARENT[@]}" "${REDIS[@]}" --pipe <"$COMMANDS" >"$WORK/pipe.log" 2>&1 ||
        die "Redis can't be restored: $(tail -n 3 -- "$WORK/pipe.log")"
}

# A fence stays shut while no settle worker opens it, and none does before all tables are there.
fences_shut() {
    local fence
    for fence in "${FENCES[@]}"; do
        redis SET "$fence" 'a restore' >"$WORK/fence" 2>&1 || die "Redis can't be written: $(<"$WORK/fence")"
    done
}

# Version 0 in schema_migration says that a restore is not complete: no process works with such tables, and migrate
# makes none. The last tables of the backup replace it. The delimiter sends all statements at once, so nobody sees a
# database without it when this command is killed.
tables_drop() {
    sql --delimiter=// -e "CREATE DATABASE IF NOT EXISTS \`$DATABASE\`;
        DROP TABLE IF EXISTS \`$DATABASE\`.schema_migration;
        DROP DATABASE \`$DATABASE\`;
        CREATE DATABASE \`$DATABASE\` CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
        CREATE TABLE \`$DATABASE\`.schema_migration (version INT UNSIGNED NOT NULL PRIMARY KEY)
            SELECT 0 AS version, 'restore' AS name, UNHEX(REPEAT('00', 32)) AS sha256, 0 AS applied_at,
            FALSE AS additive"
}

# Numbers of orders, withdrawals and transfers that were made after the backup are known outside: to the page of a
# channel, in a file of the bank, to the program of a service, on a receipt. None of them may come again for another
# user, also after a second restore, so new ones begin at the time of now: in seconds, and of transfers, which can be
# thousands a second, in hundredths of a millisecond: 15 digits, which spreadsheets and JavaScript keep.
numbers_skip() {
    local table
    for table in topup withdrawal; do
        sql -e "ALTER TABLE \`$DATABASE\`.$table AUTO_INCREMENT = $(date +%s)"
    done
    sql -e "ALTER TABLE \`$DATABASE\`.transfer AUTO_INCREMENT = $(date +%s%5N)"
}

tables_restore() {
    archive_load_tables "$BACKUP"
    archive_migrate
    numbers_skip
}

# Dies when the backup may need the key of earlier versions, and older_keys is off.
older_keys_fit() {
    [ "$(archive_value "$BACKUP" older_keys)" = off ] || [ "${SETTING[older_keys]}" = on ] ||
        die "the backup may have phrases, links and codes of an earlier version, which need its key: \
set older_keys = on in the configuration"
}

# Dies when the backup was found to have violations, which a restore brings back.
audit_fits() {
    [ "$(archive_value "$BACKUP" audit)" != violated ] || [ -n "$VIOLATED" ] ||
        die "the audit of the backup itself was violated ($(archive_value "$BACKUP" violations)): use another backup. \
As evidence hongbao restore --violated takes it all the same"
}

# The message of a restore that has begun and does not end well.
# shellcheck disable=SC2317 # the trap calls it
restore_failed() {
    if [ "$ARCHIVE_AUDIT" = violated ]; then
        say "$PROGRAM: all of the backup is restored, but the audit is violated, so the backup has these violations: \
do not start the site; use another backup, or repeat it with --replace --violated"
    else
        say "$PROGRAM: the restore is not complete: do not start the site; repeat it with --replace"
    fi
    work_end
}

# Makes the keys of the pools from the secret of now: setup may have made them from a new secret, before the operator put
# the site's own secret back. It writes into the files, which so keep their owners.
role_keys_renew() {
    local file role
    for file in "${SETTING[rights_dir]}"/*.keys; do
        [ -f "$file" ] || continue
        role=${file##*/}
        "$HONGBAO" keys "${role%.keys}" >"$WORK/keys" || die "$file can't be made again"
        cmp -s -- "$WORK/keys" "$file" || cat -- "$WORK/keys" >"$file"
    done
}

main() {
    arguments_read "$@"
    settings_read
    fences_name
    trap work_end EXIT
    trap 'exit 130' INT TERM HUP
    work_start
    umask 077
    stores_use_site
    archive_check "$BACKUP"
    archive_fits "$BACKUP"
    archive_demo_fits "$BACKUP"
    audit_fits
    older_keys_fit
    stores_answer
    site_is_stopped
    redis_is_alone
    [ -n "$REPLACE" ] || stores_are_empty
    site_fits
    target_check "$BACKUP"
    [ -z "$WITH_REDIS" ] || redis_commands
    role_keys_renew
    trap restore_failed EXIT
    fences_shut
    tables_drop # first: without tables the site is not ready, however this ends
    redis_restore
    tables_restore
    archive_mark
    archive_settle "$BACKUP"
    [ "$ARCHIVE_AUDIT" = clean ] || say "$PROGRAM: the audit is violated:
$VIOLATIONS"
    [ "$ARCHIVE_AUDIT" = clean ] || [ -n "$VIOLATED" ] || exit 1
    trap work_end EXIT
    [ "$(archive_value "$BACKUP" audit)" = unknown ] || archive_note "$BACKUP"
    printf '%s of %s: restored, the audit is %s\n' "$BACKUP" "$(archive_value "$BACKUP" tables_at)" "$ARCHIVE_AUDIT"
}

main "$@"
exit
