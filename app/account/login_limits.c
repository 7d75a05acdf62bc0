#include "account/login_limits.h"

#include "user/account.h"
#include "user/known_device.h"

bool login_limits_take(struct exchange *x, struct str username, const struct password *typed,
                       struct login_limits *taken)
{
    /* No user has an invalid name, so all invalid names count as one. */
    struct str name = username_valid(username) ? username : STR("");
    struct str device = known_device_number(x, name);
    if (device.ptr != NULL)
        *taken = (struct login_limits){ .uses = { { LIMIT_LOGIN_DEVICE, device } }, .count = 1, .payer = HASH_KNOWN };
    else
        *taken = (struct login_limits){ .uses = { { LIMIT_LOGIN_ACCOUNT, name },
                                                  { .limit = LIMIT_LOGIN_ADDRESS },
                                                  { .limit = LIMIT_LOGIN_NETWORK },
                                                  { LIMIT_LOGIN_NEW, name } },
                                        .count = 4,
                                        .wrong_count = 3,
                                        .payer = HASH_STRANGER };
    if (!hash_budget_take(x, taken->payer, taken->uses, taken->count, &taken->permit))
        return false;
    if (hash_budget_take_raw(x, taken->payer, typed, &taken->permit))
        return true;
    login_limits_give_back(x, taken); /* the password was not compared */
    return false;
}

void login_limits_give_back(struct exchange *x, const struct login_limits *taken)
{
    if (taken->wrong_count > 0)
        limits_give_back(x, taken->uses, taken->wrong_count);
}
