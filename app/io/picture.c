#include "io/picture.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "base/array.h"
#include "io/picture_internal.h"

/* Qualities of the encoder, tried in this order until the result is small enough; most photos get the first or the
 * second. */
static const uint8_t QUALITIES[] = { 82, 60, 38, 16, 0 };

enum { RIFF_HEAD = 12, CHUNK_HEAD = 8, ORIENTATION_TAG = 0x0112, TIFF_HEAD = 8, TIFF_ENTRY = 12, ENTRIES_MAX = 256 };

/* ---- the shapes ---- */

static const struct shape {
    struct str word;
    uint32_t width, height; /* size of the result; the part of the picture has the same ratio */
    size_t bytes_aim;       /* the quality is lowered until the result has at most so many bytes */
} SHAPES[PICTURE_SHAPES] = {
    [PICTURE_SQUARE] = { STR("square"), 160, 160, PICTURE_BYTES_MAX },
    [PICTURE_COVER] = { STR("cover"), PICTURE_WIDTH_MAX, 432, 30 << 10 },
};

struct str picture_shape_word(enum picture_shape shape)
{
    assert((unsigned)shape < PICTURE_SHAPES);
    return SHAPES[shape].word;
}

bool picture_shape_from(struct str word, enum picture_shape *out)
{
    for (unsigned i = 0; i < PICTURE_SHAPES; i++) {
        if (str_equal(SHAPES[i].word, word)) {
            *out = (enum picture_shape)i;
            return true;
        }
    }
    return false;
}

/* ---- the part that is taken ---- */

static const struct part {
    struct str word;
    uint32_t above; /* the share of the surplus rows above the part, in sixths */
} PARTS[PICTURE_PARTS] = {
    [PICTURE_AUTO] = { STR("auto"), 1 }, /* for a picture that is too high */
    [PICTURE_TOP] = { STR("top"), 0 },
    [PICTURE_MIDDLE] = { STR("middle"), 3 },
    [PICTURE_BOTTOM] = { STR("bottom"), 6 },
};

struct str picture_part_word(enum picture_part part)
{
    assert((unsigned)part < PICTURE_PARTS);
    return PARTS[part].word;
}

bool picture_part_from(struct str word, enum picture_part *out)
{
    for (unsigned i = 0; i < PICTURE_PARTS; i++) {
        if (str_equal(PARTS[i].word, word)) {
            *out = (enum picture_part)i;
            return true;
        }
    }
    return false;
}

