/* The data of passkeys that a browser sends: client data, the authenticator data of a registration and of a login,
 * signatures; also addresses of a site, and challenges. The first byte chooses one of these. To pass the first checks,
 * the target writes the right hash of the domain and flags into the input. */
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "../unit/passkey_vectors.h"
#include "fuzz.h"
#include "user/passkey.h"

#define CLIENT(type)                                                                                                   \
    STR("{\"type\":\"webauthn." type "\",\"challenge\":\"" VECTOR_CHALLENGE                                            \
        "\",\"origin\":\"https://hongbao.example\"}")

enum { HEAD_BYTES = 37, AT_FLAGS = 32, FLAGS = 1 | 4, FLAG_KEY = 0x40, FLAG_EXTENSIONS = 0x80, MODES = 4 };

static const struct passkey_site SITE = { { "hongbao.example", 15 }, { "https://hongbao.example", 23 } };

/* The input with a valid head: a copy of its exact size, so that reading behind it is found. Freed by the caller. */
static char *data_of(struct str input, bool with_key)
{
    char *data = malloc(input.len + 1);
    assert(data != NULL);
    memcpy(data, input.ptr, input.len);
    if (input.len >= HEAD_BYTES) {
        unsigned flags = (unsigned char)data[AT_FLAGS] | FLAGS;
        hash_sha256(SITE.id.ptr, SITE.id.len, (uint8_t *)data);
        data[AT_FLAGS] = (char)(with_key ? flags | FLAG_KEY : flags & ~(unsigned)FLAG_EXTENSIONS);
    }
    return data;
}

static void registration(struct str client, struct str data)
{
    struct passkey_key key;
    const struct passkey_answer answer = { client, data, STR("") };
    enum passkey_fault fault = passkey_register_check(fuzz_arena, &SITE, STR(VECTOR_CHALLENGE), &answer, &key);
    assert(fault < PASSKEY_FAULTS && fault != PASSKEY_NO_MEMORY);
    if (fault != PASSKEY_OK)
        return;
    assert(key.credential_id.len > 0 && key.credential_id.len <= PASSKEY_CREDENTIAL_MAX);
    assert(key.public_key.len > 0 && key.public_key.len <= PASSKEY_PUBLIC_KEY_MAX);
}

/* The key of a vector. Its own login has other client data. */
static struct passkey_key key_of_vector(void)
{
    static const char data_text[] = ES256_CREATE_DATA;
    static char data[sizeof data_text];
    struct passkey_key key;
    size_t len;
    int r = sodium_base642bin((unsigned char *)data, sizeof data, data_text, sizeof data_text - 1, NULL, &len, NULL,
                              sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    assert(r == 0);
    const struct passkey_answer answer = { CLIENT("create"), { data, len }, STR("") };
    enum passkey_fault fault = passkey_register_check(fuzz_arena, &SITE, STR(VECTOR_CHALLENGE), &answer, &key);
    assert(fault == PASSKEY_OK);
    return key;
}

/* Input: two thirds are the signature, the last third is authenticator data. */
static void login(struct str input)
{
    uint32_t count;
    size_t cut = input.len * 2 / 3;
    struct str tail = str_skip(input, cut);
    char *data = data_of(tail, false);
    const struct passkey_answer answer = { CLIENT("get"), { data, tail.len }, str_slice(input, 0, cut) };
    const struct passkey_key key = key_of_vector();
    enum passkey_fault fault = passkey_login_check(&SITE, STR(VECTOR_CHALLENGE), &answer, &key, &count);
    assert(fault == PASSKEY_SIGNATURE || fault == PASSKEY_MALFORMED); /* nobody guesses a signature */
    free(data);
}

/* An address ends at a NUL, as a setting does. */
static void addresses(struct str input)
{
    struct passkey_site site;
    if (passkey_site_read(fuzz_arena, str_slice(input, 0, str_index(input, '\0')), &site)) {
        assert(site.id.len > 0 && site.origin.len > site.id.len);
        assert(str_index(site.id, '/') == site.id.len && str_index(site.id, ':') == site.id.len);
    }
    assert(passkey_challenge_until_ms(
               (struct key[]){ key_derive(STR("a secret of at least 32 characters"), KEY_CHALLENGES) }, PASSKEY_LOGIN,
               STR(""), input, 0) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    uint64_t mode = fuzz_take(&in, 1) % MODES;
    struct str rest = fuzz_text(in.next, in.left);
    fuzz_begin();
    if (mode == 0) {
        registration(rest, STR(""));
    } else if (mode == 1) {
        char *bytes = data_of(rest, true);
        registration(CLIENT("create"), (struct str){ bytes, rest.len });
        free(bytes);
    } else if (mode == 2) {
        login(rest);
    } else {
        addresses(rest);
    }
    return 0;
}
