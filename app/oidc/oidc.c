#include "oidc/oidc.h"

#include <sodium.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "oidc/json.h"
#include "web/form.h"

struct oidc {
    struct oidc_issuer issuer;
};

struct oidc *oidc_new(const struct oidc_settings *settings, const struct oidc_http *http)
{
    struct oidc *o = calloc(1, sizeof *o);
    if (o != NULL)
        o->issuer = (struct oidc_issuer){ .settings = settings, .http = http };
    return o;
}

void oidc_free(struct oidc *o)
{
    if (o == NULL)
        return;
    arena_free(o->issuer.texts);
    oidc_jwks_free(o->issuer.keys);
    free(o);
}

static int64_t deadline(void)
{
    return clock_monotonic_ms() + OIDC_DEADLINE_MS;
}

enum oidc_fault oidc_probe(struct oidc *o, struct arena *a)
{
    return oidc_issuer_renew(&o->issuer, a, deadline());
}

/* ---- the redirect ---- */

/* RFC 7636 4.2, S256. */
static struct str challenge_of(struct arena *a, struct str verifier)
{
    uint8_t hash[HASH_BYTES];
    char text[OIDC_RANDOM_CHARS + 1];
    hash_sha256(verifier.ptr, verifier.len, hash);
    sodium_bin2base64(text, sizeof text, hash, sizeof hash, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return arena_str(a, str_from(text));
}

/* Core 3.1.2.1: the scope openid makes it a login. */
static struct str scope_of(struct arena *a, struct str scopes)
{
    struct str rest = scopes;
    while (rest.ptr != NULL)
        if (str_equal(str_cut(rest, ' ', &rest), STR("openid")))
            return form_encode(a, scopes);
    struct str all = arena_printf(a, "openid %.*s", STR_ARG(str_or_empty(scopes)));
    return all.ptr == NULL ? STR_NONE : form_encode(a, str_trim(all));
}

/* RFC 6749 4.1.1, RFC 7636 4.3, Core 3.1.2.1. */
static struct str url_of(struct arena *a, const struct oidc_issuer *i, const struct oidc_attempt *attempt)
{
    const struct oidc_settings *s = i->settings;
    struct str at = i->document.authorization_endpoint, scope = scope_of(a, s->scopes);
    struct str id = form_encode(a, s->client_id), back = form_encode(a, s->redirect_uri);
    struct str challenge = challenge_of(a, attempt->verifier);
    if (arena_failed(a))
        return STR_NONE;
    return arena_printf(a,
                        "%.*s%cresponse_type=code&client_id=%.*s&redirect_uri=%.*s&scope=%.*s&state=%.*s&nonce=%.*s"
                        "&code_challenge=%.*s&code_challenge_method=S256%s",
                        STR_ARG(at), str_index(at, '?') < at.len ? '&' : '?', STR_ARG(id), STR_ARG(back),
                        STR_ARG(scope), STR_ARG(attempt->state), STR_ARG(attempt->nonce), STR_ARG(challenge),
                        attempt->fresh ? "&prompt=login&max_age=0" : "");
}

enum oidc_fault oidc_authorize(struct oidc *o, struct arena *a, int64_t now_ms, struct str carried, bool fresh,
                               struct oidc_redirect *out)
{
    struct oidc_attempt attempt;
    *out = (struct oidc_redirect){ STR_NONE, STR_NONE };
    enum oidc_fault fault = oidc_issuer_document(&o->issuer, a, deadline());
    if (fault == OIDC_OK)
        fault = oidc_attempt_new(a, now_ms, carried, fresh, &attempt);
    if (fault != OIDC_OK)
        return fault;
    *out =
        (struct oidc_redirect){ url_of(a, &o->issuer, &attempt), oidc_attempt_seal(a, o->issuer.settings, &attempt) };
    return out->url.ptr == NULL || out->cookie.ptr == NULL ? OIDC_NO_MEMORY : OIDC_OK;
}

/* ---- the callback ---- */

/* Reads the claims of a checked ID token, asks for those that it lacks, and compares them with the settings. */
static enum oidc_fault claims_finish(struct oidc_issuer *i, struct arena *a, const json_t *id, struct str access_token,
                                     int64_t deadline_ms, struct oidc_claims *out)
{
    json_t *info = NULL;
    enum oidc_fault fault = OIDC_OK;
    struct str carried = out->carried;
    if (access_token.ptr != NULL && i->document.userinfo_endpoint.ptr != NULL && oidc_claims_lack(id, i->settings))
        fault = oidc_issuer_userinfo(i, a, access_token, oidc_json_text(id, "sub"), deadline_ms, &info);
    if (fault == OIDC_OK)
        fault = oidc_claims_read(a, id, info, i->settings, out);
    json_decref(info);
    out->carried = carried;
    return fault == OIDC_OK ? oidc_claims_allowed(out, i->settings) : fault;
}

/* From a callback that fits the attempt to claims. */
static enum oidc_fault login_finish(struct oidc_issuer *i, struct arena *a, int64_t now_ms, struct str code,
                                    const struct oidc_attempt *attempt, int64_t deadline_ms, struct oidc_claims *out)
{
    struct oidc_tokens tokens;
    struct oidc_jws jws;
    json_t *id;
    enum oidc_fault fault = oidc_issuer_exchange(i, a, code, attempt->verifier, deadline_ms, &tokens);
    if (fault == OIDC_OK)
        fault = oidc_issuer_verify(i, a, tokens.id_token, deadline_ms, &jws, &id);
    if (fault != OIDC_OK)
        return fault;
    fault = oidc_id_token_check(id, &jws, i->settings, attempt, tokens.access_token, now_ms);
    if (fault == OIDC_OK)
        fault = claims_finish(i, a, id, tokens.access_token, deadline_ms, out);
    json_decref(id);
    out->fresh = fault == OIDC_OK && attempt->fresh;
    return fault;
}

enum oidc_fault oidc_finish(struct oidc *o, struct arena *a, int64_t now_ms, const struct oidc_callback *callback,
                            struct str cookie, struct oidc_claims *out)
{
    struct oidc_issuer *i = &o->issuer;
    struct oidc_attempt attempt;
    int64_t deadline_ms = deadline();

    *out = (struct oidc_claims){ 0 };
    enum oidc_fault fault =
        oidc_attempt_open(a, i->settings, now_ms, str_or_empty(cookie), str_or_empty(callback->state), &attempt);
    out->carried = attempt.carried;
    if (fault == OIDC_OK)
        fault = oidc_issuer_document(i, a, deadline_ms);
    if (fault == OIDC_OK)
        fault = oidc_callback_check(callback, i->settings->issuer, i->document.names_itself);
    return fault == OIDC_OK ? login_finish(i, a, now_ms, callback->code, &attempt, deadline_ms, out) : fault;
}

/* ---- logout ---- */

enum oidc_fault oidc_logout_token(struct oidc *o, struct arena *a, int64_t now_ms, struct str token,
                                  struct oidc_logout *out)
{
    struct oidc_jws jws;
    json_t *claims;
    int64_t deadline_ms = deadline();

    *out = (struct oidc_logout){ 0 };
    enum oidc_fault fault = oidc_issuer_document(&o->issuer, a, deadline_ms);
    if (fault == OIDC_OK)
        fault = oidc_issuer_verify(&o->issuer, a, token, deadline_ms, &jws, &claims);
    if (fault != OIDC_OK)
        return fault;
    fault = oidc_logout_check(a, claims, &jws, o->issuer.settings, now_ms, out);
    json_decref(claims);
    return fault;
}
