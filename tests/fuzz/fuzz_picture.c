/* A picture that a user uploads: it is refused, or becomes a WebP file of the right kind, in each shape, of some
 * part. Only small pictures: a large one takes long, and the process that decodes has a time limit
 * (io/picture_child.h). */
#include "base/buf.h"
#include "fuzz.h"
#include "io/picture.h"

enum { PIXELS_MAX = 1 << 14 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (unsigned shape = 0; shape < PICTURE_SHAPES; shape++) {
        struct buf out = BUF_EMPTY;
        const struct picture_want want = { (enum picture_shape)shape, (enum picture_part)(size % PICTURE_PARTS) };
        enum status st = picture_make(fuzz_text(data, size), want, PIXELS_MAX, &out);
        assert(st == ST_OK || st == ST_INVALID || st == ST_NO_MEMORY);
        assert((st == ST_OK) == (out.len > 0));
        if (st == ST_OK)
            assert(out.len > PICTURE_BYTES_MAX || picture_is_result(buf_view(&out)));
        buf_free(&out);
    }
    return 0;
}
