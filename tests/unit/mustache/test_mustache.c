/* Tests of the template engine that can't be JSON cases like those beside this file (mustache_spec runs them): folders,
 * limits, memory. */
#include "mustache/mustache.h"
#include "support/failing_malloc.h"
#include "support/test_folder.h"

enum { MODEL_CHUNK_BYTES = 16 << 10, MODEL_BYTES = 1 << 20 };

/* ---- a folder of templates, and a set from text ---- */

static int pages_setup(void **state)
{
    assert_int_equal(folder_setup(state), 0);
    assert_int_equal(mkdir(folder_path("pages"), 0700), 0);
    folder_write("layout.mustache", "<{{$main}}{{/main}}>");
    folder_write("pages/home.mustache", "{{<layout}}{{$main}}hello {{name}}{{/main}}{{/layout}}");
    return 0;
}

static struct mustache_set *set; /* the set of the running test */
static char error[512];          /* why it could not be made */

static int set_end(void **state)
{
    (void)state;
    mustache_set_free(set);
    set = NULL;
    error[0] = '\0';
    return 0;
}

static int pages_teardown(void **state)
{
    return set_end(state) | folder_teardown(state);
}

static void folder_load(const struct mustache_source *extra, size_t count)
{
    (void)set_end(NULL);
    if (mustache_set_load(folder, extra, count, &set, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
}

/* Expects the folder, with the source extra (may be NULL), to be refused with an error that contains message. */
static void folder_refused(const struct mustache_source *extra, enum status want, const char *message)
{
    assert_int_equal(mustache_set_load(folder, extra, extra != NULL, &set, error, sizeof error), want);
    assert_null(set);
    if (strstr(error, message) == NULL)
        fail_msg("\"%s\" has no \"%s\"", error, message);
}

/* Expects a file of the folder to be refused with exactly this error behind "FOLDER/". */
static void file_refused(const char *message)
{
    assert_int_equal(mustache_set_load(folder, NULL, 0, &set, error, sizeof error), ST_INVALID);
    assert_null(set);
    assert_string_equal(error, folder_path(message));
}

static void compile(const char *text)
{
    const struct mustache_source main_source = { .name = STR("main"), .text = str_from(text) };
    (void)set_end(NULL);
    if (mustache_set_compile(&main_source, 1, false, &set, error, sizeof error) != ST_OK)
        fail_msg("%s", error);
}

static void assert_page(struct str name, const struct value *context, const char *expected)
{
    const struct mustache *t = mustache_find(set, name);
    struct buf out = BUF_EMPTY;
    assert_non_null(t);
    assert_int_equal(mustache_render(t, context, &out), ST_OK);
    buf_char(&out, '\0');
    assert_string_equal(out.ptr, expected);
    buf_free(&out);
}

static const struct value NOTHING = { .type = VALUE_OBJECT };

/* ---- folders ---- */

TEST_WITH(a_folder_gives_templates_named_by_their_paths_and_lists_them, pages_setup, pages_teardown)
{
    folder_load(NULL, 0);
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;
    model_init(&m, a);
    value_text(&m, &m.root, "name", STR("红包"));
    assert_page(STR("pages/home"), &m.root, "<hello 红包>");
    assert_page(STR("layout"), &m.root, "<>");
    assert_null(mustache_find(set, STR("home")));
    assert_null(mustache_find(set, STR("pages/home.mustache")));
    assert_null(mustache_find(set, STR("")));
    arena_free(a);
    folder_write("another.mustache", "");
    folder_load(NULL, 0);
    assert_true(str_equal(mustache_name(mustache_at(set, 0)), STR("another")));
    assert_true(str_equal(mustache_name(mustache_at(set, 1)), STR("layout")));
    assert_true(str_equal(mustache_name(mustache_at(set, 2)), STR("pages/home")));
    assert_null(mustache_at(set, 3));
}

TEST_WITH(other_and_hidden_files_and_links_to_nowhere_are_left_alone, pages_setup, pages_teardown)
{
    EACH_TEXT (name, "notes.txt", ".swap.mustache", "pages/home.mustache~", "pages/home.json", "mustache")
        folder_write(name, "{{#never closed");
    assert_int_equal(symlink("nowhere", folder_path("gone.mustache")), 0);
    folder_load(NULL, 0);
    assert_null(mustache_at(set, 2));
    assert_false(mustache_set_changed(set));
    folder_write("pages/home.json", "{}");
    folder_write("notes.txt", "not a template");
    assert_false(mustache_set_changed(set));
}

TEST_WITH(an_empty_folder_is_an_empty_set, pages_setup, pages_teardown)
{
    folder_remove("layout.mustache");
    folder_remove("pages/home.mustache");
    folder_load(NULL, 0);
    assert_null(mustache_at(set, 0));
    assert_null(mustache_find(set, STR("layout")));
    assert_false(mustache_set_changed(set));
}

TEST_WITH(an_error_names_the_file_the_line_and_the_column_and_a_large_file_is_one, pages_setup, pages_teardown)
{
    folder_write("pages/home.mustache", "one\n红包 {{> partials/none}}");
    file_refused("pages/home.mustache:2:4: there is no template partials/none");
    folder_write("pages/home.mustache", "{{#a}}\n\n  {{/b}}");
    file_refused("pages/home.mustache:3:3: {{/b}} where {{#a}} is open");
    folder_write("pages/home.mustache", "\r\n\r\n{{name");
    file_refused("pages/home.mustache:3:1: this tag is never closed");
    assert_int_equal(truncate(folder_path("pages/home.mustache"), (off_t)MUSTACHE_SOURCE_BYTES_MAX + 1), 0);
    file_refused("pages/home.mustache:1:1: the file is larger than 1048576 bytes");
}

TEST_WITH(a_folder_that_is_not_there_or_leads_back_to_itself_is_unavailable, pages_setup, pages_teardown)
{
    assert_int_equal(mustache_set_load(folder_path("nowhere"), NULL, 0, &set, error, sizeof error), ST_UNAVAILABLE);
    assert_null(set);
    assert_non_null(strstr(error, "nowhere: "));
    assert_int_equal(symlink(".", folder_path("again")), 0);
    folder_refused(NULL, ST_UNAVAILABLE, "too many folders within each other");
}

TEST_WITH(a_folder_may_hold_hundreds_of_templates, pages_setup, pages_teardown)
{
    char name[64], text[64];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "many%03u.mustache", i);
        snprintf(text, sizeof text, "%u{{>many%03u}}", i, i + 1);
        folder_write(name, i % 50 == 49 ? "end" : text);
    }
    folder_load(NULL, 0);
    assert_page(STR("many000"), &NOTHING,
                "0123456789101112131415161718192021222324252627282930313233343536373839404142434445464748end");
    assert_page(STR("many298"), &NOTHING, "298end");
}

