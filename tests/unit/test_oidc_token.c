/* app/oidc: signatures with the vectors of the RFCs and with keys made here; keys, headers and claims that are refused.
 */
#include "oidc/json.h"
#include "oidc/token.h"
#include "unit/oidc_maker.h"

#define NOW_S  "1800000000"
#define NOW_MS INT64_C(1800000000000)

/* ---- signatures ---- */

#define JOE "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
/* RFC 7515 A.2 and A.3, RFC 8037 A.2 and A.4. */
static const struct {
    const char *jwk, *token;
} VECTORS[] = {
    { "{\"kty\":\"RSA\",\"e\":\"AQAB\",\"n\":\"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qP"
      "CJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re"
      "xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_"
      "h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ\"}",
      "eyJhbGciOiJSUzI1NiJ9." JOE ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5Y"
      "Kt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0G"
      "arZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXL"
      "IhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw" },
    { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
      "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0\"}",
      "eyJhbGciOiJFUzI1NiJ9." JOE ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6"
      "NU1Q" },
    { "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}",
      "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4k"
      "i4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg" },
};

static enum oidc_fault verified(struct str set, struct str token)
{
    struct oidc_jwks *keys;
    struct oidc_jws jws;
    enum oidc_fault fault = oidc_jwks_read(set, &keys);
    if (fault != OIDC_OK)
        return fault;
    fault = oidc_jws_read(arena, token, &jws);
    if (fault == OIDC_OK)
        fault = oidc_jwks_verify(keys, &jws);
    oidc_jwks_free(keys);
    return fault;
}

static struct str set_of(const char *jwks)
{
    return arena_printf(arena, "{\"keys\":[%s]}", jwks);
}

TEST(the_vectors_of_the_rfcs_are_accepted_and_no_other_bytes)
{
    EACH (row, VECTORS) {
        struct str token = str_from(row->token), set = set_of(row->jwk);
        assert_int_equal(verified(set, token), OIDC_OK);
        for (size_t i = 0; i < token.len; i += 7) {
            char *bytes = arena_cstr(arena, token);
            bytes[i] = bytes[i] == 'A' ? 'B' : 'A';
            assert_int_not_equal(verified(set, (struct str){ bytes, token.len }), OIDC_OK);
        }
        for (size_t len = 0; len < token.len; len++) { /* separate memory, for the sanitizers */
            char *cut = test_malloc(len + 1);
            memcpy(cut, token.ptr, len);
            assert_int_not_equal(verified(set, (struct str){ cut, len }), OIDC_OK);
            test_free(cut);
        }
        EACH (other, VECTORS)
            if (other != row)
                assert_int_equal(verified(set_of(other->jwk), token), OIDC_KEY);
    }
}

TEST(each_algorithm_is_checked_with_its_own_kind_of_key)
{
    for (int made = 0; made < OIDC_ALGORITHMS; made++) {
        enum oidc_algorithm algorithm = (enum oidc_algorithm)made;
        EVP_PKEY *key = maker_key(algorithm), *wrong = maker_key(algorithm);
        struct str header = arena_printf(arena, "{\"alg\":\"%s\",\"kid\":\"a\"}", oidc_algorithm_name(algorithm));
        struct str token = maker_token(key, algorithm, header.ptr, STR("{}"));
        struct str own = maker_jwk(key, algorithm, ",\"kid\":\"a\""),
                   others = maker_jwk(wrong, algorithm, ",\"kid\":\"a\"");
        struct str unnamed = maker_jwk(key, algorithm, "");
        assert_int_equal(verified(set_of(own.ptr), token), OIDC_OK);
        assert_int_equal(verified(set_of(others.ptr), token), OIDC_SIGNATURE);
        assert_int_equal(verified(set_of(unnamed.ptr), token), OIDC_KEY);
        assert_int_equal(verified(set_of(maker_jwk(key, algorithm, ",\"kid\":\"b\"").ptr), token), OIDC_KEY);
        /* two keys of one name, and, without a name, two keys that fit */
        assert_int_equal(verified(set_of(arena_printf(arena, "%s,%s", own.ptr, others.ptr).ptr), token), OIDC_KEY);
        header = arena_printf(arena, "{\"alg\":\"%s\"}", oidc_algorithm_name(algorithm));
        token = maker_token(key, algorithm, header.ptr, STR("{}"));
        assert_int_equal(verified(set_of(own.ptr), token), OIDC_OK);
        assert_int_equal(verified(set_of(arena_printf(arena, "%s,%s", own.ptr, others.ptr).ptr), token), OIDC_KEY);
        EVP_PKEY_free(key);
        EVP_PKEY_free(wrong);
    }
}

