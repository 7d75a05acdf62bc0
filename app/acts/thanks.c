#include "acts/thanks.h"

#include "base/crash.h"
#include "base/log.h"
#include "live/summary.h"
#include "live/thanks.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"
#include "packet/store.h"

/* ---- telling Redis ---- */

/* Gone from Redis: pages show the packet from the tables. Not loaded yet: the settle worker writes the thanks later. */
static enum status pending_apply(struct stores *stores, const struct thanks_pending *p, int64_t now_ms)
{
    enum live_code code;
    enum status st = status_idempotent(live_thanks(&stores->live, &p->thanks, p->packet_count, &code));
    crash_point("thanks-after-script");
    if (st == ST_OK && (code == LIVE_LOADED || (code == LIVE_MISSING && p->packet_closed))) {
        st = thanks_mark_applied(stores->db, &p->thanks, now_ms);
        crash_point("thanks-after-mark");
    }
    return st;
}

enum status thanks_tell(struct stores *stores, struct arena *a, uint64_t packet_id, uint32_t share_no, int64_t now_ms)
{
    struct thanks_pending pending;
    enum status st = thanks_find_pending(stores->db, a, packet_id, share_no, &pending);
    if (st == ST_OK)
        st = pending_apply(stores, &pending, now_ms);
    if (st == ST_CORRUPT) { /* other packets must not wait for a damaged one */
        log_error("thanks not applied in redis", "packet=%llu", (unsigned long long)packet_id);
        return ST_OK;
    }
    return st == ST_NOT_FOUND ? ST_OK : status_retry(st);
}

/* ---- saying it ---- */

struct task {
    struct arena *arena;
    struct thanks_pending written;
    bool returned; /* the share was given back before anything was said */
};

/* Locks the packet's row first, as a return does: a share that is given back at the same time gets its thanks before
 * the return, or none. ST_NOT_FOUND: the tables have no share of the user, or it was given back · ST_EXISTS: the share
 * has thanks. */
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
    t->written.packet_count = p.thanks_count + 1;
    st = thanks_insert(db, thanks);
    crash_point("thanks-before-commit");
    return st;
}

/* Why the tables have no share of the user. */
static enum status no_share_find(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id,
                                 int64_t now_ms, enum thanks_result *result)
{
    struct packet p;
    struct live_summary live;
    enum status st = packet_find(stores->db, a, packet_id, &p);
    if (st == ST_OK)
        st = live_summary_read(&stores->live, a, packet_id, user_id, now_ms, &live);
    if (st == ST_OK)
        *result = live.has_mine || (p.state != PACKET_CLOSED && !live.whole) ? THANKS_UNSETTLED : THANKS_NO_SHARE;
    return st;
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
        return no_share_find(stores, a, packet_id, user_id, now_ms, result);
    if (st == ST_EXISTS) {
        struct str before;
        st = thanks_find(stores->db, a, packet_id, t.written.thanks.share_no, &before);
        *result = st == ST_OK && str_equal(before, text) ? THANKS_SAID : THANKS_OTHER;
        if (st == ST_NOT_FOUND)
            return ST_CORRUPT;
        if (st == ST_OK && *result == THANKS_SAID)
            st = db_durable(stores->db, db_connections(stores->db));
        return st == ST_OK ? ST_OK : ST_UNKNOWN; /* they may be ours: our own COMMIT, whose reply was lost */
    }
    if (st != ST_OK)
        return st;
    *result = THANKS_SAID;
    crash_point("thanks-after-commit");
    enum status told = pending_apply(stores, &t.written, now_ms);
    if (told != ST_OK)
        log_warn("thanks not applied in redis, the settle worker will apply them", "packet=%llu status=%s",
                 (unsigned long long)packet_id, status_name(told));
    return ST_OK;
}
