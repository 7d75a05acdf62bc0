/* base/public_id: the text of an id, and what is refused without a store. */
#include "base/public_id.h"
#include "support/test_arena.h"

static const uint64_t IDS[] = { 0, 1, 12345678901234ULL, 1ULL << 63, UINT64_MAX };

static struct public_id_key key_of(const char *secret)
{
    struct public_id_key made;
    public_id_key_set(&made, (struct key[]){ key_derive(str_from(secret), KEY_IDS) });
    return made;
}

static bool decodes_by(const struct public_id_key *by, const char *text)
{
    uint64_t id = 77;
    bool ok = public_id_decode(by, str_from(text), &id);
    if (!ok)
        assert_int_equal(id, 77);
    return ok;
}

static struct public_id_key key;

static bool decodes(const char *text)
{
    return decodes_by(&key, text);
}

static int setup(void **state)
{
    key = key_of("a secret of at least thirty-two characters");
    return arena_setup(state);
}

TEST(an_id_comes_back_from_its_text_which_never_changes)
{
    for (size_t i = 0; i < ARRAY_LEN(IDS); i++) {
        char text[PUBLIC_ID_TEXT_MAX];
        uint64_t id;
        public_id_encode(&key, IDS[i], text);
        assert_int_equal(strlen(text), PUBLIC_ID_LEN);
        assert_int_equal(strspn(text, "0123456789abcdefghjkmnpqrstvwxyz"), PUBLIC_ID_LEN);
        assert_true(public_id_decode(&key, str_from(text), &id));
        assert_int_equal(id, IDS[i]);
        id = 0;
        text[PUBLIC_ID_LEN - 1] = text[PUBLIC_ID_LEN - 1] == '0' ? '1' : '0'; /* of the MAC */
        assert_false(public_id_decode(&key, str_from(text), &id));
        assert_true(public_id_read_unproven(str_from(text), &id));
        assert_int_equal(id, IDS[i]);
        assert_false(public_id_read_unproven(str_slice(str_from(text), 1, PUBLIC_ID_LEN), &id));
    }
    char text[PUBLIC_ID_TEXT_MAX];
    /* Links live longer than builds, so these are fixed. Computed with Python's hashlib and an independent
     * SipHash-2-4. */
    public_id_encode(&key, 12345678901234ULL, text);
    assert_string_equal(text, "00005kmwye5zsc4yqkbbkvv7pj");
    struct arena *a = arena_new(256, 256);
    struct str made = public_id_text(a, &key, 42);
    uint64_t back;
    assert_true(public_id_decode(&key, made, &back));
    assert_int_equal(back, 42);
    while (made.ptr != NULL)
        made = public_id_text(a, &key, 42); /* until the arena's limit is reached */
    arena_free(a);
}

TEST(letters_are_read_in_any_case_and_lookalikes_as_digits)
{
    unsigned replaced = 0;
    for (uint64_t wanted = 1; wanted < 200; wanted++) {
        char text[PUBLIC_ID_TEXT_MAX];
        uint64_t id;
        public_id_encode(&key, wanted, text);
        for (char *c = text; *c != '\0'; c++)
            if (*c == '0')
                *c = wanted % 2 ? 'O' : 'o';
            else if (*c == '1')
                *c = (char)(wanted % 4 == 0 ? 'I' : wanted % 4 == 1 ? 'i' : wanted % 4 == 2 ? 'L' : 'l'), replaced++;
            else if (*c >= 'a' && *c <= 'z')
                *c = (char)(*c - 'a' + 'A');
        assert_true(public_id_decode(&key, str_from(text), &id));
        assert_int_equal(id, wanted);
    }
    assert_true(replaced > 10);
}

TEST(one_wrong_character_a_bit_beyond_the_128_and_another_secret_are_refused)
{
    char text[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&key, 987654321, text);
    for (size_t i = 0; i < PUBLIC_ID_LEN; i++) {
        char right = text[i];
        for (const char *c = "0123456789abcdefghjkmnpqrstvwxyz"; *c != '\0'; c++) {
            text[i] = *c;
            assert_int_equal(decodes(text), *c == right);
        }
        text[i] = right;
    }
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    public_id_encode(&key, 5, text);
    /* The same low bits with one or both of the two bits above them set. */
    for (size_t above = 8; above < 32; above += 8) {
        char right = text[0];
        text[0] = digits[(size_t)(strchr(digits, right) - digits) + above];
        assert_false(decodes(text));
        text[0] = right;
    }
    assert_true(decodes(text));
    struct public_id_key other = key_of("a secret of at least thirty-two characterz");
    public_id_encode(&key, 42, text);
    assert_true(decodes(text));
    assert_false(decodes_by(&other, text));
}

TEST(malformed_texts_are_refused)
{
    char text[PUBLIC_ID_TEXT_MAX + 1];
    uint64_t id;
    public_id_encode(&key, 5, text);
    assert_false(decodes(""));
    assert_false(public_id_decode(&key, (struct str){ text, PUBLIC_ID_LEN - 1 }, &id));
    text[PUBLIC_ID_LEN] = '0';
    text[PUBLIC_ID_LEN + 1] = '\0';
    assert_false(decodes(text));
    assert_false(public_id_decode(&key, STR_NONE, &id));
    for (const char *c = "uU-_ /%\x7f\xc3+"; *c != '\0'; c++) {
        public_id_encode(&key, 5, text);
        text[7] = *c;
        assert_false(decodes(text));
    }
    public_id_encode(&key, 5, text);
    text[7] = '\0';
    assert_false(public_id_decode(&key, (struct str){ text, PUBLIC_ID_LEN }, &id));
}

TESTS(setup, arena_teardown)
