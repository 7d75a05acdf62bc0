/* The sums and checks of a batch of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/array.h"
#include "live/event.h"
#include "settle/batch.h"
#include "settle/fault.h"

enum { PACKET_A = 7000, PACKET_B = 8000, NOW_MS = 5000 };

struct bench {
    struct arena *arena;
    struct live_event events[8];
    size_t count;
    struct settle_batch batch;
    struct settle_fault fault;
};

static int bench_begin(void **state)
{
    static struct bench b;
    b = (struct bench){ .arena = arena_new(1 << 14, 1 << 20) };
    *state = &b;
    return b.arena == NULL;
}

static int bench_end(void **state)
{
    arena_free(((struct bench *)*state)->arena);
    return 0;
}

static void grab(struct bench *b, uint64_t packet_id, uint32_t share_no, uint64_t user_id, int64_t fen)
{
    struct live_event_id id = { 1000 + b->count, 0 };
    b->events[b->count++] = (struct live_event){ .id = id,
                                                 .type = LIVE_EVENT_GRAB,
                                                 .packet_id = packet_id,
                                                 .share_no = share_no,
                                                 .user_id = user_id,
                                                 .amount_fen = fen,
                                                 .nickname = STR("n") };
}

static void close_event(struct bench *b, uint64_t packet_id, uint32_t count, int64_t fen, int64_t rest_fen)
{
    struct live_event_id id = { 1000 + b->count, 0 };
    b->events[b->count++] = (struct live_event){ .id = id,
                                                 .type = LIVE_EVENT_CLOSE,
                                                 .packet_id = packet_id,
                                                 .grabbed_count = count,
                                                 .grabbed_fen = fen,
                                                 .rest_fen = rest_fen };
}

static enum status group(struct bench *b)
{
    return settle_batch_group(b->arena, b->events, b->count, NOW_MS, &b->batch, &b->fault);
}

/* The packet as its row has it: 10 shares, 1,000 fen, sent by user 1. */
static struct settle_packet *row(struct bench *b, uint64_t packet_id, uint32_t grabs, int64_t fen)
{
    struct settle_packet *p = settle_batch_packet(&b->batch, packet_id);
    assert_non_null(p);
    p->found = true;
    p->sender_id = 1;
    p->amount_fen = 1000;
    p->count = 10;
    p->best_share_no = PACKET_NO_SHARE;
    p->row_grabs = grabs;
    p->row_grabs_fen = fen;
    return p;
}

static void events_are_grouped_by_packet_in_ascending_order(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_B, 0, 11, 100);
    grab(b, PACKET_A, 4, 12, 50);
    grab(b, PACKET_A, 5, 11, 60);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(b->batch.packet_count, 2);
    assert_int_equal(b->batch.packets[0].id, PACKET_A);
    assert_int_equal(b->batch.packets[0].grabs, 2);
    assert_int_equal(b->batch.packets[0].grabs_fen, 110);
    assert_int_equal(b->batch.packets[0].first_share, 4);
    assert_int_equal(b->batch.packets[0].last_share, 5);
    assert_int_equal(b->batch.packets[0].last_grab_ms, 1002);
    assert_int_equal(b->batch.packets[1].grabs, 1);
    assert_null(settle_batch_packet(&b->batch, 9999));
}

static void accounts_change_by_the_sum_in_ascending_order_and_to_zero(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_B, 0, 12, 100);
    grab(b, PACKET_A, 0, 12, 50);
    grab(b, PACKET_A, 1, 11, 60);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(settle_packet_check(row(b, PACKET_A, 0, 0), &b->fault), ST_OK);
    assert_int_equal(settle_packet_check(row(b, PACKET_B, 0, 0), &b->fault), ST_OK);
    assert_int_equal(settle_batch_accounts(b->arena, &b->batch), ST_OK);
    assert_int_equal(b->batch.account_count, 4);
    const struct settle_account wanted[] = { { 11, 60 }, { 12, 150 }, { PACKET_A, -110 }, { PACKET_B, -100 } };
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(b->batch.accounts[i].id, wanted[i].id);
        assert_int_equal(b->batch.accounts[i].change_fen, wanted[i].change_fen);
    }
}

