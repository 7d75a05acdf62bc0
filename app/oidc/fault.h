/* What can go wrong in a login by an issuer (OpenID Connect). Pure. */
#ifndef HB_OIDC_FAULT_H
#define HB_OIDC_FAULT_H

#include <stdbool.h>

/* Who has to do something about a fault, and what the page says. */
enum oidc_kind {
    OIDC_KIND_NONE,      /* no fault */
    OIDC_KIND_TEMPORARY, /* the issuer can't answer now: a calm 503, try again in a moment */
    OIDC_KIND_USER,      /* this attempt is over: the user begins again */
    OIDC_KIND_POLICY,    /* the issuer knows the user, but the settings do not let the user in */
    OIDC_KIND_SETUP,     /* the settings, here or at the issuer, do not fit each other: for the operator */
    OIDC_KIND_FORGED     /* an answer or a token that a correct issuer never gives */
};

enum oidc_fault {
    OIDC_OK = 0,

    /* temporary */
    OIDC_AWAY,        /* no connection: no such name, no route, nobody listens, or a call during OIDC_PAUSE_MS */
    OIDC_SLOW,        /* no complete answer in time */
    OIDC_CUT,         /* the connection broke, or what came was no HTTP */
    OIDC_UNAVAILABLE, /* the issuer says so: 429, 5xx, server_error, temporarily_unavailable */
    OIDC_NO_MEMORY,

    /* user */
    OIDC_DENIED,  /* access_denied: the user, or the issuer, has said no */
    OIDC_STATE,   /* no attempt of this browser has this state: no cookie, another browser, a forged link */
    OIDC_LATE,    /* the attempt began more than OIDC_ATTEMPT_S ago */
    OIDC_CODE,    /* the issuer does not take the code: used before, or expired */
    OIDC_NO_CODE, /* the callback has neither a code nor an error, or one that is malformed */

    /* policy */
    OIDC_EMAIL,  /* domains are set, and the issuer names no verified e-mail address */
    OIDC_DOMAIN, /* the address is of another domain */
    OIDC_GROUP,  /* the user is in none of the groups */

    /* setup */
    OIDC_CLIENT,    /* the issuer does not know the client, its secret, or its right to this flow */
    OIDC_ERROR,     /* the issuer refuses the request with another error */
    OIDC_TLS,       /* the certificate is not valid, or is of another host */
    OIDC_REDIRECT,  /* an endpoint answers with a redirect, which is not followed */
    OIDC_ANSWER,    /* an answer has another status, or is no JSON object as it should be */
    OIDC_SIZE,      /* an answer or a token is too large */
    OIDC_DISCOVERY, /* the discovery document lacks what is needed, or is of another issuer */
    OIDC_ENDPOINT,  /* an endpoint is not https, or on another host than the settings allow */
    OIDC_KEYS,      /* the set of keys is malformed */

    /* forged */
    OIDC_MIX_UP,      /* the callback is from another issuer (RFC 9207), or lacks the iss that it must have */
    OIDC_TOKEN,       /* the token is malformed, encrypted or nested */
    OIDC_ALGORITHM,   /* none, HS256, or another algorithm that is not allowed */
    OIDC_CRITICAL,    /* the header has crit */
    OIDC_TYPE,        /* the token is of another type (typ) */
    OIDC_KEY,         /* no key of the issuer has this kid and fits the algorithm */
    OIDC_SIGNATURE,   /* the signature is wrong */
    OIDC_ISSUER,      /* iss */
    OIDC_AUDIENCE,    /* aud */
    OIDC_PARTY,       /* azp */
    OIDC_EXPIRED,     /* exp */
    OIDC_FUTURE,      /* iat or nbf is in the future */
    OIDC_STALE,       /* iat is before the attempt, or auth_time where a fresh login was asked for */
    OIDC_NONCE,       /* nonce is not the one of the attempt; or a logout token has one */
    OIDC_ACCESS_HASH, /* at_hash */
    OIDC_CLAIMS,      /* a claim is missing, or of another type or length: sub, sid, iat, exp … */
    OIDC_SUBJECT,     /* the UserInfo endpoint answers for somebody else */
    OIDC_EVENTS,      /* a logout token without the event of a logout, or an ID token with events */

    OIDC_FAULTS
};

/* The word for security events and logs: "mix-up". Static storage. */
const char *oidc_fault_name(enum oidc_fault fault);
enum oidc_kind oidc_fault_kind(enum oidc_fault fault);
/* True: the same may work in a moment. */
bool oidc_fault_is_temporary(enum oidc_fault fault);

#endif
