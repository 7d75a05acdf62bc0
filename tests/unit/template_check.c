/* template_check DIR LANGUAGE [OUT [UNIT DECIMALS SYMBOL NAME_ZH NAME_EN]]: compiles all templates below DIR with the
 * texts of the language and of the unit of money and renders every example: DIR/examples/NAME.json is a context for the
 * template NAME. Every page (DIR/pages/…) must have an example. What is rendered goes to the folder OUT, pages/home as
 * pages-home.html. Errors go to stderr; the exit code is then 1. */
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/money.h"
#include "mustache/mustache_json.h"
#include "web/templates.h"

enum { ERROR_BYTES = 512 };
static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10, ARENA_BYTES_MAX = (size_t)16 << 20;
static const struct str EXAMPLE_ENDING = { ".json", 5 };

struct check {
    const char *dir;
    const char *out; /* NULL: nothing is written */
    const struct mustache_set *set;
    struct arena *arena;
};

static bool problem(const char *path, const char *what)
{
    fprintf(stderr, "%s:1: %s\n", path, what);
    return false;
}

static void example_path(const struct check *c, struct str name, char out[PATH_MAX])
{
    snprintf(out, PATH_MAX, "%s/examples/%.*s%s", c->dir, STR_ARG(name), EXAMPLE_ENDING.ptr);
}

static bool has_example(const struct check *c, struct str name)
{
    char path[PATH_MAX];

    example_path(c, name, path);
    return access(path, F_OK) == 0 || problem(path, "this page has no example");
}

/* Parses an example. NULL after an error, which is on stderr. */
static json_t *example_parse(const char *path)
{
    json_error_t error;
    json_t *example = json_load_file(path, JSON_REJECT_DUPLICATES, &error);

    if (!example) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, error.line, error.column, error.text);
    } else if (!json_is_object(example)) {
        problem(path, "an example is an object");
        json_decref(example);
        return NULL;
    }
    return example;
}

static bool example_render(const struct check *c, const struct mustache *template, struct buf *out)
{
    char path[PATH_MAX];

    example_path(c, mustache_name(template), path);
    json_t *example = example_parse(path);
    bool ok = example != NULL;
    if (ok) {
        const struct value *context = value_from_json(c->arena, example);
        enum status st = context ? mustache_render(template, context, out) : ST_NO_MEMORY;
        if (st != ST_OK)
            ok = problem(path, st == ST_NO_MEMORY ? "no memory" : "with this example the template nests too deep");
    }
    json_decref(example);
    arena_reset(c->arena);
    return ok;
}

static bool example_write(const struct check *c, struct str name, struct str page)
{
    char path[PATH_MAX];
    int len = snprintf(path, PATH_MAX, "%s/", c->out);
    (void)snprintf(path + len, PATH_MAX - (size_t)len, "%.*s.html", STR_ARG(name));
    for (char *slash = path + len; (slash = strchr(slash, '/')) != NULL;)
        *slash = '-';
    FILE *file = fopen(path, "w");
    bool ok = file != NULL && fwrite(page.ptr, 1, page.len, file) == page.len;
    ok = (file == NULL || fclose(file) == 0) && ok;
    return ok || problem(path, "it can't be written");
}

/* Checks one file below DIR/examples. file: its path relative to that folder. */
static bool check_example(const struct check *c, const char *path, struct str file)
{
    struct buf out = BUF_EMPTY;
    struct str name = file;

    if (file.len < EXAMPLE_ENDING.len ||
        memcmp(file.ptr + file.len - EXAMPLE_ENDING.len, EXAMPLE_ENDING.ptr, EXAMPLE_ENDING.len) != 0)
        return problem(path, "the name of an example ends with .json");
    name.len -= EXAMPLE_ENDING.len;
    const struct mustache *template = mustache_find(c->set, name);
    if (!template)
        return problem(path, "there is no template of this name");
    bool ok = example_render(c, template, &out) && (c->out == NULL || example_write(c, name, buf_view(&out)));
    buf_free(&out);
    return ok;
}

static bool check_examples(const struct check *c)
{
    char folder[PATH_MAX];
    char *const roots[] = { folder, NULL };
    unsigned examples = 0;
    bool ok = true;

    snprintf(folder, sizeof folder, "%s/examples", c->dir);
    FTS *files = fts_open(roots, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    if (!files)
        return problem(folder, "it can't be read");
    for (const FTSENT *entry; (entry = fts_read(files)) != NULL;) {
        if (entry->fts_info == FTS_D || entry->fts_info == FTS_DP)
            continue;
        examples++;
        ok = (entry->fts_info == FTS_F
                  ? check_example(c, entry->fts_path, str_from(entry->fts_path + strlen(folder) + 1))
                  : problem(entry->fts_path, "it can't be read")) &&
             ok;
    }
    fts_close(files);
    printf("%u examples\n", examples);
    return ok;
}

static bool check_pages(const struct check *c)
{
    bool ok = true;
    const struct mustache *t;

    for (size_t i = 0; (t = mustache_at(c->set, i)) != NULL; i++)
        if (str_starts(mustache_name(t), STR("pages/")))
            ok = has_example(c, mustache_name(t)) && ok;
    return ok;
}

/* Sets the unit from UNIT DECIMALS SYMBOL NAME_ZH NAME_EN, if they are there. */
static bool unit_read(int argc, char *const *argv)
{
    enum { ARGUMENTS = 5 };
    if (argc == ARGUMENTS)
        money_unit_set(&(struct money_unit){
            .code = argv[0], .decimals = atoi(argv[1]), .symbol = argv[2], .name_zh = argv[3], .name_en = argv[4] });
    return argc <= 0 || argc == ARGUMENTS;
}

int main(int argc, char **argv)
{
    char error[ERROR_BYTES] = "no memory";
    struct templates templates = { 0 };
    enum language language;

    if (argc < 3 || !language_from_tag(str_from(argv[2]), &language) || !unit_read(argc - 4, argv + 4)) {
        fprintf(stderr, "usage: template_check DIR LANGUAGE [OUT [UNIT DECIMALS SYMBOL NAME_ZH NAME_EN]]\n");
        return 2;
    }
    struct check c = { .dir = argv[1], .out = argv[3], .arena = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX) };
    if (!c.arena || templates_load(c.dir, &templates, error, sizeof error) != ST_OK) {
        fprintf(stderr, "%s\n", error);
        arena_free(c.arena);
        return EXIT_FAILURE;
    }
    c.set = templates.sets[language];
    bool ok = check_examples(&c);
    ok = check_pages(&c) && ok;
    templates_free(&templates);
    arena_free(c.arena);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
