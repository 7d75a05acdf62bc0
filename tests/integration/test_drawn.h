/* Pictures of the card pool: the answer is the SVG that would be drawn. The linker wraps svg_png_draw. Include it once
 * in a test program. */
#ifndef HB_TEST_DRAWN_H
#define HB_TEST_DRAWN_H

#include "io/svg_png.h"
#include "support/test.h"

enum status __wrap_svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out);
enum status __wrap_svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out)
{
    assert_null(s);
    assert_true(width > 0 && height > 0);
    buf_str(out, svg);
    return ST_OK;
}

#endif
