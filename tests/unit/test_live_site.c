/* The identity of a site: what a mark says, and whether it belongs to the tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <string.h>

#include "base/array.h"
#include "live/site.h"

#define ID    "0123456789abcdef0123456789abcdef"
#define OTHER "ffffffffffffffffffffffffffffffff"

static enum site_verdict compared(uint64_t generation, const char *mark)
{
    struct site_mark row = { .id = ID, .generation = generation };
    return site_compare(&row, mark == NULL ? STR_NONE : str_from(mark));
}

static void a_mark_is_read_as_it_was_written(void **state)
{
    static const uint64_t generations[] = { 0, 1, UINT64_MAX };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(generations); i++) {
        char text[SITE_MARK_MAX];
        struct site_mark mark = { .id = ID, .generation = generations[i] }, back;
        assert_true(site_mark_read(site_mark_text(&mark, text), &back));
        assert_string_equal(back.id, ID);
        assert_true(back.generation == generations[i]);
    }
}

static void what_is_no_mark_is_taken_for_none(void **state)
{
    static const char *const texts[] = { "",
                                         " ",
                                         ID,
                                         ID " ",
                                         ID " x",
                                         ID " -1",
                                         ID " 1 2",
                                         ID " older",
                                         ID " 1 older ",
                                         ID "0 1",
                                         " " ID,
                                         "0123 1",
                                         ID "\t1",
                                         "0123456789ABCDEF0123456789ABCDEF 1",
                                         "g123456789abcdef0123456789abcdef 1" };
    struct site_mark mark;
    (void)state;
    assert_false(site_mark_read(STR_NONE, &mark));
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        if (site_mark_read(str_from(texts[i]), &mark))
            fail_msg("%s", texts[i]);
        assert_int_equal(compared(3, texts[i]), SITE_UNMARKED);
    }
}

static void a_mark_is_of_the_present_generation_or_of_the_one_before(void **state)
{
    (void)state;
    assert_int_equal(compared(5, ID " 5"), SITE_AGREES);
    assert_int_equal(compared(5, ID " 4"), SITE_AGREES); /* a worker died before it had raised it */
    assert_int_equal(compared(5, ID " 3"), SITE_REDIS_OLDER);
    assert_int_equal(compared(5, ID " 6"), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, ID " 5 older"), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, ID " 4 older"), SITE_TABLES_OLDER);
    assert_int_equal(compared(5, OTHER " 5 older"), SITE_OTHER);
    assert_int_equal(compared(0, ID " 0"), SITE_AGREES);
    assert_int_equal(compared(0, ID " 18446744073709551615"), SITE_TABLES_OLDER);
    assert_int_equal(compared(UINT64_MAX, ID " 0"), SITE_REDIS_OLDER);
}

static void another_id_is_another_site_whatever_its_generation(void **state)
{
    (void)state;
    assert_int_equal(compared(5, OTHER " 5"), SITE_OTHER);
    assert_int_equal(compared(0, OTHER " 9"), SITE_OTHER);
}

static void without_a_mark_the_worker_compares_first(void **state)
{
    (void)state;
    assert_int_equal(compared(0, NULL), SITE_UNCOMPARED);
    assert_int_equal(compared(1, NULL), SITE_UNMARKED);
    assert_false(site_may_serve(SITE_UNCOMPARED));
    assert_true(site_may_serve(SITE_UNMARKED));
}

static void every_verdict_has_words(void **state)
{
    (void)state;
    for (int v = SITE_AGREES; v <= SITE_UNKNOWN; v++)
        assert_true(strlen(site_verdict_text((enum site_verdict)v)) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_mark_is_read_as_it_was_written),
        cmocka_unit_test(what_is_no_mark_is_taken_for_none),
        cmocka_unit_test(a_mark_is_of_the_present_generation_or_of_the_one_before),
        cmocka_unit_test(another_id_is_another_site_whatever_its_generation),
        cmocka_unit_test(without_a_mark_the_worker_compares_first),
        cmocka_unit_test(every_verdict_has_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
