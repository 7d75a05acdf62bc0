/* The security log: one line for each event, which no client can forge, and which the reference describes. */
#include "base/buf.h"
#include "base/log.h"
#include "support/capture_stderr.h"
#include "support/test.h"
#include "web/security_log.h"

#define REQUEST_ID "0123456789abcdef0123456789abcdef"
#define HOSTILE    "192.0.2.9\nts=x level=warn msg=\"security\" event=login-refused address=192.0.2.66"

static char line[4096]; /* what was logged last */

/* Logs the event for a request of this address and id. address NULL: the parameter is absent. */
static void log_for(const char *address, const char *request_id)
{
    char remote[256];
    char *env[] = { remote, NULL };
    struct fcgi_request request = { .fcgx.envp = env };
    struct exchange x = { .fcgi = &request, .request_id = str_from(request_id) };
    (void)snprintf(remote, sizeof remote, "%s=%s", address == NULL ? "OTHER" : "REMOTE_ADDR", address);
    CAPTURE(line, security_log(&x, SECURITY_LOGIN_REFUSED, 10001, NULL));
}

static void assert_ends(const char *want)
{
    size_t len = strlen(line), want_len = strlen(want);
    assert_true(len >= want_len);
    assert_string_equal(line + len - want_len, want);
    assert_ptr_equal(strchr(line, '\n'), line + len - 1);
}

TEST(a_line_has_event_user_address_request_and_the_pairs_of_the_caller)
{
    log_init("auth", LOG_INFO);
    log_for("192.0.2.1", REQUEST_ID);
    assert_non_null(strstr(line, " level=warn role=auth pid="));
    assert_ends(" msg=\"security\" event=login-refused user_id=10001 address=192.0.2.1 request_id=" REQUEST_ID "\n");
    char *env[] = { NULL };
    struct fcgi_request request = { .fcgx.envp = env };
    struct exchange x = { .fcgi = &request, .request_id = STR(REQUEST_ID) };
    CAPTURE(line, security_log(&x, SECURITY_TOKEN_MADE, 10001, "token_id=%d", 7));
    assert_ends(" event=token-made user_id=10001 address=- request_id=" REQUEST_ID " token_id=7\n");
    assert_non_null(strstr(line, " level=info "));
}

TEST(an_address_has_one_spelling)
{
    static const struct {
        const char *remote, *want;
    } cases[] = { { "192.0.2.1", "192.0.2.1" },
                  { "2001:db8::7", "2001:db8::7" },
                  { "2001:DB8:0:0:0:0:0:7", "2001:db8::7" },
                  { "::ffff:192.0.2.1", "192.0.2.1" },
                  { "::1", "::1" },
                  { "unix:", "unix" },
                  { "", "-" },
                  { "localhost", "-" },
                  { "192.0.2.1 ", "-" },
                  { "192.0.2.1, 192.0.2.2", "-" },
                  { HOSTILE, "-" },
                  { "2001:db8:0:0:0:0:0:0000000000000000000000000000007", "-" } };
    EACH (row, cases) {
        char out[ADDRESS_TEXT_MAX];
        assert_string_equal(address_text(str_from(row->remote), out), row->want);
    }
    char out[ADDRESS_TEXT_MAX];
    assert_string_equal(address_text(STR_NONE, out), "-");
    assert_string_equal(address_text(STR("192.0.2.1\0x"), out), "-");
}

TEST(neither_a_request_nor_the_error_of_a_store_can_forge_a_line)
{
    log_for(HOSTILE, REQUEST_ID);
    assert_ends(" address=- request_id=" REQUEST_ID "\n");
    log_for(NULL, "x\" address=192.0.2.66 request_id=y");
    assert_ends(" address=- request_id=-\n");
    log_for(NULL, "0123456789ABCDEF0123456789abcdef");
    assert_ends(" address=- request_id=-\n");
    char big[2 * LOG_LINE_MAX];
    CAPTURE(line, security_role_refused("mysql", STR("denied to 'x'@\"y\"\nts=1")));
    assert_non_null(strstr(line, " level=error "));
    assert_ends(" event=role-refused store=mysql error=\"denied to 'x'@\\\"y\\\"\\x0ats=1\"\n");
    memset(big, 'x', sizeof big);
    CAPTURE(line, security_role_refused("redis", (struct str){ big, sizeof big }));
    assert_ends("xxx\"\n");
}

/* docs/reference/log.md has a row for each event. */
TEST(each_event_is_described)
{
    struct buf page = BUF_EMPTY;
    assert_int_equal(buf_file(&page, HB_SOURCE_DIR "/docs/reference/log.md"), ST_OK);
    for (int i = 0; i < SECURITY_EVENT_COUNT; i++) {
        char row[64];
        (void)snprintf(row, sizeof row, "\n| `%s` | ", security_event_name((enum security_event)i));
        if (str_find(buf_view(&page), str_from(row)) == page.len)
            fail_msg("docs/reference/log.md has no row for the event %s", row);
    }
    buf_free(&page);
}

TESTS(NULL, NULL)
