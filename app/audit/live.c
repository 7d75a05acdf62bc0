/* Compares open packets in Redis with the tables. MySQL is read first, so Redis may be ahead: every grab that only
 * Redis has must wait in the stream, behind the cursor. */
#include "audit/audit_internal.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "live/event.h"
#include "live/keys.h"
#include "live/load.h"
#include "live/stores.h"
#include "packet/grab.h"
#include "packet/returns.h"
#include "packet/split.h"
#include "packet/store.h"
#include "redis/reply.h"

enum {
    PACKETS_PER_QUERY = 200,
    GRABS_PER_ROUND = 1000,
    ATTEMPTS_MAX = 4, /* comparisons of a packet that differs; the last one is reported */
    RETRY_MS = 300,
    FUNDING_GRACE_MS = 2 * LIVE_LOAD_WITHIN_MS /* a packet younger than this may not be in Redis yet */
};
static const size_t ARENA_CHUNK_BYTES = (size_t)256 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* The comparison of one packet. */
struct comparison {
    struct stores *stores;
    struct audit *audit;
    struct arena *arena;
    struct packet p;
    struct live_event_id cursor;
    struct live_keys keys;
    int64_t listed_fen;           /* sum of Redis's list of grabs */
    struct share_return *returns; /* of the packet, by the tables */
    size_t return_count;
};

/* ---- the hash and the shares ---- */

static void hash_check(struct comparison *k, const redisReply *fields, uint32_t length, uint32_t users)
{
    const struct packet *p = &k->p;
    int64_t count = -1, amount = -1, expires = -1;
    char hex[2 * HASH_BYTES + 1];
    (void)redis_reply_i64(redis_reply_at(fields, 1), &count);
    (void)redis_reply_i64(redis_reply_at(fields, 2), &amount);
    (void)redis_reply_i64(redis_reply_at(fields, 3), &expires);
    (void)sodium_bin2hex(hex, sizeof hex, p->commitment, HASH_BYTES);
    if (count != (int64_t)packet_share_total(p) || amount != packet_total_fen(p) || expires != p->expires_ms)
        audit_note(k->audit, AUDIT_I8, "packet", p->id, "Redis: %" PRId64 " shares, %" PRId64 " fen, until %" PRId64,
                   count, amount, expires);
    if (!str_equal(redis_reply_str(redis_reply_at(fields, 5)), str_from(hex)))
        audit_note(k->audit, AUDIT_I7, "packet", p->id, "Redis has another commitment");
    if (length < p->grabbed_count)
        audit_note(k->audit, AUDIT_I8, "packet", p->id, "Redis has %" PRIu32 " grabs, MySQL %" PRIu32, length,
                   p->grabbed_count);
    if (users < length)
        audit_note(k->audit, AUDIT_I3, "packet", p->id, "Redis: %" PRIu32 " grabs by %" PRIu32 " users", length, users);
    if (users > length || length > packet_share_total(p))
        audit_note(k->audit, AUDIT_I2, "packet", p->id,
                   "Redis: %" PRIu32 " users have a share, %" PRIu32 " of %" PRIu32 " shares are grabbed", users,
                   length, packet_share_total(p));
}

static enum status shares_check(struct comparison *k, struct str bytes)
{
    const struct packet *p = &k->p;
    uint32_t total = packet_share_total(p);
    int64_t *shares = arena_array(k->arena, total, sizeof *shares);
    if (shares == NULL)
        return ST_NO_MEMORY;
    if (returns_shares(p, k->returns, k->return_count, shares) != ST_OK)
        return ST_OK; /* audit_draws reports it */
    if (bytes.len != (size_t)total * 4) {
        audit_note(k->audit, AUDIT_I8, "packet", p->id, "Redis has %zu bytes of shares", bytes.len);
        return ST_OK;
    }
    for (uint32_t i = 0; i < total; i++) {
        const unsigned char *b = (const unsigned char *)bytes.ptr + (size_t)i * 4;
        uint32_t fen = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        if (fen != shares[i]) {
            audit_note(k->audit, AUDIT_I7, "packet", p->id,
                       "share %" PRIu32 " is %" PRIu32 " fen in Redis, drawn %" PRId64, i, fen, shares[i]);
            break;
        }
    }
    return ST_OK;
}

