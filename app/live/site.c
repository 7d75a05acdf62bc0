#include "live/site.h"

#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "live/fence.h"
#include "live/keys.h"
#include "live/site_settings.h"
#include "live/stores.h"
#include "redis/reply.h"

enum { ARENA_CHUNK_BYTES = 1024, ARENA_LIMIT_BYTES = 64 << 10, FRESH_MS = 1000 };

/* ---- marks ---- */

static bool id_is_hex(struct str id)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < id.len; i++)
        if (id.ptr[i] == '\0' || strchr(digits, id.ptr[i]) == NULL)
            return false;
    return id.len == SITE_ID_LEN;
}

bool site_mark_read(struct str text, struct site_mark *out)
{
    struct str generation;
    struct str id = str_cut(text, ' ', &generation);
    if (text.ptr == NULL || generation.ptr == NULL)
        return false;
    out->tables_older = str_ends(generation, STR(SITE_OLDER));
    if (out->tables_older)
        generation.len -= sizeof SITE_OLDER - 1;
    if (!id_is_hex(id) || !str_to_u64(generation, &out->generation))
        return false;
    memcpy(out->id, id.ptr, SITE_ID_LEN);
    out->id[SITE_ID_LEN] = '\0';
    return true;
}

struct str site_mark_text(const struct site_mark *mark, char *out)
{
    struct buf text = { .ptr = out, .cap = SITE_MARK_MAX, .limit = SITE_MARK_MAX };
    buf_cstr(&text, mark->id);
    buf_char(&text, ' ');
    buf_u64(&text, mark->generation);
    return buf_view(&text);
}

enum site_verdict site_compare(const struct site_mark *row, struct str mark)
{
    struct site_mark m;
    if (!site_mark_read(mark, &m))
        return row->generation == 0 ? SITE_UNCOMPARED : SITE_UNMARKED;
    if (strcmp(m.id, row->id) != 0)
        return SITE_OTHER;
    if (m.generation > row->generation || m.tables_older)
        return SITE_TABLES_OLDER;
    return row->generation - m.generation > 1 ? SITE_REDIS_OLDER : SITE_AGREES;
}

#define LOST_PAGE "docs/how-to/lost.md"

const char *site_verdict_text(enum site_verdict verdict)
{
    static const char *const texts[] = {
        [SITE_AGREES] = "tables and Redis belong together",
        [SITE_UNMARKED] = "Redis is empty",
        [SITE_UNCOMPARED] = "the settle worker has not compared tables and Redis yet: start it",
        [SITE_OTHER] = "Redis has the data of another site than the tables: correct the addresses of the stores, or see"
                       " " LOST_PAGE,
        [SITE_TABLES_GONE] = "the tables are new and have no user, but Redis has the data of a site: MariaDB has lost"
                             " its data. Bring a backup back: " LOST_PAGE,
        [SITE_TABLES_OLDER] = "the tables are an older copy than Redis: bring both back from one backup: " LOST_PAGE,
        [SITE_REDIS_OLDER] = "Redis is an older copy than the tables: empty it, it is rebuilt from them: " LOST_PAGE,
        [SITE_OTHER_SETTINGS] = "the tables have another time zone or unit of money than the settings: hongbao doctor",
        [SITE_UNKNOWN] = "a store does not answer",
    };
    return texts[verdict];
}

bool site_may_serve(enum site_verdict verdict)
{
    return verdict == SITE_AGREES || verdict == SITE_UNMARKED;
}

void site_verdict_log(struct stores *stores, enum site_verdict verdict)
{
    struct site *s = &stores->site;
    if (verdict == s->verdict || verdict == SITE_UNKNOWN)
        return;
    const bool served = site_may_serve(s->verdict);
    s->verdict = verdict;
    if (!site_may_serve(verdict))
        log_error("the stores do not belong together", "why=\"%s\"", site_verdict_text(verdict));
    else if (!served)
        log_info("the stores belong together", NULL);
}

/* ---- the row ---- */

/* Compares the row with the last one, for each new connection to MySQL and each reading of the row. There is no row
 * before the migrations have run. */
