/* pages/grab without Redis: the page pool's answers to a grab of a packet that Redis does not have. */
#include "base/clock.h"
#include "pages/grab.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_packet_app.h"

enum { TWO_DAYS_MS = 2 * 86400000 };

/* A sender with ten yuan, and two others. */
static struct person sender, visitor, stranger;

static int people_new(void **state)
{
    (void)state;
    person_new(app, &sender, 1000);
    person_new(app, &visitor, 0);
    person_new(app, &stranger, 0);
    return 0;
}

#define PEOPLE_TEST(name) TEST_WITH(name, people_new, NULL)

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
    sql_do_with(app->stores.db, "UPDATE packet SET expires_ms = expires_ms + ? WHERE id = ?",
                DB_PARAMS(DB_I64(ms), DB_U64(packet_id)));
}

PEOPLE_TEST(an_unknown_packet_is_not_found)
{
    assert_opened(&visitor, UINT64_C(1) << 62, 404, "urn:hongbao:problem:not-found");
}

PEOPLE_TEST(an_open_packet_is_busy_and_one_past_its_time_is_expired)
{
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
        sql_do_with(app->stores.db,
                    "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                    "VALUES (?, 0, ?, 'x', 100, 1700000000000)",
                    DB_PARAMS(DB_U64(packet_id), DB_U64(id)));
    else
        sql_do_with(app->stores.db, "DELETE FROM grab WHERE packet_id = ?", DB_PARAMS(DB_U64(packet_id)));
    sql_do_with(app->stores.db, "UPDATE packet SET grabbed_count = ? WHERE id = ?",
                DB_PARAMS(DB_U64(there ? 1 : 0), DB_U64(packet_id)));
}

PEOPLE_TEST(a_repeat_tells_the_share_and_how_many_are_left)
{
    uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    settled_grab_set(&visitor, id, true);
    assert_opened(&visitor, id, 200,
                  "{\"result\":\"already\",\"share_no\":0,\"amount_fen\":100,\"left_count\":2,\"returned\":false}");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&visitor, id, 200, "\"left_count\":0,\"returned\":false}");
    expiry_move(id, TWO_DAYS_MS);
    settled_grab_set(&visitor, id, false);
}

PEOPLE_TEST(a_stranger_gets_only_not_for_you_of_an_exclusive_packet)
{
    char fields[128];
    (void)snprintf(fields, sizeof fields, "kind=exclusive&amount=1&to=%s", visitor.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 410, "urn:hongbao:problem:expired");
    expiry_move(id, TWO_DAYS_MS);
}

PEOPLE_TEST(a_packet_for_several_or_for_later_is_refused_to_others)
{
    char fields[256], at[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(clock_now_ms() + 3600 * 1000, at);
    (void)snprintf(fields, sizeof fields, "kind=even&amount=1&opens_at=%s&to=%s", at, visitor.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 403, at);
    (void)snprintf(fields, sizeof fields, "kind=even&amount=1&to=%s", visitor.username);
    id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 503, "urn:hongbao:problem:busy");
}

TESTS(app_setup, app_teardown)
