/* The totals of a user by calendar month of the service's time zone; the totals of a year are the sums of its
 * months. */
#ifndef HB_PACKET_TOTALS_H
#define HB_PACKET_TOTALS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "mysql/db.h"

struct user_year {
    int year;
    uint64_t sent_count, received_count, best_count;
    int64_t sent_fen, received_fen;
};
struct user_month {
    uint64_t sent_count, received_count;
    int64_t sent_fen, received_fen;
};
struct user_totals {
    struct user_year *years; /* years with records, newest first; in the arena */
    size_t year_count;
    /* the months of one year, January first; zeros for months without records */
    struct user_month months[MONTHS_PER_YEAR];
};
/* Reads all years of the user, and the months of one of them. ST_CORRUPT: a month outside of 1 … 12 · ST_NO_MEMORY ·
 * else as db_query. */
enum status user_totals_find(struct db *db, struct arena *a, uint64_t user_id, int year, struct user_totals *out);
/* Subtracts a share that was given back from what its user received in the month of the grab. Inside a transaction.
 * ST_CORRUPT: the month has no such total. Else as db_exec. */
enum status user_totals_take_back(struct db *db, uint64_t user_id, int64_t grabbed_ms, int64_t amount_fen);

#endif
