/* Login by an issuer of OpenID Connect: the authorization code flow with PKCE, for one issuer and one client. This
 * floor knows the protocol: no pages, no tables, no cookies' names.
 *
 *     GET /login/oidc           oidc_authorize: a URL to redirect to, and the text of a cookie
 *     GET /login/oidc/callback  oidc_finish: query and cookie become claims, or a fault
 *     POST …/backchannel        oidc_logout_token: a token becomes "end these sessions", or a fault
 *
 * It follows OpenID Connect Core 1.0 (errata set 2), Discovery 1.0, Back-Channel Logout 1.0, RFC 6749, 7636 (PKCE),
 * 7515, 7517, 7518, 8037 (JOSE), 8725 (JWT best practice), 9207 (iss in the callback), 9700 (OAuth best practice).
 *
 * All calls of one `struct oidc` are of one thread. Each call may ask the issuer, for OIDC_DEADLINE_MS in all; after a
 * failed connection or a missed deadline, OIDC_PAUSE_MS go by in which calls that need the issuer fail at once with
 * OIDC_AWAY. So a dead issuer costs a process little of its time. */
#ifndef HB_OIDC_OIDC_H
#define HB_OIDC_OIDC_H

#include "oidc/attempt.h"
#include "oidc/callback.h"
#include "oidc/claims.h"
#include "oidc/http.h"
#include "oidc/issuer.h"
#include "oidc/settings.h"
#include "oidc/token.h"

struct oidc;

/* Asks nobody: the first call that needs the issuer reads its discovery document. http must outlive it. NULL: no
 * memory. Free with oidc_free. */
struct oidc *oidc_new(const struct oidc_settings *settings, const struct oidc_http *http);
void oidc_free(struct oidc *o); /* NULL is fine */

/* Reads the discovery document and the keys anew, for a check of the settings or a doctor. */
enum oidc_fault oidc_probe(struct oidc *o, struct arena *a);

/* ---- a login ---- */

struct oidc_redirect {
    struct str url;    /* where the browser goes */
    struct str cookie; /* URL-safe; to be kept by the browser for OIDC_ATTEMPT_S: HttpOnly, SameSite=Lax (the callback
                        * is a top-level GET from another site), Secure, Path=/login/oidc. A second attempt of the
                        * browser replaces the first, whose callback is then OIDC_STATE. */
};

/* Begins a login. carried: a text of the caller, at most OIDC_CARRIED_MAX bytes, that comes back with the claims (where
 * to go next, for whom an account is linked); nobody else can read or change it. fresh: the issuer must ask the user to
 * prove who they are now (prompt=login, max_age=0); oidc_finish checks auth_time then. The texts are in the arena. */
enum oidc_fault oidc_authorize(struct oidc *o, struct arena *a, int64_t now_ms, struct str carried, bool fresh,
                               struct oidc_redirect *out);

/* Ends a login. cookie: what the browser sent, or STR_NONE. The caller clears the cookie, whatever the result is.
 * OIDC_OK: out is complete, in the arena. On a fault after the state was found to be right out->carried is set, so that
 * the page can lead back; else it is STR_NONE. A policy fault (oidc_fault_kind) also sets issuer and subject, for the
 * log. */
enum oidc_fault oidc_finish(struct oidc *o, struct arena *a, int64_t now_ms, const struct oidc_callback *callback,
                            struct str cookie, struct oidc_claims *out);

/* ---- a logout that the issuer orders ---- */

/* Checks a logout token (Back-Channel Logout 1.0, 2.6). The texts are in the arena. A temporary fault: the keys could
 * not be read; the caller answers 503, else 400 (2.8). */
enum oidc_fault oidc_logout_token(struct oidc *o, struct arena *a, int64_t now_ms, struct str token,
                                  struct oidc_logout *out);

#endif
