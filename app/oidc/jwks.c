#include "oidc/jwks.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/rsa.h>
#include <stdlib.h>
#include <string.h>

#include "oidc/json.h"

enum {
    COORDINATE_BYTES = 32, /* of P-256 and Ed25519 */
    POINT_BYTES = 1 + 2 * COORDINATE_BYTES,
    POINT_UNCOMPRESSED = 4,
    ES256_BYTES = 2 * COORDINATE_BYTES, /* of a signature: R and S (RFC 7518 3.4) */
    EXPONENT_BYTES_MAX = 4,
    BYTE_BITS = 8,
    KEY_ARENA_BYTES = 8192,
};

enum kind { KIND_RSA, KIND_EC, KIND_ED };

struct oidc_key {
    enum kind kind;
    bool has_algorithm;
    enum oidc_algorithm algorithm; /* with has_algorithm: the only one */
    char kid[OIDC_KID_MAX];
    size_t kid_len;
    bool has_kid;
    EVP_PKEY *pkey;
};

struct oidc_jwks {
    size_t count;
    struct oidc_key keys[OIDC_KEYS_MAX];
};

/* ---- keys from their numbers ---- */

/* A public key of OpenSSL from its parameters. NULL: it is none, or there is no memory. */
static EVP_PKEY *pkey_make(const char *type, OSSL_PARAM_BLD *parts)
{
    EVP_PKEY *pkey = NULL;
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(parts);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (params == NULL || ctx == NULL || EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_PUBLIC_KEY, params) != 1)
        pkey = NULL;
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return pkey;
}

/* RFC 7518 6.3.1. */
static EVP_PKEY *rsa_make(struct str n, struct str e)
{
    EVP_PKEY *pkey = NULL;
    if (n.len > OIDC_RSA_BITS_MAX / BYTE_BITS || e.len > EXPONENT_BYTES_MAX)
        return NULL;
    BIGNUM *modulus = BN_bin2bn((const unsigned char *)n.ptr, (int)n.len, NULL);
    BIGNUM *exponent = BN_bin2bn((const unsigned char *)e.ptr, (int)e.len, NULL);
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    if (modulus != NULL && exponent != NULL && parts != NULL && BN_num_bits(modulus) >= OIDC_RSA_BITS_MIN &&
        BN_is_odd(modulus) && BN_is_odd(exponent) && !BN_is_one(exponent) &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_N, modulus) == 1 &&
        OSSL_PARAM_BLD_push_BN(parts, OSSL_PKEY_PARAM_RSA_E, exponent) == 1)
        pkey = pkey_make("RSA", parts);
    OSSL_PARAM_BLD_free(parts);
    BN_free(modulus);
    BN_free(exponent);
    return pkey;
}

/* RFC 7518 6.2.1. OpenSSL refuses a point that is not on the curve. */
static EVP_PKEY *ec_make(struct str x, struct str y)
{
    unsigned char point[POINT_BYTES] = { POINT_UNCOMPRESSED };
    EVP_PKEY *pkey = NULL;
    if (x.len != COORDINATE_BYTES || y.len != COORDINATE_BYTES)
        return NULL;
    memcpy(point + 1, x.ptr, COORDINATE_BYTES);
    memcpy(point + 1 + COORDINATE_BYTES, y.ptr, COORDINATE_BYTES);
    OSSL_PARAM_BLD *parts = OSSL_PARAM_BLD_new();
    if (parts != NULL && OSSL_PARAM_BLD_push_utf8_string(parts, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1 &&
        OSSL_PARAM_BLD_push_octet_string(parts, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1)
        pkey = pkey_make("EC", parts);
    OSSL_PARAM_BLD_free(parts);
    return pkey;
}

/* RFC 8037 2. */
static EVP_PKEY *ed_make(struct str x)
{
    return x.len != COORDINATE_BYTES
               ? NULL
               : EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)x.ptr, x.len);
}

/* ---- the set ---- */

