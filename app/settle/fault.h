/* Faults of events, streams and packets, and their texts: the reason of a dead letter, of a stopped partition, or of a
 * packet that recovery skips. */
#ifndef HB_SETTLE_FAULT_H
#define HB_SETTLE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "live/event.h"

enum settle_fault_kind {
    FAULT_NONE,
    /* events of a batch that contradict each other */
    FAULT_SHARE_TWICE,
    FAULT_CLOSE_TWICE,
    FAULT_GRAB_AFTER_CLOSE,
    FAULT_AMOUNT,
    /* events that contradict the tables */
    FAULT_PACKET_UNKNOWN,
    FAULT_PACKET_CLOSED,
    FAULT_RECLOSE_MISMATCH,
    FAULT_MONEY_EXCEEDED,
    FAULT_SHARE_SKIPPED,
    FAULT_SHARES_EXCEEDED,
    FAULT_REST_MISMATCH,
    FAULT_CLOSE_MISMATCH,
    FAULT_SETTLED_MISMATCH,
    FAULT_ACCOUNT_MISSING,
    FAULT_BALANCE_NEGATIVE,
    FAULT_BEST_SHARE_MISSING,
    /* events that Redis's functions never write: somebody else wrote them (settle/verify.h) */
    FAULT_OTHER_PARTITION,
    FAULT_NOT_DRAWN,
    FAULT_NOT_RETURNED,
    FAULT_NOT_RECEIVER,
    FAULT_RECEIVER_ADDED,
    FAULT_BEFORE_OPENING,
    FAULT_AFTER_EXPIRY,
    FAULT_IN_FUTURE,
    FAULT_NICKNAME,
    FAULT_CLOSED_EARLY,
    /* a statement was refused */
    FAULT_UNIQUE_KEY,
    FAULT_CONSTRAINT,
    FAULT_TABLES,
    /* other reasons of a dead letter */
    FAULT_UNREADABLE,
    FAULT_FOLLOWS_LETTER,
    /* reasons of a stopped partition */
    FAULT_STREAM,
    FAULT_NO_ID,
    FAULT_LETTER_REFUSED,
    FAULT_TRIMMED,
    /* reasons of a packet that can't be recovered */
    FAULT_SHARES_LOST,
    FAULT_GRAB_MISMATCH,
    FAULT_REBUILD_REFUSED,
    FAULT_NOT_CLOSED,
    FAULT_REFUND_REFUSED,
    FAULT_CLOSED_SUM_MISMATCH,
    FAULT_ROW_IMPOSSIBLE,
    FAULT_COUNT
};

struct settle_fault {
    enum settle_fault_kind kind;
    uint64_t packet_id;         /* 0: the fault is not about one packet */
    struct live_event_id event; /* 0-0: the fault is not about one event */
};

/* True for a fault that Redis's functions can't cause: whoever wrote the event may control a pool or Redis. */
bool settle_fault_is_forgery(enum settle_fault_kind kind);

/* The text of a fault, for logs and for the reason of a dead letter. Static storage; "" for FAULT_NONE. */
struct str settle_fault_text(enum settle_fault_kind kind);

#endif
