/* Changing one's password, in the auth pool. */
#ifndef HB_ACCOUNT_PASSWORD_PAGE_H
#define HB_ACCOUNT_PASSWORD_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* The fields of a proof (account/proof.h) with old_password, and new_password. */
extern const struct field password_fields[];

/* Handler of GET /account/password: the form, with proofs. Page: the members of lost_phone_model and of proof_model,
 * and first_password: the user has none yet. */
enum step password_show(struct exchange *x);
/* Handler of GET /.well-known/change-password: 303 /account/password. Browsers lead there who warn of a password. */
enum step password_redirect(struct exchange *x);
/* Handler of POST /account/password: 303 /account?password=1, or with `lost`
 * the passkeys; JSON 204; 422 for a refused proof or a new one that
 * the rules refuse. All other sessions of the user end; access tokens stay. */
enum step password_submit(struct exchange *x);

#endif
