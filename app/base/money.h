/* Money is int64_t fen (1 yuan = 100 fen). Text like "12.34" exists only in input (base/typed.h) and output. */
#ifndef HB_BASE_MONEY_H
#define HB_BASE_MONEY_H

#include "base/arena.h"
#include "base/str.h"

/* Bytes that hold any money_format result with its NUL. */
#define MONEY_TEXT_MAX 24

/* fen → "12.34" or "-0.05". out: MONEY_TEXT_MAX bytes, caller's. Returns its length. */
size_t money_format(int64_t fen, char *out);
/* As above, in the arena; STR_NONE without memory. */
struct str money_text(struct arena *a, int64_t fen);
/* An amount as a limit, without ".00": "200", "12.50". In the arena; STR_NONE without memory. */
struct str money_limit_text(struct arena *a, int64_t fen);
/* fen → "壹佰贰拾叁元肆角伍分", "壹万零壹拾元整": the capitals of receipts, by the rules of China's banks (支付结算办法,
 * annex 1). In the arena; STR_NONE without memory, for a negative amount, and from 万亿 yuan on. */
struct str money_capitals(struct arena *a, int64_t fen);
/* False on overflow; *out untouched then. */
bool money_add(int64_t a_fen, int64_t b_fen, int64_t *out_fen);

#endif
