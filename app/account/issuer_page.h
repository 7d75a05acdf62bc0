/* The page /account/oidc: the user's account at the issuer (OpenID Connect), linked or not. Linking and unlinking ask
 * for a proof (account/proof.h). The link itself is made by the sso pool: this page gives the session a permit for it,
 * of one use (user/subject_store.h). */
#ifndef HB_ACCOUNT_ISSUER_PAGE_H
#define HB_ACCOUNT_ISSUER_PAGE_H

#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* Adds to a page what it shows of the issuer, when one is set; page-only: issuer { name, url }. url leads to the login
 * there and then to next; again: the issuer asks anew. */
void issuer_model(struct exchange *x, struct model *m, struct str next, bool again);
/* Adds page-only issuer_account { name, linked }, when an issuer is set. ST_OK · else the status of the store. */
enum status issuer_account_model(struct exchange *x, struct model *m);

/* GET /account/oidc: 200, pages/issuer. Model: linked, linked_at (null: not linked), proofs; page-only: name,
 * linked_at_text, only_way (there is neither a password nor a passkey, so it can't be unlinked), now_linked,
 * now_unlinked, go_url (the permit is there: on to the issuer), proof. 404: no issuer is set. */
enum step issuer_show(struct exchange *x);
/* POST /account/oidc/link: lets this session link an account at the issuer within ten minutes. HTML 303 to the page,
 * which leads on; JSON 204. 422 without proof · 409 when one is linked. */
enum step issuer_link_submit(struct exchange *x);
/* POST /account/oidc/unlink: HTML 303, JSON 204; a repeat, too. 422 without proof, and when no other way in is left. */
enum step issuer_unlink_submit(struct exchange *x);

#endif
