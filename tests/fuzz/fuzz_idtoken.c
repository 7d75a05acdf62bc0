/* What an issuer, or somebody in its place, sends of a user. The first byte says what the rest is: a token; the claims
 * of an ID token or of a logout token, and behind a NUL a UserInfo answer; a cookie of a begun login. */
#include "fuzz.h"
#include "oidc/json.h"
#include "oidc/oidc.h"

#define NOW_MS INT64_C(1800000000000)

enum mode { SIGNED, ID_CLAIMS, LOGOUT_CLAIMS, COOKIE, MODES };

static struct key key;
static struct str domain = { "example.org", 11 }, group = { "staff", 5 };
static const struct oidc_settings SETTINGS = { .issuer = { "https://login.example", 21 },
                                               .client_id = { "hongbao", 7 },
                                               .domains = { &domain, 1 },
                                               .groups_claim = { "groups", 6 },
                                               .groups = { &group, 1 },
                                               .key = &key };

/* The base points of both curves: valid keys, for which no input has a signature. */
static const char KEYS[] =
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"axfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpY\","
    "\"y\":\"T-NC4v4af5uO5-tKfA-eFivOM1drMV7Oy7ZAaDe_UfU\"},"
    "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"WGZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmY\"}]}";

static void token_read(struct str text)
{
    static struct oidc_jwks *keys;
    struct oidc_jws jws;
    if (keys == NULL)
        assert(oidc_jwks_read(str_from(KEYS), &keys) == OIDC_OK);
    if (oidc_jws_read(fuzz_arena, text, &jws) != OIDC_OK)
        return;
    assert(jws.payload.len > 0 && jws.signature.len > 0 && jws.input.len < text.len);
    assert(jws.kid.len <= OIDC_KID_MAX && jws.typ.len <= OIDC_KID_MAX);
    enum oidc_fault fault = oidc_jwks_verify(keys, &jws);
    assert(fault == OIDC_KEY || fault == OIDC_SIGNATURE); /* nobody guesses a signature */
}

static void claims_read(const json_t *id, const json_t *info)
{
    const struct oidc_jws jws = { .algorithm = OIDC_ES256 };
    const struct oidc_attempt attempt = { .nonce = { "n", 1 }, .started_ms = NOW_MS };
    struct oidc_claims claims;
    if (oidc_id_token_check(id, &jws, &SETTINGS, &attempt, STR("access"), NOW_MS) != OIDC_OK)
        return;
    (void)oidc_claims_lack(id, &SETTINGS);
    if (oidc_claims_read(fuzz_arena, id, info, &SETTINGS, &claims) != OIDC_OK)
        return;
    assert(oidc_subject_valid(claims.subject) && claims.groups.count <= OIDC_GROUPS_MAX);
    assert(claims.username.len <= OIDC_TEXT_MAX && claims.nickname.len <= OIDC_TEXT_MAX);
    if (oidc_claims_allowed(&claims, &SETTINGS) != OIDC_OK)
        return;
    struct str local = str_slice(claims.email, 0, str_index(claims.email, '@'));
    assert(str_equal_fold(str_skip(claims.email, local.len + 1), domain));
    bool member = false;
    for (size_t i = 0; i < claims.groups.count; i++)
        member = member || str_equal(claims.groups.items[i], group);
    assert(member);
}

static void logout_read(const json_t *claims)
{
    const struct oidc_jws jws = { .algorithm = OIDC_ES256, .typ = { "logout+jwt", 10 } };
    struct oidc_logout out;
    if (oidc_logout_check(fuzz_arena, claims, &jws, &SETTINGS, NOW_MS, &out) != OIDC_OK)
        return;
    assert(oidc_subject_valid(out.jti) && (out.subject.ptr != NULL || out.sid.ptr != NULL));
    assert(out.until_ms > NOW_MS && out.until_ms < NOW_MS + INT64_C(3600000));
}

static void objects_read(struct str text, enum mode mode)
{
    struct str second;
    json_t *first, *info = NULL;
    struct str head = str_cut(text, '\0', &second);
    if (oidc_json_read(head, OIDC_TOKEN, &first) != OIDC_OK)
        return;
    if (second.len > 0)
        (void)oidc_json_read(second, OIDC_TOKEN, &info);
    if (mode == ID_CLAIMS)
        claims_read(first, info);
    else
        logout_read(first);
    json_decref(info);
    json_decref(first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct oidc_attempt attempt;
    if (size == 0)
        return 0;
    fuzz_begin();
    struct str text = fuzz_text(data + 1, size - 1);
    enum mode mode = (enum mode)(data[0] % MODES);
    if (mode == SIGNED)
        token_read(text);
    else if (mode == COOKIE)
        assert(oidc_attempt_open(fuzz_arena, &SETTINGS, NOW_MS, text, str_slice(text, 0, text.len < 43 ? text.len : 43),
                                 &attempt) == OIDC_STATE);
    else
        objects_read(text, mode);
    return 0;
}
