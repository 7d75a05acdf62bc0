/* packet/packet: names, the shown state, partitions. packet/receivers: who may open a packet. */
#include "packet/cover.h"
#include "packet/packet.h"
#include "packet/receivers.h"
#include "support/assert_text.h"
#include "support/test_arena.h"

TEST(every_name_is_read_back_and_an_unknown_one_changes_nothing)
{
    for (int i = PACKET_LUCKY; i <= PACKET_EXCLUSIVE; i++) {
        enum packet_kind kind;
        assert_true(packet_kind_from(packet_kind_name((enum packet_kind)i), &kind));
        assert_int_equal(kind, i);
    }
    for (int i = SPLIT_DOUBLE_AVERAGE; i <= SPLIT_EVEN; i++) {
        enum split_method method;
        assert_true(split_method_from(split_method_name((enum split_method)i), &method));
        assert_int_equal(method, i);
    }
    for (int i = PACKET_FUNDING; i <= PACKET_CLOSED; i++) {
        enum packet_state word;
        assert_true(packet_state_from(packet_state_name((enum packet_state)i), &word));
        assert_int_equal(word, i);
    }
    enum packet_kind kind = PACKET_EVEN;
    enum split_method method = SPLIT_UNIFORM;
    enum packet_state word = PACKET_OPEN;
    assert_false(packet_kind_from(STR("Lucky"), &kind));
    assert_false(packet_kind_from(STR(""), &kind));
    assert_false(split_method_from(STR("lucky"), &method));
    assert_false(packet_state_from(STR("open "), &word));
    assert_ints({ kind, PACKET_EVEN }, { method, SPLIT_UNIFORM }, { word, PACKET_OPEN });
}

TEST(a_cover_is_read_back_or_ones_own_or_plain)
{
    for (unsigned i = 0; i < COVER_COUNT; i++) {
        enum packet_cover cover = (enum packet_cover)i;
        assert_int_equal(packet_cover_from(packet_cover_name(cover)), cover);
        assert_int_equal(packet_cover_from(packet_cover_stored(cover)), cover);
    }
    assert_int_equal(packet_cover_stored(COVER_PLAIN).len, 0);
    assert_int_equal(packet_cover_from(STR("of-a-newer-program")), COVER_PLAIN);
    const struct str own = STR("@0123456789abcdefghjkmnpqrs");
    assert_true(str_equal(packet_cover_hash(own), str_slice(own, 1, own.len)));
    assert_true(str_equal(packet_cover_shown(own), STR("own")));
    assert_int_equal(packet_cover_from(own), COVER_PLAIN); /* as an older program reads it */
    static const char *const others[] = {
        "", "birthday", "@", "@0123456789abcdefghjkmnpqr", "@0123456789abcdefghjkmnpqrU", "0123456789abcdefghjkmnpqrs"
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        const struct str other = str_from(others[i]);
        assert_null(packet_cover_hash(other).ptr);
        assert_true(str_equal(packet_cover_shown(other), packet_cover_name(packet_cover_from(other))));
    }
}

TEST(the_shown_state_and_whether_a_packet_is_over_and_its_partition)
{
    static const struct {
        enum packet_state state;
        uint32_t grabbed;
        int64_t now_ms;
        enum packet_state shown;
        bool over;
    } rows[] = { { PACKET_OPEN, 2, 999, PACKET_OPEN, false },
                 { PACKET_OPEN, 2, 1000, PACKET_EXPIRED, false }, /* expired at expires_ms itself */
                 { PACKET_OPEN, 2, 5000, PACKET_EXPIRED, false },
                 { PACKET_FUNDING, 2, 999, PACKET_OPEN, false },
                 { PACKET_CLOSED, 2, 999, PACKET_EXPIRED, true },
                 { PACKET_CLOSED, 3, 5000, PACKET_FINISHED, true },
                 { PACKET_OPEN, 3, 5000, PACKET_FINISHED, true } };
    EACH (row, rows) {
        struct packet p = { .state = row->state, .count = 3, .grabbed_count = row->grabbed, .expires_ms = 1000 };
        if (packet_state_shown(&p, row->now_ms) != row->shown || packet_is_over(&p) != row->over)
            fail_msg("row %zu", (size_t)(row - rows));
    }
    assert_int_equal(packet_partition(0, 16), 0);
    assert_int_equal(packet_partition(UINT64_MAX, 16), 15);
    assert_int_equal(packet_partition(UINT64_MAX, 1), 0);
    assert_int_equal(packet_partition(107, 100), 7);
}

TEST(a_packet_is_for_everybody_or_for_its_receivers)
{
    const struct packet lucky = { .kind = PACKET_LUCKY };
    const struct packet exclusive = { .kind = PACKET_EXCLUSIVE, .receiver_id = 10001 };
    assert_true(packet_is_for(&lucky, 10001) && packet_is_for(&lucky, 0));
    assert_true(packet_is_for(&exclusive, 10001));
    assert_false(packet_is_for(&exclusive, 10002) || packet_is_for(&exclusive, 0));
    struct receiver items[] = { { .id = UINT64_MAX, .name = STR("四") },
                                { .id = 10002, .name = STR("二") },
                                { .id = 10010, .name = STR("三") },
                                { .id = 7, .name = STR("一") } };
    struct receivers r = { items, 4 };
    struct packet p = { .kind = PACKET_EVEN };
    assert_int_equal(receivers_describe(arena, &p, &r), ST_OK);
    assert_int_equal(p.receiver_count, 4);
    assert_text(p.receivers, ",7,10002,10010,18446744073709551615,");
    assert_text(p.receiver_names, "一\n二\n三\n");
    for (size_t i = 0; i < 4; i++)
        assert_true(packet_is_for(&p, items[i].id));
    static const uint64_t others[] = { 0, 1, 70, 1000, 10001, 100020, 2, 1844674407370955161 };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(packet_is_for(&p, others[i]));
    struct arena *tiny = arena_new(8, 8);
    struct receiver two[] = { { .id = 10001, .name = STR("一") }, { .id = 10002, .name = STR("二") } };
    struct packet undescribed = { .kind = PACKET_EVEN };
    assert_int_equal(receivers_describe(tiny, &undescribed, &(struct receivers){ two, 2 }), ST_NO_MEMORY);
    arena_free(tiny);
}

TESTS(arena_setup, arena_teardown)
