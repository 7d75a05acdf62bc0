#include "money/user_sums.h"

#include <stdbool.h>
#include <stdlib.h>

enum { SLOTS_FIRST = 1024 };

/* The slot of this user, or the empty one where it belongs. The product spreads ids that have a common factor. */
static struct user_sum *slot_find(struct user_sum *slots, size_t count, uint64_t user_id)
{
    size_t i = ((user_id * 0x9e3779b97f4a7c15u) >> 32) & (count - 1);
    while (slots[i].user_id != 0 && slots[i].user_id != user_id)
        i = (i + 1) & (count - 1);
    return &slots[i];
}

static bool grow(struct user_sums *sums)
{
    const size_t wanted = sums->slot_count == 0 ? SLOTS_FIRST : 2 * sums->slot_count;
    struct user_sum *slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return false;
    for (size_t i = 0; i < sums->slot_count; i++)
        if (sums->slots[i].user_id != 0)
            *slot_find(slots, wanted, sums->slots[i].user_id) = sums->slots[i];
    free(sums->slots);
    sums->slots = slots;
    sums->slot_count = wanted;
    return true;
}

int64_t *user_sums_of(struct user_sums *sums, uint64_t user_id)
{
    if (sums->count >= sums->slot_count / 8 * 7 && !grow(sums))
        return NULL;
    struct user_sum *slot = slot_find(sums->slots, sums->slot_count, user_id);
    sums->count += slot->user_id == 0;
    slot->user_id = user_id;
    return &slot->fen;
}

void user_sums_free(struct user_sums *sums)
{
    free(sums->slots);
    *sums = USER_SUMS_EMPTY;
}
