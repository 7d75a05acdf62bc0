#include "base/money.h"

enum { FEN_DIGITS = 2 };

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
