#include "site/write_probe.h"

#include <stdio.h>

#include "base/clock.h"
#include "live/grab.h"
#include "live/keys.h"
#include "live/view.h"
#include "mysql/db_session.h"
#include "redis/reply.h"
#include "web/limits.h"

enum { INTERVAL_MS = 1000 };

/* Copies the text of a store in a form that fits into JSON and into lines. */
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
    if (redis_reply_lacks_function(call->reply))
        return STR("a function of this program is missing, which the settle worker loads");
    return error.len > 0 ? str_slice(error, 0, error.len < 120 ? error.len : 120) : str_from(status_name(call->status));
}

/* ---- Redis ---- */

/* The probe of a partition: in a cluster one server may refuse, and others not. */
struct questions {
    struct redis_call write;      /* a field of its own key */
    struct redis_call view, grab; /* for a packet that does not exist */
};

static void questions_queue(const struct live *live, uint32_t partition, struct questions *q)
{
    char key[LIVE_KEY_MAX];
    const struct str set[] = { STR("HSET"), live_probe_key(key, partition), STR("at"), STR("1") };
    redis_queue(live->redis, &q->write, set, 4);
    live_view_queue(live, &q->view, partition, 0, PACKET_NO_SHARE, 0); /* no packet has so low a number */
    live_grab_queue(live, &q->grab, partition, 0, STR(""), NULL);
}

/* The call whose answer shows why the partition takes no grab; NULL: it takes grabs. A planted key of another type
 * changes nothing: Redis reports such a key only where it would write. */
static const struct redis_call *refusal_of(const struct questions *q)
{
    if (q->write.status != ST_OK && !redis_reply_is_wrong_type(q->write.reply))
        return &q->write;
    if (redis_reply_lacks_function(q->view.reply))
        return &q->view;
    return redis_reply_lacks_function(q->grab.reply) ? &q->grab : NULL;
}

static void questions_end(struct questions *q)
{
    redis_call_free(&q->write);
    redis_call_free(&q->view);
    redis_call_free(&q->grab);
}

static void packets_probe(struct exchange *x, struct write_probe *p)
{
    const uint32_t count = (uint32_t)x->app->stores.config->partitions;
    struct questions *questions = arena_array(x->arena, count, sizeof *questions);
    uint32_t refused = 0;
    if (questions == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        questions_queue(&x->app->stores.live, i, &questions[i]);
    redis_round(x->app->stores.redis);
    for (uint32_t i = 0; i < count; i++) {
        const struct redis_call *refusal = refusal_of(&questions[i]);
        if (refusal != NULL)
            text_set(p->redis, "a part of the partitions refuses writes", reason(refusal));
        refused += refusal != NULL;
        if (refused == count) /* all partitions refuse; this is the last one */
            text_set(p->redis, "writes are refused", reason(refusal));
    }
    p->redis_refuses = refused == count;
    for (uint32_t i = 0; i < count; i++)
        questions_end(&questions[i]);
}

static void limits_probe(struct exchange *x, struct write_probe *p)
{
    struct redis_call call;
    p->redis_refuses = limits_ask(x, &call) != ST_OK;
    if (p->redis_refuses)
        text_set(p->redis, "writes are refused", reason(&call));
    redis_call_free(&call);
}

/* ---- MariaDB ---- */

/* First reads, because a refused write would close the connection; then, where the pool may write a table, tries a
 * write that changes no row, which also waits for locks of all tables. */
static void mysql_probe(struct exchange *x, struct write_probe *p, bool writes_tables)
{
    struct db *db = x->app->stores.db;
    struct db_rows rows;
    enum status st = db_query(db, x->arena, &rows, DB_WRITABLE_SQL, NULL, 0);
    bool read_only = st == ST_OK && rows.count > 0 && !str_equal(db_cell(&rows, 0, 0), STR("1"));
    if (st == ST_OK && !read_only && writes_tables)
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
    else if (kind != WRITE_PROBE_NOTHING)
        limits_probe(x, &last);
    if (x->app->stores.db != NULL && x->app->drawing == NULL) /* the card pool writes nothing to MySQL */
        mysql_probe(x, &last, kind == WRITE_PROBE_PACKETS || kind == WRITE_PROBE_LIMITS);
    taken_ms = clock_monotonic_ms();
    return &last;
}