TEST_WITH(a_slash_behind_the_folder_does_not_matter, pages_setup, pages_teardown)
{
    strcat(folder, "/");
    folder_load(NULL, 0);
    assert_non_null(mustache_find(set, STR("pages/home")));
    assert_false(mustache_set_changed(set));
}

/* ---- changes ---- */

/* Expects that one change is reported since the last call. */
static void assert_changed_once(void)
{
    assert_true(mustache_set_changed(set));
    assert_false(mustache_set_changed(set));
}

TEST_WITH(each_change_of_a_file_is_told_once, pages_setup, pages_teardown)
{
    char from[sizeof folder_file];
    folder_load(NULL, 0);
    folder_write("pages/home.mustache", "something else");
    assert_true(mustache_set_changed(set));
    folder_load(NULL, 0);
    assert_false(mustache_set_changed(set));
    assert_page(STR("pages/home"), &NOTHING, "something else");
    folder_write("pages/login.mustache", "");
    assert_changed_once();
    folder_remove("pages/login.mustache");
    assert_changed_once();
    (void)snprintf(from, sizeof from, "%s", folder_path("pages/home.mustache"));
    assert_int_equal(rename(from, folder_path("pages/house.mustache")), 0);
    assert_changed_once();
    folder_write("pages/house.mustache", "{{#broken");
    assert_changed_once();
    folder_write("pages/house.mustache", "{{#still broken");
    assert_changed_once();
}

TEST_WITH(the_same_templates_have_the_same_hash_and_others_another, pages_setup, pages_teardown)
{
    folder_load(NULL, 0);
    const uint64_t content = mustache_set_content(set);
    folder_load(NULL, 0);
    assert_int_equal(mustache_set_content(set), content);
    folder_write("pages/home.mustache", "{{<layout}}{{$content}}hello, {{name}}{{/content}}{{/layout}}");
    folder_load(NULL, 0);
    assert_int_not_equal(mustache_set_content(set), content);
}

/* ---- escaping ---- */

TEST_WITH(every_byte_but_six_is_written_as_it_is, NULL, set_end)
{
    compile("{{.}}");
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
}

TEST_WITH(a_page_is_appended_to_what_is_there_or_taken_back, NULL, set_end)
{
    compile("page");
    struct buf out = BUF_EMPTY;
    buf_cstr(&out, "head ");
    assert_int_equal(mustache_render(mustache_find(set, STR("main")), &NOTHING, &out), ST_OK);
    assert_true(str_equal(buf_view(&out), STR("head page")));
    buf_free(&out);
    compile("0123456789{{v}}0123456789");
    struct buf full = { .limit = 15 };
    buf_cstr(&full, "head");
    assert_int_equal(mustache_render(mustache_find(set, STR("main")), &NOTHING, &full), ST_NO_MEMORY);
    assert_true(full.failed);
    assert_int_equal(full.len, 4);
    buf_free(&full);
    compile("x");
    assert_false(mustache_set_changed(set));
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
    compile(text);
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;
    model_init(&m, a);
    model_chain(&m, depth);
    enum status st = mustache_render(mustache_find(set, STR("main")), &m.root, out);
    arena_free(a);
    return st;
}

