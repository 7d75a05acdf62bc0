/* GET /account: the user's names, ways in and sessions; and /account/developers, the access tokens. Forms of /account:
 * account/nickname_page.h (a refused form shows the same page) and account/session_page.h; of /account/developers:
 * account/token_page.h. */
#ifndef HB_ACCOUNT_ACCOUNT_PAGE_H
#define HB_ACCOUNT_ACCOUNT_PAGE_H

#include "web/exchange.h"
#include "web/form.h"

/* Initializes m: id, username, nickname, face (the word, null: none), sessions (account/session_page.h), tokens (as
 * tokens_model), recovery_codes, passkeys (as passkeys_model); page: avatar, face_choices (account/nickname_page.h),
 * the members of picture_model, issuer_account (account/issuer_page.h), form { nickname (typed, or the present one) }.
 * ST_OK, or the status of a store. */
enum status account_model(struct exchange *x, struct model *m);

/* Handler of GET /account: 200, pages/account with this model. Page: also the members of lost_phone_model, and
 * saved and password_changed from the query, with which the page confirms a change. */
enum step account_show(struct exchange *x);
/* Handler of GET for the addresses of the forms: 303 /account. */
enum step account_redirect(struct exchange *x);

/* Answers 422 with the account page, for its forms. */
enum step account_refuse(struct exchange *x, const struct form_errors *e);

#endif
