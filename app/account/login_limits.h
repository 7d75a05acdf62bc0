/* The limits of a login (web/limits.h), taken before the password is hashed, so that a refused guess costs no hash. The
 * answer is the same whether or not the user exists.
 *
 * From a known device (user/known_device.h) only the device and the hash count: the owner gets in while others guess.
 * From elsewhere wrong passwords count for the username, the address and its network; pauses grow with the number of
 * guesses, and nobody is locked out for good. A right password gives back what its try has taken there, except for the
 * hash (user/hash_budget.h). */
#ifndef HB_ACCOUNT_LOGIN_LIMITS_H
#define HB_ACCOUNT_LOGIN_LIMITS_H

#include "user/hash_budget.h"

struct login_limits {
    struct limit_use uses[LIMIT_USES_MAX];
    size_t count;              /* taken */
    size_t wrong_count;        /* the first of them are for wrong passwords */
    enum hash_payer payer;     /* of the hash */
    struct hash_permit permit; /* for the hash, or the two of them */
};

/* Takes from the limits what a login with this folded name and this password needs, its hashes included. True: check
 * the password. False: refused, and the request is answered. */
bool login_limits_take(struct exchange *x, struct str username, const struct password *typed,
                       struct login_limits *taken);
/* Call it once the password was right, or could not be checked. */
void login_limits_give_back(struct exchange *x, const struct login_limits *taken);

#endif