TEST_WITH(a_template_that_calls_itself_is_stopped_at_the_depth_limit, NULL, set_end)
{
    struct buf out = BUF_EMPTY;
    assert_int_equal(render_chain("x{{>main}}", 0, &out), ST_INVALID);
    assert_int_equal(out.len, 0);
    assert_int_equal(render_chain("{{<main}}{{$a}}{{>main}}{{/a}}{{/main}}{{$a}}{{/a}}", 0, &out), ST_INVALID);
    assert_int_equal(out.len, 0);
    buf_free(&out);
    /* Each turn holds a section and a call. */
    assert_int_equal(render_chain("x{{#k}}{{>main}}{{/k}}", MUSTACHE_DEPTH_MAX / 2, &out), ST_OK);
    assert_int_equal(out.len, MUSTACHE_DEPTH_MAX / 2 + 1);
    assert_int_equal(render_chain("x{{#k}}{{>main}}{{/k}}", MUSTACHE_DEPTH_MAX / 2 + 1, &out), ST_INVALID);
    assert_int_equal(out.len, MUSTACHE_DEPTH_MAX / 2 + 1);
    buf_free(&out);
}

/* Compiles count templates t0, t1, …, each made of `format` with the next one's number; the last is empty. */
static enum status compile_ladder(size_t count, const char *format)
{
    static char names[256][24], texts[256][64];
    static struct mustache_source sources[256];
    assert_true(count <= 256);
    (void)set_end(NULL);
    for (size_t i = 0; i < count; i++) {
        char next[24];
        snprintf(names[i], sizeof names[i], "t%zu", i);
        snprintf(next, sizeof next, "t%zu", i + 1);
        texts[i][0] = '\0';
        for (const char *p = format; i + 1 < count && *p; p++)
            strncat(texts[i], *p == '#' ? next : (const char[]){ *p, '\0' }, sizeof texts[i] - strlen(texts[i]) - 1);
        sources[i] = (struct mustache_source){ .name = str_from(names[i]), .text = str_from(texts[i]) };
    }
    return mustache_set_compile(sources, count, false, &set, error, sizeof error);
}

