# shellcheck shell=bash disable=SC2154
# The folder of a backup, as `hongbao backup` makes it and `hongbao restore` reads it. It has its name once it is
# complete: until then the name ends in .partial.
#   redis.rdb       Redis at one moment
#   tables.sql.gz   the tables in one snapshot, later than the copy of Redis, with the routines
#   manifest        name = value: format, program, site (its id), schema, schema_needed, partitions, timezone, unit,
#                   unit_decimals, unit_symbol, unit_name_zh, unit_name_en, times, versions, older_keys, secret_id,
#                   letters, demo; audit: clean, violated, or unknown without a verification; violations
#   SHA256SUMS      of all of these, for sha256sum -c; written last
# Needs stores.sh.

ARCHIVE_FORMAT=1
# archive_settle gives up when for so long neither the unsettled grabs nor the violations of the audit became fewer, and
# copy_run of backup.sh when nothing has come from a store.
ARCHIVE_STALL_SECONDS=${ARCHIVE_STALL_SECONDS:-600}
ARCHIVE_PARTS=(manifest redis.rdb tables.sql.gz)
ARCHIVE_AUDIT=unknown # what archive_settle has found: clean or violated
VIOLATIONS=           # the lines of the audit about it

# archive_value FOLDER NAME: prints the value in the manifest.
archive_value() {
    sed -n "s/^$2 = //p" "$1/manifest"
}

# secret_id: shows whether two secrets are the same, and nothing else about them.
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
    archive_setting_fits "$1" partitions
    archive_setting_fits "$1" timezone
    archive_setting_fits "$1" unit CNY
    archive_setting_fits "$1" unit_decimals 2
    [ "$(archive_value "$1" secret_id)" = "$(secret_id)" ] ||
        die "the configuration has another secret than the site of the backup, so no link would work: set that one"
}

# archive_setting_fits FOLDER NAME [DEFAULT]: dies when the setting, which belongs to the data, is another one. A backup of
# a version before has no timezone, and as unit the DEFAULT.
archive_setting_fits() {
    local there
    there=$(archive_value "$1" "$2")
    there=${there:-${3:-}}
    [ -z "$there" ] || [ "$there" = "${SETTING[$2]}" ] ||
        die "the backup has $2 = $there, the configuration ${SETTING[$2]}: set $2 = $there in the configuration"
}

# archive_demo_fits FOLDER: dies when the backup has play money, which the audit refuses while demo = off.
archive_demo_fits() {
    [ "$(archive_value "$1" demo)" != on ] || [ "${SETTING[demo]}" = on ] ||
        die "the backup is of a site with play money, which the audit refuses while demo = off: \
set demo = on, with the package by hongbao setup --demo"
}

# Puts the table schema_migration behind all others: until then the one of tables_drop (restore.sh) says that the
# restore is not complete. The user who restores becomes the definer of the routines: on other servers the role migrate
# is a user of another host, and only an administrator may name somebody else. What a dump does to its client or its
# server is left out: `\-`, the sandbox mode of newer clients, is an error to others, in whose place is --binary-mode,
# which every client has; SET @@ of a MySQL with GTIDs needs an administrator; NOTE_VERBOSITY is unknown to some servers
# of 10.11.
# shellcheck disable=SC2016
TABLES_AWK='
        /^\/\*M?!999999\\- / { next }
        /^\/\*M!100616 SET .*NOTE_VERBOSITY=/ { next }
        /^SET @@/ { is_of_server = 1 }
        is_of_server { is_of_server = !/;[ \t]*$/; next }
        /^(CREATE|\/\*!50003 CREATE\*\/ \/\*!500[0-9][0-9]) DEFINER=`/ {
            sub(/DEFINER=`([^`]|``)*`@`([^`]|``)*`/, "DEFINER=CURRENT_USER")
        }
        /^-- Table structure for table `/ { is_held = /`schema_migration`/ }
        /^-- Dumping / && !/^-- Dumping data / { is_held = 0 }
        /^\/\*!40103 SET TIME_ZONE=@OLD_TIME_ZONE/ { printf "%s", held; held = ""; is_held = 0 }
        is_held { held = held $0 "\n"; next }
        { print }
        END { printf "%s", held }'

