#include "packet/rules.h"

#include <assert.h>

#include "base/clock.h"
#include "packet/split.h"

int64_t rules_count_max(const struct config *config)
{
    return config->packet_shares_max < SPLIT_COUNT_MAX ? config->packet_shares_max : SPLIT_COUNT_MAX;
}

int64_t rules_total_fen_max(const struct config *config)
{
    return config->packet_fen_max < SPLIT_TOTAL_FEN_MAX ? config->packet_fen_max : SPLIT_TOTAL_FEN_MAX;
}

bool rules_lifetime(const struct config *config, size_t i, struct str *word, int64_t *ms)
{
    struct str rest = str_from(config->packet_lifetimes);
    *word = str_cut(rest, ' ', &rest);
    for (; i > 0 && rest.ptr != NULL; i--)
        *word = str_cut(rest, ' ', &rest);
    return i == 0 && clock_span(*word, ms);
}

static struct rules_sum violation(enum rules_fault fault, int64_t limit_fen)
{
    return (struct rules_sum){ .fault = fault, .limit_fen = limit_fen };
}

struct rules_sum rules_check(const struct config *config, enum packet_kind kind, int64_t amount_fen, uint32_t count)
{
    assert(amount_fen >= 0 && count <= rules_count_max(config));
    bool lucky = kind == PACKET_LUCKY;
    int64_t shares = count > 0 ? count : 1;
    int64_t share_fen_max = config->share_fen_max, total_fen_max = rules_total_fen_max(config);

    if (amount_fen < (lucky ? shares : 1))
        return violation(RULES_SHARE_MIN, 1);
    if (!lucky && amount_fen > share_fen_max)
        return violation(RULES_SHARE_MAX, share_fen_max);
    int64_t total_fen = lucky ? amount_fen : amount_fen * shares; /* at most 10^9 · 10^5 */
    if (total_fen > total_fen_max)
        return violation(RULES_TOTAL_MAX, total_fen_max);
    if (lucky && count > 0 && (total_fen + shares - 1) / shares > share_fen_max)
        return violation(RULES_SHARE_MAX, share_fen_max);
    return (struct rules_sum){ .fault = RULES_OK, .total_fen = total_fen };
}