static void a_refund_is_the_rest_after_the_grabs_of_the_same_batch(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 3, 11, 60);
    close_event(b, PACKET_A, 4, 360, 640);
    assert_int_equal(group(b), ST_OK);
    struct settle_packet *p = row(b, PACKET_A, 3, 300);
    assert_int_equal(settle_packet_check(p, &b->fault), ST_OK);
    assert_true(p->closes);
    assert_false(p->finishes);
    assert_int_equal(p->refund_fen, 640);
    assert_int_equal(settle_batch_accounts(b->arena, &b->batch), ST_OK);
    assert_int_equal(b->batch.accounts[0].id, 1);
    assert_int_equal(b->batch.accounts[0].change_fen, 640);
    assert_int_equal(b->batch.accounts[2].change_fen, -700);
}

static void a_sender_who_grabs_and_is_refunded_gets_both_in_one_change(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 1, 60);
    close_event(b, PACKET_A, 1, 60, 940);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(settle_packet_check(row(b, PACKET_A, 0, 0), &b->fault), ST_OK);
    assert_int_equal(settle_batch_accounts(b->arena, &b->batch), ST_OK);
    assert_int_equal(b->batch.account_count, 2);
    assert_int_equal(b->batch.accounts[0].change_fen, 1000);
}

static void the_last_share_finishes_the_packet(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 9, 11, 100);
    assert_int_equal(group(b), ST_OK);
    struct settle_packet *p = row(b, PACKET_A, 9, 900);
    assert_int_equal(settle_packet_check(p, &b->fault), ST_OK);
    assert_true(p->finishes && p->closes);
    assert_int_equal(p->refund_fen, 0);
}

static void a_repeated_event_counts_once(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 60);
    grab(b, PACKET_A, 0, 11, 60);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(b->batch.grab_count, 1);
    assert_int_equal(b->batch.packets[0].grabs_fen, 60);
}

static void two_different_grabs_of_one_share_are_a_fault(void **state)
{
    struct bench *b = *state;
    const struct {
        uint64_t user_id;
        int64_t fen;
    } others[] = { { 12, 60 }, { 11, 61 }, { 11, 59 } };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        b->count = 0;
        grab(b, PACKET_A, 0, 11, 60);
        grab(b, PACKET_A, 0, others[i].user_id, others[i].fen);
        assert_int_equal(group(b), ST_CORRUPT);
        assert_int_not_equal(b->fault.kind, FAULT_NONE);
        assert_int_equal(b->fault.packet_id, PACKET_A);
        assert_int_equal(b->fault.event.ms, 1001);
    }
}

static void the_same_user_and_amount_in_another_packet_or_share_is_another_grab(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 60);
    grab(b, PACKET_B, 0, 11, 60);
    grab(b, PACKET_B, 1, 11, 60);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(b->batch.grab_count, 3);
}

static void a_grab_after_the_close_event_is_a_fault(void **state)
{
    struct bench *b = *state;
    close_event(b, PACKET_A, 0, 0, 1000);
    grab(b, PACKET_A, 0, 11, 60);
    assert_int_equal(group(b), ST_CORRUPT);
}

/* Close events: one with the right numbers, and one for each wrong number. */
struct close_numbers {
    uint32_t count;
    int64_t fen, rest_fen;
};
static const struct close_numbers TWO_GRABBED = { 2, 200, 800 };
static const struct close_numbers WRONG[] = { { 3, 200, 800 }, { 2, 201, 800 }, { 2, 200, 799 } };
enum { WRONG_COUNT = ARRAY_LEN(WRONG) };

static void close_with(struct bench *b, const struct close_numbers *n)
{
    close_event(b, PACKET_A, n->count, n->fen, n->rest_fen);
}

