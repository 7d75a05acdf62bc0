/* What the settle worker believes of an event: its time, its user and its amount. */
#include "packet/split.h"
#include "settle/batch.h"
#include "settle/shares.h"
#include "settle/verify.h"
#include "support/test.h"

#define OPENS_MS   INT64_C(1800000000000)
#define EXPIRES_MS (OPENS_MS + 3600000)

static const struct verify_terms TERMS = { .opens_ms = OPENS_MS, .expires_ms = EXPIRES_MS };

static struct live_event grab_at(int64_t ms)
{
    return (struct live_event){
        .id = { (uint64_t)ms, 0 }, .type = LIVE_EVENT_GRAB, .packet_id = 7, .user_id = 11, .nickname = STR("小明")
    };
}

TEST(a_grab_is_believed_from_its_opening_to_its_expiry_or_its_end)
{
    static const struct {
        int64_t event_ms, now_ms;
        enum settle_fault_kind fault;
    } cases[] = { { OPENS_MS, OPENS_MS, FAULT_NONE },
                  { OPENS_MS - 1, OPENS_MS, FAULT_BEFORE_OPENING },
                  { OPENS_MS, OPENS_MS - VERIFY_MARGIN_MS, FAULT_NONE },
                  { OPENS_MS, OPENS_MS - VERIFY_MARGIN_MS - 1, FAULT_BEFORE_OPENING }, /* its id can't be right */
                  { EXPIRES_MS - 1, EXPIRES_MS, FAULT_NONE },
                  { EXPIRES_MS - 1, EXPIRES_MS + SETTLE_FUTURE_MS, FAULT_NONE }, /* settled late */
                  { EXPIRES_MS + VERIFY_MARGIN_MS - 1, EXPIRES_MS, FAULT_NONE },
                  { EXPIRES_MS + VERIFY_MARGIN_MS, EXPIRES_MS, FAULT_AFTER_EXPIRY },
                  { OPENS_MS + SETTLE_FUTURE_MS + 1, OPENS_MS, FAULT_IN_FUTURE } };
    EACH (row, cases) {
        struct live_event e = grab_at(row->event_ms);
        if (verify_grab(&TERMS, &e, row->now_ms) != row->fault)
            fail_msg("row %zu", (size_t)(row - cases));
    }
    /* Its id has the time of the last entry, which may be later than the grab. */
    struct live_event late = grab_at(EXPIRES_MS + VERIFY_MARGIN_MS), future = grab_at(EXPIRES_MS + SETTLE_FUTURE_MS);
    late.follows = future.follows = true;
    assert_int_equal(verify_grab(&TERMS, &late, EXPIRES_MS), FAULT_NONE);
    assert_int_equal(verify_grab(&TERMS, &future, OPENS_MS - 1), FAULT_NONE);
    assert_int_equal(verify_grab(&TERMS, &future, OPENS_MS - VERIFY_MARGIN_MS - 1), FAULT_BEFORE_OPENING);
    struct verify_terms ended = TERMS;
    late = grab_at(EXPIRES_MS + VERIFY_MARGIN_MS);
    ended.ended_ms = EXPIRES_MS;
    assert_int_equal(verify_grab(&ended, &late, EXPIRES_MS), FAULT_NONE);
    late.type = LIVE_EVENT_CLOSE;
    late.id.ms = (uint64_t)EXPIRES_MS - 1; /* the tables' clock has decided */
    assert_int_equal(verify_close(&ended, &late, EXPIRES_MS - 1), FAULT_NONE);
}

TEST(a_close_event_is_believed_after_the_expiry_and_an_impossible_time_is_the_workers)
{
    struct live_event e = { .id = { (uint64_t)EXPIRES_MS, 0 }, .type = LIVE_EVENT_CLOSE };
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS), FAULT_NONE);
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS - VERIFY_MARGIN_MS), FAULT_NONE);
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS - VERIFY_MARGIN_MS - 1), FAULT_CLOSED_EARLY);
    e.id.ms--;
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS), FAULT_CLOSED_EARLY);
    e.follows = true;
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS), FAULT_CLOSED_EARLY);
    e = (struct live_event){ .id = { UINT64_MAX, UINT64_MAX }, .type = LIVE_EVENT_CLOSE };
    assert_int_equal(verify_close(&TERMS, &e, EXPIRES_MS), FAULT_IN_FUTURE);
    e = grab_at(OPENS_MS + SETTLE_FUTURE_MS);
    assert_int_equal(settle_grab_ms(&e, OPENS_MS), OPENS_MS + SETTLE_FUTURE_MS);
    e.id.ms++;
    assert_int_equal(settle_grab_ms(&e, OPENS_MS), OPENS_MS);
    e.id.ms = UINT64_MAX;
    assert_int_equal(settle_grab_ms(&e, OPENS_MS), OPENS_MS);
}

