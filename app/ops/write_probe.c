#include "ops/write_probe.h"

#include <stdio.h>

#include "base/clock.h"
#include "io/db_session.h"
#include "io/redis.h"
#include "io/redis_reply.h"
#include "live/keys.h"

enum { INTERVAL_MS = 1000 };

/* The text of a store goes into JSON and into lines. */
static void text_set(char *out, const char *what, struct str why)
{
    (void)snprintf(out, WRITE_PROBE_TEXT_MAX, "%s: %.*s", what, STR_ARG(why));
    for (char *c = out; *c != '\0'; c++)
        if (*c == '"' || *c == '\\' || (unsigned char)*c < ' ')
            *c = ' ';
}

static struct str reason(const struct redis_call *call)
{
    struct str error = redis_reply_error(call->reply);
    return error.len > 0 ? str_slice(error, 0, error.len < 120 ? error.len : 120) : str_from(status_name(call->status));
}

/* ---- Redis ---- */

/* A field of a key of its own in each partition: in a cluster one server may refuse, and the others not. */
static void packets_probe(struct exchange *x, struct write_probe *p)
{
    struct redis *redis = x->app->stores.redis;
    const uint32_t count = (uint32_t)x->app->stores.config->partitions;
    struct redis_call *calls = arena_array(x->arena, count, sizeof *calls);
    uint32_t refused = 0, refused_last = 0;
    char key[LIVE_KEY_MAX];
    if (calls == NULL)
        return;
    for (uint32_t i = 0; i < count; i++) {
        const struct str set[] = { STR("HSET"), live_probe_key(key, i), STR("at"), STR("1") };
        redis_queue(redis, &calls[i], set, 4);
    }
    redis_round(redis);
    for (uint32_t i = 0; i < count; i++)
        if (calls[i].status != ST_OK) {
            refused++;
            refused_last = i;
        }
    p->redis_refuses = refused == count;
    if (refused == count)
        text_set(p->redis, "writes are refused", reason(&calls[refused_last]));
    else if (refused > 0)
        text_set(p->redis, "a part of the partitions refuses writes", reason(&calls[refused_last]));
    for (uint32_t i = 0; i < count; i++)
        redis_call_free(&calls[i]);
}

static void limits_probe(struct exchange *x, struct write_probe *p)
{
    const struct str set[] = { STR("SET"), STR("hb:{limit}:unused"), STR("1"), STR("PX"), STR("60000") };
    struct redis_call call;
    p->redis_refuses = redis_do(x->app->stores.redis, &call, set, 5) != ST_OK;
    if (p->redis_refuses)
        text_set(p->redis, "writes are refused", reason(&call));
    redis_call_free(&call);
}

/* ---- MariaDB ---- */

/* First a question, because a refused write would close the connection; then a write that changes no row, which also
 * waits for locks of all tables. */
static void mysql_probe(struct exchange *x, struct write_probe *p)
{
    struct db *db = x->app->stores.db;
    struct db_rows rows;
    enum status st = db_query(db, x->arena, &rows, DB_WRITABLE_SQL, NULL, 0);
    bool read_only = st == ST_OK && rows.count > 0 && !str_equal(db_cell(&rows, 0, 0), STR("1"));
    if (st == ST_OK && !read_only)
        st = db_exec(db, NULL, "DELETE FROM token WHERE id = 0", NULL, 0);
    p->mysql_refuses = st != ST_OK || read_only;
    if (p->mysql_refuses)
        text_set(p->mysql, "writes are refused",
                 read_only                   ? STR("the server is read-only")
                 : db_refusal(db)[0] != '\0' ? str_from(db_refusal(db))
                                             : str_from(status_name(st)));
}

/* Of this process. */
static struct write_probe last;
static int64_t taken_ms; /* monotonic; 0: never */

void write_probe_forget(void)
{
    taken_ms = 0;
}

const struct write_probe *write_probe_take(struct exchange *x, enum write_probe_kind kind)
{
    const int64_t now_ms = clock_monotonic_ms();
    if (taken_ms != 0 && now_ms - taken_ms < INTERVAL_MS)
        return &last;
    last = (struct write_probe){ 0 };
    if (kind == WRITE_PROBE_PACKETS)
        packets_probe(x, &last);
    else
        limits_probe(x, &last);
    if (x->app->stores.db != NULL && x->app->drawing == NULL) /* the card pool writes nothing there */
        mysql_probe(x, &last);
    taken_ms = clock_monotonic_ms();
    return &last;
}
