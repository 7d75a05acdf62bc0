#include "packet/split.h"

#include <assert.h>
#include <stdlib.h>

enum { WEIGHT_WORDS = 6, WEIGHT_FLOOR = 3 * 65536 };

static int64_t fen_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t fen_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void split_even(int64_t total_fen, uint32_t count, int64_t *out_fen)
{
    for (uint32_t i = 0; i < count; i++)
        out_fen[i] = total_fen / count + (i < total_fen % count ? 1 : 0);
}

static void split_double_average(struct draw *d, int64_t total_fen, uint32_t count, int64_t max, int64_t *out_fen)
{
    int64_t rest = total_fen;
    for (uint32_t left = count; left > 1; left--) {
        int64_t twice = 2 * rest / left;
        int64_t hi = fen_min(max, twice - 1);
        int64_t lo = fen_max(1, twice - max);
        assert(lo >= 1 && lo <= hi && hi <= max);
        int64_t share = lo + draw_below(d, (uint32_t)(hi - lo + 1));
        *out_fen++ = share;
        rest -= share;
    }
    assert(rest >= 1 && rest <= max);
    *out_fen = rest;
}

static int fen_compare(const void *a, const void *b)
{
    int64_t left = *(const int64_t *)a;
    int64_t right = *(const int64_t *)b;
    return (left > right) - (left < right);
}

static void split_uniform(struct draw *d, int64_t total_fen, uint32_t count, int64_t *out_fen)
{
    int64_t line = total_fen - count;
    uint32_t cuts = count - 1;
    for (uint32_t i = 0; i < cuts; i++)
        out_fen[i] = draw_below(d, (uint32_t)(line + 1));
    if (cuts > 1)
        qsort(out_fen, cuts, sizeof *out_fen, fen_compare);
    int64_t from = 0;
    for (uint32_t i = 0; i < cuts; i++) {
        int64_t cut = out_fen[i];
        out_fen[i] = cut - from + 1;
        from = cut;
    }
    out_fen[cuts] = line - from + 1;
}

static uint32_t draw_weight(struct draw *d)
{
    uint32_t sum = 0;
    for (int i = 0; i < WEIGHT_WORDS; i++) {
        uint32_t word = draw_u32(d);
        sum += (word >> 16) + (word & 0xffff);
    }
    return sum > WEIGHT_FLOOR ? sum - WEIGHT_FLOOR : 0;
}

static void split_gaussian(struct draw *d, int64_t total_fen, uint32_t count, int64_t *out_fen)
{
    uint64_t weight_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        out_fen[i] = draw_weight(d);
        weight_sum += (uint64_t)out_fen[i];
    }
    bool all_zero = weight_sum == 0;
    if (all_zero)
        weight_sum = count;
    uint64_t spread = (uint64_t)(total_fen - count);
    int64_t rest = total_fen;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t weight = all_zero ? 1 : (uint64_t)out_fen[i];
        out_fen[i] = 1 + (int64_t)(spread * weight / weight_sum); /* below 2^32 · 2^20 */
        rest -= out_fen[i];
    }
    assert(rest >= 0 && rest < count);
    for (uint32_t i = 0; i < rest; i++)
        out_fen[i]++;
}

/* The fold of split.h. */
static void fold_above(uint32_t count, int64_t max, int64_t *out_fen)
{
    uint64_t excess = 0;
    uint64_t room_sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (out_fen[i] > max) {
            excess += (uint64_t)(out_fen[i] - max);
            out_fen[i] = max;
        }
        room_sum += (uint64_t)(max - out_fen[i]);
    }
    if (excess == 0)
        return;
    assert(room_sum >= excess);
    uint64_t rest = excess;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t room = (uint64_t)(max - out_fen[i]);
        uint64_t more = excess * room / room_sum; /* both below 2^32 */
        out_fen[i] += (int64_t)more;
        rest -= more;
    }
    for (uint32_t i = 0; i < count && rest > 0; i++) {
        if (out_fen[i] < max) {
            out_fen[i]++;
            rest--;
        }
    }
    assert(rest == 0);
}

static void shuffle(struct draw *d, uint32_t count, int64_t *out_fen)
{
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = draw_below(d, i + 1);
        int64_t swapped = out_fen[i];
        out_fen[i] = out_fen[j];
        out_fen[j] = swapped;
    }
}

static void assert_valid(int64_t total_fen, uint32_t count, int64_t min, int64_t max, const int64_t *shares_fen)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        assert(shares_fen[i] >= min && shares_fen[i] <= max);
        sum += shares_fen[i];
    }
    assert(sum == total_fen);
}

/* Splits by one of the methods of split.h, without the floor. */
static void split_by(enum split_method method, int64_t total_fen, uint32_t count, int64_t max,
                     const uint8_t seed[SEED_BYTES], int64_t *out_fen)
{
    struct draw d;
    if (method == SPLIT_EVEN) {
        split_even(total_fen, count, out_fen);
        return;
    }
    draw_init(&d, seed);
    switch (method) {
    case SPLIT_UNIFORM:
        split_uniform(&d, total_fen, count, out_fen);
        fold_above(count, max, out_fen);
        break;
    case SPLIT_GAUSSIAN:
        split_gaussian(&d, total_fen, count, out_fen);
        fold_above(count, max, out_fen);
        break;
    default: split_double_average(&d, total_fen, count, max, out_fen);
    }
    shuffle(&d, count, out_fen);
}

enum status split_shares(enum split_method method, int64_t total_fen, uint32_t count, int64_t share_fen_min,
                         int64_t share_fen_max, const uint8_t seed[SEED_BYTES], int64_t *out_fen)
{
    if (method > SPLIT_EVEN || count < 1 || count > SPLIT_COUNT_MAX || total_fen > SPLIT_TOTAL_FEN_MAX ||
        share_fen_min < 1 || share_fen_min > share_fen_max || total_fen / count < share_fen_min ||
        (total_fen + count - 1) / count > share_fen_max)
        return ST_INVALID;
    int64_t floor = share_fen_min - 1, above_fen = total_fen - floor * count;
    /* A share can't exceed the total; a huge limit must not overflow the arithmetic. */
    split_by(method, above_fen, count, fen_min(share_fen_max - floor, above_fen), seed, out_fen);
    for (uint32_t i = 0; i < count; i++)
        out_fen[i] += floor;
    assert_valid(total_fen, count, share_fen_min, share_fen_max, out_fen);
    return ST_OK;
}

enum status split_packet(const struct packet *p, int64_t *out_fen)
{
    return split_shares(p->split, p->amount_fen, p->count, p->share_min_fen, p->share_max_fen, p->seed, out_fen);
}

void split_commitment(const uint8_t seed[SEED_BYTES], uint8_t *out)
{
    hash_sha256(seed, SEED_BYTES, out);
}

uint32_t split_best_share_no(const int64_t *shares_fen, uint32_t count)
{
    assert(count >= 1);
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (shares_fen[i] > shares_fen[best])
            best = i;
    return best;
}
