#!/usr/bin/env bash
# hongbao backup: copies both stores while the site runs (docs/how-to/backup.md).
#
#   hongbao backup DIR            makes the backup DIR, a new folder (archive.sh: its files)
#   hongbao backup --verify DIR   the same, and verifies it before it gets its name: restores it into private stores,
#                                 where the audit must be clean. Otherwise the copy is DIR.violated; or DIR.unverified
#                                 when the audit could not be made. A backup DIR that exists is only verified
#   hongbao backup --keep N DIR   makes a backup in the folder DIR, named after the time, and keeps the newest N there
#
# main, at the end, has the steps. Redis is copied first, the tables second: then the tables are never behind
# the copy of Redis, and the settle worker repairs the difference, as after a crash.
set -euo pipefail

FOLDER=$(dirname -- "$(readlink -f -- "$0")")
for part in ../common common stores archive; do
    # shellcheck source=/dev/null
    source "$FOLDER/$part.sh"
done

VERIFY='' KEEP='' # the options
TARGET=''         # DIR; with --keep the folder in DIR that the backup becomes
PARTIAL=''        # the backup while it is made
MADE=''           # PARTIAL has all its files
COPY_GROUP=''     # the process group of copy_run

usage() {
    echo "usage: hongbao backup [--verify] [--keep N] DIR" >&2
    exit 2
}

arguments_read() {
    while [ $# -gt 0 ]; do
        case $1 in
        --verify) VERIFY=yes ;;
        --keep)
            KEEP=${2-}
            [[ $KEEP =~ ^[1-9][0-9]{0,3}$ ]] || usage
            shift
            ;;
        -*) usage ;;
        *)
            [ -z "$TARGET" ] || usage
            TARGET=${1%/}
            ;;
        esac
        shift
    done
    [ -n "$TARGET" ] || usage
}

# ---- the new folder ----

# A path that is mistyped makes no folders: only the last one of it is made.
target_choose() {
    local parent
    parent=$(dirname -- "$TARGET")
    [ -d "$parent" ] || die "there is no folder $parent for the backup: correct the path, or mkdir -p $parent"
    if [ -n "$KEEP" ]; then
        [ -d "$TARGET" ] || (umask 077 && mkdir -- "$TARGET") || die "can't make $TARGET"
        TARGET=$TARGET/$(date -u +%Y-%m-%dT%H%M%SZ)
    fi
    [ ! -e "$TARGET" ] || die "$TARGET exists already; a backup is a new folder"
}

