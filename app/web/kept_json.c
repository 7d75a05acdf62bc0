#define ZLIB_CONST
#include "web/kept_json.h"

#include <sodium.h>
#include <stdio.h>
#include <zlib.h>

#include "web/accept.h"
#include "web/respond.h"

enum {
    GZIP_BYTES_MIN = 600,       /* as gzip_min_length of nginx */
    GZIP_WINDOW_BITS = 15 + 16, /* the largest window; 16: with the header of gzip */
    GZIP_MEMORY_LEVEL = 8
};

/* Appends the gzip of text. */
static enum status gzip_append(struct buf *out, struct str text)
{
    z_stream z = { .next_in = (const Bytef *)text.ptr, .avail_in = (uInt)text.len };
    if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW_BITS, GZIP_MEMORY_LEVEL, Z_DEFAULT_STRATEGY) !=
        Z_OK)
        return ST_NO_MEMORY;
    size_t size = deflateBound(&z, text.len);
    enum status st = buf_reserve(out, size) ? ST_OK : ST_NO_MEMORY;
    if (st == ST_OK) {
        z.next_out = (Bytef *)out->ptr + out->len;
        z.avail_out = (uInt)size;
        st = deflate(&z, Z_FINISH) == Z_STREAM_END ? ST_OK : ST_NO_MEMORY;
        out->len += size - z.avail_out;
    }
    (void)deflateEnd(&z);
    return st;
}

static void tag_write(struct kept_json *kept)
{
    struct digest digest;
    uint8_t bytes[DIGEST_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    digest_begin(&digest);
    digest_text(&digest, buf_view(&kept->body));
    digest_end(&digest, bytes);
    (void)snprintf(kept->tag, sizeof kept->tag, "W/\"%s\"", sodium_bin2hex(hex, sizeof hex, bytes, sizeof bytes));
}

static enum status kept_make(struct exchange *x, struct kept_json *kept, kept_json_make *make)
{
    struct model m;
    model_init(&m, x->arena);
    enum status st = make(x, &m);
    if (st != ST_OK)
        return st;
    value_json(&kept->body, &m.root);
    buf_char(&kept->body, '\n');
    if (m.failed || arena_failed(x->arena) || kept->body.failed)
        return ST_NO_MEMORY;
    tag_write(kept);
    return kept->body.len < GZIP_BYTES_MIN ? ST_OK : gzip_append(&kept->gzip, buf_view(&kept->body));
}

void kept_json_respond(struct exchange *x, struct kept_json *kept, kept_json_make *make, struct str cache_control)
{
    enum status st = kept->body.len > 0 ? ST_OK : kept_make(x, kept, make);
    if (st != ST_OK) {
        kept_json_free(kept);
        respond_status(x, st);
        return;
    }
    bool gzip = kept->gzip.len > 0 && accept_gzip(exchange_param(x, "HTTP_ACCEPT_ENCODING"));
    respond_public_json(x, buf_view(gzip ? &kept->gzip : &kept->body), gzip, str_from(kept->tag), cache_control);
}

void kept_json_free(struct kept_json *kept)
{
    buf_free(&kept->body);
    buf_free(&kept->gzip);
}
