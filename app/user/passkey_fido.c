#include "user/passkey_fido.h"

#include <cbor.h>
#include <fido.h>
#include <fido/eddsa.h>
#include <fido/es256.h>
#include <fido/rs256.h>
#include <sodium.h>
#include <string.h>

#include "base/array.h"

/* Authenticator data: 32 bytes hash of the domain, 1 byte flags, 4 bytes counter. With FLAG_KEY follow 16 bytes
 * model of the authenticator, 2 bytes length of the credential id, the id, the key in CBOR; with FLAG_EXTENSIONS a
 * CBOR map. */
enum {
    AT_FLAGS = HASH_BYTES,
    FIXED_BYTES = HASH_BYTES + 1 + 4,
    AT_ID_LENGTH = FIXED_BYTES + 16,
    AT_ID = AT_ID_LENGTH + 2,
    FLAG_PRESENT = 1,
    FLAG_VERIFIED = 4,
    FLAG_KEY = 0x40,
    FLAG_EXTENSIONS = 0x80,
    CBOR_ITEMS_MAX = 32, /* items of an array or map; a key has at most 5 members */
};

const int passkey_algorithms[PASSKEY_ALGORITHMS] = { COSE_ES256, COSE_EDDSA, COSE_RS256 };

enum passkey_fault passkey_data_check(struct str data, struct str site_id, enum passkey_ceremony ceremony)
{
    uint8_t hash[HASH_BYTES];

    if (data.len < FIXED_BYTES || data.len > PASSKEY_DATA_MAX)
        return PASSKEY_MALFORMED;
    unsigned flags = (unsigned char)data.ptr[AT_FLAGS];
    hash_sha256(site_id.ptr, site_id.len, hash);
    if (sodium_memcmp(hash, data.ptr, sizeof hash) != 0)
        return PASSKEY_DOMAIN;
    if ((flags & FLAG_PRESENT) == 0 || (flags & FLAG_VERIFIED) == 0)
        return PASSKEY_UNVERIFIED;
    if (ceremony == PASSKEY_REGISTER ? (flags & FLAG_KEY) == 0 : (flags & FLAG_EXTENSIONS) != 0)
        return PASSKEY_MALFORMED;
    return PASSKEY_OK;
}

/* ---- keys ---- */

static void public_key_free(int algorithm, void *key)
{
    es256_pk_t *es256 = key;
    eddsa_pk_t *eddsa = key;
    rs256_pk_t *rs256 = key;
    if (algorithm == COSE_ES256)
        es256_pk_free(&es256);
    else if (algorithm == COSE_EDDSA)
        eddsa_pk_free(&eddsa);
    else
        rs256_pk_free(&rs256);
}

/* Reads the key in the form that libfido2's verification takes; free it with public_key_free. NULL: no such key, or no
 * memory. */
static void *public_key_read(int algorithm, struct str bytes)
{
    void *key = algorithm == COSE_ES256   ? (void *)es256_pk_new()
                : algorithm == COSE_EDDSA ? (void *)eddsa_pk_new()
                : algorithm == COSE_RS256 ? (void *)rs256_pk_new()
                                          : NULL;
    if (key == NULL)
        return NULL;
    int r = algorithm == COSE_ES256   ? es256_pk_from_ptr(key, bytes.ptr, bytes.len)
            : algorithm == COSE_EDDSA ? eddsa_pk_from_ptr(key, bytes.ptr, bytes.len)
                                      : rs256_pk_from_ptr(key, bytes.ptr, bytes.len);
    if (r == FIDO_OK)
        return key;
    public_key_free(algorithm, key);
    return NULL;
}

/* ---- a new key ---- */

static void collection_seen(void *large, size_t items)
{
    if (items > CBOR_ITEMS_MAX)
        *(bool *)large = true;
}

/* False: the CBOR is incomplete or has a large array or map. libcbor allocates and clears memory for as many items as
 * the head of an array claims, so nine bytes could take gigabytes; this reads the heads without allocating. */
static bool cbor_is_small(struct str cbor)
{
    struct cbor_callbacks heads = cbor_empty_callbacks;
    bool large = false;

    heads.array_start = collection_seen;
    heads.map_start = collection_seen;
    while (cbor.len > 0) {
        struct cbor_decoder_result r = cbor_stream_decode((cbor_data)(const void *)cbor.ptr, cbor.len, &heads, &large);
        if (r.status != CBOR_DECODER_FINISHED || large)
            return false;
        cbor = str_skip(cbor, r.read);
    }
    return true;
}

/* The CBOR at the end of the data of a registration. STR_NONE: the data end before it. */
static struct str cbor_of(struct str data)
{
    if (data.len < AT_ID)
        return STR_NONE;
    const unsigned char *length = (const unsigned char *)data.ptr + AT_ID_LENGTH;
    size_t id_len = (size_t)length[0] << 8 | length[1];
    return id_len > 0 && id_len <= PASSKEY_CREDENTIAL_MAX && id_len < data.len - AT_ID ? str_skip(data, AT_ID + id_len)
                                                                                       : STR_NONE;
}

