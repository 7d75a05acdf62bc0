/* POST /login/oidc/backchannel: the issuer orders that a user is logged out (OpenID Connect Back-Channel Logout 1.0).
 *
 * All sessions of the user end, also those that another way has begun, and also when the order names one session of the
 * issuer (sid). Whoever logs out at work, or is shut out there, is out everywhere; one session too many costs a tap,
 * one too few leaves a stranger in. So the site keeps no sid, and an order that names only a sid, and no subject, is
 * refused: docs/how-to/issuer.md says which option of the issuer that is.
 *
 * 200: done, or done before, or the subject is nobody's · 400: no such order · 503: the issuer's keys or a store can't
 * be read; the issuer may try again. None may be kept (Cache-Control: no-store). */
#ifndef HB_SSO_BACKCHANNEL_H
#define HB_SSO_BACKCHANNEL_H

#include "web/exchange.h"
#include "web/fields.h"

extern const struct field backchannel_fields[];
enum step backchannel_submit(struct exchange *x);

#endif
