/* Comparing texts: a failure shows both. */
#ifndef HB_TESTS_SUPPORT_ASSERT_TEXT_H
#define HB_TESTS_SUPPORT_ASSERT_TEXT_H

#include "base/str.h"
#include "support/test.h"

#define assert_text(got, wanted) assert_text_at(got, wanted, __FILE__, __LINE__)

static inline void assert_text_at(struct str got, const char *wanted, const char *file, int line)
{
    if (str_equal(got, str_from(wanted)))
        return;
    print_error("\"%.*s\" instead of \"%s\"\n", STR_ARG(got), wanted);
    _fail(file, line);
}

/* Expects these parts in a text. "!" before a part: it must be missing. */
#define assert_parts(text, ...) assert_parts_at(text, (const char *const[]){ __VA_ARGS__, NULL }, __FILE__, __LINE__)

static inline void assert_parts_at(const char *text, const char *const *parts, const char *file, int line)
{
    for (; *parts != NULL; parts++) {
        bool missing = **parts == '!';
        if ((strstr(text, *parts + missing) == NULL) == missing)
            continue;
        print_error("\"%s\" in: %s\n", *parts, text);
        _fail(file, line);
    }
}

#endif