static void two_different_close_events_are_a_fault_and_two_equal_ones_are_not(void **state)
{
    struct bench *b = *state;
    close_with(b, &TWO_GRABBED);
    close_with(b, &TWO_GRABBED);
    assert_int_equal(group(b), ST_OK);
    for (size_t i = 0; i < WRONG_COUNT; i++) {
        b->count = 1;
        close_with(b, &WRONG[i]);
        assert_int_equal(group(b), ST_CORRUPT);
    }
}

static void a_close_event_with_other_numbers_than_the_row_is_a_fault(void **state)
{
    struct bench *b = *state;
    close_with(b, &TWO_GRABBED);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(settle_packet_check(row(b, PACKET_A, 2, 200), &b->fault), ST_OK);
    for (size_t i = 0; i < WRONG_COUNT; i++) {
        b->count = 0;
        close_with(b, &WRONG[i]);
        assert_int_equal(group(b), ST_OK);
        assert_int_equal(settle_packet_check(row(b, PACKET_A, 2, 200), &b->fault), ST_CORRUPT);
    }
}

static void sums_beyond_64_bits_are_a_fault(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, INT64_MAX);
    grab(b, PACKET_A, 1, 12, 1);
    assert_int_equal(group(b), ST_CORRUPT);
    assert_int_not_equal(b->fault.kind, FAULT_NONE);
}

static void an_amount_that_is_not_positive_is_a_fault(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 0);
    assert_int_equal(group(b), ST_CORRUPT);
}

/* One check of one packet with one grab of share `share` for `fen`. */
static enum status check_one(struct bench *b, uint32_t share, int64_t fen, uint32_t row_grabs, int64_t row_fen)
{
    grab(b, PACKET_A, share, 11, fen);
    assert_int_equal(group(b), ST_OK);
    return settle_packet_check(row(b, PACKET_A, row_grabs, row_fen), &b->fault);
}

static void more_money_than_the_packet_holds_is_a_fault(void **state)
{
    assert_int_equal(check_one(*state, 1, 901, 1, 100), ST_CORRUPT);
}

static void a_share_that_does_not_follow_the_last_settled_one_is_a_fault(void **state)
{
    assert_int_equal(check_one(*state, 2, 10, 1, 100), ST_CORRUPT);
}

/* Three grabs of a fen each behind row_grabs settled ones of a packet of 10 shares. */
static enum status check_three(struct bench *b, const uint32_t shares[3], uint32_t row_grabs)
{
    for (uint32_t i = 0; i < 3; i++)
        grab(b, PACKET_A, shares[i], 11 + i, 1);
    assert_int_equal(group(b), ST_OK);
    return settle_packet_check(row(b, PACKET_A, row_grabs, 100), &b->fault);
}

static void shares_that_follow_each_other_are_fine(void **state)
{
    assert_int_equal(check_three(*state, (const uint32_t[]){ 5, 6, 7 }, 5), ST_OK);
}

static void a_hole_between_two_shares_is_a_fault(void **state)
{
    assert_int_equal(check_three(*state, (const uint32_t[]){ 5, 6, 8 }, 5), ST_CORRUPT);
}

static void a_share_from_before_the_settled_ones_is_a_fault_though_the_last_one_fits(void **state)
{
    assert_int_equal(check_three(*state, (const uint32_t[]){ 4, 6, 7 }, 5), ST_CORRUPT);
}

static void more_grabs_than_shares_are_a_fault_though_there_is_money(void **state)
{
    assert_int_equal(check_three(*state, (const uint32_t[]){ 8, 9, 10 }, 8), ST_CORRUPT);
}

static void all_the_money_before_the_last_share_is_a_fault(void **state)
{
    assert_int_equal(check_one(*state, 1, 900, 1, 100), ST_CORRUPT);
}

static void the_last_share_with_money_left_is_a_fault(void **state)
{
    assert_int_equal(check_one(*state, 9, 99, 9, 900), ST_CORRUPT);
}

static void an_unknown_packet_is_a_fault(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 10);
    close_event(b, PACKET_B, 0, 0, 0); /* zero sums contradict nothing else */
    assert_int_equal(group(b), ST_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(settle_packet_check(&b->batch.packets[i], &b->fault), ST_CORRUPT);
        assert_int_equal(b->fault.kind, FAULT_PACKET_UNKNOWN);
    }
}

