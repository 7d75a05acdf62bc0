#include "settle/give_back.h"

#include "base/crash.h"
#include "base/log.h"
#include "io/db_repeat.h"
#include "ledger/ledger.h"
#include "live/give_back.h"
#include "live/view.h"
#include "packet/store.h"
#include "packet/totals.h"

enum {
    PENDING_PACKETS_MAX = 1000, /* of one pass of the settle worker */
    PENDING_GRACE_MS = 2000,    /* the process that gave a share back tells Redis itself within this time */
    ARENA_CHUNK_BYTES = 65536
};
static const size_t ARENA_LIMIT_BYTES = (size_t)16 << 20;

/* ---- what Redis has ---- */

/* The packet as Redis shows it to the user. */
struct live_look {
    bool open;      /* shares are left */
    bool has_mine;  /* perhaps not settled yet */
    int64_t now_ms; /* Redis's clock, which decides whether the packet is over; ours when Redis does not have it */
};

static enum status live_look_read(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id,
                                  int64_t now_ms, struct live_look *out)
{
    struct redis_call call;
    struct packet_view view;
    live_view_queue(&stores->live, &call, packet_id, user_id, PACKET_NO_SHARE, 0);
    redis_round(stores->redis);
    enum status st = live_view_read(&call, a, packet_id, &view);
    *out = (struct live_look){ .now_ms = now_ms };
    if (st == ST_OK)
        *out = (struct live_look){ .open = !view.busy && view.packet.state == PACKET_OPEN,
                                   .has_mine = view.has_mine,
                                   .now_ms = view.now_ms };
    redis_call_free(&call);
    return st == ST_NOT_FOUND ? ST_OK : status_idempotent(st);
}

/* ---- the transaction ---- */

struct task {
    struct arena *arena;
    uint64_t packet_id, user_id;
    int64_t now_ms;
    struct live_look look;
    struct give_back *out;
};

/* Decides where the share goes. False: not yet, or to nobody; the result says why. */
static bool destination_choose(struct task *t, const struct packet *p)
{
    struct share_return *r = &t->out->share;
    bool open = p->state == PACKET_OPEN && t->now_ms < p->expires_ms;
    r->position = PACKET_NO_SHARE;
    if (open && !t->look.open) { /* Redis has given out or closed everything; the tables follow */
        t->out->result = GIVE_BACK_UNSETTLED;
        return false;
    }
    if (!open && p->sender_id == t->user_id) {
        t->out->result = GIVE_BACK_OWN;
        return false;
    }
    if (open)
        r->position = packet_share_total(p);
    return true;
}

/* Moves the money, and what the user received in the month of the grab. */
static enum status money_move(struct task *t, struct db *db, const struct packet *p, const struct grab *grab)
{
    const struct share_return *r = &t->out->share;
    enum status st =
        ledger_transfer(db, &(struct transfer){ .kind = TRANSFER_RETURN,
                                                .debit_id = r->user_id,
                                                .credit_id = r->position != PACKET_NO_SHARE ? p->id : p->sender_id,
                                                .amount_fen = r->amount_fen,
                                                .packet_id = p->id,
                                                .seq = r->share_no,
                                                .created_ms = t->now_ms });
    if (st == ST_INVALID) {
        t->out->result = GIVE_BACK_NO_MONEY;
        return ST_NOT_FOUND;
    }
    if (st == ST_EXISTS || st == ST_NOT_FOUND)
        return ST_CORRUPT;
    return st == ST_OK ? user_totals_take_back(db, r->user_id, grab->grabbed_ms, r->amount_fen) : st;
}

/* The best share once this one is given back into the packet: the new share is the last one of its amount. */
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