static const char *row_accept(void *ctx, struct str answer)
{
    struct site *s = ctx;
    struct site_mark row;
    const bool has_row = site_mark_read(answer, &row);
    s->refused = SITE_AGREES;
    if (!has_row && !s->known)
        return NULL;
    if (!has_row || (s->known && strcmp(row.id, s->row.id) != 0))
        s->refused = SITE_OTHER;
    else if (s->known && row.generation < s->row.generation)
        s->refused = SITE_TABLES_OLDER;
    if (s->refused == SITE_OTHER)
        return "its tables are of another site than those of before";
    if (s->refused == SITE_TABLES_OLDER)
        return "its tables are an older copy of those of before";
    s->known = true;
    s->row = row;
    return NULL;
}

/* The row, a blank and the settings of the data. Also works with tables of a version before, without these columns. */
#define ROW_SQL                                                                                                        \
    "SELECT (SELECT CONCAT(s.id, ' ', s.generation, ' ', " SITE_SETTINGS_COLUMNS ") FROM site AS s)"                   \
    " FROM " SITE_SETTINGS_WITHOUT

/* Compares the settings, too. answer: of ROW_SQL. */
static const char *answer_accept(void *ctx, struct str answer)
{
    static const char *const differs[SITE_SETTING_COUNT] = {
        [SITE_TIMEZONE] = "its tables have another time zone than the setting timezone: hongbao doctor",
        [SITE_UNIT] = "its tables have another unit of money than the setting unit: hongbao doctor",
        [SITE_UNIT_DECIMALS] = "its tables have another number than the setting unit_decimals: hongbao doctor",
    };
    struct stores *stores = ctx;
    struct str settings, generation, id = str_cut(answer, ' ', &generation);
    (void)str_cut(str_or_empty(generation), ' ', &settings);
    if (settings.ptr == NULL) /* no row */
        return row_accept(&stores->site, answer);
    const struct str mark = { id.ptr, answer.len - settings.len - 1 };
    for (size_t i = 0; i < SITE_SETTING_COUNT; i++) {
        if (site_setting_take(stores->config, (enum site_setting)i, &settings))
            continue;
        stores->site.refused = SITE_OTHER_SETTINGS;
        return differs[i];
    }
    return row_accept(&stores->site, mark);
}

void site_watch(struct stores *stores)
{
    db_greet(stores->db, ROW_SQL, answer_accept, stores);
}

enum status site_row_read(struct stores *stores)
{
    struct db_rows rows;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    stores->site.refused = SITE_AGREES;
    enum status st = db_find(stores->db, a, &rows, ROW_SQL, NULL, 0);
    if (st == ST_OK)
        (void)answer_accept(stores, db_cell(&rows, 0, 0));
    arena_free(a);
    if (stores->site.refused != SITE_AGREES)
        return ST_CONFLICT;
    return st == ST_OK && stores->site.known ? ST_OK : st == ST_NO_MEMORY ? st : ST_UNAVAILABLE;
}

/* ---- comparing ---- */

/* Reads the mark of a partition. ST_OK: text has it, or is empty when there is none. */
static enum status mark_get(struct stores *stores, uint32_t partition, char text[SITE_MARK_MAX], struct str *mark)
{
    char key[LIVE_KEY_MAX];
    struct redis_call call;
    const struct str get[] = { STR("GET"), live_site_key(key, partition) };
    (void)redis_do(stores->redis, &call, get, ARRAY_LEN(get));
    enum status st = redis_reply_is_wrong_type(call.reply) ? ST_OK : call.status;
    struct str found = st == ST_OK ? redis_reply_str(call.reply) : STR_NONE;
    *mark = STR_NONE;
    if (found.ptr != NULL && found.len < SITE_MARK_MAX) {
        memcpy(text, found.ptr, found.len);
        *mark = (struct str){ text, found.len };
    }
    redis_call_free(&call);
    return st;
}

enum site_verdict site_partition_look(struct stores *stores, uint32_t partition)
{
    char text[SITE_MARK_MAX];
    struct str mark;
    if (mark_get(stores, partition, text, &mark) != ST_OK || site_row_read(stores) != ST_OK)
        return SITE_UNKNOWN;
    return site_compare(&stores->site.row, mark);
}

/* Refines SITE_OTHER: when the tables have no user, they were made anew: SITE_TABLES_GONE. It stays SITE_OTHER for a
 * role that may not read users. */
