/* packet/rules: accepted sums, and which limit is violated. */
#include "packet/rules.h"
#include "packet/split.h"
#include "support/test.h"

static struct config config;

static int setup(void **state)
{
    (void)state;
    config_defaults(&config);
    return 0;
}

static struct rules_sum check(bool is_total, int64_t amount_fen, uint32_t count)
{
    return rules_check(&config, &(struct rules_amount){ .fen = amount_fen, .is_total = is_total, .count = count });
}

struct sum {
    bool is_total;
    int64_t fen;
    uint32_t count;
    enum rules_fault fault;
    int64_t result_fen; /* the total, or the limit */
};

static void assert_sums(const struct sum *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct sum *row = &rows[i];
        struct rules_sum got = check(row->is_total, row->fen, row->count);
        if (got.fault != row->fault || (got.fault == RULES_OK ? got.total_fen : got.limit_fen) != row->result_fen)
            fail_msg("%lld fen in %u: fault %d, total %lld, limit %lld", (long long)row->fen, row->count,
                     (int)got.fault, (long long)got.total_fen, (long long)got.limit_fen);
    }
}

TEST_WITH(a_total_is_checked_by_its_largest_share_and_without_a_count_with_every_one, setup, NULL)
{
    static const struct sum rows[] = { { true, 1, 1, RULES_OK, 1 },
                                       { true, 20000, 1, RULES_OK, 20000 },
                                       { true, 2000000, 100, RULES_OK, 2000000 },
                                       { true, 1000, 3, RULES_OK, 1000 },
                                       { true, 60000, 3, RULES_OK, 60000 },
                                       { true, 60001, 3, RULES_SHARE_MAX,
                                         20000 }, /* the first share gets the fen that is left over */
                                       { true, 2, 3, RULES_SHARE_MIN, 1 },
                                       { true, 0, 1, RULES_SHARE_MIN, 1 },
                                       { true, 9, 10, RULES_SHARE_MIN, 1 },
                                       { true, 20001, 1, RULES_SHARE_MAX, 20000 },
                                       { true, 40001, 2, RULES_SHARE_MAX, 20000 },
                                       { true, 2000001, 100, RULES_TOTAL_MAX, 2000000 },
                                       { false, 1, 3, RULES_OK, 3 },
                                       { false, 20000, 100, RULES_OK, 2000000 },
                                       { false, 5200, 1, RULES_OK, 5200 },
                                       { false, 0, 3, RULES_SHARE_MIN, 1 },
                                       { false, 20001, 2, RULES_SHARE_MAX, 20000 },
                                       { false, 20001, 1, RULES_SHARE_MAX, 20000 } };
    static const struct sum lower[] = { { false, 20000, 3, RULES_TOTAL_MAX, 50000 } };
    assert_sums(rows, ARRAY_LEN(rows));
    config.packet_fen_max = 50000;
    assert_sums(lower, ARRAY_LEN(lower));
    config_defaults(&config);
    static const struct sum uncounted[] = { { true, 0, 0, RULES_SHARE_MIN, 1 },
                                            { true, 2000001, 0, RULES_TOTAL_MAX, 2000000 },
                                            { false, 20001, 0, RULES_SHARE_MAX, 20000 } };
    assert_sums(uncounted, ARRAY_LEN(uncounted));
    assert_int_equal(check(true, 2000000, 0).fault, RULES_OK);
    assert_int_equal(check(false, 20000, 0).fault, RULES_OK);
}

TEST_WITH(settings_have_the_limits_of_a_split_and_of_a_share_and_lifetimes_are_words, setup, NULL)
{
    assert_int_equal(rules_count_max(&config), 100);
    assert_int_equal(rules_total_fen_max(&config), 2000000);
    config.packet_shares_max = SPLIT_COUNT_MAX + 1;
    config.packet_fen_max = SPLIT_TOTAL_FEN_MAX + 1;
    assert_int_equal(rules_count_max(&config), SPLIT_COUNT_MAX);
    assert_int_equal(rules_total_fen_max(&config), SPLIT_TOTAL_FEN_MAX);
    config_defaults(&config);
    assert_int_equal(rules_share_min_fen_max(&config, 1000, 3), 333);
    assert_int_equal(rules_share_min_fen_max(&config, 1000, 10), 100);
    assert_int_equal(rules_share_min_fen_max(&config, 20000, 1), 20000);
    config.share_fen_max = 150;
    assert_int_equal(rules_share_min_fen_max(&config, 20000, 1), 150);
    static const struct {
        const char *word;
        int64_t ms;
    } wanted[] = { { "1h", 3600000 }, { "24h", 86400000 }, { "3d", 259200000 }, { "7d", 604800000 } };
    struct str word;
    int64_t ms;
    for (size_t i = 0; i < 4; i++) {
        assert_true(rules_lifetime(&config, i, &word, &ms));
        assert_true(str_equal(word, str_from(wanted[i].word)));
        assert_int_equal(ms, wanted[i].ms);
    }
    assert_false(rules_lifetime(&config, 4, &word, &ms) || rules_lifetime(&config, 5, &word, &ms));
    strcpy(config.packet_lifetimes, "90s");
    assert_true(rules_lifetime(&config, 0, &word, &ms));
    assert_int_equal(ms, 90000);
    assert_false(rules_lifetime(&config, 1, &word, &ms));
}

TEST_WITH(every_accepted_sum_can_be_split, setup, NULL)
{
    static const int64_t amounts_fen[] = { 1, 99, 100, 19999, 20000, 20001, 333333, 2000000 };
    static const uint32_t counts[] = { 1, 2, 3, 17, 99, 100 };
    int64_t shares[100];
    uint8_t seed[SEED_BYTES] = { 1, 2, 3 };
    unsigned accepted = 0;
    for (size_t i = 0; i < 8 * 6 * 2; i++) {
        bool lucky = i % 2 == 0;
        uint32_t count = counts[i / 16];
        struct rules_sum sum = check(lucky, amounts_fen[i / 2 % 8], count);
        if (sum.fault != RULES_OK)
            continue;
        accepted++;
        assert_int_equal(split_shares(lucky ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN, sum.total_fen, count, 1,
                                      config.share_fen_max, seed, shares),
                         ST_OK);
    }
    assert_true(accepted > 30);
}

TESTS(NULL, NULL)
