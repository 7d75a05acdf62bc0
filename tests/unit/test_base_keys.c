/* The keys of each purpose (base/keys.h): what earlier versions made with the secret stays valid. And base/random: the
 * system's randomness, and SHA-256 by its published vectors. */
#include "base/keys.h"
#include "base/random.h"
#include "support/test.h"

static const struct str SECRET = STR("0123456789abcdef0123456789abcdef");

/* Computes a key as the first version did. */
static void first_version_derive(const char *purpose, unsigned char *out, size_t bytes)
{
    unsigned char inner[32];
    crypto_generichash(inner, sizeof inner, (const unsigned char *)SECRET.ptr, SECRET.len, NULL, 0);
    if (purpose == NULL)
        memcpy(out, inner, bytes);
    else
        crypto_generichash(out, bytes, (const unsigned char *)purpose, strlen(purpose), inner, sizeof inner);
}

TEST(ids_and_receipts_and_the_key_of_before_are_as_in_the_first_version)
{
    unsigned char want[KEY_BYTES] = { 0 };
    first_version_derive("hongbao public id v1", want, 16);
    assert_memory_equal(key_derive(SECRET, KEY_IDS).bytes, want, sizeof want);
    first_version_derive("hongbao receipt keys v1", want, sizeof want);
    assert_memory_equal(key_derive(SECRET, KEY_RECEIPTS).bytes, want, sizeof want);
    /* This key stands for everything that the first version made with it. */
    struct keys keys;
    first_version_derive(NULL, want, sizeof want);
    keys_derive(SECRET, true, &keys);
    static const enum key_purpose purposes[] = { KEY_RECOVERY_CODE, KEY_SCREENS, KEY_PHRASE_HASH, KEY_PHRASE_SEAL,
                                                 KEY_USERNAMES };
    for (size_t i = 0; i < ARRAY_LEN(purposes); i++)
        assert_memory_equal(keys_pair(&keys, purposes[i]).before->bytes, want, sizeof want);
    keys_derive(SECRET, false, &keys);
    for (size_t i = 0; i < ARRAY_LEN(purposes); i++)
        assert_null(keys_pair(&keys, purposes[i]).before);
}

/* A pool with the key of earlier versions, as on an upgraded site, derives keys from it as this program does. */
TEST(from_the_key_of_before_no_new_key_can_be_computed)
{
    const struct key before = key_derive(SECRET, KEY_BEFORE);
    EACH_TEXT (name, "hongbao recovery codes v2", "hongbao screens v2", "hongbao phrase hashes v2",
               "hongbao phrase seals v2", "hongbao usernames v2") {
        unsigned char made[KEY_BYTES];
        crypto_generichash(made, sizeof made, (const unsigned char *)name, strlen(name), before.bytes,
                           sizeof before.bytes);
        for (size_t k = 0; k < KEY_PURPOSES; k++)
            assert_memory_not_equal(key_derive(SECRET, (enum key_purpose)k).bytes, made, sizeof made);
    }
}

TEST(no_two_purposes_and_no_two_secrets_have_the_same_key)
{
    struct keys keys;
    keys_derive(SECRET, true, &keys);
    for (size_t i = 0; i < KEY_PURPOSES; i++)
        for (size_t j = 0; j < i; j++)
            assert_memory_not_equal(keys.of[i].bytes, keys.of[j].bytes, KEY_BYTES);
    for (size_t i = 0; i < KEY_PURPOSES; i++)
        assert_memory_not_equal(key_derive(SECRET, (enum key_purpose)i).bytes,
                                key_derive(STR("0123456789abcdef0123456789abcdeg"), (enum key_purpose)i).bytes,
                                KEY_BYTES);
}

TEST(a_role_gets_its_keys_and_no_others)
{
    static const struct {
        const char *role;
        unsigned set;
    } roles[] = { { "card", 1U << KEY_IDS },
                  { "hot", 1U << KEY_IDS | 1U << KEY_SCREENS | 1U << KEY_PHRASE_HASH | 1U << KEY_PHRASE_SEAL |
                               1U << KEY_BEFORE },
                  { "settle", 0 },
                  { "money", 0 },
                  { "sso", 1U << KEY_DEVICES | 1U << KEY_USERNAMES | 1U << KEY_ISSUER | 1U << KEY_BEFORE } };
    unsigned set, page, auth;
    EACH (row, roles) {
        assert_true(keys_of_role(str_from(row->role), &set));
        assert_int_equal(set, row->set);
    }
    assert_true(keys_of_role(STR("page"), &page) && keys_of_role(STR("auth"), &auth));
    assert_int_equal(page & auth, 1U << KEY_IDS | 1U << KEY_DEVICES | 1U << KEY_BEFORE);
    assert_false(keys_of_role(STR("audit"), &set) || keys_of_role(STR(""), &set));
}

TEST(keys_are_read_as_they_are_written)
{
    struct keys keys, read = { 0 };
    unsigned set;
    keys_derive(SECRET, true, &keys);
    assert_true(keys_of_role(STR("hot"), &set));
    for (size_t i = 0; i < KEY_PURPOSES; i++) {
        char hex[KEY_HEX_MAX];
        const struct str word = str_from(key_word((enum key_purpose)i));
        key_hex(&keys.of[i], hex);
        assert_non_null(key_add(&read, word, str_slice(str_from(hex), 0, KEY_HEX_MAX - 2)));
        assert_non_null(key_add(&read, word, STR("")));
        if (i == KEY_PHRASE_SEAL)
            assert_string_equal(keys_lack(&read, set), "phrase_seals");
        assert_null(key_add(&read, word, str_from(hex)));
        assert_string_equal(key_add(&read, word, str_from(hex)), "the key is there twice");
        assert_memory_equal(read.of[i].bytes, keys.of[i].bytes, KEY_BYTES);
    }
    assert_null(keys_lack(&read, set));
    assert_string_equal(key_add(&read, STR("none"), STR("")), "there is no such key");
}

TEST(sha256_is_sha256_and_random_bytes_differ)
{
    static const uint8_t empty[HASH_BYTES] = { 0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4,
                                               0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b,
                                               0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55 };
    static const uint8_t abc[4] = { 0xba, 0x78, 0x16, 0xbf };
    uint8_t out[HASH_BYTES];
    hash_sha256(NULL, 0, out);
    assert_memory_equal(out, empty, HASH_BYTES);
    hash_sha256("abc", 3, out);
    assert_memory_equal(out, abc, sizeof abc);
    uint8_t a[32] = { 0 }, b[32] = { 0 };
    random_bytes(a, sizeof a);
    random_bytes(b, sizeof b);
    assert_memory_not_equal(a, b, sizeof a);
    assert_true(random_u64() != random_u64());
}

static int start(void **state)
{
    (void)state;
    return random_init() && random_init() ? 0 : -1; /* twice is fine */
}

TESTS(start, NULL)
