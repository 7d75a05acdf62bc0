#include "io/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "io/picture_internal.h"

#define WEBP_QUALITY 82

enum { RIFF_HEAD = 12, CHUNK_HEAD = 8, ORIENTATION_TAG = 0x0112, TIFF_HEAD = 8, TIFF_ENTRY = 12, ENTRIES_MAX = 256 };

/* ---- the square ---- */

bool picture_size_allowed(uint32_t width, uint32_t height, uint64_t pixels_max)
{
    return width > 0 && height > 0 && width <= PICTURE_SIDE_MAX && height <= PICTURE_SIDE_MAX &&
           (uint64_t)width * height <= pixels_max;
}

void square_begin(struct square *s, uint32_t width, uint32_t height)
{
    assert(width > 0 && height > 0 && width <= PICTURE_SIDE_MAX && height <= PICTURE_SIDE_MAX);
    memset(s, 0, sizeof *s);
    s->source_side = width < height ? width : height;
    s->left = (width - s->source_side) / 2;
    s->top = (height - s->source_side) / 2;
    s->side = s->source_side < PICTURE_SIDE ? s->source_side : PICTURE_SIDE;
}

static void pixel_add(uint32_t *sum, const uint8_t *rgba, uint32_t weight)
{
    const uint32_t alpha = rgba[3] * weight;
    sum[0] += rgba[0] * alpha;
    sum[1] += rgba[1] * alpha;
    sum[2] += rgba[2] * alpha;
    sum[3] += alpha;
}

/* Adds up a row into the columns of the result. Both are measured in parts that divide a pixel of the source by `side`
 * and one of the result by source_side, so all weights are integers. The weights of a column add up to source_side, so
 * its sum is at most 12000 * 255 * 255. */
static void row_reduce(struct square *s, const uint8_t *rgba)
{
    uint32_t column = 0, left = s->source_side; /* what is left of the column */
    memset(s->row, 0, sizeof s->row);
    for (uint32_t x = 0; x < s->source_side; x++, rgba += PICTURE_CHANNELS) {
        uint32_t weight = s->side;
        if (weight >= left) {
            pixel_add(&s->row[(size_t)column * PICTURE_CHANNELS], rgba, left);
            weight -= left;
            left = s->source_side;
            column++;
        }
        if (weight > 0)
            pixel_add(&s->row[(size_t)column * PICTURE_CHANNELS], rgba, weight);
        left -= weight;
    }
}

static void sum_add(struct square *s, uint32_t weight)
{
    for (size_t i = 0; i < (size_t)s->side * PICTURE_CHANNELS; i++)
        s->sum[i] += (uint64_t)s->row[i] * weight;
}

/* Writes a row of the result from the sums, and begins the next one. */
static void sum_finish(struct square *s)
{
    const uint64_t area = (uint64_t)s->source_side * s->source_side;
    uint8_t *out = &s->pixels[(size_t)s->done * s->side * PICTURE_CHANNELS];
    for (size_t i = 0; i < (size_t)s->side * PICTURE_CHANNELS; i += PICTURE_CHANNELS) {
        const uint64_t alpha = s->sum[i + 3];
        for (size_t c = 0; c < 3; c++)
            out[i + c] = (uint8_t)(alpha == 0 ? 0 : (s->sum[i + c] + alpha / 2) / alpha);
        out[i + 3] = (uint8_t)((alpha + area / 2) / area);
    }
    memset(s->sum, 0, sizeof s->sum);
    s->done++;
}

void square_row(struct square *s, uint32_t y, const uint8_t *rgba)
{
    if (y < s->top || y - s->top >= s->source_side)
        return;
    const uint64_t from = (uint64_t)(y - s->top) * s->side, to = from + s->side,
                   end = (uint64_t)(s->done + 1) * s->source_side;
    row_reduce(s, rgba + (size_t)s->left * PICTURE_CHANNELS);
    if (to < end) {
        sum_add(s, s->side);
        return;
    }
    sum_add(s, (uint32_t)(end - from));
    sum_finish(s);
    if (to > end)
        sum_add(s, (uint32_t)(to - end));
}

