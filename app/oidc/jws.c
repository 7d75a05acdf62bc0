#include "oidc/jws.h"

#include <assert.h>
#include <sodium.h>

#include "base/array.h"
#include "oidc/json.h"

static const char *const NAMES[OIDC_ALGORITHMS] = {
    [OIDC_RS256] = "RS256", [OIDC_PS256] = "PS256", [OIDC_ES256] = "ES256", [OIDC_EDDSA] = "EdDSA"
};

const char *oidc_algorithm_name(enum oidc_algorithm algorithm)
{
    assert((size_t)algorithm < ARRAY_LEN(NAMES));
    return NAMES[algorithm];
}

bool oidc_algorithm_read(struct str name, enum oidc_algorithm *out)
{
    for (size_t i = 0; i < ARRAY_LEN(NAMES); i++) {
        *out = (enum oidc_algorithm)i;
        if (name.ptr != NULL && str_equal(name, str_from(NAMES[i])))
            return true;
    }
    return false;
}

struct str oidc_base64url(struct arena *a, struct str text, bool *malformed)
{
    size_t len = 0;
    *malformed = text.len == 0;
    if (*malformed)
        return STR_NONE;
    unsigned char *bytes = arena_alloc(a, text.len);
    if (bytes == NULL)
        return STR_NONE;
    if (sodium_base642bin(bytes, text.len, text.ptr, text.len, NULL, &len, NULL,
                          sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0)
        return (struct str){ (const char *)bytes, len };
    *malformed = true;
    return STR_NONE;
}

/* A member that is a text of a limited length, or is not there. */
static bool text_member(struct arena *a, const json_t *header, const char *name, struct str *out)
{
    struct str text = oidc_json_text(header, name);
    *out = STR_NONE;
    if (json_object_get(header, name) == NULL)
        return true;
    if (text.ptr == NULL || text.len > OIDC_KID_MAX)
        return false;
    *out = arena_str(a, text);
    return true;
}

/* RFC 7515 4.1. Keys in the header (jwk, jku, x5c, x5u) are never used (RFC 8725 3.10): a token can't bring its own. */
static enum oidc_fault header_check(struct arena *a, const json_t *header, struct oidc_jws *out)
{
    if (json_object_get(header, "crit") != NULL)
        return OIDC_CRITICAL; /* 4.1.11: we understand no extension */
    if (!oidc_algorithm_read(oidc_json_text(header, "alg"), &out->algorithm))
        return OIDC_ALGORITHM;
    /* RFC 7519 5.2: a nested token has cty; RFC 7516 4.1.2: an encrypted one has enc */
    if (json_object_get(header, "cty") != NULL || json_object_get(header, "enc") != NULL)
        return OIDC_TOKEN;
    if (!text_member(a, header, "kid", &out->kid) || !text_member(a, header, "typ", &out->typ))
        return OIDC_TOKEN;
    return OIDC_OK;
}

static enum oidc_fault header_read(struct arena *a, struct str text, struct oidc_jws *out)
{
    json_t *header;
    enum oidc_fault fault = oidc_json_read(text, OIDC_TOKEN, &header);
    if (fault != OIDC_OK)
        return fault;
    fault = header_check(a, header, out);
    json_decref(header);
    return fault;
}

enum oidc_fault oidc_jws_read(struct arena *a, struct str text, struct oidc_jws *out)
{
    struct str payload, signature, behind;
    bool bad_header, bad_payload, bad_signature = false;

    *out = (struct oidc_jws){ 0 };
    if (text.len > OIDC_TOKEN_MAX)
        return OIDC_SIZE;
    struct str header = str_cut(str_or_empty(text), '.', &payload);
    payload = str_cut(str_or_empty(payload), '.', &signature);
    if (signature.ptr == NULL)
        return OIDC_TOKEN;
    signature = str_cut(signature, '.', &behind);
    if (behind.ptr != NULL)
        return OIDC_TOKEN;
    header = oidc_base64url(a, header, &bad_header);
    if (bad_header)
        return OIDC_TOKEN;
    enum oidc_fault fault = header.ptr == NULL ? OIDC_NO_MEMORY : header_read(a, header, out);
    if (fault != OIDC_OK)
        return fault;
    out->input = str_slice(text, 0, (size_t)(payload.ptr - text.ptr) + payload.len);
    out->payload = oidc_base64url(a, payload, &bad_payload);
    out->signature = oidc_base64url(a, signature, &bad_signature);
    if (bad_payload || bad_signature)
        return OIDC_TOKEN;
    return arena_failed(a) ? OIDC_NO_MEMORY : OIDC_OK;
}
