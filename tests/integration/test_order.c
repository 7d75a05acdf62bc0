/* pages/order_show: a sender asks what became of a request key. */
#include "base/array.h"
#include "pages/order_show.h"
#include "support/stores_do.h"
#include "support/test.h"
#include "test_packet_app.h"

static struct str asked;

/* As the router calls the handler for /orders/ASKED. */
static enum step ask(struct exchange *x)
{
    x->params.key = asked;
    return order_show(x);
}

/* Asks for a key as JSON; the answer stays in v until visit_end. */
static int answered(struct visit *v, const struct person *of, const char *its_key)
{
    asked = str_from(its_key);
    return person_request(v, app, of, ask, "/orders/x", NULL, 0, true);
}

static struct person p;
static char key[PERSON_KEY_MAX];

/* A new user, p, with 10.00 yuan sends 3 shares of 1.00 yuan with a new key. Returns the packet's id. */
static uint64_t order_new(void)
{
    char fields[256];
    person_new(app, &p, 1000);
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=even&amount=1&count=3&request_key=%s", key);
    return person_send(app, &p, fields);
}

static void packet_set(uint64_t id, const char *change)
{
    char sql[256];
    snprintf(sql, sizeof sql, "UPDATE packet SET %s WHERE id = ?", change);
    sql_do_with(app->stores.db, sql, DB_PARAMS(DB_U64(id)));
}

static void assert_answer_has(const char *part)
{
    struct visit v;
    assert_int_equal(answered(&v, &p, key), 200);
    if (!visit_body_has(&v, part))
        fail_msg("not \"%s\" in\n%.*s", part, STR_ARG(buf_view(&v.x.body)));
    visit_end(&v);
}

TEST(an_order_is_the_packet_of_its_key)
{
    char part[512];
    (void)order_new();
    snprintf(part, sizeof part, "{\"request_key\":\"%s\",\"id\":\"", key);
    assert_answer_has(part);
    snprintf(part, sizeof part, "\"url\":\"%s/p/", app->stores.config->base_url);
    assert_answer_has(part);
    assert_answer_has("\"kind\":\"even\"");
    assert_answer_has("\"state\":\"open\",\"count\":3,\"grabbed_count\":0,\"created_at\":\"");
    assert_answer_has("\"opens_at\":null,\"finished_at\":null,\"ended_at\":null,\"closed_at\":null,");
    assert_answer_has("\"amount_fen\":300,\"grabbed_fen\":0,\"refund_fen\":0}");
}

TEST(a_packet_that_is_paid_but_not_loaded_is_there)
{
    uint64_t id = order_new();
    packet_set(id, "state = 'funding'");
    assert_answer_has("\"state\":\"open\"");
    packet_set(id, "state = 'open'");
}

TEST(an_order_tells_the_state_that_users_see)
{
    uint64_t id = order_new();
    packet_set(id, "expires_ms = expires_ms - 172800000");
    assert_answer_has("\"state\":\"expired\"");
    packet_set(id, "expires_ms = expires_ms + 172800000");
}

TEST(what_was_given_back_is_not_taken)
{
    uint64_t id = order_new();
    packet_set(id, "returned_count = 1, returned_fen = 100, grabbed_count = 4, grabbed_fen = 400");
    assert_answer_has("\"state\":\"finished\",\"count\":3,\"grabbed_count\":3,");
    assert_answer_has("\"amount_fen\":300,\"grabbed_fen\":300,\"refund_fen\":0}");
    packet_set(id, "grabbed_count = 0, grabbed_fen = 0, returned_count = 0, returned_fen = 0");
}

TEST(a_key_of_nobody_or_of_another_sender_is_not_found)
{
    struct person other;
    struct visit v;
    char unused[PERSON_KEY_MAX];
    (void)order_new();
    person_new(app, &other, 1000);
    fresh_key(unused);
    const struct {
        const struct person *person;
        const char *key;
    } cases[] = { { &p, unused }, { &other, key }, { &p, "%20" }, { &p, "a.b" }, { &p, "" } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(answered(&v, cases[i].person, cases[i].key), 404);
        assert_true(visit_body_has(&v, "urn:hongbao:problem:not-found"));
        assert_true(visit_body_has(&v, "没有这个请求号的红包"));
        visit_end(&v);
    }
}

TESTS(app_setup, app_teardown)
