#include "packet/record_search.h"

#include <assert.h>

#include "base/utf8.h"

enum status record_filter_text(struct arena *a, struct str text, struct record_filter *out)
{
    return utf8_fold_alike(a, text, &out->text);
}

bool record_filter_given(const struct record_filter *filter)
{
    return filter->kinds != 0 || filter->states != 0 || filter->person_id != 0 || filter->text.len > 0 ||
           filter->min_fen > 0 || filter->max_fen > 0;
}

enum packet_state record_state_shown(const struct record *row, int64_t now_ms)
{
    const struct packet p = {
        .state = row->state, .count = row->count, .grabbed_count = row->grabbed_count, .expires_ms = row->expires_ms
    };
    return packet_state_shown(&p, now_ms);
}

/* True when text is a part of whole. */
static bool text_matches(struct arena *a, struct str whole, struct str text)
{
    struct str folded = STR("");
    return whole.len > 0 && utf8_fold_alike(a, whole, &folded) == ST_OK && str_find(folded, text) < folded.len;
}

bool record_matches(struct arena *a, const struct record *row, enum record_side side,
                    const struct record_filter *filter, int64_t now_ms)
{
    if (row->amount_fen < filter->min_fen || (filter->max_fen > 0 && row->amount_fen > filter->max_fen))
        return false;
    if (filter->kinds != 0 && (filter->kinds & 1U << row->kind) == 0)
        return false;
    if (filter->states != 0 && (filter->states & 1U << record_state_shown(row, now_ms)) == 0)
        return false;
    if (filter->person_id != 0 && (side == RECORD_SENT ? !row->with_person : row->sender_id != filter->person_id))
        return false;
    return filter->text.len == 0 || text_matches(a, row->greeting, filter->text) ||
           text_matches(a, row->note, filter->text);
}

static struct list_key key_of(const struct record *row)
{
    return (struct list_key){ .given = true, .ms = row->ms, .id = row->packet_id };
}

/* The state of a search: what it has found, and how much it has read. */
struct search {
    struct arena *arena;
    const struct record_query *query;
    const struct record_filter *filter;
    int64_t now_ms;
    size_t limit; /* results wanted; room for one more, which only shows that there are more */
    size_t read;
    struct record_result *out;
};

static void step_take(struct search *s, const struct record_list *step)
{
    struct record_list *found = &s->out->records;
    for (size_t i = 0; i < step->count && found->count <= s->limit; i++)
        if (record_matches(s->arena, &step->rows[i], s->query->side, s->filter, s->now_ms))
            found->rows[found->count++] = step->rows[i];
    s->read += step->count;
}

/* Steps of 21, 42, 84 … records, so that few are read in vain when many match, and few steps are needed when few do. */
static enum status search_run(struct search *s, struct db *db, struct db_page page)
{
    struct record_result *out = s->out;
    for (;;) {
        struct record_list step;
        if (page.limit > RECORD_SEARCH_ROWS_MAX - s->read)
            page.limit = RECORD_SEARCH_ROWS_MAX - s->read;
        enum status st = records_find(db, s->arena, s->query, &page, &step);
        if (st != ST_OK)
            return st;
        step_take(s, &step);
        if (out->records.count > s->limit) {
            out->records.count = s->limit;
            out->rest = key_of(&out->records.rows[s->limit - 1]);
            return ST_OK;
        }
        if (step.count < page.limit)
            return ST_OK;
        page.below = key_of(&step.rows[step.count - 1]);
        if (s->read >= RECORD_SEARCH_ROWS_MAX) {
            out->rest = page.below;
            out->paused = true;
            return ST_OK;
        }
        page.limit *= 2;
    }
}

enum status records_search(struct db *db, struct arena *a, const struct record_query *query, const struct db_page *page,
                           const struct record_filter *filter, int64_t now_ms, struct record_result *out)
{
    assert(page->limit < RECORD_SEARCH_ROWS_MAX);
    struct record_query asked = *query;
    struct db_page step = *page;
    struct search s = {
        .arena = a, .query = &asked, .filter = filter, .now_ms = now_ms, .limit = page->limit, .out = out
    };
    asked.person_id = filter->person_id;
    step.limit = page->limit + 1;
    *out = (struct record_result){ .records.rows = arena_array(a, page->limit + 1, sizeof *out->records.rows) };
    if (out->records.rows == NULL)
        return ST_NO_MEMORY;
    enum status st = search_run(&s, db, step);
    return st == ST_OK && arena_failed(a) ? ST_NO_MEMORY : st;
}