TEST_WITH(templates_that_nest_too_deep_or_double_and_double_are_refused, NULL, set_end)
{
    assert_int_equal(compile_ladder(MUSTACHE_DEPTH_MAX + 1, "{{>#}}"), ST_OK);
    assert_int_equal(compile_ladder(MUSTACHE_DEPTH_MAX + 2, "{{>#}}"), ST_INVALID);
    assert_string_equal(error, "t0:1:1: more than 64 partials and parents within each other");
    assert_int_equal(compile_ladder(12, "{{>#}}{{>#}}"), ST_OK);
    assert_int_equal(compile_ladder(40, "{{>#}}{{>#}}"), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
    assert_int_equal(compile_ladder(40, "{{v}}{{v}}{{v}}{{v}}{{>#}}{{>#}}"), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
    assert_int_equal(compile_ladder(40, "{{$b}}{{/b}}{{>#}}{{$b}}{{/b}}{{>#}}"), ST_INVALID);
    assert_non_null(strstr(error, "it is too large"));
}

/* ---- memory ---- */

TEST_WITH(a_name_given_twice_is_refused_a_long_message_cut_and_a_set_of_nothing_is_a_set, NULL, set_end)
{
    const struct mustache_source sources[] = { { .name = STR("b"), .text = STR("1") },
                                               { .name = STR("a"), .text = STR("2") },
                                               { .name = STR("b"), .text = STR("3") } };
    assert_int_equal(mustache_set_compile(sources, 3, false, &set, error, sizeof error), ST_INVALID);
    assert_null(set);
    assert_string_equal(error, "b:1:1: there are two templates of this name");
    const struct mustache_source main_source = { .name = STR("main"), .text = STR("{{>nobody}}") };
    char few[8];
    memset(few, 'x', sizeof few);
    assert_int_equal(mustache_set_compile(&main_source, 1, false, &set, few, sizeof few), ST_INVALID);
    assert_string_equal(few, "main:1:");
    assert_int_equal(mustache_set_compile(NULL, 0, false, &set, error, sizeof error), ST_OK);
    assert_null(mustache_find(set, STR("main")));
    mustache_set_free(NULL);
}

TEST_WITH(a_set_needs_its_sources_no_more, NULL, set_end)
{
    char name[] = "main", text[] = "a{{#x.y}}b{{/x.y}}{{^x.y}}c{{/x.y}}";
    struct mustache_source source = { .name = str_from(name), .text = str_from(text), .file = str_from(text) };
    assert_int_equal(mustache_set_compile(&source, 1, false, &set, error, sizeof error), ST_OK);
    memset(name, 'z', sizeof name);
    memset(text, 'z', sizeof text);
    memset(&source, 0, sizeof source);
    assert_page(STR("main"), &NOTHING, "ac");
}

/* A template so large that reading, parsing and compiling it allocate many times. */
static void folder_write_large(void)
{
    static const char piece[] = "{{#a}}{{b.c.d}} x\n  {{>layout}}\n{{$x}}y{{/x}}\n  {{<layout}}\n{{$main}}\n z\n"
                                "{{/main}}\n  {{/layout}}\n{{#k}}{{>large}}{{/k}}{{/a}}{{{e}}}\n";
    struct buf text = BUF_EMPTY;
    for (unsigned i = 0; i < 700; i++)
        buf_cstr(&text, piece);
    buf_char(&text, '\0');
    folder_write("large.mustache", text.ptr);
    buf_free(&text);
}

/* ---- sources beside a folder ---- */

TEST_WITH(the_caller_adds_templates_to_a_folder, pages_setup, pages_teardown)
{
    struct arena *a = arena_new(MODEL_CHUNK_BYTES, MODEL_BYTES);
    struct model m;
    const struct mustache_source extra[] = { { .name = STR("words/hi"), .text = STR("Hello, <b>{{name}}</b>!") },
                                             { .name = STR("words/none"), .text = STR("") },
                                             { .name = STR("a"), .text = STR("{{>words/hi}} {{>layout}}") } };
    folder_write("pages/home.mustache", "<p title=\"{{>words/none}}\">{{>a}}</p>");
    folder_load(extra, ARRAY_LEN(extra));
    model_init(&m, a);
    value_text(&m, &m.root, "name", STR("Ann"));
    assert_page(STR("pages/home"), &m.root, "<p title=\"\">Hello, <b>Ann</b>! <></p>");
    assert_page(STR("words/hi"), &m.root, "Hello, <b>Ann</b>!");
    assert_true(str_equal(mustache_name(mustache_at(set, 0)), STR("a")));
    assert_false(mustache_set_changed(set));
    folder_write("pages/home.mustache", "{{>words/hi}}");
    assert_true(mustache_set_changed(set));
    arena_free(a);
}

TEST_WITH(an_error_in_an_added_source_names_the_place_it_comes_from_and_its_name_is_new, pages_setup, pages_teardown)
{
    static const struct {
        struct mustache_source extra;
        const char *error;
    } cases[] = { { { .text = STR("红包 {{#x}}\n {{>none}}") }, "words/hi:2:2: there is no template none" },
                  { { .text = STR("红包 {{#x}}\n"), .file = STR("words.txt") },
                    "words.txt:1:4: {{#x}} is never closed" },
                  { { .text = STR("红包 {{#x}}\n"), .file = STR("words.txt"), .first_line = 6, .first_column = 5 },
                    "words.txt:7:9: {{#x}} is never closed" },
                  { { .text = STR("\n {{#x}}"), .file = STR("words.txt"), .first_line = 6, .first_column = 5 },
                    "words.txt:8:2: {{#x}} is never closed" } };
    EACH (row, cases) {
        struct mustache_source extra = row->extra;
        extra.name = STR("words/hi");
        assert_int_equal(mustache_set_load(folder, &extra, 1, &set, error, sizeof error), ST_INVALID);
        assert_null(set);
        assert_string_equal(error, row->error);
    }
    const struct mustache_source extra = { .name = STR("layout"), .text = STR("x") };
    folder_refused(&extra, ST_INVALID, "there are two templates of this name");
}

TEST_WITH(every_allocation_of_a_load_may_fail, pages_setup, pages_teardown)
{
    const struct mustache_source extra = { .name = STR("words/hi"), .text = STR("Hello, {{name}}") };
    enum status st = ST_NO_MEMORY;
    folder_write_large();
    for (unsigned n = 1; st != ST_OK; n++) {
        allocation_fails_in = n;
        allocations_failed = 0;
        error[0] = '\0';
        st = mustache_set_load(folder, &extra, 1, &set, error, sizeof error);
        allocation_fails_in = 0;
        assert_true(n < 1000);
        if (st == ST_OK) {
            assert_int_equal(allocations_failed, 0);
            assert_true(n > 30);
        } else {
            assert_int_equal(st, ST_NO_MEMORY);
            assert_string_equal(error, "no memory for the templates");
            assert_null(set);
        }
        (void)set_end(NULL);
    }
}

TESTS(NULL, NULL)
