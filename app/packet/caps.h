/* Caps of one day of the site. How much a user may send (settings user_send_day_fen and user_send_day_count): the truth
 * is the ledger, the routine packet_send_with counts the transfers of the day while it has the lock on the sender's
 * wallet. What was sent counts, also when the packet was ended or the rest came back. How much a user may receive
 * (user_receive_day_fen): live/capped.h has what refuses a grab; here it is only read, to be shown. */
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
/* Reads what the user's shares since from_ms have brought. Shares that are not settled yet do not count. Errors as
 * db_query. */
enum status receive_day_read(struct db *db, struct arena *a, uint64_t user_id, int64_t from_ms, int64_t *out_fen);
/* True when less than a fifth of the cap is left, so that the user should know. */
bool cap_is_near(int64_t cap, int64_t used);

#endif