TEST(keys_that_are_of_no_use_are_left_out)
{
    EVP_PKEY *key = maker_key(OIDC_RS256), *small = EVP_RSA_gen(1024);
    static const char *const more[] = {
        ",\"use\":\"enc\"", ",\"use\":1",         ",\"key_ops\":[\"sign\"]", ",\"key_ops\":\"verify\"",
        ",\"d\":\"AQAB\"",  ",\"alg\":\"ES256\"", ",\"alg\":\"RSA-OAEP\"",   ",\"alg\":\"HS256\"",
        ",\"alg\":5",       ",\"kid\":5"
    };
    struct str token = maker_token(key, OIDC_RS256, "{\"alg\":\"RS256\"}", STR("{}"));
    struct str modulus = maker_number(key, OSSL_PKEY_PARAM_RSA_N);
    struct oidc_jwks *keys;
    EACH_TEXT (exponent, "AQ", "AQAA", "AA", "AQAAAAE", "")
        assert_of(exponent,
                  oidc_jwks_read(arena_printf(arena, "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"}]}",
                                              modulus.ptr, exponent),
                                 &keys) == OIDC_KEYS);
    EACH (row, more)
        assert_of(*row, verified(set_of(maker_jwk(key, OIDC_RS256, *row).ptr), token) == OIDC_KEYS);
    char *even = arena_cstr(arena, modulus);
    even[modulus.len - 1] = 'A';
    struct str set = arena_printf(arena, "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"AQAB\"}]}", even);
    assert_int_equal(oidc_jwks_read(set, &keys), OIDC_KEYS);
    EACH_TEXT (fine, "", ",\"use\":\"sig\",\"alg\":\"RS256\",\"key_ops\":[\"verify\"],\"x5c\":[\"x\"],\"new\":{}")
        assert_of(fine, verified(set_of(maker_jwk(key, OIDC_RS256, fine).ptr), token) == OIDC_OK);
    /* a key for PS256 alone is none for RS256 */
    assert_int_equal(verified(set_of(maker_jwk(key, OIDC_RS256, ",\"alg\":\"PS256\"").ptr), token), OIDC_KEY);
    assert_int_equal(oidc_jwks_read(set_of(maker_jwk(small, OIDC_RS256, "").ptr), &keys), OIDC_KEYS);
    EACH_TEXT (bad, "", "[]", "{}", "{\"keys\":{}}", "{\"keys\":[]}", "{\"keys\":[1,null,\"x\",[]]}",
               "{\"keys\":[],\"keys\":[]}", "{\"keys\":[{\"kty\":\"oct\",\"k\":\"AAAA\"}]}",
               "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}]}",
               "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}]}",
               "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU\","
               "\"y\":\"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a8\"}]}", /* not on the curve */
               "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}")
        assert_of(bad, oidc_jwks_read(str_from(bad), &keys) == OIDC_KEYS);
    EVP_PKEY_free(key);
    EVP_PKEY_free(small);
}

