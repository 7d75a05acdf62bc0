/* What somebody typed, as pasted, by every reader of base/typed. If a reader accepts a text, its canonical form reads
 * back the same. The first byte is the zone and the unit of money. */
#include <stdlib.h>

#include "base/array.h"
#include "base/base32.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "fuzz.h"

enum { CODE_CHARS = 17 };

static void numbers_check(struct str text)
{
    uint64_t n, n_again;
    int64_t fen, fen_again;
    char digits[STR_U64_MAX];
    if (typed_count(text, &n))
        assert(typed_count(str_u64(digits, n), &n_again) && n_again == n);
    if (!typed_amount(text, &fen))
        return;
    assert((fen >= 0 && fen <= 999999999) || fen == INT64_MAX);
    assert(typed_amount(money_text(fuzz_arena, fen), &fen_again) && fen_again == fen);
}

static void names_check(struct str text)
{
    struct str rest = text, name;
    size_t taken = 0;
    while ((name = typed_names_next(&rest)).len > 0) {
        struct str alone = name, folded = typed_name(fuzz_arena, name);
        assert(folded.len == name.len && str_equal(typed_name(fuzz_arena, folded), folded));
        assert(str_equal(typed_names_next(&alone), name) && alone.len == 0);
        taken += name.len;
    }
    assert(rest.len == 0 && taken <= text.len);
}

static void code_check(struct str text)
{
    uint8_t values[CODE_CHARS], again[CODE_CHARS];
    char chars[CODE_CHARS];
    if (!typed_code(text, values, CODE_CHARS))
        return;
    for (size_t i = 0; i < CODE_CHARS; i++)
        chars[i] = BASE32_DIGITS[values[i]];
    assert(typed_code((struct str){ chars, CODE_CHARS }, again, CODE_CHARS));
    for (size_t i = 0; i < CODE_CHARS; i++)
        assert(values[i] == again[i]);
}

static void times_check(struct str text)
{
    struct clock_date d, day_again;
    int64_t ms, again;
    if (typed_day(text, &d)) {
        struct str day = arena_printf(fuzz_arena, "%04d-%02d-%02d", d.year, d.month, d.day);
        assert(typed_day(day, &day_again) && clock_utc_ms(day_again) == clock_utc_ms(d));
        assert(!typed_utc_day(day, &ms) || ms == clock_utc_ms(d));
    }
    enum status st = typed_time(text, &ms);
    assert(st == ST_OK || st == ST_INVALID || st == ST_NOT_FOUND);
    if (st != ST_OK)
        return;
    /* 1970 to 9999, and a day more at both ends, because the time in UTC differs from the time of a zone. */
    assert(ms >= -86400000 && ms <= 253402387199999);
    if (ms >= 0 && ms <= 253402300799999)
        assert(typed_time(clock_rfc3339(fuzz_arena, ms), &again) == ST_OK && again == ms);
}

/* Units with and without a symbol, and with each number of decimals. */
static const struct money_unit UNITS[] = {
    { .code = "CNY", .symbol = "¥", .name_zh = "元", .name_en = "yuan", .decimals = 2 },
    { .code = "POINT", .symbol = "", .name_zh = "积分", .name_en = "points", .decimals = 0 },
    { .code = "HKD", .symbol = "HK$", .name_zh = "港元", .name_en = "dollars", .decimals = 2 },
    { .code = "T", .symbol = "T+", .name_zh = "豆", .name_en = "豆豆", .decimals = 1 },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const zones[] = { "UTC", "Asia/Shanghai", "Europe/Berlin", "Australia/Lord_Howe",
                                         "Pacific/Apia" };
    static size_t zone = ARRAY_LEN(zones);
    struct fuzz_bytes in = { data, size };
    const size_t first = fuzz_take(&in, 1), wanted = first % ARRAY_LEN(zones);
    struct str folded, text = fuzz_text(in.next, in.left);
    fuzz_begin();
    if (wanted != zone && !clock_zone_set(zones[zone = wanted]))
        abort();
    money_unit_set(&UNITS[first / ARRAY_LEN(zones) % ARRAY_LEN(UNITS)]);
    if (utf8_fold_pasted(fuzz_arena, text, &folded) != ST_OK)
        return 0;
    numbers_check(folded);
    names_check(folded);
    code_check(folded);
    times_check(folded);
    return 0;
}