bool picture_size_allowed(uint32_t width, uint32_t height, uint64_t pixels_max)
{
    return width > 0 && height > 0 && width <= PICTURE_SIDE_MAX && height <= PICTURE_SIDE_MAX &&
           (uint64_t)width * height <= pixels_max;
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

bool orientation_lies(unsigned orientation)
{
    return orientation >= 5 && orientation <= 8;
}

/* True when the top of the picture, as people see it, is the last row or the last column of the file. */
static bool top_is_last(unsigned orientation)
{
    return orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
}

/* How many of the surplus rows are above the part, in the orientation that people see. */
static uint32_t rows_above(enum picture_part part, bool upright, uint32_t too_many)
{
    if (part == PICTURE_AUTO && !upright)
        part = PICTURE_MIDDLE;
    return too_many * PARTS[part].above / PARTS[PICTURE_BOTTOM].above;
}

void cut_begin(struct cut *c, struct picture_want want, unsigned orientation, uint32_t width, uint32_t height)
{
    const struct shape *s = &SHAPES[want.shape];
    const bool lying = orientation_lies(orientation);
    const uint32_t across = lying ? s->height : s->width, down = lying ? s->width : s->height;
    assert(width > 0 && height > 0 && width <= PICTURE_SIDE_MAX && height <= PICTURE_SIDE_MAX);
    memset(c, 0, sizeof *c);
    c->source_width = smaller(width, height * across / down);
    c->source_height = smaller(height, width * down / across);
    c->source_width += c->source_width == 0;
    c->source_height += c->source_height == 0;
    c->left = (width - c->source_width) / 2;
    c->top = (height - c->source_height) / 2;
    uint32_t *start = lying ? &c->left : &c->top;
    const uint32_t too_many = lying ? width - c->source_width : height - c->source_height;
    const uint32_t above = rows_above(want.part, lying ? width > height : height > width, too_many);
    *start = top_is_last(orientation) ? too_many - above : above;
    c->width = smaller(c->source_width, across);
    c->height = smaller(c->source_height, down);
}

static void pixel_add(uint32_t *sum, const uint8_t *rgba, uint32_t weight)
{
    const uint32_t alpha = rgba[3] * weight;
    sum[0] += rgba[0] * alpha;
    sum[1] += rgba[1] * alpha;
    sum[2] += rgba[2] * alpha;
    sum[3] += alpha;
}

/* Adds up a row into the columns of the result. The unit is 1 / width of a source pixel, which is also 1 / source_width
 * of a pixel of the result: all weights are integers. The weights of a column add up to source_width, so its sum is at
 * most 12000 * 255 * 255. */
static void row_reduce(struct cut *c, const uint8_t *rgba)
{
    uint32_t column = 0, left = c->source_width; /* what is left of the column */
    memset(c->row, 0, sizeof c->row);
    for (uint32_t x = 0; x < c->source_width; x++, rgba += PICTURE_CHANNELS) {
        uint32_t weight = c->width;
        if (weight >= left) {
            pixel_add(&c->row[(size_t)column * PICTURE_CHANNELS], rgba, left);
            weight -= left;
            left = c->source_width;
            column++;
        }
        if (weight > 0)
            pixel_add(&c->row[(size_t)column * PICTURE_CHANNELS], rgba, weight);
        left -= weight;
    }
}

static void sum_add(struct cut *c, uint32_t weight)
{
    for (size_t i = 0; i < (size_t)c->width * PICTURE_CHANNELS; i++)
        c->sum[i] += (uint64_t)c->row[i] * weight;
}

/* Writes a row of the result from the sums, and begins the next one. */
static void sum_finish(struct cut *c)
{
    const uint64_t area = (uint64_t)c->source_width * c->source_height;
    uint8_t *out = &c->pixels[(size_t)c->done * c->width * PICTURE_CHANNELS];
    for (size_t i = 0; i < (size_t)c->width * PICTURE_CHANNELS; i += PICTURE_CHANNELS) {
        const uint64_t alpha = c->sum[i + 3];
        for (size_t k = i; k < i + 3; k++)
            out[k] = (uint8_t)(alpha == 0 ? 0 : (c->sum[k] + alpha / 2) / alpha);
        out[i + 3] = (uint8_t)((alpha + area / 2) / area);
    }
    memset(c->sum, 0, sizeof c->sum);
    c->done++;
}

void cut_row(struct cut *c, uint32_t y, const uint8_t *rgba)
{
    if (y < c->top || y - c->top >= c->source_height)
        return;
    const uint64_t from = (uint64_t)(y - c->top) * c->height, to = from + c->height,
                   end = (uint64_t)(c->done + 1) * c->source_height;
    row_reduce(c, rgba + (size_t)c->left * PICTURE_CHANNELS);
    if (to < end) {
        sum_add(c, c->height);
        return;
    }
    sum_add(c, (uint32_t)(end - from));
    sum_finish(c);
    if (to > end)
        sum_add(c, (uint32_t)(to - end));
}

enum status cut_orient(struct cut *c, unsigned orientation)
{
    static const struct {
        bool mirror, flip; /* after the change of rows and columns: left and right, then top and bottom change places */
    } TURNS[] = {
        [2] = { true, false }, [3] = { true, true }, [4] = { false, true }, [5] = { false, false },
        [6] = { true, false }, [7] = { true, true }, [8] = { false, true },
    };
    if (orientation < 2 || orientation > 8)
        return ST_OK;
    const bool lies = orientation_lies(orientation);
    const uint32_t width = lies ? c->height : c->width, height = lies ? c->width : c->height;
    const size_t bytes = (size_t)width * height * PICTURE_CHANNELS;
    uint8_t *turned = malloc(bytes);
    if (turned == NULL)
        return ST_NO_MEMORY;
    for (uint32_t y = 0; y < c->height; y++)
        for (uint32_t x = 0; x < c->width; x++) {
            uint32_t to_x = lies ? y : x, to_y = lies ? x : y;
            to_x = TURNS[orientation].mirror ? width - 1 - to_x : to_x;
            to_y = TURNS[orientation].flip ? height - 1 - to_y : to_y;
            memcpy(&turned[((size_t)to_y * width + to_x) * PICTURE_CHANNELS],
                   &c->pixels[((size_t)y * c->width + x) * PICTURE_CHANNELS], PICTURE_CHANNELS);
        }
    memcpy(c->pixels, turned, bytes);
    free(turned);
    c->width = width;
    c->height = height;
    return ST_OK;
}

void cut_flatten(struct cut *c)
{
    for (size_t i = 0; i < (size_t)c->width * c->height * PICTURE_CHANNELS; i += PICTURE_CHANNELS) {
        const unsigned alpha = c->pixels[i + 3];
        for (size_t k = i; k < i + 3; k++)
            c->pixels[k] = (uint8_t)((c->pixels[k] * alpha + 255 * (255 - alpha)) / 255);
        c->pixels[i + 3] = 255;
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

static enum status decode(struct str file, struct picture_want want, uint64_t pixels_max, struct cut *out)
{
    if (begins_with(file, "\xff\xd8\xff", 3))
        return picture_jpeg(file, want, pixels_max, out);
    if (begins_with(file, "\x89PNG\r\n\x1a\n", 8))
        return picture_png(file, want, pixels_max, out);
    if (begins_with(file, "RIFF", 4) && file.len >= RIFF_HEAD && memcmp(file.ptr + 8, "WEBP", 4) == 0)
        return picture_webp(file, want, pixels_max, out);
    return ST_INVALID;
}

/* Appends the WebP file. */
static enum status encode(const struct cut *c, size_t bytes_aim, struct buf *out)
{
    const int width = (int)c->width, height = (int)c->height;
    size_t len = 0;
    uint8_t *bytes = NULL;
    for (size_t i = 0; i < ARRAY_LEN(QUALITIES) && (i == 0 || len > bytes_aim); i++) {
        WebPFree(bytes);
        bytes = NULL;
        len = WebPEncodeRGBA(c->pixels, width, height, width * PICTURE_CHANNELS, QUALITIES[i], &bytes);
    }
    if (len > 0)
        buf_bytes(out, bytes, len);
    WebPFree(bytes);
    return len == 0 || out->failed ? ST_NO_MEMORY : ST_OK;
}

enum status picture_make(struct str file, struct picture_want want, uint64_t pixels_max, struct buf *out)
{
    struct cut *cut = malloc(sizeof *cut);
    if (cut == NULL)
        return ST_NO_MEMORY;
    enum status st = decode(file, want, pixels_max, cut);
    if (st == ST_OK) {
        cut_flatten(cut);
        st = encode(cut, SHAPES[want.shape].bytes_aim, out);
    }
    free(cut);
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
