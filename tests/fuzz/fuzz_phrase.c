/* A line that a user typed: as a passphrase, as names of receivers, and as the lines of a picture. The first byte is
 * the width of the picture. */
#include "base/text_fit.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "packet/phrase.h"

enum { LINES_MAX = 4, PACKET = 7000 };
static const struct key KEY = { "a key of a test" };

static const struct key_pair KEYS = { &KEY, &KEY };

static void phrase_check(struct str typed)
{
    struct str folded, again;
    enum status st = phrase_fold(fuzz_arena, typed, &folded);
    assert((st == ST_INVALID) == !utf8_valid(typed));
    if (st != ST_OK)
        return;
    assert(utf8_valid(folded) && str_equal(str_trim(folded), folded));
    /* What is folded is compared: folding it again must not change it. */
    assert(phrase_fold(fuzz_arena, folded, &again) == ST_OK && str_equal(folded, again));
    assert(phrase_hash(fuzz_arena, &KEY, PACKET, folded).len == 32);
    struct str sealed = phrase_seal(fuzz_arena, &KEY, PACKET, typed);
    assert(str_equal(phrase_unseal(fuzz_arena, KEYS, PACKET, sealed), typed));
    assert(phrase_unseal(fuzz_arena, KEYS, PACKET + 1, sealed).ptr == NULL);
}

static void lines_check(struct str text, uint32_t width)
{
    struct str clean, lines[LINES_MAX];
    if (utf8_clean(fuzz_arena, text, &clean) != ST_OK)
        return;
    size_t count = text_fit(fuzz_arena, clean, width, lines, LINES_MAX);
    assert(count <= LINES_MAX);
    for (size_t i = 0; i < count; i++)
        assert(utf8_valid(lines[i]) && lines[i].len > 0 && text_width(lines[i]) <= width);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    uint32_t width = 200 + 16 * (uint32_t)fuzz_take(&in, 1);
    struct str text = fuzz_text(in.next, in.left);
    fuzz_begin();
    phrase_check(text);
    lines_check(text, width);
    (void)phrase_unseal(fuzz_arena, KEYS, PACKET, text);
    return 0;
}
