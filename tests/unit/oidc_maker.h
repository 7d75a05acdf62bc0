/* Makes keys and tokens as an issuer does, for the tests of app/oidc. All in the arena of test_arena.h. */
#ifndef HB_TESTS_UNIT_OIDC_MAKER_H
#define HB_TESTS_UNIT_OIDC_MAKER_H

#include <jansson.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <sodium.h>

#include "oidc/jwks.h"
#include "support/test_arena.h"

enum { MAKER_BASE64 = sodium_base64_VARIANT_URLSAFE_NO_PADDING, MAKER_HALF = 32 };

static inline struct str maker_base64(const void *bytes, size_t len)
{
    size_t size = sodium_base64_encoded_len(len, MAKER_BASE64);
    char *text = arena_alloc(arena, size);
    assert_non_null(text);
    sodium_bin2base64(text, size, bytes, len, MAKER_BASE64);
    return str_from(text);
}

static inline EVP_PKEY *maker_key(enum oidc_algorithm algorithm)
{
    EVP_PKEY *key = algorithm == OIDC_ES256   ? EVP_EC_gen("P-256")
                    : algorithm == OIDC_EDDSA ? EVP_PKEY_Q_keygen(NULL, NULL, "ED25519")
                                              : EVP_RSA_gen(2048);
    assert_non_null(key);
    return key;
}

static inline struct str maker_number(EVP_PKEY *key, const char *name)
{
    unsigned char bytes[OIDC_RSA_BITS_MAX / 8];
    BIGNUM *n = NULL;
    assert_int_equal(EVP_PKEY_get_bn_param(key, name, &n), 1);
    int len = BN_bn2bin(n, bytes);
    BN_free(n);
    return maker_base64(bytes, (size_t)len);
}

/* The public half as a member of a set, with these further members: ",\"kid\":\"a\"". */
static inline struct str maker_jwk(EVP_PKEY *key, enum oidc_algorithm algorithm, const char *more)
{
    unsigned char bytes[1 + 2 * MAKER_HALF];
    size_t len = sizeof bytes;
    if (algorithm == OIDC_ES256) {
        assert_int_equal(
            EVP_PKEY_get_octet_string_param(key, OSSL_PKEY_PARAM_ENCODED_PUBLIC_KEY, bytes, sizeof bytes, &len), 1);
        return arena_printf(arena, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"%s}",
                            maker_base64(bytes + 1, MAKER_HALF).ptr,
                            maker_base64(bytes + 1 + MAKER_HALF, MAKER_HALF).ptr, more);
    }
    if (algorithm == OIDC_EDDSA) {
        assert_int_equal(EVP_PKEY_get_raw_public_key(key, bytes, &len), 1);
        return arena_printf(arena, "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"%s\"%s}", maker_base64(bytes, len).ptr,
                            more);
    }
    return arena_printf(arena, "{\"kty\":\"RSA\",\"n\":\"%s\",\"e\":\"%s\"%s}",
                        maker_number(key, OSSL_PKEY_PARAM_RSA_N).ptr, maker_number(key, OSSL_PKEY_PARAM_RSA_E).ptr,
                        more);
}

/* The two halves of an ES256 signature from DER. */
static inline struct str maker_halves(const unsigned char *der, size_t len)
{
    unsigned char bytes[2 * MAKER_HALF];
    const BIGNUM *r, *s;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)len);
    assert_non_null(pair);
    ECDSA_SIG_get0(pair, &r, &s);
    assert_int_equal(BN_bn2binpad(r, bytes, MAKER_HALF), MAKER_HALF);
    assert_int_equal(BN_bn2binpad(s, bytes + MAKER_HALF, MAKER_HALF), MAKER_HALF);
    ECDSA_SIG_free(pair);
    return maker_base64(bytes, sizeof bytes);
}

static inline struct str maker_signature(EVP_PKEY *key, enum oidc_algorithm algorithm, struct str input)
{
    unsigned char bytes[OIDC_RSA_BITS_MAX / 8];
    size_t len = sizeof bytes;
    EVP_PKEY_CTX *ctx;
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestSignInit(md, &ctx, algorithm == OIDC_EDDSA ? NULL : EVP_sha256(), NULL, key), 1);
    if (algorithm == OIDC_PS256) {
        assert_int_equal(EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING), 1);
        assert_int_equal(EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST), 1);
    }
    assert_int_equal(EVP_DigestSign(md, bytes, &len, (const unsigned char *)input.ptr, input.len), 1);
    EVP_MD_CTX_free(md);
    return algorithm == OIDC_ES256 ? maker_halves(bytes, len) : maker_base64(bytes, len);
}

/* header and payload as base64url with a point between them: what is signed. */
static inline struct str maker_input(const char *header, struct str payload)
{
    return arena_printf(arena, "%s.%s", maker_base64(header, strlen(header)).ptr,
                        maker_base64(payload.ptr, payload.len).ptr);
}

static inline struct str maker_token(EVP_PKEY *key, enum oidc_algorithm algorithm, const char *header,
                                     struct str payload)
{
    struct str input = maker_input(header, payload);
    return arena_printf(arena, "%s.%s", input.ptr, maker_signature(key, algorithm, input).ptr);
}

#endif
