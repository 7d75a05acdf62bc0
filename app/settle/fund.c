#include "settle/fund.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/log.h"
#include "io/db_repeat.h"
#include "ledger/ledger.h"
#include "live/live.h"
#include "live/load.h"
#include "packet/id_lease.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/split.h"
#include "packet/store.h"
#include "packet/totals.h"

/* ---- money ---- */

struct fund_job {
    const struct packet *packet;
    const struct receivers *receivers;
};

/* Inserts the packet first: a repeated request_key is detected before the balance is checked. */
static enum status fund_body(struct db *db, void *ctx)
{
    const struct fund_job *job = ctx;
    const struct packet *p = job->packet;
    enum status st = packet_insert(db, p);
    if (st == ST_OK && job->receivers->count > 0)
        st = receivers_insert(db, p, job->receivers);
    if (job->receivers->count > 0)
        crash_point("send-after-receivers");
    if (st == ST_INVALID)
        return ST_CORRUPT; /* foreign key: the user does not exist */
    if (st == ST_OK) {
        st = ledger_send(db, p->id);
        if (st == ST_EXISTS)
            return ST_CORRUPT;  /* an id used twice */
        if (st == ST_NOT_FOUND) /* the sender or a receiver deletes the account at this moment; a repeat says so */
            return ST_UNAVAILABLE;
    }
    if (st == ST_OK)
        st = user_totals_add_sent(db, p->sender_id, p->created_ms, p->amount_fen);
    crash_point("send-before-commit");
    return st;
}

/* ---- loading ---- */

struct load_job {
    const struct live *live;
    const struct packet *packet;
};

static enum status load_shares(const struct live *live, const struct packet *p, enum live_code *code)
{
    int64_t *shares_fen = calloc(p->count, sizeof *shares_fen);
    if (shares_fen == NULL)
        return ST_NO_MEMORY;
    enum status st = split_packet(p, shares_fen);
    if (st == ST_OK)
        st = live_load(live, p, shares_fen, NULL, 0, LIVE_STATE_OPEN, code);
    free(shares_fen);
    return st;
}

/* Marks the packet as open first: that locks its row and tells whether it is still in state 'funding'. */
static enum status load_body(struct db *db, void *ctx)
{
    const struct load_job *job = ctx;
    bool funding;
    enum live_code code = LIVE_BAD;
    enum status st = packet_mark_open(db, job->packet->id, &funding);
    if (st != ST_OK || !funding)
        return st;
    st = load_shares(job->live, job->packet, &code);
    if (st != ST_OK) {
        /* Not ST_CONFLICT: db_transaction would run the body again at once. */
        return st == ST_NO_MEMORY || st == ST_CORRUPT ? st : ST_UNAVAILABLE;
    }
    if (code != LIVE_LOADED && code != LIVE_EXISTS) {
        log_error("load function refused packet", "packet=%llu code=%d", (unsigned long long)job->packet->id,
                  (int)code);
        return ST_CORRUPT;
    }
    crash_point("send-after-load");
    return ST_OK;
}

enum status fund_load(struct stores *stores, const struct packet *p)
{
    struct load_job job = { .live = &stores->live, .packet = p };
    return db_transaction(stores->db, load_body, &job);
}

/* The sender has paid, so the send succeeds even if the load fails. */
static void load_after_send(struct stores *stores, const struct packet *p)
{
    enum status st = fund_load(stores, p);
    if (st != ST_OK) {
        log_warn("packet not loaded, the settle worker will load it", "packet=%llu status=%s",
                 (unsigned long long)p->id, status_name(st));
    }
}

/* ---- sending ---- */

static enum status best_share(struct packet *p)
{
    int64_t *shares_fen = calloc(p->count, sizeof *shares_fen);
    if (shares_fen == NULL)
        return ST_NO_MEMORY;
    enum status st = split_packet(p, shares_fen);
    if (st == ST_OK)
        p->best_share_no = p->kind == PACKET_LUCKY ? split_best_share_no(shares_fen, p->count) : PACKET_NO_SHARE;
    free(shares_fen);
    return st == ST_INVALID ? ST_CORRUPT : st; /* the order was validated, so it can be split */
}

