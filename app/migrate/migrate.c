#include "migrate/migrate.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/crash.h"
#include "base/random.h"

enum { ARENA_BYTES = 64 << 10, ARENA_BYTES_MAX = 64 << 20, ZONE_YEAR_FIRST = 1970, ZONE_YEAR_LAST = 2100 };

struct migrate {
    struct db *db;
    FILE *out;
    struct arena *arena;
    struct migration *list;
    size_t count;   /* of the list: what this program knows */
    size_t applied; /* of these, how many the database has recorded: the first ones */
    size_t newer;   /* versions recorded after them, which this program does not know */
};

static void say(const struct migrate *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct migrate *m, const char *format, ...)
{
    if (m->out == NULL)
        return;
    va_list args;
    va_start(args, format);
    (void)vfprintf(m->out, format, args);
    va_end(args);
    (void)fputc('\n', m->out);
}

/* ---- statements ---- */

/* The length of the comment or quoted text at the beginning of s; 0: there is neither. */
static size_t span_skip(struct str s, bool *comment)
{
    char c = s.ptr[0];
    *comment = true;
    if (c == '#' || (str_starts(s, STR("--")) && (s.len == 2 || (unsigned char)s.ptr[2] <= ' ')))
        return str_index(s, '\n');
    if (str_starts(s, STR("/*"))) {
        struct str behind = str_after(str_skip(s, 2), STR("*/"));
        return behind.ptr == NULL ? s.len : s.len - behind.len;
    }
    *comment = false;
    if (c != '\'' && c != '"' && c != '`')
        return 0;
    size_t i = 1;
    while (i < s.len && s.ptr[i] != c)
        /* in a doubled quote, a quoted text ends and the next one begins: the end is the same */
        i += s.ptr[i] == '\\' && c != '`' ? 2 : 1;
    return i < s.len ? i + 1 : s.len;
}

/* The word at the beginning of s: letters, digits and underscores. */
static struct str word_at(struct str s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    size_t len = 0;
    while (len < s.len && s.ptr[len] != '\0' && strchr(letters, s.ptr[len]) != NULL)
        len++;
    return str_slice(s, 0, len);
}

/* How the word at the beginning of s changes the depth of BEGIN … END blocks. END IF and the like end no block. */
static int block_step(struct str s, struct str word)
{
    static const char *const inner[] = { "IF", "LOOP", "WHILE", "REPEAT", "CASE" };
    if (str_equal_fold(word, STR("BEGIN")))
        return 1;
    if (!str_equal_fold(word, STR("END")))
        return 0;
    struct str next = word_at(str_trim(str_skip(s, word.len)));
    for (size_t i = 0; i < ARRAY_LEN(inner); i++)
        if (str_equal_fold(next, str_from(inner[i])))
            return 0;
    return -1;
}

/* A semicolon ends a statement, except within the BEGIN … END of a routine. */
struct str migrate_statement_next(struct str *rest)
{
    struct str s = *rest;
    size_t start = 0, i = 0;
    bool begun = false, creates = false;
    int depth = 0;
    while (i < s.len && !(begun && depth <= 0 && s.ptr[i] == ';')) {
        bool comment;
        struct str here = str_skip(s, i);
        size_t skip = span_skip(here, &comment);
        struct str word = skip > 0 ? STR("") : word_at(here);
        bool blank = comment ? skip > 0 : (unsigned char)s.ptr[i] <= ' ' || s.ptr[i] == ';';
        if (!begun && !blank) {
            begun = true;
            start = i;
            creates = str_equal_fold(word, STR("CREATE"));
        }
        depth += creates ? block_step(here, word) : 0;
        i += skip > 0 ? skip : word.len > 0 ? word.len : 1;
    }
    size_t end = i < s.len ? i : s.len;
    *rest = str_skip(s, i < s.len ? i + 1 : s.len);
    return begun ? str_trim(str_slice(s, start, end)) : STR("");
}

/* ---- the database ---- */

