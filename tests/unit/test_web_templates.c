/* web/templates, web/catalogue: loading templates with the texts of each language, and reloading changed files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "web/templates.h"

enum { ERROR_BYTES = 512, PATH_BYTES = 256 };

/* The linker replaces log_write by __wrap_log_write, which counts errors. */
static unsigned errors_logged;

void __wrap_log_write(enum log_level level, const char *msg, const char *format, ...);

void __wrap_log_write(enum log_level level, const char *msg, const char *format, ...)
{
    (void)msg;
    (void)format;
    errors_logged += level == LOG_ERROR;
}

struct folder {
    char path[PATH_BYTES];
};

static void folder_write(const struct folder *f, const char *name, const char *text)
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void folder_remove(const struct folder *f, const char *name)
{
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/%s", f->path, name);
    assert_int_equal(remove(path), 0);
}

static int folder_setup(void **state)
{
    static struct folder f;
    char path[2 * PATH_BYTES];

    snprintf(f.path, sizeof f.path, "%s/hb-templates-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(f.path));
    snprintf(path, sizeof path, "%s/text", f.path);
    assert_int_equal(mkdir(path, 0700), 0);
    folder_write(&f, "home.mustache", "<h1>{{>text/hi}}</h1>");
    folder_write(&f, "text/en.txt", "hi = Hello");
    folder_write(&f, "text/zh-CN.txt", "hi = 你好");
    errors_logged = 0;
    *state = &f;
    return 0;
}

static int folder_teardown(void **state)
{
    char command[2 * PATH_BYTES];
    const struct folder *f = *state;

    snprintf(command, sizeof command, "rm -rf '%s'", f->path);
    return system(command);
}

static struct templates folder_load(const struct folder *f)
{
    struct templates t = { 0 };
    char error[ERROR_BYTES] = "";

    if (templates_load(f->path, &t, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
    return t;
}

static void assert_page(const struct templates *t, enum language language, const char *name, const char *expected)
{
    static const struct value nothing = { .type = VALUE_OBJECT };
    struct buf out = BUF_EMPTY;
    const struct mustache *template = templates_find(t, language, str_from(name));

    assert_non_null(template);
    assert_int_equal(mustache_render(template, &nothing, &out), ST_OK);
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

/* Expects templates_load to fail with this status and an error that begins with "FOLDER/" and message. */
static void assert_refused(const struct folder *f, enum status want, const char *message)
{
    struct templates t = { 0 };
    char error[ERROR_BYTES] = "", expected[ERROR_BYTES];

    assert_int_equal(templates_load(f->path, &t, error, sizeof error), want);
    assert_null(t.sets[0]);
    assert_int_equal(t.generation, 0);
    snprintf(expected, sizeof expected, "%s/%s", f->path, message);
    error[strlen(expected)] = '\0';
    assert_string_equal(error, expected);
}

/* ---- catalogues ---- */

static void a_template_is_compiled_with_the_texts_of_each_language(void **state)
{
    struct templates t = folder_load(*state);

    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello</h1>");
    assert_page(&t, LANGUAGE_ZH_CN, "home", "<h1>你好</h1>");
    templates_free(&t);
}

static void a_line_of_a_catalogue_is_a_template(void **state)
{
    const struct folder *f = *state;

    folder_write(f, "text/en.txt",
                 "# a comment\n\n hi =  Hello, <b>{{>text/whom}}</b>! \r\nwhom=you\nnone =\na-B_9 = a=b");
    struct templates t = folder_load(f);
    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello, <b>you</b>!</h1>");
    assert_page(&t, LANGUAGE_EN, "text/hi", "Hello, <b>you</b>!");
    assert_page(&t, LANGUAGE_EN, "text/none", "");
    assert_page(&t, LANGUAGE_EN, "text/a-B_9", "a=b");
    assert_null(templates_find(&t, LANGUAGE_ZH_CN, STR("text/whom")));
    templates_free(&t);
}

static void numbers_are_grouped_as_the_catalogue_says(void **state)
{
    const struct folder *f = *state;
    const char *const pages[LANGUAGES] = {
        [LANGUAGE_ZH_CN] = "1234567.50 1234567.50", [LANGUAGE_EN] = "1,234,567.50 1234567.50"
    };
    struct arena *arena = arena_new(1024, 4096);
    struct model m;

    folder_write(f, "text/en.txt", "hi = Hello\nthousands = ,");
    folder_write(f, "text/zh-CN.txt", "hi = 你好\nthousands =");
    folder_write(f, "sum.mustache", "{{sum}} {{text}}");
    struct templates t = folder_load(f);
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
    arena_free(arena);
    templates_free(&t);
}

static void an_error_in_a_catalogue_names_its_line(void **state)
{
    static const struct {
        const char *catalogue, *message;
    } cases[] = {
        { "hi = 1\n\nb\n", "text/en.txt:3:1: a line is \"key = text\", this one has no =" },
        { "hi = 1\nb c = 2\n", "text/en.txt:2:1: a key consists of letters, digits, - and _" },
        { " = 2\n", "text/en.txt:1:1: a key consists of letters, digits, - and _" },
        { "# none\n hi = 你好 {{#x}}\n", "text/en.txt:2:10: {{#x}} is never closed" },
        { "hi = 1 {{>text/none}}\n", "text/en.txt:1:8: there is no template text/none" },
        { "hi = 1\nhi = 2\n", "text/en.txt:2:6: there are two templates of this name" },
        { "", "home.mustache:1:5: there is no template text/hi" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        folder_write(*state, "text/en.txt", cases[i].catalogue);
        assert_refused(*state, ST_INVALID, cases[i].message);
    }
}

static void a_missing_catalogue_is_unavailable(void **state)
{
    folder_remove(*state, "text/en.txt");
    assert_refused(*state, ST_UNAVAILABLE, "text/en.txt: ");
}

static void a_catalogue_that_is_too_large_is_refused(void **state)
{
    const struct folder *f = *state;
    char path[2 * PATH_BYTES];

    snprintf(path, sizeof path, "%s/text/en.txt", f->path);
    assert_int_equal(truncate(path, (off_t)CATALOGUE_BYTES_MAX + 1), 0);
    assert_refused(f, ST_INVALID, "text/en.txt:1:1: the file is larger than 1048576 bytes");
}

/* ---- needed templates ---- */

static const char *const needed[] = { "home", "pages/login", "pages/send", NULL };

static void every_needed_template_that_is_missing_is_named(void **state)
{
    const struct folder *f = *state;
    struct templates t = { .needed = needed };
    char error[ERROR_BYTES] = "";

    assert_int_equal(templates_load(f->path, &t, error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, ": there is no pages/login.mustache, pages/send.mustache"));
    assert_null(t.sets[0]);
}

static void the_old_set_stays_when_a_needed_template_is_removed(void **state)
{
    const struct folder *f = *state;
    static const char *const home[] = { "home", NULL };
    struct templates t = { .needed = home };
    char error[ERROR_BYTES] = "";

    assert_int_equal(templates_load(f->path, &t, error, sizeof error), ST_OK);
    folder_remove(f, "home.mustache");
    templates_refresh(f->path, &t);
    assert_int_equal(errors_logged, 1);
    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello</h1>");
    folder_write(f, "home.mustache", "<h2>{{>text/hi}}</h2>");
    templates_refresh(f->path, &t);
    assert_page(&t, LANGUAGE_EN, "home", "<h2>Hello</h2>");
    templates_free(&t);
}

/* ---- changes ---- */

static void unchanged_templates_are_not_compiled_again(void **state)
{
    const struct folder *f = *state;
    struct templates t = folder_load(f);
    const struct mustache_set *set = t.sets[LANGUAGE_EN];

    templates_refresh(f->path, &t);
    assert_ptr_equal(t.sets[LANGUAGE_EN], set);
    assert_int_equal(t.generation, 1);
    templates_free(&t);
}

static void a_changed_template_is_compiled_again(void **state)
{
    const struct folder *f = *state;
    struct templates t = folder_load(f);
    uint64_t hash = t.hash;

    folder_write(f, "home.mustache", "<h2>{{>text/hi}}</h2>");
    templates_refresh(f->path, &t);
    assert_page(&t, LANGUAGE_EN, "home", "<h2>Hello</h2>");
    assert_page(&t, LANGUAGE_ZH_CN, "home", "<h2>你好</h2>");
    assert_int_equal(t.generation, 2);
    assert_int_not_equal(t.hash, hash);
    templates_free(&t);
}

static void a_changed_catalogue_is_compiled_again(void **state)
{
    const struct folder *f = *state;
    struct templates t = folder_load(f);
    uint64_t hash = t.hash;

    folder_write(f, "text/zh-CN.txt", "hi = 您好！");
    templates_refresh(f->path, &t);
    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello</h1>");
    assert_page(&t, LANGUAGE_ZH_CN, "home", "<h1>您好！</h1>");
    assert_int_equal(t.generation, 2);
    assert_int_not_equal(t.hash, hash);
    templates_refresh(f->path, &t);
    assert_int_equal(t.generation, 2);
    templates_free(&t);
}

static void an_error_in_a_catalogue_is_logged_once_and_the_old_texts_stay(void **state)
{
    const struct folder *f = *state;
    struct templates t = folder_load(f);

    folder_write(f, "text/en.txt", "hi = {{#broken");
    for (int i = 0; i < 3; i++)
        templates_refresh(f->path, &t);
    assert_int_equal(errors_logged, 1);
    folder_remove(f, "text/en.txt");
    for (int i = 0; i < 3; i++)
        templates_refresh(f->path, &t);
    assert_int_equal(errors_logged, 2);
    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello</h1>");
    assert_int_equal(t.generation, 1);
    folder_write(f, "text/en.txt", "hi = Hello again");
    templates_refresh(f->path, &t);
    assert_page(&t, LANGUAGE_EN, "home", "<h1>Hello again</h1>");
    assert_int_equal(t.generation, 2);
    templates_free(&t);
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_template_is_compiled_with_the_texts_of_each_language),
        IN_FOLDER(a_line_of_a_catalogue_is_a_template),
        IN_FOLDER(numbers_are_grouped_as_the_catalogue_says),
        IN_FOLDER(an_error_in_a_catalogue_names_its_line),
        IN_FOLDER(a_missing_catalogue_is_unavailable),
        IN_FOLDER(a_catalogue_that_is_too_large_is_refused),
        IN_FOLDER(every_needed_template_that_is_missing_is_named),
        IN_FOLDER(the_old_set_stays_when_a_needed_template_is_removed),
        IN_FOLDER(unchanged_templates_are_not_compiled_again),
        IN_FOLDER(a_changed_template_is_compiled_again),
        IN_FOLDER(a_changed_catalogue_is_compiled_again),
        IN_FOLDER(an_error_in_a_catalogue_is_logged_once_and_the_old_texts_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
