/* What may be sent: the limits of a packet, and the sum that an amount and a count make. Pure. Limits are settings, as
 * far as a split can carry them (packet/split.h). */
#ifndef HB_PACKET_RULES_H
#define HB_PACKET_RULES_H

#include "base/config.h"
#include "packet/packet.h"

enum { GREETING_CODE_POINTS_MAX = 400 }; /* the column's width: a setting can't widen it */

/* The most shares of a packet: 1 … SPLIT_COUNT_MAX. */
int64_t rules_count_max(const struct config *config);
/* The largest total of a packet. */
int64_t rules_total_fen_max(const struct config *config);

enum rules_fault {
    RULES_FINE,
    RULES_SHARE_MIN, /* a share would be less than a fen */
    RULES_SHARE_MAX, /* a share would be more than a share may be */
    RULES_TOTAL_MAX  /* the packet would be more than a packet may be */
};

struct rules_sum {
    enum rules_fault fault;
    int64_t limit_fen; /* the limit that was broken; 0 when fine */
    int64_t total_fen; /* of the packet, when fine */
};

/* Judges an amount by the limits: the total of a lucky packet, and one share of the others. amount_fen ≥ 0. count is
 * rules_count_max at most; 0: nobody knows it yet, and only what is wrong with any count is found. */
struct rules_sum rules_judge(const struct config *config, enum packet_kind kind, int64_t amount_fen, uint32_t count);

#endif
