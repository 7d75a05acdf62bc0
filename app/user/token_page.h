/* Making and revoking access tokens on the page /account. */
#ifndef HB_USER_TOKEN_PAGE_H
#define HB_USER_TOKEN_PAGE_H

#include "web/exchange.h"
#include "web/fields.h"

/* The form: name; the scopes as the boxes scope_read, scope_send, scope_open of the page or as one field `scopes` with
 * blanks between them, or both; days. Reads into struct token_form. */
extern const struct field token_fields[];

/* Handler of POST /account/tokens: 201, or 422 with the form. JSON { id, token, scopes, expires_at }; HTML: the account
 * page with the token. The token is in this answer and nowhere else. */
enum step token_submit(struct exchange *x);
/* Handler of POST /account/tokens/ID/delete: 303 /account?revoked=1#tokens, JSON 204; 404 when the user has no such
 * token. */
enum step token_delete_submit(struct exchange *x);

#endif
