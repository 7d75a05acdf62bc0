/* What the browser brings back from the issuer (RFC 6749 4.1.2). Pure. */
#ifndef HB_OIDC_CALLBACK_H
#define HB_OIDC_CALLBACK_H

#include "base/str.h"
#include "oidc/fault.h"

enum { OIDC_CODE_MAX = 4096 };

/* The parameters, decoded; STR_NONE: absent. A parameter that is there twice must be refused before (RFC 6749 3.1): the
 * caller gives STR_NONE for the state then. */
struct oidc_callback {
    struct str code, state, iss, error;
};

/* Checks all except the state. iss_needed: the issuer has announced that it always names itself (RFC 9207 2.4).
 * OIDC_MIX_UP · OIDC_DENIED, OIDC_UNAVAILABLE, OIDC_CLIENT, OIDC_ERROR: the error of the issuer · OIDC_NO_CODE. */
enum oidc_fault oidc_callback_check(const struct oidc_callback *callback, struct str issuer, bool iss_needed);
/* What an error of the issuer means, also one of its token endpoint (RFC 6749 4.1.2.1, 5.2; Core 3.1.2.6). */
enum oidc_fault oidc_error_fault(struct str error);

#endif
