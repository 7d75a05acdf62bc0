/* Funding: the sender's money goes into a packet's escrow, and the packet into Redis. The one way money gets into a
 * packet; settlement, expiry and recovery are the ways out. */
#ifndef HB_SETTLE_FUND_H
#define HB_SETTLE_FUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"
#include "packet/order.h"
#include "packet/packet.h"

/* The money side of a send, without HTTP: one transaction debits the wallet, credits the escrow, inserts the packet in
 * state 'funding' and adds to the sender's year; then the packet is loaded into Redis and opened. A packet whose load
 * was lost is funded all the same: the settle worker loads it.
 *   sender_id, sender_name: who pays · receiver: of an exclusive packet (id 0 otherwise) · order: validated.
 *   order->request_key is set. out->packet lives in the arena.
 * ST_OK: the packet is paid for · ST_EXISTS: this request_key made out->packet before, but what was ordered differs ·
 * ST_INVALID: the balance does not suffice · ST_UNAVAILABLE, ST_CONFLICT: nothing happened, try again · ST_UNKNOWN: the
 * outcome could not be learnt; the same request_key asks again. */
struct send_party {
    uint64_t id;
    struct str name;
};
struct send_result {
    struct packet packet;
    bool repeated; /* the same order with the same request_key was there before */
};
enum status packet_send(struct stores *stores, struct arena *a, struct send_party sender, struct send_party receiver,
                        const struct send_order *order, int64_t now_ms, struct send_result *out);

/* Puts a funded packet into Redis and opens it, under its row lock: whoever comes second finds it open and does
 * nothing, and nobody brings back a packet whose life has gone on. Own transaction. ST_OK also when it was loaded
 * before; ST_NOT_FOUND; otherwise it stays in 'funding' and may be tried again. */
enum status packet_load_funded(struct stores *stores, struct arena *a, uint64_t packet_id);

#endif
