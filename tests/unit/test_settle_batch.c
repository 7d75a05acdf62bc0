/* The sums and checks of a batch of events. */
#include "live/event.h"
#include "settle/batch.h"
#include "settle/fault.h"
#include "support/test_arena.h"

enum { PACKET_A = 7000, PACKET_B = 8000, NOW_MS = 5000, FIRST_MS = 1000, EVENTS_MAX = 8 };

static struct live_event events[EVENTS_MAX];
static struct settle_batch batch;
static struct settle_fault fault;

#define GRAB(packet, share, user, fen)                                                                                 \
    (struct live_event)                                                                                                \
    {                                                                                                                  \
        .type = LIVE_EVENT_GRAB, .packet_id = packet, .share_no = share, .user_id = user, .amount_fen = fen,           \
        .nickname = STR("n")                                                                                           \
    }
#define CLOSE(packet, count, fen, rest)                                                                                \
    (struct live_event)                                                                                                \
    {                                                                                                                  \
        .type = LIVE_EVENT_CLOSE, .packet_id = packet, .grabbed_count = count, .grabbed_fen = fen, .rest_fen = rest    \
    }

/* Groups these events; their ids begin with FIRST_MS and are a millisecond apart. */
#define GROUP(...)                                                                                                     \
    group_in(arena, (const struct live_event[]){ __VA_ARGS__ },                                                        \
             sizeof(const struct live_event[]){ __VA_ARGS__ } / sizeof(struct live_event))
static enum status group_in(struct arena *a, const struct live_event *from, size_t count)
{
    assert_in_range(count, 1, EVENTS_MAX);
    memcpy(events, from, count * sizeof *events);
    for (size_t i = 0; i < count; i++)
        events[i].id = (struct live_event_id){ FIRST_MS + i, 0 };
    fault = (struct settle_fault){ 0 };
    return settle_batch_group(a, events, count, NOW_MS, &batch, &fault);
}

/* The packet with the data of its row: 10 shares, 1,000 fen, sent by user 1. */
static struct settle_packet *row(uint64_t packet_id, uint32_t grabs, int64_t fen)
{
    struct settle_packet *p = settle_batch_packet(&batch, packet_id);
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

static enum status check(uint64_t packet_id, uint32_t row_grabs, int64_t row_fen)
{
    return settle_packet_check(row(packet_id, row_grabs, row_fen), &fault);
}

/* Expects these changes of accounts in their order. */
static void assert_accounts(const struct settle_account *wanted, size_t count)
{
    assert_int_equal(settle_batch_accounts(arena, &batch), ST_OK);
    assert_int_equal(batch.account_count, count);
    for (size_t i = 0; i < count; i++)
        assert_ints({ batch.accounts[i].id, wanted[i].id }, { batch.accounts[i].change_fen, wanted[i].change_fen });
}

TEST(events_are_grouped_by_packet_and_accounts_change_by_the_sum_in_ascending_order)
{
    assert_int_equal(GROUP(GRAB(PACKET_B, 0, 11, 100), GRAB(PACKET_A, 4, 12, 50), GRAB(PACKET_A, 5, 11, 60)), ST_OK);
    assert_ints({ batch.packet_count, 2 }, { batch.packets[0].id, PACKET_A }, { batch.packets[0].grabs, 2 },
                { batch.packets[0].grabs_fen, 110 }, { batch.packets[0].first_share, 4 },
                { batch.packets[0].last_share, 5 }, { batch.packets[0].last_grab_ms, FIRST_MS + 2 },
                { batch.packets[1].grabs, 1 });
    assert_null(settle_batch_packet(&batch, 9999));
    assert_int_equal(GROUP(GRAB(PACKET_B, 0, 12, 100), GRAB(PACKET_A, 0, 12, 50), GRAB(PACKET_A, 1, 11, 60)), ST_OK);
    assert_int_equal(check(PACKET_A, 0, 0), ST_OK);
    assert_int_equal(check(PACKET_B, 0, 0), ST_OK);
    assert_accounts((struct settle_account[]){ { 11, 60 }, { 12, 150 }, { PACKET_A, -110 }, { PACKET_B, -100 } }, 4);
}

TEST(a_refund_is_the_rest_after_the_grabs_of_the_same_batch_and_nothing_behind_the_last_share)
{
    assert_int_equal(GROUP(GRAB(PACKET_A, 3, 11, 60), CLOSE(PACKET_A, 4, 360, 640)), ST_OK);
    assert_int_equal(check(PACKET_A, 3, 300), ST_OK);
    assert_ints({ batch.packets[0].closes, true }, { batch.packets[0].finishes, false },
                { batch.packets[0].refund_fen, 640 });
    assert_accounts((struct settle_account[]){ { 1, 640 }, { 11, 60 }, { PACKET_A, -700 } }, 3);
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 1, 60), CLOSE(PACKET_A, 1, 60, 940)), ST_OK);
    assert_int_equal(check(PACKET_A, 0, 0), ST_OK);
    assert_accounts((struct settle_account[]){ { 1, 1000 }, { PACKET_A, -1000 } }, 2);
    assert_int_equal(GROUP(GRAB(PACKET_A, 9, 11, 100)), ST_OK);
    assert_int_equal(check(PACKET_A, 9, 900), ST_OK);
    assert_true(batch.packets[0].finishes && batch.packets[0].closes);
    assert_int_equal(batch.packets[0].refund_fen, 0);
}

