/* Tests of the template engine that the JSON cases beside this file (run by mustache_spec) have no words for: folders,
 * limits, memory. */
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

#include "mustache/mustache.h"

enum { ERROR_BYTES = 512, PATH_BYTES = 256, MODEL_CHUNK_BYTES = 16 << 10, MODEL_BYTES = 1 << 20 };

/* ---- allocations that fail: the linker puts these before the real ones ---- */

static unsigned allocations_left; /* the one after them fails; 0: none does */
static unsigned allocations_failed;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *p, size_t size);

static bool allocation_fails(void)
{
    if (allocations_left == 0 || --allocations_left > 0)
        return false;
    allocations_failed++;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *p, size_t size)
{
    return allocation_fails() ? NULL : __real_realloc(p, size);
}

/* ---- a folder of templates, and a set from text ---- */

struct folder {
    char path[PATH_BYTES];
};

static void folder_path(const struct folder *f, const char *name, char out[2 * PATH_BYTES])
{
    snprintf(out, 2 * PATH_BYTES, "%s/%s", f->path, name);
}

static void folder_write(const struct folder *f, const char *name, const char *text)
{
    char path[2 * PATH_BYTES];

    folder_path(f, name, path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void folder_remove(const struct folder *f, const char *name)
{
    char path[2 * PATH_BYTES];

    folder_path(f, name, path);
    assert_int_equal(remove(path), 0);
}

static int folder_setup(void **state)
{
    static struct folder f;
    char path[2 * PATH_BYTES];

    snprintf(f.path, sizeof f.path, "%s/hb-mustache-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    assert_non_null(mkdtemp(f.path));
    folder_path(&f, "pages", path);
    assert_int_equal(mkdir(path, 0700), 0);
    folder_write(&f, "layout.mustache", "<{{$main}}{{/main}}>");
    folder_write(&f, "pages/home.mustache", "{{<layout}}{{$main}}hello {{name}}{{/main}}{{/layout}}");
    *state = &f;
    return 0;
}

static int folder_teardown(void **state)
{
    char command[2 * PATH_BYTES];
    struct folder *f = *state;

    snprintf(command, sizeof command, "rm -rf '%s'", f->path);
    return system(command);
}

static struct mustache_set *folder_load(const struct folder *f)
{
    char error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    if (mustache_set_load(f->path, NULL, 0, &set, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
    return set;
}

/* Expects the folder to be refused with "FOLDER/" and message. */
static void folder_refused(const struct folder *f, enum status want, const char *message)
{
    char error[ERROR_BYTES] = "", expected[ERROR_BYTES];
    struct mustache_set *set = NULL;

    assert_int_equal(mustache_set_load(f->path, NULL, 0, &set, error, sizeof error), want);
    assert_null(set);
    snprintf(expected, sizeof expected, "%s/%s", f->path, message);
    assert_string_equal(error, expected);
}

static enum status compile_one(const char *text, struct mustache_set **out, char *error, size_t error_size)
{
    const struct mustache_source main_source = { .name = STR("main"), .text = str_from(text) };

    return mustache_set_compile(&main_source, 1, false, out, error, error_size);
}

static struct mustache_set *compiled(const char *text)
{
    char error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    if (compile_one(text, &set, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
    return set;
}

static void assert_page(const struct mustache *t, const struct value *context, const char *expected)
{
    struct buf out = BUF_EMPTY;

    assert_non_null(t);
    assert_int_equal(mustache_render(t, context, &out), ST_OK);
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static const struct value NOTHING = { .type = VALUE_OBJECT };

/* ---- folders ---- */

static void a_folder_gives_templates_named_by_their_paths(void **state)
{
    struct mustache_set *set = folder_load(*state);
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;

    model_init(&m, a);
    value_text(&m, &m.root, "name", STR("红包"));
    assert_page(mustache_find(set, STR("pages/home")), &m.root, "<hello 红包>");
    assert_page(mustache_find(set, STR("layout")), &m.root, "<>");
    assert_null(mustache_find(set, STR("home")));
    assert_null(mustache_find(set, STR("pages/home.mustache")));
    assert_null(mustache_find(set, STR("")));
    mustache_set_free(set);
    arena_free(a);
}

static void the_templates_of_a_set_are_listed_by_name(void **state)
{
    const struct folder *f = *state;

    folder_write(f, "another.mustache", "");
    struct mustache_set *set = folder_load(f);
    assert_true(str_equal(mustache_name(mustache_at(set, 0)), STR("another")));
    assert_true(str_equal(mustache_name(mustache_at(set, 1)), STR("layout")));
    assert_true(str_equal(mustache_name(mustache_at(set, 2)), STR("pages/home")));
    assert_null(mustache_at(set, 3));
    mustache_set_free(set);
}

static void other_and_hidden_files_are_left_alone(void **state)
{
    const struct folder *f = *state;

    folder_write(f, "notes.txt", "{{#never closed");
    folder_write(f, ".swap.mustache", "{{#never closed");
    folder_write(f, "pages/home.mustache~", "{{#never closed");
    folder_write(f, "pages/home.json", "{\"name\": \"{{#never closed\"}");
    folder_write(f, "mustache", "{{#never closed");
    struct mustache_set *set = folder_load(f);
    assert_null(mustache_at(set, 2));
    folder_write(f, "pages/home.json", "{}");
    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

static void an_empty_folder_is_an_empty_set(void **state)
{
    const struct folder *f = *state;

    folder_remove(f, "layout.mustache");
    folder_remove(f, "pages/home.mustache");
    struct mustache_set *set = folder_load(f);
    assert_null(mustache_at(set, 0));
    assert_null(mustache_find(set, STR("layout")));
    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

static void an_error_names_the_file_the_line_and_the_column(void **state)
{
    const struct folder *f = *state;

    folder_write(f, "pages/home.mustache", "one\n红包 {{> partials/none}}");
    folder_refused(f, ST_INVALID, "pages/home.mustache:2:4: there is no template partials/none");
    folder_write(f, "pages/home.mustache", "{{#a}}\n\n  {{/b}}");
    folder_refused(f, ST_INVALID, "pages/home.mustache:3:3: {{/b}} where {{#a}} is open");
    folder_write(f, "pages/home.mustache", "\r\n\r\n{{name");
    folder_refused(f, ST_INVALID, "pages/home.mustache:3:1: this tag is never closed");
}

static void a_file_that_is_too_large_is_refused(void **state)
{
    const struct folder *f = *state;
    char path[2 * PATH_BYTES];

    folder_path(f, "pages/home.mustache", path);
    assert_int_equal(truncate(path, (off_t)MUSTACHE_SOURCE_BYTES_MAX + 1), 0);
    folder_refused(f, ST_INVALID, "pages/home.mustache:1:1: the file is larger than 1048576 bytes");
}

static void a_folder_that_is_not_there_is_unavailable(void **state)
{
    const struct folder *f = *state;
    char path[2 * PATH_BYTES], error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    folder_path(f, "nowhere", path);
    assert_int_equal(mustache_set_load(path, NULL, 0, &set, error, sizeof error), ST_UNAVAILABLE);
    assert_null(set);
    assert_non_null(strstr(error, "nowhere: "));
}

static void folders_that_lead_back_to_themselves_are_refused(void **state)
{
    const struct folder *f = *state;
    char path[2 * PATH_BYTES], error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    folder_path(f, "again", path);
    assert_int_equal(symlink(".", path), 0);
    assert_int_equal(mustache_set_load(f->path, NULL, 0, &set, error, sizeof error), ST_UNAVAILABLE);
    assert_null(set);
    assert_non_null(strstr(error, "too many folders within each other"));
}

static void a_link_to_nowhere_is_left_alone(void **state)
{
    const struct folder *f = *state;
    char path[2 * PATH_BYTES];

    folder_path(f, "gone.mustache", path);
    assert_int_equal(symlink("nowhere", path), 0);
    struct mustache_set *set = folder_load(f);
    assert_null(mustache_find(set, STR("gone")));
    mustache_set_free(set);
}

static void a_folder_may_hold_hundreds_of_templates(void **state)
{
    const struct folder *f = *state;
    char name[PATH_BYTES], text[PATH_BYTES];

    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "many%03u.mustache", i);
        snprintf(text, sizeof text, "%u{{>many%03u}}", i, i + 1);
        folder_write(f, name, i % 50 == 49 ? "end" : text);
    }
    struct mustache_set *set = folder_load(f);
    assert_page(mustache_find(set, STR("many000")), &NOTHING,
                "0123456789101112131415161718192021222324252627282930313233343536373839404142434445464748end");
    assert_page(mustache_find(set, STR("many298")), &NOTHING, "298end");
    mustache_set_free(set);
}

static void a_slash_behind_the_folder_does_not_matter(void **state)
{
    struct folder with_slash = *(const struct folder *)*state;

    strcat(with_slash.path, "/");
    struct mustache_set *set = folder_load(&with_slash);
    assert_non_null(mustache_find(set, STR("pages/home")));
    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

/* ---- changes ---- */

static void an_untouched_folder_has_not_changed(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);

    assert_false(mustache_set_changed(set));
    folder_write(f, "notes.txt", "not a template");
    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

static void a_changed_file_changes_the_set(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);

    folder_write(f, "pages/home.mustache", "something else");
    assert_true(mustache_set_changed(set));
    mustache_set_free(set);
    set = folder_load(f);
    assert_false(mustache_set_changed(set));
    assert_page(mustache_find(set, STR("pages/home")), &NOTHING, "something else");
    mustache_set_free(set);
}

static void each_change_is_told_once(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);

    folder_write(f, "pages/home.mustache", "{{#broken");
    assert_true(mustache_set_changed(set));
    assert_false(mustache_set_changed(set));
    folder_write(f, "pages/home.mustache", "{{#still broken");
    assert_true(mustache_set_changed(set));
    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

static void an_added_file_changes_the_set(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);

    folder_write(f, "pages/login.mustache", "");
    assert_true(mustache_set_changed(set));
    mustache_set_free(set);
}

static void a_removed_file_changes_the_set(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);

    folder_remove(f, "pages/home.mustache");
    assert_true(mustache_set_changed(set));
    mustache_set_free(set);
}

static void a_renamed_file_changes_the_set(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f);
    char from[2 * PATH_BYTES], to[2 * PATH_BYTES];

    folder_path(f, "pages/home.mustache", from);
    folder_path(f, "pages/house.mustache", to);
    assert_int_equal(rename(from, to), 0);
    assert_true(mustache_set_changed(set));
    mustache_set_free(set);
}

static void the_same_templates_have_the_same_hash_and_others_another(void **state)
{
    const struct folder *f = *state;
    struct mustache_set *set = folder_load(f), *again = folder_load(f);

    assert_int_equal(mustache_set_content(set), mustache_set_content(again));
    mustache_set_free(again);
    folder_write(f, "pages/home.mustache", "{{<layout}}{{$content}}hello, {{name}}{{/content}}{{/layout}}");
    again = folder_load(f);
    assert_int_not_equal(mustache_set_content(set), mustache_set_content(again));
    mustache_set_free(again);
    mustache_set_free(set);
}

static void a_set_from_memory_is_never_stale(void **state)
{
    (void)state;
    struct mustache_set *set = compiled("x");

    assert_false(mustache_set_changed(set));
    mustache_set_free(set);
}

/* ---- escaping ---- */

static void every_byte_but_six_is_written_as_it_is(void **state)
{
    (void)state;
    struct mustache_set *set = compiled("{{.}}");

    for (unsigned c = 0; c < 256; c++) {
        char byte = (char)c;
        struct value v = { .type = VALUE_TEXT, .as.text = { &byte, 1 } };
        struct buf out = BUF_EMPTY;
        assert_int_equal(mustache_render(mustache_find(set, STR("main")), &v, &out), ST_OK);
        if (c != '\0' && strchr("&<>\"'`", byte))
            assert_true(out.len > 3 && out.ptr[0] == '&' && out.ptr[out.len - 1] == ';');
        else
            assert_true(out.len == 1 && out.ptr[0] == byte);
        buf_free(&out);
    }
    mustache_set_free(set);
}

static void a_page_is_appended_to_what_is_there(void **state)
{
    (void)state;
    struct mustache_set *set = compiled("page");
    struct buf out = BUF_EMPTY;

    buf_cstr(&out, "head ");
    assert_int_equal(mustache_render(mustache_find(set, STR("main")), &NOTHING, &out), ST_OK);
    assert_true(str_equal(buf_view(&out), STR("head page")));
    buf_free(&out);
    mustache_set_free(set);
}

/* ---- depth and size ---- */

/* A chain of objects: {k: {k: … {}}}, depth of them below the root. */
static void model_chain(struct model *m, unsigned depth)
{
    struct value *v = &m->root;

    for (unsigned i = 0; i < depth; i++)
        v = value_object(m, v, "k");
    value_bool(m, v, "k", false);
}

static enum status render_chain(const char *text, unsigned depth, struct buf *out)
{
    struct mustache_set *set = compiled(text);
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;

    model_init(&m, a);
    model_chain(&m, depth);
    enum status st = mustache_render(mustache_find(set, STR("main")), &m.root, out);
    arena_free(a);
    mustache_set_free(set);
    return st;
}

static void a_recursive_template_stops_at_the_depth_limit(void **state)
{
    (void)state;
    struct buf out = BUF_EMPTY;

    /* Each turn holds a section and a call. */
    assert_int_equal(render_chain("x{{#k}}{{>main}}{{/k}}", MUSTACHE_DEPTH_MAX / 2, &out), ST_OK);
    assert_int_equal(out.len, MUSTACHE_DEPTH_MAX / 2 + 1);
    assert_int_equal(render_chain("x{{#k}}{{>main}}{{/k}}", MUSTACHE_DEPTH_MAX / 2 + 1, &out), ST_INVALID);
    assert_int_equal(out.len, MUSTACHE_DEPTH_MAX / 2 + 1);
    buf_free(&out);
}

static void a_template_that_calls_itself_for_ever_is_stopped(void **state)
{
    (void)state;
    struct buf out = BUF_EMPTY;

    assert_int_equal(render_chain("x{{>main}}", 0, &out), ST_INVALID);
    assert_int_equal(out.len, 0);
    assert_int_equal(render_chain("{{<main}}{{$a}}{{>main}}{{/a}}{{/main}}{{$a}}{{/a}}", 0, &out), ST_INVALID);
    assert_int_equal(out.len, 0);
    buf_free(&out);
}

/* Compiles count templates t0, t1, …, each made of `format` with the next one's number; the last is empty. */
static enum status compile_ladder(size_t count, const char *format, char *error, size_t error_size)
{
    static char names[256][24], texts[256][64];
    static struct mustache_source sources[256];
    struct mustache_set *set = NULL;

    assert_true(count <= 256);
    for (size_t i = 0; i < count; i++) {
        char next[24];
        snprintf(names[i], sizeof names[i], "t%zu", i);
        snprintf(next, sizeof next, "t%zu", i + 1);
        texts[i][0] = '\0';
        for (const char *p = format; i + 1 < count && *p; p++)
            strncat(texts[i], *p == '#' ? next : (const char[]){ *p, '\0' }, sizeof texts[i] - strlen(texts[i]) - 1);
        sources[i] = (struct mustache_source){ .name = str_from(names[i]), .text = str_from(texts[i]) };
    }
    enum status st = mustache_set_compile(sources, count, false, &set, error, error_size);
    mustache_set_free(set);
    return st;
}

static void templates_that_nest_too_deep_are_refused(void **state)
{
    (void)state;
    char error[ERROR_BYTES] = "";

    assert_int_equal(compile_ladder(MUSTACHE_DEPTH_MAX + 1, "{{>#}}", error, sizeof error), ST_OK);
    assert_int_equal(compile_ladder(MUSTACHE_DEPTH_MAX + 2, "{{>#}}", error, sizeof error), ST_INVALID);
    assert_string_equal(error, "t0:1:1: more than 64 partials and parents within each other");
}

static void templates_that_double_and_double_are_refused(void **state)
{
    (void)state;
    char error[ERROR_BYTES] = "";

    assert_int_equal(compile_ladder(12, "{{>#}}{{>#}}", error, sizeof error), ST_OK);
    assert_int_equal(compile_ladder(40, "{{>#}}{{>#}}", error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
    assert_int_equal(compile_ladder(40, "{{v}}{{v}}{{v}}{{v}}{{>#}}{{>#}}", error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
    assert_int_equal(compile_ladder(40, "{{$b}}{{/b}}{{>#}}{{$b}}{{/b}}{{>#}}", error, sizeof error), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
}

/* ---- memory ---- */

static void a_name_given_twice_is_refused(void **state)
{
    (void)state;
    char error[ERROR_BYTES] = "";
    const struct mustache_source sources[] = {
        { .name = STR("b"), .text = STR("1") },
        { .name = STR("a"), .text = STR("2") },
        { .name = STR("b"), .text = STR("3") },
    };
    struct mustache_set *set = NULL;

    assert_int_equal(mustache_set_compile(sources, 3, false, &set, error, sizeof error), ST_INVALID);
    assert_null(set);
    assert_string_equal(error, "b:1:1: there are two templates of this name");
}

static void a_set_needs_its_sources_no_more(void **state)
{
    (void)state;
    char name[] = "main", text[] = "a{{#x.y}}b{{/x.y}}{{^x.y}}c{{/x.y}}";
    struct mustache_source source = { .name = str_from(name), .text = str_from(text), .file = str_from(text) };
    struct mustache_set *set = NULL;
    char error[ERROR_BYTES];

    assert_int_equal(mustache_set_compile(&source, 1, false, &set, error, sizeof error), ST_OK);
    memset(name, 'z', sizeof name);
    memset(text, 'z', sizeof text);
    memset(&source, 0, sizeof source);
    assert_page(mustache_find(set, STR("main")), &NOTHING, "ac");
    mustache_set_free(set);
}

static void a_set_of_nothing_is_a_set(void **state)
{
    (void)state;
    struct mustache_set *set = NULL;
    char error[ERROR_BYTES];

    assert_int_equal(mustache_set_compile(NULL, 0, false, &set, error, sizeof error), ST_OK);
    assert_null(mustache_find(set, STR("main")));
    mustache_set_free(set);
    mustache_set_free(NULL);
}

static void a_long_message_is_cut_to_its_room(void **state)
{
    (void)state;
    char error[8];
    struct mustache_set *set = NULL;

    memset(error, 'x', sizeof error);
    assert_int_equal(compile_one("{{>nobody}}", &set, error, sizeof error), ST_INVALID);
    assert_string_equal(error, "main:1:");
}

static void a_full_buffer_is_reported_and_the_page_taken_back(void **state)
{
    (void)state;
    struct mustache_set *set = compiled("0123456789{{v}}0123456789");
    struct buf out = { .limit = 15 };

    buf_cstr(&out, "head");
    assert_int_equal(mustache_render(mustache_find(set, STR("main")), &NOTHING, &out), ST_NO_MEMORY);
    assert_true(out.failed);
    assert_int_equal(out.len, 4);
    buf_free(&out);
    mustache_set_free(set);
}

/* A template so large that reading, parsing and compiling it allocate many times. */
static void folder_write_large(const struct folder *f)
{
    static const char piece[] = "{{#a}}{{b.c.d}} x\n  {{>layout}}\n{{$x}}y{{/x}}\n  {{<layout}}\n{{$main}}\n z\n"
                                "{{/main}}\n  {{/layout}}\n{{#k}}{{>large}}{{/k}}{{/a}}{{{e}}}\n";
    struct buf text = BUF_EMPTY;

    for (unsigned i = 0; i < 1500; i++)
        buf_cstr(&text, piece);
    buf_char(&text, '\0');
    folder_write(f, "large.mustache", text.ptr);
    buf_free(&text);
}

/* ---- sources beside a folder ---- */

static void the_caller_adds_templates_to_a_folder(void **state)
{
    const struct folder *f = *state;
    char error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;
    const struct mustache_source extra[] = {
        { .name = STR("words/hi"), .text = STR("Hello, <b>{{name}}</b>!") },
        { .name = STR("words/none"), .text = STR("") },
        { .name = STR("a"), .text = STR("{{>words/hi}} {{>layout}}") },
    };

    folder_write(f, "pages/home.mustache", "<p title=\"{{>words/none}}\">{{>a}}</p>");
    if (mustache_set_load(f->path, extra, 3, &set, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
    model_init(&m, a);
    value_text(&m, &m.root, "name", STR("Ann"));
    assert_page(mustache_find(set, STR("pages/home")), &m.root, "<p title=\"\">Hello, <b>Ann</b>! <></p>");
    assert_page(mustache_find(set, STR("words/hi")), &m.root, "Hello, <b>Ann</b>!");
    assert_true(str_equal(mustache_name(mustache_at(set, 0)), STR("a")));
    assert_false(mustache_set_changed(set));
    folder_write(f, "pages/home.mustache", "{{>words/hi}}");
    assert_true(mustache_set_changed(set));
    mustache_set_free(set);
    arena_free(a);
}

static void extra_refused(const struct folder *f, struct mustache_source extra, const char *message)
{
    char error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    assert_int_equal(mustache_set_load(f->path, &extra, 1, &set, error, sizeof error), ST_INVALID);
    assert_null(set);
    assert_string_equal(error, message);
}

static void an_error_in_an_added_source_names_the_place_it_comes_from(void **state)
{
    struct mustache_source extra = { .name = STR("words/hi"), .text = STR("红包 {{#x}}\n {{>none}}") };

    extra_refused(*state, extra, "words/hi:2:2: there is no template none");
    extra.text = STR("红包 {{#x}}\n");
    extra.file = STR("words.txt");
    extra_refused(*state, extra, "words.txt:1:4: {{#x}} is never closed");
    extra.first_line = 6;
    extra.first_column = 5;
    extra_refused(*state, extra, "words.txt:7:9: {{#x}} is never closed");
    extra.text = STR("\n {{#x}}");
    extra_refused(*state, extra, "words.txt:8:2: {{#x}} is never closed");
}

static void an_added_source_must_not_have_the_name_of_a_file(void **state)
{
    const struct mustache_source extra = { .name = STR("layout"), .text = STR("x") };
    char error[ERROR_BYTES] = "";
    struct mustache_set *set = NULL;

    assert_int_equal(mustache_set_load(((const struct folder *)*state)->path, &extra, 1, &set, error, sizeof error),
                     ST_INVALID);
    assert_null(set);
    assert_non_null(strstr(error, "there are two templates of this name"));
}

static void every_allocation_of_a_load_may_fail(void **state)
{
    const struct folder *f = *state;
    const struct mustache_source extra = { .name = STR("words/hi"), .text = STR("Hello, {{name}}") };
    char error[ERROR_BYTES];
    enum status st = ST_NO_MEMORY;

    folder_write_large(f);
    for (unsigned n = 1; st != ST_OK; n++) {
        struct mustache_set *set = NULL;
        allocations_left = n;
        allocations_failed = 0;
        error[0] = '\0';
        st = mustache_set_load(f->path, &extra, 1, &set, error, sizeof error);
        allocations_left = 0;
        assert_true(n < 1000);
        if (st == ST_OK) {
            assert_int_equal(allocations_failed, 0);
            assert_true(n > 30);
        } else {
            assert_int_equal(st, ST_NO_MEMORY);
            assert_string_equal(error, "no memory for the templates");
            assert_null(set);
        }
        mustache_set_free(set);
    }
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, folder_setup, folder_teardown)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(a_folder_gives_templates_named_by_their_paths),
        IN_FOLDER(the_templates_of_a_set_are_listed_by_name),
        IN_FOLDER(other_and_hidden_files_are_left_alone),
        IN_FOLDER(an_empty_folder_is_an_empty_set),
        IN_FOLDER(an_error_names_the_file_the_line_and_the_column),
        IN_FOLDER(a_file_that_is_too_large_is_refused),
        IN_FOLDER(a_folder_that_is_not_there_is_unavailable),
        IN_FOLDER(folders_that_lead_back_to_themselves_are_refused),
        IN_FOLDER(a_link_to_nowhere_is_left_alone),
        IN_FOLDER(a_folder_may_hold_hundreds_of_templates),
        IN_FOLDER(a_slash_behind_the_folder_does_not_matter),
        IN_FOLDER(an_untouched_folder_has_not_changed),
        IN_FOLDER(a_changed_file_changes_the_set),
        IN_FOLDER(each_change_is_told_once),
        IN_FOLDER(an_added_file_changes_the_set),
        IN_FOLDER(a_removed_file_changes_the_set),
        IN_FOLDER(a_renamed_file_changes_the_set),
        IN_FOLDER(the_same_templates_have_the_same_hash_and_others_another),
        IN_FOLDER(the_caller_adds_templates_to_a_folder),
        IN_FOLDER(an_error_in_an_added_source_names_the_place_it_comes_from),
        IN_FOLDER(an_added_source_must_not_have_the_name_of_a_file),
        cmocka_unit_test(a_set_from_memory_is_never_stale),
        cmocka_unit_test(every_byte_but_six_is_written_as_it_is),
        cmocka_unit_test(a_page_is_appended_to_what_is_there),
        cmocka_unit_test(a_recursive_template_stops_at_the_depth_limit),
        cmocka_unit_test(a_template_that_calls_itself_for_ever_is_stopped),
        cmocka_unit_test(templates_that_nest_too_deep_are_refused),
        cmocka_unit_test(templates_that_double_and_double_are_refused),
        cmocka_unit_test(a_name_given_twice_is_refused),
        cmocka_unit_test(a_set_needs_its_sources_no_more),
        cmocka_unit_test(a_set_of_nothing_is_a_set),
        cmocka_unit_test(a_long_message_is_cut_to_its_room),
        cmocka_unit_test(a_full_buffer_is_reported_and_the_page_taken_back),
        IN_FOLDER(every_allocation_of_a_load_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