static enum status table_exists(struct migrate *m, struct str table, bool *exists)
{
    struct db_rows rows;
    enum status st = db_query(m->db, m->arena, &rows,
                              "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE() AND"
                              " table_name = ?",
                              DB_PARAMS(DB_TEXT(table)));
    *exists = st == ST_OK && rows.count > 0;
    return st;
}

/* Whether this program can work with the newer versions: it can when all are additive. */
static enum status newer_check(struct migrate *m)
{
    struct db_rows rows;
    enum status st = db_query(m->db, m->arena, &rows,
                              "SELECT version, name FROM schema_migration WHERE version > ? AND NOT additive"
                              " ORDER BY version LIMIT 1",
                              DB_PARAMS(DB_U64(m->count)));
    if (st != ST_OK || rows.count == 0)
        return st;
    say(m,
        "migrate: the database has %04llu_%.*s, which this program does not know and which is not additive: install"
        " the program that has it",
        (unsigned long long)db_cell_u64(&rows, 0, 0), STR_ARG(db_cell(&rows, 0, 1)));
    return ST_INVALID;
}

static void newer_say(const struct migrate *m)
{
    say(m, "migrate: the database (%04zu) is newer than this program (%04zu) by additive migrations: left as it is",
        m->count + m->newer, m->count);
}

/* Compares the applied migrations with the list, and counts them. */
static enum status applied_read(struct migrate *m)
{
    struct db_rows rows;
    enum status st =
        db_query(m->db, m->arena, &rows, "SELECT version, sha256 FROM schema_migration ORDER BY version", NULL, 0);
    if (st != ST_OK)
        return st;
    if (rows.count > 0 && db_cell_u64(&rows, 0, 0) == MIGRATE_RESTORE_VERSION) {
        say(m, "migrate: a restore was interrupted: repeat it with --replace");
        return ST_NOT_FOUND;
    }
    for (size_t i = 0; i < rows.count; i++) {
        uint64_t version = db_cell_u64(&rows, i, 0);
        if (version != i + 1) {
            say(m, "migrate: %04zu was never applied, but %04llu was", i + 1, (unsigned long long)version);
            return ST_INVALID;
        }
        if (version > m->count)
            continue;
        const struct migration *one = &m->list[i];
        if (!str_equal(db_cell(&rows, i, 1), (struct str){ (const char *)one->sha256, HASH_BYTES })) {
            say(m, "migrate: %s has changed since it was applied", one->file.ptr);
            return ST_INVALID;
        }
    }
    m->applied = rows.count < m->count ? rows.count : m->count;
    m->newer = rows.count - m->applied;
    return m->newer == 0 ? ST_OK : newer_check(m);
}

/* A statement that writes rows runs in one transaction with the update of schema_progress. Any other commits
 * implicitly, but atomically (MariaDB >= 10.6, MySQL >= 8.0). */
static bool statement_writes_rows(struct str statement)
{
    static const char *const words[] = { "INSERT", "UPDATE", "DELETE", "REPLACE", "WITH" };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        struct str word = str_from(words[i]);
        if (statement.len > word.len && (unsigned char)statement.ptr[word.len] <= ' ' &&
            str_equal_fold(str_slice(statement, 0, word.len), word))
            return true;
    }
    return false;
}

/* One statement of a file. */
struct statement {
    const struct migration *one;
    unsigned number; /* from 1 */
    struct str text;
    const char *sql; /* text, NUL-terminated */
    bool in_doubt;   /* an earlier migrator died before it recorded this statement, which may be done */
};

static enum status progress_note(struct db *db, const struct statement *r)
{
    return db_exec(db, NULL, "UPDATE schema_progress SET statement_no = ? WHERE version = ?",
                   DB_PARAMS(DB_U64(r->number + 1), DB_U64(r->one->version)));
}

static enum status rows_body(struct db *db, void *ctx)
{
    const struct statement *r = ctx;
    enum status st = db_exec(db, NULL, r->sql, NULL, 0);
    return st == ST_OK ? progress_note(db, r) : st;
}

