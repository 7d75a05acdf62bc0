/* The limits of a packet: computes the total from the amount and count of a send form, and checks it. The limits are
 * settings, capped by what packet/split.h can split. Pure functions. */
#ifndef HB_PACKET_RULES_H
#define HB_PACKET_RULES_H

#include "config/config.h"
#include "packet/packet.h"

enum { GREETING_CODE_POINTS_MAX = 400 }; /* width of the column; no setting can raise it */
enum { NOTE_GRAPHEMES_MAX = 50, NOTE_CODE_POINTS_MAX = 400 /* the width of the column */ };

/* How far ahead a packet can be scheduled. */
#define RULES_OPENS_AHEAD_MAX_MS (INT64_C(30) * 24 * 3600 * 1000)

/* The largest number of shares of a packet: 1 … SPLIT_COUNT_MAX. */
int64_t rules_count_max(const struct config *config);
/* The largest total of a packet. */
int64_t rules_total_fen_max(const struct config *config);

/* The largest amount that can be the smallest share of a packet with this total. count ≥ 1. */
int64_t rules_share_min_fen_max(const struct config *config, int64_t total_fen, uint32_t count);

/* Number i of the lifetimes that a sender can choose: its word in the form and its length. False: there are fewer. */
bool rules_lifetime(const struct config *config, size_t i, struct str *word, int64_t *ms);

enum rules_fault {
    RULES_OK,
    RULES_SHARE_MIN, /* a share would be less than 1 fen */
    RULES_SHARE_MAX, /* a share would exceed its limit */
    RULES_TOTAL_MAX  /* the total would exceed its limit */
};

struct rules_sum {
    enum rules_fault fault;
    int64_t limit_fen; /* the violated limit; 0 with RULES_OK */
    int64_t total_fen; /* total of the packet, with RULES_OK */
};

/* An amount as the sender typed it. */
struct rules_amount {
    int64_t fen;   /* ≥ 0 */
    bool is_total; /* it is the total of the packet; false: the amount of one share */
    /* at most rules_count_max; 0: not known yet, so only violations that every count would have are reported */
    uint32_t count;
};
/* Checks an amount against the limits. */
struct rules_sum rules_check(const struct config *config, const struct rules_amount *amount);

#endif
