/* Caps: how much a user may send in one day of the site (settings user_send_day_fen and user_send_day_count). The truth
 * is the ledger: the routine packet_send_with counts the transfers of the day while it has the lock on the sender's
 * wallet. What was sent counts, also when the packet was ended or the rest came back. */
#ifndef HB_PACKET_CAPS_H
#define HB_PACKET_CAPS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "config/config.h"
#include "mysql/db.h"

struct send_caps {
    int64_t fen_max, count_max; /* 0: no such cap */
    int64_t from_ms, to_ms;     /* the day: [from_ms, to_ms) */
};

/* What a user has sent in a day. */
struct send_day {
    int64_t fen, count;
};

/* The caps of the settings for the day that has the instant now_ms. Without a cap the day is not computed. */
struct send_caps send_caps_at(const struct config *config, int64_t now_ms);
/* True when there is a cap. */
bool send_caps_set(const struct send_caps *caps);
/* Reads what the user has sent in the day of the caps. Errors as db_query. */
enum status send_day_read(struct db *db, struct arena *a, uint64_t user_id, const struct send_caps *caps,
                          struct send_day *out);

#endif
