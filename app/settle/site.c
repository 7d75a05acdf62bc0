#include "settle/site.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "live/event.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/site.h"
#include "redis/reply.h"
#include "settle/away.h"
#include "settle/cursor.h"
#include "settle/durable.h"

enum {
    COMPARE_INTERVAL_MS = 1000,
    RAISE_INTERVAL_MS = 3600000,
    RAISE_RETRY_MS = 10000,
    ARENA_CHUNK_BYTES = 8192,
    ARENA_LIMIT_BYTES = 1 << 20
};

/* The data of a partition in Redis. */
struct part {
    struct redis_call mark, position, stream;
};

static void part_queue(struct redis *redis, struct part *p, uint32_t partition)
{
    char key[LIVE_KEY_MAX];
    const struct str mark[] = { STR("GET"), live_site_key(key, partition) };
    redis_queue(redis, &p->mark, mark, ARRAY_LEN(mark));
    const struct str position[] = { STR("GET"), live_settled_key(key, partition) };
    redis_queue(redis, &p->position, position, ARRAY_LEN(position));
    const struct str stream[] = { STR("XRANGE"), live_events_key(key, partition), STR("-"), STR("+"), STR("COUNT"),
                                  STR("1") };
    redis_queue(redis, &p->stream, stream, ARRAY_LEN(stream));
}

static void parts_read(struct redis *redis, struct part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        part_queue(redis, &parts[i], i);
    redis_round(redis);
}

static void parts_free(struct part *parts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        redis_call_free(&parts[i].mark);
        redis_call_free(&parts[i].position);
        redis_call_free(&parts[i].stream);
    }
}

/* True when the call has an answer. A key of another type counts as no answer: no worker has written it. */
static bool has_answer(const struct redis_call *call)
{
    return call->status == ST_OK || redis_reply_is_wrong_type(call->reply);
}

static bool part_is_whole(const struct part *p)
{
    return has_answer(&p->mark) && has_answer(&p->position) && has_answer(&p->stream);
}

static struct live_event_id position_of(const struct part *p)
{
    struct live_event_id id = LIVE_EVENT_NONE;
    if (p->position.status == ST_OK)
        (void)live_event_id_parse(redis_reply_str(p->position.reply), &id);
    return id;
}

/* Whether Redis has ever settled or promised anything in the partition. */
static bool has_history(const struct part *p)
{
    return redis_reply_at(p->stream.reply, 0) != NULL || !live_event_id_equal(position_of(p), LIVE_EVENT_NONE);
}

/* Whether Redis has settled events beyond the cursor and has trimmed them: otherwise they can be settled again. A
 * position alone proves nothing, because the page pool can write it. */
static bool is_beyond(const struct part *p, struct live_event_id cursor)
{
    struct live_event first = { 0 };
    const redisReply *entry = redis_reply_at(p->stream.reply, 0);
    if (entry != NULL)
        (void)live_entry_first(entry, &first);
    return live_event_id_compare(position_of(p), cursor) > 0 &&
           (entry == NULL || live_event_id_compare(first.id, cursor) > 0);
}

/* Whether Redis has data of any site. */
static bool has_data(const struct part *p)
{
    return has_history(p) || redis_reply_str(p->mark.reply).len > 0;
}

bool settle_site_has_data(struct redis *redis, uint32_t partition)
{
    struct part p = { 0 };
    part_queue(redis, &p, partition);
    redis_round(redis);
    const bool has = has_data(&p);
    parts_free(&p, 1);
    return has;
}

/* What the tables say about their site. */
struct tables {
    bool exist, has_users;
    struct site_mark row;
    struct live_event_id cursors[CONFIG_PARTITIONS_MAX];
};

static enum status cursors_read(struct db *db, struct arena *a, struct tables *t)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT partition_no, last_id FROM stream_cursor", NULL, 0);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const uint64_t no = db_cell_u64(&rows, i, 0);
        if (no < CONFIG_PARTITIONS_MAX)
            (void)live_event_id_parse(db_cell(&rows, i, 1), &t->cursors[no]);
    }
    return st;
}

/* Reads the row and the cursors. ST_NOT_FOUND: a restore was interrupted, or the tables are of a version that had no
 * identity. */