/* Every share that was given back has its mark, and no other. */
static void marks_check(struct comparison *k, struct str marks)
{
    size_t marked = 0;
    for (size_t i = 0; i < k->return_count; i++)
        if (!returns_text_has(marks, k->returns[i].share_no))
            audit_note(k->audit, AUDIT_I8, "packet", k->p.id, "share %" PRIu32 " was given back, Redis has no mark",
                       k->returns[i].share_no);
    for (size_t i = 0; i < marks.len; i++)
        marked += i == 0 || marks.ptr[i] == ',';
    if (marked > k->return_count)
        audit_note(k->audit, AUDIT_I8, "packet", k->p.id, "Redis has %zu marks of %zu returns", marked,
                   k->return_count);
}

/* ---- the grabs ---- */

/* An entry of Redis's list of grabs. */
struct listed_grab {
    uint32_t share_no;
    struct live_order_entry entry;
};

/* Grabs that MySQL does not have must wait in the stream, or have been settled since MySQL was read. */
static enum status pending_check(struct comparison *k, const struct listed_grab *rows, size_t count)
{
    struct redis_call *calls = arena_array(k->arena, count + 1, sizeof *calls);
    char id[LIVE_EVENT_ID_MAX];
    struct live_event_id settled = { 0, 0 };
    if (calls == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++) {
        struct str at = live_event_id_text(id, rows[i].entry.event);
        const struct str range[] = { STR("XRANGE"), k->keys.key[LIVE_KEY_EVENTS], at, at };
        redis_queue(k->stores->redis, &calls[i], range, 4);
    }
    const struct str get[] = { STR("GET"), k->keys.key[LIVE_KEY_SETTLED] };
    redis_queue(k->stores->redis, &calls[count], get, 2); /* last: the worker publishes the position before it trims */
    redis_round(k->stores->redis);
    enum status st = ST_OK;
    for (size_t i = 0; i <= count; i++)
        if (st == ST_OK)
            st = status_retry(calls[i].status);
    if (st == ST_OK)
        (void)live_event_id_parse(redis_reply_str(calls[count].reply), &settled);
    for (size_t i = 0; i <= count; i++) {
        if (st == ST_OK && i < count && redis_reply_at(calls[i].reply, 0) == NULL &&
            live_event_id_compare(rows[i].entry.event, settled) > 0)
            audit_note(k->audit, AUDIT_I4, "packet", k->p.id,
                       "share %" PRIu32 " of user %" PRIu64 " is neither settled nor in the stream", rows[i].share_no,
                       rows[i].entry.user_id);
        redis_call_free(&calls[i]);
    }
    return st;
}

/* The hash of grabs must have the same share for every user of the list. */
static enum status users_check(struct comparison *k, const struct listed_grab *rows, size_t count)
{
    struct str *args = arena_array(k->arena, count + 2, sizeof *args);
    struct redis_call call = { 0 };
    if (args == NULL)
        return ST_NO_MEMORY;
    args[0] = STR("HMGET");
    args[1] = k->keys.key[LIVE_KEY_GRABS];
    for (size_t i = 0; i < count; i++)
        args[i + 2] = arena_printf(k->arena, "%" PRIu64, rows[i].entry.user_id);
    enum status st = status_retry(redis_do(k->stores->redis, &call, args, count + 2));
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        int64_t share_no = -1;
        (void)redis_reply_i64(redis_reply_at(call.reply, i), &share_no);
        if (share_no != (int64_t)rows[i].share_no)
            audit_note(k->audit, AUDIT_I7, "packet", k->p.id,
                       "user %" PRIu64 " has share %" PRId64 " in the hash, %" PRIu32 " in the list",
                       rows[i].entry.user_id, share_no, rows[i].share_no);
    }
    redis_call_free(&call);
    return st;
}