/* The identifier at the beginning of s, which may be in backticks. */
static struct str name_cut(struct str s)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyz_0123456789";
    (void)str_skip_prefix(&s, STR("`"));
    return str_slice(s, 0, strspn(s.ptr, word));
}

static bool table_has(struct migrate *m, struct str table, struct str column)
{
    struct db_rows rows;
    enum status st = db_query(m->db, m->arena, &rows,
                              "SELECT 1 FROM information_schema.columns WHERE table_schema = DATABASE()"
                              " AND table_name = ? AND column_name = ?",
                              DB_PARAMS(DB_TEXT(table), DB_TEXT(column)));
    return st == ST_OK && rows.count == 1;
}

/* True when the statement, ALTER TABLE … RENAME COLUMN, was done before: the table has the last of its new names. Its
 * renames are done together or not at all. */
static bool column_was_renamed(struct migrate *m, const char *sql)
{
    struct str rest = str_from(sql), table = str_after(rest, STR("ALTER TABLE ")), name = STR_NONE;
    while ((rest = str_after(rest, STR("RENAME COLUMN "))).ptr != NULL)
        name = str_after(rest, STR(" TO "));
    return table.ptr != NULL && name.ptr != NULL && table_has(m, name_cut(table), name_cut(name));
}

/* True when the statement, RENAME TABLE old TO new (one table), was done before. */
static bool table_was_renamed(struct migrate *m, struct str names)
{
    bool old_exists, new_exists;
    struct str to = str_after(names, STR(" TO "));
    return to.ptr != NULL && table_exists(m, name_cut(names), &old_exists) == ST_OK && !old_exists &&
           table_exists(m, name_cut(to), &new_exists) == ST_OK && new_exists;
}

/* True when the outcome of a statement in doubt means that it was done before. */
static bool was_done(struct migrate *m, const struct statement *r, enum status st)
{
    struct str names = str_from(r->sql);
    if (st == ST_OK)
        return false;
    if (str_skip_prefix(&names, STR("RENAME TABLE ")))
        return table_was_renamed(m, names);
    return st == ST_EXISTS || st == ST_NOT_FOUND || (st == ST_CORRUPT && column_was_renamed(m, r->sql));
}

static enum status statement_run(struct migrate *m, struct statement *r)
{
    crash_point("migrate-before-statement");
    if (statement_writes_rows(r->text))
        return db_transaction(m->db, rows_body, r);
    enum status st = db_exec(m->db, NULL, r->sql, NULL, 0);
    if (r->in_doubt && was_done(m, r, st)) {
        say(m, "migrate: %s was interrupted after statement %u, continuing", r->one->file.ptr, r->number);
        st = ST_OK;
    }
    crash_point("migrate-after-statement");
    return st == ST_OK ? progress_note(m->db, r) : st;
}

/* The statement to begin with: the first one, or the one at which an earlier migrator of this very file died. */
static enum status progress_begin(struct migrate *m, const struct migration *one, unsigned *number, bool *in_doubt)
{
    struct db_rows rows;
    const struct db_param version = DB_U64(one->version);
    const struct db_param sha256 = DB_BYTES(((struct str){ (const char *)one->sha256, HASH_BYTES }));
    enum status st =
        db_query(m->db, m->arena, &rows, "SELECT statement_no FROM schema_progress WHERE version = ? AND sha256 = ?",
                 DB_PARAMS(version, sha256));
    *in_doubt = st == ST_OK && rows.count > 0;
    *number = *in_doubt ? (unsigned)db_cell_u64(&rows, 0, 0) : 1;
    if (st == ST_OK && !*in_doubt)
        st = db_exec(m->db, NULL, "REPLACE INTO schema_progress (version, sha256, statement_no) VALUES (?, ?, 1)",
                     DB_PARAMS(version, sha256));
    return st;
}

