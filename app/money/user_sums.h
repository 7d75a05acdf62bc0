/* How much each of many users pays: a table of sums by user id. 16 to 37 bytes a user. */
#ifndef HB_MONEY_USER_SUMS_H
#define HB_MONEY_USER_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct user_sum {
    uint64_t user_id; /* 0: an empty slot */
    int64_t fen;
};

struct user_sums {
    struct user_sum *slots;
    size_t slot_count, count;
};

#define USER_SUMS_EMPTY ((struct user_sums){ .slots = NULL })
void user_sums_free(struct user_sums *sums);

/* The sum of a user, which begins at 0, until the next call. user_id is not 0. NULL: out of memory. */
int64_t *user_sums_of(struct user_sums *sums, uint64_t user_id);

#endif