TEST(a_set_of_too_many_keys_is_refused)
{
    struct str all = STR("{\"keys\":[1");
    struct oidc_jwks *keys;
    for (size_t i = 1; i < OIDC_KEYS_MAX; i++)
        all = arena_printf(arena, "%s,1", all.ptr);
    all = arena_printf(arena, "%s,%s]}", all.ptr, VECTORS[2].jwk);
    assert_int_equal(oidc_jwks_read(all, &keys), OIDC_KEYS);
}

/* ---- headers ---- */

TEST(a_token_with_another_header_or_form_is_refused)
{
    static const struct {
        const char *header;
        enum oidc_fault fault;
    } headers[] = {
        { "{\"alg\":\"RS256\"}", OIDC_OK },
        { "{\"alg\":\"RS256\",\"typ\":\"JWT\",\"kid\":\"\",\"jku\":\"https://evil\",\"jwk\":{}}", OIDC_OK },
        { "{\"alg\":\"none\"}", OIDC_ALGORITHM },
        { "{\"alg\":\"None\"}", OIDC_ALGORITHM },
        { "{\"alg\":\"HS256\"}", OIDC_ALGORITHM },
        { "{\"alg\":\"RS512\"}", OIDC_ALGORITHM },
        { "{\"alg\":\"rs256\"}", OIDC_ALGORITHM },
        { "{\"alg\":[\"RS256\"]}", OIDC_ALGORITHM },
        { "{}", OIDC_ALGORITHM },
        { "{\"alg\":\"none\",\"alg\":\"RS256\"}", OIDC_TOKEN },
        { "{\"alg\":\"RS256\",\"crit\":[\"exp\"],\"exp\":1}", OIDC_CRITICAL },
        { "{\"alg\":\"RS256\",\"crit\":[]}", OIDC_CRITICAL },
        { "{\"alg\":\"RS256\",\"cty\":\"JWT\"}", OIDC_TOKEN },
        { "{\"alg\":\"RSA-OAEP\",\"enc\":\"A128GCM\"}", OIDC_ALGORITHM },
        { "{\"alg\":\"RS256\",\"enc\":\"A128GCM\"}", OIDC_TOKEN },
        { "{\"alg\":\"RS256\",\"kid\":1}", OIDC_TOKEN },
        { "[]", OIDC_TOKEN },
        { "x", OIDC_TOKEN },
    };
    static const char *const forms[] = { "",
                                         ".",
                                         "..",
                                         "...",
                                         "a.b",
                                         "e30",
                                         "e30..",
                                         ".e30.",
                                         "e30.e30",
                                         "e30.e30.",
                                         "e30.e30.e30.",
                                         "e30.e30.e30.e30.e30",
                                         "e30=.e30.e30",
                                         "e3 0.e30.e30",
                                         "e31.e30.e30",
                                         "e30.e3+.e30" };
    struct oidc_jws jws;
    EACH (row, headers) {
        struct str token = arena_printf(arena, "%s.c2ln", maker_input(row->header, STR("{}")).ptr);
        assert_of(row->header, oidc_jws_read(arena, token, &jws) == row->fault);
    }
    EACH_TEXT (cut, "eyJhbGciOiJSUzI1NiJ9", "eyJhbGciOiJSUzI1NiJ9.", "eyJhbGciOiJSUzI1NiJ9.e30",
               "eyJhbGciOiJSUzI1NiJ9.e30.", "eyJhbGciOiJSUzI1NiJ9..e30", "eyJhbGciOiJSUzI1NiJ9.e30.e30.")
        assert_of(cut, oidc_jws_read(arena, str_from(cut), &jws) == OIDC_TOKEN);
    EACH (form, forms)
        assert_of(*form, oidc_jws_read(arena, str_from(*form), &jws) != OIDC_OK);
    assert_int_equal(oidc_jws_read(arena, STR_NONE, &jws), OIDC_TOKEN);
    char *huge = test_malloc(OIDC_TOKEN_MAX + 1);
    memset(huge, 'A', OIDC_TOKEN_MAX + 1);
    assert_int_equal(oidc_jws_read(arena, (struct str){ huge, OIDC_TOKEN_MAX + 1 }, &jws), OIDC_SIZE);
    assert_int_equal(oidc_jws_read(arena, (struct str){ huge, OIDC_TOKEN_MAX }, &jws), OIDC_TOKEN);
    test_free(huge);
}

