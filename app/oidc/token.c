#include "oidc/token.h"

#include <sodium.h>

#include "base/random.h"
#include "oidc/json.h"

#define LOGOUT_EVENT "http://schemas.openid.net/event/backchannel-logout"

enum { MS_PER_S = 1000, SKEW_MS = OIDC_SKEW_S * MS_PER_S, LOGOUT_MS = OIDC_LOGOUT_S * MS_PER_S };

bool oidc_subject_valid(struct str text)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] < ' ' || text.ptr[i] > '~')
            return false;
    return text.ptr != NULL && text.len > 0 && text.len <= OIDC_SUBJECT_MAX;
}

/* ---- what both kinds of tokens have ---- */

/* Core 3.1.3.7, 3 to 5. With several audiences azp must say that the token was issued to us. */
static enum oidc_fault audience_check(const json_t *claims, struct str client_id)
{
    const json_t *aud = json_object_get(claims, "aud"), *azp = json_object_get(claims, "azp");
    struct str one = oidc_json_value(aud), party = oidc_json_value(azp);
    if (one.ptr != NULL ? !str_equal(one, client_id) : !oidc_json_list_has(claims, "aud", client_id))
        return OIDC_AUDIENCE;
    if (azp == NULL)
        return json_array_size(aud) > 1 ? OIDC_PARTY : OIDC_OK;
    return party.ptr != NULL && str_equal(party, client_id) ? OIDC_OK : OIDC_PARTY;
}

/* Core 3.1.3.7, 9 and 10; RFC 7519 4.1.5 for nbf. */
static enum oidc_fault times_check(const json_t *claims, int64_t now_ms, int64_t *issued_ms, int64_t *expires_ms)
{
    int64_t from_ms;
    if (!oidc_json_time(claims, "exp", expires_ms) || !oidc_json_time(claims, "iat", issued_ms))
        return OIDC_CLAIMS;
    if (json_object_get(claims, "nbf") == NULL)
        from_ms = *issued_ms;
    else if (!oidc_json_time(claims, "nbf", &from_ms))
        return OIDC_CLAIMS;
    if (now_ms >= *expires_ms + SKEW_MS)
        return OIDC_EXPIRED;
    return *issued_ms > now_ms + SKEW_MS || from_ms > now_ms + SKEW_MS ? OIDC_FUTURE : OIDC_OK;
}

static enum oidc_fault issuer_check(const json_t *claims, struct str issuer)
{
    struct str iss = oidc_json_text(claims, "iss");
    return iss.ptr != NULL && str_equal(iss, issuer) ? OIDC_OK : OIDC_ISSUER; /* 3.1.3.7, 2 */
}

static enum oidc_fault common_check(const json_t *claims, const struct oidc_settings *settings, int64_t now_ms,
                                    int64_t *issued_ms, int64_t *expires_ms)
{
    enum oidc_fault fault = issuer_check(claims, settings->issuer);
    if (fault == OIDC_OK)
        fault = audience_check(claims, settings->client_id);
    return fault == OIDC_OK ? times_check(claims, now_ms, issued_ms, expires_ms) : fault;
}

/* False: the member is there, and is no text as oidc_subject_valid wants. */
static bool subject_or_absent(const json_t *claims, const char *name)
{
    return json_object_get(claims, name) == NULL || oidc_subject_valid(oidc_json_text(claims, name));
}

/* ---- ID tokens ---- */

