/* pages/grab without Redis: the page pool's answers to a grab of a packet that Redis does not have. */
#include "base/clock.h"
#include "pages/grab.h"
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

static void assert_opened(const struct person *p, uint64_t packet_id, int status, const char *answer)
{
    visit_says(person_json(p, packet_open_cold, "/p/x/open", "", packet_id), status, answer);
}

/* Moves the packet's expiry by ms. Tests move it back, because the tables are shared with other tests. */
static void expiry_move(uint64_t packet_id, int64_t ms)
{
    sql_run(app, "UPDATE packet SET expires_ms = expires_ms + ? WHERE id = ?", DB_I64(ms), DB_U64(packet_id));
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

PEOPLE_TEST(a_repeat_tells_the_share_and_how_many_are_left)
{
    uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=3");
    grab_row_add(app, id, 0, &visitor, 100, 1700000000000); /* the packet has no money, so it is deleted again */
    sql_run(app, "UPDATE packet SET grabbed_count = 1 WHERE id = ?", DB_U64(id));
    assert_opened(&visitor, id, 200,
                  "{\"result\":\"already\",\"share_no\":0,\"amount_fen\":100,\"left_count\":2,\"returned\":false}");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&visitor, id, 200, "\"left_count\":0,\"returned\":false}");
    expiry_move(id, TWO_DAYS_MS);
    sql_run(app, "DELETE FROM `grab` WHERE packet_id = ?", DB_U64(id));
    sql_run(app, "UPDATE packet SET grabbed_count = 0 WHERE id = ?", DB_U64(id));
}

PEOPLE_TEST(a_stranger_gets_only_not_for_you_of_an_exclusive_packet)
{
    uint64_t id = person_send(app, &sender, text_printf("kind=exclusive&amount=1&to=%s", visitor.username));
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    expiry_move(id, -TWO_DAYS_MS);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 410, "urn:hongbao:problem:expired");
    expiry_move(id, TWO_DAYS_MS);
}

PEOPLE_TEST(a_packet_for_several_or_for_later_is_refused_to_others)
{
    char at[CLOCK_TEXT_MAX];
    (void)clock_rfc3339_format(clock_now_ms() + 3600 * 1000, at);
    const char *fields = text_printf("kind=even&amount=1&to=%s", visitor.username);
    uint64_t id = person_send(app, &sender, text_printf("%s&opens_at=%s", fields, at));
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 403, at);
    id = person_send(app, &sender, fields);
    assert_opened(&stranger, id, 403, "urn:hongbao:problem:not-for-you");
    assert_opened(&visitor, id, 503, "urn:hongbao:problem:busy");
}

TESTS(app_setup, app_teardown)