/* ---- claims ---- */

static const struct oidc_settings SETTINGS = { .issuer = { "https://login.example/a", 23 },
                                               .client_id = { "hongbao", 7 } };
static const struct oidc_attempt ATTEMPT = { .nonce = { "n1", 2 }, .started_ms = NOW_MS - 10000 },
                                 FRESH = { .nonce = { "n1", 2 }, .started_ms = NOW_MS - 10000, .fresh = true };

/* The base with the members of changes in place of its own; null: without. */
static json_t *changed(const char *base, const char *changes)
{
    json_t *object, *more;
    const char *name;
    json_t *value;
    assert_int_equal(oidc_json_read(str_from(base), OIDC_TOKEN, &object), OIDC_OK);
    assert_int_equal(oidc_json_read(str_from(changes), OIDC_TOKEN, &more), OIDC_OK);
    json_object_foreach(more, name, value) if (json_is_null(value)) json_object_del(object, name);
    else json_object_set(object, name, value);
    json_decref(more);
    return object;
}

#define ID                                                                                                             \
    "{\"iss\":\"https://login.example/a\",\"aud\":\"hongbao\",\"sub\":\"u1\",\"exp\":1800000300,\"iat\":" NOW_S        \
    ",\"nonce\":\"n1\"}"
/* The access token and its hash in Core A.3. */
#define ACCESS "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y"

static enum oidc_fault id_checked(const char *changes, const struct oidc_attempt *attempt, const char *typ,
                                  enum oidc_algorithm algorithm)
{
    const struct oidc_jws jws = { .algorithm = algorithm, .typ = str_from(typ) };
    json_t *claims = changed(ID, changes);
    enum oidc_fault fault = oidc_id_token_check(claims, &jws, &SETTINGS, attempt, STR(ACCESS), NOW_MS);
    json_decref(claims);
    return fault;
}