TEST(a_repeated_grab_counts_once_and_another_one_of_the_same_share_is_a_fault)
{
    static const struct {
        uint64_t user_id;
        int64_t fen;
    } others[] = { { 12, 60 }, { 11, 61 }, { 11, 59 } };
    assert_ints({ GROUP(GRAB(PACKET_A, 0, 11, 60), GRAB(PACKET_A, 0, 11, 60)), ST_OK }, { batch.grab_count, 1 },
                { batch.packets[0].grabs_fen, 60 });
    EACH (row, others) {
        assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 60), GRAB(PACKET_A, 0, row->user_id, row->fen)), ST_CORRUPT);
        assert_int_not_equal(fault.kind, FAULT_NONE);
        assert_ints({ fault.packet_id, PACKET_A }, { fault.event.ms, FIRST_MS + 1 });
    }
    /* In another packet or share it is another grab. */
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 60), GRAB(PACKET_B, 0, 11, 60), GRAB(PACKET_B, 1, 11, 60)), ST_OK);
    assert_int_equal(batch.grab_count, 3);
}

TEST(what_no_script_writes_and_an_unknown_packet_are_faults)
{
    assert_int_equal(GROUP(CLOSE(PACKET_A, 0, 0, 1000), GRAB(PACKET_A, 0, 11, 60)), ST_CORRUPT);
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 0)), ST_CORRUPT);
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, INT64_MAX), GRAB(PACKET_A, 1, 12, 1)), ST_CORRUPT);
    assert_int_not_equal(fault.kind, FAULT_NONE); /* a sum beyond 64 bits */
    /* Zero sums contradict nothing else. */
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 10), CLOSE(PACKET_B, 0, 0, 0)), ST_OK);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(settle_packet_check(&batch.packets[i], &fault), ST_CORRUPT);
        assert_int_equal(fault.kind, FAULT_PACKET_UNKNOWN);
    }
}

/* Close events: one with the right numbers, and one for each wrong number. */
#define TWO_GRABBED CLOSE(PACKET_A, 2, 200, 800)
static const struct {
    uint32_t count;
    int64_t fen, rest_fen;
} WRONG[] = { { 3, 200, 800 }, { 2, 201, 800 }, { 2, 200, 799 } };
#define WRONG_CLOSE(i) CLOSE(PACKET_A, WRONG[i].count, WRONG[i].fen, WRONG[i].rest_fen)

/* The check of a packet that was closed before, with two shares grabbed. */
static enum status check_closed(void)
{
    struct settle_packet *p = row(PACKET_A, 2, 200);
    p->closed = true;
    p->row_refund_fen = 800;
    return settle_packet_check(p, &fault);
}

TEST(a_close_event_with_other_numbers_or_a_grab_behind_it_is_a_fault)
{
    assert_int_equal(GROUP(TWO_GRABBED, TWO_GRABBED), ST_OK);
    assert_int_equal(check(PACKET_A, 2, 200), ST_OK);
    assert_int_equal(GROUP(TWO_GRABBED), ST_OK);
    assert_int_equal(check(PACKET_A, 2, 200), ST_OK);
    for (size_t i = 0; i < ARRAY_LEN(WRONG); i++) {
        assert_ints({ GROUP(TWO_GRABBED, WRONG_CLOSE(i)), ST_CORRUPT }, { GROUP(WRONG_CLOSE(i)), ST_OK });
        assert_int_equal(check(PACKET_A, 2, 200), ST_CORRUPT);
        assert_int_equal(GROUP(WRONG_CLOSE(i)), ST_OK);
        assert_int_equal(check_closed(), ST_CORRUPT);
    }
    assert_int_equal(GROUP(TWO_GRABBED), ST_OK);
    assert_int_equal(check_closed(), ST_OK);
    assert_ints({ batch.packets[0].closes, false }, { batch.packets[0].refund_fen, 0 },
                { GROUP(GRAB(PACKET_A, 0, 11, 10)), ST_OK });
    struct settle_packet *p = row(PACKET_A, 0, 0);
    p->closed = true;
    assert_int_equal(settle_packet_check(p, &fault), ST_CORRUPT);
}