static enum status rows_write(struct task *t, struct db *db, const struct packet *p)
{
    const struct share_return *r = &t->out->share;
    uint32_t best;
    enum status st = best_choose(t, db, p, &best);
    if (st == ST_OK)
        st = return_insert(db, r);
    if (st == ST_OK && r->position != PACKET_NO_SHARE)
        st = return_count(db, r, best);
    crash_point("return-before-commit");
    return st == ST_INVALID ? ST_CORRUPT : st;
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
    if (st == ST_OK)
        st = packet_grab_of(db, t->arena, t->packet_id, t->user_id, &grab);
    if (st == ST_NOT_FOUND && t->look.has_mine)
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
    st = money_move(t, db, &p, &grab);
    return st == ST_OK ? rows_write(t, db, &p) : st;
}

enum status give_back(struct stores *stores, struct arena *a, uint64_t packet_id, uint64_t user_id, int64_t now_ms,
                      struct give_back *out)
{
    struct task t = { .arena = a, .packet_id = packet_id, .user_id = user_id, .now_ms = now_ms, .out = out };
    *out = (struct give_back){ 0 };
    enum status st = live_look_read(stores, a, packet_id, user_id, now_ms, &t.look);
    t.now_ms = t.look.now_ms;
    if (st == ST_OK)
        st = db_transaction_repeat(stores->db, give_back_body, &t);
    if (st == ST_NOT_FOUND)
        return ST_OK;
    if (st != ST_OK && st != ST_EXISTS)
        return st;
    out->result = GIVE_BACK_DONE;
    crash_point("return-after-commit");
    if (st == ST_EXISTS && out->share.applied)
        return ST_OK;
    enum status told = give_back_apply(stores, a, packet_id, GIVE_BACK_PENDING, now_ms);
    if (told != ST_OK)
        log_warn("share given back, the settle worker will tell Redis", "packet=%llu status=%s",
                 (unsigned long long)packet_id, status_name(told));
    return ST_OK;
}

/* ---- telling Redis ---- */

/* Tells Redis about one return. *done: Redis knows it, or will never need it. */
static enum status return_apply(struct stores *stores, const struct packet *p, const struct share_return *r,
                                int64_t now_ms, bool *done)
{
    enum live_code code;
    enum status st = status_idempotent(live_give_back(&stores->live, p, r, &code));
    if (st != ST_OK)
        return st;
    crash_point("return-after-script");
    *done = code == LIVE_LOADED || (code == LIVE_MISSING && p->state == PACKET_CLOSED);
    return *done && !r->applied ? return_mark_applied(stores->db, r, now_ms) : ST_OK;
}

enum status give_back_apply(struct stores *stores, struct arena *a, uint64_t packet_id, enum give_back_which which,
                            int64_t now_ms)
{
    struct packet p;
    struct share_return *returns;
    size_t count = 0;
    bool done = true;
    /* The packet after its returns: its best share must not be older than the newest of them. */
    enum status st = returns_find(stores->db, a, packet_id, &returns, &count);
    if (st == ST_OK)
        st = packet_find(stores->db, a, packet_id, &p);
    for (size_t i = 0; st == ST_OK && done && i < count; i++)
        if (which == GIVE_BACK_ALL || !returns[i].applied)
            st = return_apply(stores, &p, &returns[i], now_ms, &done);
    if (st != ST_CORRUPT && st != ST_INVALID && st != ST_NOT_FOUND)
        return status_retry(st);
    log_error("returns not applied", "packet=%llu status=%s", (unsigned long long)packet_id, status_name(st));
    return ST_OK;
}

enum status give_back_recover(struct stores *stores, int64_t now_ms)
{
    struct db_rows rows = { 0 };
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = db_query(stores->db, a, &rows,
                              "SELECT DISTINCT packet_id FROM share_return WHERE applied_ms IS NULL"
                              " AND returned_ms <= ? LIMIT ?",
                              DB_PARAMS(DB_I64(now_ms - PENDING_GRACE_MS), DB_I64(PENDING_PACKETS_MAX)));
    for (size_t i = 0; st == ST_OK && i < rows.count; i++)
        st = give_back_apply(stores, a, db_cell_u64(&rows, i, 0), GIVE_BACK_PENDING, now_ms);
    arena_free(a);
    return status_retry(st);
}