/* Reads the data as a passkey of this algorithm. The caller frees *out by fido_cred_free. PASSKEY_ALGORITHM: the
 * passkey has another algorithm. */
static enum passkey_fault credential_read(struct str data, int algorithm, fido_cred_t **out)
{
    *out = fido_cred_new();
    if (*out == NULL)
        return PASSKEY_NO_MEMORY;
    if (fido_cred_set_type(*out, algorithm) == FIDO_OK && fido_cred_set_fmt(*out, "none") == FIDO_OK &&
        fido_cred_set_authdata_raw(*out, (const unsigned char *)data.ptr, data.len) == FIDO_OK)
        return PASSKEY_OK;
    fido_cred_free(out);
    return PASSKEY_ALGORITHM;
}

static enum passkey_fault key_copy(struct arena *a, const fido_cred_t *cred, struct passkey_key *out)
{
    struct str id = { (const char *)fido_cred_id_ptr(cred), fido_cred_id_len(cred) };
    struct str public_key = { (const char *)fido_cred_pubkey_ptr(cred), fido_cred_pubkey_len(cred) };
    int algorithm = fido_cred_type(cred);
    if (public_key.ptr == NULL || public_key.len > PASSKEY_PUBLIC_KEY_MAX)
        return PASSKEY_ALGORITHM;
    void *key = public_key_read(algorithm, public_key);
    if (key == NULL)
        return PASSKEY_ALGORITHM; /* for example not on its curve */
    public_key_free(algorithm, key);
    *out = (struct passkey_key){ algorithm, arena_str(a, id), arena_str(a, public_key), fido_cred_sigcount(cred) };
    return out->credential_id.ptr == NULL || out->public_key.ptr == NULL ? PASSKEY_NO_MEMORY : PASSKEY_OK;
}

enum passkey_fault passkey_key_read(struct arena *a, struct str data, struct passkey_key *out)
{
    struct str cbor = cbor_of(data);
    if (cbor.len == 0 || !cbor_is_small(cbor))
        return PASSKEY_MALFORMED;
    enum passkey_fault fault = PASSKEY_ALGORITHM;
    for (size_t i = 0; i < PASSKEY_ALGORITHMS && fault == PASSKEY_ALGORITHM; i++) {
        fido_cred_t *cred;
        fault = credential_read(data, passkey_algorithms[i], &cred);
        if (fault == PASSKEY_OK)
            fault = key_copy(a, cred, out);
        fido_cred_free(&cred);
    }
    return fault;
}

/* ---- a signature ---- */

/* Fills the assertion. False: malformed, or no memory. */
static bool assertion_fill(fido_assert_t *assertion, const struct passkey_answer *answer, const char *site_id)
{
    uint8_t hash[HASH_BYTES];
    hash_sha256(answer->client_data.ptr, answer->client_data.len, hash);
    return fido_assert_set_rp(assertion, site_id) == FIDO_OK &&
           fido_assert_set_clientdata_hash(assertion, hash, sizeof hash) == FIDO_OK &&
           fido_assert_set_count(assertion, 1) == FIDO_OK && fido_assert_set_up(assertion, FIDO_OPT_TRUE) == FIDO_OK &&
           fido_assert_set_uv(assertion, FIDO_OPT_TRUE) == FIDO_OK &&
           fido_assert_set_authdata_raw(assertion, 0, (const unsigned char *)answer->data.ptr, answer->data.len) ==
               FIDO_OK &&
           fido_assert_set_sig(assertion, 0, (const unsigned char *)answer->signature.ptr, answer->signature.len) ==
               FIDO_OK;
}

enum passkey_fault passkey_signature_check(const struct passkey_answer *answer, struct str site_id,
                                           const struct passkey_key *key, uint32_t *sign_count)
{
    char id[256];
    if (answer->signature.len == 0 || answer->signature.len > PASSKEY_SIGNATURE_MAX || site_id.len >= sizeof id)
        return PASSKEY_SIGNATURE;
    memcpy(id, site_id.ptr, site_id.len);
    id[site_id.len] = '\0';

    enum passkey_fault fault = PASSKEY_SIGNATURE;
    fido_assert_t *assertion = fido_assert_new();
    void *public_key = public_key_read(key->algorithm, key->public_key);
    if (assertion != NULL && public_key != NULL && assertion_fill(assertion, answer, id) &&
        fido_assert_verify(assertion, 0, key->algorithm, public_key) == FIDO_OK) {
        *sign_count = fido_assert_sigcount(assertion, 0);
        fault = PASSKEY_OK;
    }
    if (public_key != NULL)
        public_key_free(key->algorithm, public_key);
    fido_assert_free(&assertion);
    return fault;
}
