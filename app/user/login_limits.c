#include "user/login_limits.h"

#include "user/account.h"
#include "user/known_device.h"

bool login_limits_take(struct exchange *x, struct str username, struct login_limits *taken)
{
    /* Nobody has an invalid name: all of them are one subject. */
    struct str name = username_valid(username) ? username : STR("");
    struct str device = known_device_number(x, name);
    if (device.ptr != NULL)
        *taken = (struct login_limits){ .uses = { { LIMIT_LOGIN_DEVICE, device } }, .count = 1 };
    else
        *taken = (struct login_limits){ .uses = { { LIMIT_LOGIN_ACCOUNT, name },
                                                  { .limit = LIMIT_LOGIN_ADDRESS },
                                                  { .limit = LIMIT_LOGIN_NETWORK },
                                                  { LIMIT_LOGIN_SITE, STR("all") },
                                                  { LIMIT_LOGIN_NEW, name } },
                                        .count = 5,
                                        .wrong_count = 4 };
    return limits_take(x, taken->uses, taken->count);
}

void login_limits_give_back(struct exchange *x, const struct login_limits *taken)
{
    if (taken->wrong_count > 0)
        limits_give_back(x, taken->uses, taken->wrong_count);
}
