/* template_check DIR LANGUAGE: compiles all templates below DIR with that language's texts and renders every page
 * (DIR/pages/…) with the example context of its first line. Names what fails, on stderr; exit 1 then.
 * template_check DIR LANGUAGE NAME: writes the page of that name ("pages/home", or "home") with its example to stdout.
 *
 * The first line is a comment, {{! example: JSON }}, where a blank keeps neighbouring closing braces apart. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "mustache/mustache.h"
#include "mustache_json.h"

enum { ERROR_BYTES = 512 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10, ARENA_BYTES_MAX = (size_t)16 << 20;

struct check {
    const char *dir;
    struct mustache_set *set;
    struct arena *arena;
};

static bool problem(const struct check *c, struct str name, const char *what)
{
    fprintf(stderr, "%s/%.*s.mustache:1: %s\n", c->dir, STR_ARG(name), what);
    return false;
}

/* The file's text, NUL-terminated, in the arena. */
static char *source_read(const struct check *c, struct str name)
{
    char path[PATH_MAX];
    char *text = arena_alloc(c->arena, MUSTACHE_SOURCE_BYTES_MAX + 1);

    if (!text || snprintf(path, sizeof path, "%s/%.*s.mustache", c->dir, STR_ARG(name)) >= (int)sizeof path)
        return NULL;
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    size_t len = fread(text, 1, MUSTACHE_SOURCE_BYTES_MAX, file);
    text[len] = '\0';
    fclose(file);
    return text;
}

/* The parsed example of a page; NULL after saying what is wrong. */
static json_t *example_parse(const struct check *c, struct str name)
{
    static const char begin[] = "{{! example:";
    json_error_t error;
    const char *text = source_read(c, name);

    if (!text || strncmp(text, begin, sizeof begin - 1) != 0) {
        problem(c, name, "the first line must be {{! example: {…} }}");
        return NULL;
    }
    const char *from = text + sizeof begin - 1, *to = strstr(from, "}}");
    if (!to) {
        problem(c, name, "the example is never closed");
        return NULL;
    }
    json_t *example = json_loadb(from, (size_t)(to - from), JSON_REJECT_DUPLICATES, &error);
    if (!example) {
        char what[ERROR_BYTES];
        snprintf(what, sizeof what, "the example is no JSON: %s (a blank must keep } and } apart)", error.text);
        problem(c, name, what);
    } else if (!json_is_object(example)) {
        problem(c, name, "the example is no object");
        json_decref(example);
        return NULL;
    }
    return example;
}

static bool page_render(const struct check *c, const struct mustache *page, struct buf *out)
{
    struct str name = mustache_name(page);
    json_t *example = example_parse(c, name);
    bool ok = example != NULL;

    if (ok) {
        const struct value *context = value_from_json(c->arena, example);
        enum status st = context ? mustache_render(page, context, out) : ST_NO_MEMORY;
        if (st != ST_OK)
            ok = problem(c, name, st == ST_NO_MEMORY ? "no memory" : "it nests too deep");
    }
    json_decref(example);
    arena_reset(c->arena);
    return ok;
}

static bool check_all(const struct check *c)
{
    bool ok = true;
    struct buf out = BUF_EMPTY;
    unsigned pages = 0;
    const struct mustache *t;

    for (size_t i = 0; (t = mustache_at(c->set, i)) != NULL; i++) {
        if (!str_starts(mustache_name(t), STR("pages/")))
            continue;
        pages++;
        buf_reset(&out);
        ok = page_render(c, t, &out) && ok;
    }
    buf_free(&out);
    printf("%u pages\n", pages);
    return ok;
}

static bool show_one(const struct check *c, const char *name)
{
    struct buf out = BUF_EMPTY;
    const struct mustache *page = mustache_find(c->set, str_from(name));

    if (!page) {
        struct str in_pages = arena_printf(c->arena, "pages/%s", name);
        page = in_pages.ptr ? mustache_find(c->set, in_pages) : NULL;
    }
    if (!page) {
        fprintf(stderr, "%s: there is no template %s\n", c->dir, name);
        return false;
    }
    bool ok = page_render(c, page, &out);
    if (ok)
        fwrite(out.ptr, 1, out.len, stdout);
    buf_free(&out);
    return ok;
}

int main(int argc, char **argv)
{
    char error[ERROR_BYTES] = "";

    if (argc != 3 && argc != 4) {
        fprintf(stderr, "usage: template_check DIR LANGUAGE [NAME]\n");
        return 2;
    }
    struct check c = { .dir = argv[1], .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX) };
    if (!c.arena || mustache_set_load(c.dir, argv[2], &c.set, error, sizeof error) != ST_OK) {
        fprintf(stderr, "%s\n", c.arena ? error : "no memory");
        arena_free(c.arena);
        return EXIT_FAILURE;
    }
    bool ok = argc == 4 ? show_one(&c, argv[3]) : check_all(&c);
    mustache_set_free(c.set);
    arena_free(c.arena);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