static enum status progress_end(struct db *db, const struct migration *one)
{
    return db_exec(db, NULL, "DELETE FROM schema_progress WHERE version = ?", DB_PARAMS(DB_U64(one->version)));
}

static enum status record_body(struct db *db, void *ctx)
{
    const struct migration *one = ctx;
    enum status st = db_exec(
        db, NULL, "INSERT INTO schema_migration (version, name, sha256, applied_at, additive) VALUES (?, ?, ?, ?, ?)",
        DB_PARAMS(DB_U64(one->version), DB_TEXT(one->name),
                  DB_BYTES(((struct str){ (const char *)one->sha256, HASH_BYTES })), DB_I64(clock_now_ms()),
                  DB_I64(one->additive)));
    return st == ST_OK ? progress_end(db, one) : st;
}

/* Runs the statements of a file, from the first one that is not recorded as done. */
static enum status statements_run(struct migrate *m, const struct migration *one)
{
    struct statement r = { .one = one };
    struct str rest = one->text;
    unsigned begin;
    bool in_doubt;
    enum status st = progress_begin(m, one, &begin, &in_doubt);
    for (r.number = 1; st == ST_OK && (r.text = migrate_statement_next(&rest)).len > 0; r.number++) {
        if (r.number < begin)
            continue;
        r.in_doubt = in_doubt && r.number == begin;
        r.sql = arena_cstr(m->arena, r.text);
        st = r.sql == NULL ? ST_NO_MEMORY : statement_run(m, &r);
        if (st == ST_OK || st == ST_NO_MEMORY)
            continue;
        say(m, "migrate: %s failed in statement %u (%s), the log has the server's message; those before it are done",
            one->file.ptr, r.number, status_name(st));
        if (st != ST_UNAVAILABLE && st != ST_UNKNOWN) {
            /* the outcome is to be undone by hand; the next run begins with the first statement */
            (void)progress_end(m->db, one);
            st = ST_CORRUPT;
        }
    }
    return st;
}

static enum status migration_apply(struct migrate *m, struct migration *one)
{
    enum status st = statements_run(m, one);
    if (st != ST_OK)
        return st;
    crash_point("migrate-before-record");
    st = db_transaction(m->db, record_body, one);
    crash_point("migrate-after-record");
    if (st == ST_OK)
        say(m, "migrate: applied %s", one->file.ptr);
    return st;
}

/* The months for migrations that group by month: the server itself knows no time zone by name unless its time zone
 * tables are loaded. */
static enum status zone_months_make(struct migrate *m)
{
    struct buf sql = { 0 };
    enum status st = db_exec(m->db, NULL, "DROP TEMPORARY TABLE IF EXISTS zone_month", NULL, 0);
    if (st == ST_OK)
        st = db_exec(m->db, NULL,
                     "CREATE TEMPORARY TABLE zone_month (from_ms BIGINT NOT NULL PRIMARY KEY,"
                     " month_no INT NOT NULL)",
                     NULL, 0);
    if (st != ST_OK)
        return st;
    buf_cstr(&sql, "INSERT INTO zone_month (from_ms, month_no) VALUES ");
    size_t listed = 0;
    for (int year = ZONE_YEAR_FIRST; year <= ZONE_YEAR_LAST; year++) {
        for (int month = 1; month <= MONTHS_PER_YEAR; month++) {
            db_comma(&sql, listed++);
            buf_printf(&sql, "(%lld,%d)", (long long)clock_zone_month_start_ms(year, month), year * 100 + month);
        }
    }
    st = db_exec_buf(m->db, NULL, &sql);
    buf_free(&sql);
    return st;
}

