/* packet/returns: how shares that were given back change a packet. */
#include "packet/returns.h"
#include "support/assert_text.h"
#include "support/test_arena.h"

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

TEST(returned_shares_follow_those_of_the_draw_without_a_gap)
{
    struct packet p = even_packet(2);
    const struct share_return returns[] = { given(1, 100, 4), given(4, 100, 5), given(0, 100, PACKET_NO_SHARE) };
    int64_t shares[COUNT + 2];
    assert_int_equal(returns_shares(&p, returns, 3, shares), ST_OK);
    for (size_t i = 0; i < COUNT + 2; i++)
        assert_int_equal(shares[i], 100);
    p = even_packet(2);
    const struct share_return gap[] = { given(1, 100, 4), given(2, 100, 6) };
    const struct share_return sums[] = { given(1, 100, 4), given(2, 101, 5) };
    const struct share_return more[] = { given(1, 100, 4), given(2, 100, 5), given(3, 100, 6) };
    assert_int_equal(returns_shares(&p, gap, 2, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, sums, 2, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, more, 3, shares), ST_CORRUPT);
    assert_int_equal(returns_shares(&p, gap, 1, shares), ST_CORRUPT);
}

TEST(the_best_share_is_the_first_of_the_largest_that_stay)
{
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

TEST(a_share_goes_into_an_open_packet_that_still_has_a_taker_else_to_its_sender)
{
    static const struct {
        uint32_t receivers, returned;
        bool open;
        uint64_t user_id;
        enum return_way way;
    } rows[] = { { 0, 0, true, USER, RETURN_TO_PACKET },
                 { COUNT + 1, 0, true, USER, RETURN_TO_PACKET }, /* more receivers than shares */
                 { COUNT + 1, 1, true, USER, RETURN_TO_SENDER },
                 { COUNT, 0, true, USER, RETURN_TO_SENDER },
                 { 0, 0, true, SENDER, RETURN_TO_PACKET },
                 { 0, 0, false, USER, RETURN_TO_SENDER },
                 { 0, 0, false, SENDER, RETURN_OWN },
                 { COUNT, 0, true, SENDER, RETURN_OWN },
                 /* it has taken back as many shares as it was sent with, less one */
                 { 0, COUNT - 1, true, USER, RETURN_TO_PACKET },
                 { 0, COUNT, true, USER, RETURN_TOO_MANY },
                 { 0, COUNT, true, SENDER, RETURN_TOO_MANY },
                 { 0, COUNT, false, USER, RETURN_TO_SENDER } };
    EACH (row, rows) {
        struct packet p = even_packet(row->returned);
        p.receiver_count = row->receivers;
        if (return_way(&p, row->open, row->user_id) != row->way)
            fail_msg("row %zu", (size_t)(row - rows));
    }
    const struct packet exclusive = { .kind = PACKET_EXCLUSIVE, .count = 1, .receiver_id = USER, .sender_id = SENDER };
    assert_int_equal(return_way(&exclusive, true, USER), RETURN_TO_SENDER);
}

TEST(the_text_of_the_marks_is_read_back)
{
    const struct share_return returns[] = { given(13, 1, 20), given(3, 1, PACKET_NO_SHARE) };
    struct str text = returns_text(arena, returns, 2);
    assert_text(text, "13,3");
    assert_int_equal(returns_text_count(text), 2);
    assert_int_equal(returns_text_count(STR("")), 0);
    assert_true(returns_text_has(text, 13));
    assert_true(returns_text_has(text, 3));
    assert_false(returns_text_has(text, 1));
    assert_text(returns_text(arena, NULL, 0), "");
    assert_false(returns_text_has(STR(""), 0));
}

TESTS(arena_setup, arena_teardown)