# Makes PARTIAL an empty folder, which nobody else uses; a killed backup may have left one.
partial_open() {
    PARTIAL=$TARGET.partial
    [ -d "$PARTIAL" ] || (umask 077 && mkdir -- "$PARTIAL") || die "can't make $PARTIAL"
    exec 8<"$PARTIAL"
    flock -n 8 || die "another backup into $TARGET is running"
    rm -f -- "$PARTIAL"/*
    trap partial_close EXIT
}

# Keeps a copy that is whole and was not found right, removes any other.
# shellcheck disable=SC2317 # the trap calls it
partial_close() {
    copy_kill
    private_stop
    if [ -n "$MADE" ]; then partial_keep; else rm -rf -- "$PARTIAL"; fi
    work_end
}

# shellcheck disable=SC2317
partial_keep() {
    local name=$TARGET.unverified kept number=1
    [ "$ARCHIVE_AUDIT" != violated ] || name=$TARGET.violated
    kept=$name
    while [ -e "$kept" ]; do
        number=$((number + 1))
        kept=$name.$number
    done
    archive_record "$PARTIAL" || say "$PROGRAM: the result can't be written into the manifest"
    mv -T -- "$PARTIAL" "$kept" || return 0
    say "$PROGRAM: the copy is kept, but is no good backup: $kept"
    archive_note "$kept"
    [ -z "$KEEP" ] || backups_rotate "$(dirname -- "$TARGET")"
}

# ---- its files ----

# copy_run FILE COMMAND…: runs the command, which writes the file. What it says is in WORK/copy.log. False when it fails,
# or when the file has not grown for ARCHIVE_STALL_SECONDS: a MariaDB whose disk is full waits for room, without a word.
copy_run() {
    local file=$1 size=-1 new changed_at=$SECONDS status=0
    shift
    set -m # a process group of its own, which copy_kill can end
    "$@" </dev/null >"$WORK/copy.log" 2>&1 &
    COPY_GROUP=$!
    set +m
    while kill -0 "$COPY_GROUP" 2>/dev/null; do
        new=$(stat -c %s -- "$file" 2>/dev/null) || new=0
        if [ "$new" -ne "$size" ]; then
            size=$new changed_at=$SECONDS
        elif [ $((SECONDS - changed_at)) -ge "$ARCHIVE_STALL_SECONDS" ]; then
            copy_kill
            echo "nothing has come for $ARCHIVE_STALL_SECONDS s; is the disk of the store full, or a table locked?" \
                >>"$WORK/copy.log"
            return 1
        fi
        sleep 0.2
    done
    wait "$COPY_GROUP" || status=$?
    COPY_GROUP=
    return "$status"
}

copy_kill() {
    [ -n "$COPY_GROUP" ] || return 0
    kill -KILL -- "-$COPY_GROUP" 2>/dev/null || true
    wait "$COPY_GROUP" 2>/dev/null || true
    COPY_GROUP=
}

redis_copy() {
    local problem
    copy_run "$PARTIAL/redis.rdb" redis_dump || die "Redis can't be copied; \
$(space_left "$PARTIAL"): $(store_reason "$(grep -v '^sending REPLCONF' "$WORK/copy.log")")"
    problem=$("$(redis_program check-rdb)" "$PARTIAL/redis.rdb" 2>&1) ||
        die "the copy of Redis is damaged; $(space_left "$PARTIAL"): $(tail -n 3 <<<"$problem")"
}

# shellcheck disable=SC2317 # copy_run calls it
redis_dump() {
    exec "${WITH_PARENT[@]}" "${REDIS[@]}" --rdb "$PARTIAL/redis.rdb"
}

tables_copy() {
    copy_run "$PARTIAL/tables.sql.gz" tables_dump ||
        die "the tables can't be copied; $(space_left "$PARTIAL"): $(store_reason "$(<"$WORK/copy.log")")"
}

# shellcheck disable=SC2016,SC2317 # copy_run calls it
tables_dump() {
    local name
    name=$(sql_name mariadb-dump)
    exec 7< <(printf '%s\n' "$SQL_OPTIONS")
    exec "${WITH_PARENT[@]}" bash -o pipefail -c '
        die_with=(setpriv --pdeathsig=KILL)
        "${die_with[@]}" "${@:2}" | "${die_with[@]}" gzip --fast >"$1"' bash "$PARTIAL/tables.sql.gz" \
        "$name" --defaults-file=/dev/fd/7 --single-transaction --quick --hex-blob --routines --no-tablespaces \
        --default-character-set=utf8mb4 "$DATABASE"
}

# Prints on when the tables have play money, whatever the setting says now: only demo = on makes deposits.
# shellcheck disable=SC2317 # manifest_write calls it
demo_of_tables() {
    local has
    has=$(sql "$DATABASE" -e "SELECT EXISTS (SELECT 1 FROM transfer WHERE debit_id = 1 AND kind = 'deposit')") || return
    if [ "$has" -eq 1 ]; then echo on; else printf '%s\n' "${SETTING[demo]}"; fi
}

# site_column NAME: prints the value of the table site; nothing when the tables, of a version before, have no such column.
# shellcheck disable=SC2317 # manifest_write calls it
site_column() {
    local has value
    has=$(sql "$DATABASE" -e "SELECT EXISTS (SELECT 1 FROM information_schema.columns
        WHERE table_schema = DATABASE() AND table_name = 'site' AND column_name = '$1')") || return
    [ "$has" -eq 1 ] || return 0
    value=$(sql "$DATABASE" -e "SELECT $1 FROM site") || return
    [ -n "$value" ] || die "the tables of $DATABASE have no $1 of the site: hongbao migrate"
    printf '%s\n' "$value"
}

# manifest_write REDIS_AT TABLES_AT
# shellcheck disable=SC2317 # copy_run calls it
manifest_write() {
    local schema needed letters demo timezone unit decimals site
    schema=$(sql "$DATABASE" -e 'SELECT MAX(version) FROM schema_migration HAVING MIN(version) > 0') || schema=
    [ -n "$schema" ] ||
        die "the tables of $DATABASE have no schema, as after a restore that was interrupted"
    needed=$(sql "$DATABASE" -e 'SELECT MAX(version) FROM schema_migration WHERE NOT additive') || return
    letters=$(sql "$DATABASE" -e 'SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL') || return
    demo=$(demo_of_tables) || return
    timezone=$(site_column timezone) || return
    unit=$(site_column unit) || return
    decimals=$(site_column unit_decimals) || return
    site=$(site_column id) || return
    printf '%s = %s\n' format "$ARCHIVE_FORMAT" \
        program "$("$HONGBAO" version)" \
        redis_at "$1" tables_at "$2" finished_at "$(time_now)" \
        schema "$schema" \
        schema_needed "$needed" \
        partitions "${SETTING[partitions]}" \
        timezone "$timezone" \
        unit "$unit" \
        unit_decimals "$decimals" \
        unit_symbol "${SETTING[unit_symbol]}" \
        unit_name_zh "${SETTING[unit_name_zh]}" \
        unit_name_en "${SETTING[unit_name_en]}" \
        site "$site" \
        demo "$demo" \
        older_keys "${SETTING[older_keys]}" \
        letters "$letters" \
        mariadb "$(sql -e 'SELECT VERSION()')" \
        redis "$(redis INFO server | sed -n 's/^redis_version:\([0-9.]*\).*/\1/p')" \
        secret_id "$(secret_id)" audit unknown >"$PARTIAL/manifest"
}

