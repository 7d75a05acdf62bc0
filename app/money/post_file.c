#include "money/post_file.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/text_set.h"
#include "io/csv_reader.h"
#include "ledger/withdrawal.h"

enum { ARENA_CHUNK_BYTES = 64 << 10, ARENA_LIMIT_BYTES = 4 << 20 };

/* A pass over the file. */
struct pass {
    struct payment_file *post;
    struct db *db;
    struct arena *arena; /* of one row */
    struct csv_reader *reader;
    int id_column, reference_column;
    struct text_set references; /* of the first pass: ids and references */
    enum status (*row)(struct pass *pass, uint64_t line, uint64_t id, struct str reference);
};

static void fail(struct pass *pass, uint64_t line, struct str why)
{
    if (pass->post->faults++ < FAULTS_SHOWN_MAX)
        pass->post->fault(pass->post->ctx, line, str_or_empty(why));
}

/* ---- rows ---- */

static enum status row_take(struct pass *pass, const struct csv_row *row)
{
    uint64_t id = 0;
    if (row->fault != NULL) {
        fail(pass, row->line, str_from(row->fault));
        return ST_OK;
    }
    const struct str reference = row->cells[pass->reference_column];
    if (!str_to_u64(row->cells[pass->id_column], &id) || id == 0)
        fail(pass, row->line, STR("the id is no number of a withdrawal"));
    else if (!reference_is_valid(reference))
        fail(pass, row->line, STR("a reference has 1 to 64 characters of ASCII, and no blank at its ends"));
    else
        return pass->row(pass, row->line, id, reference);
    return ST_OK;
}

static enum status header_read(struct pass *pass)
{
    struct payment_file *p = pass->post;
    enum status st = csv_reader_new(p->stream, &pass->reader, &p->why);
    if (st != ST_OK)
        return st;
    pass->id_column = csv_reader_column(pass->reader, STR("id"));
    pass->reference_column = csv_reader_column(pass->reader, STR("reference"));
    if (pass->id_column == CSV_COLUMN_TWICE || pass->reference_column == CSV_COLUMN_TWICE)
        p->why = "the header has a column twice";
    else if (pass->id_column < 0 || pass->reference_column < 0)
        p->why = "the header must name the columns id and reference";
    return p->why != NULL ? ST_INVALID : ST_OK;
}

static enum status rows_read(struct pass *pass)
{
    struct payment_file *p = pass->post;
    struct csv_row row;
    enum status st = header_read(pass);
    p->rows = p->faults = p->repeated = 0;
    p->sum_fen = 0;
    while (st == ST_OK) {
        arena_reset(pass->arena);
        st = csv_reader_next(pass->reader, &row, &p->stopped_line, &p->why);
        if (st == ST_NOT_FOUND)
            break;
        if (st == ST_OK && ++p->rows > POST_ROWS_MAX) {
            p->why = "the file has more than 100000 rows: split it";
            st = ST_INVALID;
        }
        if (st == ST_OK)
            st = row_take(pass, &row);
    }
    if (st == ST_NOT_FOUND || st == ST_OK)
        p->stopped_line = 0;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status pass_run(struct payment_file *p, struct db *db,
                            enum status (*row)(struct pass *pass, uint64_t line, uint64_t id, struct str reference))
{
    struct pass pass = { .post = p, .db = db, .row = row, .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES) };
    p->why = NULL;
    rewind(p->stream);
    text_set_begin(&pass.references);
    enum status st = pass.arena == NULL ? ST_NO_MEMORY : rows_read(&pass);
    text_set_end(&pass.references);
    csv_reader_free(pass.reader);
    arena_free(pass.arena);
    return st;
}

/* ---- the first pass ---- */

