/* The settings of a login by an issuer. */
#ifndef HB_OIDC_SETTINGS_H
#define HB_OIDC_SETTINGS_H

#include "base/keys.h"

/* All texts are borrowed and live as long as the struct oidc. */
struct oidc_settings {
    struct str issuer; /* exactly as the issuer spells it: https://login.example.com/realms/x */
    struct str client_id;
    struct str client_secret;  /* empty: a public client, which PKCE alone protects */
    struct str scopes;         /* "openid profile email"; openid is added when it is missing */
    struct str redirect_uri;   /* https://HOST/login/oidc/callback, as registered with the issuer */
    struct str username_claim; /* a claim's name; empty: preferred_username */
    struct str_list domains;   /* of e-mail addresses; none: every address, and no address at all, may come in */
    struct str groups_claim;   /* a claim's name; empty: groups are not read */
    struct str_list groups;    /* one of them is needed; none: none is needed */
    struct str_list hosts;     /* other hosts than the issuer's that its endpoints may have: "HOST" or "HOST:PORT" */
    const struct key *key;     /* seals the cookies: of a purpose of its own */
};

#endif
