#include "io/picture_inline.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdio.h> /* jpeglib.h needs it */
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <sodium.h>
#include <webp/decode.h>

#include "io/picture.h"

#define HEAD "data:image/jpeg;base64,"

enum { COLOURS = 3, QUALITY = 90, BASE64 = sodium_base64_VARIANT_ORIGINAL };

struct inline_run {
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf failed;
    uint8_t *rgb; /* width × height pixels of COLOURS bytes */
    int width, height;
    unsigned char *bytes; /* the JPEG file, of len bytes */
    unsigned long len;
};

static enum status pixels_read(struct inline_run *run, struct str webp)
{
    WebPBitstreamFeatures has;
    const uint8_t *bytes = (const uint8_t *)webp.ptr;
    if (!picture_is_result(webp) || WebPGetFeatures(bytes, webp.len, &has) != VP8_STATUS_OK || has.has_animation ||
        has.width < 1 || has.height < 1 || has.width > PICTURE_WIDTH_MAX || has.height > PICTURE_WIDTH_MAX)
        return ST_INVALID;
    const size_t row = (size_t)has.width * COLOURS, size = row * (size_t)has.height;
    run->width = has.width;
    run->height = has.height;
    run->rgb = malloc(size);
    if (run->rgb == NULL)
        return ST_NO_MEMORY;
    return WebPDecodeRGBInto(bytes, webp.len, run->rgb, size, (int)row) == NULL ? ST_INVALID : ST_OK;
}

static void on_error(j_common_ptr jpeg)
{
    struct inline_run *run = jpeg->client_data;
    longjmp(run->failed, 1);
}

static void on_message(j_common_ptr jpeg, int level)
{
    (void)jpeg;
    (void)level;
}

/* Pixels of this size can always be written as JPEG, so only memory can fail. */
static enum status jpeg_write(struct inline_run *run)
{
    struct jpeg_compress_struct *jpeg = &run->jpeg;
    if (setjmp(run->failed) != 0)
        return ST_NO_MEMORY;
    jpeg_create_compress(jpeg);
    jpeg_mem_dest(jpeg, &run->bytes, &run->len);
    jpeg->image_width = (JDIMENSION)run->width;
    jpeg->image_height = (JDIMENSION)run->height;
    jpeg->input_components = COLOURS;
    jpeg->in_color_space = JCS_RGB;
    jpeg_set_defaults(jpeg);
    jpeg_set_quality(jpeg, QUALITY, TRUE);
    jpeg_start_compress(jpeg, TRUE);
    while (jpeg->next_scanline < jpeg->image_height) {
        JSAMPROW row = run->rgb + (size_t)jpeg->next_scanline * jpeg->image_width * COLOURS;
        (void)jpeg_write_scanlines(jpeg, &row, 1);
    }
    jpeg_finish_compress(jpeg);
    return ST_OK;
}

static enum status jpeg_of_pixels(struct inline_run *run)
{
    run->jpeg.err = jpeg_std_error(&run->errors);
    run->jpeg.client_data = run;
    run->errors.error_exit = on_error;
    run->errors.emit_message = on_message;
    enum status st = jpeg_write(run);
    jpeg_destroy_compress(&run->jpeg);
    return st;
}

static enum status url_append(const struct inline_run *run, struct buf *out)
{
    const size_t size = sodium_base64_encoded_len(run->len, BASE64); /* with a NUL */
    if (!buf_reserve(out, sizeof HEAD - 1 + size))
        return ST_NO_MEMORY;
    buf_cstr(out, HEAD);
    sodium_bin2base64(out->ptr + out->len, size, run->bytes, run->len, BASE64);
    out->len += size - 1;
    return ST_OK;
}

enum status picture_inline(struct str webp, struct buf *out)
{
    struct inline_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return ST_NO_MEMORY;
    enum status st = pixels_read(run, webp);
    if (st == ST_OK)
        st = jpeg_of_pixels(run);
    if (st == ST_OK)
        st = url_append(run, out);
    free(run->bytes);
    free(run->rgb);
    free(run);
    return st;
}
