/* Our template engine alone: bench_mustache FOLDER NAME CONTEXT COUNT OUT compiles the templates of FOLDER, renders the
 * Chinese NAME COUNT times with the JSON of the file CONTEXT, writes the last page to OUT and prints the cost. */
#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "bench.h"
#include "unit/mustache/mustache_json.h"
#include "web/templates.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)64 << 10, ARENA_BYTES_MAX = (size_t)64 << 20;

static int64_t cpu_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static enum status render_all(const struct mustache *page, const struct value *context, uint64_t count, struct buf *out,
                              int64_t *ns)
{
    int64_t started_ns = cpu_ns();
    enum status st = ST_OK;
    for (uint64_t i = 0; st == ST_OK && i < count; i++) {
        buf_reset(out);
        st = mustache_render(page, context, out);
    }
    *ns = cpu_ns() - started_ns;
    return st;
}

static bool page_write(const char *path, const struct buf *page)
{
    FILE *file = fopen(path, "we");
    bool ok = file != NULL && fwrite(page->ptr, 1, page->len, file) == page->len;
    return file != NULL && fclose(file) == 0 && ok;
}

int main(int argc, char **argv)
{
    char error[512] = "";
    uint64_t count;
    struct templates templates = { 0 };
    struct buf out = BUF_EMPTY;
    int64_t ns = 0;
    if (argc != 6 || !bench_number(argv[4], 1, UINT32_MAX, &count)) {
        (void)fputs("usage: bench_mustache FOLDER NAME CONTEXT COUNT OUT\n", stderr);
        return 2;
    }
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_BYTES_MAX);
    json_t *json = json_load_file(argv[3], 0, NULL);
    if (a == NULL || json == NULL)
        return bench_fail(argv[3], ST_INVALID);
    if (templates_load(argv[1], &templates, error, sizeof error) != ST_OK)
        return bench_fail(error, ST_INVALID);
    const struct mustache *page = templates_find(&templates, LANGUAGE_ZH_CN, str_from(argv[2]));
    const struct value *context = value_from_json(a, json);
    enum status st = page == NULL ? ST_NOT_FOUND : context == NULL ? ST_NO_MEMORY : ST_OK;
    if (st == ST_OK)
        st = render_all(page, context, count, &out, &ns);
    if (st == ST_OK && !page_write(argv[5], &out))
        st = ST_UNAVAILABLE;
    if (st == ST_OK)
        (void)printf("{\"count\":%llu,\"own_ns\":%lld}\n", (unsigned long long)count, (long long)ns);
    buf_free(&out);
    templates_free(&templates);
    json_decref(json);
    arena_free(a);
    return st == ST_OK ? 0 : bench_fail(argv[2], st);
}
