/* After a phone was lost, its user ends all its ways into the account, page by page. With `lost` in its address or its
 * form each of these pages leads to the next: devices, password (only LOST_ALL), passkeys, recovery codes. */
#ifndef HB_ACCOUNT_LOST_PHONE_H
#define HB_ACCOUNT_LOST_PHONE_H

#include "base/value.h"
#include "web/exchange.h"

/* LOST_PASSWORD_SET: after a login with a recovery code, which has set a password. */
enum lost_phone { LOST_NOTHING, LOST_ALL, LOST_PASSWORD_SET };

/* Reads `lost` from the address, or from the posted form. Anything else is LOST_NOTHING. */
enum lost_phone lost_phone_from_query(struct exchange *x);
enum lost_phone lost_phone_from_form(const struct exchange *x);
/* Page-only: lost ("1": LOST_ALL, "2": LOST_PASSWORD_SET; absent: nothing) and lost_password: the password is to be
 * changed, too. */
void lost_phone_model(struct model *m, enum lost_phone lost);
/* Appends `lost` to the path, which has a query already. STR_NONE without memory. */
struct str lost_phone_path(struct arena *a, const char *path, enum lost_phone lost);

#endif
