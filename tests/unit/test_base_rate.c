/* base/rate: the words of the settings limit_…. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/rate.h"

static void a_rate_is_a_number_at_once_and_a_number_in_a_time(void **state)
{
    static const struct {
        const char *text;
        int64_t at_once, every_us;
    } rates[] = { { "120 2/s", 120, 500000 },
                  { "1 1/m", 1, 60000000 },
                  { "30 4/h", 30, INT64_C(900000000) },
                  { "1000000 1/d", 1000000, INT64_C(86400000000) },
                  { "5 1000000/s", 5, 1 } };
    struct rate rate;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rates); i++) {
        assert_true(rate_read(str_from(rates[i].text), &rate));
        assert_int_equal(rate.count, 1);
        assert_int_equal(rate.tiers[0].at_once, rates[i].at_once);
        assert_int_equal(rate.tiers[0].every_us, rates[i].every_us);
    }
}

static void up_to_three_tiers_apply_together(void **state)
{
    struct rate rate;
    (void)state;
    assert_true(rate_read(STR("5 30/m 10 1/m 30 4/h"), &rate));
    assert_int_equal(rate.count, 3);
    assert_int_equal(rate.tiers[1].at_once, 10);
    assert_int_equal(rate.tiers[2].every_us, INT64_C(900000000));
    assert_false(rate_read(STR("1 1/s 1 1/s 1 1/s 1 1/s"), &rate));
}

static void off_is_no_limit(void **state)
{
    struct rate rate;
    (void)state;
    assert_true(rate_read(STR("off"), &rate));
    assert_int_equal(rate.count, 0);
}

static void a_malformed_rate_is_refused(void **state)
{
    static const char *const texts[] = { "",         "5",      "5 ",      "2/s",         "0 1/s",       "5 0/s",
                                         "5 1/",     "5 1/w",  "5 1/ss",  "5  1/s",      "5 1/s ",      " 5 1/s",
                                         "-5 1/s",   "5 -1/s", "5 1/s 6", "1000001 1/s", "5 1000001/s", "off off",
                                         "5 1/s off" };
    struct rate rate;
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (rate_read(str_from(texts[i]), &rate))
            fail_msg("\"%s\" was read", texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_is_a_number_at_once_and_a_number_in_a_time),
        cmocka_unit_test(up_to_three_tiers_apply_together),
        cmocka_unit_test(off_is_no_limit),
        cmocka_unit_test(a_malformed_rate_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
