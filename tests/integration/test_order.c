/* pages/order_show: a sender asks what became of a request key. */
#include "pages/order_show.h"
#include "support/test.h"
#include "test_packet_app.h"

static struct str asked;

/* Calls the handler as the router does for /orders/ASKED. */
static enum step ask(struct exchange *x)
{
    x->params.key = asked;
    return order_show(x);
}

/* The answer to a user who looks up a key. */
static struct visit *asked_by(const struct person *of, const char *its_key)
{
    asked = str_from(its_key);
    return person_json(of, ask, "/orders/x", NULL, 0);
}

static struct person p;
static char key[PERSON_KEY_MAX];

/* A new user, p, with 10.00 yuan sends 3 shares of 1.00 yuan with a new key. Returns the packet's id. */
static uint64_t order_new(void)
{
    person_new(app, &p, 1000);
    fresh_key(key);
    return person_send(app, &p, text_printf("kind=even&amount=1&count=3&request_key=%s", key));
}

/* The states that users see. A packet that is paid but not loaded is found; shares that were given back do not count as
 * taken. */
TEST(an_order_is_the_packet_of_its_key)
{
    static const struct {
        const char *row, *answer, *undo;
    } states[] = {
        { "id = id", "\"state\":\"open\",\"count\":3,\"grabbed_count\":0,\"created_at\":\"", "id = id" },
        { "state = 'funding'", "\"state\":\"open\"", "state = 'open'" },
        { "expires_ms = expires_ms - 172800000", "\"state\":\"expired\"", "expires_ms = expires_ms + 172800000" },
        { "returned_count = 1, returned_fen = 100, grabbed_count = 4, grabbed_fen = 400",
          "\"state\":\"finished\",\"count\":3,\"grabbed_count\":3,",
          "returned_count = 0, returned_fen = 0, grabbed_count = 0, grabbed_fen = 0" },
    };
    const uint64_t id = order_new();
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        sql_run(app, text_printf("UPDATE packet SET %s WHERE id = ?", states[i].row), DB_U64(id));
        visit_says(asked_by(&p, key), 200, states[i].answer, text_printf("{\"request_key\":\"%s\",\"id\":\"", key),
                   text_printf("\"url\":\"%s/p/", app->stores.config->base_url), "\"kind\":\"even\"",
                   "\"opens_at\":null,\"finished_at\":null,\"ended_at\":null,\"closed_at\":null,",
                   text_printf("\"amount_fen\":300,\"grabbed_fen\":%d,\"refund_fen\":0}", i == 3 ? 300 : 0));
        sql_run(app, text_printf("UPDATE packet SET %s WHERE id = ?", states[i].undo), DB_U64(id));
    }
}

/* The row of the packet once it is closed. */
TEST(a_closed_order_tells_what_was_taken_and_what_came_back)
{
    static const char *const closed[] = {
        "state = 'closed', expires_ms = created_ms + 1, closed_ms = created_ms + 2, grabbed_count = 1,"
        " grabbed_fen = 100, refund_fen = 200",
        "state = 'closed', finished_ms = created_ms + 1, closed_ms = created_ms + 2, grabbed_count = 3,"
        " grabbed_fen = 300, refund_fen = 0",
    };
    EACH (row, closed) {
        const uint64_t id = order_new();
        const bool finished = row > closed;
        sql_run(app, text_printf("UPDATE packet SET %s WHERE id = ?", *row), DB_U64(id));
        visit_says(asked_by(&p, key), 200, finished ? "\"state\":\"finished\"" : "\"state\":\"expired\"",
                   finished ? "grabbed_count: 3" : "grabbed_count: 1", finished ? "refund_fen: 0" : "refund_fen: 200",
                   "\"closed_at\":\"", finished ? "\"finished_at\":\"" : "\"finished_at\":null");
        visit_says(person_html(&p, ask, "/orders/x", NULL, 0), 200, key, finished ? "已领完" : "已过期",
                   finished ? "3.00\u2060元" : "1.00\u2060元 · 已退款2.00\u2060元");
        sql_run(app,
                "UPDATE packet SET state = 'open', expires_ms = created_ms + 86400000, closed_ms = NULL,"
                " finished_ms = NULL, grabbed_count = 0, grabbed_fen = 0, refund_fen = 0 WHERE id = ?",
                DB_U64(id));
    }
}

TEST(a_key_of_nobody_or_of_another_sender_is_not_found)
{
    (void)order_new();
    const struct person other = person_with(1000);
    char unused[PERSON_KEY_MAX];
    fresh_key(unused);
    const struct {
        const struct person *person;
        const char *key;
    } cases[] = { { &p, unused }, { &other, key }, { &p, "%20" }, { &p, "a.b" }, { &p, "" } };
    EACH (row, cases)
        visit_says(asked_by(row->person, row->key), 404, "urn:hongbao:problem:not-found", "没有这个请求号的红包");
}

TESTS(app_setup, app_teardown)
