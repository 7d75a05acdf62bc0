#include "user/session_list.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "redis/reply.h"

#define ENDED STR("ended")

enum {
    KEY_PREFIX_LEN = SESSION_KEY_LEN - 64,
    HASH_LEN = 64,
    MINUTE_MS = 60 * 1000 /* longer than a login takes from its request to its session */
};

/* ---- commands of one round ---- */

struct batch {
    struct redis *redis;
    struct redis_call *calls;
    size_t count, max;
};

static enum status batch_begin(struct batch *b, struct redis *redis, struct arena *a, size_t max)
{
    *b = (struct batch){ redis, arena_array(a, max, sizeof *b->calls), 0, max };
    return b->calls == NULL ? ST_NO_MEMORY : ST_OK;
}

static void batch_add(struct batch *b, const struct str *words, size_t count)
{
    assert(b->count < b->max);
    redis_queue(b->redis, &b->calls[b->count++], words, count);
}
#define BATCH_ADD(b, ...)                                                                                              \
    batch_add(b, (const struct str[]){ __VA_ARGS__ },                                                                  \
              sizeof((const struct str[]){ __VA_ARGS__ }) / sizeof(struct str)) /* clang refuses ARRAY_LEN here */

/* Runs the round. The replies stay until batch_end. */
static enum status batch_run(struct batch *b)
{
    enum status st = ST_OK;
    redis_round(b->redis);
    for (size_t i = 0; i < b->count; i++)
        if (b->calls[i].status != ST_OK && st == ST_OK)
            st = b->calls[i].status;
    return st == ST_OK || st == ST_UNKNOWN || st == ST_NO_MEMORY ? st : ST_UNAVAILABLE;
}

static void batch_end(struct batch *b)
{
    for (size_t i = 0; i < b->count; i++)
        redis_call_free(&b->calls[i]);
    b->count = 0;
}

static enum status batch_finish(struct batch *b)
{
    enum status st = batch_run(b);
    batch_end(b);
    return st;
}

/* ---- the list ---- */

struct list {
    struct str key;
    struct session_entry *entries;
    size_t count;
    int64_t ended_ms; /* 0: never */
};

static struct str list_key(struct arena *a, uint64_t user_id)
{
    return arena_printf(a, SESSION_LIST_PREFIX "%" PRIu64, user_id);
}

static struct str list_ttl(const struct stores *stores, struct arena *a)
{
    return arena_printf(a, "%" PRId64, stores->config->session_absolute_s * 1000);
}

/* The field of a session in its list. */
static struct str field_of(struct str key)
{
    return str_skip(key, KEY_PREFIX_LEN);
}

static bool entry_read(struct arena *a, struct str field, struct str value, struct session_entry *out)
{
    struct str device;
    struct str created = str_cut(value, ',', &device);
    if (field.len != HASH_LEN || !str_to_i64(created, &out->created_ms))
        return false;
    out->key = arena_printf(a, SESSION_KEY_PREFIX "%.*s", STR_ARG(field));
    out->id = arena_str(a, str_slice(field, 0, SESSION_ID_LEN));
    out->device = arena_str(a, str_or_empty(device));
    out->seen_ms = out->created_ms;
    return true;
}

/* Reads the reply to HGETALL. */
static enum status list_parse(struct arena *a, const redisReply *reply, struct list *out)
{
    size_t words = reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
    out->entries = arena_array(a, words / 2 + 1, sizeof *out->entries);
    out->count = 0;
    out->ended_ms = 0;
    if (out->entries == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i + 1 < words; i += 2) {
        struct str field = redis_reply_str(redis_reply_at(reply, i));
        struct str value = redis_reply_str(redis_reply_at(reply, i + 1));
        if (str_equal(field, ENDED))
            (void)str_to_i64(value, &out->ended_ms);
        else if (entry_read(a, field, value, &out->entries[out->count]))
            out->count++;
        else
            log_error("session list entry malformed", "bytes=%zu", value.len);
    }
    return arena_failed(a) ? ST_NO_MEMORY : ST_OK;
}

static enum status list_load(struct redis *redis, struct arena *a, uint64_t user_id, struct list *out)
{
    struct batch b;
    out->key = list_key(a, user_id);
    enum status st = out->key.ptr == NULL ? ST_NO_MEMORY : batch_begin(&b, redis, a, 1);
    if (st != ST_OK)
        return st;
    BATCH_ADD(&b, STR("HGETALL"), out->key);
    st = batch_run(&b);
    if (st == ST_OK)
        st = list_parse(a, b.calls[0].reply, out);
    batch_end(&b);
    return st;
}

