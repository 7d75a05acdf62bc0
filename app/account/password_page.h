/* Changing one's password, in the auth pool. */
#ifndef HB_ACCOUNT_PASSWORD_PAGE_H
#define HB_ACCOUNT_PASSWORD_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* old_password, new_password. */
extern const struct field password_fields[];

/* Handler of GET /account/password: the form. Page: the members of lost_phone_model. */
enum step password_show(struct exchange *x);
/* Handler of POST /account/password: 303 /account?password=1, or with `lost`
 * the passkeys; JSON 204; 422 for a wrong old password or a new one that
 * the rules refuse. All other sessions of the user end; access tokens stay. */
enum step password_submit(struct exchange *x);

#endif