/* Needs the packet's id. */
static enum status phrase_set(struct arena *a, const struct config *config, const struct send_order *order,
                              struct packet *p)
{
    const struct keys *keys = &config->keys;
    if (order->phrase.folded.len == 0)
        return ST_OK;
    p->phrase_hash = phrase_hash(a, keys_get(keys, KEY_PHRASE_HASH), p->id, order->phrase.folded);
    p->phrase_sealed = phrase_seal(a, keys_get(keys, KEY_PHRASE_SEAL), p->id, order->phrase.shown);
    return p->phrase_hash.ptr == NULL || p->phrase_sealed.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}

static enum status packet_prepare(struct stores *stores, struct arena *a, struct send_party sender,
                                  struct receivers *receivers, const struct send_order *order, int64_t now_ms,
                                  struct packet *p)
{
    *p = (struct packet){ .sender_id = sender.id,
                          .sender_name = sender.name,
                          .sender_face = sender.face,
                          .kind = order->kind,
                          .split = order->split,
                          .amount_fen = order->amount_fen,
                          .count = order->count,
                          .share_max_fen = order->share_max_fen,
                          .share_min_fen = order->share_min_fen,
                          .cover = order->cover,
                          .greeting = order->greeting,
                          .state = PACKET_FUNDING,
                          .created_ms = now_ms,
                          .expires_ms = (order->opens_ms != 0 ? order->opens_ms : now_ms) + order->lifetime_ms,
                          .opens_ms = order->opens_ms,
                          .request_key = order->request_key };
    random_bytes(p->seed, sizeof p->seed);
    split_commitment(p->seed, p->commitment);
    enum status st = best_share(p);
    if (order->kind == PACKET_EXCLUSIVE) {
        p->receiver_id = receivers->items[0].id;
        p->receiver_name = receivers->items[0].name;
    } else if (receivers->count > 0 && st == ST_OK) {
        st = receivers_describe(a, p, receivers);
    }
    if (st == ST_OK)
        st = packet_id_next(stores->db, now_ms, &p->id);
    return st == ST_OK ? phrase_set(a, stores->config, order, p) : st;
}

/* Reads the packet that has this request key already, and compares it with the order. */
static enum status earlier_find(struct stores *stores, struct arena *a, const struct send_order *order,
                                struct fund_packet *out)
{
    struct packet found;
    struct packet *p = &out->packet;
    enum status st = packet_find_by_key(stores->db, a, p->sender_id, order->request_key, &found);
    if (st == ST_OK)
        st = receivers_find(stores->db, a, &found);
    if (st != ST_OK)
        return st == ST_NOT_FOUND ? ST_CORRUPT : ST_UNKNOWN;
    if (!order_matches(a, keys_pair(&stores->config->keys, KEY_PHRASE_HASH), order, p, &found))
        out->result = FUND_OTHER_ORDER;
    else if (found.id != p->id) /* the same id: our own COMMIT, whose reply was lost */
        out->result = FUND_REPEATED;
    found.sender_face = p->sender_face;
    *p = found;
    return ST_OK;
}

enum status fund_packet(struct stores *stores, struct arena *a, struct send_party sender, struct receivers *receivers,
                        const struct send_order *order, int64_t now_ms, struct fund_packet *out)
{
    assert(order->request_key.len > 0);
    assert(receivers->count <= RECEIVERS_MAX && (order->kind != PACKET_EXCLUSIVE || receivers->count == 1));
    for (size_t i = 0; i < receivers->count; i++)
        assert(receivers->items[i].id != sender.id);
    const struct packet *p = &out->packet;
    out->result = FUND_DONE;
    enum status st = packet_prepare(stores, a, sender, receivers, order, now_ms, &out->packet);
    if (st != ST_OK)
        return st;
    st = db_transaction_repeat(stores->db, fund_body, &(struct fund_job){ p, receivers });
    if (st == ST_INVALID) {
        out->result = FUND_BALANCE_SHORT;
        return ST_OK;
    }
    if (st == ST_EXISTS)
        st = earlier_find(stores, a, order, out);
    if (st != ST_OK || out->result == FUND_OTHER_ORDER)
        return st;
    crash_point("send-after-commit");
    if (p->state == PACKET_FUNDING)
        load_after_send(stores, p);
    return ST_OK;
}
