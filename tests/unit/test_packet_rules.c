/* packet/rules: accepted sums, and which limit is violated. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packet/rules.h"
#include "packet/split.h"

static struct config config;

static int setup(void **state)
{
    (void)state;
    config_defaults(&config);
    return 0;
}

static struct rules_sum check(enum packet_kind kind, int64_t amount_fen, uint32_t count)
{
    return rules_check(&config,
                       &(struct rules_amount){ .fen = amount_fen, .is_total = kind == PACKET_LUCKY, .count = count });
}

static void assert_total(struct rules_sum sum, int64_t total_fen)
{
    assert_int_equal(sum.fault, RULES_OK);
    assert_int_equal(sum.total_fen, total_fen);
}

static void assert_violation(struct rules_sum sum, enum rules_fault fault, int64_t limit_fen)
{
    assert_int_equal(sum.fault, fault);
    assert_int_equal(sum.limit_fen, limit_fen);
}

static void a_lucky_packet_is_checked_by_its_total(void **state)
{
    (void)state;
    assert_total(check(PACKET_LUCKY, 1, 1), 1);
    assert_total(check(PACKET_LUCKY, 20000, 1), 20000);
    assert_total(check(PACKET_LUCKY, 2000000, 100), 2000000);
    assert_violation(check(PACKET_LUCKY, 0, 1), RULES_SHARE_MIN, 1);
    assert_violation(check(PACKET_LUCKY, 9, 10), RULES_SHARE_MIN, 1);
    assert_violation(check(PACKET_LUCKY, 20001, 1), RULES_SHARE_MAX, 20000);
    assert_violation(check(PACKET_LUCKY, 40001, 2), RULES_SHARE_MAX, 20000);
    assert_violation(check(PACKET_LUCKY, 2000001, 100), RULES_TOTAL_MAX, 2000000);
}

static void the_other_kinds_are_checked_by_one_share(void **state)
{
    (void)state;
    assert_total(check(PACKET_EVEN, 1, 3), 3);
    assert_total(check(PACKET_EVEN, 20000, 100), 2000000);
    assert_total(check(PACKET_EXCLUSIVE, 5200, 1), 5200);
    assert_violation(check(PACKET_EVEN, 0, 3), RULES_SHARE_MIN, 1);
    assert_violation(check(PACKET_EVEN, 20001, 2), RULES_SHARE_MAX, 20000);
    assert_violation(check(PACKET_EXCLUSIVE, 20001, 1), RULES_SHARE_MAX, 20000);
    config.packet_fen_max = 50000;
    assert_violation(check(PACKET_EVEN, 20000, 3), RULES_TOTAL_MAX, 50000);
}

static void an_even_packet_by_its_total_is_checked_by_its_largest_share(void **state)
{
    (void)state;
    struct rules_amount amount = { .fen = 1000, .is_total = true, .count = 3 };
    assert_total(rules_check(&config, &amount), 1000);
    amount.fen = 60000;
    assert_total(rules_check(&config, &amount), 60000);
    amount.fen = 60001; /* the first share gets the fen that is left over */
    assert_violation(rules_check(&config, &amount), RULES_SHARE_MAX, 20000);
    amount.fen = 2;
    assert_violation(rules_check(&config, &amount), RULES_SHARE_MIN, 1);
}

static void without_a_count_only_violations_with_every_count_are_reported(void **state)
{
    (void)state;
    assert_violation(check(PACKET_LUCKY, 0, 0), RULES_SHARE_MIN, 1);
    assert_violation(check(PACKET_LUCKY, 2000001, 0), RULES_TOTAL_MAX, 2000000);
    assert_int_equal(check(PACKET_LUCKY, 2000000, 0).fault, RULES_OK);
    assert_violation(check(PACKET_EVEN, 20001, 0), RULES_SHARE_MAX, 20000);
    assert_int_equal(check(PACKET_EVEN, 20000, 0).fault, RULES_OK);
}

static void settings_are_capped_by_the_limits_of_a_split(void **state)
{
    (void)state;
    assert_int_equal(rules_count_max(&config), 100);
    assert_int_equal(rules_total_fen_max(&config), 2000000);
    config.packet_shares_max = SPLIT_COUNT_MAX + 1;
    config.packet_fen_max = SPLIT_TOTAL_FEN_MAX + 1;
    assert_int_equal(rules_count_max(&config), SPLIT_COUNT_MAX);
    assert_int_equal(rules_total_fen_max(&config), SPLIT_TOTAL_FEN_MAX);
}

static void the_smallest_share_is_at_most_the_average_and_the_largest(void **state)
{
    (void)state;
    assert_int_equal(rules_share_min_fen_max(&config, 1000, 3), 333);
    assert_int_equal(rules_share_min_fen_max(&config, 1000, 10), 100);
    assert_int_equal(rules_share_min_fen_max(&config, 20000, 1), 20000);
    config.share_fen_max = 150;
    assert_int_equal(rules_share_min_fen_max(&config, 20000, 1), 150);
}

static void the_lifetimes_are_the_words_of_the_setting(void **state)
{
    (void)state;
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
    assert_false(rules_lifetime(&config, 4, &word, &ms));
    assert_false(rules_lifetime(&config, 5, &word, &ms));
    strcpy(config.packet_lifetimes, "90s");
    assert_true(rules_lifetime(&config, 0, &word, &ms));
    assert_int_equal(ms, 90000);
    assert_false(rules_lifetime(&config, 1, &word, &ms));
}

static void every_accepted_sum_can_be_split(void **state)
{
    (void)state;
    static const int64_t amounts_fen[] = { 1, 99, 100, 19999, 20000, 20001, 333333, 2000000 };
    static const uint32_t counts[] = { 1, 2, 3, 17, 99, 100 };
    int64_t shares[100];
    uint8_t seed[SEED_BYTES] = { 1, 2, 3 };
    unsigned accepted = 0;
    for (size_t i = 0; i < 8 * 6 * 2; i++) {
        bool lucky = i % 2 == 0;
        uint32_t count = counts[i / 16];
        struct rules_sum sum = check(lucky ? PACKET_LUCKY : PACKET_EVEN, amounts_fen[i / 2 % 8], count);
        if (sum.fault != RULES_OK)
            continue;
        accepted++;
        assert_int_equal(split_shares(lucky ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN, sum.total_fen, count, 1,
                                      config.share_fen_max, seed, shares),
                         ST_OK);
    }
    assert_true(accepted > 30);
}

#define RULES_TEST(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
    static const struct CMUnitTest tests[] = {
        RULES_TEST(a_lucky_packet_is_checked_by_its_total),
        RULES_TEST(the_other_kinds_are_checked_by_one_share),
        RULES_TEST(an_even_packet_by_its_total_is_checked_by_its_largest_share),
        RULES_TEST(without_a_count_only_violations_with_every_count_are_reported),
        RULES_TEST(settings_are_capped_by_the_limits_of_a_split),
        RULES_TEST(the_smallest_share_is_at_most_the_average_and_the_largest),
        RULES_TEST(the_lifetimes_are_the_words_of_the_setting),
        RULES_TEST(every_accepted_sum_can_be_split),
    };
    return cmocka_run_group_tests_name("packet_rules", tests, NULL, NULL);
}