/* The tables that record what is applied. */
static enum status records_make(struct migrate *m)
{
    enum status st = db_exec(m->db, NULL,
                             "CREATE TABLE IF NOT EXISTS schema_migration ("
                             " version INT UNSIGNED NOT NULL PRIMARY KEY,"
                             " name VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin NOT NULL,"
                             " sha256 BINARY(32) NOT NULL,"
                             " applied_at BIGINT NOT NULL,"
                             " additive BOOLEAN NOT NULL DEFAULT FALSE) ENGINE = InnoDB",
                             NULL, 0);
    if (st == ST_OK)
        st = db_exec(m->db, NULL,
                     "CREATE TABLE IF NOT EXISTS schema_progress ("
                     " version INT UNSIGNED NOT NULL PRIMARY KEY,"
                     " sha256 BINARY(32) NOT NULL,"
                     " statement_no INT UNSIGNED NOT NULL) ENGINE = InnoDB",
                     NULL, 0);
    return st;
}

static enum status pending_apply(struct migrate *m)
{
    enum status st = records_make(m);
    if (st == ST_OK)
        st = applied_read(m);
    if (st == ST_OK && m->newer > 0)
        newer_say(m);
    else if (st == ST_OK && m->applied == m->count)
        say(m, "migrate: the schema is up to date (%04zu)", m->count);
    else if (st == ST_OK)
        st = zone_months_make(m);
    for (size_t i = m->applied; st == ST_OK && i < m->count; i++)
        st = migration_apply(m, &m->list[i]);
    return st;
}

/* Lets one migrator at a time work on this database; the lock ends with the connection at the latest. In Galera it is
 * local to a node: migrators use the first one of the setting mysql. */
static enum status lock_take(struct migrate *m)
{
    struct db_rows rows;
    enum status st = db_query(m->db, m->arena, &rows, "SELECT GET_LOCK(CONCAT(DATABASE(), '.migrate'), ?)",
                              DB_PARAMS(DB_I64(MIGRATE_TIMEOUT_S)));
    if (st != ST_OK)
        return st;
    if (rows.count == 1 && str_equal(db_cell(&rows, 0, 0), STR("1")))
        return ST_OK;
    say(m, "migrate: another migrator has not finished in time");
    return ST_CONFLICT;
}

static void lock_release(struct migrate *m)
{
    struct db_rows rows;
    (void)db_query(m->db, m->arena, &rows, "SELECT RELEASE_LOCK(CONCAT(DATABASE(), '.migrate'))", NULL, 0);
}

/* ---- commands ---- */

static enum status migrate_begin(struct migrate *m, struct db *db, const struct migrations *known, FILE *out)
{
    *m = (struct migrate){ .db = db,
                           .out = out,
                           .arena = arena_new(ARENA_BYTES, ARENA_BYTES_MAX),
                           .list = known->list,
                           .count = known->count };
    return m->arena == NULL ? ST_NO_MEMORY : ST_OK;
}

enum status migrate_run(struct db *db, const char *sql_dir, FILE *out)
{
    struct migrate m = { .arena = NULL };
    struct migrations *known;
    enum status st = migrations_read(sql_dir, &known, out);
    if (st == ST_OK)
        st = migrate_begin(&m, db, known, out);
    if (st == ST_OK) {
        db_set_timeout_s(db, MIGRATE_TIMEOUT_S);
        st = lock_take(&m);
        if (st == ST_OK) {
            st = pending_apply(&m);
            lock_release(&m);
        }
        if (st == ST_UNAVAILABLE || st == ST_UNKNOWN)
            say(&m, "migrate: the database does not answer, or has refused it (above)");
    }
    arena_free(m.arena);
    migrations_free(known);
    return st;
}

enum status migrate_check(struct db *db, const struct migrations *known, FILE *out)
{
    struct migrate m;
    bool exists = false;
    enum status st = migrate_begin(&m, db, known, out);
    if (st == ST_OK)
        st = table_exists(&m, STR("schema_migration"), &exists);
    if (st == ST_OK && exists)
        st = applied_read(&m);
    if (st == ST_OK && m.applied < m.count) {
        say(&m, "migrate: %zu of %zu migrations are applied: run `hongbao migrate`", m.applied, m.count);
        st = ST_CONFLICT;
    }
    if (st == ST_OK && m.newer > 0)
        newer_say(&m);
    arena_free(m.arena);
    return st;
}