tables_reorder() {
    LC_ALL=C awk "$TABLES_AWK"
}

# archive_load_tables FOLDER: into the empty database. Each program ends when this command is killed: what it has left
# must not go on below the next one.
# shellcheck disable=SC2016
archive_load_tables() {
    "${WITH_PARENT[@]}" bash -o pipefail -c '
        die_with=(setpriv --pdeathsig=KILL)
        "${die_with[@]}" gzip -dc -- "$1/tables.sql.gz" | LC_ALL=C "${die_with[@]}" awk "$2" |
            "${die_with[@]}" "${@:3}"' bash "$1" "$TABLES_AWK" "$(sql_name mariadb)" --defaults-file=/dev/fd/7 \
        --binary-mode --default-character-set=utf8mb4 "$DATABASE" 7< <(printf '%s\n' "$SQL_OPTIONS") >"$WORK/load.log" 2>&1 ||
        die "the tables can't be restored: $(store_reason "$(<"$WORK/load.log")")"
}

# Brings the tables of an earlier program up to date.
archive_migrate() {
    "${HERE[@]}" migrate --restoring >"$WORK/migrate.log" 2>&1 ||
        die "the tables can't be brought up to date: $(<"$WORK/migrate.log")"
}

# site_mark PARTITION: prints the key of its mark (app/live/site.h).
site_mark() {
    printf 'hb:{p%02d}:site' "$1"
}

# Makes Redis one with the tables, whatever moment each of them is of.
archive_mark() {
    local mark i
    mark=$(sql "$DATABASE" -e "SELECT CONCAT(id, ' ', generation) FROM site") || die "the tables have no identity"
    for ((i = 0; i < SETTING[partitions]; i++)); do
        redis SET "$(site_mark "$i")" "$mark" >"$WORK/mark" 2>&1 || die "Redis can't be written: $(<"$WORK/mark")"
    done
}

# sites_of_redis: prints the ids of the sites whose marks Redis has, each in a line.
sites_of_redis() {
    local i mark
    for ((i = 0; i < SETTING[partitions]; i++)); do
        mark=$(redis GET "$(site_mark "$i")" 2>/dev/null) || continue
        [ -z "$mark" ] || printf '%s\n' "${mark%% *}"
    done | sort -u
}

# archive_settle FOLDER: lets a settle worker make both stores consistent until the audit is clean, and sets ARCHIVE_AUDIT
# to `clean`; to `violated` when a worker that has no work left has brought the audit no nearer, or none has for
# ARCHIVE_STALL_SECONDS: then VIOLATIONS is what the audit found. Nearer is: fewer unsettled grabs, or fewer violations,
# than ever before. A site with dead letters keeps them, and its packets that wait for them.
archive_settle() {
    local letters left before='' worker
    letters=$(archive_value "$1" letters)
    while [ "$ARCHIVE_AUDIT" = unknown ]; do
        "${HERE[@]}" settle --until-idle >>"$WORK/settle.log" 2>&1 &
        worker=$!
        private_pids+=("$worker")
        audit_await "$letters" "$worker"
        private_wait "$worker" || [ "$ARCHIVE_AUDIT" != unknown ] ||
            die "the settle worker has ended: $(tail -n 5 -- "$WORK/settle.log")"
        [ "$ARCHIVE_AUDIT" = unknown ] || break
        if audit_is_clean "$letters"; then
            ARCHIVE_AUDIT=clean
        else
            audit_is_complete || die "the audit can't be completed: $(tail -n 3 -- "$WORK/audit.log")"
            left=$(audit_left | tr ' ' +)
            [ -z "$before" ] || [ $((left)) -lt $((before)) ] || ARCHIVE_AUDIT=violated
            before=$left
        fi
    done
    VIOLATIONS=$(grep -v -e ' ok ' -e ' packets, ' -- "$WORK/audit.log") || true
    [ "$letters" -eq 0 ] || say "$PROGRAM: the backup has $letters dead letters (docs/how-to/dead-letters.md)"
}

