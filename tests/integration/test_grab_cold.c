/* pages/grab without Redis: the page pool's answers to a grab of a packet that Redis does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "pages/grab.h"
#include "test_packet_app.h"

static void assert_opened(const struct person *p, uint64_t packet_id, int status, const char *problem)
{
    struct visit v;
    assert_int_equal(person_request(&v, app, p, packet_open_cold, "/p/x/open", "", packet_id, true), status);
    assert_true(visit_body_has(&v, problem));
    visit_end(&v);
}

/* Moves the packet's expiry by ms. Tests move it back, because the tables are shared with other tests. */
static void expiry_move(uint64_t packet_id, int64_t ms)
{
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET expires_ms = expires_ms + ? WHERE id = ?",
                             DB_PARAMS(DB_I64(ms), DB_U64(packet_id))),
                     ST_OK);
}

static void an_unknown_packet_is_not_found(void **state)
{
    (void)state;
    struct person p;
    person_new(app, &p, 0);
    assert_opened(&p, UINT64_C(1) << 62, 404, "urn:hongbao:problem:not-found");
}

static void an_open_packet_is_busy_and_one_past_its_time_is_expired(void **state)
{
    (void)state;
    enum { TWO_DAYS_MS = 2 * 86400000 };
    struct person sender, visitor;
    person_new(app, &sender, 1000);
    person_new(app, &visitor, 0);
    uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=2");
    assert_opened(&visitor, id, 503, "urn:hongbao:problem:busy");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&visitor, id, 410, "urn:hongbao:problem:expired");
    expiry_move(id, TWO_DAYS_MS);
}

/* Records a grab that is settled, as the settle worker does; taken away again by the caller. */
static void settled_grab_set(const struct person *p, uint64_t packet_id, bool there)
{
    uint64_t id = p->id;
    if (there)
        assert_int_equal(db_exec(app->stores.db, NULL,
                                 "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                                 "VALUES (?, 0, ?, 'x', 100, 1700000000000)",
                                 DB_PARAMS(DB_U64(packet_id), DB_U64(id))),
                         ST_OK);
    else
        assert_int_equal(
            db_exec(app->stores.db, NULL, "DELETE FROM grab WHERE packet_id = ?", DB_PARAMS(DB_U64(packet_id))), ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET grabbed_count = ? WHERE id = ?",
                             DB_PARAMS(DB_U64(there ? 1 : 0), DB_U64(packet_id))),
                     ST_OK);
}

static void a_repeat_tells_the_share_and_how_many_are_left(void **state)
{
    (void)state;
    enum { TWO_DAYS_MS = 2 * 86400000 };
    struct person sender, winner;
    person_new(app, &sender, 1000);
    person_new(app, &winner, 0);
    uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    settled_grab_set(&winner, id, true);
    assert_opened(&winner, id, 200,
                  "{\"result\":\"already\",\"share_no\":0,\"amount_fen\":100,\"left_count\":2,\"returned\":false}");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&winner, id, 200, "\"left_count\":0,\"returned\":false}");
    expiry_move(id, TWO_DAYS_MS);
    settled_grab_set(&winner, id, false);
}

static void a_stranger_gets_only_not_for_you_of_an_exclusive_packet(void **state)
{
    (void)state;
    enum { TWO_DAYS_MS = 2 * 86400000 };
    struct person sender, receiver, stranger;
    char fields[128];
    person_new(app, &sender, 1000);
    person_new(app, &receiver, 0);
    person_new(app, &stranger, 0);
    (void)snprintf(fields, sizeof fields, "kind=exclusive&amount=1&to=%s", receiver.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&receiver, id, 410, "urn:hongbao:problem:expired");
    expiry_move(id, TWO_DAYS_MS);
}

static void a_packet_for_several_or_for_later_is_refused_to_others(void **state)
{
    (void)state;
    struct person sender, receiver, stranger;
    char fields[256], at[CLOCK_TEXT_MAX];
    person_new(app, &sender, 1000);
    person_new(app, &receiver, 0);
    person_new(app, &stranger, 0);
    (void)clock_rfc3339_format(clock_now_ms() + 3600 * 1000, at);
    (void)snprintf(fields, sizeof fields, "kind=even&amount=1&opens_at=%s&to=%s", at, receiver.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&receiver, id, 403, at);
    (void)snprintf(fields, sizeof fields, "kind=even&amount=1&to=%s", receiver.username);
    id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&receiver, id, 503, "urn:hongbao:problem:busy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_unknown_packet_is_not_found),
        cmocka_unit_test(an_open_packet_is_busy_and_one_past_its_time_is_expired),
        cmocka_unit_test(a_repeat_tells_the_share_and_how_many_are_left),
        cmocka_unit_test(a_stranger_gets_only_not_for_you_of_an_exclusive_packet),
        cmocka_unit_test(a_packet_for_several_or_for_later_is_refused_to_others),
    };
    return cmocka_run_group_tests(tests, app_setup, app_teardown);
}