TEST(shares_follow_the_settled_ones_and_the_money_ends_with_the_last_one)
{
    static const struct {
        const char *what;
        uint32_t grabs, shares[3];
        int64_t fen; /* of each grab */
        uint32_t row_grabs;
        int64_t row_fen;
        enum status status;
    } rows[] = { { "shares that follow each other", 3, { 5, 6, 7 }, 1, 5, 100, ST_OK },
                 { "a hole between two shares", 3, { 5, 6, 8 }, 1, 5, 100, ST_CORRUPT },
                 { "a share from before, though the last one fits", 3, { 4, 6, 7 }, 1, 5, 100, ST_CORRUPT },
                 { "more grabs than shares, though there is money", 3, { 8, 9, 10 }, 1, 8, 100, ST_CORRUPT },
                 { "more money than the packet holds", 1, { 1 }, 901, 1, 100, ST_CORRUPT },
                 { "a share that does not follow the last settled one", 1, { 2 }, 10, 1, 100, ST_CORRUPT },
                 { "all the money before the last share", 1, { 1 }, 900, 1, 100, ST_CORRUPT },
                 { "the last share with money left", 1, { 9 }, 99, 9, 900, ST_CORRUPT } };
    EACH (row, rows) {
        const struct live_event grabs[] = { GRAB(PACKET_A, row->shares[0], 11, row->fen),
                                            GRAB(PACKET_A, row->shares[1], 12, row->fen),
                                            GRAB(PACKET_A, row->shares[2], 13, row->fen) };
        assert_int_equal(group_in(arena, grabs, row->grabs), ST_OK);
        if (check(PACKET_A, row->row_grabs, row->row_fen) != row->status)
            fail_msg("%s", row->what);
    }
}

TEST(a_dropped_grab_leaves_the_sums_right_and_without_memory_nothing_is_grouped)
{
    assert_int_equal(GROUP(GRAB(PACKET_A, 3, 11, 10), GRAB(PACKET_A, 4, 12, 20), GRAB(PACKET_A, 5, 13, 30)), ST_OK);
    const struct settle_packet *p = &batch.packets[0];
    settle_batch_drop(&batch, 0);
    assert_ints({ batch.grab_count, 2 }, { p->grabs, 2 }, { p->grabs_fen, 50 }, { p->first_share, 4 });
    settle_batch_drop(&batch, 1);
    assert_int_equal(p->last_share, 4);
    settle_batch_drop(&batch, 0);
    assert_ints({ p->grabs, 0 }, { p->grabs_fen, 0 });
    struct arena *tiny = arena_new(64, 64);
    assert_non_null(tiny);
    assert_int_equal(group_in(tiny, &GRAB(PACKET_A, 0, 11, 10), 1), ST_NO_MEMORY);
    arena_free(tiny);
}

/* Months change at 1001 and, with the year, at 1002. */
static struct clock_date date_of(int64_t ms)
{
    return ms < 1002 ? (struct clock_date){ .year = 2025, .month = ms < 1001 ? 11 : 12 }
                     : (struct clock_date){ .year = 2026, .month = 1 };
}

/* Expects these sums of months in their order. */
static void assert_months(const struct settle_best *best, size_t best_count, const struct settle_month *wanted,
                          size_t count)
{
    assert_int_equal(settle_batch_totals(arena, &batch, best, best_count, date_of), ST_OK);
    assert_int_equal(batch.month_count, count);
    for (size_t i = 0; i < count; i++) {
        const struct settle_month *got = &batch.months[i];
        if (got->user_id != wanted[i].user_id || got->year != wanted[i].year || got->month != wanted[i].month)
            fail_msg("row %zu is of user %u, %d-%d", i, (unsigned)got->user_id, (int)got->year, (int)got->month);
        assert_ints({ got->count, wanted[i].count }, { got->amount_fen, wanted[i].amount_fen },
                    { got->best_count, wanted[i].best_count });
    }
}

TEST(months_are_summed_per_user_in_ascending_order_and_a_best_share_counts_in_that_of_its_grab)
{
    static const struct settle_month wanted[] = {
        { 10, 2026, 1, 1, 40, 0 }, { 11, 2025, 11, 1, 10, 0 }, { 11, 2025, 12, 1, 20, 0 }, { 11, 2026, 1, 2, 80, 0 }
    };
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 10), GRAB(PACKET_B, 0, 11, 20), GRAB(PACKET_B, 1, 11, 30),
                           GRAB(PACKET_B, 2, 10, 40), GRAB(PACKET_B, 3, 11, 50)),
                     ST_OK);
    assert_months(NULL, 0, wanted, ARRAY_LEN(wanted));
    /* The grab of a best share may belong to an earlier batch, and to another month. */
    static const struct settle_best best[] = { { .user_id = 11, .grabbed_ms = 1000 },
                                               { .user_id = 5, .grabbed_ms = 2000 },
                                               { .user_id = 11, .grabbed_ms = 1000 },
                                               { .user_id = 11, .grabbed_ms = 1002 } };
    static const struct settle_month with_best[] = {
        { 5, 2026, 1, 0, 0, 1 }, { 11, 2025, 11, 1, 10, 2 }, { 11, 2025, 12, 1, 20, 0 }, { 11, 2026, 1, 0, 0, 1 }
    };
    assert_int_equal(GROUP(GRAB(PACKET_A, 0, 11, 10), GRAB(PACKET_B, 0, 11, 20)), ST_OK);
    assert_months(best, ARRAY_LEN(best), with_best, ARRAY_LEN(with_best));
}

TESTS(arena_setup, arena_teardown)
