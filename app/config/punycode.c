#include "config/punycode.h"

#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

/* RFC 3492, section 5. */
enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS_FIRST = 72, CODE_FIRST = 0x80, PREFIX_BYTES = 4 };

/* The text so far; when it no longer fits, len is larger than size. */
struct output {
    char *bytes;
    size_t size, len; /* size: without the NUL */
};

static void put(struct output *out, char c)
{
    if (out->len < out->size)
        out->bytes[out->len] = c;
    out->len++;
}

static uint32_t bias_adapt(uint32_t delta, uint32_t count, bool first)
{
    uint32_t k = 0;
    delta = first ? delta / DAMP : delta / 2;
    delta += delta / count;
    for (; delta > (BASE - T_MIN) * T_MAX / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

/* A number in digits of variable weight. */
static void delta_put(struct output *out, uint32_t delta, uint32_t bias)
{
    for (uint32_t k = BASE;; k += BASE) {
        const uint32_t t = k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
        const uint32_t digit = delta < t ? delta : t + (delta - t) % (BASE - t);
        put(out, (char)(digit < 26 ? 'a' + digit : '0' + digit - 26));
        if (delta < t)
            return;
        delta = (delta - t) / (BASE - t);
    }
}

static uint32_t least_from(const int32_t *codes, size_t count, uint32_t from)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count; i++)
        if ((uint32_t)codes[i] >= from && (uint32_t)codes[i] < least)
            least = (uint32_t)codes[i];
    return least;
}

size_t punycode_encode(const int32_t *codes, size_t count, char *out, size_t size)
{
    struct output to = { out, size > 0 ? size - 1 : 0, 0 };
    if (size == 0 || count > HOST_NAME_MAX_BYTES) /* so no delta overflows: 254 × 0x110000 < 2³² */
        return 0;
    for (size_t i = 0; i < count; i++)
        if (codes[i] < CODE_FIRST)
            put(&to, (char)codes[i]);
    const uint32_t basic = (uint32_t)to.len;
    uint32_t done = basic, code = CODE_FIRST, delta = 0, bias = BIAS_FIRST;
    if (basic > 0)
        put(&to, '-');
    while (done < count) {
        const uint32_t next = least_from(codes, count, code);
        delta += (next - code) * (done + 1);
        code = next;
        for (size_t i = 0; i < count; i++) {
            delta += (uint32_t)codes[i] < code;
            if ((uint32_t)codes[i] != code)
                continue;
            delta_put(&to, delta, bias);
            bias = bias_adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
        delta++;
        code++;
    }
    if (to.len > to.size)
        return 0;
    out[to.len] = '\0';
    return to.len;
}

static bool is_dot(int32_t code)
{
    return code == '.' || code == 0x3002 || code == 0xff0e || code == 0xff61;
}

/* Writes the label to out (HOST_LABEL_MAX_BYTES and a NUL). Returns its length; 0: it is empty or too long. */
static size_t label_write(const int32_t *codes, size_t count, char *out)
{
    bool ascii = true;
    for (size_t i = 0; i < count; i++)
        ascii = ascii && codes[i] < CODE_FIRST;
    if (ascii && count > HOST_LABEL_MAX_BYTES)
        return 0;
    for (size_t i = 0; ascii && i < count; i++)
        out[i] = (char)codes[i];
    if (ascii)
        return count;
    memcpy(out, "xn--", PREFIX_BYTES);
    size_t len = punycode_encode(codes, count, out + PREFIX_BYTES, HOST_LABEL_MAX_BYTES + 1 - PREFIX_BYTES);
    return len == 0 ? 0 : len + PREFIX_BYTES;
}

bool host_to_ascii(struct str host, char out[HOST_NAME_MAX_BYTES + 1])
{
    int32_t codes[HOST_NAME_MAX_BYTES + 1];
    const utf8proc_ssize_t count =
        utf8proc_decompose((const utf8proc_uint8_t *)host.ptr, (utf8proc_ssize_t)host.len, codes,
                           HOST_NAME_MAX_BYTES + 1, UTF8PROC_COMPAT | UTF8PROC_IGNORE | UTF8PROC_COMPOSE);
    if (count < 0 || count > HOST_NAME_MAX_BYTES)
        return false;
    const utf8proc_ssize_t end =
        utf8proc_normalize_utf32(codes, count, UTF8PROC_COMPAT | UTF8PROC_IGNORE | UTF8PROC_COMPOSE);
    size_t len = 0, begin = 0;
    for (size_t i = 0; end >= 0 && i <= (size_t)end; i++) {
        char label[HOST_LABEL_MAX_BYTES + 1];
        if (i < (size_t)end)
            codes[i] = utf8proc_tolower(codes[i]);
        if (i < (size_t)end && !is_dot(codes[i]))
            continue;
        const size_t bytes = label_write(codes + begin, i - begin, label);
        if (bytes == 0 || len + (len > 0) + bytes > HOST_NAME_MAX_BYTES)
            return false;
        if (len > 0)
            out[len++] = '.';
        memcpy(out + len, label, bytes);
        len += bytes;
        begin = i + 1;
    }
    out[len] = '\0';
    return len > 0;
}
