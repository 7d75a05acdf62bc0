#include "acts/fund.h"

#include <assert.h>
#include <stdlib.h>

#include "base/crash.h"
#include "base/log.h"
#include "live/live.h"
#include "live/load.h"
#include "mysql/db_durable.h"
#include "mysql/db_repeat.h"
#include "packet/id_lease.h"
#include "packet/phrase.h"
#include "packet/receivers.h"
#include "packet/split.h"
#include "packet/store.h"

/* ---- loading ---- */

/* LIVE_EXPIRED: the send took so long that the packet now belongs to the settle worker. */
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

/* Loads a packet that this process has just made. Never repeated: a second load could bring back an older state
 * (LIVE_LOAD_WITHIN_MS). The sender has paid, so the send succeeds even if the load fails. */
static void load_after_send(struct stores *stores, const struct packet *p)
{
    enum live_code code = LIVE_BAD;
    enum status st = load_shares(&stores->live, p, &code);
    crash_point("send-after-load");
    if (st == ST_OK && (code == LIVE_LOADED || code == LIVE_EXISTS))
        return;
    log_warn("packet not loaded, the settle worker will load it", "packet=%llu status=%s code=%d",
             (unsigned long long)p->id, status_name(st), (int)code);
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

/* Hashes and seals the packet's passphrase, for which the packet needs its id. */
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
    *p = order->packet;
    p->sender_id = sender.id;
    p->sender_name = sender.name;
    p->sender_face = sender.face;
    p->state = PACKET_FUNDING;
    p->created_ms = now_ms;
    p->expires_ms = packet_start_ms(p) + order->lifetime_ms;
    random_bytes(p->seed, sizeof p->seed);
    split_commitment(p->seed, p->commitment);
    enum status st = best_share(p);
    if (p->kind == PACKET_EXCLUSIVE) {
        p->receiver_id = receivers->items[0].id;
        p->receiver_name = receivers->items[0].name;
    } else if (receivers->count > 0 && st == ST_OK) {
        st = receivers_describe(a, p, receivers);
    }
    if (st == ST_OK)
        st = packet_id_next(stores->db, now_ms, &p->id);
    return st == ST_OK ? phrase_set(a, stores->config, order, p) : st;
}

/* Reads the packet that has this request key already, and compares it with the order. Waits until MariaDB can't lose
 * the packet of this order. */
static enum status earlier_find(struct stores *stores, struct arena *a, const struct send_order *order,
                                struct fund_packet *out)
{
    struct packet found;
    struct packet *p = &out->packet;
    enum status st = packet_find_by_key(stores->db, a, p->sender_id, p->request_key, &found);
    const uint64_t connection = db_connections(stores->db);
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
    return out->result == FUND_OTHER_ORDER ? ST_OK : db_durable(stores->db, connection);
}

struct fund_job {
    const struct packet *packet;
    const struct receivers *receivers;
    const struct send_caps *caps;
};

static enum status fund_run(struct db *db, void *ctx)
{
    const struct fund_job *job = ctx;
    crash_point("send-before-commit");
    enum status st = packet_send(db, job->packet, job->receivers, job->caps);
    /* The sender or a receiver deletes the account at this moment; a repeat says so. */
    return st == ST_NOT_FOUND ? ST_UNAVAILABLE : st;
}

enum status fund_packet(struct stores *stores, struct arena *a, struct send_party sender, struct receivers *receivers,
                        const struct send_order *order, int64_t now_ms, struct fund_packet *out)
{
    assert(order->packet.request_key.len > 0);
    assert(receivers->count <= RECEIVERS_MAX && (order->packet.kind != PACKET_EXCLUSIVE || receivers->count == 1));
    for (size_t i = 0; i < receivers->count; i++)
        assert(receivers->items[i].id != sender.id);
    const struct packet *p = &out->packet;
    out->result = FUND_DONE;
    enum status st = packet_prepare(stores, a, sender, receivers, order, now_ms, &out->packet);
    if (st != ST_OK)
        return st;
    const struct send_caps caps = send_caps_at(stores->config, now_ms);
    st = db_repeat(stores->db, fund_run, &(struct fund_job){ p, receivers, &caps });
    if (st == ST_INVALID) {
        out->result = FUND_REFUSED;
        return ST_OK;
    }
    if (st == ST_EXISTS)
        st = earlier_find(stores, a, order, out);
    if (st != ST_OK || out->result == FUND_OTHER_ORDER)
        return st;
    crash_point("send-after-commit");
    if (out->result == FUND_DONE)
        load_after_send(stores, p);
    return ST_OK;
}
