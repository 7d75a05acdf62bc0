/* packet/packet: names, the shown state, partitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "packet/cover.h"
#include "packet/packet.h"

static void every_name_is_read_back(void **state)
{
    (void)state;
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
}

static void a_cover_is_read_back_and_an_unknown_one_is_plain(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COVER_COUNT; i++) {
        enum packet_cover cover = (enum packet_cover)i;
        assert_int_equal(packet_cover_from(packet_cover_name(cover)), cover);
        assert_int_equal(packet_cover_from(packet_cover_stored(cover)), cover);
    }
    assert_int_equal(packet_cover_stored(COVER_PLAIN).len, 0);
    assert_int_equal(packet_cover_from(STR("of-a-newer-program")), COVER_PLAIN);
}

static void a_cover_of_ones_own_is_a_sign_and_a_hash(void **state)
{
    (void)state;
    const struct str own = STR("@0123456789abcdefghjkmnpqrs");
    assert_true(str_equal(packet_cover_hash(own), str_slice(own, 1, own.len)));
    assert_true(str_equal(packet_cover_shown(own), STR("own")));
    assert_int_equal(packet_cover_from(own), COVER_PLAIN); /* as an older program reads it */
    static const struct str others[] = { STR(""),
                                         STR("birthday"),
                                         STR("@"),
                                         STR("@0123456789abcdefghjkmnpqr"),
                                         STR("@0123456789abcdefghjkmnpqrU"),
                                         STR("0123456789abcdefghjkmnpqrs") };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_null(packet_cover_hash(others[i]).ptr);
        assert_true(str_equal(packet_cover_shown(others[i]), packet_cover_name(packet_cover_from(others[i]))));
    }
}

static void an_unknown_name_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    enum packet_kind kind = PACKET_EVEN;
    enum split_method method = SPLIT_UNIFORM;
    enum packet_state word = PACKET_OPEN;
    assert_false(packet_kind_from(STR("Lucky"), &kind));
    assert_false(packet_kind_from(STR(""), &kind));
    assert_false(split_method_from(STR("lucky"), &method));
    assert_false(packet_state_from(STR("open "), &word));
    assert_int_equal(kind, PACKET_EVEN);
    assert_int_equal(method, SPLIT_UNIFORM);
    assert_int_equal(word, PACKET_OPEN);
}

static void the_shown_state_is_open_finished_or_expired(void **state)
{
    (void)state;
    struct packet p = { .state = PACKET_OPEN, .count = 3, .grabbed_count = 2, .expires_ms = 1000 };
    assert_int_equal(packet_state_shown(&p, 999), PACKET_OPEN);
    assert_int_equal(packet_state_shown(&p, 1000), PACKET_EXPIRED); /* expired at expires_ms itself */
    p.state = PACKET_FUNDING;
    assert_int_equal(packet_state_shown(&p, 999), PACKET_OPEN);
    p.state = PACKET_CLOSED;
    assert_int_equal(packet_state_shown(&p, 999), PACKET_EXPIRED);
    p.grabbed_count = 3;
    assert_int_equal(packet_state_shown(&p, 5000), PACKET_FINISHED);
    p.state = PACKET_OPEN;
    assert_int_equal(packet_state_shown(&p, 5000), PACKET_FINISHED);
}

static void an_expired_packet_is_over_only_once_it_is_closed(void **state)
{
    (void)state;
    struct packet p = { .state = PACKET_OPEN, .count = 3, .grabbed_count = 2, .expires_ms = 1000 };
    assert_int_equal(packet_state_shown(&p, 5000), PACKET_EXPIRED);
    assert_false(packet_is_over(&p));
    p.state = PACKET_CLOSED;
    assert_true(packet_is_over(&p));
    p.state = PACKET_OPEN;
    p.grabbed_count = 3;
    assert_true(packet_is_over(&p));
}

static void the_partition_is_the_id_modulo_the_number_of_partitions(void **state)
{
    (void)state;
    assert_int_equal(packet_partition(0, 16), 0);
    assert_int_equal(packet_partition(UINT64_MAX, 16), 15);
    assert_int_equal(packet_partition(UINT64_MAX, 1), 0);
    assert_int_equal(packet_partition(107, 100), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_read_back),
        cmocka_unit_test(a_cover_is_read_back_and_an_unknown_one_is_plain),
        cmocka_unit_test(a_cover_of_ones_own_is_a_sign_and_a_hash),
        cmocka_unit_test(an_unknown_name_is_refused_and_changes_nothing),
        cmocka_unit_test(the_shown_state_is_open_finished_or_expired),
        cmocka_unit_test(an_expired_packet_is_over_only_once_it_is_closed),
        cmocka_unit_test(the_partition_is_the_id_modulo_the_number_of_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
