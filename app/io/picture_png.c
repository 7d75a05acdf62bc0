#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

#include "io/picture_internal.h"

struct png_run {
    png_structp png;
    png_infop info;
    struct str file;
    size_t at;       /* position in the file of the next byte to read */
    uint8_t *pixels; /* one row, or all rows of an interlaced file */
    bool no_memory;
};

static void on_error(png_structp png, png_const_charp message)
{
    (void)message;
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_read(png_structp png, png_bytep out, size_t len)
{
    struct png_run *run = png_get_io_ptr(png);
    if (run->file.len - run->at < len)
        png_error(png, "cut off");
    memcpy(out, run->file.ptr + run->at, len);
    run->at += len;
}

/* Every kind of PNG becomes eight bits of red, green, blue and alpha. */
static void transforms_set(png_structp png)
{
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_filler(png, 255, PNG_FILLER_AFTER);
}

static enum status rows_read(struct png_run *run, struct picture_want want, uint32_t width, uint32_t height,
                             struct cut *out)
{
    const size_t row_bytes = (size_t)width * PICTURE_CHANNELS;
    const int passes = png_set_interlace_handling(run->png);
    png_read_update_info(run->png, run->info);
    if (png_get_rowbytes(run->png, run->info) != row_bytes)
        return ST_INVALID;
    run->pixels = calloc(passes > 1 ? height : 1, row_bytes);
    if (run->pixels == NULL)
        return ST_NO_MEMORY;
    cut_begin(out, want, 1, width, height);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < height; y++) {
            uint8_t *row = run->pixels + (passes > 1 ? y * row_bytes : 0);
            png_read_row(run->png, row, NULL);
            if (pass == passes - 1)
                cut_row(out, y, row);
        }
    return ST_OK;
}

static enum status png_read(struct png_run *run, struct picture_want want, uint64_t pixels_max, struct cut *out)
{
    if (setjmp(png_jmpbuf(run->png)) != 0)
        return ST_INVALID;
    png_set_read_fn(run->png, run, on_read);
    png_set_user_limits(run->png, PICTURE_SIDE_MAX, PICTURE_SIDE_MAX);
    png_set_keep_unknown_chunks(run->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* also no texts, profiles, EXIF */
    png_read_info(run->png, run->info);
    const uint32_t width = png_get_image_width(run->png, run->info), height = png_get_image_height(run->png, run->info);
    if (!picture_size_allowed(width, height, pixels_max))
        return ST_INVALID;
    transforms_set(run->png);
    return rows_read(run, want, width, height, out);
}

enum status picture_png(struct str file, struct picture_want want, uint64_t pixels_max, struct cut *out)
{
    struct png_run run = { .file = file };
    run.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    run.info = run.png == NULL ? NULL : png_create_info_struct(run.png);
    enum status st = run.info == NULL ? ST_NO_MEMORY : png_read(&run, want, pixels_max, out);
    png_destroy_read_struct(&run.png, &run.info, NULL);
    free(run.pixels);
    return st;
}
