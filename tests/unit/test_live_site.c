/* The identity of a site: what a mark says, and whether it belongs to the tables. */
#include "live/site.h"
#include "support/test.h"

#define ID    "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"

static enum site_verdict compared(uint64_t generation, struct str mark)
{
    struct site_mark row = { .id = ID, .generation = generation };
    return site_compare(&row, mark);
}

TEST(a_mark_is_read_as_it_was_written_and_anything_else_is_none)
{
    static const uint64_t generations[] = { 0, 1, UINT64_MAX };
    for (size_t i = 0; i < ARRAY_LEN(generations); i++) {
        char text[SITE_MARK_MAX];
        struct site_mark mark = { .id = ID, .generation = generations[i] }, back;
        assert_true(site_mark_read(site_mark_text(&mark, text), &back));
        assert_string_equal(back.id, ID);
        assert_true(back.generation == generations[i]);
    }
    struct str texts = STR("| |" ID "|" ID " |" ID " x|" ID " -1|" ID " 1 2|" ID " older|" ID " 1 older |" ID "0 1| " ID
                           "|0123 1|" ID "\t1|0123456789ABCDEF0123456789ABCDEF 1|g123456789abcdef0123456789abcdef 1");
    struct site_mark none;
    assert_false(site_mark_read(STR_NONE, &none));
    while (texts.ptr != NULL) {
        const struct str text = str_cut(texts, '|', &texts);
        if (site_mark_read(text, &none) || compared(3, text) != SITE_UNMARKED)
            fail_msg("%.*s", STR_ARG(text));
    }
}

TEST(a_mark_is_of_this_site_and_of_the_present_generation_or_the_one_before)
{
    assert_int_equal(compared(5, STR(ID " 5")), SITE_AGREES);
    assert_int_equal(compared(5, STR(ID " 4")), SITE_AGREES); /* a worker died before it had raised it */
    assert_int_equal(compared(5, STR(ID " 3")), SITE_REDIS_OLDER);
    assert_int_equal(compared(5, STR(ID " 6")), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, STR(ID " 5 older")), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, STR(ID " 4 older")), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, STR(OTHER " 5 older")), SITE_OTHER);
    assert_int_equal(compared(0, STR(ID " 0")), SITE_AGREES);
    assert_int_equal(compared(0, STR(ID " 18446744073709551615")), SITE_TABLES_OLDER);
    assert_int_equal(compared(UINT64_MAX, STR(ID " 0")), SITE_REDIS_OLDER);
    assert_int_equal(compared(5, STR(OTHER " 5")), SITE_OTHER);
    assert_int_equal(compared(0, STR(OTHER " 9")), SITE_OTHER);
    assert_int_equal(compared(0, STR_NONE), SITE_UNCOMPARED);
    assert_int_equal(compared(1, STR_NONE), SITE_UNMARKED);
    assert_false(site_may_serve(SITE_UNCOMPARED));
    assert_true(site_may_serve(SITE_UNMARKED));
    for (int v = SITE_AGREES; v <= SITE_UNKNOWN; v++)
        assert_true(strlen(site_verdict_text((enum site_verdict)v)) > 0);
}

TESTS(NULL, NULL)
