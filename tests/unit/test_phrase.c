/* packet/phrase: what counts as the same passphrase, its hash and its sealed form. */
#include "packet/phrase.h"
#include "support/test_arena.h"

#define KEY_OF(secret, purpose) ((struct key[]){ key_derive(STR(secret), purpose) })
#define KEY                     KEY_OF("a secret of more than thirty-two characters", KEY_PHRASE_HASH)
#define OTHER_KEY               KEY_OF("another secret of more than thirty-two", KEY_PHRASE_HASH)
#define KEY_OF_BEFORE           KEY_OF("a secret of more than thirty-two characters", KEY_BEFORE)
#define ONLY(key)               ((struct key_pair){ key, NULL })
#define KEYS                    ((struct key_pair){ KEY, KEY_OF_BEFORE })

static struct str folded(const char *typed)
{
    struct str out;
    assert_int_equal(phrase_fold(arena, str_from(typed), &out), ST_OK);
    return out;
}

TEST(width_case_blanks_and_composition_do_not_matter_and_others_stay_different)
{
    static const struct {
        const char *one, *same[6];
    } rows[] = { { "Hello", { "hELLO" } },
                 { "ｈｅｌｌｏ１２３", { "hello123" } },
                 { "  恭喜发财\u3000", { "恭喜发财" } },
                 { "happy \t  new\u3000year", { "Happy New Year" } },
                 { "caf\u00e9", { "CAFE\u0301", "cafe\uFE0F\u0301" } },
                 { "Straße", { "STRASSE" } },
                 { "①", { "1" } },
                 { "ﾊﾛｰ", { "ハロー" } },
                 { "\u2764", { "\u2764\uFE0F", "\u2764\uFE0E" } },
                 { "a\u200Bb", { "ab" } },
                 { "\u00A0x\u00A0", { "x" } },
                 { "\uFE0F 恭喜 \uFE0F", { "恭喜" } },
                 { "a \uFE0F b", { "a b" } },
                 { "it's", { "it’s", "it‘s", "IT\u02bcS", "it\u2032s", "it\u00b4s", "it＇s" } },
                 { "\"hi\"", { "“Hi”", "„hi“", "«hi»", "〝hi〞" } },
                 { "a-b", { "a–b", "a—b", "a\u2011b", "a\u2212b", "a--b" } }, /* phones make one dash of two hyphens */
                 { "新年——快乐", { "新年-快乐" } },
                 { "wait...", { "wait…" } },
                 { "88.8", { "88。8", "８８｡８" } },
                 { "a,b", { "a、b", "a､b" } },
                 { "~o~", { "〜o〜", "～o～" } },
                 { "[a]", { "【a】" } },
                 { "<a>", { "《a》", "〈a〉", "︽a︾" } },
                 { "1/2", { "½", "1\u22152" } },
                 { "a·b", { "a・b", "a･b", "a•b", "a‧b" } },
                 { "葛\U000E0100", { "葛" } },
                 { "👩\u200D👧", { "👩👧" } },
                 { "می\u200Cخواهم", { "میخواهم" } } };
    EACH (row, rows)
        for (size_t k = 0; k < ARRAY_LEN(row->same) && row->same[k] != NULL; k++)
            if (!str_equal(folded(row->one), folded(row->same[k])))
                fail_msg("%s is not %s", row->one, row->same[k]);
    static const char *const other[][2] = { { "恭喜", "恭喜发财" }, { "ab", "a b" },
                                            { "👩", "👨" },           { "👍🏻", "👍🏿" },
                                            { "cafe", "café" },     { "0", "O" },
                                            { "its", "it's" },      { "ab", "a-b" },
                                            { "\"a\"", "'a'" },     { "👩‍👩‍👧", "👩‍👩‍👦" },
                                            { "發財", "发财" },     { "a.b", "a,b" },
                                            { "a.b", "a·b" },       { "[a]", "<a>" },
                                            { "12", "1/2" } };
    for (size_t i = 0; i < ARRAY_LEN(other); i++)
        if (str_equal(folded(other[i][0]), folded(other[i][1])))
            fail_msg("%s is %s", other[i][0], other[i][1]);
}

