/* packet/record_search: comparing a record with a filter. */
#include "packet/record_search.h"
#include "support/test_arena.h"

static const int64_t NOW_MS = 1000000;

static struct record record_of(void)
{
    return (struct record){ .kind = PACKET_LUCKY,
                            .state = PACKET_OPEN,
                            .amount_fen = 520,
                            .sender_id = 7,
                            .greeting = STR("Happy 新年"),
                            .count = 3,
                            .grabbed_count = 1,
                            .expires_ms = NOW_MS + 1 };
}

static bool received_matches(const struct record *row, const struct record_filter *filter)
{
    return record_matches(arena, row, RECORD_RECEIVED, filter, NOW_MS);
}

TEST(an_empty_filter_matches_everything_and_each_condition_can_exclude_a_record)
{
    const struct record_filter none = { 0 };
    struct record row = record_of();
    assert_false(record_filter_given(&none));
    assert_true(received_matches(&row, &none));
    assert_true(record_matches(arena, &row, RECORD_SENT, &none, NOW_MS));
    static const struct {
        struct record_filter excluding, including;
    } rows[] = { { { .kinds = 1U << PACKET_EVEN | 1U << PACKET_EXCLUSIVE }, { .kinds = 1U << PACKET_LUCKY } },
                 { { .states = 1U << PACKET_FINISHED }, { .states = 1U << PACKET_OPEN } },
                 { { .person_id = 8 }, { .person_id = 7 } },
                 { { .text = { "new", 3 } }, { .text = { "happy", 5 } } },
                 { { .min_fen = 521 }, { .min_fen = 520 } },
                 { { .max_fen = 519 }, { .max_fen = 520 } } };
    row = record_of();
    EACH (it, rows) {
        assert_true(record_filter_given(&it->excluding));
        assert_false(received_matches(&row, &it->excluding));
        assert_true(received_matches(&row, &it->including));
    }
}

TEST(the_state_and_the_person_are_as_users_see_them_and_a_greeting_as_any_keyboard_writes_it)
{
    const struct record_filter open = { .states = 1U << PACKET_OPEN }, expired = { .states = 1U << PACKET_EXPIRED },
                               finished = { .states = 1U << PACKET_FINISHED };
    struct record row = record_of();
    row.expires_ms = NOW_MS;
    assert_true(received_matches(&row, &expired));
    assert_false(received_matches(&row, &open));
    row.state = PACKET_CLOSED;
    row.grabbed_count = row.count;
    assert_true(received_matches(&row, &finished));
    assert_false(received_matches(&row, &expired));
    const struct record_filter person = { .person_id = 7 };
    row = record_of();
    assert_false(record_matches(arena, &row, RECORD_SENT, &person, NOW_MS));
    row.with_person = true;
    row.sender_id = 8;
    assert_true(record_matches(arena, &row, RECORD_SENT, &person, NOW_MS));
    /* The text of a filter and greetings are folded like phrases, so that replacements by phones do not matter. */
    static const char *const same[][2] = { { "It’s yours", "it's" },
                                           { "It's yours", "it’s" },
                                           { "“hi” — you", "\"hi\" -" },
                                           { "2025\u20132026", "2025-2026" },
                                           { "\u2764\uFE0F you", "\u2764 you" } };
    row = record_of();
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        struct record_filter filter = { .kinds = 0 };
        assert_int_equal(record_filter_text(arena, str_from(same[i][1]), &filter), ST_OK);
        row.greeting = str_from(same[i][0]);
        assert_true(received_matches(&row, &filter));
    }
}

TESTS(arena_setup, arena_teardown)
