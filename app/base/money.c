#include "base/money.h"

enum { YUAN_DIGITS_MAX = 7, FRACTION_DIGITS_MAX = 2, FEN_PER_YUAN = 100, FEN_DIGITS = 2 };

/* Length of the run of ASCII digits at the start of s. */
static size_t digit_run(struct str s)
{
    size_t n = 0;

    while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
        n++;
    return n;
}

enum status money_parse(struct str yuan, int64_t *out_fen)
{
    size_t whole = digit_run(yuan);
    int64_t fen = 0;

    if (whole == 0 || whole > YUAN_DIGITS_MAX || (yuan.ptr[0] == '0' && whole > 1))
        return ST_INVALID;
    for (size_t i = 0; i < whole; i++)
        fen = fen * 10 + (yuan.ptr[i] - '0');
    fen *= FEN_PER_YUAN;

    if (whole < yuan.len) {
        struct str fraction = str_skip(yuan, whole + 1);
        if (yuan.ptr[whole] != '.' || fraction.len == 0 || fraction.len > FRACTION_DIGITS_MAX ||
            digit_run(fraction) != fraction.len)
            return ST_INVALID;
        fen += (fraction.ptr[0] - '0') * 10;
        if (fraction.len == FRACTION_DIGITS_MAX)
            fen += fraction.ptr[1] - '0';
    }
    *out_fen = fen;
    return ST_OK;
}

size_t money_format(int64_t fen, char *out)
{
    char reversed[MONEY_TEXT_MAX];
    uint64_t rest = fen < 0 ? 0 - (uint64_t)fen : (uint64_t)fen;
    size_t n = 0, len = 0;

    for (int digit = 0; digit <= FEN_DIGITS || rest; digit++) {
        if (digit == FEN_DIGITS)
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

struct str money_text(struct arena *a, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    size_t len = money_format(fen, text);

    return arena_str(a, (struct str){ text, len });
}

struct str money_limit_text(struct arena *a, int64_t fen)
{
    return fen % 100 == 0 ? arena_printf(a, "%lld", (long long)(fen / 100)) : money_text(a, fen);
}

bool money_add(int64_t a_fen, int64_t b_fen, int64_t *out_fen)
{
    int64_t sum;

    if (__builtin_add_overflow(a_fen, b_fen, &sum))
        return false;
    *out_fen = sum;
    return true;
}
