/* Money is an int64_t in the smallest unit of the site's unit, which names call fen: 1 yuan = 100 fen. For a unit
 * without decimals it is the unit itself. Text like "12.34" exists only in input (base/typed.h) and output. */
#ifndef HB_BASE_MONEY_H
#define HB_BASE_MONEY_H

#include "base/arena.h"
#include "base/str.h"

/* Bytes that hold any money_format result with its NUL. */
#define MONEY_TEXT_MAX 24

/* The unit of the site's money: its settings. It is fixed for the life of the data. */
struct money_unit {
    const char *code;   /* "CNY", "POINT" */
    const char *symbol; /* in front of an amount: "¥"; empty: none */
    const char *name_zh, *name_en;
    int decimals; /* 0 … MONEY_DECIMALS_MAX */
};
enum { MONEY_DECIMALS_MAX = 2 };
/* The unit of the process: yuan with two decimals, until it is set. */
const struct money_unit *money_unit(void);
/* Whether it is CNY with two decimals, the only unit that version 1.0 knows. */
bool money_unit_is_yuan(void);
/* Sets it. Called once at start, before there are threads. The texts are borrowed for the life of the process. */
void money_unit_set(const struct money_unit *unit);
/* How many smallest units the unit has: 1, 10 or 100. */
int64_t money_scale(void);

/* fen → "12.34" or "-0.05"; "1234" without decimals. out: MONEY_TEXT_MAX bytes, caller's. Returns its length. */
size_t money_format(int64_t fen, char *out);
/* As above, of a unit with these decimals, 0 … MONEY_DECIMALS_MAX: of a receipt of any site. */
size_t money_format_as(int64_t fen, int decimals, char *out);
/* As money_format, in the arena; STR_NONE without memory. */
struct str money_text(struct arena *a, int64_t fen);
/* Which amounts there are, for messages: "CNY, such as 88 or 88.50", "POINT without decimals, such as 88". In the
 * arena; STR_NONE without memory. */
struct str money_unit_says(struct arena *a);
/* An amount as a limit, without ".00": "200", "12.50". In the arena; STR_NONE without memory. */
struct str money_limit_text(struct arena *a, int64_t fen);
/* fen → "壹佰贰拾叁元肆角伍分", "壹万零壹拾元整": the capitals of receipts, by the rules of China's banks (支付结算办法,
 * annex 1). In the arena; STR_NONE without memory, for a negative amount, from 万亿 yuan on, and of
 * another unit than CNY with two decimals, for which these rules are not. */
struct str money_capitals(struct arena *a, int64_t fen);
/* False on overflow; *out untouched then. */
bool money_add(int64_t a_fen, int64_t b_fen, int64_t *out_fen);

#endif
