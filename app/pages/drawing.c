#include "pages/drawing.h"

#include "io/svg_png.h"

enum { COVERS_BYTES_MAX = 32 << 10 };

struct str drawing_covers(struct exchange *x)
{
    struct buf svg = { .limit = COVERS_BYTES_MAX };
    struct str path = arena_printf(x->arena, "%s/covers.svg", x->app->stores.config->static_dir), copy = STR_NONE;
    if (path.ptr != NULL && buf_file(&svg, path.ptr) == ST_OK)
        copy = arena_str(x->arena, buf_view(&svg));
    buf_free(&svg);
    return copy;
}

enum status drawing_png(struct exchange *x, const char *template_name, const struct model *m, int width, int height,
                         struct buf *out)
{
    const struct mustache *picture = exchange_template(x, template_name);
    struct buf svg = BUF_EMPTY;
    enum status st = picture == NULL ? ST_CORRUPT : m->failed ? ST_NO_MEMORY : mustache_render(picture, &m->root, &svg);
    if (st == ST_OK)
        st = svg_png_draw(x->app->drawing, buf_view(&svg), width, height, out);
    buf_free(&svg);
    return st == ST_INVALID ? ST_CORRUPT : st;
}
