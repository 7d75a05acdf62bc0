#include "io/svg_png.h"

#include <dlfcn.h>
#include <librsvg/rsvg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/log.h"

#define LIBRARY "librsvg-2.so.2"

#ifdef __SANITIZE_ADDRESS__
const char *__lsan_default_suppressions(void);

/* fontconfig of Debian 13 never frees 130 KB that it has read; more pictures add nothing to this. */
const char *__lsan_default_suppressions(void)
{
    return "leak:libfontconfig.so\n";
}
#endif

/* Each member is the library's function of that name; the types come from the libraries' headers. */
#define FUNCTIONS(X)                                                                                                   \
    X(rsvg_handle_new_from_data)                                                                                       \
    X(rsvg_handle_render_document)                                                                                     \
    X(g_object_unref)                                                                                                  \
    X(g_error_free)                                                                                                    \
    X(cairo_image_surface_create)                                                                                      \
    X(cairo_create)                                                                                                    \
    X(cairo_destroy)                                                                                                   \
    X(cairo_status)                                                                                                    \
    X(cairo_surface_destroy)                                                                                           \
    X(cairo_surface_write_to_png_stream)

struct svg_png {
#define MEMBER(name) __typeof__(&(name)) name;
    FUNCTIONS(MEMBER)
#undef MEMBER
};

/* Finds a symbol of the library, or of a library that it needs. */
static bool symbol_find(void *library, const char *name, void *member, size_t size)
{
    void *address = dlsym(library, name);
    memcpy(member, &address, size);
    return address != NULL;
}

enum status svg_png_open(struct svg_png **out, char *error, size_t error_size)
{
    struct svg_png *s = calloc(1, sizeof *s);
    if (s == NULL)
        return ST_NO_MEMORY;
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    bool found = library != NULL;
#define FIND(name) found = found && symbol_find(library, #name, &s->name, sizeof s->name);
    FUNCTIONS(FIND)
#undef FIND
    if (!found) {
        const char *why = dlerror();
        (void)snprintf(error, error_size, "%s", why != NULL ? why : LIBRARY);
        free(s);
        return ST_UNAVAILABLE;
    }
    *out = s;
    return ST_OK;
}

void svg_png_close(struct svg_png *s)
{
    free(s);
}

static cairo_status_t png_append(void *ctx, const unsigned char *bytes, unsigned len)
{
    struct buf *out = ctx;
    buf_bytes(out, bytes, len);
    return out->failed ? CAIRO_STATUS_NO_MEMORY : CAIRO_STATUS_SUCCESS;
}

static void error_log(const struct svg_png *s, GError *error)
{
    char quoted[256];
    if (error == NULL)
        return;
    log_error("svg not drawn", "error=%s", log_quote(str_from(error->message), quoted, sizeof quoted));
    s->g_error_free(error);
}

enum status svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out)
{
    GError *error = NULL;
    RsvgHandle *document = s->rsvg_handle_new_from_data((const guint8 *)svg.ptr, svg.len, &error);
    if (document == NULL) {
        error_log(s, error);
        return ST_INVALID;
    }
    cairo_surface_t *surface = s->cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cairo = s->cairo_create(surface);
    const RsvgRectangle all = { 0, 0, width, height };
    enum status st = ST_OK;
    if (!s->rsvg_handle_render_document(document, cairo, &all, &error)) {
        error_log(s, error);
        st = ST_INVALID;
    } else if (s->cairo_status(cairo) != CAIRO_STATUS_SUCCESS ||
               s->cairo_surface_write_to_png_stream(surface, png_append, out) != CAIRO_STATUS_SUCCESS) {
        st = ST_NO_MEMORY;
    }
    s->cairo_destroy(cairo);
    s->cairo_surface_destroy(surface);
    s->g_object_unref(document);
    return st;
}
