#include "money/against.h"

#include <stdlib.h>

#include "money/against_internal.h"

enum { BATCH_ROWS = 500, ARENA_CHUNK_BYTES = 1 << 20, ARENA_LIMIT_BYTES = 48 << 20 };

/* A comparison under way. */
struct comparison {
    struct against *g;
    struct arena *arena;    /* of one row, or of a page of transfers */
    struct text_set listed; /* way and reference of each row so far */
    struct text_set taken;  /* of against_hint */
    bool begun;
};

const char *difference_kind_name(enum difference_kind kind)
{
    static const char *const names[DIFFERENCE_KIND_COUNT] = { "missing", "unlisted", "amount",
                                                              "user",    "reversed", "twice" };
    return names[kind];
}

static enum status tell(struct comparison *c, const struct difference *d)
{
    if (arena_failed(c->arena))
        return ST_NO_MEMORY;
    c->g->differences++;
    return c->g->found(c->g->ctx, c->arena, d);
}

/* ---- the list ---- */

/* What a pass over the list does with its rows. */
struct pass {
    struct payment_file *file;
    struct arena *arena;
    struct listed *rows; /* of a batch, in the arena; BATCH_ROWS */
    size_t count;
    enum status (*finish)(struct comparison *c, struct db *db, const struct listed *rows,
                          size_t count); /* NULL: none */
    struct comparison *comparison;
    struct db *db;
};

/* Reads the next batch; the last one may be empty (ST_NOT_FOUND). */
static enum status batch_read(struct pass *pass, struct outside_list *list)
{
    struct payment_file *p = pass->file;
    const char *fault;
    enum status st = ST_OK;
    arena_reset(pass->arena);
    pass->count = 0;
    pass->rows = arena_array(pass->arena, BATCH_ROWS, sizeof *pass->rows);
    if (pass->rows == NULL)
        return ST_NO_MEMORY;
    while (st == ST_OK && pass->count < BATCH_ROWS) {
        struct listed *row = &pass->rows[pass->count];
        st = outside_list_next(list, pass->arena, row, &fault, &p->stopped_line, &p->why);
        if (st != ST_OK)
            break;
        p->rows++;
        if (fault == NULL)
            pass->count++;
        else if (p->faults++ < FAULTS_SHOWN_MAX)
            p->fault(p->ctx, row->line, str_from(fault));
    }
    return st;
}

static enum status list_read(struct pass *pass)
{
    struct payment_file *p = pass->file;
    struct outside_list *list = NULL;
    p->rows = p->faults = p->stopped_line = 0;
    p->why = NULL;
    rewind(p->stream);
    enum status st = outside_list_open(p->stream, &list, &p->why);
    while (st == ST_OK) {
        st = batch_read(pass, list);
        enum status made = ST_OK;
        if (pass->finish != NULL && pass->count > 0 && (st == ST_OK || st == ST_NOT_FOUND))
            made = pass->finish(pass->comparison, pass->db, pass->rows, pass->count);
        st = made != ST_OK ? made : st;
    }
    outside_list_close(list);
    if (st == ST_NOT_FOUND)
        p->stopped_line = 0;
    return st == ST_NOT_FOUND ? ST_OK : st;
}

enum status against_check(struct against *g)
{
    struct pass pass = { .file = &g->file, .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES) };
    enum status st = pass.arena == NULL ? ST_NO_MEMORY : list_read(&pass);
    arena_free(pass.arena);
    return st == ST_OK && g->file.faults > 0 ? ST_INVALID : st;
}

/* ---- what is in the list ---- */

/* The key of the set. STR_NONE: out of memory. */
static struct str key_of(struct comparison *c, enum listed_way way, struct str reference)
{
    static const char letters[] = { [LISTED_IN] = '+', [LISTED_OUT] = '-', [LISTED_REVERSE] = 'r' };
    return arena_printf(c->arena, "%c%.*s", letters[way], STR_ARG(reference));
}

/* A key that is lost for want of memory is found by arena_failed in tell. */
static bool is_listed(struct comparison *c, enum listed_way way, struct str reference)
{
    const struct str key = key_of(c, way, reference);
    return key.ptr == NULL || (reference.len > 0 && text_set_has(&c->listed, key));
}

static enum listed_way way_of(const struct transfer_line *t)
{
    return t->comes_in ? LISTED_IN : LISTED_OUT;
}

static enum listed_way way_back(const struct transfer_line *t)
{
    return t->comes_in ? LISTED_OUT : LISTED_IN;
}

/* ---- rows of the list ---- */

/* Compares a row with the transfer that has its reference. False: nothing differs. */
static bool differs(const struct listed *row, const struct transfer_line *here, enum difference_kind *kind)
{
    const bool is_same_way = row->way == LISTED_REVERSE ? here->reverses != 0 : row->way == way_of(here);
    const bool is_reversed = here->reverses == 0 && here->other_reference.len > 0;
    *kind = row->amount_fen != here->amount_fen ? DIFFERENCE_AMOUNT
            : !is_same_way                      ? DIFFERENCE_REVERSED
                                                : DIFFERENCE_USER;
    return *kind == DIFFERENCE_AMOUNT ? true
           : *kind == DIFFERENCE_REVERSED
               ? !is_reversed
               : row->username.len > 0 && here->username.len > 0 && !str_equal(row->username, here->username);
}