void square_orient(struct square *s, unsigned orientation)
{
    static const struct {
        bool transpose, mirror, flip; /* columns become rows, then left and right, then top and bottom change places */
    } TURNS[] = {
        [2] = { false, true, false }, [3] = { false, true, true }, [4] = { false, false, true },
        [5] = { true, false, false }, [6] = { true, true, false }, [7] = { true, true, true },
        [8] = { true, false, true },
    };
    uint8_t turned[sizeof s->pixels];
    if (orientation < 2 || orientation > 8)
        return;
    for (uint32_t y = 0; y < s->side; y++)
        for (uint32_t x = 0; x < s->side; x++) {
            uint32_t to_x = TURNS[orientation].transpose ? y : x, to_y = TURNS[orientation].transpose ? x : y;
            to_x = TURNS[orientation].mirror ? s->side - 1 - to_x : to_x;
            to_y = TURNS[orientation].flip ? s->side - 1 - to_y : to_y;
            memcpy(&turned[((size_t)to_y * s->side + to_x) * PICTURE_CHANNELS],
                   &s->pixels[((size_t)y * s->side + x) * PICTURE_CHANNELS], PICTURE_CHANNELS);
        }
    memcpy(s->pixels, turned, (size_t)s->side * s->side * PICTURE_CHANNELS);
}

void square_flatten(struct square *s)
{
    for (size_t i = 0; i < (size_t)s->side * s->side * PICTURE_CHANNELS; i += PICTURE_CHANNELS) {
        const unsigned alpha = s->pixels[i + 3];
        for (size_t c = i; c < i + 3; c++)
            s->pixels[c] = (uint8_t)((s->pixels[c] * alpha + 255 * (255 - alpha)) / 255);
        s->pixels[i + 3] = 255;
    }
}

/* ---- EXIF ---- */

static uint32_t tiff_number(struct str tiff, size_t at, size_t bytes, bool big)
{
    uint32_t number = 0;
    if (at > tiff.len || tiff.len - at < bytes)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        number = number << 8 | (unsigned char)tiff.ptr[at + (big ? i : bytes - 1 - i)];
    return number;
}

unsigned exif_orientation(struct str tiff)
{
    const bool big = tiff.len >= TIFF_HEAD && memcmp(tiff.ptr, "MM\0*", 4) == 0;
    if (!big && (tiff.len < TIFF_HEAD || memcmp(tiff.ptr, "II*\0", 4) != 0))
        return 1;
    const size_t list = tiff_number(tiff, 4, 4, big);
    const uint32_t count = tiff_number(tiff, list, 2, big);
    for (size_t i = 0; i < count && i < ENTRIES_MAX; i++) {
        size_t entry = list + 2 + i * TIFF_ENTRY;
        if (tiff_number(tiff, entry, 2, big) == ORIENTATION_TAG)
            return tiff_number(tiff, entry + 8, 2, big); /* a SHORT */
    }
    return 1;
}

/* ---- from file to file ---- */

static bool begins_with(struct str file, const char *bytes, size_t len)
{
    return file.len >= len && memcmp(file.ptr, bytes, len) == 0;
}

static enum status decode(struct str file, uint64_t pixels_max, struct square *out)
{
    if (begins_with(file, "\xff\xd8\xff", 3))
        return picture_jpeg(file, pixels_max, out);
    if (begins_with(file, "\x89PNG\r\n\x1a\n", 8))
        return picture_png(file, pixels_max, out);
    if (begins_with(file, "RIFF", 4) && file.len >= RIFF_HEAD && memcmp(file.ptr + 8, "WEBP", 4) == 0)
        return picture_webp(file, pixels_max, out);
    return ST_INVALID;
}

enum status picture_square(struct str file, uint64_t pixels_max, struct buf *out)
{
    struct square *square = malloc(sizeof *square);
    if (square == NULL)
        return ST_NO_MEMORY;
    enum status st = decode(file, pixels_max, square);
    if (st == ST_OK) {
        uint8_t *bytes = NULL;
        square_flatten(square);
        const int side = (int)square->side;
        size_t len = WebPEncodeRGBA(square->pixels, side, side, side * PICTURE_CHANNELS, WEBP_QUALITY, &bytes);
        if (len > 0)
            buf_bytes(out, bytes, len);
        st = len == 0 || out->failed ? ST_NO_MEMORY : ST_OK;
        WebPFree(bytes);
    }
    free(square);
    return st;
}

bool picture_is_result(struct str bytes)
{
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    if (bytes.len < RIFF_HEAD + CHUNK_HEAD || bytes.len > PICTURE_BYTES_MAX || memcmp(b, "RIFF", 4) != 0 ||
        memcmp(b + 8, "WEBPVP8 ", 8) != 0)
        return false;
    const uint32_t size = (uint32_t)b[4] | (uint32_t)b[5] << 8 | (uint32_t)b[6] << 16 | (uint32_t)b[7] << 24;
    return size == bytes.len - CHUNK_HEAD;
}
