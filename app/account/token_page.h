/* The page /account/developers: making and revoking access tokens. */
#ifndef HB_ACCOUNT_TOKEN_PAGE_H
#define HB_ACCOUNT_TOKEN_PAGE_H

#include "account/proof.h"
#include "base/value.h"
#include "web/exchange.h"
#include "web/fields.h"

/* The form of POST /account/tokens. */
struct token_form {
    struct str name;
    unsigned scopes; /* bits of enum scope */
    uint32_t days;   /* until the token expires */
    struct proof proof;
};
/* Its fields: name; the scopes as the boxes scope_read, scope_send, scope_open of the page or as one field `scopes`
 * with blanks between them, or both; days; the fields of a proof. */
extern const struct field token_fields[];

/* Adds tokens: a list of { id (public), name, scopes ("read send"), created_at, expires_at, used_at (null: never) },
 * newest first; page: created_at_text, expires_at_text, used_at_text, is_expired, scope_read, scope_send, scope_open.
 * ST_OK, or the status of a store. */
enum status tokens_model(struct exchange *x, struct model *m);

/* Handler of GET /account/developers: 200, pages/developers. JSON: tokens, proofs (account/proof.h). Page: form { name,
 * days, scope_… }, revoked (of the query ?revoked=1). With ?made=1, where the POST leads, also new_token for the first
 * look (account/shown_once.h), later shown_before. After a refused POST (422) also errors, error, and token_open: the
 * form is unfolded. */
enum step developers_show(struct exchange *x);
/* Handler of GET for the addresses of the forms: 303 /account/developers. */
enum step developers_redirect(struct exchange *x);
/* Handler of POST /account/tokens: 422 with the form, or JSON 201 { id, token, scopes, expires_at }, the only answer
 * with the token; HTML 303 /account/developers?made=1, which shows it once. */
enum step token_submit(struct exchange *x);
/* Handler of POST /account/tokens/ID/delete: 303 /account/developers?revoked=1#tokens, JSON 204; 404 when the user has
 * no such token. */
enum step token_delete_submit(struct exchange *x);

#endif