/* Removes sessions from the list; entries: count of them. */
static enum status entries_unlist(struct redis *redis, struct arena *a, const struct list *list,
                                  const struct session_entry *entries, size_t count)
{
    struct batch b;
    enum status st = count == 0 ? ST_OK : batch_begin(&b, redis, a, count);
    if (st != ST_OK || count == 0)
        return st;
    for (size_t i = 0; i < count; i++)
        BATCH_ADD(&b, STR("HDEL"), list->key, field_of(entries[i].key));
    return batch_finish(&b);
}

/* Deletes sessions and removes them from the list; entries: count of them. ST_UNKNOWN also when the replicas do not
 * confirm: a failover could bring a session back. */
static enum status entries_end(struct redis *redis, struct arena *a, const struct list *list,
                               const struct session_entry *entries, size_t count)
{
    struct batch b;
    enum status st = count == 0 ? ST_OK : batch_begin(&b, redis, a, count);
    if (st != ST_OK || count == 0)
        return st;
    for (size_t i = 0; i < count; i++) {
        const struct str del[] = { STR("DEL"), entries[i].key };
        redis_queue_confirmed(redis, &b.calls[b.count++], del, 2);
    }
    /* In a separate round: in a cluster the list is on another server. A session that could not be deleted stays
     * listed. */
    st = batch_finish(&b);
    return st == ST_OK ? entries_unlist(redis, a, list, entries, count) : st;
}

static int by_seen(const void *left, const void *right)
{
    const struct session_entry *a = left, *b = right;
    if (a->seen_ms != b->seen_ms)
        return a->seen_ms > b->seen_ms ? -1 : 1;
    return a->created_ms > b->created_ms ? -1 : a->created_ms < b->created_ms;
}

static int by_created(const void *left, const void *right)
{
    const struct session_entry *a = left, *b = right;
    return a->created_ms < b->created_ms ? -1 : a->created_ms > b->created_ms;
}

/* Reads each session of the list: its last use, and whether it still exists. An entry without a session is removed from
 * the list, unless it is young: another process may be about to store its session. */
static enum status list_look_up(struct redis *redis, struct arena *a, struct list *list, int64_t now_ms)
{
    struct batch b;
    struct session_entry *gone = arena_array(a, list->count + 1, sizeof *gone);
    size_t gone_count = 0, kept = 0;
    enum status st = gone == NULL ? ST_NO_MEMORY : batch_begin(&b, redis, a, list->count + 1);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < list->count; i++)
        BATCH_ADD(&b, STR("GET"), list->entries[i].key);
    st = batch_run(&b);
    for (size_t i = 0; st == ST_OK && i < list->count; i++) {
        struct session s;
        struct session_entry entry = list->entries[i];
        struct str value = redis_reply_str(b.calls[i].reply);
        if (value.ptr != NULL && session_value_read(value, &s)) {
            entry.seen_ms = s.seen_ms;
            list->entries[kept++] = entry;
        } else if (now_ms - entry.created_ms > MINUTE_MS) {
            gone[gone_count++] = entry;
        }
    }
    batch_end(&b);
    if (st != ST_OK)
        return st;
    list->count = kept;
    return entries_unlist(redis, a, list, gone, gone_count);
}

/* ---- starting ---- */

static struct str entry_text(struct arena *a, const struct session *s, struct str device)
{
    return arena_printf(a, "%" PRId64 ",%.*s", s->created_ms, STR_ARG(device));
}

void session_list_queue(const struct stores *stores, struct arena *a, struct redis_call calls[2], struct str key,
                        const struct session *s)
{
    const struct str list = list_key(a, s->user_id), entry = entry_text(a, s, STR("")), ttl = list_ttl(stores, a);
    const struct str set[] = { STR("HSET"), list, field_of(key), entry }, expire[] = { STR("PEXPIRE"), list, ttl };
    if (arena_failed(a)) {
        calls[0].status = ST_NO_MEMORY;
        return;
    }
    redis_queue(stores->redis, &calls[0], set, ARRAY_LEN(set));
    redis_queue(stores->redis, &calls[1], expire, ARRAY_LEN(expire));
}

/* A session that is entered into the list of its user. */
struct entering {
    struct str key;
    const struct session *session;
    struct str device;
    struct str condition; /* option of SET: NX or XX */
    int64_t now_ms;
};