/* The id and the reference stand once in the file. ST_EXISTS: one of them does not; it has failed. */
static enum status once_check(struct pass *pass, uint64_t line, uint64_t id, const struct withdrawal *w,
                              struct str reference)
{
    struct str texts[] = { arena_printf(pass->arena, "%" PRIu64, id),
                           arena_printf(pass->arena, "%" PRIu64 ":%.*s", w->channel_id, STR_ARG(reference)) };
    for (size_t i = 0; i < 2; i++) {
        enum status st = texts[i].ptr == NULL ? ST_NO_MEMORY : text_set_add(&pass->references, texts[i]);
        if (st == ST_EXISTS)
            fail(pass, line,
                 i == 0 ? STR("the id stands in an earlier row, too")
                        : STR("the reference stands in an earlier row, too"));
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}

/* Whether another transfer of the channel has the reference. *fits: none does, or the post of this withdrawal. */
static enum status reference_check(struct pass *pass, const struct withdrawal *w, struct str reference, bool *fits)
{
    struct external_transfer found;
    if (w->state == WITHDRAWAL_POSTED) {
        *fits = str_equal(w->reference, reference);
        return ST_OK;
    }
    enum status st = external_find(pass->db, pass->arena, w->channel_id, reference, &found);
    *fits = st == ST_NOT_FOUND;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

static enum status row_check(struct pass *pass, uint64_t line, uint64_t id, struct str reference)
{
    struct payment_file *p = pass->post;
    struct withdrawal w;
    bool fits = false;
    enum status st = withdrawal_find(pass->db, pass->arena, id, &w);
    if (st == ST_NOT_FOUND) {
        fail(pass, line, arena_printf(pass->arena, "there is no withdrawal %" PRIu64, id));
        return ST_OK;
    }
    if (st == ST_OK)
        st = once_check(pass, line, id, &w, reference);
    if (st != ST_OK)
        return st == ST_EXISTS ? ST_OK : st;
    st = w.state == WITHDRAWAL_VOIDED ? ST_OK : reference_check(pass, &w, reference, &fits);
    if (st != ST_OK)
        return st;
    p->sum_fen += w.amount_fen;
    p->repeated += fits && w.state == WITHDRAWAL_POSTED;
    if (w.state == WITHDRAWAL_VOIDED)
        fail(pass, line, arena_printf(pass->arena, "withdrawal %" PRIu64 " was voided", id));
    else if (!fits && w.state == WITHDRAWAL_POSTED)
        fail(pass, line,
             arena_printf(pass->arena, "withdrawal %" PRIu64 " was posted with the reference %.*s", id,
                          STR_ARG(w.reference)));
    else if (!fits)
        fail(pass, line,
             arena_printf(pass->arena, "the reference %.*s belongs to another transfer", STR_ARG(reference)));
    return ST_OK;
}

enum status post_file_check(struct payment_file *p, struct db *db)
{
    p->made = 0;
    enum status st = pass_run(p, db, row_check);
    if (st == ST_OK && p->rows == 0)
        p->why = "the file has no rows";
    return st == ST_OK && (p->faults > 0 || p->why != NULL) ? ST_INVALID : st;
}

/* ---- the second pass ---- */

static enum status row_make(struct pass *pass, uint64_t line, uint64_t id, struct str reference)
{
    struct payment_file *p = pass->post;
    char author[AUTHOR_LOG_MAX];
    struct withdrawal_end end = { .id = id, .post = true, .reference = reference, .reason = STR("") };
    (void)line;
    enum status st = withdrawal_end(pass->db, pass->arena, &end, &p->author, clock_now_ms());
    if (st != ST_OK)
        return st;
    p->made += !end.repeated;
    p->repeated += end.repeated;
    p->sum_fen += end.now.amount_fen;
    log_info("money",
             "action=post channel=%.*s interface=import withdrawal_id=%" PRIu64 " user_id=%" PRIu64
             " amount_fen=%" PRId64 " repeated=%d author=%s",
             STR_ARG(end.now.channel), id, end.now.user_id, end.now.amount_fen, end.repeated,
             log_quote(p->author.name, author, sizeof author));
    return ST_OK;
}

enum status post_file_make(struct payment_file *p, struct db *db)
{
    p->made = 0;
    enum status st = pass_run(p, db, row_make);
    if (st == ST_OK && p->faults > 0)
        p->why = "the file was changed meanwhile";
    return st == ST_OK && p->faults > 0 ? ST_INVALID : st;
}
