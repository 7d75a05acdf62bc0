/* Shared by the fuzz targets. A target is a function that libFuzzer calls with one input after another; an assertion
 * that fails, a report of a sanitizer or a hang is a finding. libFuzzer limits time and memory. */
#ifndef HB_TESTS_FUZZ_FUZZ_H
#define HB_TESTS_FUZZ_FUZZ_H

#include <assert.h>

#include "base/arena.h"
#include "base/log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct arena *fuzz_arena;

/* Begins an input: empties fuzz_arena. */
static inline void fuzz_begin(void)
{
    if (fuzz_arena == NULL)
        fuzz_arena = arena_new(4096, (size_t)16 << 20);
    assert(fuzz_arena != NULL);
    arena_reset(fuzz_arena);
}

/* The input as a slice. */
static inline struct str fuzz_text(const uint8_t *data, size_t size)
{
    return (struct str){ (const char *)data, size };
}

/* Numbers from the beginning of the input; zeros behind its end. */
struct fuzz_bytes {
    const uint8_t *next;
    size_t left;
};
static inline uint64_t fuzz_take(struct fuzz_bytes *in, size_t bytes)
{
    uint64_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        n = n << 8 | (in->left > 0 ? *in->next : 0);
        in->next += in->left > 0;
        in->left -= in->left > 0;
    }
    return n;
}

/* True when bytes of Redis announce an array of millions. hiredis allocates it at once, which would look like a finding
 * here; the service only reads replies of its own Redis. */
static inline bool fuzz_reply_is_huge(struct str bytes)
{
    enum { DIGITS_MAX = 6 };
    size_t digits = 0;
    bool array = false;
    for (size_t i = 0; i < bytes.len; i++) {
        bool digit = bytes.ptr[i] >= '0' && bytes.ptr[i] <= '9';
        digits = digit ? digits + 1 : 0;
        array = digit ? array : bytes.ptr[i] == '*' || (array && bytes.ptr[i] == '+');
        if (array && digits > DIGITS_MAX)
            return true;
    }
    return false;
}

/* For links with -Wl,--wrap=log_write: the lines of refused inputs are not written. */
void __wrap_log_write(enum log_level level, const char *msg, const char *format, ...);

#endif
