/* Sums of a batch of events, and the checks of its packets. Pure: no MySQL, no Redis.
 *
 * A batch holds consecutive events of one partition. It is grouped into the rows to write: one change per account,
 * packet and (user, month). Each list is in ascending key order, which is the order of the row locks, so two workers
 * cannot deadlock.
 *
 * Order of calls: settle_batch_group; the caller fills each packet from its row, drops settled grabs and verifies the
 * events (settle/verify.h); settle_packet_check of each packet; settle_batch_accounts; settle_batch_totals. */
#ifndef HB_SETTLE_BATCH_H
#define HB_SETTLE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "live/event.h"
#include "settle/fault.h"

/* One packet: the sums of its events in the batch, its row in MySQL, and what to do with it. */
struct settle_packet {
    uint64_t id;
    /* from the events */
    uint32_t grabs;       /* number of grab events in this batch */
    int64_t grabs_fen;    /* their sum */
    uint32_t first_share; /* lowest and highest share number among them */
    uint32_t last_share;
    int64_t last_grab_ms;
    bool has_close;
    const struct live_event *close_event; /* the first one; NULL: none */
    uint32_t close_count;                 /* grabs and fen as counted by the close function */
    int64_t close_fen, close_rest_fen;
    /* from the packet's row, filled by the caller before settle_packet_check */
    bool found;
    size_t row;  /* in the rows of packets */
    bool closed; /* state is closed */
    uint64_t sender_id;
    int64_t amount_fen; /* amount_fen, count: of all shares, also of shares that were given back into the packet */
    uint32_t count;
    int64_t returned_fen;   /* given back, by the tables; Redis may have closed the packet without knowing of it */
    uint32_t best_share_no; /* PACKET_NO_SHARE: none */
    uint32_t row_grabs;
    int64_t row_grabs_fen;
    int64_t row_refund_fen;
    /* results of settle_packet_check */
    bool finishes;      /* the last share is settled with this batch */
    bool closes;        /* the packet becomes closed: finished, or closed with a refund */
    int64_t refund_fen; /* > 0: goes back to the sender with this batch */
};

struct settle_account {
    uint64_t id;
    int64_t change_fen; /* never 0 */
};

struct settle_month {
    uint64_t user_id;
    int year, month;
    uint32_t count;
    int64_t amount_fen;
    uint32_t best_count;
};

/* An id further in the future is not used as a time: a clock was wrong, or an intruder wrote the entry. */
enum { SETTLE_FUTURE_MS = 86400000 };

struct settle_batch {
    const struct live_event *events; /* borrowed */
    size_t event_count;
    int64_t now_ms;
    struct live_event **grabs; /* grab events by (packet, share), without repeats */
    size_t grab_count;
    struct settle_packet *packets; /* by id */
    size_t packet_count;
    struct settle_account *accounts; /* by id */
    size_t account_count;
    struct settle_month *months; /* by (user, year, month) */
    size_t month_count;
};

/* Groups events (ascending ids, one partition) by packet. The lists are allocated in a; events stays borrowed. An
 * identical repeat of a grab counts once. ST_CORRUPT with fault set: the same share twice with different content, a
 * grab after its packet's close event, two different close events, or sums beyond 64 bits. ST_NO_MEMORY. */
enum status settle_batch_group(struct arena *a, struct live_event *events, size_t count, int64_t now_ms,
                               struct settle_batch *out, struct settle_fault *fault);

/* True when the id is more than SETTLE_FUTURE_MS in the future. */
bool settle_id_is_future(struct live_event_id id, int64_t now_ms);
/* The time of a grab: the time in its id, or now when the id is more than SETTLE_FUTURE_MS in the future. */
int64_t settle_grab_ms(const struct live_event *e, int64_t now_ms);

/* Removes a grab that an earlier batch has settled, from the list and from its packet's sums. */
void settle_batch_drop(struct settle_batch *b, size_t grab_index);

/* The packet of the batch with this id; NULL when none. */
struct settle_packet *settle_batch_packet(const struct settle_batch *b, uint64_t packet_id);

/* Compares a packet's events with its row; sets finishes, closes and refund_fen. ST_CORRUPT with fault set: no such
 * packet, a grab of a closed packet, more money than the packet holds, all shares taken but money left, a close event
 * whose grabs or rest differ from the row, except for shares that were given back meanwhile, or a grab whose share is
 * not the next one: shares are handed out in order, so a skipped share is a lost event. An identical close event of a
 * closed packet is accepted. */
enum status settle_packet_check(struct settle_packet *p, struct settle_fault *fault);

/* Fills accounts: grabs pay from escrow to wallet, refunds from escrow to sender. Call after settle_packet_check of all
 * packets. ST_CORRUPT: a sum beyond 64 bits · ST_NO_MEMORY. */
enum status settle_batch_accounts(struct arena *a, struct settle_batch *b);

/* The calendar date of an instant in the service's zone. */
typedef struct clock_date settle_date_of(int64_t ms);

/* A best share: its receiver, and the time of the grab. */
struct settle_best {
    uint64_t user_id;
    int64_t grabbed_ms;
};
/* Fills months from the grabs and from the best shares (best) of the packets that finish: such a share counts in the
 * month of its grab. Returns as settle_batch_accounts. */
enum status settle_batch_totals(struct arena *a, struct settle_batch *b, const struct settle_best *best,
                                size_t best_count, settle_date_of *date_of);

#endif
