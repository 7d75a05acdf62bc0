/* GET /account: the user's names, sessions and access tokens. Its forms are in user/nickname_page.h,
 * user/session_page.h and user/token_page.h; their refusals show the same page. */
#ifndef HB_USER_ACCOUNT_PAGE_H
#define HB_USER_ACCOUNT_PAGE_H

#include "user/password.h"
#include "user/token_store.h"
#include "web/bearer.h"
#include "web/exchange.h"
#include "web/form.h"

/* What an empty form of a new token proposes. */
#define TOKEN_DAYS_PROPOSED   STR("90")
#define TOKEN_SCOPES_PROPOSED SCOPE_READ

/* The form of POST /account/tokens. */
struct token_form {
    struct str name;
    unsigned scopes; /* bits of enum scope */
    uint32_t days;   /* until the token expires */
    struct password password;
};

/* Handler of GET /account: 200. JSON: the members of account_model. */
enum step account_show(struct exchange *x);
/* Handler of GET for the addresses of the forms: 303 /account. */
enum step account_redirect(struct exchange *x);

/* Answers 422 with the account page, for the forms without typed texts of their own. */
enum step account_refuse(struct exchange *x, const struct form_errors *e);

/* Initializes m: id, username, nickname, sessions (user/session_page.h), tokens: a list of { id (public), name,
 * scopes ("read send"), created_at, expires_at, used_at (null: never) }, newest first, and those of passkeys_model;
 * page: avatar, created_at_text, expires_at_text, used_at_text, is_expired, scope_read, scope_send, scope_open, form
 * { nickname (typed, or the present one), name, days, scope_… }; token_open: the form of a token was refused, so it is
 * unfolded. ST_OK, or the status of a store. */
enum status account_model(struct exchange *x, struct model *m, struct str name, struct str days, unsigned scopes);

#endif
