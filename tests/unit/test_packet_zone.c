/* Months and years of the service's zone, also where clocks change in the night a month begins. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "packet/store.h"

static void a_month_begins_with_its_first_instant(void **state)
{
    (void)state;
    /* Clocks changed at 00:00 on the first of a month: Asuncion 2023-10, Beirut 2012-04 (forward), Amman 1995-09, Lima
     * 1994-04 (back); Apia had no 30 December in 2011. */
    static const char *const zones[] = {
        "Asia/Shanghai", "Europe/Berlin", "America/Asuncion", "America/Havana", "Asia/Beirut",
        "Asia/Amman",    "America/Lima",  "Pacific/Apia",     "Africa/Cairo",   "UTC"
    };
    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        assert_true(clock_zone_set(zones[i]));
        for (int month = 0; month < 12 * 60; month++) {
            const int year = 1980 + month / 12, no = month % 12 + 1;
            const int64_t start = zone_month_start_ms(year, no);
            const struct clock_date first = zone_date(start), before = zone_date(start - 1);
            assert_int_equal(first.year * 12 + first.month, year * 12 + no);
            assert_int_equal(before.year * 12 + before.month, year * 12 + no - 1);
        }
    }
    assert_true(clock_zone_set("UTC"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_month_begins_with_its_first_instant),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
