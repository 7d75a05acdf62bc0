/* What every C test includes: cmocka, and tests that are registered where they are written.
 *
 *     TEST(a_sum_is_exact) { … }                              a test; *state is what the setup of the group left
 *     TEST_WITH(a_file_is_read, file_make, file_remove) { … } with a setup and a teardown of its own, or NULL
 *     TESTS(setup, teardown)                                  once, at the end: main, which runs them in their order
 *
 *     EACH (row, rows)                                        a loop; row points at each row of an array
 *     EACH_TEXT (text, "a", "b")                              text is each of these, and list_text all of them
 *         assert_of(text, is_word(text));                     a failure names the text and the condition
 *     assert_ints({ a, 1 }, { b, 2 });                        pairs of what there is and what is wanted
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

#include "base/array.h"

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

#define EACH(row, rows) for (__typeof__(&(rows)[0]) row = (rows); row < (rows) + sizeof(rows) / sizeof *(rows); row++)

#define EACH_TEXT(text, ...)                                                                                           \
    for (const char *const list_##text[] = { __VA_ARGS__, NULL }, *const *at_##text = list_##text, *text;              \
         ((text) = *at_##text) != NULL; at_##text++)

#define assert_of(text, condition)                                                                                     \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            fail_msg("\"%s\": %s", text, #condition);                                                                  \
    } while (0)

/* Has every value of 64 bits, with a sign or without. */
__extension__ typedef __int128 whole_number;

#define assert_ints(...)                                                                                               \
    assert_ints_at((const whole_number[][2]){ __VA_ARGS__ }, sizeof((const whole_number[][2]){ __VA_ARGS__ }),         \
                   #__VA_ARGS__, __FILE__, __LINE__)

static inline void assert_ints_at(const whole_number (*pairs)[2], size_t bytes, const char *text, const char *file,
                                  int line)
{
    for (size_t i = 0; i < bytes / sizeof *pairs; i++) {
        if (pairs[i][0] == pairs[i][1])
            continue;
        print_error("pair %zu of %s: %lld instead of %lld\n", i + 1, text, (long long)pairs[i][0],
                    (long long)pairs[i][1]);
        _fail(file, line);
    }
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
