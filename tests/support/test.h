/* What every C test includes: cmocka, and tests that are registered where they are written.
 *
 *     TEST(a_sum_is_exact) { … }                              a test; *state is what the setup of the group left
 *     TEST_WITH(a_file_is_read, file_make, file_remove) { … } with a setup and a teardown of its own, or NULL
 *     TESTS(setup, teardown)                                  once, at the end: main, which runs them in their order
 */
#ifndef HB_TESTS_SUPPORT_TEST_H
#define HB_TESTS_SUPPORT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* The linker puts the pointers of a section into a row, in any order, and defines where it starts and stops. */
#define TEST_WITH(name, setup, teardown)                                                                               \
    static void name(void **);                                                                                         \
    static const struct test_entry name##_test = { __LINE__, cmocka_unit_test_setup_teardown(name, setup, teardown) }; \
    static const struct test_entry *const name##_entry __attribute__((used, section("hb_tests"))) = &name##_test;      \
    static void name(__attribute__((unused)) void **state)

#define TESTS(setup, teardown)                                                                                         \
    int main(void)                                                                                                     \
    {                                                                                                                  \
        return tests_run(setup, teardown);                                                                             \
    }

struct test_entry {
    int line;
    struct CMUnitTest test;
};
extern const struct test_entry *const __start_hb_tests[], *const __stop_hb_tests[];

/* Runs all tests of the program, which are in one file. Returns the number of those that failed. */
static inline int tests_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    size_t count = (size_t)(__stop_hb_tests - __start_hb_tests);
    struct CMUnitTest *tests = calloc(count, sizeof *tests);
    if (tests == NULL)
        return 1;
    for (size_t i = 0; i < count; i++) {
        size_t before = 0;
        for (size_t j = 0; j < count; j++)
            before += __start_hb_tests[j]->line < __start_hb_tests[i]->line;
        tests[before] = __start_hb_tests[i]->test;
    }
    int failed = _cmocka_run_group_tests("tests", tests, count, setup, teardown);
    free(tests);
    return failed;
}

#endif
