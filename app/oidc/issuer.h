/* Asks an issuer: its discovery document, its keys, a code for tokens, and for what it knows of a user. Documents and
 * keys are kept for a while. Answers are not trusted: their size is limited, and redirects are not followed. */
#ifndef HB_OIDC_ISSUER_H
#define HB_OIDC_ISSUER_H

#include <jansson.h>

#include "oidc/attempt.h"
#include "oidc/discovery.h"
#include "oidc/http.h"
#include "oidc/jwks.h"

enum {
    OIDC_PAUSE_MS = 3000,             /* after a failed connection or a missed deadline nobody is asked for so long */
    OIDC_CACHE_MS = 3600 * 1000,      /* the document and the keys are read again after this */
    OIDC_KEYS_PAUSE_MS = 10 * 1000,   /* an unknown kid reads the keys again at most this often */
    OIDC_DOCUMENT_MAX = 64 * 1024,    /* bytes of a discovery document, and of a UserInfo answer */
    OIDC_KEYS_BYTES_MAX = 256 * 1024, /* bytes of a set of keys */
    OIDC_ANSWER_MAX = 128 * 1024      /* bytes of an answer of the token endpoint */
};

struct oidc_issuer {
    const struct oidc_settings *settings;
    const struct oidc_http *http;
    struct arena *texts; /* of the document */
    struct oidc_document document;
    bool has_document;
    struct oidc_jwks *keys; /* NULL: not read yet */
    /* of clock_monotonic_ms; 0: never */
    int64_t document_ms, keys_ms, pause_until_ms;
};

/* Each function may ask the issuer several times, until deadline_ms of clock_monotonic_ms. */

/* Reads the document when it is missing or too old. While the issuer is away an old one does. */
enum oidc_fault oidc_issuer_document(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms);
/* Reads document and keys anew. What was kept stays when that fails. */
enum oidc_fault oidc_issuer_renew(struct oidc_issuer *i, struct arena *a, int64_t deadline_ms);
/* Reads a token, checks its algorithm and its signature with the keys, which are read again for an unknown kid, and
 * gives its claims, to be freed with json_decref. Needs the document. */
enum oidc_fault oidc_issuer_verify(struct oidc_issuer *i, struct arena *a, struct str token, int64_t deadline_ms,
                                   struct oidc_jws *jws, json_t **claims);

struct oidc_tokens {
    struct str id_token;
    struct str access_token; /* STR_NONE: none */
};
/* Exchanges a code (RFC 6749 4.1.3, RFC 7636 4.5, Core 3.1.3). The texts are in the arena. Needs the document. */
enum oidc_fault oidc_issuer_exchange(struct oidc_issuer *i, struct arena *a, struct str code, struct str verifier,
                                     int64_t deadline_ms, struct oidc_tokens *out);
/* Asks for the claims of the user (Core 5.3), who must be the subject; free them with json_decref. Needs a document
 * with such an endpoint. */
enum oidc_fault oidc_issuer_userinfo(struct oidc_issuer *i, struct arena *a, struct str access_token,
                                     struct str subject, int64_t deadline_ms, json_t **out);

#endif
