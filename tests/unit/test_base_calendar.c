/* base/calendar: escapes and folded lines of RFC 5545, 3.1 and 3.3.11. */
#include "base/calendar.h"
#include "base/utf8.h"
#include "support/test.h"

static void written_check(struct buf *out, const char *wanted)
{
    buf_char(out, '\0');
    assert_false(out->failed);
    assert_string_equal(out->ptr, wanted);
    buf_free(out);
}

TEST(a_text_is_escaped_so_nobody_adds_a_line_and_a_time_is_in_utc)
{
    struct buf out = BUF_EMPTY;
    calendar_text(&out, "SUMMARY", STR("a,b;c\\d:e\"\nf\r\tg\x7f"));
    written_check(&out, "SUMMARY:a\\,b\\;c\\\\d:e\"\\nfg\r\n");
    calendar_line(&out, "URL", STR("https://a.example/?b=1,2;3"));
    written_check(&out, "URL:https://a.example/?b=1,2;3\r\n");
    calendar_text(&out, "SUMMARY", STR(""));
    written_check(&out, "SUMMARY:\r\n");
    calendar_text(&out, "SUMMARY", STR("a\r\nATTENDEE:mailto:b@c.example"));
    written_check(&out, "SUMMARY:a\\nATTENDEE:mailto:b@c.example\r\n");
    char text[CALENDAR_TIME_MAX];
    assert_string_equal(calendar_time(1763625600000 + 5999, text).ptr, "20251120T080005Z");
    assert_string_equal(calendar_time(0, text).ptr, "19700101T000000Z");
}

/* 66 bytes of text fill the line of "SUMMARY:" and one more byte; the next line has 74 after its blank. */
TEST(a_line_has_at_most_75_bytes)
{
    struct buf out = BUF_EMPTY;
    const char *digits67 = "1234567890123456789012345678901234567890123456789012345678901234567";
    calendar_text(&out, "SUMMARY", str_from(digits67));
    written_check(&out, "SUMMARY:1234567890123456789012345678901234567890123456789012345678901234567\r\n");
    calendar_text(&out, "SUMMARYX", str_from(digits67));
    written_check(&out, "SUMMARYX:123456789012345678901234567890123456789012345678901234567890123456\r\n 7\r\n");
}

/* Every line end, folded or not, stands between whole characters and whole escapes. */
TEST(no_character_is_cut)
{
    static const char *const pieces[] = { "恭", "é", "🧧", ",", "a" };
    for (size_t lead = 0; lead < 80; lead++) {
        struct buf text = BUF_EMPTY, out = BUF_EMPTY;
        for (size_t i = 0; i < lead; i++)
            buf_char(&text, 'x');
        for (size_t i = 0; i < 100; i++)
            buf_cstr(&text, pieces[i % 5]);
        calendar_text(&out, "DESCRIPTION", buf_view(&text));
        struct str rest = buf_view(&out);
        size_t lines = 0;
        while (rest.len > 0) {
            struct str line = str_cut(rest, '\n', &rest);
            assert_true(line.len >= 1 && line.len - 1 <= 75);
            assert_int_equal(line.ptr[line.len - 1], '\r');
            assert_true(lines == 0 || line.ptr[0] == ' ');
            assert_true(utf8_valid((struct str){ line.ptr, line.len - 1 }));
            assert_int_not_equal(line.ptr[line.len - 2], '\\');
            lines++;
        }
        assert_true(lines > 3);
        buf_free(&text);
        buf_free(&out);
    }
}

TESTS(NULL, NULL)
