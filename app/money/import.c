#include "money/import.h"

#include <inttypes.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/csv_reader.h"
#include "money/import_internal.h"

enum { ARENA_CHUNK_BYTES = 1 << 20, ARENA_LIMIT_BYTES = 48 << 20 };

/* The columns of the file: their indexes, or as csv_reader_column. */
struct columns {
    int username, amount, reference, memo, unit;
};

/* A pass over the file. */
struct pass {
    struct import_batch batch;
    struct csv_reader *reader;
    struct columns columns;
    enum status (*finish)(struct pass *pass); /* a batch is read */
    bool ended;
    struct stat file; /* as it was at the beginning */
};

/* ---- reading ---- */

static enum status header_read(struct pass *pass, const char **why)
{
    struct columns *c = &pass->columns;
    enum status st = csv_reader_new(pass->batch.import->file.stream, &pass->reader, why);
    if (st != ST_OK)
        return st;
    c->username = csv_reader_column(pass->reader, STR("username"));
    c->amount = csv_reader_column(pass->reader, STR("amount"));
    c->reference = csv_reader_column(pass->reader, STR("reference"));
    c->memo = csv_reader_column(pass->reader, STR("memo"));
    c->unit = csv_reader_column(pass->reader, STR("unit"));
    const bool is_twice = c->unit == CSV_COLUMN_TWICE || c->username == CSV_COLUMN_TWICE ||
                          c->amount == CSV_COLUMN_TWICE || c->reference == CSV_COLUMN_TWICE ||
                          c->memo == CSV_COLUMN_TWICE;
    *why = is_twice           ? "the header has a column twice"
           : c->username < 0  ? "the header has no column username: it names username, amount, reference and memo, "
                                "with commas or semicolons between"
           : c->amount < 0    ? "the header has no column amount"
           : c->reference < 0 ? "the header has no column reference"
                              : NULL;
    return *why != NULL ? ST_INVALID : ST_OK;
}

static enum status row_take(struct pass *pass, const struct csv_row *cells)
{
    struct import_batch *b = &pass->batch;
    struct import_row *row = &b->rows[b->count++];
    const char *why = cells->fault;
    enum status st = ST_OK;
    *row = (struct import_row){ .line = cells->line, .fault = STR("") };
    const struct columns *c = &pass->columns;
    if (why == NULL && c->unit >= 0)
        st = payment_unit_check(b->arena, cells->cells[c->unit], &why);
    if (st == ST_OK && why == NULL) {
        const struct payment_typed typed = { arena_str(b->arena, cells->cells[c->username]),
                                             arena_str(b->arena, cells->cells[c->amount]),
                                             arena_str(b->arena, cells->cells[c->reference]),
                                             c->memo < 0 ? STR("") : arena_str(b->arena, cells->cells[c->memo]) };
        if (arena_failed(b->arena))
            return ST_NO_MEMORY;
        st = payment_read(b->arena, &typed, &row->payment, &why);
    }
    if (why != NULL)
        row->fault = str_from(why);
    return st == ST_INVALID ? ST_OK : st;
}

/* Reads the next batch; the last one may be empty. */
static enum status batch_read(struct pass *pass)
{
    struct import_batch *b = &pass->batch;
    struct import *im = b->import;
    struct csv_row cells;
    uint64_t line = 0;
    arena_reset(b->arena);
    b->count = 0;
    if (b->references == NULL)
        user_sums_free(&b->paid);
    b->rows = arena_array(b->arena, IMPORT_BATCH_ROWS, sizeof *b->rows);
    enum status st = b->rows == NULL ? ST_NO_MEMORY : ST_OK;
    while (st == ST_OK && b->count < IMPORT_BATCH_ROWS) {
        st = csv_reader_next(pass->reader, &cells, &line, &im->file.why);
        if (st == ST_OK)
            st = row_take(pass, &cells);
    }
    pass->ended = st == ST_NOT_FOUND;
    if (st != ST_OK && !pass->ended)
        im->file.stopped_line = line;
    return pass->ended ? ST_OK : st;
}

static enum status pass_run(struct pass *pass)
{
    struct import *im = pass->batch.import;
    uint64_t rows = 0;
    rewind(im->file.stream);
    enum status st =
        fstat(fileno(im->file.stream), &pass->file) == 0 ? header_read(pass, &im->file.why) : ST_UNAVAILABLE;
    while (st == ST_OK && !pass->ended) {
        st = batch_read(pass);
        if (st == ST_OK && pass->batch.count > 0) {
            rows += pass->batch.count;
            st = pass->finish(pass);
        }
        if (st == ST_OK && im->progress != NULL && !pass->ended)
            im->progress(im->file.ctx, pass->batch.references != NULL, rows);
    }
    return st;
}

