#include "user/import.h"

#include <sys/stat.h>

#include "base/utf8.h"
#include "io/csv_reader.h"
#include "user/account.h"
#include "user/import_internal.h"

enum { ARENA_CHUNK_BYTES = 1 << 20, ARENA_LIMIT_BYTES = 32 << 20, TRIES_MAX = 5 };

/* The columns of the file: their indexes, or as csv_reader_column. */
struct columns {
    int username, nickname, link, subject;
};

/* A pass over the file. */
struct pass {
    struct user_batch batch;
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
    enum status st = csv_reader_new(pass->batch.import->stream, &pass->reader, why);
    if (st != ST_OK)
        return st;
    c->username = csv_reader_column(pass->reader, STR("username"));
    c->nickname = csv_reader_column(pass->reader, STR("nickname"));
    c->link = csv_reader_column(pass->reader, STR("link"));
    c->subject = csv_reader_column(pass->reader, STR("subject"));
    const bool is_twice =
        c->username == CSV_COLUMN_TWICE || c->nickname == CSV_COLUMN_TWICE || c->link == CSV_COLUMN_TWICE;
    *why = is_twice          ? "the header has a column twice"
           : c->username < 0 ? "the header has no column username: it names username, nickname and link, with commas "
                               "or semicolons between"
           : c->nickname < 0 ? "the header has no column nickname"
           : c->subject != CSV_COLUMN_NONE ? "the header has a column subject, of the login by an issuer, which this "
                                             "version does not import: leave it out"
                                           : NULL;
    return *why != NULL ? ST_INVALID : ST_OK;
}

static enum status username_read(struct arena *a, struct str typed, struct user_row *row, const char **why)
{
    row->username = username_fold(a, typed);
    if (row->username.ptr == NULL)
        return ST_NO_MEMORY;
    if (row->username.len == 0)
        *why = "there is no username";
    else if (!username_valid(row->username))
        *why = "the username is none: 2 to 32 of a-z, 0-9, _ . and -, a letter or digit first";
    return ST_OK;
}

static enum status nickname_read(struct arena *a, struct str typed, struct user_row *row, const char **why)
{
    enum status st = utf8_clean_shown(a, typed, &row->nickname);
    if (st == ST_INVALID)
        *why = "the nickname is not UTF-8";
    else if (st == ST_OK && row->nickname.len == 0)
        *why = "there is no nickname";
    else if (st == ST_OK && (utf8_graphemes(row->nickname) > NICKNAME_GRAPHEMES_MAX ||
                             utf8_codepoints(row->nickname) > NICKNAME_CODEPOINTS_MAX))
        *why = "the nickname has more than 32 characters";
    return st == ST_INVALID ? ST_OK : st;
}

static void link_read(struct str typed, struct user_row *row, const char **why)
{
    row->wants_link = typed.len == 0 || str_equal(typed, STR("yes"));
    if (!row->wants_link && !str_equal(typed, STR("no")))
        *why = "the column link says neither yes nor no";
}

static enum status row_take(struct pass *pass, const struct csv_row *cells)
{
    struct user_batch *b = &pass->batch;
    const struct columns *c = &pass->columns;
    struct user_row *row = &b->rows[b->count++];
    const char *why = cells->fault;
    enum status st = ST_OK;
    *row = (struct user_row){ .line = cells->line, .fault = STR("") };
    if (why == NULL)
        st = username_read(b->arena, arena_str(b->arena, cells->cells[c->username]), row, &why);
    if (st == ST_OK && why == NULL)
        st = nickname_read(b->arena, arena_str(b->arena, cells->cells[c->nickname]), row, &why);
    if (st == ST_OK && why == NULL)
        link_read(c->link < 0 ? STR("") : cells->cells[c->link], row, &why);
    if (why != NULL)
        row->fault = str_from(why);
    return st == ST_OK && arena_failed(b->arena) ? ST_NO_MEMORY : st;
}

/* Reads the next batch; the last one may be empty. */
static enum status batch_read(struct pass *pass)
{
    struct user_batch *b = &pass->batch;
    struct user_import *im = b->import;
    struct csv_row cells;
    uint64_t line = 0;
    arena_reset(b->arena);
    b->count = 0;
    b->rows = arena_array(b->arena, USER_IMPORT_BATCH_ROWS, sizeof *b->rows);
    enum status st = b->rows == NULL ? ST_NO_MEMORY : ST_OK;
    while (st == ST_OK && b->count < USER_IMPORT_BATCH_ROWS) {
        st = csv_reader_next(pass->reader, &cells, &line, &im->why);
        if (st == ST_OK)
            st = row_take(pass, &cells);
    }
    pass->ended = st == ST_NOT_FOUND;
    if (st != ST_OK && !pass->ended)
        im->stopped_line = line;
    return pass->ended ? ST_OK : st;
}