static void a_grab_of_a_closed_packet_is_a_fault(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 10);
    assert_int_equal(group(b), ST_OK);
    struct settle_packet *p = row(b, PACKET_A, 0, 0);
    p->closed = true;
    assert_int_equal(settle_packet_check(p, &b->fault), ST_CORRUPT);
}

static void a_close_event_repeated_after_closing_changes_nothing(void **state)
{
    struct bench *b = *state;
    close_with(b, &TWO_GRABBED);
    assert_int_equal(group(b), ST_OK);
    struct settle_packet *p = row(b, PACKET_A, 2, 200);
    p->closed = true;
    p->row_refund_fen = 800;
    assert_int_equal(settle_packet_check(p, &b->fault), ST_OK);
    assert_false(p->closes);
    assert_int_equal(p->refund_fen, 0);
}

static void a_close_event_repeated_with_other_numbers_is_a_fault(void **state)
{
    struct bench *b = *state;
    for (size_t i = 0; i < WRONG_COUNT; i++) {
        b->count = 0;
        close_with(b, &WRONG[i]);
        assert_int_equal(group(b), ST_OK);
        struct settle_packet *p = row(b, PACKET_A, 2, 200);
        p->closed = true;
        p->row_refund_fen = 800;
        assert_int_equal(settle_packet_check(p, &b->fault), ST_CORRUPT);
    }
}

static void a_dropped_grab_leaves_the_sums_right(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 3, 11, 10);
    grab(b, PACKET_A, 4, 12, 20);
    grab(b, PACKET_A, 5, 13, 30);
    assert_int_equal(group(b), ST_OK);
    settle_batch_drop(&b->batch, 0);
    assert_int_equal(b->batch.grab_count, 2);
    assert_int_equal(b->batch.packets[0].grabs, 2);
    assert_int_equal(b->batch.packets[0].grabs_fen, 50);
    assert_int_equal(b->batch.packets[0].first_share, 4);
    settle_batch_drop(&b->batch, 1);
    assert_int_equal(b->batch.packets[0].last_share, 4);
    settle_batch_drop(&b->batch, 0);
    assert_int_equal(b->batch.packets[0].grabs, 0);
    assert_int_equal(b->batch.packets[0].grabs_fen, 0);
}

/* Months change at 1001 and, with the year, at 1002. */
static struct clock_date date_of(int64_t ms)
{
    return ms < 1002 ? (struct clock_date){ .year = 2025, .month = ms < 1001 ? 11 : 12 }
                     : (struct clock_date){ .year = 2026, .month = 1 };
}

static void assert_months(const struct settle_batch *b, const struct settle_month *wanted, size_t count)
{
    assert_int_equal(b->month_count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(b->months[i].user_id, wanted[i].user_id);
        assert_int_equal(b->months[i].year, wanted[i].year);
        assert_int_equal(b->months[i].month, wanted[i].month);
        assert_int_equal(b->months[i].count, wanted[i].count);
        assert_int_equal(b->months[i].amount_fen, wanted[i].amount_fen);
        assert_int_equal(b->months[i].best_count, wanted[i].best_count);
    }
}

static void months_are_summed_per_user_and_month_in_ascending_order(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 10);
    grab(b, PACKET_B, 0, 11, 20);
    grab(b, PACKET_B, 1, 11, 30);
    grab(b, PACKET_B, 2, 10, 40);
    grab(b, PACKET_B, 3, 11, 50);
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(settle_batch_totals(b->arena, &b->batch, NULL, 0, date_of), ST_OK);
    const struct settle_month wanted[] = {
        { 10, 2026, 1, 1, 40, 0 }, { 11, 2025, 11, 1, 10, 0 }, { 11, 2025, 12, 1, 20, 0 }, { 11, 2026, 1, 2, 80, 0 }
    };
    assert_months(&b->batch, wanted, 4);
}

