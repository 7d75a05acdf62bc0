#!/usr/bin/env bash
# hongbao backup [--verify] [--keep N] DIR: copies both stores while the site runs (docs/how-to/backup.md).
#
# Redis first, the tables second: then the tables are never behind the copy of Redis, and the settle worker repairs the
# difference, as after a crash.
set -euo pipefail

FOLDER=$(dirname -- "$(readlink -f -- "$0")")
for part in ../common common stores archive; do
    # shellcheck source=/dev/null
    source "$FOLDER/$part.sh"
done

VERIFY='' KEEP='' TARGET=''

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

usage() {
    echo "usage: hongbao backup [--verify] [--keep N] DIR" >&2
    exit 2
}

# partial_open: an empty folder PARTIAL, which nobody else uses; a killed backup may have left one.
partial_open() {
    PARTIAL=$TARGET.partial
    (umask 077 && mkdir -p -- "$PARTIAL") || die "can't make $PARTIAL"
    exec 8<"$PARTIAL"
    flock -n 8 || die "another backup into $TARGET is running"
    rm -f -- "$PARTIAL"/*
    trap 'rm -rf -- "$PARTIAL"; work_end' EXIT
}

redis_copy() {
    local problem
    problem=$(redis --rdb "$PARTIAL/redis.rdb" 2>&1) ||
        die "Redis can't be copied; $(space_left "$PARTIAL"): $(grep -v '^sending REPLCONF' <<<"$problem" | tail -n 3)"
    problem=$(redis-check-rdb "$PARTIAL/redis.rdb" 2>&1) ||
        die "the copy of Redis is damaged; $(space_left "$PARTIAL"): $(tail -n 3 <<<"$problem")"
}

tables_copy() {
    local problem
    problem=$({ sql_program mariadb-dump --single-transaction --quick --hex-blob --routines --no-tablespaces \
        --default-character-set=utf8mb4 "$DATABASE" | gzip --fast >"$PARTIAL/tables.sql.gz"; } 2>&1) ||
        die "the tables can't be copied; $(space_left "$PARTIAL"): $problem"
}

# manifest_write REDIS_AT TABLES_AT
manifest_write() {
    local schema needed letters
    schema=$(sql "$DATABASE" -e 'SELECT MAX(version) FROM schema_migration HAVING MIN(version) > 0') || schema=
    [ -n "$schema" ] ||
        die "the tables of $DATABASE have no schema, as after a restore that was interrupted"
    needed=$(sql "$DATABASE" -e 'SELECT MAX(version) FROM schema_migration WHERE NOT additive') || return
    letters=$(sql "$DATABASE" -e 'SELECT COUNT(*) FROM dead_letter WHERE resolved_ms IS NULL') || return
    printf '%s = %s\n' format "$ARCHIVE_FORMAT" \
        program "$("$HONGBAO" version)" \
        redis_at "$1" tables_at "$2" finished_at "$(time_now)" \
        schema "$schema" \
        schema_needed "$needed" \
        partitions "${SETTING[partitions]}" \
        letters "$letters" \
        mariadb "$(sql -e 'SELECT VERSION()')" \
        redis "$(redis INFO server | sed -n 's/^redis_version:\([0-9.]*\).*/\1/p')" \
        secret_id "$(secret_id)" >"$PARTIAL/manifest"
}

backup_make() {
    local redis_at tables_at
    umask 077
    redis_at=$(time_now)
    redis_copy
    tables_at=$(time_now)
    tables_copy
    { manifest_write "$redis_at" "$tables_at" &&
        (cd -- "$PARTIAL" && sha256sum -- "${ARCHIVE_PARTS[@]}" >SHA256SUMS) && sync -- "$PARTIAL"/* "$PARTIAL"; } ||
        die "the backup can't be written; $(space_left "$PARTIAL")"
}

# backup_verify FOLDER: restores it into private stores and runs the audit there.
backup_verify() {
    archive_check "$1"
    archive_fits "$1"
    stores_use_private
    private_redis "$1/redis.rdb"
    private_mariadb
    archive_load_tables "$1"
    archive_migrate
    archive_settle "$1"
    private_stop
    printf '%s: restored into private stores, the audit is clean\n' "$1"
}

# backups_rotate FOLDER: removes all but the newest KEEP of the backups whose names are times.
backups_rotate() {
    local old
    find "$1" -mindepth 1 -maxdepth 1 -type d -name '20??-??-??T??????Z' | sort -r | tail -n "+$((KEEP + 1))" |
        while IFS= read -r old; do rm -rf -- "$old"; done
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
    if [ -z "$KEEP" ] && [ -e "$TARGET" ]; then
        [ -n "$VERIFY" ] || die "$TARGET exists already; a backup is a new folder"
        backup_verify "$TARGET"
        return
    fi
    [ -z "$KEEP" ] || TARGET=$TARGET/$(date -u +%Y-%m-%dT%H%M%SZ)
    [ ! -e "$TARGET" ] || die "$TARGET exists already"
    partial_open
    stores_use_site
    backup_make
    [ -z "$VERIFY" ] || backup_verify "$PARTIAL"
    mv -T -- "$PARTIAL" "$TARGET"
    sync -- "$(dirname -- "$TARGET")"
    [ -z "$KEEP" ] || backups_rotate "$(dirname -- "$TARGET")"
    printf '%s: complete, %s\n' "$TARGET" "$(du -sh -- "$TARGET" | cut -f 1)"
}

main "$@"
exit
