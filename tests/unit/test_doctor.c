/* ops/doctor, ops/findings: the parts of the doctor that need no server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "ops/doctor_internal.h"
#include "ops/doctor_words.h"

static struct arena *arena;

static int begin(void **state)
{
    (void)state;
    arena = arena_new(4096, 1 << 22);
    return arena == NULL ? -1 : 0;
}

static int end(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void the_port_of_a_listen_is_read_in_all_its_forms(void **state)
{
    static const struct {
        const char *listen;
        unsigned port;
    } cases[] = {
        { "443 ssl http2", 443 },
        { "127.0.0.1:8080", 8080 },
        { "[::]:81 default_server", 81 },
        { "[::1]", 80 },
        { "example.net", 80 },
        { "example.net:8443 ssl", 8443 },
        { "*:65535", 65535 },
        { "65536", 0 },
        { "unix:/run/a:443 ssl", 0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(doctor_listen_port(cases[i].listen), cases[i].port);
    assert_true(doctor_listen_has("443 http2 ssl", STR("ssl")));
    assert_false(doctor_listen_has("443 sslx", STR("ssl")));
    assert_false(doctor_listen_has("443", STR("ssl")));
}

static void the_host_and_the_port_of_base_url_are_read(void **state)
{
    static const struct {
        const char *url, *host;
        unsigned port;
        bool tls;
    } cases[] = {
        { "https://hongbao.example", "hongbao.example", 443, true },
        { "http://hongbao.example", "hongbao.example", 80, false },
        { "http://127.0.0.1:8080", "127.0.0.1", 8080, false },
        { "https://[::1]:8443", "::1", 8443, true },
        { "https://[2001:db8::1]", "2001:db8::1", 443, true },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct config config;
        char host[DOCTOR_HOST_MAX];
        bool tls = !cases[i].tls;
        (void)snprintf(config.base_url, sizeof config.base_url, "%s", cases[i].url);
        assert_int_equal(doctor_base_url(&config, &tls, host), cases[i].port);
        assert_string_equal(host, cases[i].host);
        assert_int_equal(tls, cases[i].tls);
    }
}

static void words_that_another_set_lacks_are_listed_up_to_five(void **state)
{
    struct words a = { .count = 0 }, b = { .count = 0 };
    (void)state;
    words_add_all(&a, STR("get  set get mget"));
    words_add_all(&b, STR("set"));
    assert_int_equal(a.count, 3);
    assert_string_equal(words_without(&a, &b, arena), "get, mget");
    assert_string_equal(words_without(&b, &a, arena), "");
    words_add_all(&a, STR("a b c d"));
    assert_string_equal(words_without(&a, &b, arena), "get, mget, a, b, c and 1 more");
}

static void what_is_wrong_comes_first_and_what_is_skipped_is_left_out(void **state)
{
    char text[512] = "";
    struct findings found = { .arena = arena, .skip = { "known" }, .skip_count = 1 };
    FILE *out = fmemopen(text, sizeof text, "w");
    (void)state;
    assert_non_null(out);
    finding_unchecked(&found, "clock", "no %s", "clock");
    finding_wrong(&found, "known", "mend", "known");
    finding_wrong(&found, "first", "this", "is \"%s\"", "bad");
    finding_wrong(&found, "second", "that", "two\r\nlines");
    assert_int_equal(found.wrong, 2);
    assert_int_equal(found.unchecked, 1);
    assert_true(findings_print(&found, out));
    assert_string_equal(text, "wrong: first: is \"bad\"\n    mend: this\nwrong: second: two  lines\n    mend: that\n"
                              "not checked: clock: no clock\n");
    rewind(out);
    memset(text, 0, sizeof text);
    assert_true(findings_print_json(&found, STR("2026-11-28T03:41:07.112Z"), out));
    assert_string_equal(text,
                        "{\"ok\":false,\"wrong\":[{\"name\":\"first\",\"text\":\"is \\\"bad\\\"\",\"mend\":\"this\"},"
                        "{\"name\":\"second\",\"text\":\"two  lines\",\"mend\":\"that\"}],"
                        "\"unchecked\":[{\"name\":\"clock\",\"text\":\"no clock\"}],"
                        "\"audited_at\":\"2026-11-28T03:41:07.112Z\"}\n");
    assert_int_equal(fclose(out), 0);
}

static void several_subjects_of_one_cause_are_one_finding(void **state)
{
    char text[1024] = "";
    struct findings found = { .arena = arena };
    FILE *out = fmemopen(text, sizeof text, "w");
    (void)state;
    assert_non_null(out);
    static const char *const files[] = { "a", "b", "a", "c", "d", "e", "f" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        finding_of(&found, "file", "chmod {} # all", "these are open", files[i]);
        finding_of(&found, "file", "chmod {}", "these are closed", "only");
    }
    assert_int_equal(found.wrong, 2);
    assert_true(findings_print(&found, out));
    assert_string_equal(text,
                        "wrong: file: these are open: a; b; c; d; e; and 1 more\n    mend: chmod a b c d e f # all\n"
                        "wrong: file: these are closed: only\n    mend: chmod only\n");
    assert_int_equal(fclose(out), 0);
}

static void the_manual_is_named_with_the_folder_in_which_it_is_installed(void **state)
{
    char text[512] = "";
    struct findings found = { .arena = arena, .manual = "/usr/share/doc/x/docs" };
    FILE *out = fmemopen(text, sizeof text, "w");
    (void)state;
    assert_non_null(out);
    finding_wrong(&found, "one", "docs/a.md", "see (docs/how-to/b.md), not /srv/docs/c.md or mydocs/d.md");
    assert_true(findings_print(&found, out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(text, "wrong: one: see (/usr/share/doc/x/docs/how-to/b.md), not /srv/docs/c.md or mydocs/d.md\n"
                              "    mend: /usr/share/doc/x/docs/a.md\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_port_of_a_listen_is_read_in_all_its_forms),
        cmocka_unit_test(the_host_and_the_port_of_base_url_are_read),
        cmocka_unit_test(words_that_another_set_lacks_are_listed_up_to_five),
        cmocka_unit_test(what_is_wrong_comes_first_and_what_is_skipped_is_left_out),
        cmocka_unit_test(several_subjects_of_one_cause_are_one_finding),
        cmocka_unit_test(the_manual_is_named_with_the_folder_in_which_it_is_installed),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