/* Enters the session, stores it, and reads the list. *stored: false when the condition did not hold. */
static enum status enter(const struct stores *stores, struct arena *a, const struct entering *in, struct list *list,
                         bool *stored)
{
    struct batch b;
    struct session listed = *in->session;
    listed.listed = true;
    list->key = list_key(a, listed.user_id);
    struct str entry = entry_text(a, &listed, in->device);
    struct str value = session_value_text(a, &listed);
    struct str ttl = arena_printf(a, "%" PRId64, session_ttl_ms(stores->config, &listed, in->now_ms));
    struct str lasting = list_ttl(stores, a);
    const struct str listing[] = { STR("HSET"), list->key, field_of(in->key), entry };
    enum status st = batch_begin(&b, stores->redis, a, 2);
    if (st != ST_OK || arena_failed(a))
        return ST_NO_MEMORY;
    /* The entry first, and confirmed: in a cluster the list is on another server than the session, and either may be
     * lost. An entry without a session is removed later, but a session without an entry would look planted. */
    redis_queue_confirmed(b.redis, &b.calls[b.count++], listing, ARRAY_LEN(listing));
    BATCH_ADD(&b, STR("PEXPIRE"), list->key, lasting);
    st = batch_finish(&b);
    if (st != ST_OK)
        return st;
    BATCH_ADD(&b, STR("SET"), in->key, value, in->condition, STR("PX"), ttl);
    st = batch_run(&b);
    *stored = st == ST_OK && !redis_reply_is_nil(b.calls[0].reply);
    batch_end(&b);
    if (st != ST_OK)
        return st;
    /* The list is read last: if all sessions are ended after this read, the entry is found in the list and the session
     * is stored. */
    BATCH_ADD(&b, STR("HGETALL"), list->key);
    st = batch_run(&b);
    if (st == ST_OK)
        st = list_parse(a, b.calls[0].reply, list);
    batch_end(&b);
    return st;
}

/* Ends the oldest sessions, except the session with the key, so that at most max are left. */
static enum status oldest_end(struct redis *redis, struct arena *a, struct list *list, struct str key, size_t max,
                              int64_t now_ms)
{
    if (list->count <= max)
        return ST_OK;
    enum status st = list_look_up(redis, a, list, now_ms);
    if (st != ST_OK || list->count <= max)
        return st;
    size_t others = 0, excess = list->count - max;
    for (size_t i = 0; i < list->count; i++)
        if (!str_equal(list->entries[i].key, key))
            list->entries[others++] = list->entries[i];
    qsort(list->entries, others, sizeof *list->entries, by_created);
    return entries_end(redis, a, list, list->entries, excess < others ? excess : others);
}

enum status session_list_start(const struct stores *stores, struct arena *a, struct str key, const struct session *s,
                               struct str device, int64_t now_ms)
{
    const struct entering in = { .key = key, .session = s, .device = device, .condition = STR("NX"), .now_ms = now_ms };
    struct list list;
    bool stored;
    enum status st = enter(stores, a, &in, &list, &stored);
    if (st != ST_OK)
        return st;
    /* A time far in the future was written before the clock was set back. */
    if (list.ended_ms >= s->created_ms && list.ended_ms - s->created_ms < MINUTE_MS) {
        st = session_list_end_key(stores, a, s->user_id, key);
        return st == ST_OK ? ST_CONFLICT : st;
    }
    if (oldest_end(stores->redis, a, &list, key, (size_t)stores->config->sessions_max, now_ms) != ST_OK)
        log_warn("oldest session not ended", "user_id=%" PRIu64, s->user_id);
    return ST_OK;
}

enum status session_list_adopt(const struct stores *stores, struct arena *a, struct str key, const struct session *s,
                               int64_t now_ms)
{
    const struct entering in = {
        .key = key, .session = s, .device = STR(""), .condition = STR("XX"), .now_ms = now_ms
    };
    struct list list;
    bool stored;
    enum status st = enter(stores, a, &in, &list, &stored);
    if (st != ST_OK)
        return st;
    if (stored && list.ended_ms < s->created_ms)
        return ST_OK;
    st = session_list_end_key(stores, a, s->user_id, key);
    return st == ST_OK ? ST_NOT_FOUND : st;
}

/* ---- reading and ending ---- */

enum status session_list_keep(const struct stores *stores, struct arena *a, uint64_t user_id, struct str key, bool *has)
{
    struct batch b;
    int64_t found = 0;
    const struct str list = list_key(a, user_id);
    const struct str ttl = list_ttl(stores, a);
    enum status st = arena_failed(a) ? ST_NO_MEMORY : batch_begin(&b, stores->redis, a, 2);
    *has = false;
    if (st != ST_OK)
        return st;
    BATCH_ADD(&b, STR("HEXISTS"), list, field_of(key));
    BATCH_ADD(&b, STR("PEXPIRE"), list, ttl);
    st = batch_run(&b);
    if (st == ST_OK && !redis_reply_i64(b.calls[0].reply, &found))
        st = ST_UNAVAILABLE;
    batch_end(&b);
    *has = found == 1;
    return st;
}

