/* doctor/doctor, doctor/findings, doctor/doctor_script: the parts of the doctor that need no server. */
#include "doctor/doctor_internal.h"
#include "doctor/doctor_words.h"
#include "support/test_arena.h"

enum { TEXT_BYTES = 4096 };

/* The printed report of these findings. */
static const char *printed(const struct findings *found)
{
    static char text[TEXT_BYTES];
    memset(text, 0, sizeof text);
    FILE *out = fmemopen(text, sizeof text, "w");
    assert_non_null(out);
    assert_true(findings_print(found, out));
    assert_int_equal(fclose(out), 0);
    return text;
}

/* ---- addresses ---- */

TEST(the_port_of_a_listen_and_host_and_port_of_base_url_are_read)
{
    static const struct {
        const char *listen;
        unsigned port;
    } cases[] = { { "443 ssl http2", 443 },
                  { "127.0.0.1:8080", 8080 },
                  { "[::]:81 default_server", 81 },
                  { "[::1]", 80 },
                  { "example.net", 80 },
                  { "example.net:8443 ssl", 8443 },
                  { "*:65535", 65535 },
                  { "65536", 0 },
                  { "unix:/run/a:443 ssl", 0 } };
    EACH (row, cases)
        assert_int_equal(doctor_listen_port(row->listen), row->port);
    assert_true(doctor_listen_has("443 http2 ssl", STR("ssl")));
    assert_false(doctor_listen_has("443 sslx", STR("ssl")));
    assert_false(doctor_listen_has("443", STR("ssl")));
    static const struct {
        const char *url, *host;
        unsigned port;
        bool tls;
    } urls[] = { { "https://hongbao.example", "hongbao.example", 443, true },
                 { "http://hongbao.example", "hongbao.example", 80, false },
                 { "http://127.0.0.1:8080", "127.0.0.1", 8080, false },
                 { "https://[::1]:8443", "::1", 8443, true },
                 { "https://[2001:db8::1]", "2001:db8::1", 443, true } };
    EACH (row, urls) {
        static struct config config;
        char host[DOCTOR_HOST_MAX];
        bool tls = !row->tls;
        (void)snprintf(config.base_url, sizeof config.base_url, "%s", row->url);
        assert_int_equal(doctor_base_url(&config, &tls, host), row->port);
        assert_string_equal(host, row->host);
        assert_int_equal(tls, row->tls);
    }
}

/* ---- findings ---- */

TEST(words_that_another_set_lacks_are_listed_up_to_five)
{
    struct words a = { .count = 0 }, b = { .count = 0 };
    words_add_all(&a, STR("get  set get mget"));
    words_add_all(&b, STR("set"));
    assert_int_equal(a.count, 3);
    assert_string_equal(words_without(&a, &b, arena), "get, mget");
    assert_string_equal(words_without(&b, &a, arena), "");
    words_add_all(&a, STR("a b c d"));
    assert_string_equal(words_without(&a, &b, arena), "get, mget, a, b, c and 1 more");
}

TEST(what_is_wrong_comes_first_and_what_is_skipped_is_left_out)
{
    char json[512] = "";
    struct findings found = { .arena = arena, .skip = { "known" }, .skip_count = 1 };
    finding_unchecked(&found, "clock", "no %s", "clock");
    finding_wrong(&found, "known", "mend", "known");
    finding_wrong(&found, "first", "this", "is \"%s\"", "bad");
    finding_wrong(&found, "second", "that", "two\r\nlines");
    assert_int_equal(found.wrong, 2);
    assert_int_equal(found.unchecked, 1);
    assert_string_equal(printed(&found), "wrong: first: is \"bad\"\n    mend: this\n"
                                         "wrong: second: two  lines\n    mend: that\n"
                                         "not checked: clock: no clock\n");
    FILE *out = fmemopen(json, sizeof json, "w");
    assert_non_null(out);
    assert_true(findings_print_json(&found, STR("2026-11-28T03:41:07.112Z"), out));
    assert_int_equal(fclose(out), 0);
    assert_string_equal(json,
                        "{\"ok\":false,\"wrong\":[{\"name\":\"first\",\"text\":\"is \\\"bad\\\"\",\"mend\":\"this\"},"
                        "{\"name\":\"second\",\"text\":\"two  lines\",\"mend\":\"that\"}],"
                        "\"unchecked\":[{\"name\":\"clock\",\"text\":\"no clock\"}],"
                        "\"audited_at\":\"2026-11-28T03:41:07.112Z\"}\n");
}

TEST(several_subjects_of_one_cause_are_one_finding_and_the_manual_is_named_with_its_folder)
{
    struct findings found = { .arena = arena };
    EACH_TEXT (file, "a", "b", "a", "c", "d", "e", "f") {
        finding_of(&found, "file", "chmod {} # all", "these are open", file);
        finding_of(&found, "file", "chmod {}", "these are closed", "only");
    }
    assert_int_equal(found.wrong, 2);
    assert_string_equal(printed(&found), "wrong: file: these are open: a; b; c; d; e; and 1 more\n"
                                         "    mend: chmod a b c d e f # all\n"
                                         "wrong: file: these are closed: only\n    mend: chmod only\n");
    struct findings named = { .arena = arena, .manual = "/usr/share/doc/x/docs" };
    finding_wrong(&named, "one", "docs/a.md", "see (docs/how-to/b.md), not /srv/docs/c.md or mydocs/d.md");
    assert_string_equal(printed(&named), "wrong: one: see (/usr/share/doc/x/docs/how-to/b.md), not /srv/docs/c.md or "
                                         "mydocs/d.md\n    mend: /usr/share/doc/x/docs/a.md\n");
}

/* ---- what the script prints ---- */

TEST(the_lines_of_an_area_are_told_and_a_script_that_did_not_end_is_said_so)
{
    static struct config config = { .command_dir = "/commands" };
    static struct doctor d = { .config = &config, .is_service = true, .script_ended = true };
    d.arena = arena;
    d.found = (struct findings){ .arena = arena, .skip = { "known" }, .skip_count = 1 };
    d.script = STR("wrong\tunits\tunit-failed\t100% a\tmend a\nfact\tstopped\nwrong\tlogs\tb\tb\tb\n"
                   "wrong\tunits\tknown\tx\ty\nunchecked\tunits\tunits\twhy\nwrong\tunits\nodd\n");
    doctor_check_units(&d);
    assert_string_equal(printed(&d.found), "wrong: unit-failed: 100% a\n    mend: mend a\nwrong: : \n    mend: \n"
                                           "not checked: units: why\n");
    assert_true(d.is_stopped);
    assert_true(doctor_script_says(&d, "stopped"));
    assert_false(doctor_script_says(&d, "stop"));
    d.found = (struct findings){ .arena = arena };
    d.script = STR("");
    d.script_ended = false;
    doctor_check_units(&d);
    assert_string_equal(printed(&d.found),
                        "not checked: units: /commands/doctor.sh can't be executed, or does not end\n");
    assert_false(d.is_stopped);
}

TESTS(arena_setup, arena_teardown)