/* The bytes of a member; STR_NONE: it is missing or malformed, or there is no memory. */
static struct str bytes_of(struct arena *a, const json_t *jwk, const char *name)
{
    bool malformed;
    struct str text = oidc_json_text(jwk, name);
    return text.ptr == NULL ? STR_NONE : oidc_base64url(a, text, &malformed);
}

/* False: the key is for something else than to check signatures (RFC 7517 4.2, 4.3), or it is no longer secret. */
static bool key_is_for_us(const json_t *jwk)
{
    const json_t *use = json_object_get(jwk, "use"), *operations = json_object_get(jwk, "key_ops");
    if (use != NULL && !str_equal(str_or_empty(oidc_json_value(use)), STR("sig")))
        return false;
    if (operations != NULL && !oidc_json_list_has(jwk, "key_ops", STR("verify")))
        return false;
    return json_object_get(jwk, "d") == NULL && json_object_get(jwk, "k") == NULL;
}

static bool kind_fits(enum kind kind, enum oidc_algorithm algorithm)
{
    return algorithm == OIDC_ES256 ? kind == KIND_EC : algorithm == OIDC_EDDSA ? kind == KIND_ED : kind == KIND_RSA;
}

static EVP_PKEY *pkey_of(struct arena *a, const json_t *jwk, enum kind *kind)
{
    struct str type = str_or_empty(oidc_json_text(jwk, "kty")), curve = str_or_empty(oidc_json_text(jwk, "crv"));
    if (str_equal(type, STR("RSA"))) {
        *kind = KIND_RSA;
        struct str n = bytes_of(a, jwk, "n"), e = bytes_of(a, jwk, "e");
        return n.ptr == NULL || e.ptr == NULL ? NULL : rsa_make(n, e);
    }
    if (str_equal(type, STR("EC")) && str_equal(curve, STR("P-256"))) {
        *kind = KIND_EC;
        struct str x = bytes_of(a, jwk, "x"), y = bytes_of(a, jwk, "y");
        return x.ptr == NULL || y.ptr == NULL ? NULL : ec_make(x, y);
    }
    if (str_equal(type, STR("OKP")) && str_equal(curve, STR("Ed25519"))) {
        *kind = KIND_ED;
        struct str x = bytes_of(a, jwk, "x");
        return x.ptr == NULL ? NULL : ed_make(x);
    }
    return NULL;
}

/* False: the key is left out. */
static bool key_read(struct arena *a, const json_t *jwk, struct oidc_key *out)
{
    const json_t *kid = json_object_get(jwk, "kid"), *algorithm = json_object_get(jwk, "alg");
    struct str name = oidc_json_value(kid);

    *out = (struct oidc_key){ .has_kid = kid != NULL, .has_algorithm = algorithm != NULL };
    if (!json_is_object(jwk) || !key_is_for_us(jwk) || (kid != NULL && (name.ptr == NULL || name.len > OIDC_KID_MAX)))
        return false;
    if (algorithm != NULL && !oidc_algorithm_read(oidc_json_value(algorithm), &out->algorithm))
        return false;
    if (name.len > 0)
        memcpy(out->kid, name.ptr, name.len);
    out->kid_len = name.len;
    out->pkey = pkey_of(a, jwk, &out->kind);
    if (out->pkey != NULL && out->has_algorithm && !kind_fits(out->kind, out->algorithm)) {
        EVP_PKEY_free(out->pkey);
        out->pkey = NULL;
    }
    return out->pkey != NULL;
}

/* False: no set of keys, or too many. */
static bool keys_read(struct arena *a, const json_t *list, struct oidc_jwks *out)
{
    if (!json_is_array(list) || json_array_size(list) > OIDC_KEYS_MAX)
        return false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        arena_reset(a);
        if (key_read(a, json_array_get(list, i), &out->keys[out->count]))
            out->count++;
    }
    return out->count > 0;
}

