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

int64_t rules_share_min_fen_max(const struct config *config, int64_t total_fen, uint32_t count)
{
    assert(count >= 1);
    int64_t average_fen = total_fen / count;
    return average_fen < config->share_fen_max ? average_fen : config->share_fen_max;
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

struct rules_sum rules_check(const struct config *config, const struct rules_amount *amount)
{
    assert(amount->fen >= 0 && amount->count <= rules_count_max(config));
    bool is_total = amount->is_total;
    int64_t shares = amount->count > 0 ? amount->count : 1;
    int64_t share_fen_max = config->share_fen_max, total_fen_max = rules_total_fen_max(config);

    if (amount->fen < (is_total ? shares : 1))
        return violation(RULES_SHARE_MIN, 1);
    if (!is_total && amount->fen > share_fen_max)
        return violation(RULES_SHARE_MAX, share_fen_max);
    int64_t total_fen = is_total ? amount->fen : amount->fen * shares; /* at most 10^9 · 10^5 */
    if (total_fen > total_fen_max)
        return violation(RULES_TOTAL_MAX, total_fen_max);
    if (is_total && amount->count > 0 && (total_fen + shares - 1) / shares > share_fen_max)
        return violation(RULES_SHARE_MAX, share_fen_max);
    return (struct rules_sum){ .fault = RULES_OK, .total_fen = total_fen };
}
