/* Any bytes as templates: they compile or are refused, and what compiles renders within its limits. The input is cut
 * at its NUL bytes into the templates main, p, q and r, which can name each other. */
#include <stdlib.h>

#include "mustache/mustache.h"

enum { TEMPLATES = 4, ERROR_BYTES = 256, CHUNK_BYTES = 4096, MODEL_BYTES = 1 << 16 };
static const size_t PAGE_BYTES_MAX = (size_t)1 << 20;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* {a: {b: "<x>", l: [{b: 1, a: {}}, {}]}, t: true, f: false, n: null, v: "& \"'`"} */
static void model_fill(struct model *m)
{
    struct value *a = value_object(m, &m->root, "a");
    value_text(m, a, "b", STR("<x>"));
    struct value *l = value_list(m, a, "l");
    struct value *item = value_add_object(m, l);
    value_int(m, item, "b", 1);
    value_object(m, item, "a");
    value_add_object(m, l);
    value_bool(m, &m->root, "t", true);
    value_bool(m, &m->root, "f", false);
    value_null(m, &m->root, "n");
    value_text(m, &m->root, "v", STR("& \"'`"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct str names[TEMPLATES] = { { "main", 4 }, { "p", 1 }, { "q", 1 }, { "r", 1 } };
    struct mustache_source sources[TEMPLATES] = { 0 };
    struct str rest = { (const char *)data, size };
    struct mustache_set *set = NULL;
    char error[ERROR_BYTES] = "";

    for (size_t i = 0; i < TEMPLATES; i++)
        sources[i] =
            (struct mustache_source){ .name = names[i], .text = i + 1 < TEMPLATES ? str_cut(rest, '\0', &rest) : rest };
    if (mustache_set_compile(sources, TEMPLATES, true, &set, error, sizeof error) != ST_OK) {
        if (error[0] == '\0')
            abort();
        return 0;
    }
    struct arena *arena = arena_new(CHUNK_BYTES, MODEL_BYTES);
    struct model m;
    model_init(&m, arena);
    model_fill(&m);
    for (size_t i = 0; i < TEMPLATES; i++) {
        struct buf out = { .limit = PAGE_BYTES_MAX };
        (void)mustache_render(mustache_at(set, i), &m.root, &out);
        buf_free(&out);
    }
    arena_free(arena);
    mustache_set_free(set);
    return 0;
}