static enum status tables_read(struct db *db, struct arena *a, struct tables *t)
{
    struct db_rows rows;
    *t = (struct tables){ 0 };
    enum status st = db_query(db, a, &rows,
                              "SELECT 1 FROM information_schema.tables WHERE table_schema = DATABASE()"
                              " AND table_name IN ('user', 'schema_migration')",
                              NULL, 0);
    t->exist = st == ST_OK && rows.count == 2;
    if (st != ST_OK || rows.count == 0)
        return st;
    if (!t->exist)
        return ST_NOT_FOUND;
    st = db_query(db, a, &rows, "SELECT id FROM user LIMIT 1", NULL, 0);
    t->has_users = st == ST_OK && rows.count > 0;
    if (st == ST_OK)
        st = cursors_read(db, a, t);
    if (st == ST_OK)
        st = db_find(db, a, &rows, SITE_ROW_SQL, NULL, 0);
    if (st == ST_OK && !site_mark_read(db_cell(&rows, 0, 0), &t->row))
        st = ST_CORRUPT;
    return st == ST_CORRUPT ? ST_NOT_FOUND : st;
}

static enum site_verdict verdict_of(const struct tables *t, uint32_t partition, const struct part *p)
{
    if (!t->exist)
        return has_data(p) ? SITE_TABLES_GONE : SITE_UNMARKED;
    struct str mark = redis_reply_str(p->mark.reply);
    const bool was_older = str_ends(mark, STR(SITE_OLDER)); /* looked at anew */
    if (was_older)
        mark.len -= sizeof SITE_OLDER - 1;
    enum site_verdict v = site_compare(&t->row, mark);
    const bool is_unmarked = v == SITE_UNMARKED || v == SITE_UNCOMPARED;
    if (!t->has_users && (v == SITE_OTHER || (is_unmarked && has_history(p))))
        return SITE_TABLES_GONE;
    if (v != SITE_OTHER && is_beyond(p, t->cursors[partition]))
        return SITE_TABLES_OLDER;
    return is_unmarked || (was_older && v == SITE_AGREES) ? SITE_UNMARKED : v;
}

/* The worst verdict of all partitions that answer. */
static void parts_judge(const struct part *parts, uint32_t count, const struct tables *t, struct settle_site_look *out)
{
    *out = (struct settle_site_look){ .row = t->row, .verdict = SITE_UNKNOWN, .marked = true };
    for (uint32_t i = 0; i < count; i++) {
        out->answered[i] = part_is_whole(&parts[i]);
        if (!out->answered[i])
            continue;
        enum site_verdict v = verdict_of(t, i, &parts[i]);
        out->marked = out->marked && v != SITE_UNMARKED;
        if (!site_may_serve(v) || site_may_serve(out->verdict) || out->verdict == SITE_UNKNOWN)
            out->verdict = site_may_serve(v) ? SITE_AGREES : v;
    }
}

enum status settle_site_look(struct redis *redis, struct db *db, uint32_t count, struct settle_site_look *out)
{
    struct part parts[CONFIG_PARTITIONS_MAX] = { 0 };
    struct tables t;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    parts_read(redis, parts, count); /* Redis first: then the tables are never behind the marks */
    enum status st = tables_read(db, a, &t);
    if (st == ST_OK)
        parts_judge(parts, count, &t, out);
    parts_free(parts, count);
    arena_free(a);
    return st;
}

/* ---- the worker ---- */

/* Writes the present generation into every mark that is missing or lower. suffix: "" or SITE_OLDER. *all: every
 * partition has it. */
static enum status marks_write(struct settle *s, const char *suffix, bool *all)
{
    struct redis_call calls[CONFIG_PARTITIONS_MAX];
    char key[LIVE_KEY_MAX], generation[STR_U64_MAX];
    *all = true;
    const struct site_mark *row = &s->stores->site.row;
    const struct str args[] = { str_from(row->id), str_u64(generation, row->generation), str_from(suffix) };
    for (uint32_t i = 0; i < s->partition_count; i++) {
        struct str name = live_site_key(key, i);
        redis_queue_function(s->stores->redis, &calls[i], s->stores->live.site, REDIS_CONFIRMED, &name, 1, args,
                             ARRAY_LEN(args));
    }
    redis_round(s->stores->redis);
    enum status st = ST_OK;
    for (uint32_t i = 0; i < s->partition_count; i++) {
        int64_t code = LIVE_BAD;
        (void)redis_reply_i64(redis_reply_at(calls[i].reply, 0), &code);
        *all = *all && calls[i].status == ST_OK && code == LIVE_LOADED;
        if (st == ST_OK && calls[i].status == ST_INVALID)
            log_error("Redis refuses the mark of the site", "partition=%u error=\"%.*s\"", i,
                      STR_ARG(redis_reply_error(calls[i].reply)));
        if (st == ST_OK)
            st =
                calls[i].status == ST_INVALID ? ST_CORRUPT : settle_away_take(s, i, status_idempotent(calls[i].status));
        redis_call_free(&calls[i]);
    }
    return st;
}

/* Shuts all fences; the pools read a fence again within a second. */
static void fences_shut(struct settle *s)
{
    for (uint32_t i = 0; i < s->partition_count && !s->site.fences_shut; i++)
        (void)live_fence_open(&s->stores->live, i, STR("shut"));
    s->site.fences_shut = true;
}

