/* The pages of logins by an issuer that come to nothing. Each writes the security event issuer-refused. */
#ifndef HB_SSO_REFUSAL_H
#define HB_SSO_REFUSAL_H

#include "oidc/fault.h"
#include "sso/journey.h"
#include "web/exchange.h"

/* Answers with the page for a fault: 503 with a link to try again (temporary), 400 (the attempt is over, or the answer
 * is forged), 403 (the settings do not let the user in, or the user has said no), 503 (the settings do not fit). The
 * page leads back to where the journey began. */
enum step refuse_fault(struct exchange *x, enum oidc_fault fault, const struct journey *j);

/* Why a user whom the issuer knows is refused. */
enum refusal {
    REFUSAL_DISABLED, /* by an operator */
    REFUSAL_TAKEN,    /* to be linked, but it is somebody else's, or the user has another one */
    REFUSAL_STALE,    /* to be linked, but who the user is was not proved in this session */
    REFUSAL_OTHER,    /* once more, but it is another user */
    REFUSAL_INSIDE    /* nobody's, while somebody is logged in: perhaps it should be linked */
};
/* 403. user_id: whom the log names; 0: nobody. */
enum step refuse_user(struct exchange *x, enum refusal refusal, uint64_t user_id, const struct journey *j);

#endif