static enum site_verdict refined(struct stores *stores, enum site_verdict verdict)
{
    struct db_rows rows;
    struct arena *a = verdict == SITE_OTHER ? arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES) : NULL;
    if (a == NULL)
        return verdict;
    enum status st = db_query(stores->db, a, &rows, "SELECT id FROM user LIMIT 1", NULL, 0);
    arena_free(a);
    return st == ST_OK && rows.count == 0 ? SITE_TABLES_GONE : verdict;
}

/* Reads the mark of the first partition that answers: the servers of other partitions may be away. */
static enum status any_mark_get(struct stores *stores, char text[SITE_MARK_MAX], struct str *mark)
{
    const uint32_t count = (uint32_t)stores->config->partitions;
    enum status st = ST_UNAVAILABLE;
    for (uint32_t i = 0; st != ST_OK && i < count; i++)
        st = mark_get(stores, i, text, mark);
    return st;
}

/* Whether a worker has raised the mark of a partition meanwhile: then the row, which was read after it, may be later by
 * any number of generations. */
static bool mark_has_moved(struct stores *stores, struct str before)
{
    char text[SITE_MARK_MAX];
    struct str mark;
    struct site_mark then, now;
    return any_mark_get(stores, text, &mark) == ST_OK && site_mark_read(before, &then) && site_mark_read(mark, &now) &&
           strcmp(then.id, now.id) == 0 && now.generation > then.generation && !now.tables_older;
}

static bool is_fresh(const struct stores *stores, int64_t now_ms)
{
    const struct site *s = &stores->site;
    return s->redis_connections != 0 && s->redis_connections == redis_connections(stores->redis) &&
           now_ms - s->compared_ms < FRESH_MS;
}

/* For a process without tables: its pages would show amounts in a unit of its own. While Redis is away, only a new
 * connection is worth another question. */
static enum status unit_confirm(struct stores *stores)
{
    struct site *s = &stores->site;
    if (s->unanswered == redis_connections(stores->redis) + 1)
        return ST_OK;
    enum status st = live_unit_check(stores->redis);
    s->unanswered = st == ST_UNAVAILABLE ? redis_connections(stores->redis) + 1 : 0;
    s->redis_connections = st == ST_CONFLICT || st == ST_UNAVAILABLE ? 0 : redis_connections(stores->redis);
    s->compared_ms = clock_monotonic_ms();
    if (st != ST_UNAVAILABLE && st != ST_NOT_FOUND)
        site_verdict_log(stores, st == ST_CONFLICT ? SITE_OTHER_SETTINGS : SITE_AGREES);
    return st == ST_CONFLICT ? ST_UNAVAILABLE : ST_OK;
}

enum status site_confirm(struct stores *stores)
{
    struct site *s = &stores->site;
    char text[SITE_MARK_MAX];
    struct str mark;
    if (stores->redis == NULL || is_fresh(stores, clock_monotonic_ms()))
        return ST_OK;
    if (stores->db == NULL)
        return unit_confirm(stores);
    /* The mark is read first: a worker raises the generation in the tables first, so the row is never older than the
     * mark. */
    if (any_mark_get(stores, text, &mark) != ST_OK)
        return ST_OK;
    const uint64_t connections = redis_connections(stores->redis);
    enum status st = site_row_read(stores);
    enum site_verdict verdict = st == ST_CONFLICT ? refined(stores, s->refused)
                                : s->known        ? refined(stores, site_compare(&s->row, mark))
                                                  : SITE_UNKNOWN;
    /* While MySQL does not answer, a later generation in the mark proves nothing: the row may have been raised, too. */
    if (st != ST_OK && st != ST_CONFLICT && verdict == SITE_TABLES_OLDER && !str_ends(mark, STR(SITE_OLDER)))
        verdict = SITE_AGREES;
    if (verdict == SITE_REDIS_OLDER && mark_has_moved(stores, mark))
        verdict = SITE_AGREES;
    site_verdict_log(stores, verdict);
    s->redis_connections = 0;
    if (!site_may_serve(verdict))
        return ST_UNAVAILABLE;
    s->redis_connections = connections;
    s->compared_ms = clock_monotonic_ms();
    return ST_OK;
}
