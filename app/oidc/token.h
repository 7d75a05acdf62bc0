/* The claims of tokens whose signature is checked: ID tokens (OpenID Connect Core 1.0, 3.1.3.7) and logout tokens
 * (OpenID Connect Back-Channel Logout 1.0, 2.6). Pure. */
#ifndef HB_OIDC_TOKEN_H
#define HB_OIDC_TOKEN_H

#include <jansson.h>

#include "oidc/attempt.h"
#include "oidc/jws.h"

enum {
    OIDC_SKEW_S = 60,       /* how far the issuer's clock may differ */
    OIDC_LOGOUT_S = 600,    /* a logout token is not believed for longer, whatever its exp says */
    OIDC_SUBJECT_MAX = 255, /* ASCII characters (Core 2, sub); also of sid and jti */
};

/* Checks the claims of an ID token. access_token: what came with it, for at_hash; STR_NONE: none came. */
enum oidc_fault oidc_id_token_check(const json_t *claims, const struct oidc_jws *jws,
                                    const struct oidc_settings *settings, const struct oidc_attempt *attempt,
                                    struct str access_token, int64_t now_ms);

struct oidc_logout {
    struct str subject; /* STR_NONE: sid says which session, of whomever */
    struct str sid;     /* STR_NONE: all sessions of the subject */
    struct str jti;     /* a token with the same jti must be refused until … */
    int64_t until_ms; /* … then. The caller remembers it (SET NX PX, by issuer and jti); a store that is away: 503 */
};

/* Checks the claims of a logout token. The texts of out are in the arena. */
enum oidc_fault oidc_logout_check(struct arena *a, const json_t *claims, const struct oidc_jws *jws,
                                  const struct oidc_settings *settings, int64_t now_ms, struct oidc_logout *out);

/* True: a text of 1 to OIDC_SUBJECT_MAX printable ASCII characters. */
bool oidc_subject_valid(struct str text);

#endif