static enum status import_run(struct import *im, struct db *db, struct text_set *references,
                              enum status (*finish)(struct pass *pass))
{
    struct pass pass = { .batch = { .import = im, .db = db, .references = references }, .finish = finish };
    im->file.repeated = im->file.stopped_line = 0;
    im->repeated_fen = 0;
    im->file.why = NULL;
    pass.batch.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st = pass.batch.arena == NULL ? ST_NO_MEMORY : pass_run(&pass);
    csv_reader_free(pass.reader);
    user_sums_free(&pass.batch.paid);
    arena_free(pass.batch.arena);
    return st;
}

static void repeated_count(struct import *im, int64_t amount_fen)
{
    im->file.repeated++;
    im->repeated_fen += amount_fen;
}

/* ---- the first pass ---- */

static enum status check_finish(struct pass *pass)
{
    struct import_batch *b = &pass->batch;
    struct import *im = b->import;
    enum status st = import_batch_check(b);
    for (size_t i = 0; st == ST_OK && i < b->count; i++) {
        const struct import_row *row = &b->rows[i];
        if (++im->file.rows > IMPORT_ROWS_MAX) {
            im->file.why = "the file has more than 1000000 rows: split it";
            im->file.stopped_line = row->line;
            return ST_INVALID;
        }
        if (row->fault.len > 0) {
            if (im->file.faults++ < FAULTS_SHOWN_MAX)
                im->file.fault(im->file.ctx, row->line, row->fault);
            continue;
        }
        im->file.sum_fen += row->payment.amount_fen; /* 1,000,000 rows of at most 9,999,999.99 */
        if (b->moves[i].repeated)
            repeated_count(im, row->payment.amount_fen);
    }
    return st;
}

enum status import_check(struct import *im, struct db *db)
{
    struct text_set references;
    im->file.rows = im->file.faults = im->file.made = 0;
    im->file.sum_fen = 0;
    text_set_begin(&references);
    enum status st = import_run(im, db, &references, check_finish);
    text_set_end(&references);
    if (st == ST_OK && im->file.rows == 0)
        im->file.why = "the file has no rows";
    return st == ST_OK && (im->file.faults > 0 || im->file.why != NULL) ? ST_INVALID : st;
}

/* ---- the second pass ---- */

static bool file_changed(const struct pass *pass)
{
    struct stat now;
    return fstat(fileno(pass->batch.import->file.stream), &now) != 0 || now.st_size != pass->file.st_size ||
           now.st_mtim.tv_sec != pass->file.st_mtim.tv_sec || now.st_mtim.tv_nsec != pass->file.st_mtim.tv_nsec;
}

/* Looks at the batch again. ST_INVALID: a row has become wrong since the first pass. */
static enum status batch_recheck(struct pass *pass)
{
    struct import_batch *b = &pass->batch;
    struct import *im = b->import;
    enum status st = file_changed(pass) ? ST_INVALID : import_batch_check(b);
    im->file.stopped_line = b->rows[0].line;
    if (st == ST_INVALID)
        im->file.why = "the file was changed meanwhile";
    for (size_t i = 0; st == ST_OK && i < b->count; i++)
        if (b->rows[i].fault.len > 0) {
            im->file.stopped_line = b->rows[i].line;
            im->file.faults++;
            im->file.fault(im->file.ctx, b->rows[i].line, b->rows[i].fault);
            return ST_INVALID;
        }
    return st;
}

static void batch_log(const struct import *im, uint64_t made, int64_t made_fen, uint64_t repeated)
{
    char author[AUTHOR_LOG_MAX];
    log_info("money", "action=%s channel=%.*s interface=import rows=%zu amount_fen=%" PRId64 " repeated=%zu author=%s",
             transfer_kind_name(im->kind), STR_ARG(im->channel), (size_t)made, made_fen, (size_t)repeated,
             log_quote(im->file.author.name, author, sizeof author));
}

static enum status make_finish(struct pass *pass)
{
    struct import_batch *b = &pass->batch;
    struct import *im = b->import;
    uint64_t made = 0;
    int64_t made_fen = 0;
    enum status st = batch_recheck(pass);
    if (st == ST_OK)
        st = external_move(b->db, b->arena, im->kind, im->channel_id, b->moves, b->count, &im->file.author,
                           clock_now_ms());
    if (st != ST_OK)
        return st;
    im->file.stopped_line = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->moves[i].repeated) {
            repeated_count(im, b->moves[i].amount_fen);
        } else {
            made++;
            made_fen += b->moves[i].amount_fen;
        }
    }
    im->file.made += made;
    batch_log(im, made, made_fen, b->count - made);
    return ST_OK;
}

enum status import_make(struct import *im, struct db *db)
{
    im->file.faults = im->file.made = 0;
    return import_run(im, db, NULL, make_finish);
}
