/* Log lines: one write each, and no client can forge one. */
#include <errno.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/utf8.h"
#include "support/assert_text.h"
#include "support/capture_stderr.h"

static char line[3 * LOG_LINE_MAX]; /* what was logged last */

/* Expects these parts of what the call logs. */
#define LOGS(call, ...)                                                                                                \
    do {                                                                                                               \
        CAPTURE(line, call);                                                                                           \
        assert_parts(line, __VA_ARGS__);                                                                               \
    } while (0)

TEST(a_line_is_logfmt_with_time_level_role_and_words)
{
    log_init("settle", LOG_INFO);
    CAPTURE(line, log_warn("cursor moved", "partition=%d id=%s", 7, "1-2"));
    assert_int_equal(strncmp(line, "ts=2", 4), 0);
    assert_non_null(strstr(line, "Z level=warn role=settle pid="));
    assert_non_null(strstr(line, " msg=\"cursor moved\" partition=7 id=1-2\n"));
    LOGS(log_error("bare", NULL), " level=error role=settle ", " msg=\"bare\"\n");
}

TEST(a_line_in_the_journal_begins_with_its_priority)
{
    char stream[64];
    struct stat st;
    int fds[2], stderr_kept = dup(STDERR_FILENO);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(fstat(fds[1], &st), 0);
    (void)snprintf(stream, sizeof stream, "%llu:%llu", (unsigned long long)st.st_dev, (unsigned long long)st.st_ino);
    assert_int_equal(setenv("JOURNAL_STREAM", stream, 1), 0);
    assert_int_equal(dup2(fds[1], STDERR_FILENO), STDERR_FILENO);
    log_init("settle", LOG_INFO);
    log_warn("cursor moved", NULL);
    assert_int_equal(dup2(stderr_kept, STDERR_FILENO), STDERR_FILENO);
    ssize_t len = read(fds[0], line, sizeof line);
    assert_in_range(len, 20, sizeof line);
    assert_memory_equal(line, "<4>ts=2", 7);
    log_init("settle", LOG_INFO); /* stderr is no journal now */
    CAPTURE(line, log_warn("cursor moved", NULL));
    assert_memory_equal(line, "ts=2", 4);
    assert_int_equal(unsetenv("JOURNAL_STREAM") | close(fds[0]) | close(fds[1]) | close(stderr_kept), 0);
}

TEST(lines_below_the_minimum_are_not_written_and_errno_is_kept)
{
    log_init("hot", LOG_WARN);
    CAPTURE(line, log_info("quiet", NULL));
    assert_string_equal(line, "");
    CAPTURE(line, log_warn("loud", NULL));
    assert_int_not_equal(strlen(line), 0);
    errno = EAGAIN;
    CAPTURE(line, errno = EDOM; log_info("x", NULL); assert_int_equal(errno, EDOM));
}

TEST(an_endless_line_is_cut_and_still_ends)
{
    char big[2 * LOG_LINE_MAX];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    log_init("hot", LOG_INFO);
    CAPTURE(line, log_info("cut", "text=%s", big));
    size_t len = strlen(line);
    assert_in_range(len, LOG_LINE_MAX - 10, LOG_LINE_MAX);
    assert_ptr_equal(strchr(line, '\n'), line + len - 1);
    for (size_t shift = 0; shift < 4; shift++) { /* no character loses its end */
        memset(big, 'x', shift);
        for (size_t i = shift; i + 4 < sizeof big; i += 4)
            memcpy(big + i, "\xf0\x9f\xa7\xa7", 4);
        CAPTURE(line, log_info("cut", "text=%s", big));
        assert_true(utf8_valid(str_from(line)));
        assert_in_range(strlen(line), LOG_LINE_MAX - 10, LOG_LINE_MAX);
    }
    CAPTURE(line, log_info(big, NULL));
    assert_ptr_equal(strchr(line, '\n'), line + strlen(line) - 1);
}

static void assert_quoted(struct str s, const char *want)
{
    char out[256];
    assert_string_equal(log_quote(s, out, sizeof out), want);
}

TEST(text_from_outside_can_not_leave_its_quotes_also_when_it_is_cut)
{
    assert_quoted(STR("plain 恭喜 🧧"), "\"plain 恭喜 🧧\"");
    assert_quoted(STR_NONE, "\"\"");
    assert_quoted(STR("a\" level=error msg=\"b"), "\"a\\\" level=error msg=\\\"b\"");
    assert_quoted(STR("a\nts=2026"), "\"a\\x0ats=2026\"");
    assert_quoted(STR("a\r\0\x1b[2J"), "\"a\\x0d\\x00\\x1b[2J\"");
    assert_quoted(STR("\\x0a"), "\"\\\\x0a\"");
    assert_quoted(STR("%s%n"), "\"%s%n\"");
    assert_quoted(STR("\302\23331m"), "\"\\xc2\\x9b31m\"");  /* C1 control: CSI */
    assert_quoted(STR("a\u202eb"), "\"a\\xe2\\x80\\xaeb\""); /* bidi override */
    assert_quoted(STR("\u2028\u2066\ufeff\u061c"), "\"\\xe2\\x80\\xa8\\xe2\\x81\\xa6\\xef\\xbb\\xbf\\xd8\\x9c\"");
    assert_quoted(STR("\xff\xe6\x81"), "\"\\xff\\xe6\\x81\""); /* broken UTF-8 */
    assert_quoted(STR("…—"), "\"…—\"");                        /* U+2026, U+2014: punctuation stays */
    for (size_t size = 3; size < 40; size++) {
        char out[64];
        memset(out, '#', sizeof out);
        (void)log_quote(STR("ab\"\n恭喜\xff发财"), out, size);
        size_t len = strlen(out);
        assert_true(len < size);
        assert_ints({ out[0], '"' }, { out[len - 1], '"' }, { out[size], '#' });
        assert_true(utf8_valid((struct str){ out, len }));
        if (len >= 3)
            assert_false(out[len - 2] == '\\' && out[len - 3] != '\\');
    }
}

TEST(a_line_about_a_request_ends_with_its_id_once)
{
    log_init("page", LOG_INFO);
    log_request(STR("00112233445566778899aabbccddeeff"));
    LOGS(log_warn("deposit", "user_id=%d", 7), " user_id=7 request_id=00112233445566778899aabbccddeeff\n");
    LOGS(log_warn("security", "request_id=%s scope=x", "00112233445566778899aabbccddeeff"),
         "\" request_id=00112233445566778899aabbccddeeff scope=x\n");
    static const struct str none[] = { { "", 0 },
                                       { "00112233445566778899aabbccddeef", 31 },
                                       { "00112233445566778899aabbccddeefF", 32 },
                                       { "00112233445566778899aabbccdde\n=x", 32 } };
    for (size_t i = 0; i < ARRAY_LEN(none); i++) {
        log_request(none[i]);
        LOGS(log_warn("deposit", "user_id=%d", 7), " user_id=7\n");
    }
}

TESTS(NULL, NULL)