static enum status pass_run(struct pass *pass)
{
    struct user_import *im = pass->batch.import;
    uint64_t rows = 0;
    rewind(im->stream);
    enum status st = fstat(fileno(im->stream), &pass->file) == 0 ? header_read(pass, &im->why) : ST_UNAVAILABLE;
    while (st == ST_OK && !pass->ended) {
        st = batch_read(pass);
        if (st == ST_OK && pass->batch.count > 0) {
            rows += pass->batch.count;
            st = pass->finish(pass);
        }
        if (st == ST_OK && im->progress != NULL && !pass->ended)
            im->progress(im->ctx, pass->batch.names != NULL, rows);
    }
    return st;
}

static enum status import_run(struct user_import *im, struct stores *stores, struct text_set *names,
                              enum status (*finish)(struct pass *pass))
{
    struct pass pass = { .batch = { .import = im, .stores = stores, .names = names }, .finish = finish };
    im->present = im->differing = im->made = im->linked = im->stopped_line = 0;
    im->why = NULL;
    pass.batch.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    enum status st = pass.batch.arena == NULL ? ST_NO_MEMORY : pass_run(&pass);
    csv_reader_free(pass.reader);
    arena_free(pass.batch.arena);
    return st;
}

/* Counts the users who are there, and says who has another nickname. */
static void present_tell(struct user_import *im, const struct user_row *row)
{
    im->present++;
    if (row->differs && im->differing++ < USER_IMPORT_SHOWN_MAX)
        im->tell(im->ctx, row->line, STR("this user is there with another nickname, and stays so"));
}

/* ---- the first pass ---- */

static enum status check_finish(struct pass *pass)
{
    struct user_batch *b = &pass->batch;
    struct user_import *im = b->import;
    enum status st = user_batch_check(b);
    for (size_t i = 0; st == ST_OK && i < b->count; i++) {
        const struct user_row *row = &b->rows[i];
        if (++im->rows > USER_IMPORT_ROWS_MAX) {
            im->why = "the file has more than 1000000 rows: split it";
            im->stopped_line = row->line;
            return ST_INVALID;
        }
        if (row->fault.len > 0) {
            if (im->faults++ < USER_IMPORT_SHOWN_MAX)
                im->tell(im->ctx, row->line, row->fault);
            continue;
        }
        im->linked += user_row_is_linked(b, row);
        if (row->user_id != 0)
            present_tell(im, row);
    }
    return st;
}

enum status user_import_check(struct user_import *im, struct stores *stores)
{
    struct text_set names;
    im->rows = im->faults = 0;
    text_set_begin(&names);
    enum status st = import_run(im, stores, &names, check_finish);
    text_set_end(&names);
    if (st == ST_OK && im->rows == 0)
        im->why = "the file has no rows";
    return st == ST_OK && (im->faults > 0 || im->why != NULL) ? ST_INVALID : st;
}

/* ---- the second pass ---- */

static bool file_changed(const struct pass *pass)
{
    struct stat now;
    return fstat(fileno(pass->batch.import->stream), &now) != 0 || now.st_size != pass->file.st_size ||
           now.st_mtim.tv_sec != pass->file.st_mtim.tv_sec || now.st_mtim.tv_nsec != pass->file.st_mtim.tv_nsec;
}

/* Looks at the batch again. ST_INVALID: a row has become wrong since the first pass. */
static enum status batch_recheck(struct pass *pass)
{
    struct user_batch *b = &pass->batch;
    struct user_import *im = b->import;
    if (file_changed(pass)) {
        im->why = "the file was changed meanwhile";
        return ST_INVALID;
    }
    enum status st = user_batch_check(b);
    for (size_t i = 0; st == ST_OK && i < b->count; i++)
        if (b->rows[i].fault.len > 0) {
            im->stopped_line = b->rows[i].line;
            im->faults++;
            im->tell(im->ctx, b->rows[i].line, b->rows[i].fault);
            return ST_INVALID;
        }
    return st;
}

static enum status make_finish(struct pass *pass)
{
    struct user_batch *b = &pass->batch;
    struct user_import *im = b->import;
    enum status st = ST_EXISTS;
    im->stopped_line = b->rows[0].line;
    for (int tries = 0; st == ST_EXISTS && tries < TRIES_MAX; tries++) {
        st = batch_recheck(pass);
        if (st == ST_OK)
            st = user_batch_make(b);
    }
    if (st != ST_OK)
        return st;
    im->stopped_line = 0;
    return ST_OK;
}

enum status user_import_make(struct user_import *im, struct stores *stores)
{
    im->faults = 0;
    return import_run(im, stores, NULL, make_finish);
}