/* Compares one part of the list of grabs, from share first on, with the tables. */
static enum status rows_check(struct comparison *k, const redisReply *list, uint32_t first)
{
    const struct packet *p = &k->p;
    size_t count = list->elements, settled = 0;
    struct grab *grabs = NULL;
    size_t grab_count = 0, pending = count;
    struct listed_grab *rows = arena_array(k->arena, count + 1, sizeof *rows);
    if (rows == NULL)
        return ST_NO_MEMORY;
    enum status st = ST_OK;
    if (first < p->grabbed_count)
        st = packet_grabs_between(k->stores->db, k->arena, p->id, first,
                                  p->grabbed_count - first < count ? p->grabbed_count : first + (uint32_t)count, &grabs,
                                  &grab_count);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        if (!live_order_entry_parse(redis_reply_str(list->element[i]), &rows[i].entry)) {
            audit_note(k->audit, AUDIT_I8, "packet", p->id, "entry %zu of Redis's list can't be read", first + i);
            return ST_OK;
        }
        rows[i].share_no = first + (uint32_t)i;
        k->listed_fen += rows[i].entry.amount_fen;
        if (settled < grab_count && grabs[settled].share_no == rows[i].share_no) {
            if (grabs[settled].user_id != rows[i].entry.user_id ||
                grabs[settled].amount_fen != rows[i].entry.amount_fen)
                audit_note(k->audit, AUDIT_I7, "packet", p->id,
                           "share %" PRIu32 ": user %" PRIu64 " %" PRId64 " fen settled, user %" PRIu64 " %" PRId64
                           " fen shown",
                           rows[i].share_no, grabs[settled].user_id, grabs[settled].amount_fen, rows[i].entry.user_id,
                           rows[i].entry.amount_fen);
            settled++;
            continue;
        }
        if (pending == count)
            pending = i;
        if (live_event_id_compare(rows[i].entry.event, k->cursor) <= 0)
            audit_note(k->audit, AUDIT_I4, "packet", p->id,
                       "share %" PRIu32 " of user %" PRIu64 " is before the cursor, but not settled", rows[i].share_no,
                       rows[i].entry.user_id);
    }
    if (st == ST_OK && count > 0)
        st = users_check(k, rows, count);
    if (st == ST_OK && pending < count) {
        k->audit->unsettled += count - pending;
        st = pending_check(k, &rows[pending], count - pending);
    }
    return st;
}

static enum status order_check(struct comparison *k, uint32_t length)
{
    enum status st = ST_OK;
    for (uint32_t first = 0; st == ST_OK && first < length; first += GRABS_PER_ROUND) {
        struct redis_call call = { 0 };
        struct str from = arena_printf(k->arena, "%" PRIu32, first);
        uint32_t end = length - first < GRABS_PER_ROUND ? length : first + GRABS_PER_ROUND;
        struct str to = arena_printf(k->arena, "%" PRIu32, end - 1);
        const struct str range[] = { STR("LRANGE"), k->keys.key[LIVE_KEY_ORDER], from, to };
        if (from.ptr == NULL || to.ptr == NULL)
            return ST_NO_MEMORY;
        st = status_retry(redis_do(k->stores->redis, &call, range, 4));
        if (st == ST_OK && call.reply->type != REDIS_REPLY_ARRAY)
            st = ST_CORRUPT;
        if (st == ST_OK)
            st = rows_check(k, call.reply, first);
        redis_call_free(&call);
    }
    return st;
}

/* ---- one packet ---- */

static enum status live_check(struct comparison *k)
{
    struct redis_call calls[4] = { 0 };
    struct redis *redis = k->stores->redis;
    const struct str hmget[] = {
        STR("HMGET"),      k->keys.key[LIVE_KEY_PACKET], STR("state"),      STR("count"),          STR("amount"),
        STR("expires_ms"), STR("grabbed_fen"),           STR("commitment"), STR("returned_shares")
    };
    const struct str get[] = { STR("GET"), k->keys.key[LIVE_KEY_SHARES] };
    const struct str hlen[] = { STR("HLEN"), k->keys.key[LIVE_KEY_GRABS] };
    const struct str llen[] = { STR("LLEN"), k->keys.key[LIVE_KEY_ORDER] };
    redis_queue(redis, &calls[0], hmget, 9);
    redis_queue(redis, &calls[1], get, 2);
    redis_queue(redis, &calls[2], hlen, 2);
    redis_queue(redis, &calls[3], llen, 2);
    redis_round(redis);
    enum status st = ST_OK;
    int64_t users = 0, length = 0, fen = 0;
    for (size_t i = 0; i < 4; i++)
        if (st == ST_OK)
            st = status_retry(calls[i].status);
    if (st == ST_OK) {
        struct str state = redis_reply_str(redis_reply_at(calls[0].reply, 0));
        (void)redis_reply_i64(calls[2].reply, &users);
        (void)redis_reply_i64(calls[3].reply, &length);
        (void)redis_reply_i64(redis_reply_at(calls[0].reply, 4), &fen);
        if (state.ptr == NULL) {
            audit_note(k->audit, AUDIT_I8, "packet", k->p.id, "open in MySQL, missing in Redis");
        } else if (str_equal(state, STR("busy"))) {
            audit_note(k->audit, AUDIT_I8, "packet", k->p.id, "shut in Redis, to be rebuilt");
        } else {
            hash_check(k, calls[0].reply, (uint32_t)length, (uint32_t)users);
            marks_check(k, str_or_empty(redis_reply_str(redis_reply_at(calls[0].reply, 6))));
            st = shares_check(k, redis_reply_str(calls[1].reply));
            if (st == ST_OK)
                st = order_check(k, (uint32_t)length);
            if (st == ST_OK && k->listed_fen != fen)
                audit_note(k->audit, AUDIT_I8, "packet", k->p.id,
                           "Redis has %" PRId64 " fen as the sum of its grabs, they sum to %" PRId64, fen,
                           k->listed_fen);
        }
    }
    for (size_t i = 0; i < 4; i++)
        redis_call_free(&calls[i]);
    return st;
}