TEST(an_id_token_is_believed_only_with_all_its_claims)
{
    static const struct {
        const char *changes;
        enum oidc_fault fault;
    } rows[] = {
        { "{}", OIDC_OK },
        { "{\"other\":[{}],\"sid\":\"s\",\"auth_time\":1}", OIDC_OK },
        { "{\"iss\":\"https://login.example/a/\"}", OIDC_ISSUER },
        { "{\"iss\":\"https://login.example/A\"}", OIDC_ISSUER },
        { "{\"iss\":null}", OIDC_ISSUER },
        { "{\"iss\":[\"https://login.example/a\"]}", OIDC_ISSUER },
        { "{\"aud\":\"other\"}", OIDC_AUDIENCE },
        { "{\"aud\":null}", OIDC_AUDIENCE },
        { "{\"aud\":[]}", OIDC_AUDIENCE },
        { "{\"aud\":[\"other\",\"third\"]}", OIDC_AUDIENCE },
        { "{\"aud\":{\"hongbao\":1}}", OIDC_AUDIENCE },
        { "{\"aud\":[\"hongbao\"]}", OIDC_OK },
        { "{\"aud\":[\"hongbao\",\"other\"]}", OIDC_PARTY },
        { "{\"aud\":[\"hongbao\",\"other\"],\"azp\":\"hongbao\"}", OIDC_OK },
        { "{\"aud\":[\"hongbao\",\"other\"],\"azp\":\"other\"}", OIDC_PARTY },
        { "{\"azp\":\"hongbao\"}", OIDC_OK },
        { "{\"azp\":\"other\"}", OIDC_PARTY },
        { "{\"azp\":[\"hongbao\"]}", OIDC_PARTY },
        { "{\"exp\":null}", OIDC_CLAIMS },
        { "{\"exp\":\"1800000300\"}", OIDC_CLAIMS },
        { "{\"exp\":-1}", OIDC_CLAIMS },
        { "{\"exp\":1e30}", OIDC_CLAIMS },
        { "{\"exp\":1800000300.5}", OIDC_OK },
        { "{\"exp\":1799999941}", OIDC_OK }, /* a minute of skew */
        { "{\"exp\":1799999940}", OIDC_EXPIRED },
        { "{\"iat\":null}", OIDC_CLAIMS },
        { "{\"iat\":1800000060}", OIDC_OK },
        { "{\"iat\":1800000061}", OIDC_FUTURE },
        { "{\"iat\":1799999930}", OIDC_OK },
        { "{\"iat\":1799999929}", OIDC_STALE }, /* before the attempt */
        { "{\"nbf\":1800000060}", OIDC_OK },
        { "{\"nbf\":1800000061}", OIDC_FUTURE },
        { "{\"nbf\":true}", OIDC_CLAIMS },
        { "{\"nonce\":null}", OIDC_NONCE },
        { "{\"nonce\":\"n2\"}", OIDC_NONCE },
        { "{\"nonce\":\"\"}", OIDC_NONCE },
        { "{\"sub\":null}", OIDC_CLAIMS },
        { "{\"sub\":\"\"}", OIDC_CLAIMS },
        { "{\"sub\":5}", OIDC_CLAIMS },
        { "{\"sub\":\"\xe7\xba\xa2\"}", OIDC_CLAIMS },
        { "{\"sub\":\"a\\nb\"}", OIDC_CLAIMS },
        { "{\"sub\":\"\\nb\"}", OIDC_CLAIMS },
        { "{\"sid\":\"\"}", OIDC_CLAIMS },
        { "{\"auth_time\":\"x\"}", OIDC_CLAIMS },
        { "{\"auth_time\":1800000061}", OIDC_FUTURE },
        { "{\"events\":{}}", OIDC_EVENTS },
        { "{\"at_hash\":\"77QmUPtjPfzWtF2AnpK9RQ\"}", OIDC_OK },
        { "{\"at_hash\":\"77QmUPtjPfzWtF2AnpK9RA\"}", OIDC_ACCESS_HASH },
        { "{\"at_hash\":\"\"}", OIDC_ACCESS_HASH },
        { "{\"at_hash\":1}", OIDC_ACCESS_HASH },
    };
    EACH (row, rows)
        assert_of(row->changes, id_checked(row->changes, &ATTEMPT, NULL, OIDC_RS256) == row->fault);
    assert_int_equal(id_checked("{}", &ATTEMPT, "JWT", OIDC_RS256), OIDC_OK);
    EACH_TEXT (typ, "logout+jwt", "at+jwt", "", "JOSE")
        assert_of(typ, id_checked("{}", &ATTEMPT, typ, OIDC_RS256) == OIDC_TYPE);
    /* Ed25519 hashes with SHA-512 */
    assert_int_equal(id_checked("{\"at_hash\":\"77QmUPtjPfzWtF2AnpK9RQ\"}", &ATTEMPT, NULL, OIDC_EDDSA),
                     OIDC_ACCESS_HASH);
    char *longest = arena_alloc(arena, OIDC_SUBJECT_MAX + 2);
    memset(longest, 'a', OIDC_SUBJECT_MAX);
    assert_int_equal(id_checked(arena_printf(arena, "{\"sub\":\"%s\"}", longest).ptr, &ATTEMPT, NULL, OIDC_RS256),
                     OIDC_OK);
    longest[OIDC_SUBJECT_MAX] = 'a';
    assert_int_equal(id_checked(arena_printf(arena, "{\"sub\":\"%s\"}", longest).ptr, &ATTEMPT, NULL, OIDC_RS256),
                     OIDC_CLAIMS);
}