/* Packets of the version before still exist: their hash is of the phrase as that version folded it. */
TEST(a_phrase_also_has_the_hash_of_the_version_before)
{
    static const struct {
        const char *typed, *before;
    } changed[] = { { "it’s", "it’s" },
                    { "A—b", "a—b" },
                    { "a--b", "a--b" },
                    { "👩\u200D👧", "👩\u200D👧" },
                    { "A。b", "a。b" },
                    { "½", "1\u2044"
                           "2" },
                    { "a・b", "a・b" },
                    { "【a】", "【a】" } };
    EACH (row, changed) {
        struct phrase phrase = { .shown = str_from(row->typed) };
        assert_int_equal(phrase_read(arena, &phrase), ST_OK);
        struct str all = phrase_hashes(arena, KEYS, 7000, &phrase);
        const struct str made[] = { phrase_hash(arena, KEY, 7000, phrase.folded),
                                    phrase_hash(arena, KEY_OF_BEFORE, 7000, phrase.folded),
                                    phrase_hash(arena, KEY_OF_BEFORE, 7000, str_from(row->before)) };
        assert_int_equal(all.len, ARRAY_LEN(made) * PHRASE_HASH_BYTES);
        for (size_t k = 0; k < ARRAY_LEN(made); k++) {
            assert_true(phrase_matches(arena, KEYS, 7000, &phrase, made[k]));
            assert_int_equal(phrase_matches(arena, ONLY(KEY), 7000, &phrase, made[k]), k == 0);
            assert_false(phrase_matches(arena, KEYS, 7001, &phrase, made[k]));
        }
    }
    EACH_TEXT (text, "it's", "恭喜发财", "Straße", "wait…", "\u2764\uFE0F", "a - b") {
        struct phrase phrase = { .shown = str_from(text) };
        assert_int_equal(phrase_read(arena, &phrase), ST_OK);
        assert_true(
            str_equal(phrase_hashes(arena, ONLY(KEY), 7000, &phrase), phrase_hash(arena, KEY, 7000, phrase.folded)));
        assert_true(phrase_matches(arena, KEYS, 7000, &phrase, phrase_hash(arena, KEY_OF_BEFORE, 7000, phrase.folded)));
    }
}

TEST(folding_changes_nothing_more_and_nothing_without_a_picture)
{
    EACH_TEXT (text, "Ｈｅｌｌｏ  Ｗörld", "\u00A8 x", "ﬁ ﬀ", "İstanbul", "❤️ 开\u3000心", "《\u0338",
               "︽\u0338") {
        struct str once = folded(text), twice;
        assert_int_equal(phrase_fold(arena, once, &twice), ST_OK);
        assert_true(str_equal(once, twice));
    }
    assert_int_equal(folded(" \u3000\u200B ").len, 0);
    struct str out;
    assert_int_equal(phrase_fold(arena, STR("\xff"), &out), ST_INVALID);
    /* Open packets have its hash, and during an upgrade processes of two versions run at the same time. */
    EACH_TEXT (text, "\ufffc", "新\ufffc年", "a \ufffc b", "e\ufffc\u0301", "\ufffc \ufffc", "\U0001d159", "\U00013441",
               "\U00013442", "\U00016fe4", "\uffff", "\ufdd0", "\ue000", "李\ue863", "\uf8ff \ue001", "\U000f0000",
               "\u0378", "\u0301", "\u0301e", "\u20dd", "\u17d2", "\u2065", "\ufff0", "\U000e0fff")
        if (!str_equal(folded(text), str_from(text)))
            fail_msg("%s became %.*s", text, STR_ARG(folded(text)));
    assert_true(str_equal(folded("\u200b \ufffc"), STR("\ufffc")));
    assert_true(str_equal(folded("\u0301\ufe0f"), STR("\u0301")));
}

