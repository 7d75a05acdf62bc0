/* Crash points kill exactly at the configured pass, so that a fault test can be repeated. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crash.h"
#include "support/test.h"

#ifdef HB_CRASH_POINTS
static const bool compiled_in = true;
#else
static const bool compiled_in = false;
#endif

/* A child passes point "a" three times, then "b" once. The number of passes it survived, written to a pipe. */
static int passes_survived(const char *wanted)
{
    int ends[2], passes = 0, how;
    char byte;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (setenv("HB_CRASH", wanted, 1) != 0)
            _exit(1);
        for (int i = 0; i < 4; i++) {
            if (i < 3)
                crash_point("a");
            else
                crash_point("b");
            if (write(ends[1], "x", 1) != 1)
                _exit(1);
        }
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &byte, 1) == 1)
        passes++;
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    if (passes == 4)
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    else
        assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL);
    return passes;
}

TEST(the_named_point_kills_at_the_nth_pass_and_other_points_and_later_passes_live)
{
    EACH_TEXT (point, "", "a:4", "b:2", "ab:1", ":1")
        assert_of(point, passes_survived(point) == 4);
    if (!compiled_in)
        skip();
    assert_int_equal(passes_survived("a:1"), 0);
    assert_int_equal(passes_survived("a:3"), 2);
    assert_int_equal(passes_survived("a"), 0);
    assert_int_equal(passes_survived("b:1"), 3);
}

TEST(every_point_of_the_program_is_listed_once)
{
    char *listed = NULL;
    size_t size;
    FILE *out = open_memstream(&listed, &size);
    assert_non_null(out);
    assert_true(crash_points_print(out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(listed, compiled_in ? "a\nb\n" : "");
    free(listed);
}

TESTS(NULL, NULL)