enum status audit_live_once(struct audit *audit, struct stores *stores, uint64_t packet_id)
{
    struct db_rows rows;
    struct comparison k = { .stores = stores, .audit = audit };
    k.arena = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (k.arena == NULL)
        return ST_NO_MEMORY;
    enum status st = db_query(stores->db, k.arena, &rows,
                              "SELECT " PACKET_COLUMNS ", stream_cursor.last_id FROM packet LEFT JOIN stream_cursor"
                              " ON stream_cursor.partition_no = packet.id % ? WHERE packet.id = ?"
                              " AND packet.state IN ('funding', 'open')",
                              DB_PARAMS(DB_I64(stores->config->partitions), DB_U64(packet_id)));
    if (st == ST_OK && rows.count == 1 && packet_from_row(&rows, 0, 0, &k.p) == ST_OK) {
        (void)live_event_id_parse(db_cell(&rows, 0, PACKET_COLUMN_COUNT), &k.cursor); /* no cursor yet: 0-0 */
        live_keys(&k.keys, packet_id, stores->config->partitions);
        if (k.p.state == PACKET_OPEN || k.p.created_ms + FUNDING_GRACE_MS < clock_now_ms())
            st = returns_find(stores->db, k.arena, packet_id, &k.returns, &k.return_count);
        if (st == ST_OK && k.returns != NULL)
            st = live_check(&k);
    }
    arena_free(k.arena);
    return st;
}

/* Compares again when the packet differs: it may have changed between the two reads. */
static enum status packet_check(struct stores *stores, struct audit *audit, struct audit *scratch, uint64_t packet_id)
{
    const struct timespec pause = { .tv_nsec = RETRY_MS * 1000000L };
    enum status st = ST_OK;
    for (int attempt = 1; st == ST_OK && attempt < ATTEMPTS_MAX; attempt++) {
        memset(scratch, 0, sizeof *scratch);
        st = audit_live_once(scratch, stores, packet_id);
        if (st == ST_OK && audit_clean(scratch)) {
            audit->unsettled += scratch->unsettled;
            return ST_OK;
        }
        (void)nanosleep(&pause, NULL);
    }
    return st == ST_OK ? audit_live_once(audit, stores, packet_id) : st;
}

enum status audit_live(struct audit *audit, struct stores *stores)
{
    uint64_t after = audit->packet_id == 0 ? 0 : audit->packet_id - 1;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    struct audit *scratch = calloc(1, sizeof *scratch);
    enum status st = a == NULL || scratch == NULL ? ST_NO_MEMORY : ST_OK;
    if (st == ST_OK) /* without a packet to compare, an unreachable Redis would go unnoticed */
        st = status_retry(redis_ping(stores->redis));
    for (bool more = true; st == ST_OK && more;) {
        struct db_rows rows;
        arena_reset(a);
        st = db_query(stores->db, a, &rows,
                      "SELECT id FROM packet WHERE state IN ('funding', 'open') AND id > ? AND id <= ? ORDER BY id"
                      " LIMIT ?",
                      DB_PARAMS(DB_U64(after), DB_U64(audit->packet_id == 0 ? INT64_MAX : audit->packet_id),
                                DB_I64(PACKETS_PER_QUERY)));
        more = st == ST_OK && rows.count == PACKETS_PER_QUERY;
        for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
            after = db_cell_u64(&rows, i, 0);
            st = packet_check(stores, audit, scratch, after);
        }
    }
    free(scratch);
    arena_free(a);
    return st;
}
