#include <setjmp.h>
#include <stdio.h> /* jpeglib.h needs it */
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include <jerror.h>

#include "io/picture_internal.h"

enum {
    SCANS_MAX = 100, /* passes over a progressive file: each costs as much as decoding */
    SCALE_PARTS = 8, /* the library decodes to eighths of the size */
    EXIF_BYTES_MAX = 65533
};

struct jpeg_run {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_progress_mgr progress;
    jmp_buf failed;
    bool no_memory;
    uint8_t *row;
};

static void on_error(j_common_ptr jpeg)
{
    struct jpeg_run *run = jpeg->client_data;
    run->no_memory = jpeg->err->msg_code == JERR_OUT_OF_MEMORY;
    longjmp(run->failed, 1);
}

/* Refuses a file that was cut off: the library would fill its missing part with grey. Other warnings are about common
 * mistakes of cameras, and are ignored. */
static void on_message(j_common_ptr jpeg, int level)
{
    const int code = jpeg->err->msg_code;
    if (level < 0 && (code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER))
        on_error(jpeg);
}

static void on_progress(j_common_ptr jpeg)
{
    const struct jpeg_run *run = jpeg->client_data;
    if (run->jpeg.input_scan_number > SCANS_MAX)
        on_error(jpeg);
}

static unsigned orientation_of(const struct jpeg_decompress_struct *jpeg)
{
    static const char HEAD[] = "Exif\0"; /* and a NUL */
    for (const struct jpeg_marker_struct *m = jpeg->marker_list; m != NULL; m = m->next)
        if (m->marker == JPEG_APP0 + 1 && m->data_length > sizeof HEAD && memcmp(m->data, HEAD, sizeof HEAD) == 0)
            return exif_orientation((struct str){ (const char *)m->data + sizeof HEAD, m->data_length - sizeof HEAD });
    return 1;
}

/* The smallest scale that leaves twice the width of the result, which is enough for a good average. */
static void scale_choose(struct jpeg_decompress_struct *jpeg, const struct cut *whole)
{
    jpeg->scale_denom = SCALE_PARTS;
    jpeg->scale_num = 1;
    while (jpeg->scale_num < SCALE_PARTS && whole->source_width * jpeg->scale_num / SCALE_PARTS < 2 * whole->width)
        jpeg->scale_num++;
}

/* The library does not convert CMYK to RGB. Adobe's programs, which make most of these files, write it inverted. */
static void cmyk_to_rgba(uint8_t *row, JDIMENSION width, bool inverted)
{
    for (uint8_t *p = row; width > 0; width--, p += PICTURE_CHANNELS) {
        const unsigned black = inverted ? p[3] : 255U - p[3];
        for (size_t c = 0; c < 3; c++)
            p[c] = (uint8_t)((inverted ? p[c] : 255U - p[c]) * black / 255);
        p[3] = 255;
    }
}

static enum status rows_read(struct jpeg_run *run, struct picture_want want, struct cut *out)
{
    struct jpeg_decompress_struct *jpeg = &run->jpeg;
    const unsigned orientation = orientation_of(jpeg);
    const bool cmyk = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    cut_begin(out, want, orientation, jpeg->image_width, jpeg->image_height);
    scale_choose(jpeg, out);
    (void)jpeg_start_decompress(jpeg);
    run->row = malloc((size_t)jpeg->output_width * PICTURE_CHANNELS);
    if (run->row == NULL)
        return ST_NO_MEMORY;
    cut_begin(out, want, orientation, jpeg->output_width, jpeg->output_height);
    for (uint32_t y = 0; y < jpeg->output_height; y++) {
        JSAMPROW row = run->row;
        if (jpeg_read_scanlines(jpeg, &row, 1) != 1)
            return ST_INVALID;
        if (cmyk)
            cmyk_to_rgba(run->row, jpeg->output_width, jpeg->saw_Adobe_marker);
        cut_row(out, y, run->row);
    }
    return cut_orient(out, orientation);
}

static enum status jpeg_read(struct jpeg_run *run, struct str file, struct picture_want want, uint64_t pixels_max,
                             struct cut *out)
{
    if (setjmp(run->failed) != 0)
        return run->no_memory ? ST_NO_MEMORY : ST_INVALID;
    jpeg_create_decompress(&run->jpeg);
    run->jpeg.progress = &run->progress;
    jpeg_save_markers(&run->jpeg, JPEG_APP0 + 1, EXIF_BYTES_MAX);
    jpeg_mem_src(&run->jpeg, (const unsigned char *)file.ptr, file.len);
    if (jpeg_read_header(&run->jpeg, TRUE) != JPEG_HEADER_OK ||
        !picture_size_allowed(run->jpeg.image_width, run->jpeg.image_height, pixels_max))
        return ST_INVALID;
    return rows_read(run, want, out);
}

enum status picture_jpeg(struct str file, struct picture_want want, uint64_t pixels_max, struct cut *out)
{
    struct jpeg_run *run = calloc(1, sizeof *run);
    if (run == NULL)
        return ST_NO_MEMORY;
    run->jpeg.err = jpeg_std_error(&run->errors);
    run->jpeg.client_data = run;
    run->errors.error_exit = on_error;
    run->errors.emit_message = on_message;
    run->progress.progress_monitor = on_progress;
    enum status st = jpeg_read(run, file, want, pixels_max, out);
    jpeg_destroy_decompress(&run->jpeg);
    free(run->row);
    free(run);
    return st;
}
