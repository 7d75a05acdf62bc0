#include "base/crash.h"

#ifdef HB_CRASH_POINTS

#include <assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"

enum { POINTS_MAX = 256 };

/* Weak: a program without crash points has no such section. */
extern const char *const __start_hb_crash_points[] __attribute__((weak, visibility("hidden")));
extern const char *const __stop_hb_crash_points[] __attribute__((weak, visibility("hidden")));

bool crash_is_due(const char *name)
{
    static uint64_t passed; /* one name per process, so one count is enough */
    struct str times;
    uint64_t n;

    struct str wanted = str_cut(str_from(getenv("HB_CRASH")), ':', &times);
    if (wanted.len == 0 || !str_equal(wanted, str_from(name)))
        return false;
    if (!str_to_u64(times, &n))
        n = 1;
    return ++passed == n;
}

void crash_now(const char *name)
{
    char line[128];
    int len = snprintf(line, sizeof line, "crash point %s\n", name);
    ssize_t written = write(STDERR_FILENO, line, (size_t)len < sizeof line ? (size_t)len : sizeof line - 1);
    (void)written; /* nothing can be done about a failure */
    (void)raise(SIGKILL);
    abort(); /* not reached: SIGKILL can't be blocked */
}

static int name_order(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

bool crash_points_print(FILE *out)
{
    const char *names[POINTS_MAX];
    size_t count = 0;
    /* cppcheck-suppress comparePointers ; the linker makes them the ends of one array */
    for (const char *const *p = __start_hb_crash_points; p < __stop_hb_crash_points; p++) {
        assert(count < POINTS_MAX);
        names[count++] = *p;
    }
    qsort(names, count, sizeof names[0], name_order);
    for (size_t i = 0; i < count; i++)
        if (fprintf(out, "%s\n", names[i]) < 0)
            return false;
    return fflush(out) == 0;
}

#else

bool crash_points_print(FILE *out)
{
    return fflush(out) == 0;
}

#endif
