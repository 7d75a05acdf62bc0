/* The model of a page and its JSON. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/value.h"
#include "support/test_arena.h"

static struct model m;

static void assert_json(const struct value *v, const char *want)
{
    struct buf out = BUF_EMPTY;
    value_json(&out, v);
    assert_false(out.failed);
    if (!str_equal(buf_view(&out), str_from(want)))
        fail_msg("%.*s\nis not\n%s", STR_ARG(buf_view(&out)), want);
    buf_free(&out);
}

static void assert_json_string(struct str s, const char *want)
{
    struct value v = { .type = VALUE_TEXT, .as.text = s };
    assert_json(&v, want);
}

static const struct value *get(const struct value *object, struct str name)
{
    return value_get(object, name, value_hash(name));
}

TEST(every_type_has_its_json_and_page_only_members_are_for_templates_alone)
{
    model_init(&m, arena);
    assert_json(&m.root, "{}");
    value_null(&m, &m.root, "seed");
    value_bool(&m, &m.root, "yes", true);
    value_bool(&m, &m.root, "no", false);
    value_int(&m, &m.root, "least", INT64_MIN);
    value_int(&m, &m.root, "most", INT64_MAX);
    value_text(&m, &m.root, "text", STR("恭喜"));
    value_text(&m, &m.root, "none", STR(""));
    value_list(&m, &m.root, "empty");
    struct value *list = value_list(&m, &m.root, "list");
    value_int(&m, value_add_object(&m, list), "n", 1);
    value_add_object(&m, list);
    value_text(&m, value_object(&m, &m.root, "sender"), "nickname", STR("张三"));
    assert_false(m.failed);
    assert_json(&m.root, "{\"seed\":null,\"yes\":true,\"no\":false,\"least\":-9223372036854775808,"
                         "\"most\":9223372036854775807,\"text\":\"恭喜\",\"none\":\"\",\"empty\":[],"
                         "\"list\":[{\"n\":1},{}],\"sender\":{\"nickname\":\"张三\"}}");
    model_init(&m, arena);
    value_page_text(&m, &m.root, "title", STR("t"));
    value_int(&m, &m.root, "id", 1);
    value_page_bool(&m, &m.root, "open", true);
    value_page_int(&m, &m.root, "hue", 3);
    value_text(&m, value_page_object(&m, &m.root, "site"), "lang", STR("zh-CN"));
    value_text(&m, value_add_object(&m, value_page_list(&m, &m.root, "options")), "o", STR("p"));
    struct value *inner = value_object(&m, &m.root, "sender");
    value_page_text(&m, inner, "initial", STR("张"));
    assert_false(m.failed);
    assert_json(&m.root, "{\"id\":1,\"sender\":{}}");
    assert_int_equal(get(&m.root, STR("hue"))->as.integer, 3);
    assert_true(get(&m.root, STR("open"))->as.boolean);
    assert_true(str_equal(get(inner, STR("initial"))->as.text, STR("张")));
}

TEST(members_are_found_by_their_whole_name_not_by_its_hash)
{
    model_init(&m, arena);
    value_int(&m, &m.root, "amount_fen", 5);
    value_int(&m, &m.root, "amount", 6);
    assert_int_equal(get(&m.root, STR("amount"))->as.integer, 6);
    assert_int_equal(get(&m.root, STR("amount_fen"))->as.integer, 5);
    assert_null(get(&m.root, STR("amount_fe")));
    assert_null(get(&m.root, STR("")));
    /* A name with the same hash is still another name. */
    assert_null(value_get(&m.root, STR("mount"), value_hash(STR("amount"))));
    assert_null(value_get(get(&m.root, STR("amount")), STR("amount"), value_hash(STR("amount"))));
    assert_int_equal(value_hash(STR("")), 0x811c9dc5);
    assert_int_equal(value_hash(STR("a")), 0xe40c292c);
    assert_int_equal(value_hash(STR("foobar")), 0xbf9cf968);
}