# ---- the steps ----

# Dies when Redis is of another site than the tables: no restore could use both.
stores_belong_together() {
    local id other
    id=$(sql "$DATABASE" -e 'SELECT id FROM site' 2>/dev/null) || return 0 # of a version before
    other=$(sites_of_redis | grep -vxF "$id" | head -n 1) || true
    [ -z "$other" ] || die "the tables are of the site $id, but Redis is of the site $other: see hongbao doctor"
}

# Makes the backup in PARTIAL.
backup_make() {
    local redis_at tables_at
    umask 077
    redis_at=$(time_now)
    redis_copy
    tables_at=$(time_now)
    tables_copy
    { copy_run "$PARTIAL/manifest" manifest_write "$redis_at" "$tables_at" &&
        archive_sums_write "$PARTIAL"; } ||
        die "the backup can't be written; $(space_left "$PARTIAL"): $(sed "s/^$PROGRAM: //" "$WORK/copy.log")"
    MADE=yes
}

# backup_verify FOLDER: restores it into private stores and runs the audit there. Dies unless that is clean.
backup_verify() {
    archive_check "$1"
    archive_fits "$1"
    stores_use_private
    private_redis "$1/redis.rdb"
    private_mariadb
    archive_load_tables "$1"
    archive_migrate
    archive_mark
    archive_settle "$1"
    private_stop
    [ "$ARCHIVE_AUDIT" = clean ] || die "the audit of ${1%.partial} is violated:
$VIOLATIONS"
    printf '%s: restored into private stores, the audit is clean\n' "$1"
}

# The backup TARGET, which existed, was found right: its manifest and its name say so.
verified_note() {
    local name=$TARGET
    [[ ! $TARGET =~ ^(.*)\.unverified(\.[0-9]+)?$ ]] || name=${BASH_REMATCH[1]}
    [ "$(archive_value "$TARGET" audit)" = clean ] || archive_record "$TARGET" ||
        die "$TARGET is right, but its manifest can't be written"
    if [ "$name" != "$TARGET" ] && [ ! -e "$name" ]; then
        mv -T -- "$TARGET" "$name" && TARGET=$name && printf 'it is now %s\n' "$name"
    fi
    archive_note "$TARGET"
}

# backups_rotate FOLDER: keeps the newest KEEP of the backups whose names are times, and as many of those with violations
# and of those that could not be verified: no copy takes the place of a better one.
backups_rotate() {
    local old kind
    for kind in '' .violated .unverified; do
        find "$1" -mindepth 1 -maxdepth 1 -type d -name '20??-??-??T??????Z'"$kind" | sort -r |
            tail -n "+$((KEEP + 1))" | while IFS= read -r old; do rm -rf -- "$old"; done
    done
    # What killed backups have left. A backup that runs holds a lock.
    for old in "$1"/20??-??-??T??????Z.partial; do
        [ ! -d "$old" ] || flock -n "$old" rm -rf -- "$old" || true
    done
}

main() {
    arguments_read "$@"
    settings_read
    trap work_end EXIT
    trap 'exit 130' INT TERM HUP
    work_start
    if [ -n "$VERIFY" ] && [ -z "$KEEP" ] && [ -e "$TARGET" ]; then
        archive_demo_fits "$TARGET"
        backup_verify "$TARGET"
        verified_note
        return
    fi
    target_choose
    partial_open
    stores_use_site
    stores_answer
    stores_belong_together
    backup_make
    if [ -n "$VERIFY" ]; then
        backup_verify "$PARTIAL"
        archive_record "$PARTIAL" || die "the backup can't be written; $(space_left "$PARTIAL")"
    fi
    mv -T -- "$PARTIAL" "$TARGET"
    trap work_end EXIT
    sync -- "$(dirname -- "$TARGET")"
    archive_note "$TARGET"
    [ -z "$KEEP" ] || backups_rotate "$(dirname -- "$TARGET")"
    printf '%s: complete, %s\n' "$TARGET" "$(du -sh -- "$TARGET" | cut -f 1)"
}

main "$@"
exit