/* Takes partitions that did not answer as away; without a cluster this ends the step. */
static enum status answers_take(struct settle *s, const struct settle_site_look *look)
{
    enum status st = ST_OK;
    for (uint32_t i = 0; st == ST_OK && i < s->partition_count; i++)
        if (!look->answered[i])
            st = settle_away_take(s, i, ST_UNAVAILABLE);
    return st;
}

static enum status stores_compare(struct settle *s)
{
    struct settle_site_look look = { .verdict = SITE_UNKNOWN };
    bool all;
    s->site.agrees = false;
    s->stores->site.refused = SITE_AGREES;
    settle_away_begin(s);
    arena_reset(s->arena);
    enum status st = settle_restore_check(s);
    if (st == ST_OK)
        st = settle_site_look(s->stores->redis, s->stores->db, s->partition_count, &look);
    const uint64_t redis_at = redis_connections(s->stores->redis), db_at = db_connections(s->stores->db);
    if (st == ST_OK)
        st = answers_take(s, &look);
    if (st != ST_OK && s->stores->site.refused != SITE_AGREES) { /* a new connection to other tables was refused */
        look.verdict = s->stores->site.refused;
        look.row = s->stores->site.row;
        st = ST_OK;
    }
    if (st != ST_OK)
        return st;
    site_verdict_log(s->stores, look.verdict);
    s->stores->site.row = look.row;
    s->stores->site.known = true;
    if (look.verdict == SITE_TABLES_OLDER) /* the pools can't detect this by themselves */
        (void)marks_write(s, SITE_OLDER, &all);
    if (!site_may_serve(look.verdict)) {
        fences_shut(s);
        return ST_CONFLICT;
    }
    st = look.marked ? ST_OK : settle_durable(s, db_at); /* another worker may just have raised the generation */
    if (st == ST_OK && !look.marked)
        st = status_retry(marks_write(s, "", &all));
    if (st != ST_OK)
        return st;
    s->site = (struct settle_site){ .agrees = true,
                                    .redis_connections = redis_at,
                                    .db_connections = db_at,
                                    .compare_due_ms = clock_monotonic_ms() + COMPARE_INTERVAL_MS,
                                    .raise_due_ms = s->site.raise_due_ms,
                                    .fences_shut = s->site.fences_shut };
    return ST_OK;
}

static bool is_compared(const struct settle *s)
{
    return s->site.agrees && clock_monotonic_ms() < s->site.compare_due_ms &&
           s->site.redis_connections == redis_connections(s->stores->redis) &&
           s->site.db_connections == db_connections(s->stores->db);
}

enum status settle_site_confirm(struct settle *s)
{
    enum status st = is_compared(s) ? ST_OK : stores_compare(s);
    if (st == ST_OK && clock_monotonic_ms() >= s->site.raise_due_ms)
        settle_site_raise(s);
    return st == ST_OK || st == ST_CONFLICT || st == ST_INVALID || st == ST_NO_MEMORY ? st : ST_UNAVAILABLE;
}

/* Raises the tables first: when a worker dies in between, the marks are one behind, and the next worker raises them. */
static enum status generation_raise(struct settle *s)
{
    bool all = false;
    uint64_t raised = 0;
    struct site_mark *row = &s->stores->site.row;
    enum status st = site_row_read(s->stores);
    if (st == ST_OK)
        st = settle_durable(s, db_connections(s->stores->db)); /* another worker may just have raised it */
    if (st == ST_OK)
        st = marks_write(s, "", &all);
    if (st != ST_OK || !all)
        return st == ST_OK ? ST_UNAVAILABLE : st;
    st = db_exec(s->stores->db, &raised, "UPDATE site SET generation = generation + 1 WHERE generation = ?",
                 DB_PARAMS(DB_U64(row->generation)));
    if (st != ST_OK || raised == 0) /* another worker has raised it */
        return st;
    row->generation++;
    return marks_write(s, "", &all);
}

void settle_site_raise(struct settle *s)
{
    if (!s->site.agrees)
        return;
    enum status st = generation_raise(s);
    s->site.raise_due_ms = clock_monotonic_ms() + (st == ST_OK ? RAISE_INTERVAL_MS : RAISE_RETRY_MS);
}

bool settle_site_partition_fits(struct settle *s, uint32_t partition)
{
    const enum site_verdict v = site_partition_look(s->stores, partition);
    if (v != SITE_UNKNOWN && !site_may_serve(v) && v != SITE_UNCOMPARED)
        site_verdict_log(s->stores, v);
    return site_may_serve(v) || v == SITE_UNCOMPARED;
}