TEST(only_the_receiver_and_a_possible_nickname_are_believed)
{
    struct verify_terms exclusive = { .receiver_id = 11, .expires_ms = EXPIRES_MS };
    struct live_event e = grab_at(OPENS_MS);
    char longest[4 * 64 + 2] = "";
    assert_int_equal(verify_grab(&exclusive, &e, OPENS_MS), FAULT_NONE);
    exclusive.receiver_id = 12;
    assert_int_equal(verify_grab(&exclusive, &e, OPENS_MS), FAULT_NOT_RECEIVER);
    for (size_t i = 0; i < 64; i++)
        strcat(longest, "🧧");
    const struct {
        struct str name;
        enum settle_fault_kind fault;
    } names[] = { { str_from(longest), FAULT_NONE }, { STR(""), FAULT_NONE },         { STR("\x7f"), FAULT_NICKNAME },
                  { STR("a\tb"), FAULT_NICKNAME },   { STR("\xc3"), FAULT_NICKNAME }, { STR("a\0b"), FAULT_NICKNAME },
                  { STR("小,强"), FAULT_NONE } };
    EACH (row, names) {
        e.nickname = row->name;
        assert_int_equal(verify_grab(&TERMS, &e, OPENS_MS), row->fault);
    }
    strcat(longest, "x");
    e.nickname = str_from(longest);
    assert_int_equal(verify_grab(&TERMS, &e, OPENS_MS), FAULT_NICKNAME);
}

/* ---- the drawn shares ---- */

static struct packet packet_make(uint64_t id, uint32_t count)
{
    struct packet p = { .id = id,
                        .kind = PACKET_LUCKY,
                        .split = SPLIT_DOUBLE_AVERAGE,
                        .amount_fen = (int64_t)count * 100,
                        .count = count,
                        .share_min_fen = 1,
                        .share_max_fen = 20000 };
    memset(p.seed, (int)(id % 251), sizeof p.seed);
    return p;
}

static void assert_drawn(struct shares *s, const struct packet *p)
{
    const int64_t *drawn;
    int64_t *wanted = calloc(p->count, sizeof *wanted);
    assert_non_null(wanted);
    assert_int_equal(shares_drawn(s, p, &drawn), ST_OK);
    assert_int_equal(split_packet(p, wanted), ST_OK);
    assert_memory_equal(drawn, wanted, p->count * sizeof *wanted);
    free(wanted);
}

/* Packets of one slot replace each other, and at the limit all are forgotten. */
TEST(shares_are_those_of_the_draw_whatever_is_remembered)
{
    enum { PACKETS = 3 * SHARES_SLOTS, LARGE = SPLIT_COUNT_MAX };
    struct shares *s = shares_new();
    assert_non_null(s);
    for (int round = 0; round < 2; round++)
        for (uint64_t id = 1; id <= PACKETS; id += 97) {
            struct packet p = packet_make(id, 1 + (uint32_t)(id % 40));
            assert_drawn(s, &p);
        }
    for (uint64_t id = 1; id <= SHARES_MAX / LARGE + 2; id++) {
        struct packet p = packet_make(id << 50, LARGE);
        assert_drawn(s, &p);
    }
    shares_free(s);
}

TEST(a_packet_with_the_same_id_and_other_terms_is_drawn_again)
{
    struct shares *s = shares_new();
    struct packet p = packet_make(9, 10), others[] = { p, p, p, p, p, p };
    assert_non_null(s);
    others[1].seed[31] ^= 1;
    others[2].amount_fen++;
    others[3].share_max_fen = 150;
    others[4].share_min_fen = 90;
    others[5].split = SPLIT_UNIFORM;
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_drawn(s, &others[i]);
    const int64_t *drawn;
    p.amount_fen = 1;
    assert_int_equal(shares_drawn(s, &p, &drawn), ST_INVALID);
    p.count = UINT32_MAX;
    assert_int_equal(shares_drawn(s, &p, &drawn), ST_INVALID);
    shares_free(s);
}

TESTS(NULL, NULL)
