#include "settle/thanks.h"

#include "base/crash.h"
#include "base/log.h"
#include "io/db_repeat.h"
#include "live/thanks.h"
#include "live/view.h"
#include "packet/store.h"

enum {
    PENDING_MAX = 500,       /* of one pass of the settle worker */
    PENDING_GRACE_MS = 2000, /* the process that wrote the row tells Redis itself within this time */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)1 << 20;

/* ---- telling Redis ---- */

/* A packet that Redis has no longer is shown from the tables. One that it has not yet is told later. */
static enum status pending_apply(struct stores *stores, const struct thanks_pending *p, int64_t now_ms)
{
    enum live_code code;
    enum status st = status_idempotent(live_thanks(&stores->live, &p->thanks, p->packet_count, &code));
    crash_point("thanks-after-script");
    if (st == ST_OK && (code == LIVE_LOADED || (code == LIVE_MISSING && p->packet_closed)))
        st = thanks_mark_applied(stores->db, &p->thanks, now_ms);
    return st;
}

enum status thanks_recover(struct stores *stores, int64_t now_ms)
{
    struct thanks_pending *list = NULL;
    size_t count = 0;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = thanks_find_pending(stores->db, a, now_ms - PENDING_GRACE_MS, PENDING_MAX, &list, &count);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        st = pending_apply(stores, &list[i], now_ms);
        if (st == ST_CORRUPT) /* a damaged key, which is logged, must not stop the others */
            st = ST_OK;
    }
    arena_free(a);
    return status_retry(st);
}

/* ---- saying it ---- */

struct task {
    struct arena *arena;
    struct thanks_pending written;
    bool returned; /* the share was given back before anything was said */
};

/* Locks the packet's row first, as a return does: a share that is given back at the same time is thanked for before, or
 * not at all. ST_NOT_FOUND: the tables have no share of the user, or it was given back · ST_EXISTS: the share has
 * thanks. */
static enum status thanks_body(struct db *db, void *ctx)
{
    struct task *t = ctx;
    struct thanks *thanks = &t->written.thanks;
    struct packet p;
    struct grab mine;
    struct str before;
    t->returned = false;
    enum status st = packet_find_locked(db, t->arena, thanks->packet_id, &p);
    if (st == ST_OK)
        st = packet_grab_of(db, t->arena, thanks->packet_id, thanks->user_id, &mine);
    if (st != ST_OK)
        return st;
    thanks->share_no = mine.share_no;
    if (mine.returned) {
        st = thanks_find(db, t->arena, p.id, mine.share_no, &before);
        t->returned = st == ST_NOT_FOUND;
        return st == ST_OK ? ST_EXISTS : st;
    }
    st = thanks_insert(db, t->arena, thanks, &t->written.packet_count);
    crash_point("thanks-before-commit");
    return st;
}

/* Why the tables have no share of the user. */
static enum status no_share_find(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id,
                                 enum thanks_result *result)
{
    struct packet p;
    struct redis_call call;
    struct packet_view view;
    enum status st = packet_find(stores->db, a, packet_id, &p);
    if (st != ST_OK)
        return st;
    live_view_queue(&stores->live, &call, packet_id, user_id, PACKET_NO_SHARE, 0);
    redis_round(stores->redis);
    st = live_view_read(&call, a, packet_id, &view);
    *result = st == ST_OK && view.has_mine ? THANKS_UNSETTLED : THANKS_NO_SHARE;
    redis_call_free(&call);
    return st == ST_NOT_FOUND ? ST_OK : status_idempotent(st);
}

enum status thanks_say(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, struct str text,
                       int64_t now_ms, enum thanks_result *result)
{
    struct task t = {
        .arena = a, .written.thanks = { .packet_id = packet_id, .user_id = user_id, .text = text, .created_ms = now_ms }
    };
    enum status st = db_transaction_repeat(stores->db, thanks_body, &t);
    if (st == ST_NOT_FOUND && t.returned) {
        *result = THANKS_NO_SHARE;
        return ST_OK;
    }
    if (st == ST_NOT_FOUND)
        return no_share_find(stores, a, packet_id, user_id, result);
    if (st == ST_EXISTS) {
        struct str before;
        st = thanks_find(stores->db, a, packet_id, t.written.thanks.share_no, &before);
        *result = st == ST_OK && str_equal(before, text) ? THANKS_SAID : THANKS_OTHER;
        return st == ST_NOT_FOUND ? ST_CORRUPT : st;
    }
    if (st != ST_OK)
        return st;
    *result = THANKS_SAID;
    crash_point("thanks-after-commit");
    enum status told = pending_apply(stores, &t.written, now_ms);
    if (told != ST_OK)
        log_warn("thanks said, the settle worker will tell redis", "packet=%llu status=%s",
                 (unsigned long long)packet_id, status_name(told));
    return ST_OK;
}