# audit_await LETTERS WORKER: waits until the audit is clean or has come no nearer for too long, and sets ARCHIVE_AUDIT and
# stops the worker; or until the worker has ended.
audit_await() {
    local grabs violations least_grabs='' least_violations='' changed_at=$SECONDS
    while kill -0 "$2" 2>/dev/null; do
        if audit_is_clean "$1"; then
            ARCHIVE_AUDIT=clean
            break
        fi
        read -r grabs violations <<<"$(audit_left)"
        if [ "$grabs" -lt "${least_grabs:-$((grabs + 1))}" ]; then
            least_grabs=$grabs changed_at=$SECONDS
        fi
        if [ "$violations" -lt "${least_violations:-$((violations + 1))}" ]; then
            least_violations=$violations changed_at=$SECONDS
        fi
        if [ $((SECONDS - changed_at)) -ge "$ARCHIVE_STALL_SECONDS" ]; then
            audit_is_complete || die "for $ARCHIVE_STALL_SECONDS s no audit could be completed: \
$(tail -n 3 -- "$WORK/audit.log")"
            ARCHIVE_AUDIT=violated
            break
        fi
        sleep 0.2
    done
    kill -TERM "$2" 2>/dev/null || true
}

# audit_left: prints the unsettled grabs and the violations of the last audit. Violations of sessions do not count, as
# sessions end by themselves. An audit that was not completed has more than any other.
audit_left() {
    awk '
        / FAIL / && $1 != "sessions" { violations += $NF }
        / grabs not yet settled: / { print $3, violations + 0; complete = 1 }
        END { if (!complete) print 999999999999, 999999999999 }' "$WORK/audit.log"
}

audit_is_complete() {
    grep -q ' grabs not yet settled: ' -- "$WORK/audit.log"
}

# audit_is_clean LETTERS: runs the audit. True: clean, except dead letters and their packets when there are some.
audit_is_clean() {
    "${HERE[@]}" audit >"$WORK/audit.log" 2>&1 && return 0
    [ "$1" -gt 0 ] && grep -q ' ok ' -- "$WORK/audit.log" &&
        ! grep ' FAIL ' -- "$WORK/audit.log" | grep -qv '^\(letters\|I8\) '
}

# archive_record FOLDER: writes ARCHIVE_AUDIT into the manifest, and which checks are violated, each with its number.
archive_record() {
    local checks=''
    [ "$ARCHIVE_AUDIT" != violated ] ||
        checks=$(awk '/ FAIL / { printf "%s%s %s", comma, $1, $NF; comma = ", " }' <<<"$VIOLATIONS")
    {
        sed '/^audit = /d; /^violations = /d' "$1/manifest" &&
            printf 'audit = %s\n' "$ARCHIVE_AUDIT" &&
            { [ -z "$checks" ] || printf 'violations = %s\n' "$checks"; }
    } >"$WORK/manifest" && cat -- "$WORK/manifest" >"$1/manifest" && archive_sums_write "$1"
}

# archive_note FOLDER: notes the backup for the doctor and /metrics (app/audit/backup_record.h), as the last one of its
# kind, unless a later one is noted that is still there.
archive_note() {
    local kind at noted noted_at note=${SETTING[backup_record]}
    [ -n "$note" ] || return 0
    kind=$(archive_value "$1" audit)
    at=$(archive_value "$1" tables_at)
    noted=$(sed -n "s/^$kind = //p" "$note" 2>/dev/null) || true
    noted_at=$(sed -n "s/^${kind}_at = //p" "$note" 2>/dev/null) || true
    [[ ! $noted_at > $at ]] || [ ! -f "$noted/manifest" ] || return 0
    if ! {
        { [ ! -e "$note" ] || grep -v "^${kind}\(_at\)\? = " -- "$note" || true; } &&
            printf '%s = %s\n' "$kind" "$(readlink -f -- "$1")" "${kind}_at" "$at"
    } >"$WORK/note" || ! install -m 644 -- "$WORK/note" "$note.new" || ! mv -T -- "$note.new" "$note"; then
        say "$PROGRAM: the backup can't be noted in $note; the doctor will not know it"
    fi
}

# archive_sums_write FOLDER: the last file of a backup.
archive_sums_write() {
    (cd -- "$1" && sha256sum -- "${ARCHIVE_PARTS[@]}" >SHA256SUMS) && sync -- "$1"/* "$1"
}
