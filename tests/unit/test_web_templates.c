/* web/templates, web/catalogue: loading templates with the texts of each language, and reloading changed files. */
#include "base/log.h"
#include "base/money.h"
#include "support/test_folder.h"
#include "web/templates.h"

enum { ERROR_BYTES = 512 };

/* The linker replaces log_write by __wrap_log_write, which counts errors. */
static unsigned errors_logged;

void __wrap_log_write(enum log_level level, const char *msg, const char *format, ...);

void __wrap_log_write(enum log_level level, const char *msg, const char *format, ...)
{
    (void)msg;
    (void)format;
    errors_logged += level == LOG_ERROR;
}

static struct templates t; /* of the running test */

static int site_setup(void **state)
{
    assert_int_equal(folder_setup(state), 0);
    assert_int_equal(mkdir(folder_path("text"), 0700), 0);
    folder_write("home.mustache", "<h1>{{>text/hi}}</h1>");
    folder_write("text/en.txt", "hi = Hello");
    folder_write("text/zh-CN.txt", "hi = 你好");
    errors_logged = 0;
    t = (struct templates){ 0 };
    return 0;
}

static int site_teardown(void **state)
{
    templates_free(&t);
    return folder_teardown(state);
}

static void folder_load(void)
{
    char error[ERROR_BYTES] = "";
    if (templates_load(folder, &t, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
}

static void assert_page(enum language language, const char *name, const char *expected)
{
    static const struct value nothing = { .type = VALUE_OBJECT };
    struct buf out = BUF_EMPTY;
    const struct mustache *template = templates_find(&t, language, str_from(name));
    assert_non_null(template);
    assert_int_equal(mustache_render(template, &nothing, &out), ST_OK);
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

/* Expects templates_load to fail with this status and an error that begins with "FOLDER/" and message. */
static void assert_refused(enum status want, const char *message)
{
    char error[ERROR_BYTES] = "";
    assert_int_equal(templates_load(folder, &t, error, sizeof error), want);
    assert_null(t.sets[0]);
    assert_int_equal(t.generation, 0);
    const char *expected = folder_path(message);
    error[strlen(expected)] = '\0';
    assert_string_equal(error, expected);
}

/* ---- catalogues ---- */

TEST_WITH(a_template_is_compiled_once_with_the_texts_of_each_language, site_setup, site_teardown)
{
    folder_load();
    assert_page(LANGUAGE_EN, "home", "<h1>Hello</h1>");
    assert_page(LANGUAGE_ZH_CN, "home", "<h1>你好</h1>");
    const struct mustache_set *set = t.sets[LANGUAGE_EN];
    templates_refresh(folder, &t);
    assert_ptr_equal(t.sets[LANGUAGE_EN], set);
    assert_int_equal(t.generation, 1);
}

TEST_WITH(a_line_of_a_catalogue_is_a_template_and_numbers_are_grouped_as_it_says, site_setup, site_teardown)
{
    folder_write("text/en.txt",
                 "# a comment\n\n hi =  Hello, <b>{{>text/whom}}</b>! \r\nwhom=you\nnone =\na-B_9 = a=b");
    folder_load();
    assert_page(LANGUAGE_EN, "home", "<h1>Hello, <b>you</b>!</h1>");
    assert_page(LANGUAGE_EN, "text/hi", "Hello, <b>you</b>!");
    assert_page(LANGUAGE_EN, "text/none", "");
    assert_page(LANGUAGE_EN, "text/a-B_9", "a=b");
    assert_null(templates_find(&t, LANGUAGE_ZH_CN, STR("text/whom")));
    const char *const pages[LANGUAGES] = {
        [LANGUAGE_ZH_CN] = "1234567.50 1234567.50", [LANGUAGE_EN] = "1,234,567.50 1234567.50"
    };
    struct model m;
    folder_write("text/en.txt", "hi = Hello\nthousands = ,");
    folder_write("text/zh-CN.txt", "hi = 你好\nthousands =");
    folder_write("sum.mustache", "{{sum}} {{text}}");
    templates_free(&t);
    t = (struct templates){ 0 };
    folder_load();
    model_init(&m, arena);
    value_page_number(&m, &m.root, "sum", STR("1234567.50"));
    value_page_text(&m, &m.root, "text", STR("1234567.50"));
    for (int i = 0; i < LANGUAGES; i++) {
        struct buf out = BUF_EMPTY;
        const struct mustache *sum = templates_find(&t, (enum language)i, STR("sum"));
        assert_int_equal(mustache_render(sum, &m.root, &out), ST_OK);
        assert_true(str_equal(buf_view(&out), str_from(pages[i])));
        buf_free(&out);
    }
}

TEST_WITH(an_error_in_a_catalogue_names_its_line_and_a_large_or_missing_one_its_file, site_setup, site_teardown)
{
    static const struct {
        const char *catalogue, *message;
    } cases[] = { { "hi = 1\n\nb\n", "text/en.txt:3:1: a line is \"key = text\", this one has no =" },
                  { "hi = 1\nb c = 2\n", "text/en.txt:2:1: a key consists of letters, digits, - and _" },
                  { " = 2\n", "text/en.txt:1:1: a key consists of letters, digits, - and _" },
                  { "# none\n hi = 你好 {{#x}}\n", "text/en.txt:2:10: {{#x}} is never closed" },
                  { "hi = 1 {{>text/none}}\n", "text/en.txt:1:8: there is no template text/none" },
                  { "hi = 1\nhi = 2\n", "text/en.txt:2:6: there are two templates of this name" },
                  { "", "home.mustache:1:5: there is no template text/hi" } };
    EACH (row, cases) {
        folder_write("text/en.txt", row->catalogue);
        assert_refused(ST_INVALID, row->message);
    }
    assert_int_equal(truncate(folder_path("text/en.txt"), (off_t)CATALOGUE_BYTES_MAX + 1), 0);
    assert_refused(ST_INVALID, "text/en.txt:1:1: the file is larger than 1048576 bytes");
    folder_remove("text/en.txt");
    assert_refused(ST_UNAVAILABLE, "text/en.txt: ");
}

/* ---- needed templates ---- */

static const char *const needed[] = { "home", "pages/login", "pages/send", NULL };

TEST_WITH(a_needed_template_that_is_missing_is_named_and_the_old_set_stays, site_setup, site_teardown)
{
    t.needed = needed;
    char error[ERROR_BYTES] = "";
    assert_int_equal(templates_load(folder, &t, error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, ": there is no pages/login.mustache, pages/send.mustache"));
    assert_null(t.sets[0]);
    static const char *const home[] = { "home", NULL };
    t.needed = home;
    folder_load();
    folder_remove("home.mustache");
    templates_refresh(folder, &t);
    assert_int_equal(errors_logged, 1);
    assert_page(LANGUAGE_EN, "home", "<h1>Hello</h1>");
    folder_write("home.mustache", "<h2>{{>text/hi}}</h2>");
    templates_refresh(folder, &t);
    assert_page(LANGUAGE_EN, "home", "<h2>Hello</h2>");
}

/* ---- changes ---- */

TEST_WITH(a_changed_template_or_catalogue_is_compiled_again, site_setup, site_teardown)
{
    static const struct {
        const char *file, *text, *english, *chinese;
    } changes[] = { { "home.mustache", "<h2>{{>text/hi}}</h2>", "<h2>Hello</h2>", "<h2>你好</h2>" },
                    { "text/zh-CN.txt", "hi = 您好！", "<h2>Hello</h2>", "<h2>您好！</h2>" } };
    folder_load();
    for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
        const uint64_t hash = t.hash;
        folder_write(changes[i].file, changes[i].text);
        for (int round = 0; round < 2; round++) { /* unchanged in the second one */
            templates_refresh(folder, &t);
            assert_int_equal(t.generation, i + 2);
        }
        assert_page(LANGUAGE_EN, "home", changes[i].english);
        assert_page(LANGUAGE_ZH_CN, "home", changes[i].chinese);
        assert_int_not_equal(t.hash, hash);
    }
}

TEST_WITH(an_error_in_a_catalogue_is_logged_once_and_the_old_texts_stay, site_setup, site_teardown)
{
    folder_load();
    folder_write("text/en.txt", "hi = {{#broken");
    for (int i = 0; i < 3; i++)
        templates_refresh(folder, &t);
    assert_int_equal(errors_logged, 1);
    folder_remove("text/en.txt");
    for (int i = 0; i < 3; i++)
        templates_refresh(folder, &t);
    assert_int_equal(errors_logged, 2);
    assert_page(LANGUAGE_EN, "home", "<h1>Hello</h1>");
    assert_int_equal(t.generation, 1);
    folder_write("text/en.txt", "hi = Hello again");
    templates_refresh(folder, &t);
    assert_page(LANGUAGE_EN, "home", "<h1>Hello again</h1>");
    assert_int_equal(t.generation, 2);
}

TEST_WITH(amounts_have_the_signs_of_the_unit_as_the_language_writes_them, site_setup, site_teardown)
{
    static const struct {
        struct money_unit unit;
        const char *zh, *en;
    } rows[] = {
        { { .code = "CNY", .symbol = "¥", .name_zh = "元", .name_en = "yuan", .decimals = 2 },
          "还差~\u2060元，至少0.01\u2060元|元|¥5|2~CNY~元~yuan~¥|2 88.88",
          "¥~ short, at least ¥0.01|¥|¥5|2~CNY~元~yuan~¥|2 88.88" },
        { { .code = "POINT", .symbol = "", .name_zh = "积分", .name_en = "points", .decimals = 0 },
          "还差~\u2060积\u2060分，至少1\u2060积\u2060分|积分|5\u2060积\u2060分|0~POINT~积分~points~|0 88",
          "~\u00a0points short, at least 1\u00a0points|points|5\u00a0points|0~POINT~积分~points~|0 88" },
        { { .code = "HKD", .symbol = "HK$", .name_zh = "港元", .name_en = "dollars", .decimals = 1 },
          "还差~\u2060港\u2060元，至少0.1\u2060港\u2060元|港元|HK$5|1~HKD~港元~dollars~HK$|1 888.8",
          "HK$~ short, at least HK$0.1|HK$|HK$5|1~HKD~港元~dollars~HK$|1 888.8" },
        { { .code = "COIN", .symbol = "", .name_zh = "幸运大金币", .name_en = "lucky gold coins", .decimals = 0 },
          "还差~\u2060幸运大金币，至少1\u2060幸运大金币|幸运大金币|5\u2060幸运大金币|0~COIN~幸运大金币~lucky gold coins~|0 88",
          "~\u00a0lucky gold coins short, at least 1\u00a0lucky gold coins|lucky gold coins|5\u00a0lucky gold coins|"
          "0~COIN~幸运大金币~lucky gold coins~|0 88" },
    };
    const struct money_unit before = *money_unit();
    folder_write("home.mustache",
                 "{{>text/hi}}|{{>text/unit}}|{{>text/unit_large_before}}5{{>text/unit_large_after}}|"
                 "{{>text/unit_typed}}|{{<text/unit_decimals}}{{$none}}0{{/none}}{{$one}}1{{/one}}{{$two}}2{{/two}}"
                 "{{/text/unit_decimals}} {{>text/unit_example}}");
    folder_write("text/en.txt", "hi = ¥(~) short, at least ¥({{>text/unit_least}})");
    folder_write("text/zh-CN.txt", "hi = 还差¥(~)，至少¥({{>text/unit_least}})");
    EACH (row, rows) {
        money_unit_set(&row->unit);
        folder_load();
        assert_page(LANGUAGE_ZH_CN, "home", row->zh);
        assert_page(LANGUAGE_EN, "home", row->en);
        templates_free(&t);
        t = (struct templates){ 0 };
    }
    money_unit_set(&before);
    folder_write("text/en.txt", "hi = ¥(~ short");
    assert_refused(ST_INVALID, "text/en.txt:1:1: \"¥(\" has no \")\"");
}

TESTS(NULL, NULL)
