#include <string.h>

#include <webp/decode.h>

#include "io/picture_internal.h"

enum { RIFF_HEAD = 12, CHUNK_HEAD = 8, FRAME_HEAD = 16, CHUNKS_MAX = 64 };

static uint32_t number_at(struct str file, size_t at)
{
    const unsigned char *b = (const unsigned char *)file.ptr + at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The first frame of an animation: the library decodes the content of its chunk. STR_NONE: there is none. */
static struct str frame_find(struct str file)
{
    size_t at = RIFF_HEAD;
    for (int i = 0; i < CHUNKS_MAX && at <= file.len && file.len - at >= CHUNK_HEAD; i++) {
        const size_t size = number_at(file, at + 4), left = file.len - at - CHUNK_HEAD;
        if (size > left)
            return STR_NONE;
        if (memcmp(file.ptr + at, "ANMF", 4) == 0)
            return size < FRAME_HEAD ? STR_NONE
                                     : (struct str){ file.ptr + at + CHUNK_HEAD + FRAME_HEAD, size - FRAME_HEAD };
        at += CHUNK_HEAD + size + size % 2;
    }
    return STR_NONE;
}

static enum status status_of(VP8StatusCode code)
{
    return code == VP8_STATUS_OK ? ST_OK : code == VP8_STATUS_OUT_OF_MEMORY ? ST_NO_MEMORY : ST_INVALID;
}

/* The library cuts and reduces while it decodes. */
static enum status cut_decode(struct str file, struct picture_want want, WebPDecoderConfig *config, struct cut *out)
{
    cut_begin(out, want, 1, (uint32_t)config->input.width, (uint32_t)config->input.height);
    config->options.use_cropping = 1;
    config->options.crop_left = (int)out->left;
    config->options.crop_top = (int)out->top;
    config->options.crop_width = (int)out->source_width;
    config->options.crop_height = (int)out->source_height;
    config->options.use_scaling = 1;
    config->options.scaled_width = (int)out->width;
    config->options.scaled_height = (int)out->height;
    config->output.colorspace = MODE_RGBA;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = out->pixels;
    config->output.u.RGBA.stride = (int)out->width * PICTURE_CHANNELS;
    config->output.u.RGBA.size = (size_t)out->width * out->height * PICTURE_CHANNELS;
    enum status st = status_of(WebPDecode((const uint8_t *)file.ptr, file.len, config));
    WebPFreeDecBuffer(&config->output);
    return st;
}

enum status picture_webp(struct str file, struct picture_want want, uint64_t pixels_max, struct cut *out)
{
    WebPDecoderConfig config;
    if (!WebPInitDecoderConfig(&config))
        return ST_INVALID;
    enum status st = status_of(WebPGetFeatures((const uint8_t *)file.ptr, file.len, &config.input));
    if (st == ST_OK && config.input.has_animation) {
        file = frame_find(file);
        st = file.ptr == NULL ? ST_INVALID
                              : status_of(WebPGetFeatures((const uint8_t *)file.ptr, file.len, &config.input));
    }
    if (st == ST_OK && (config.input.has_animation || config.input.width <= 0 || config.input.height <= 0 ||
                        !picture_size_allowed((uint32_t)config.input.width, (uint32_t)config.input.height, pixels_max)))
        st = ST_INVALID;
    return st == ST_OK ? cut_decode(file, want, &config, out) : st;
}
