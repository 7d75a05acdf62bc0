/* GET /account: the user's names and access tokens. POST /account/tokens is in user/token_page.h; its answers show the
 * same page. */
#ifndef HB_USER_ACCOUNT_PAGE_H
#define HB_USER_ACCOUNT_PAGE_H

#include "user/token_store.h"
#include "web/bearer.h"
#include "web/exchange.h"

/* What an empty form of a new token proposes. */
#define TOKEN_DAYS_PROPOSED   STR("90")
#define TOKEN_SCOPES_PROPOSED SCOPE_READ

/* The form of POST /account/tokens. */
struct token_form {
    struct str name;
    unsigned scopes; /* bits of enum scope */
    uint32_t days;   /* until the token expires */
};

/* Handler of GET /account: 200. JSON: the members of account_model. */
enum step account_show(struct exchange *x);
/* Handler of GET for the addresses of the forms: 303 /account. */
enum step account_redirect(struct exchange *x);

/* Initializes m: id, username, nickname, tokens: a list of { id (public), name, scopes ("read send"), created_at,
 * expires_at, used_at (null: never) }, newest first; page: avatar, created_at_text, expires_at_text, used_at_text,
 * is_expired, scope_read, scope_send, scope_open, and form { name, days, scope_… }. ST_OK, or the status of a store. */
enum status account_model(struct exchange *x, struct model *m, struct str name, struct str days, unsigned scopes);

#endif