TEST(a_hash_belongs_to_phrase_packet_and_secret_and_a_source_to_packet_and_key)
{
    struct str hash = phrase_hash(arena, KEY, 1, STR("开心"));
    assert_int_equal(hash.len, 32);
    assert_true(str_equal(hash, phrase_hash(arena, KEY, 1, STR("开心"))));
    assert_false(str_equal(hash, phrase_hash(arena, KEY, 1, STR("开心!"))));
    assert_false(str_equal(hash, phrase_hash(arena, KEY, 2, STR("开心"))));
    assert_false(str_equal(hash, phrase_hash(arena, OTHER_KEY, 1, STR("开心"))));
    /* Redis learns no address, and can't tell that two packets had the same visitor. */
    struct str one = phrase_source(arena, KEY, 1, STR("10.0.0.7"), STR("10.0.0.0/24"));
    struct str neighbour = phrase_source(arena, KEY, 1, STR("10.0.0.8"), STR("10.0.0.0/24"));
    const struct str others[] = { neighbour, phrase_source(arena, KEY, 1, STR("10.0.0.7"), STR("10.0.1.0/24")),
                                  phrase_source(arena, KEY, 2, STR("10.0.0.7"), STR("10.0.0.0/24")),
                                  phrase_source(arena, OTHER_KEY, 1, STR("10.0.0.7"), STR("10.0.0.0/24")) };
    assert_int_equal(one.len, PHRASE_SOURCE_BYTES);
    assert_true(str_equal(one, phrase_source(arena, KEY, 1, STR("10.0.0.7"), STR("10.0.0.0/24"))));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(str_equal(one, others[i]));
    assert_true(str_equal(str_skip(one, PHRASE_SOURCE_BYTES / 2), str_skip(neighbour, PHRASE_SOURCE_BYTES / 2)));
}

TEST(a_sealed_phrase_is_read_by_this_service_only_and_without_memory_there_is_none)
{
    struct str shown = STR("开心 Ｈａｐｐｙ"), sealed = phrase_seal(arena, KEY, 7, shown);
    assert_true(str_equal(phrase_unseal(arena, ONLY(KEY), 7, sealed), shown));
    assert_false(str_equal(sealed, phrase_seal(arena, KEY, 7, shown))); /* another nonce */
    assert_int_equal(str_find(sealed, shown), sealed.len);
    assert_null(phrase_unseal(arena, ONLY(KEY), 8, sealed).ptr);
    struct str earlier = phrase_seal(arena, KEY_OF_BEFORE, 7, shown);
    assert_true(str_equal(phrase_unseal(arena, KEYS, 7, earlier), shown));
    assert_null(phrase_unseal(arena, ONLY(KEY), 7, earlier).ptr);
    assert_null(phrase_unseal(arena, ONLY(OTHER_KEY), 7, sealed).ptr);
    assert_null(phrase_unseal(arena, ONLY(KEY), 7, str_slice(sealed, 0, sealed.len - 1)).ptr);
    assert_null(phrase_unseal(arena, ONLY(KEY), 7, STR("short")).ptr);
    char damaged[400];
    assert_in_range(sealed.len, 1, sizeof damaged);
    memcpy(damaged, sealed.ptr, sealed.len);
    damaged[sealed.len - 1] = (char)(damaged[sealed.len - 1] ^ 1);
    assert_null(phrase_unseal(arena, ONLY(KEY), 7, (struct str){ damaged, sealed.len }).ptr);
    enum { COLUMN_BYTES = 400 };
    char text[4 * PHRASE_CODE_POINTS_MAX] = { 0 };
    sealed = phrase_seal(arena, KEY, 7, (struct str){ text, sizeof text });
    assert_in_range(sealed.len, 1, COLUMN_BYTES);
    struct arena *small = arena_new(8, 8);
    struct str out;
    assert_null(phrase_hash(small, KEY, 1, STR("x")).ptr);
    assert_null(phrase_seal(small, KEY, 1, STR("x")).ptr);
    assert_null(phrase_source(small, KEY, 1, STR("x"), STR("y")).ptr);
    assert_int_equal(phrase_fold(small, STR("a long phrase"), &out), ST_NO_MEMORY);
    arena_free(small);
}

TESTS(arena_setup, arena_teardown)
