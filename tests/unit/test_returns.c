/* packet/returns: what shares that were given back change in a packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "packet/returns.h"

enum { COUNT = 4, TOTAL_FEN = 400, SENDER = 10001, USER = 10002 };

static struct packet even_packet(uint32_t returned)
{
    return (struct packet){ .sender_id = SENDER,
                            .kind = PACKET_EVEN,
                            .split = SPLIT_EVEN,
                            .amount_fen = TOTAL_FEN,
                            .count = COUNT,
                            .share_max_fen = TOTAL_FEN,
                            .share_min_fen = 1,
                            .returned_count = returned,
                            .returned_fen = (int64_t)returned * TOTAL_FEN / COUNT };
}

static struct share_return given(uint32_t share_no, int64_t fen, uint32_t position)
{
    return (struct share_return){ .share_no = share_no, .amount_fen = fen, .position = position };
}

static void returned_shares_follow_those_of_the_draw(void **state)
{
    (void)state;
    struct packet p = even_packet(2);
    const struct share_return returns[] = { given(1, 100, 4), given(4, 100, 5), given(0, 100, PACKET_NO_SHARE) };
    int64_t shares[COUNT + 2];
    assert_int_equal(returns_shares(&p, returns, 3, shares), ST_OK);
    for (size_t i = 0; i < COUNT + 2; i++)
        assert_int_equal(shares[i], 100);
}

static void positions_with_a_gap_or_other_sums_are_corrupt(void **state)
{
    (void)state;
    struct packet p = even_packet(2);
    int64_t shares[COUNT + 2];
    const struct share_return gap[] = { given(1, 100, 4), given(2, 100, 6) };
    const struct share_return sums[] = { given(1, 100, 4), given(2, 101, 5) };
    const struct share_return more[] = { given(1, 100, 4), given(2, 100, 5), given(3, 100, 6) };
    assert_int_equal(returns_shares(&p, gap, 2, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, sums, 2, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, more, 3, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, gap, 1, shares), ST_CORRUPT);
}

static void the_best_share_is_the_first_of_the_largest_that_stay(void **state)
{
    (void)state;
    struct packet p = { .kind = PACKET_LUCKY };
    const int64_t shares[] = { 5, 9, 9, 3, 9 };
    const struct share_return returns[] = { given(1, 9, 4), given(2, 9, PACKET_NO_SHARE) };
    assert_int_equal(returns_best_share(&p, shares, 4, NULL, 0), 1);
    assert_int_equal(returns_best_share(&p, shares, 5, returns, 1), 2);
    assert_int_equal(returns_best_share(&p, shares, 5, returns, 2), 2); /* to the sender: it stays the best */
    const struct share_return both[] = { given(1, 9, 4), given(2, 9, 5) };
    assert_int_equal(returns_best_share(&p, shares, 5, both, 2), 4);
    p.kind = PACKET_EVEN;
    assert_int_equal(returns_best_share(&p, shares, 5, both, 2), PACKET_NO_SHARE);
}

static void a_share_goes_into_the_packet_while_there_are_more_receivers_than_shares(void **state)
{
    (void)state;
    struct packet p = even_packet(0);
    assert_int_equal(return_way(&p, true, USER), RETURN_TO_PACKET);
    p.receiver_count = COUNT + 1;
    assert_int_equal(return_way(&p, true, USER), RETURN_TO_PACKET);
    p.returned_count = 1;
    assert_int_equal(return_way(&p, true, USER), RETURN_TO_SENDER);
    p.returned_count = 0;
    p.receiver_count = COUNT;
    assert_int_equal(return_way(&p, true, USER), RETURN_TO_SENDER);
    const struct packet exclusive = { .kind = PACKET_EXCLUSIVE, .count = 1, .receiver_id = USER, .sender_id = SENDER };
    assert_int_equal(return_way(&exclusive, true, USER), RETURN_TO_SENDER);
}

static void a_share_of_a_packet_that_is_over_goes_to_its_sender_unless_it_is_the_senders(void **state)
{
    (void)state;
    struct packet p = even_packet(0);
    assert_int_equal(return_way(&p, true, SENDER), RETURN_TO_PACKET);
    assert_int_equal(return_way(&p, false, USER), RETURN_TO_SENDER);
    assert_int_equal(return_way(&p, false, SENDER), RETURN_OWN);
    p.receiver_count = COUNT;
    assert_int_equal(return_way(&p, true, SENDER), RETURN_OWN);
}

static void an_open_packet_takes_as_many_shares_back_as_it_was_sent_with(void **state)
{
    (void)state;
    struct packet p = even_packet(COUNT - 1);
    assert_int_equal(return_way(&p, true, USER), RETURN_TO_PACKET);
    p = even_packet(COUNT);
    assert_int_equal(return_way(&p, true, USER), RETURN_TOO_MANY);
    assert_int_equal(return_way(&p, true, SENDER), RETURN_TOO_MANY);
    assert_int_equal(return_way(&p, false, USER), RETURN_TO_SENDER);
}

static void the_text_of_the_marks_is_read_back(void **state)
{
    (void)state;
    struct arena *a = arena_new(1024, 4096);
    const struct share_return returns[] = { given(13, 1, 20), given(3, 1, PACKET_NO_SHARE) };
    struct str text = returns_text(a, returns, 2);
    assert_true(str_equal(text, STR("13,3")));
    assert_int_equal(returns_text_count(text), 2);
    assert_int_equal(returns_text_count(STR("")), 0);
    assert_true(returns_text_has(text, 13));
    assert_true(returns_text_has(text, 3));
    assert_false(returns_text_has(text, 1));
    assert_true(str_equal(returns_text(a, NULL, 0), STR("")));
    assert_false(returns_text_has(STR(""), 0));
    arena_free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(returned_shares_follow_those_of_the_draw),
        cmocka_unit_test(positions_with_a_gap_or_other_sums_are_corrupt),
        cmocka_unit_test(the_best_share_is_the_first_of_the_largest_that_stay),
        cmocka_unit_test(a_share_goes_into_the_packet_while_there_are_more_receivers_than_shares),
        cmocka_unit_test(a_share_of_a_packet_that_is_over_goes_to_its_sender_unless_it_is_the_senders),
        cmocka_unit_test(an_open_packet_takes_as_many_shares_back_as_it_was_sent_with),
        cmocka_unit_test(the_text_of_the_marks_is_read_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
