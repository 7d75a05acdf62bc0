#include "web/qr.h"

#include <qrencode.h>

#include "base/buf.h"

enum { QR_QUIET_MODULES = 4, QR_TEXT_MAX = 200, QR_SVG_BYTES_MAX = 64 << 10 };

/* Writes each run of dark modules in a row as one horizontal stroke: "Mx yh length". */
static void svg_path(struct buf *out, const QRcode *code)
{
    for (int y = 0; y < code->width; y++) {
        const unsigned char *row = code->data + y * code->width;
        for (int x = 0; x < code->width;) {
            int run = 0;
            while (x + run < code->width && (row[x + run] & 1))
                run++;
            if (run > 0)
                buf_printf(out, "M%d %dh%d", x + QR_QUIET_MODULES, y + QR_QUIET_MODULES, run);
            x += run > 0 ? run : 1;
        }
    }
}

struct str qr_svg(struct arena *a, struct str text)
{
    struct buf svg = { .limit = QR_SVG_BYTES_MAX };
    if (text.len > QR_TEXT_MAX)
        return STR("");
    char *cstr = arena_cstr(a, text);
    QRcode *code = cstr != NULL ? QRcode_encodeString8bit(cstr, 0, QR_ECLEVEL_M) : NULL;
    if (code == NULL)
        return STR_NONE;

    int side = code->width + 2 * QR_QUIET_MODULES;
    buf_printf(&svg,
               "<svg class=\"qr\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 -0.5 %d %d\" aria-hidden=\"true\" "
               "shape-rendering=\"crispEdges\"><path fill=\"#fff\" d=\"M0 -0.5h%dv%dH0z\"/>"
               "<path stroke=\"#191919\" d=\"",
               side, side, side, side);
    svg_path(&svg, code);
    buf_cstr(&svg, "\"/></svg>");
    QRcode_free(code);

    struct str out = svg.failed ? STR_NONE : arena_str(a, buf_view(&svg));
    buf_free(&svg);
    return out;
}
