/* The sessions in Redis. A process that can write sessions could invent one; it is found when it names no user. */
#include <inttypes.h>

#include "base/buf.h"
#include "io/redis_cluster.h"
#include "io/redis_reply.h"
#include "ops/audit_internal.h"
#include "user/session.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)32 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* The user of a session; 0: the value can't be read, which is a violation. */
static uint64_t user_of(struct audit *audit, struct str value)
{
    struct session session;
    if (session_value_read(value, &session))
        return session.user_id;
    audit_note(audit, AUDIT_SESSIONS, "user", 0, "a session can't be read: %zu bytes", value.len);
    return 0;
}

static bool ids_have(const struct db_rows *rows, uint64_t id)
{
    for (size_t i = 0; i < rows->count; i++)
        if (db_cell_u64(rows, i, 0) == id)
            return true;
    return false;
}

/* Compares the users of sessions with the tables. A user is in the tables before the first session. */
static enum status users_check(struct audit *audit, struct db *db, struct arena *a, const uint64_t *ids, size_t count)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    if (count == 0)
        return ST_OK;
    buf_cstr(&sql, "SELECT id FROM user WHERE deleted_ms IS NULL AND id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < count; i++)
        if (!ids_have(&rows, ids[i]))
            audit_note(audit, AUDIT_SESSIONS, "user", ids[i], "has a session, but there is no such user any more");
    return st;
}

/* Reads the sessions with these keys, and checks their users. */
static enum status keys_check(struct audit *audit, struct stores *stores, struct arena *a, const redisReply *keys)
{
    size_t count = 0, users = 0;
    while (redis_reply_at(keys, count) != NULL)
        count++;
    struct redis_call *calls = arena_array(a, count + 1, sizeof *calls);
    uint64_t *ids = arena_array(a, count + 1, sizeof *ids);
    if (calls == NULL || ids == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const struct str get[] = { STR("GET"), redis_reply_str(redis_reply_at(keys, i)) };
        redis_queue(stores->redis, &calls[i], get, 2);
    }
    redis_round(stores->redis);
    enum status st = ST_OK;
    for (size_t i = 0; i < count; i++) {
        if (st == ST_OK)
            st = status_idempotent(calls[i].status);
        if (st == ST_OK && !redis_reply_is_nil(calls[i].reply)) { /* nil: it has ended since */
            ids[users] = user_of(audit, redis_reply_str(calls[i].reply));
            users += ids[users] != 0;
        }
        redis_call_free(&calls[i]);
    }
    return st == ST_OK ? users_check(audit, stores->db, a, ids, users) : st;
}

enum status audit_sessions_step(struct audit *audit, struct stores *stores, char cursor[AUDIT_CURSOR_MAX], bool *more)
{
    struct str primary_text;
    struct str from = str_cut(str_from(cursor), ' ', &primary_text);
    const struct str scan[] = { STR("SCAN"), from, STR("MATCH"), STR("hb:session:*"), STR("COUNT"), STR("500") };
    struct redis_call call;
    uint64_t primary = 0;
    (void)str_to_u64(primary_text, &primary); /* at first there is none */
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = status_idempotent(redis_do_at(stores->redis, &call, primary, scan, 6));
    if (st == ST_OK) {
        struct str next = redis_reply_str(redis_reply_at(call.reply, 0));
        bool ended = next.len == 0 || str_equal(next, STR("0"));
        primary += ended;
        *more = !ended || primary < redis_primaries(stores->redis);
        (void)snprintf(cursor, AUDIT_CURSOR_MAX, "%.*s %" PRIu64, STR_ARG(ended ? STR("0") : next),
                       *more ? primary : 0);
        st = keys_check(audit, stores, a, redis_reply_at(call.reply, 1));
    }
    redis_call_free(&call);
    arena_free(a);
    return st;
}

enum status audit_sessions(struct audit *audit, struct stores *stores)
{
    char cursor[AUDIT_CURSOR_MAX] = "0";
    enum status st = ST_OK;
    for (bool more = true; st == ST_OK && more;)
        st = audit_sessions_step(audit, stores, cursor, &more);
    return st;
}
