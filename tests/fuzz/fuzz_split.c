/* Splits: for any method, total, count, limits and seed the shares have the sum and keep the limits, or no such split
 * exists. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "packet/split.h"

enum { COUNT_MAX = 2000 };

static bool split_exists(int64_t total, uint32_t count, int64_t min, int64_t max)
{
    return count >= 1 && count <= SPLIT_COUNT_MAX && total <= SPLIT_TOTAL_FEN_MAX && min >= 1 && max >= min &&
           total >= (int64_t)count * min && total <= (int64_t)count * max;
}

static void shares_check(enum split_method method, const int64_t *shares, uint32_t count, int64_t total, int64_t min,
                         int64_t max)
{
    int64_t sum = 0, least = INT64_MAX, most = 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += shares[i];
        least = shares[i] < least ? shares[i] : least;
        most = shares[i] > most ? shares[i] : most;
    }
    assert(sum == total && least >= min && most <= max);
    assert(method != SPLIT_EVEN || most - least <= 1);
    uint32_t best = split_best_share_no(shares, count);
    assert(best < count && shares[best] == most);
    for (uint32_t i = 0; i < best; i++)
        assert(shares[i] < most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    uint8_t seed[SEED_BYTES] = { 0 };
    enum split_method method = (enum split_method)(fuzz_take(&in, 1) % (SPLIT_EVEN + 1));
    uint32_t count = (uint32_t)fuzz_take(&in, 2) % COUNT_MAX;
    int64_t total = (int64_t)fuzz_take(&in, 4), min = (int64_t)fuzz_take(&in, 3), max = (int64_t)fuzz_take(&in, 5);
    if (min > 0 && count > 0 && total % 3 != 0) { /* most inputs have a split */
        min = 1 + min % (total / count + 1);
        max = total / count + 1 + max % (total + 1);
    }
    memcpy(seed, in.next, in.left < sizeof seed ? in.left : sizeof seed);
    int64_t *shares = calloc(count + (size_t)1, sizeof *shares), *again = calloc(count + (size_t)1, sizeof *again);
    assert(shares != NULL && again != NULL);
    enum status st = split_shares(method, total, count, min, max, seed, shares);
    assert(st == ST_OK || st == ST_INVALID);
    assert((st == ST_OK) == split_exists(total, count, min, max));
    if (st == ST_OK) {
        shares_check(method, shares, count, total, min, max);
        assert(split_shares(method, total, count, min, max, seed, again) == ST_OK);
        assert(memcmp(shares, again, count * sizeof *shares) == 0);
    }
    free(shares);
    free(again);
    return 0;
}
