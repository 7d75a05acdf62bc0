/* The login by an issuer. Steps of one: the browser is led to the issuer with a sealed cookie, and comes back with a
 * code, which the pool exchanges. */
#ifndef HB_SSO_LOGIN_H
#define HB_SSO_LOGIN_H

#include "web/exchange.h"

#define ISSUER_COOKIE "issuer" /* a login that is on its way (oidc/attempt.h), until it comes back */

/* GET /login/oidc?next=PATH: 303 to the issuer. Who is logged in is led to next, except with &again=1 (the issuer asks
 * anew, and the session that begins proves its user, account/proof.h) or &link=1 (for account/issuer_page.h). 404
 * without an issuer · refusals as sso/refusal.h has them. */
enum step login_start(struct exchange *x);
/* GET /login/oidc/callback: ends it. A known subject starts a session of its user. An unknown one becomes a new user,
 * or is linked to the visitor whose journey that is. 303 to next, JSON 200 {id, username, nickname}. */
enum step login_finish(struct exchange *x);

#endif
