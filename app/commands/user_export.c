#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "commands/user_internal.h"
#include "user/store.h"
#include "web/csv.h"

enum { FLUSH_BYTES = 1 << 16 };

/* The columns of the query, and of the file. */
enum column { ID, USERNAME, NICKNAME, CREATED, STATE, PASSWORD, PASSKEYS, LINK };
static const char *const COLUMNS[] = { "id",    "username",     "nickname", "created",
                                       "state", "has_password", "passkeys", "login_link_until" };

static const char SQL[] =
    "SELECT u.id, u.username, u.nickname, u.created_ms, CASE WHEN u.deleted_ms IS NOT NULL THEN 'deleted'"
    " WHEN u.deleting_ms IS NOT NULL THEN 'deleting' WHEN u.disabled_ms IS NOT NULL THEN 'disabled' ELSE 'active' END,"
    " IF(u.password_hash IS NULL, 'no', 'yes'), (SELECT COUNT(*) FROM passkey AS p WHERE p.user_id = u.id),"
    " COALESCE((SELECT l.expires_ms FROM login_link AS l WHERE l.user_id = u.id AND l.expires_ms > ?), 0)"
    " FROM user AS u ORDER BY u.id";

struct export_run {
    bool csv;
    struct buf out;
    bool failed; /* a row is missing, or stdout can't be written */
};

static void out_flush(struct export_run *run)
{
    const struct str text = buf_view(&run->out);
    if (text.len > 0 && fwrite(text.ptr, 1, text.len, stdout) != text.len)
        run->failed = true;
    run->failed = run->failed || run->out.failed;
    buf_reset(&run->out);
}

/* A time as text; empty for 0. out: CLOCK_TEXT_MAX bytes. */
static struct str time_text(struct str cell, char *out)
{
    int64_t ms;
    if (!str_to_i64(cell, &ms) || ms == 0)
        return STR("");
    (void)clock_rfc3339_format(ms, out);
    return str_from(out);
}

static bool row_append(void *ctx, const struct str *cells, size_t columns)
{
    struct export_run *run = ctx;
    char created[CLOCK_TEXT_MAX], until[CLOCK_TEXT_MAX];
    const struct str made = time_text(cells[CREATED], created), link = time_text(cells[LINK], until);
    if (run->csv) {
        for (size_t i = 0; i < columns; i++)
            csv_cell(&run->out, i == CREATED ? made : i == LINK ? link : cells[i]);
        csv_row_end(&run->out);
    } else {
        buf_printf(&run->out,
                   "id %.*s  username %.*s  %.*s  registered %.*s  password %.*s  passkeys %.*s%s%.*s  nickname %.*s\n",
                   STR_ARG(cells[ID]), STR_ARG(cells[USERNAME]), STR_ARG(cells[STATE]), STR_ARG(made),
                   STR_ARG(cells[PASSWORD]), STR_ARG(cells[PASSKEYS]), link.len > 0 ? "  login link until " : "",
                   STR_ARG(link), STR_ARG(cells[NICKNAME]));
    }
    if (buf_view(&run->out).len >= FLUSH_BYTES)
        out_flush(run);
    return !run->failed && !run->out.failed;
}

static enum status export_print(struct stores *stores, bool csv)
{
    struct export_run run = { .csv = csv, .out = BUF_EMPTY };
    if (csv) {
        csv_begin(&run.out);
        csv_header(&run.out, COLUMNS, sizeof COLUMNS / sizeof COLUMNS[0]);
    }
    enum status st = db_each(stores->db, row_append, &run, SQL, DB_PARAMS(DB_I64(clock_now_ms())));
    out_flush(&run);
    run.failed = run.failed || fflush(stdout) != 0;
    buf_free(&run.out);
    return st == ST_OK && run.failed ? ST_NO_MEMORY : st;
}

int user_export_command(const struct config *config, int argc, char **argv)
{
    struct stores stores;
    struct config patient;
    const bool csv = argc == 2 && strcmp(argv[1], "--csv") == 0;
    if (argc != 1 && !csv) {
        (void)fputs("usage: hongbao user export [--csv]\n", stderr);
        return 2;
    }
    if (!user_stores_open(&stores, &patient, config))
        return 1;
    enum status st = export_print(&stores, csv);
    stores_close(&stores);
    return user_failed(config, status_idempotent(st),
                       st == ST_NO_MEMORY ? "the list can't be written: it is not whole" : NULL);
}
