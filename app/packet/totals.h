/* The totals of a user by calendar month of the service's time zone; those of a year are the sums of its months. */
#ifndef HB_PACKET_TOTALS_H
#define HB_PACKET_TOTALS_H

#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "io/db.h"

struct user_year {
    int year;
    uint64_t sent_count, received_count, best_count;
    int64_t sent_fen, received_fen;
};
/* The totals of each year with records, newest first. */
enum status user_years_find(struct db *db, struct arena *a, uint64_t user_id, struct user_year **out,
                            size_t *out_count);

struct user_month {
    uint64_t sent_count, received_count;
    int64_t sent_fen, received_fen;
};
/* The totals of the months of one year, January first; zeros for months without records. */
enum status user_months_find(struct db *db, struct arena *a, uint64_t user_id, int year,
                             struct user_month out[MONTHS_PER_YEAR]);
/* Adds a packet sent at sent_ms to the totals of its month. Inside the transaction of the send. */
enum status user_totals_add_sent(struct db *db, uint64_t user_id, int64_t sent_ms, int64_t amount_fen);

#endif
