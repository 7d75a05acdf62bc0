/* packet/order: whether an order made the packet of a request key. */
#include "packet/order.h"
#include "support/test_arena.h"

#define KEY_OF(purpose) ((struct key[]){ key_derive(STR("a secret of more than thirty-two characters"), purpose) })
#define KEY             KEY_OF(KEY_PHRASE_HASH)

enum { PACKET_ID = 77, CREATED_MS = 1000, OPENS_MS = 5000, LIFETIME_MS = 3600000 };

/* The packet of an order with every option. */
static struct packet packet_made(void)
{
    return (struct packet){ .id = PACKET_ID,
                            .kind = PACKET_LUCKY,
                            .split = SPLIT_UNIFORM,
                            .amount_fen = 1000,
                            .count = 4,
                            .share_min_fen = 20,
                            .receiver_count = 2,
                            .receivers = STR(",10001,10002,"),
                            .cover = STR("birthday"),
                            .note = STR("team lunch"),
                            .greeting = STR("good luck"),
                            .created_ms = CREATED_MS,
                            .opens_ms = OPENS_MS,
                            .expires_ms = OPENS_MS + LIFETIME_MS,
                            .phrase_hash = phrase_hash(arena, KEY, PACKET_ID, STR("sesame")) };
}

/* The values of the order that matching compares; all others are in the packet that it would make. */
static const struct send_order ORDER = { .phrase = { .shown = STR("Sesame"), .folded = STR("sesame") } };

static bool matches(const struct send_order *order, const struct packet *p)
{
    struct packet wanted = packet_made();
    wanted.id = PACKET_ID + 1;
    wanted.created_ms = CREATED_MS + 1;
    wanted.phrase_hash = phrase_hash(arena, KEY, wanted.id, order->phrase.folded);
    return order_matches(arena, (struct key_pair){ KEY, KEY_OF(KEY_BEFORE) }, order, &wanted, p);
}

TEST(a_repeated_order_matches_the_packet_that_it_or_the_version_before_made)
{
    struct packet p = packet_made();
    assert_true(matches(&ORDER, &p));
    p.state = PACKET_CLOSED; /* what happens to the packet later */
    p.grabbed_count = p.returned_count = 1;
    p.grabbed_fen = p.returned_fen = 250;
    p.expires_ms = p.ended_ms = OPENS_MS + 1; /* an end changes the lifetime */
    assert_true(matches(&ORDER, &p));
    /* The order is repeated after an upgrade to a program that folds phrases in another way and has another key. */
    p = packet_made();
    struct send_order order = ORDER;
    order.phrase = (struct phrase){ .shown = STR("it’s") };
    assert_int_equal(phrase_read(arena, &order.phrase), ST_OK);
    p.phrase_hash = phrase_hash(arena, KEY_OF(KEY_BEFORE), PACKET_ID, STR("it’s"));
    assert_true(matches(&order, &p));
    p.phrase_hash = phrase_hash(arena, KEY, PACKET_ID, STR("it's"));
    assert_true(matches(&order, &p));
    p.phrase_hash = phrase_hash(arena, KEY, PACKET_ID, STR("its"));
    assert_false(matches(&order, &p));
}

/* An order in which only this value differs is another order. */
#define MUST_DIFFER(member, value)                                                                                     \
    do {                                                                                                               \
        struct packet differs = packet_made();                                                                         \
        differs.member = (value);                                                                                      \
        assert_false(matches(&ORDER, &differs));                                                                       \
    } while (0)

TEST(each_other_value_or_phrase_is_another_order_unless_it_was_left_to_a_default)
{
    MUST_DIFFER(kind, PACKET_EVEN);
    MUST_DIFFER(split, SPLIT_GAUSSIAN);
    MUST_DIFFER(amount_fen, 1001);
    MUST_DIFFER(count, 5);
    MUST_DIFFER(share_min_fen, 21);
    MUST_DIFFER(receiver_id, 10001);
    MUST_DIFFER(receiver_count, 3);
    MUST_DIFFER(receivers, STR(",10001,10003,"));
    MUST_DIFFER(note, STR("dinner"));
    MUST_DIFFER(note, STR(""));
    MUST_DIFFER(cover, STR("wedding"));
    MUST_DIFFER(cover, STR(""));
    MUST_DIFFER(greeting, STR("good luck!"));
    MUST_DIFFER(opens_ms, 0);
    MUST_DIFFER(expires_ms, OPENS_MS + LIFETIME_MS + 1);
    struct packet later = packet_made(); /* with the same lifetime */
    later.opens_ms += 1;
    later.expires_ms += 1;
    assert_false(matches(&ORDER, &later));
    struct packet p = packet_made();
    const struct send_order none = { .lifetime_ms = LIFETIME_MS };
    assert_false(matches(&none, &p));
    p.phrase_hash = phrase_hash(arena, KEY, PACKET_ID, STR("simsim"));
    assert_false(matches(&ORDER, &p));
    p.phrase_hash = STR("");
    assert_false(matches(&ORDER, &p));
    assert_true(matches(&none, &p));
    p = packet_made();
    struct send_order order = ORDER;
    p.greeting = STR("恭喜发财");
    order.greeting_by_default = true;
    assert_true(matches(&order, &p));
    p.expires_ms += 1;
    assert_false(matches(&order, &p));
    order.lifetime_by_default = true;
    assert_true(matches(&order, &p));
    order.greeting_by_default = false;
    assert_false(matches(&order, &p));
}

TESTS(arena_setup, arena_teardown)
