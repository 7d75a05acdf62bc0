/* Funding: moves the sender's money into a packet's escrow and loads the packet into Redis. Money enters a packet here,
 * and by a return (acts/give_back.h); it leaves by settlement, expiry and recovery. */
#ifndef HB_ACTS_FUND_H
#define HB_ACTS_FUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"
#include "packet/order.h"
#include "packet/packet.h"
#include "packet/receivers.h"

struct send_party {
    uint64_t id;
    struct str name;
    struct face face;
};

enum fund_result {
    FUND_DONE,        /* this call has made the packet */
    FUND_REPEATED,    /* an earlier call with the same order and request_key has made it */
    FUND_OTHER_ORDER, /* a packet of another order has this request_key; nothing was changed */
    FUND_REFUSED      /* the sender can't pay, or has reached a cap of the day (packet/caps.h); nothing was changed */
};

struct fund_packet {
    enum fund_result result;
    struct packet packet; /* not with FUND_REFUSED; its texts are borrowed from the arguments or in the arena */
};

/* Funds a new packet. One statement debits the wallet, credits the escrow, inserts the packet in state 'funding' and
 * adds to the sender's totals; then the packet is loaded into Redis, once, and can be grabbed. The settle worker marks
 * it open when it sees it there, and loads it when this call could not.
 *
 * sender: pays. receivers: exactly one for an exclusive packet; for other kinds the only users who may open it, empty
 * for everybody. Without the sender and without repetitions. The call sorts them. order: validated, with a request_key.
 *
 * ST_OK: see out · ST_UNAVAILABLE, ST_CONFLICT: nothing was written, try again · ST_UNKNOWN: the outcome is unknown;
 * repeat the call with the same request_key · ST_CORRUPT · ST_NO_MEMORY. */
enum status fund_packet(struct stores *stores, struct arena *a, struct send_party sender, struct receivers *receivers,
                        const struct send_order *order, int64_t now_ms, struct fund_packet *out);

#endif
