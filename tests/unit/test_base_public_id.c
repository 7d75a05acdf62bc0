/* base/public_id: the text of an id, and what is refused before any store is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/public_id.h"
#include "base/random.h"

static const uint64_t IDS[] = { 0, 1, 12345678901234ULL, 1ULL << 63, UINT64_MAX };

static struct public_id_key key_of(const char *secret)
{
    struct public_id_key key;
    public_id_key_set(&key, (struct key[]){ key_derive(str_from(secret), KEY_IDS) });
    return key;
}

static bool decodes(const struct public_id_key *key, const char *text)
{
    uint64_t id = 77;
    bool ok = public_id_decode(key, str_from(text), &id);
    if (!ok)
        assert_int_equal(id, 77);
    return ok;
}

static void an_id_comes_back_from_its_text(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
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
}

static void the_text_of_an_id_never_changes(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    char text[PUBLIC_ID_TEXT_MAX];
    /* Links live longer than builds: recomputed with Python's hashlib and a SipHash-2-4 of its own. */
    public_id_encode(&key, 12345678901234ULL, text);
    assert_string_equal(text, "00005kmwye5zsc4yqkbbkvv7pj");
}

static void letters_are_read_in_any_case_and_lookalikes_as_digits(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
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

static void one_wrong_character_anywhere_is_refused(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    char text[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&key, 987654321, text);
    for (size_t i = 0; i < PUBLIC_ID_LEN; i++) {
        char right = text[i];
        for (const char *c = "0123456789abcdefghjkmnpqrstvwxyz"; *c != '\0'; c++) {
            text[i] = *c;
            assert_int_equal(decodes(&key, text), *c == right);
        }
        text[i] = right;
    }
}

static void malformed_texts_are_refused(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    char text[PUBLIC_ID_TEXT_MAX + 1];
    uint64_t id;
    public_id_encode(&key, 5, text);
    assert_false(decodes(&key, ""));
    assert_false(public_id_decode(&key, (struct str){ text, PUBLIC_ID_LEN - 1 }, &id));
    text[PUBLIC_ID_LEN] = '0';
    text[PUBLIC_ID_LEN + 1] = '\0';
    assert_false(decodes(&key, text));
    assert_false(public_id_decode(&key, STR_NONE, &id));
    for (const char *c = "uU-_ /%\x7f\xc3+"; *c != '\0'; c++) {
        public_id_encode(&key, 5, text);
        text[7] = *c;
        assert_false(decodes(&key, text));
    }
    public_id_encode(&key, 5, text);
    text[7] = '\0';
    assert_false(public_id_decode(&key, (struct str){ text, PUBLIC_ID_LEN }, &id));
}

static void bits_beyond_the_128_are_refused(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
    char text[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&key, 5, text);
    /* The same low bits with one or both of the two bits above them set. */
    for (size_t above = 8; above < 32; above += 8) {
        char right = text[0];
        text[0] = digits[(size_t)(strchr(digits, right) - digits) + above];
        assert_false(decodes(&key, text));
        text[0] = right;
    }
    assert_true(decodes(&key, text));
}

static void another_secret_makes_other_texts(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    struct public_id_key other = key_of("a secret of at least thirty-two characterz");
    char text[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&key, 42, text);
    assert_true(decodes(&key, text));
    assert_false(decodes(&other, text));
}

static void a_text_lives_in_the_arena(void **state)
{
    (void)state;
    struct public_id_key key = key_of("a secret of at least thirty-two characters");
    struct arena *a = arena_new(256, 256);
    struct str text = public_id_text(a, &key, 42);
    uint64_t id;
    assert_true(public_id_decode(&key, text, &id));
    assert_int_equal(id, 42);
    while (text.ptr != NULL)
        text = public_id_text(a, &key, 42); /* until the arena's limit is reached */
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_id_comes_back_from_its_text),
        cmocka_unit_test(the_text_of_an_id_never_changes),
        cmocka_unit_test(letters_are_read_in_any_case_and_lookalikes_as_digits),
        cmocka_unit_test(one_wrong_character_anywhere_is_refused),
        cmocka_unit_test(malformed_texts_are_refused),
        cmocka_unit_test(bits_beyond_the_128_are_refused),
        cmocka_unit_test(another_secret_makes_other_texts),
        cmocka_unit_test(a_text_lives_in_the_arena),
    };
    return random_init() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
}
