#include "user/recovery_code.h"

#include <assert.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>

#include "base/base32.h"
#include "base/link_key.h"
#include "base/random.h"
#include "base/typed.h"
#include "base/utf8.h"

enum {
    SLOT_CHARS = 1,
    RANDOM_CHARS = 12,
    CHECK_CHARS = 4,
    RANDOM_BITS = RANDOM_CHARS * BASE32_BITS,
    CHECK_HEX = CHECK_CHARS * BASE32_BITS / 4,
    GROUP = 4
};

static_assert(SLOT_CHARS + RANDOM_CHARS + CHECK_CHARS == RECOVERY_CODE_CHARS, "the parts of a code");
static_assert(RECOVERY_CODES <= 10 && RANDOM_BITS + 4 <= 64, "slot and random bits fit into one number");

static char capital(unsigned value)
{
    char c = BASE32_DIGITS[value];
    return c >= 'a' ? (char)(c - 'a' + 'A') : c;
}

/* Writes the characters for the lowest bits of number. */
static void chars_write(char *out, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        out[i] = capital((unsigned)(number >> ((count - 1 - i) * BASE32_BITS)) % BASE32_COUNT);
}

/* A keyed hash of the code for one purpose. STR_NONE without memory. */
static struct str code_key(struct arena *a, const struct key *key, const char *purpose, struct str username,
                           uint64_t number)
{
    const char *whole = arena_printf(a, "%s %.*s", purpose, STR_ARG(username)).ptr; /* NUL-terminated */
    return whole == NULL ? STR_NONE : link_key(a, key, whole, number);
}

/* Completes a code whose slot is set: characters, text and subject. */
static bool code_complete(struct arena *a, const struct key *key, struct str username, uint64_t bits,
                          struct recovery_code *out)
{
    uint64_t check = 0;
    out->number = (uint64_t)out->slot << RANDOM_BITS | bits;
    out->subject = code_key(a, key, "hongbao recovery code v1", username, out->number);
    if (out->subject.ptr == NULL)
        return false;
    for (size_t i = 0; i < CHECK_HEX; i++)
        /* its characters are 0-9 and a-f, which have the same value in hex */
        check = check << 4 | (uint64_t)base32_value(out->subject.ptr[i]);
    out->chars[0] = (char)('0' + out->slot);
    chars_write(out->chars + SLOT_CHARS, RANDOM_CHARS, bits);
    chars_write(out->chars + SLOT_CHARS + RANDOM_CHARS, CHECK_CHARS, check);
    out->chars[RECOVERY_CODE_CHARS] = '\0';
    char *to = out->text;
    for (size_t i = 0; i < RECOVERY_CODE_CHARS; i++) {
        if (i % GROUP == SLOT_CHARS)
            *to++ = '-';
        *to++ = out->chars[i];
    }
    *to = '\0';
    return true;
}

bool recovery_code_make(struct arena *a, const struct key *key, struct str username, unsigned slot,
                        struct recovery_code *out)
{
    assert(slot < RECOVERY_CODES);
    *out = (struct recovery_code){ .slot = slot };
    return code_complete(a, key, username, random_u64() >> (64 - RANDOM_BITS), out);
}

/* Completes the code with this key. True when the key makes the check that was typed. */
static bool check_is_of(struct arena *a, const struct key *key, struct str username, uint64_t bits,
                        const char typed[CHECK_CHARS], struct recovery_code *out)
{
    return code_complete(a, key, username, bits, out) &&
           sodium_memcmp(typed, out->chars + SLOT_CHARS + RANDOM_CHARS, CHECK_CHARS) == 0;
}

bool recovery_code_read(struct arena *a, struct key_pair keys, struct str username, struct str typed,
                        struct recovery_code *out)
{
    struct str narrow;
    uint8_t values[RECOVERY_CODE_CHARS];
    char check[CHECK_CHARS];
    uint64_t bits = 0;

    if (utf8_fold_pasted(a, typed, &narrow) != ST_OK || !typed_code(narrow, values, RECOVERY_CODE_CHARS) ||
        values[0] >= RECOVERY_CODES)
        return false;
    for (size_t i = 0; i < RANDOM_CHARS; i++)
        bits = bits << BASE32_BITS | values[SLOT_CHARS + i];
    for (size_t i = 0; i < CHECK_CHARS; i++)
        check[i] = capital(values[SLOT_CHARS + RANDOM_CHARS + i]);
    *out = (struct recovery_code){ .slot = values[0] };
    return check_is_of(a, keys.now, username, bits, check, out) ||
           (keys.before != NULL && check_is_of(a, keys.before, username, bits, check, out));
}

struct str recovery_code_hash(struct arena *a, const struct key *key, struct str username,
                              const struct recovery_code *code)
{
    struct str hash = code_key(a, key, "hongbao recovery hash v1", username, code->number);
    return hash.ptr == NULL ? STR_NONE : arena_printf(a, "k1$%.*s", STR_ARG(hash));
}

bool recovery_hash_is_slow(struct str hash)
{
    return str_starts(hash, STR("$argon2"));
}
