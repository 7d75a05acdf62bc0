#include "acts/give_back.h"

#include "base/crash.h"
#include "base/log.h"
#include "ledger/ledger.h"
#include "live/give_back.h"
#include "live/summary.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"
#include "packet/store.h"
#include "packet/totals.h"

/* ---- the transaction ---- */

struct task {
    struct arena *arena;
    uint64_t packet_id, user_id;
    int64_t now_ms;
    struct live_summary live;
    struct give_back *out;
};

/* Decides where the share goes. False: not yet, or to nobody; the result says why. */
static bool destination_choose(struct task *t, const struct packet *p)
{
    struct share_return *r = &t->out->share;
    bool open = p->state == PACKET_OPEN && t->now_ms < p->expires_ms;
    r->position = PACKET_NO_SHARE;
    if (open && !t->live.open) { /* Redis has given out or closed everything; the tables follow */
        t->out->result = GIVE_BACK_UNSETTLED;
        return false;
    }
    switch (return_way(p, open, t->user_id)) {
    case RETURN_OWN: t->out->result = GIVE_BACK_OWN; return false;
    case RETURN_TOO_MANY: t->out->result = GIVE_BACK_TOO_MANY; return false;
    case RETURN_TO_PACKET: r->position = packet_share_total(p); return true;
    case RETURN_TO_SENDER: break;
    }
    return true;
}

/* Sets *gone when the sender has deleted the account or is about to: the sender can't receive the money then. A
 * deletion that has begun can't end while this transaction holds the lock on the user's row. */
static enum status sender_is_gone(struct task *t, struct db *db, const struct packet *p, bool *gone)
{
    struct db_rows rows;
    enum status st = db_query(db, t->arena, &rows, "SELECT deleting_ms FROM user WHERE id = ? LOCK IN SHARE MODE",
                              DB_PARAMS(DB_U64(p->sender_id)));
    *gone = st == ST_OK && (rows.count == 0 || db_cell(&rows, 0, 0).ptr != NULL);
    return st;
}

/* Moves the money, and subtracts it from the user's total of the month of the grab. */
static enum status money_move(struct task *t, struct db *db, const struct packet *p, const struct grab *grab)
{
    const struct share_return *r = &t->out->share;
    bool gone = false;
    enum status st = r->position != PACKET_NO_SHARE ? ST_OK : sender_is_gone(t, db, p, &gone);
    if (gone)
        t->out->result = GIVE_BACK_SENDER_GONE;
    if (st != ST_OK || gone)
        return st == ST_OK ? ST_NOT_FOUND : st;
    st = ledger_return(db, p->id, r->share_no, r->position != PACKET_NO_SHARE, t->now_ms);
    if (st == ST_INVALID) {
        t->out->result = GIVE_BACK_NO_MONEY;
        return ST_NOT_FOUND;
    }
    if (st == ST_EXISTS || st == ST_NOT_FOUND)
        return ST_CORRUPT;
    return st == ST_OK ? user_totals_take_back(db, r->user_id, grab->grabbed_ms, r->amount_fen) : st;
}

/* The best share after this share went back into the packet. The share that comes in its place is the last of all
 * shares, so an equal earlier share wins. */
static enum status best_choose(struct task *t, struct db *db, const struct packet *p, uint32_t *best)
{
    const struct share_return *r = &t->out->share;
    struct share_return *returns;
    size_t count;
    *best = p->best_share_no;
    if (p->best_share_no != r->share_no)
        return ST_OK;
    enum status st = returns_find(db, t->arena, p->id, &returns, &count);
    if (st != ST_OK)
        return st;
    uint32_t total = packet_share_total(p);
    int64_t *shares_fen = arena_array(t->arena, (size_t)total + 1, sizeof *shares_fen);
    struct share_return *all = arena_array(t->arena, count + 1, sizeof *all);
    if (shares_fen == NULL || all == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < count; i++)
        all[i] = returns[i];
    all[count] = *r;
    st = returns_shares(p, returns, count, shares_fen);
    shares_fen[total] = r->amount_fen;
    if (st == ST_OK)
        *best = returns_best_share(p, shares_fen, total + 1, all, count + 1);
    return st == ST_INVALID ? ST_CORRUPT : st;
}

/* The row comes first. Its key is already taken when another Galera node has just given back the same share: that node
 * has its own lock of the packet, and this transaction may not see its row yet. */
static enum status rows_write(struct task *t, struct db *db, const struct packet *p, const struct grab *grab)
{
    const struct share_return *r = &t->out->share;
    const bool to_packet = r->position != PACKET_NO_SHARE;
    uint32_t best = PACKET_NO_SHARE;
    enum status st = to_packet ? best_choose(t, db, p, &best) : ST_OK;
    if (st == ST_OK)
        st = return_insert(db, r);
    if (st != ST_OK)
        return st == ST_INVALID ? ST_CORRUPT : st;
    st = money_move(t, db, p, grab);
    crash_point("return-after-money");
    if (st == ST_OK && to_packet)
        st = return_count(db, r, best);
    crash_point("return-before-commit");
    return st;
}

