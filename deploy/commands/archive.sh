# shellcheck shell=bash disable=SC2154
# The folder of a backup, as `hongbao backup` makes it and `hongbao restore` reads it. It has its name once it is
# complete: until then the name ends in .partial.
#   redis.rdb       Redis at one moment
#   tables.sql.gz   the tables in one snapshot, later than the copy of Redis, with the routines
#   manifest        name = value: format, program, schema, schema_needed, partitions, times, versions, older_keys,
#                   secret_id, letters
#   SHA256SUMS      of all of these, for sha256sum -c; written last
# Needs stores.sh.

ARCHIVE_FORMAT=1
# archive_settle gives up when for so long neither the unsettled grabs nor the violations of the audit became fewer, and
# copy_run of backup.sh when nothing has come from a store.
ARCHIVE_STALL_SECONDS=${ARCHIVE_STALL_SECONDS:-600}
ARCHIVE_PARTS=(manifest redis.rdb tables.sql.gz)

# archive_value FOLDER NAME: prints the value in the manifest.
archive_value() {
    sed -n "s/^$2 = //p" "$1/manifest"
}

# secret_id: tells whether two secrets are the same, and nothing else about them.
secret_id() {
    printf 'hongbao backup %s' "${SETTING[secret]}" | sha256sum | cut -c 1-16
}

# archive_check FOLDER: dies unless it is a backup that is complete and as it was made.
archive_check() {
    local problem
    [ -d "$1" ] || die "there is no folder $1"
    [ -f "$1/SHA256SUMS" ] || die "$1 is not a complete backup: it has no file SHA256SUMS"
    problem=$(cd -- "$1" && sha256sum --strict --quiet -c SHA256SUMS 2>&1) ||
        die "$1 is damaged, use another backup: $(head -n 3 <<<"$problem")"
    problem=$(cd -- "$1" && cut -d ' ' -f 3 SHA256SUMS | tr '\n' ' ')
    [ "$problem" = "${ARCHIVE_PARTS[*]} " ] || die "$1 is damaged, use another backup: SHA256SUMS names $problem"
    [ "$(archive_value "$1" format)" = "$ARCHIVE_FORMAT" ] ||
        die "$1 has the format $(archive_value "$1" format); this program knows $ARCHIVE_FORMAT"
}

# archive_fits FOLDER: dies unless this program, with these settings, can run a site from it. Additive migrations that it
# does not know are no hindrance (docs/how-to/migrations.md).
archive_fits() {
    local schema newest
    schema=$(archive_value "$1" schema_needed)
    [ -n "$schema" ] || schema=$(archive_value "$1" schema) # of a backup before there was schema_needed
    newest=$(find "${SETTING[sql_dir]}/migrations" -name '[0-9]*.sql' -printf '%f\n' | sort | tail -n 1)
    [ "$schema" -le "$((10#${newest%%_*}))" ] ||
        die "the backup needs schema $schema, this program knows $((10#${newest%%_*})): \
install $(archive_value "$1" program) or a later one"
    [ "$(archive_value "$1" partitions)" = "${SETTING[partitions]}" ] ||
        die "the backup has partitions = $(archive_value "$1" partitions), the configuration ${SETTING[partitions]}: \
change the configuration"
    [ "$(archive_value "$1" demo)" != on ] || [ "${SETTING[demo]}" = on ] ||
        die "the backup is of a site with play money, which the audit refuses while demo = off: \
set demo = on, with the package by hongbao setup --demo"
    [ "$(archive_value "$1" secret_id)" = "$(secret_id)" ] ||
        die "the configuration has another secret than the site of the backup, so no link would work: set that one"
}

# Puts the table schema_migration behind all others: until then that of tables_drop (restore.sh) says that the restore
# is not complete.
tables_reorder() {
    awk '
        /^-- Table structure for table `/ { is_held = /`schema_migration`/ }
        /^-- Dumping / && !/^-- Dumping data / { is_held = 0 }
        /^\/\*!40103 SET TIME_ZONE=@OLD_TIME_ZONE/ { printf "%s", held; held = ""; is_held = 0 }
        is_held { held = held $0 "\n"; next }
        { print }
        END { printf "%s", held }'
}

# archive_load_tables FOLDER: into the empty database.
archive_load_tables() {
    local problem
    problem=$({ gzip -dc -- "$1/tables.sql.gz" | tables_reorder | sql "$DATABASE"; } 2>&1) ||
        die "the tables can't be restored: $problem"
}

# Brings the tables of an earlier program up to date.
archive_migrate() {
    "${HERE[@]}" migrate >"$WORK/migrate.log" 2>&1 ||
        die "the tables can't be brought up to date: $(<"$WORK/migrate.log")"
}

# archive_settle FOLDER: lets a settle worker make both stores consistent, and waits until the audit is clean, as long
# as it comes nearer: fewer unsettled grabs, or fewer violations, than ever before. A site with dead letters keeps them,
# and its packets that wait for them.
archive_settle() {
    local letters worker grabs violations least_grabs='' least_violations='' changed_at=$SECONDS
    letters=$(archive_value "$1" letters)
    "${HERE[@]}" settle >"$WORK/settle.log" 2>&1 &
    worker=$!
    private_pids+=("$worker")
    until audit_done "$letters" "$worker"; do
        read -r grabs violations <<<"$(audit_left)"
        if [ "$grabs" -lt "${least_grabs:-$((grabs + 1))}" ]; then
            least_grabs=$grabs changed_at=$SECONDS
        fi
        if [ "$violations" -lt "${least_violations:-$((violations + 1))}" ]; then
            least_violations=$violations changed_at=$SECONDS
        fi
        [ $((SECONDS - changed_at)) -lt "$ARCHIVE_STALL_SECONDS" ] ||
            die "the audit is not clean, and has come no nearer for $ARCHIVE_STALL_SECONDS s:
$(grep -v ' ok ' -- "$WORK/audit.log")"
        sleep 0.2
    done
    kill -TERM "$worker" 2>/dev/null || die "the settle worker has ended: $(tail -n 5 -- "$WORK/settle.log")"
    wait "$worker" || true
    [ "$letters" -eq 0 ] || say "$PROGRAM: the backup has $letters dead letters (docs/how-to/dead-letters.md)"
}

# audit_left: prints the unsettled grabs and the violations of the last audit. Those of sessions do not count, as
# sessions end by themselves. An audit that was not completed has more than any other.
audit_left() {
    awk '
        / FAIL / && $1 != "sessions" { violations += $NF }
        / grabs not yet settled: / { print $3, violations + 0; complete = 1 }
        END { if (!complete) print 999999999999, 999999999999 }' "$WORK/audit.log"
}

# audit_done LETTERS WORKER: the audit is clean, but for dead letters when there are some; or the worker has ended.
audit_done() {
    kill -0 "$2" 2>/dev/null || return 0
    "${HERE[@]}" audit >"$WORK/audit.log" 2>&1 && return 0
    [ "$1" -gt 0 ] && grep -q ' ok ' -- "$WORK/audit.log" &&
        ! grep ' FAIL ' -- "$WORK/audit.log" | grep -qv '^\(letters\|I8\) '
}