enum status session_list_read(const struct stores *stores, struct arena *a, uint64_t user_id, int64_t now_ms,
                              struct session_entry **out, size_t *count)
{
    struct list list;
    enum status st = list_load(stores->redis, a, user_id, &list);
    if (st == ST_OK)
        st = list_look_up(stores->redis, a, &list, now_ms);
    if (st != ST_OK)
        return st;
    qsort(list.entries, list.count, sizeof *list.entries, by_seen);
    *out = list.entries;
    *count = list.count;
    return ST_OK;
}

enum status session_list_end_key(const struct stores *stores, struct arena *a, uint64_t user_id, struct str key)
{
    struct list list = { .key = list_key(a, user_id) };
    struct session_entry entry = { .key = key };
    return list.key.ptr == NULL ? ST_NO_MEMORY : entries_end(stores->redis, a, &list, &entry, 1);
}

enum status session_list_end(const struct stores *stores, struct arena *a, uint64_t user_id, struct str id)
{
    struct list list;
    enum status st = list_load(stores->redis, a, user_id, &list);
    for (size_t i = 0; st == ST_OK && i < list.count; i++)
        if (str_equal(list.entries[i].id, id))
            return entries_end(stores->redis, a, &list, &list.entries[i], 1);
    return st == ST_OK ? ST_NOT_FOUND : st;
}

/* Waits until this millisecond is over, but not for a clock that stands still or was set back. */
static void millisecond_end(int64_t ms)
{
    const struct timespec pause = { .tv_nsec = 200000 };
    for (int i = 0; i < 10 && clock_now_ms() == ms; i++)
        (void)nanosleep(&pause, NULL);
}

enum status session_list_end_others(const struct stores *stores, struct arena *a, uint64_t user_id, struct str keep,
                                    int64_t now_ms)
{
    struct batch b;
    struct list list = { .key = list_key(a, user_id) };
    struct str now = arena_printf(a, "%" PRId64, now_ms);
    struct str ttl = list_ttl(stores, a);
    size_t others = 0;
    enum status st = batch_begin(&b, stores->redis, a, 3);
    if (st != ST_OK || arena_failed(a))
        return ST_NO_MEMORY;
    BATCH_ADD(&b, STR("HSET"), list.key, ENDED, now);
    BATCH_ADD(&b, STR("PEXPIRE"), list.key, ttl);
    BATCH_ADD(&b, STR("HGETALL"), list.key);
    st = batch_run(&b);
    if (st == ST_OK)
        st = list_parse(a, b.calls[2].reply, &list);
    batch_end(&b);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < list.count; i++)
        if (!str_equal(list.entries[i].key, keep))
            list.entries[others++] = list.entries[i];
    st = entries_end(stores->redis, a, &list, list.entries, others);
    millisecond_end(now_ms);
    return st;
}

enum status session_list_rename(const struct stores *stores, struct arena *a, uint64_t user_id,
                                const struct str *nickname, const struct face *face)
{
    struct list list;
    struct batch get, set;
    enum status st = list_load(stores->redis, a, user_id, &list);
    if (st == ST_OK)
        st = batch_begin(&get, stores->redis, a, list.count + 1);
    if (st == ST_OK)
        st = batch_begin(&set, stores->redis, a, list.count + 1);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < list.count; i++)
        BATCH_ADD(&get, STR("GET"), list.entries[i].key);
    st = batch_run(&get);
    for (size_t i = 0; st == ST_OK && i < list.count; i++) {
        struct session s;
        struct str value = redis_reply_str(get.calls[i].reply);
        if (value.ptr == NULL || !session_value_read(value, &s))
            continue;
        s.nickname = nickname != NULL ? *nickname : s.nickname;
        s.face = face != NULL ? *face : s.face;
        struct str changed = session_value_text(a, &s);
        if (changed.ptr == NULL)
            st = ST_NO_MEMORY;
        else
            BATCH_ADD(&set, STR("SET"), list.entries[i].key, changed, STR("XX"), STR("KEEPTTL"));
    }
    if (set.count > 0) {
        enum status written = batch_finish(&set);
        st = st == ST_OK ? written : st;
    }
    batch_end(&get);
    return st;
}