enum oidc_fault oidc_jwks_read(struct str json, struct oidc_jwks **out)
{
    json_t *root;
    *out = NULL;
    enum oidc_fault fault = oidc_json_read(json, OIDC_KEYS, &root);
    if (fault != OIDC_OK)
        return fault;
    struct arena *a = arena_new(KEY_ARENA_BYTES, (size_t)KEY_ARENA_BYTES + json.len);
    *out = calloc(1, sizeof **out);
    if (a == NULL || *out == NULL)
        fault = OIDC_NO_MEMORY;
    else if (!keys_read(a, json_object_get(root, "keys"), *out))
        fault = OIDC_KEYS;
    ERR_clear_error(); /* of the keys that were left out */
    arena_free(a);
    json_decref(root);
    if (fault != OIDC_OK) {
        oidc_jwks_free(*out);
        *out = NULL;
    }
    return fault;
}

void oidc_jwks_free(struct oidc_jwks *keys)
{
    if (keys == NULL)
        return;
    for (size_t i = 0; i < keys->count; i++)
        EVP_PKEY_free(keys->keys[i].pkey);
    free(keys);
}

/* ---- signatures ---- */

/* An ES256 signature as OpenSSL takes it, DER. Returns its length, and the bytes to be freed with OPENSSL_free; 0:
 * malformed, or no memory. */
static size_t der_of(struct str signature, unsigned char **out)
{
    int len = 0;
    *out = NULL;
    if (signature.len != ES256_BYTES)
        return 0;
    const unsigned char *bytes = (const unsigned char *)signature.ptr;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, COORDINATE_BYTES, NULL),
           *s = BN_bin2bn(bytes + COORDINATE_BYTES, COORDINATE_BYTES, NULL);
    if (pair != NULL && r != NULL && s != NULL && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL; /* the pair owns them */
        len = i2d_ECDSA_SIG(pair, out);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    return len > 0 ? (size_t)len : 0;
}

static bool padding_set(EVP_PKEY_CTX *ctx, enum oidc_algorithm algorithm)
{
    if (algorithm == OIDC_RS256) /* RFC 7518 3.3 */
        return EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PADDING) == 1;
    return algorithm != OIDC_PS256 || /* 3.5: the salt is as long as the hash, the mask is of the same hash */
           (EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1 &&
            EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) == 1);
}

static bool signature_fits(EVP_PKEY *pkey, const struct oidc_jws *jws)
{
    struct str signature = jws->signature;
    unsigned char *der = NULL;
    EVP_PKEY_CTX *ctx = NULL; /* belongs to md */
    if (jws->algorithm == OIDC_ES256) {
        signature.len = der_of(jws->signature, &der);
        signature.ptr = (const char *)der;
        if (signature.len == 0)
            return false;
    }
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    bool fits = md != NULL &&
                EVP_DigestVerifyInit(md, &ctx, jws->algorithm == OIDC_EDDSA ? NULL : EVP_sha256(), NULL, pkey) == 1 &&
                padding_set(ctx, jws->algorithm) &&
                EVP_DigestVerify(md, (const unsigned char *)signature.ptr, signature.len,
                                 (const unsigned char *)jws->input.ptr, jws->input.len) == 1;
    EVP_MD_CTX_free(md);
    OPENSSL_free(der);
    ERR_clear_error();
    return fits;
}

static bool key_fits(const struct oidc_key *key, const struct oidc_jws *jws)
{
    if (!kind_fits(key->kind, jws->algorithm) || (key->has_algorithm && key->algorithm != jws->algorithm))
        return false;
    return jws->kid.ptr == NULL || (key->has_kid && str_equal(jws->kid, (struct str){ key->kid, key->kid_len }));
}

enum oidc_fault oidc_jwks_verify(const struct oidc_jwks *keys, const struct oidc_jws *jws)
{
    const struct oidc_key *found = NULL;
    size_t count = 0;
    for (size_t i = 0; i < keys->count; i++)
        if (key_fits(&keys->keys[i], jws)) {
            found = &keys->keys[i];
            count++;
        }
    if (count != 1) /* RFC 7517 4.5: keys of one set should have different kids */
        return OIDC_KEY;
    return signature_fits(found->pkey, jws) ? OIDC_OK : OIDC_SIGNATURE;
}