/* The grab of a best share may belong to an earlier batch, and to a month of its own. */
static void a_best_share_counts_in_the_month_of_its_grab(void **state)
{
    struct bench *b = *state;
    grab(b, PACKET_A, 0, 11, 10);
    grab(b, PACKET_B, 0, 11, 20);
    const struct settle_best best[] = { { .user_id = 11, .grabbed_ms = 1000 },
                                        { .user_id = 5, .grabbed_ms = 2000 },
                                        { .user_id = 11, .grabbed_ms = 1000 },
                                        { .user_id = 11, .grabbed_ms = 1002 } };
    assert_int_equal(group(b), ST_OK);
    assert_int_equal(settle_batch_totals(b->arena, &b->batch, best, 4, date_of), ST_OK);
    const struct settle_month wanted[] = {
        { 5, 2026, 1, 0, 0, 1 }, { 11, 2025, 11, 1, 10, 2 }, { 11, 2025, 12, 1, 20, 0 }, { 11, 2026, 1, 0, 0, 1 }
    };
    assert_months(&b->batch, wanted, 4);
}

static void without_memory_grouping_fails(void **state)
{
    struct bench *b = *state;
    struct arena *tiny = arena_new(64, 64);
    grab(b, PACKET_A, 0, 11, 10);
    assert_non_null(tiny);
    assert_int_equal(settle_batch_group(tiny, b->events, b->count, NOW_MS, &b->batch, &b->fault), ST_NO_MEMORY);
    arena_free(tiny);
}

#define BATCH_TEST(name) cmocka_unit_test_setup_teardown(name, bench_begin, bench_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        BATCH_TEST(events_are_grouped_by_packet_in_ascending_order),
        BATCH_TEST(accounts_change_by_the_sum_in_ascending_order_and_to_zero),
        BATCH_TEST(a_refund_is_the_rest_after_the_grabs_of_the_same_batch),
        BATCH_TEST(a_sender_who_grabs_and_is_refunded_gets_both_in_one_change),
        BATCH_TEST(the_last_share_finishes_the_packet),
        BATCH_TEST(a_repeated_event_counts_once),
        BATCH_TEST(two_different_grabs_of_one_share_are_a_fault),
        BATCH_TEST(the_same_user_and_amount_in_another_packet_or_share_is_another_grab),
        BATCH_TEST(a_grab_after_the_close_event_is_a_fault),
        BATCH_TEST(two_different_close_events_are_a_fault_and_two_equal_ones_are_not),
        BATCH_TEST(a_close_event_with_other_numbers_than_the_row_is_a_fault),
        BATCH_TEST(sums_beyond_64_bits_are_a_fault),
        BATCH_TEST(an_amount_that_is_not_positive_is_a_fault),
        BATCH_TEST(more_money_than_the_packet_holds_is_a_fault),
        BATCH_TEST(a_share_that_does_not_follow_the_last_settled_one_is_a_fault),
        BATCH_TEST(shares_that_follow_each_other_are_fine),
        BATCH_TEST(a_hole_between_two_shares_is_a_fault),
        BATCH_TEST(a_share_from_before_the_settled_ones_is_a_fault_though_the_last_one_fits),
        BATCH_TEST(more_grabs_than_shares_are_a_fault_though_there_is_money),
        BATCH_TEST(all_the_money_before_the_last_share_is_a_fault),
        BATCH_TEST(the_last_share_with_money_left_is_a_fault),
        BATCH_TEST(an_unknown_packet_is_a_fault),
        BATCH_TEST(a_grab_of_a_closed_packet_is_a_fault),
        BATCH_TEST(a_close_event_repeated_after_closing_changes_nothing),
        BATCH_TEST(a_close_event_repeated_with_other_numbers_is_a_fault),
        BATCH_TEST(a_dropped_grab_leaves_the_sums_right),
        BATCH_TEST(a_best_share_counts_in_the_month_of_its_grab),
        BATCH_TEST(months_are_summed_per_user_and_month_in_ascending_order),
        BATCH_TEST(without_memory_grouping_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