/* here: the transfer of this reference; NULL: there is none. */
static enum status row_compare(struct comparison *c, struct db *db, const struct listed *row,
                               const struct transfer_line *here)
{
    struct difference d = { .kind = DIFFERENCE_TWICE, .row = *row };
    const struct str key = key_of(c, row->way, row->reference);
    enum status st = key.ptr == NULL ? ST_NO_MEMORY : text_set_add(&c->listed, key);
    if (st == ST_EXISTS)
        return tell(c, &d);
    if (st != ST_OK)
        return st;
    if (here != NULL) {
        d.here = *here;
        return differs(row, here, &d.kind) ? tell(c, &d) : ST_OK;
    }
    if (row->way != LISTED_REVERSE && is_listed(c, row->way == LISTED_IN ? LISTED_OUT : LISTED_IN, row->reference)) {
        d.kind = DIFFERENCE_REVERSED;
        return tell(c, &d);
    }
    d.kind = DIFFERENCE_MISSING;
    st = against_hint(db, c->arena, c->g->channel_id, row, &c->taken, &d.hint);
    return st == ST_OK ? tell(c, &d) : st;
}

static int by_reference(const void *reference, const void *line)
{
    return str_compare(*(const struct str *)reference, ((const struct transfer_line *)line)->reference);
}

static enum status rows_compare(struct comparison *c, struct db *db, const struct listed *rows, size_t count)
{
    struct transfer_line *found = NULL;
    size_t found_count = 0;
    struct str *references = arena_array(c->arena, count, sizeof *references);
    if (references == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        references[i] = rows[i].reference;
    enum status st = transfers_find(db, c->arena, c->g->channel_id, references, count, &found, &found_count);
    for (size_t i = 0; st == ST_OK && i < count; i++)
        st = row_compare(c, db, &rows[i], bsearch(&rows[i].reference, found, found_count, sizeof *found, by_reference));
    return st;
}

/* ---- transfers that the list lacks ---- */

/* A transfer and its reversal that are both of this time and unknown outside have moved nothing in it: no difference.
 * One whose other half is of another time has. */
static bool is_unlisted(struct comparison *c, const struct transfer_line *t)
{
    const bool is_reverse = t->reverses != 0;
    if (is_listed(c, way_of(t), t->reference) || (is_reverse && is_listed(c, LISTED_REVERSE, t->reference)))
        return false;
    const bool is_pair = t->other_ms >= c->g->since_ms && t->other_ms < c->g->until_ms;
    if (is_reverse) /* its list may have it under the reference of what it reverses */
        return !is_listed(c, way_of(t), t->other_reference) &&
               (!is_pair || is_listed(c, way_back(t), t->other_reference));
    return t->other_reference.len == 0 || !is_pair || is_listed(c, way_back(t), t->other_reference) ||
           is_listed(c, LISTED_REVERSE, t->other_reference) || is_listed(c, way_back(t), t->reference);
}

static enum status transfers_compare(struct comparison *c, struct db *db)
{
    struct against *g = c->g;
    struct transfers_query query = { .channel_id = g->channel_id, .from_ms = g->since_ms, .until_ms = g->until_ms };
    struct transfer_line *page = NULL;
    size_t count = 0;
    enum status st;
    do {
        arena_reset(c->arena);
        st = transfers_page(db, c->arena, &query, &page, &count);
        for (size_t i = 0; st == ST_OK && i < count; i++) {
            struct difference d = { .kind = DIFFERENCE_UNLISTED, .here = page[i] };
            if (is_unlisted(c, &page[i]))
                st = tell(c, &d);
        }
        g->here += count;
    } while (st == ST_OK && count == TRANSFERS_PAGE_ROWS);
    return st == ST_OK && arena_failed(c->arena) ? ST_NO_MEMORY : st;
}

/* ---- both ---- */

static enum status compare_body(struct db *db, void *ctx)
{
    struct comparison *c = ctx;
    if (c->begun)
        return ST_CONFLICT; /* differences of the first try are printed */
    c->begun = true;
    struct pass pass = { .file = &c->g->file, .arena = c->arena, .finish = rows_compare, .comparison = c, .db = db };
    enum status st = list_read(&pass);
    if (st == ST_OK && c->g->file.faults > 0) {
        c->g->file.why = "the file was changed meanwhile";
        return ST_INVALID;
    }
    return st == ST_OK ? transfers_compare(c, db) : st;
}

enum status against_compare(struct against *g, struct db *db)
{
    struct comparison c = { .g = g, .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES) };
    g->here = g->differences = 0;
    text_set_begin(&c.listed);
    text_set_begin(&c.taken);
    enum status st = c.arena == NULL ? ST_NO_MEMORY : db_snapshot(db, compare_body, &c);
    text_set_end(&c.listed);
    text_set_end(&c.taken);
    arena_free(c.arena);
    return st;
}