/* Locks the packet's row first, as settlement does: then the accounts, then the month. ST_EXISTS: the share was given
 * back before · ST_NOT_FOUND: nothing was changed, the result says why. */
static enum status give_back_body(struct db *db, void *ctx)
{
    struct task *t = ctx;
    struct packet p;
    struct grab grab;
    t->out->result = GIVE_BACK_NO_SHARE;
    enum status st = packet_find_locked(db, t->arena, t->packet_id, &p);
    if (st != ST_OK)
        return st;
    st = packet_grab_of(db, t->arena, t->packet_id, t->user_id, &grab);
    if (st == ST_NOT_FOUND && (t->live.has_mine || (p.state != PACKET_CLOSED && !t->live.whole)))
        t->out->result = GIVE_BACK_UNSETTLED;
    if (st != ST_OK)
        return st;
    st = return_find(db, t->arena, t->packet_id, grab.share_no, &t->out->share);
    if (st != ST_NOT_FOUND)
        return st == ST_OK ? ST_EXISTS : st;
    t->out->share = (struct share_return){ .packet_id = t->packet_id,
                                           .share_no = grab.share_no,
                                           .user_id = t->user_id,
                                           .amount_fen = grab.amount_fen,
                                           .returned_ms = t->now_ms };
    if (!destination_choose(t, &p))
        return ST_NOT_FOUND;
    return rows_write(t, db, &p, &grab);
}

enum status give_back(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                      struct give_back *out)
{
    struct task t = { .arena = a, .packet_id = packet_id, .user_id = user_id, .now_ms = now_ms, .out = out };
    *out = (struct give_back){ 0 };
    enum status st = live_summary_read(&stores->live, a, packet_id, user_id, now_ms, &t.live);
    t.now_ms = t.live.now_ms;
    if (st == ST_OK)
        st = db_transaction_repeat(stores->db, give_back_body, &t);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK && st != ST_EXISTS)
        return st;
    out->result = GIVE_BACK_DONE;
    crash_point("return-after-commit");
    if (st == ST_EXISTS) { /* an earlier call gave it back, perhaps to another place than this one chose */
        st = return_find(stores->db, a, packet_id, out->share.share_no, &out->share);
        if (st != ST_OK)
            return st == ST_NOT_FOUND ? ST_CONFLICT : status_idempotent(st); /* another share has the place */
        st = db_durable(stores->db, db_connections(stores->db));
        if (st != ST_OK || out->share.applied)
            return st;
    }
    enum status told = give_back_apply(stores, a, packet_id, GIVE_BACK_PENDING, now_ms);
    if (told != ST_OK)
        log_warn("return not applied in redis, the settle worker will apply it", "packet=%llu status=%s",
                 (unsigned long long)packet_id, status_name(told));
    return ST_OK;
}

/* ---- telling Redis ---- */

/* Writes one return to Redis. *done: Redis has it, or will never need it. */
static enum status return_apply(struct stores *stores, const struct packet *p, const struct share_return *r,
                                int64_t now_ms, bool *done)
{
    enum live_code code;
    enum status st = status_idempotent(live_give_back(&stores->live, p, r, &code));
    if (st != ST_OK)
        return st;
    crash_point("return-after-script");
    *done = code == LIVE_LOADED || (code == LIVE_MISSING && p->state == PACKET_CLOSED);
    if (*done && !r->applied) {
        st = return_mark_applied(stores->db, r, now_ms);
        crash_point("return-after-mark");
    }
    return st;
}

/* A packet that is damaged is logged: other packets must not wait for it. */
static enum status packet_result(uint64_t packet_id, enum status st)
{
    if (st != ST_CORRUPT && st != ST_INVALID && st != ST_NOT_FOUND)
        return status_retry(st);
    log_error("returns not applied in redis", "packet=%llu status=%s", (unsigned long long)packet_id, status_name(st));
    return ST_OK;
}

enum status give_back_apply(struct stores *stores, struct arena *a, uint64_t packet_id, enum give_back_which which,
                            int64_t now_ms)
{
    struct packet p;
    struct share_return *returns;
    size_t count = 0;
    bool done = true;
    /* Read the packet after its returns: its best share must not be older than the newest return. */
    enum status st = returns_find(stores->db, a, packet_id, &returns, &count);
    if (st == ST_OK)
        st = packet_find(stores->db, a, packet_id, &p);
    for (size_t i = 0; st == ST_OK && done && i < count; i++)
        if (which == GIVE_BACK_ALL || !returns[i].applied)
            st = return_apply(stores, &p, &returns[i], now_ms, &done);
    return packet_result(packet_id, st);
}

enum status give_back_tell(struct stores *stores, struct arena *a, uint64_t packet_id, uint32_t share_no,
                           int64_t now_ms)
{
    struct share_return r;
    struct packet p;
    bool done;
    enum status st = return_find(stores->db, a, packet_id, share_no, &r);
    if (st == ST_OK)
        st = packet_find(stores->db, a, packet_id, &p); /* after the return, as above */
    if (st == ST_OK && !r.applied)
        st = return_apply(stores, &p, &r, now_ms, &done);
    return packet_result(packet_id, st);
}
