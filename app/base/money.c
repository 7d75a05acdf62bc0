#include "base/money.h"

#include <assert.h>
#include <string.h>

static struct money_unit of_site = { .code = "CNY", .symbol = "¥", .name_zh = "元", .name_en = "yuan", .decimals = 2 };

const struct money_unit *money_unit(void)
{
    return &of_site;
}

bool money_unit_is_yuan(void)
{
    return strcmp(of_site.code, "CNY") == 0 && of_site.decimals == 2;
}

void money_unit_set(const struct money_unit *unit)
{
    assert(unit->decimals >= 0 && unit->decimals <= MONEY_DECIMALS_MAX);
    of_site = *unit;
}

int64_t money_scale(void)
{
    static const int64_t scales[] = { 1, 10, 100 };
    return scales[of_site.decimals];
}

enum { GROUP_DIGITS = 4, YUAN_DIGITS_MAX = 12, CAPITALS_MAX = 128 };

#define CAPITALS_FEN_END INT64_C(100000000000000) /* 10 to the power of YUAN_DIGITS_MAX yuan */

size_t money_format_as(int64_t fen, int decimals, char *out)
{
    char reversed[MONEY_TEXT_MAX];
    uint64_t rest = fen < 0 ? 0 - (uint64_t)fen : (uint64_t)fen;
    size_t n = 0, len = 0;

    for (int digit = 0; digit <= decimals || rest; digit++) {
        if (digit == decimals && digit > 0)
            reversed[n++] = '.';
        reversed[n++] = (char)('0' + rest % 10);
        rest /= 10;
    }
    if (fen < 0)
        reversed[n++] = '-';
    while (n)
        out[len++] = reversed[--n];
    out[len] = '\0';
    return len;
}

size_t money_format(int64_t fen, char *out)
{
    return money_format_as(fen, of_site.decimals, out);
}

struct str money_text(struct arena *a, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    size_t len = money_format(fen, text);

    return arena_str(a, (struct str){ text, len });
}

struct str money_unit_says(struct arena *a)
{
    static const char *const says[] = { "without decimals, such as 88", "such as 88 or 88.5", "such as 88 or 88.50" };
    return arena_printf(a, "%s%s %s", of_site.code, of_site.decimals > 0 ? "," : "", says[of_site.decimals]);
}

struct str money_limit_text(struct arena *a, int64_t fen)
{
    const int64_t scale = money_scale();
    return fen % scale == 0 ? arena_printf(a, "%lld", (long long)(fen / scale)) : money_text(a, fen);
}

struct capitals {
    char text[CAPITALS_MAX];
    size_t len;
};

static void capitals_add(struct capitals *c, const char *word)
{
    size_t len = strlen(word);
    assert(c->len + len <= sizeof c->text);
    memcpy(c->text + c->len, word, len);
    c->len += len;
}

static const char *const DIGITS[] = { "零", "壹", "贰", "叁", "肆", "伍", "陆", "柒", "捌", "玖" };

/* One 零 stands for zeros between other digits. There is no 零 behind 亿 and 万 when the next digit is not zero. */
static void capitals_yuan(struct capitals *c, int64_t yuan)
{
    static const char *const units[] = { "", "拾", "佰", "仟" }, *const groups[] = { "", "万", "亿" };
    unsigned digits[YUAN_DIGITS_MAX];
    bool zero = false, in_group = false;
    for (int i = 0; i < YUAN_DIGITS_MAX; i++, yuan /= 10)
        digits[i] = (unsigned)(yuan % 10);
    for (int i = YUAN_DIGITS_MAX - 1; i >= 0; i--) {
        if (digits[i] == 0) {
            zero = true;
        } else {
            if (zero && c->len > 0)
                capitals_add(c, DIGITS[0]);
            capitals_add(c, DIGITS[digits[i]]);
            capitals_add(c, units[i % GROUP_DIGITS]);
            zero = false;
            in_group = true;
        }
        if (i % GROUP_DIGITS == 0 && in_group) {
            capitals_add(c, groups[i / GROUP_DIGITS]);
            zero = in_group = false;
        }
    }
}

struct str money_capitals(struct arena *a, int64_t fen)
{
    struct capitals c = { .len = 0 };
    if (!money_unit_is_yuan() || fen < 0 || fen >= CAPITALS_FEN_END)
        return STR_NONE;
    const int64_t yuan = fen / 100, jiao = fen / 10 % 10, rest = fen % 10;
    capitals_yuan(&c, yuan);
    if (fen == 0)
        capitals_add(&c, DIGITS[0]);
    if (yuan > 0 || c.len > 0)
        capitals_add(&c, "元");
    if (jiao > 0 || (rest > 0 && yuan > 0))
        capitals_add(&c, DIGITS[jiao]);
    if (jiao > 0)
        capitals_add(&c, "角");
    if (rest > 0) {
        capitals_add(&c, DIGITS[rest]);
        capitals_add(&c, "分");
    } else {
        capitals_add(&c, "整");
    }
    return arena_str(a, (struct str){ c.text, c.len });
}

bool money_add(int64_t a_fen, int64_t b_fen, int64_t *out_fen)
{
    int64_t sum;

    if (__builtin_add_overflow(a_fen, b_fen, &sum))
        return false;
    *out_fen = sum;
    return true;
}