TEST(a_name_set_twice_is_a_bug_of_ours)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)close(STDERR_FILENO);
        (void)signal(SIGABRT, SIG_DFL);
        model_init(&m, arena_new(4096, 65536));
        value_int(&m, &m.root, "id", 1);
        value_page_text(&m, &m.root, "id", STR("2"));
        _exit(0);
    }
    int how = 0;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSIGNALED(how) && WTERMSIG(how) == SIGABRT);
}

TEST(without_memory_building_goes_on_in_silence)
{
    for (size_t bytes = 16; bytes < 1024; bytes += 16) {
        struct arena *a = arena_new(bytes, bytes);
        model_init(&m, a);
        for (int round = 0; round < 2; round++) {
            /* The same names once more: after a failure names are no longer looked up. */
            if (round == 1 && !m.failed)
                break;
            struct value *object = value_object(&m, &m.root, "o");
            struct value *list = value_page_list(&m, object, "l");
            value_text(&m, value_add_object(&m, list), "t", STR("t"));
            value_int(&m, value_add_object(&m, list), "n", 1);
            value_null(&m, object, "n");
            value_int(&m, value_page_object(&m, object, "p"), "i", 1);
        }
        arena_free(a);
    }
    struct arena *a = arena_new(16, 16);
    model_init(&m, a);
    value_int(&m, &m.root, "i", 1);
    assert_true(m.failed);
    assert_json(value_object(&m, &m.root, "o"), "{}"); /* the dummies stay empty */
    assert_json(value_list(&m, &m.root, "l"), "[]");
    arena_free(a);
}

TEST(a_lost_text_or_what_is_made_of_it_fails_the_model)
{
    void (*const set[])(struct model *, struct value *, const char *, struct str) = { value_text, value_page_text,
                                                                                      value_ready_json };
    for (size_t i = 0; i < ARRAY_LEN(set); i++) {
        model_init(&m, arena);
        value_text(&m, &m.root, "kept", STR(""));
        assert_false(m.failed);
        set[i](&m, &m.root, "lost", STR_NONE);
        assert_true(m.failed);
    }
    /* Here the lost text is a part of a text that found room. */
    struct arena *a = arena_new(4096, 4096);
    model_init(&m, a);
    struct str lost = arena_printf(a, "%05000d", 1);
    struct str made = arena_printf(a, "/login?next=%.*s", STR_ARG(lost));
    assert_null(lost.ptr);
    assert_non_null(made.ptr);
    value_text(&m, &m.root, "url", made);
    assert_true(m.failed);
    arena_free(a);
}

TEST(strings_and_names_are_safe_anywhere)
{
    assert_json_string(STR(""), "\"\"");
    assert_json_string(STR("a\"b\\c/d"), "\"a\\\"b\\\\c/d\"");
    assert_json_string(STR("</script><!-- & -->"), "\"\\u003c/script\\u003e\\u003c!-- \\u0026 --\\u003e\"");
    assert_json_string(STR("\b\f\n\r\t\0\x01\x1f\x7f"), "\"\\b\\f\\n\\r\\t\\u0000\\u0001\\u001f\\u007f\"");
    assert_json_string(STR("a\u2028b\u2029c"), "\"a\\u2028b\\u2029c\"");
    assert_json_string(STR("\u2027\u202a🧧{{x}}'"), "\"\u2027\u202a🧧{{x}}'\"");
    assert_json_string(STR("a\xffx"), "\"a\\ufffdx\"");
    assert_json_string(STR("\xe6\x81"), "\"\\ufffd\\ufffd\"");
    assert_json_string(STR("\xed\xa0\x80x"), "\"\\ufffd\\ufffd\\ufffdx\"");
    model_init(&m, arena);
    value_null(&m, &m.root, "a\"<");
    assert_json(&m.root, "{\"a\\\"\\u003c\":null}");
}

TESTS(arena_setup, arena_teardown)
