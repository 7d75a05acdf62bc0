/* Funding: moves the sender's money into a packet's escrow and loads the packet into Redis. Money enters a packet only
 * here; it leaves by settlement, expiry and recovery. */
#ifndef HB_SETTLE_FUND_H
#define HB_SETTLE_FUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"
#include "packet/order.h"
#include "packet/packet.h"
#include "packet/receivers.h"

/* Funds a new packet. One transaction debits the wallet, credits the escrow, inserts the packet in state 'funding' and
 * adds to the sender's totals; then the packet is loaded into Redis and opened. If the load fails, the packet is funded
 * all the same, and the settle worker loads it.
 *
 * sender: pays. receivers: one of an exclusive packet, else those who alone may open it, or none; not the sender, each
 * once; they are sorted. order: validated, with a request_key. out->packet: its
 * texts are borrowed from the arguments or are in the arena.
 *
 * ST_OK: the packet is funded · ST_EXISTS: out->packet has this request_key, but another order · ST_INVALID: the
 * balance is too low · ST_UNAVAILABLE, ST_CONFLICT: nothing was written, try again · ST_UNKNOWN: the outcome is
 * unknown; repeat the call with the same request_key. */
struct send_party {
    uint64_t id;
    struct str name;
};
struct send_result {
    struct packet packet;
    bool repeated; /* an earlier call with the same order and request_key made the packet */
};
enum status fund_packet(struct stores *stores, struct arena *a, struct send_party sender, struct receivers *receivers,
                        const struct send_order *order, int64_t now_ms, struct send_result *out);

/* Loads a funded packet into Redis and opens it, in a transaction of its own under the lock of the packet's row. Does
 * nothing unless the packet is in state 'funding', so a late call can't bring back an older state. ST_OK: loaded now or
 * before, or there is no such packet · other errors: the packet stays in state 'funding', and the call may be repeated.
 * p: as fund_packet made it. */
enum status fund_load(struct stores *stores, const struct packet *p);

#endif
