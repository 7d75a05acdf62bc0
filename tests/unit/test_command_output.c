/* doctor/command_output: the output of a command, or its failure. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "doctor/command_output.h"
#include "support/test.h"

enum { PRINTED_BYTES = 100000, LIMIT_BYTES = 64 << 10, LIMIT_MS = 60 * 1000, SHORT_MS = 50 };

/* Whether the shell's script succeeds; what it prints is in out. */
static bool script(const char *text, struct buf *out)
{
    return command_output((const char *const[]){ "sh", "-c", text, NULL }, LIMIT_MS, out);
}

TEST(test_the_output_is_read_whole_and_appended)
{
    struct buf out = BUF_EMPTY;
    buf_cstr(&out, "before ");
    assert_true(script("echo one; echo not this >&2; echo two", &out));
    assert_true(str_equal(buf_view(&out), STR("before one\ntwo\n")));
    buf_reset(&out);
    assert_true(script("head -c 100000 /dev/zero", &out));
    assert_int_equal(out.len, PRINTED_BYTES);
    buf_free(&out);
}

TEST(test_a_command_has_no_input)
{
    int own[2], before = dup(STDIN_FILENO);
    struct buf out = BUF_EMPTY;
    assert_int_equal(pipe(own), 0);
    assert_int_equal(write(own[1], "own input", 9), 9);
    (void)close(own[1]);
    assert_int_equal(dup2(own[0], STDIN_FILENO), STDIN_FILENO);
    assert_true(script("cat", &out));
    (void)dup2(before, STDIN_FILENO);
    (void)close(before);
    (void)close(own[0]);
    assert_int_equal(out.len, 0);
    buf_free(&out);
}

TEST(a_command_that_fails_or_ends_by_sigpipe_is_told)
{
    struct buf out = BUF_EMPTY;
    assert_false(script("echo x; exit 3", &out));
    assert_false(script("kill -9 $$", &out));
    assert_false(command_output((const char *const[]){ "/nowhere/command", NULL }, LIMIT_MS, &out));
    buf_free(&out);
    void (*before)(int) = signal(SIGPIPE, SIG_IGN);
    assert_false(script("kill -PIPE $$; exit 0", &out));
    (void)signal(SIGPIPE, before);
    buf_free(&out);
}

TEST(a_command_that_prints_more_than_the_limit_or_does_not_end_is_killed)
{
    struct buf out = { .limit = LIMIT_BYTES };
    assert_false(script("head -c 100000 /dev/zero; exec cat /dev/zero", &out));
    buf_reset(&out);
    /* The command ends well, but a process that it leaves behind prints too much. */
    assert_false(
        script("{ while grep -q '^State:.[^Z]' /proc/$$/status; do :; done; exec cat /dev/zero; } & exit 0", &out));
    buf_free(&out);
    struct buf none = BUF_EMPTY;
    assert_false(command_output((const char *const[]){ "sleep", "infinity", NULL }, SHORT_MS, &none));
    assert_false(command_output((const char *const[]){ "sh", "-c", "exec sleep infinity >&-", NULL }, SHORT_MS, &none));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    buf_free(&none);
}

TESTS(NULL, NULL)
