#include "user/hash_budget.h"

#include <assert.h>

/* Adds the uses that one hash takes to the end of the list; returns their number. */
static size_t uses_add(struct limit_use *uses, size_t count, enum hash_payer payer)
{
    assert(count + HASH_USES <= LIMIT_USES_MAX);
    uses[count++] = (struct limit_use){ .limit = LIMIT_HASH_ADDRESS };
    uses[count++] = (struct limit_use){ .limit = LIMIT_HASH_NETWORK };
    uses[count++] = (struct limit_use){ LIMIT_HASH_SITE, payer == HASH_KNOWN ? STR("known") : STR("strangers") };
    return count;
}

bool hash_budget_take(struct exchange *x, enum hash_payer payer, const struct limit_use *others, size_t count,
                      struct hash_permit *permit)
{
    struct limit_use uses[LIMIT_USES_MAX];
    for (size_t i = 0; i < count; i++)
        uses[i] = others[i];
    if (!limits_take(x, uses, uses_add(uses, count, payer)))
        return false;
    permit->left++;
    return true;
}

bool hash_budget_take_raw(struct exchange *x, enum hash_payer payer, const struct password *typed,
                          struct hash_permit *permit)
{
    return typed->raw.len == 0 || hash_budget_take(x, payer, NULL, 0, permit);
}

bool hash_budget_try(struct exchange *x, enum hash_payer payer, struct hash_permit *permit)
{
    struct limit_use uses[HASH_USES];
    if (!limits_try(x, uses, uses_add(uses, 0, payer)))
        return false;
    permit->left++;
    return true;
}
