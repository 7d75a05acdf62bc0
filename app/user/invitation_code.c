#include "user/invitation_code.h"

#include <assert.h>
#include <string.h>

#include "base/base32.h"
#include "base/link_key.h"
#include "base/typed.h"
#include "base/utf8.h"

enum {
    SECRET_CHARS = 12,
    CHECK_CHARS = 4,
    SECRET_BITS = SECRET_CHARS * BASE32_BITS,
    CHECK_BITS = CHECK_CHARS * BASE32_BITS,
    HEX_BITS = 4,
    GROUP = 4
};

static_assert(SECRET_CHARS + CHECK_CHARS == INVITATION_CODE_CHARS, "the parts of a code");
static_assert(SECRET_BITS % HEX_BITS == 0 && CHECK_BITS % HEX_BITS == 0, "whole digits of a MAC");

/* The first bits of a MAC in hex; its digits have the same values in base32. */
static uint64_t bits_of(struct str mac, size_t bits)
{
    uint64_t number = 0;
    for (size_t i = 0; i < bits / HEX_BITS; i++)
        number = number << HEX_BITS | (uint64_t)base32_value(mac.ptr[i]);
    return number;
}

static char *chars_write(char *to, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++) {
        const char c = BASE32_DIGITS[(number >> ((count - 1 - i) * BASE32_BITS)) % BASE32_COUNT];
        if (i > 0 && i % GROUP == 0)
            *to++ = '-';
        *to++ = c >= 'a' ? (char)(c - 'a' + 'A') : c;
    }
    return to;
}

/* Completes the code of these secret bits. *check: the bits of the check that belongs to them. */
static bool code_complete(struct arena *a, const struct key *key, uint64_t secret, uint64_t *check,
                          struct invitation_code *out)
{
    char text[INVITATION_CODE_TEXT_LEN], *to = text;
    const struct str mac = link_key(a, key, "hongbao invitation check v1", secret);
    out->hash = link_key(a, key, "hongbao invitation hash v1", secret);
    if (mac.ptr == NULL || out->hash.ptr == NULL)
        return false;
    *check = bits_of(mac, CHECK_BITS);
    to = chars_write(to, SECRET_CHARS, secret);
    *to++ = '-';
    to = chars_write(to, CHECK_CHARS, *check);
    assert(to == text + sizeof text);
    out->text = arena_str(a, (struct str){ text, sizeof text });
    return out->text.ptr != NULL;
}

bool invitation_code_of(struct arena *a, const struct key *key, uint64_t seed, struct invitation_code *out)
{
    uint64_t check;
    const struct str mac = link_key(a, key, "hongbao invitation code v1", seed);
    return mac.ptr != NULL && code_complete(a, key, bits_of(mac, SECRET_BITS), &check, out);
}

/* The part of the text that may be a code: behind "invitation=" in a link, and without what a chat or a sentence has
 * added. */
static struct str code_part(struct str text)
{
    static const char name[] = "invitation=";
    for (size_t i = 0; i + sizeof name - 1 <= text.len; i++)
        if (memcmp(text.ptr + i, name, sizeof name - 1) == 0) {
            text = (struct str){ text.ptr + i + sizeof name - 1, text.len - i - (sizeof name - 1) };
            break;
        }
    size_t len = 0;
    while (len < text.len && (base32_value(text.ptr[len]) >= 0 || text.ptr[len] == '-' || text.ptr[len] == ' '))
        len++;
    return (struct str){ text.ptr, len };
}

static uint64_t values_join(const uint8_t *values, size_t count)
{
    uint64_t number = 0;
    for (size_t i = 0; i < count; i++)
        number = number << BASE32_BITS | values[i];
    return number;
}

bool invitation_code_read(struct arena *a, const struct key *key, struct str typed, struct invitation_code *out)
{
    struct str folded;
    uint8_t values[INVITATION_CODE_CHARS];
    uint64_t check;
    if (utf8_fold_pasted(a, typed, &folded) != ST_OK || !typed_code(code_part(folded), values, INVITATION_CODE_CHARS))
        return false;
    /* The check is only a filter, so a comparison in constant time is not needed: the hash decides. */
    return code_complete(a, key, values_join(values, SECRET_CHARS), &check, out) &&
           check == values_join(values + SECRET_CHARS, CHECK_CHARS);
}
