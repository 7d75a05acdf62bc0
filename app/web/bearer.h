/* Access tokens of programs: a request with `Authorization: Bearer TOKEN` (RFC 6750) acts for the token's owner, as a
 * browser does with its session. A cookie beside it is ignored. A browser never sends the header by itself, and another
 * website can't make it do so, so the cross-origin guard does not apply. Such a request is always answered with JSON.
 *
 * A token has scopes, and a route requires one of them: a GET requires `read`, a POST the scope in its row of the route
 * table. A POST without one, and a route with NO_TOKEN, refuses every token. */
#ifndef HB_WEB_BEARER_H
#define HB_WEB_BEARER_H

#include "base/str.h"
#include "web/exchange.h"

enum scope { SCOPE_READ = 1, SCOPE_SEND = 2, SCOPE_OPEN = 4 };
enum { SCOPES = 3 };

/* The name of scope number i (from 0, the bit 1 << i): "read", "send", "open"; STR_NONE from SCOPES on. */
struct str scope_name(unsigned i);
/* The scopes of a set by name, with blanks between: "read open". STR_NONE without memory. */
struct str scopes_text(struct arena *a, unsigned scopes);
/* Reads such a text, with blanks and repetitions anywhere. 0: there is no word, or a word is no scope. */
unsigned scopes_read(struct str text);

/* The token of an Authorization header; empty, which is refused, for a token without its scheme. STR_NONE: no header or
 * another scheme, so the cookie counts. */
struct str bearer_token(struct str authorization);
/* True when the request has a token and its route needs the visitor: then the token says who it is. */
bool bearer_decides(const struct exchange *x);
/* The scope that a request with a token needs on the route. 0: the route refuses tokens, with PROBLEM_NO_TOKEN. */
unsigned bearer_scope(const struct route *route);
extern const struct problem PROBLEM_NO_TOKEN;
/* Answers the request when its token, which has been read, does not allow it: 401 for an unknown token, 403 for a token
 * without the scope. True: the request is answered. */
bool bearer_refuse(struct exchange *x);

#endif
