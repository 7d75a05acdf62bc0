/* What an issuer says of a user (Core 5.1), and whether the settings let this user in. Pure. */
#ifndef HB_OIDC_CLAIMS_H
#define HB_OIDC_CLAIMS_H

#include <jansson.h>

#include "base/arena.h"
#include "oidc/fault.h"
#include "oidc/settings.h"

enum {
    OIDC_TEXT_MAX = 1000,  /* bytes of a text; a longer one counts as absent */
    OIDC_GROUPS_MAX = 1000 /* of a user */
};

struct oidc_claims {
    struct str issuer;   /* the settings' issuer */
    struct str subject;  /* 1 to OIDC_SUBJECT_MAX printable ASCII characters; with issuer the only name of a user */
    struct str sid;      /* the issuer's session, for a back-channel logout; STR_NONE: unknown */
    struct str username; /* a proposal, as the issuer has it; STR_NONE: none. The caller's rules for usernames apply */
    struct str nickname; /* name, else nickname, else preferred_username; STR_NONE: none. The caller's rules apply */
    struct str email; /* only a verified one; STR_NONE: none. For the check of domains, and for people. Never a key */
    struct str_list groups;
    int64_t auth_time_ms; /* 0: the issuer does not say */
    bool fresh;           /* a fresh login was asked for, and auth_time proves it */
    struct str carried;   /* of the attempt */
};

/* True when the ID token lacks a claim that the UserInfo endpoint may have: an issuer that follows Core 5.4 puts the
 * claims of the scopes profile and email only there. */
bool oidc_claims_lack(const json_t *id, const struct oidc_settings *settings);
/* Reads the claims of a checked ID token; what it lacks comes from the UserInfo answer, which may be NULL. The texts
 * are in the arena; fresh and carried are the caller's. OIDC_CLAIMS: more than OIDC_GROUPS_MAX groups ·
 * OIDC_NO_MEMORY. */
enum oidc_fault oidc_claims_read(struct arena *a, const json_t *id, const json_t *info,
                                 const struct oidc_settings *settings, struct oidc_claims *out);
/* OIDC_OK, OIDC_EMAIL, OIDC_DOMAIN or OIDC_GROUP. */
enum oidc_fault oidc_claims_allowed(const struct oidc_claims *claims, const struct oidc_settings *settings);

#endif