TEST(a_fresh_login_is_proved_by_its_time)
{
    assert_int_equal(id_checked("{}", &FRESH, NULL, OIDC_RS256), OIDC_CLAIMS);
    assert_int_equal(id_checked("{\"auth_time\":1799999929}", &FRESH, NULL, OIDC_RS256), OIDC_STALE);
    assert_int_equal(id_checked("{\"auth_time\":1799999930}", &FRESH, NULL, OIDC_RS256), OIDC_OK);
}

#define EVENT "http://schemas.openid.net/event/backchannel-logout"
#define LOGOUT                                                                                                         \
    "{\"iss\":\"https://login.example/a\",\"aud\":\"hongbao\",\"sub\":\"u1\",\"sid\":\"s1\",\"exp\":1800000120,"       \
    "\"iat\":" NOW_S ",\"jti\":\"j1\",\"events\":{\"" EVENT "\":{}}}"

static enum oidc_fault logout_checked(const char *changes, const char *typ, struct oidc_logout *out)
{
    const struct oidc_jws jws = { .algorithm = OIDC_RS256, .typ = str_from(typ) };
    json_t *claims = changed(LOGOUT, changes);
    enum oidc_fault fault = oidc_logout_check(arena, claims, &jws, &SETTINGS, NOW_MS, out);
    json_decref(claims);
    return fault;
}

TEST(a_logout_token_names_a_session_or_a_subject)
{
    static const struct {
        const char *changes;
        enum oidc_fault fault;
    } rows[] = {
        { "{}", OIDC_OK },
        { "{\"sid\":null}", OIDC_OK },
        { "{\"sub\":null}", OIDC_OK },
        { "{\"sub\":null,\"sid\":null}", OIDC_CLAIMS },
        { "{\"sid\":5}", OIDC_CLAIMS },
        { "{\"sub\":\"\"}", OIDC_CLAIMS },
        { "{\"jti\":null}", OIDC_CLAIMS },
        { "{\"jti\":\"\"}", OIDC_CLAIMS },
        { "{\"nonce\":\"n1\"}", OIDC_NONCE },
        { "{\"events\":null}", OIDC_EVENTS },
        { "{\"events\":{}}", OIDC_EVENTS },
        { "{\"events\":[\"" EVENT "\"]}", OIDC_EVENTS },
        { "{\"events\":{\"" EVENT "\":true}}", OIDC_EVENTS },
        { "{\"iss\":\"https://other.example\"}", OIDC_ISSUER },
        { "{\"aud\":\"other\"}", OIDC_AUDIENCE },
        { "{\"iat\":null}", OIDC_CLAIMS },
        { "{\"iat\":1800000061}", OIDC_FUTURE },
        { "{\"iat\":1799999340}", OIDC_OK },
        { "{\"iat\":1799999339}", OIDC_STALE },
        { "{\"exp\":1799999900}", OIDC_EXPIRED },
        { "{\"exp\":null}", OIDC_CLAIMS },
    };
    struct oidc_logout out;
    EACH (row, rows)
        assert_of(row->changes, logout_checked(row->changes, "logout+jwt", &out) == row->fault);
    EACH_TEXT (typ, "JWT", "", "at+jwt")
        assert_of(typ, logout_checked("{}", typ, &out) == OIDC_TYPE);
    assert_int_equal(logout_checked("{}", NULL, &out), OIDC_TYPE);
    assert_int_equal(logout_checked("{}", "application/logout+jwt", &out), OIDC_OK);
    assert_true(str_equal(out.subject, STR("u1")) && str_equal(out.sid, STR("s1")) && str_equal(out.jti, STR("j1")));
    /* remembered for as long as the token could come again */
    assert_int_equal(out.until_ms, NOW_MS + 240000);
    assert_int_equal(logout_checked("{\"exp\":253402300799}", "logout+jwt", &out), OIDC_OK);
    assert_true(out.until_ms >= NOW_MS + 660000 && out.until_ms < NOW_MS + 3600000);
}

TESTS(arena_setup, arena_teardown)
