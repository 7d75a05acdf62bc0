/* Money is int64_t fen (1 yuan = 100 fen). Text like "12.34" exists only in input and output. */
#ifndef HB_BASE_MONEY_H
#define HB_BASE_MONEY_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* Bytes that hold any money_format result with its NUL. */
#define MONEY_TEXT_MAX 24

/* Yuan text ^(0|[1-9][0-9]{0,6})(\.[0-9]{1,2})?$ → fen. The caller has folded full-width digits.
 * ST_INVALID on anything else; *out_fen untouched. */
enum status money_parse(struct str yuan, int64_t *out_fen);
/* fen → "12.34" or "-0.05". out: MONEY_TEXT_MAX bytes, caller's. Returns its length. */
size_t money_format(int64_t fen, char *out);
/* As above, in the arena; STR_NONE without memory. */
struct str money_text(struct arena *a, int64_t fen);
/* An amount as a limit, without ".00": "200", "12.50". In the arena; STR_NONE without memory. */
struct str money_limit_text(struct arena *a, int64_t fen);
/* False on overflow; *out untouched then. */
bool money_add(int64_t a_fen, int64_t b_fen, int64_t *out_fen);

#endif
