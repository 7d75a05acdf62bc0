/* mustache_spec FILE.json…: runs the cases of files in the format of the official mustache spec
 * ({"tests": [{"name", "desc", "data", "template", "partials", "expected"}, …]}). A case of ours may have "error"
 * instead of "expected": the template must be refused with exactly this message, the template being called "main".
 * Names what failed, ends with the line `N passed, N failed`; exit 1 when a case failed or a file is no such file. */
#include <stdio.h>

#include "mustache/mustache.h"
#include "mustache_json.h"

enum { PARTIALS_MAX = 64, ERROR_BYTES = 512 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10, ARENA_BYTES_MAX = (size_t)64 << 20;

struct tally {
    unsigned passed, failed;
};

static struct str json_str(const json_t *json)
{
    return (struct str){ json_string_value(json), json_string_length(json) };
}

/* Compiles and renders one case. True: out holds the page; false: error says why not. */
static bool case_render(json_t *test, struct arena *a, struct buf *out, char *error, size_t error_size)
{
    struct mustache_source sources[PARTIALS_MAX + 1] = {
        { .name = STR("main"), .text = json_str(json_object_get(test, "template")) },
    };
    size_t count = 1;
    json_t *partials = json_object_get(test, "partials");
    bool missing_ok = !json_is_string(json_object_get(test, "error"));
    struct mustache_set *set = NULL;

    for (void *at = json_object_iter(partials); at; at = json_object_iter_next(partials, at)) {
        if (count > PARTIALS_MAX) {
            snprintf(error, error_size, "too many partials");
            return false;
        }
        sources[count++] = (struct mustache_source){ .name = str_from(json_object_iter_key(at)),
                                                     .text = json_str(json_object_iter_value(at)) };
    }
    const struct value *data = value_from_json(a, json_object_get(test, "data"));
    if (!data) {
        snprintf(error, error_size, "no memory for the data");
        return false;
    }
    if (mustache_set_compile(sources, count, missing_ok, &set, error, error_size) != ST_OK)
        return false;
    enum status st = mustache_render(mustache_find(set, STR("main")), data, out);
    if (st != ST_OK)
        snprintf(error, error_size, "rendering: %s", status_name(st));
    mustache_set_free(set);
    return st == ST_OK;
}

static bool case_passes(json_t *test, struct arena *a, const char *file)
{
    json_t *expected = json_object_get(test, "expected"), *refused = json_object_get(test, "error");
    const char *name = json_string_value(json_object_get(test, "name"));
    const char *label = name ? name : "(without a name)";
    char error[ERROR_BYTES] = "";
    struct buf out = BUF_EMPTY;

    if (!json_is_string(json_object_get(test, "template")) || !json_object_get(test, "data") ||
        json_is_string(expected) == json_is_string(refused)) {
        printf("%s: %s: not a case\n", file, label);
        return false;
    }
    bool rendered = case_render(test, a, &out, error, sizeof error);
    bool passes = rendered ? json_is_string(expected) && str_equal(buf_view(&out), json_str(expected))
                           : json_is_string(refused) && str_equal(str_from(error), json_str(refused));
    if (!passes) {
        struct str want = json_str(json_is_string(expected) ? expected : refused);
        struct str got = rendered ? buf_view(&out) : str_from(error);
        printf("%s: %s\n  wanted: ", file, label);
        struct buf line = BUF_EMPTY;
        value_json_string(&line, want);
        buf_cstr(&line, rendered ? "\n  got:    " : "\n  error:  ");
        value_json_string(&line, got);
        printf("%.*s\n", STR_ARG(buf_view(&line)));
        buf_free(&line);
    }
    buf_free(&out);
    return passes;
}

static bool file_run(const char *path, struct tally *tally)
{
    json_error_t error;
    json_t *file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    json_t *tests = json_object_get(file, "tests");
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    bool ok = file && json_is_array(tests) && a;

    if (!file)
        printf("%s:%d:%d: %s\n", path, error.line, error.column, error.text);
    else if (!ok)
        printf("%s: no list of tests, or no memory\n", path);
    for (size_t i = 0; ok && i < json_array_size(tests); i++) {
        if (case_passes(json_array_get(tests, i), a, path))
            tally->passed++;
        else
            tally->failed++;
        arena_reset(a);
    }
    arena_free(a);
    json_decref(file);
    return ok;
}

int main(int argc, char **argv)
{
    struct tally tally = { 0, 0 };
    bool ok = true;
    if (argc < 2) {
        fprintf(stderr, "usage: mustache_spec FILE.json...\n");
        return 2;
    }
    for (int i = 1; i < argc; i++)
        ok = file_run(argv[i], &tally) && ok;
    printf("%u passed, %u failed\n", tally.passed, tally.failed);
    return ok && tally.failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
