/* packet/story: what a year's gifts tell. */
#include "packet/story.h"
#include "support/test.h"

enum { SELF = 1, GRANDMA = 2, FRIEND = 3, DAY_MS = 86400000 };

static const int64_t NEW_YEAR_MS = 1767225600000; /* 2026-01-01 in UTC */

static struct story story_of(struct story_gift *given, size_t given_count, struct story_gift *received,
                             size_t received_count)
{
    struct story_gifts to = { given, given_count, false }, from = { received, received_count, false };
    struct story story;
    story_tell(&from, &to, SELF, &story);
    return story;
}

static int setup(void **state)
{
    (void)state;
    return clock_zone_set("UTC") ? 0 : 1;
}

TEST(the_sum_decides_whom_one_gave_most)
{
    struct story_gift given[] = { { .packet_id = 9, .person_id = FRIEND, .amount_fen = 300 },
                                  { .packet_id = 8, .person_id = GRANDMA, .amount_fen = 200 },
                                  { .packet_id = 7, .person_id = FRIEND, .amount_fen = 10 },
                                  { .packet_id = 6, .person_id = GRANDMA, .amount_fen = 200 } };
    struct story_gift received[] = { { .person_id = GRANDMA, .amount_fen = 5 },
                                     { .person_id = FRIEND, .amount_fen = 1 } };
    const struct story story = story_of(given, ARRAY_LEN(given), received, ARRAY_LEN(received));
    assert_ints({ story.given_most.id, GRANDMA }, { story.given_most.amount_fen, 400 }, { story.given_most.count, 2 },
                { story.given_most.exchanged, 3 }, { story.received_most.id, GRANDMA },
                { story.received_most.exchanged, 3 });
    assert_false(story.cut);
}

TEST(equal_sums_name_the_one_with_more_shares_then_the_older_account)
{
    struct story_gift given[] = { { .person_id = GRANDMA, .amount_fen = 200 },
                                  { .person_id = FRIEND, .amount_fen = 100 },
                                  { .person_id = FRIEND, .amount_fen = 100 } };
    struct story_gift received[] = { { .person_id = FRIEND, .amount_fen = 7 },
                                     { .person_id = GRANDMA, .amount_fen = 7 } };
    const struct story story = story_of(given, ARRAY_LEN(given), received, ARRAY_LEN(received));
    assert_ints({ story.given_most.id, FRIEND }, { story.received_most.id, GRANDMA });
}

TEST(oneself_what_was_given_back_and_unopened_packets_count_for_nobody)
{
    struct story_gift given[] = { { .person_id = SELF, .amount_fen = 900 },
                                  { .person_id = GRANDMA, .amount_fen = 800, .returned = true },
                                  { .person_id = 0 } };
    struct story_gift received[] = { { .person_id = SELF, .amount_fen = 900, .after_ms = 5 },
                                     { .person_id = GRANDMA, .amount_fen = 950, .after_ms = 1, .returned = true } };
    const struct story story = story_of(given, ARRAY_LEN(given), received, ARRAY_LEN(received));
    assert_ints({ story.given_most.id, 0 }, { story.received_most.id, 0 }, { story.largest.amount_fen, 900 },
                { story.fastest.after_ms, 5 });
}

TEST(of_equal_shares_the_later_one_is_the_largest)
{
    struct story_gift received[] = { { .packet_id = 12, .person_id = FRIEND, .amount_fen = 50, .after_ms = 70 },
                                     { .packet_id = 11, .person_id = GRANDMA, .amount_fen = 50, .after_ms = 30 },
                                     { .packet_id = 10, .person_id = GRANDMA, .amount_fen = 20, .after_ms = 30 } };
    struct story_gifts to = { NULL, 0, true }, from = { received, ARRAY_LEN(received), false };
    struct story story;
    story_tell(&from, &to, SELF, &story);
    assert_ints({ story.largest.packet_id, 12 }, { story.fastest.packet_id, 11 }, { story.cut, true });
}

TEST(the_liveliest_day_counts_packets_shares_and_thanks)
{
    const int64_t first = NEW_YEAR_MS, second = NEW_YEAR_MS + DAY_MS;
    struct story_gift given[] = {
        { .ms = second, .packet_id = 5, .person_id = GRANDMA, .amount_fen = 1, .thanked = true },
        { .ms = second, .packet_id = 5, .person_id = FRIEND, .amount_fen = 1 },
        { .ms = first, .packet_id = 4, .person_id = 0 },
    };
    struct story_gift received[] = { { .ms = second + DAY_MS - 1, .person_id = FRIEND, .amount_fen = 1 },
                                     { .ms = first, .person_id = FRIEND, .amount_fen = 1, .returned = true },
                                     { .ms = first, .person_id = FRIEND, .amount_fen = 1 } };
    const struct story story = story_of(given, ARRAY_LEN(given), received, ARRAY_LEN(received));
    assert_ints({ story.liveliest.date.year, 2026 }, { story.liveliest.date.month, 1 }, { story.liveliest.date.day, 2 },
                { story.liveliest.sent_count, 1 }, { story.liveliest.received_count, 1 },
                { story.liveliest.thanked_count, 1 }, { story.thanked_count, 1 });
}

TEST(a_year_without_records_tells_nothing)
{
    const struct story story = story_of(NULL, 0, NULL, 0);
    assert_ints({ story.given_most.id, 0 }, { story.largest.amount_fen, 0 }, { story.liveliest.date.year, 0 });
}

TESTS(setup, NULL)
