#include "pages/drawing.h"

#include "io/picture_inline.h"
#include "io/svg_png.h"
#include "user/picture_store.h"

enum { ART_BYTES_MAX = 32 << 10 };

static struct str art(struct exchange *x, const char *name)
{
    struct buf svg = { .limit = ART_BYTES_MAX };
    struct str path = arena_printf(x->arena, "%s/%s", x->app->stores.config->static_dir, name), copy = STR_NONE;
    if (path.ptr != NULL && buf_file(&svg, path.ptr) == ST_OK)
        copy = arena_str(x->arena, buf_view(&svg));
    buf_free(&svg);
    return copy;
}

struct str drawing_covers(struct exchange *x)
{
    return art(x, "covers.svg");
}

/* Leaves out the file's outer element, whose view shows only one face: it cuts everything before the first <g, which
 * draws nothing. */
struct str drawing_faces(struct exchange *x)
{
    struct str svg = art(x, "avatars.svg");
    size_t from = svg.ptr == NULL ? 0 : str_find(svg, STR("<g")), end = STR("</svg>").len;
    svg = str_trim(svg);
    return svg.ptr == NULL || from + end >= svg.len ? STR_NONE : str_slice(svg, from, svg.len - end);
}

enum status drawing_photo(struct exchange *x, struct model *m, struct str hash)
{
    struct str bytes, url = STR_NONE;
    struct buf photo = BUF_EMPTY;
    if (hash.len == 0)
        return ST_OK;
    enum status st = picture_find(x->app->stores.db, m->arena, hash, &bytes);
    if (st == ST_OK)
        st = picture_inline(bytes, &photo);
    if (st == ST_OK) {
        url = arena_str(m->arena, buf_view(&photo));
        st = url.ptr == NULL ? ST_NO_MEMORY : ST_OK;
        value_text(m, &m->root, "photo", url);
    }
    buf_free(&photo);
    return st == ST_NOT_FOUND || st == ST_INVALID ? ST_OK : st;
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