/* Core 3.1.3.6: base64url of the left half of the hash that the algorithm uses (Ed25519: SHA-512). */
static bool access_hash_fits(struct str hash, enum oidc_algorithm algorithm, struct str access_token)
{
    unsigned char whole[crypto_hash_sha512_BYTES];
    char text[sodium_base64_ENCODED_LEN(sizeof whole, sodium_base64_VARIANT_URLSAFE_NO_PADDING)];
    size_t len = algorithm == OIDC_EDDSA ? crypto_hash_sha512_BYTES : HASH_BYTES;
    if (hash.ptr == NULL || access_token.ptr == NULL)
        return false;
    if (algorithm == OIDC_EDDSA)
        crypto_hash_sha512(whole, (const unsigned char *)access_token.ptr, access_token.len);
    else
        hash_sha256(access_token.ptr, access_token.len, whole);
    sodium_bin2base64(text, sizeof text, whole, len / 2, sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    return str_equal(hash, str_from(text));
}

/* The token answers this attempt, and was not made before it. */
static enum oidc_fault attempt_check(const json_t *claims, const struct oidc_attempt *attempt, int64_t issued_ms,
                                     int64_t now_ms)
{
    struct str nonce = oidc_json_text(claims, "nonce");
    int64_t auth_ms, oldest_ms = attempt->started_ms - SKEW_MS;
    if (nonce.ptr == NULL || !str_equal(nonce, attempt->nonce))
        return OIDC_NONCE; /* 3.1.3.7, 11 */
    if (issued_ms < oldest_ms)
        return OIDC_STALE;
    bool has_auth_time = oidc_json_time(claims, "auth_time", &auth_ms);
    if (!has_auth_time && (attempt->fresh || json_object_get(claims, "auth_time") != NULL))
        return OIDC_CLAIMS; /* 2: required when max_age was sent */
    if (has_auth_time && auth_ms > now_ms + SKEW_MS)
        return OIDC_FUTURE;
    return attempt->fresh && auth_ms < oldest_ms ? OIDC_STALE : OIDC_OK; /* 3.1.3.7, 13 */
}

enum oidc_fault oidc_id_token_check(const json_t *claims, const struct oidc_jws *jws,
                                    const struct oidc_settings *settings, const struct oidc_attempt *attempt,
                                    struct str access_token, int64_t now_ms)
{
    int64_t issued_ms, expires_ms;
    /* RFC 8725 3.11, 3.12: a logout token or an access token is no ID token */
    if (jws->typ.ptr != NULL && !str_equal_fold(jws->typ, STR("JWT")) &&
        !str_equal_fold(jws->typ, STR("application/jwt")))
        return OIDC_TYPE;
    if (json_object_get(claims, "events") != NULL)
        return OIDC_EVENTS;
    enum oidc_fault fault = common_check(claims, settings, now_ms, &issued_ms, &expires_ms);
    if (fault == OIDC_OK)
        fault = attempt_check(claims, attempt, issued_ms, now_ms);
    if (fault != OIDC_OK)
        return fault;
    if (!oidc_subject_valid(oidc_json_text(claims, "sub")) || !subject_or_absent(claims, "sid"))
        return OIDC_CLAIMS;
    return json_object_get(claims, "at_hash") == NULL ||
                   access_hash_fits(oidc_json_text(claims, "at_hash"), jws->algorithm, access_token)
               ? OIDC_OK
               : OIDC_ACCESS_HASH;
}

/* ---- logout tokens ---- */

static struct str copied(struct arena *a, const json_t *claims, const char *name)
{
    struct str text = oidc_json_text(claims, name);
    return text.ptr == NULL ? STR_NONE : arena_str(a, text);
}

enum oidc_fault oidc_logout_check(struct arena *a, const json_t *claims, const struct oidc_jws *jws,
                                  const struct oidc_settings *settings, int64_t now_ms, struct oidc_logout *out)
{
    int64_t issued_ms, expires_ms;
    *out = (struct oidc_logout){ 0 };
    if (!str_equal_fold(str_or_empty(jws->typ), STR("logout+jwt")) &&
        !str_equal_fold(str_or_empty(jws->typ), STR("application/logout+jwt")))
        return OIDC_TYPE; /* 2.4 */
    enum oidc_fault fault = common_check(claims, settings, now_ms, &issued_ms, &expires_ms);
    if (fault != OIDC_OK)
        return fault;
    if (issued_ms < now_ms - LOGOUT_MS - SKEW_MS)
        return OIDC_STALE;
    if (!json_is_object(json_object_get(json_object_get(claims, "events"), LOGOUT_EVENT)))
        return OIDC_EVENTS; /* 2.6, 6 */
    if (json_object_get(claims, "nonce") != NULL)
        return OIDC_NONCE; /* 2.6, 7 */
    out->subject = copied(a, claims, "sub");
    out->sid = copied(a, claims, "sid");
    out->jti = copied(a, claims, "jti");
    if ((out->subject.ptr == NULL && out->sid.ptr == NULL) || !subject_or_absent(claims, "sub") ||
        !subject_or_absent(claims, "sid") || !oidc_subject_valid(out->jti)) /* 2.6, 5 and 8 */
        return arena_failed(a) ? OIDC_NO_MEMORY : OIDC_CLAIMS;
    int64_t oldest_ms = issued_ms + LOGOUT_MS;
    out->until_ms = (expires_ms < oldest_ms ? expires_ms : oldest_ms) + 2 * SKEW_MS;
    return arena_failed(a) ? OIDC_NO_MEMORY : OIDC_OK;
}
