/* pages/receipt: a receipt is for the user who has the share, as long as that user has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "packet/receipt_keys.h"
#include "pages/receipt.h"
#include "pages/send.h"
#include "test_packet_fixture.h"

enum { BALANCE_FEN = 100000 };

static struct services *app;
static struct receipt_keys keys;

static int setup(void **state)
{
    char error[256];
    (void)state;
    app = packet_services_open();
    if (app == NULL || receipt_keys_open(&keys, app->stores.config, error, sizeof error) != ST_OK)
        return 1;
    app->receipt_keys = &keys;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    app->receipt_keys = NULL;
    receipt_keys_close(&keys);
    packet_services_close(app);
    return 0;
}

static void changed(const char *sql, uint64_t packet_id, uint64_t user_id)
{
    assert_int_equal(db_exec(app->stores.db, NULL, sql, DB_PARAMS(DB_U64(packet_id), DB_U64(user_id))), ST_OK);
}

static int requested(struct visit *v, const struct person *p, uint64_t packet_id)
{
    return person_request(v, app, p, receipt_show, "/p/x/receipt", NULL, packet_id, true);
}

static void a_receipt_is_for_the_user_with_the_share_until_it_is_given_back(void **state)
{
    struct person sender, taker;
    struct visit v;
    char text[64];
    uint64_t id = 0;
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    person_new(app, &taker, 0);
    assert_int_equal(person_request(&v, app, &sender, send_form_post, "/send", "kind=even&amount=1&count=2", 0, true),
                     201);
    visit_json_text(&v, "id", text, sizeof text);
    assert_true(public_id_decode(&app->id_key, str_from(text), &id));
    visit_end(&v);
    changed("INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms)"
            " VALUES (?, 0, ?, 'x', 100, 1700000000000)",
            id, taker.id);
    assert_int_equal(requested(&v, &taker, id), 200);
    assert_int_equal(visit_json_int(&v, "user_id"), taker.id);
    assert_int_equal(visit_json_int(&v, "sender_id"), sender.id);
    assert_int_equal(visit_json_int(&v, "amount_fen"), 100);
    visit_json_text(&v, "packet", text, sizeof text);
    visit_end(&v);
    assert_int_equal(requested(&v, &sender, id), 404);
    visit_end(&v);
    changed("INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, returned_ms)"
            " VALUES (?, 0, ?, 100, NULL, 1700000000000)",
            id, taker.id);
    assert_int_equal(requested(&v, &taker, id), 404);
    assert_true(visit_body_has(&v, "no-receipt"));
    visit_end(&v);
    changed("DELETE FROM share_return WHERE packet_id = ? AND user_id = ?", id, taker.id);
    changed("DELETE FROM grab WHERE packet_id = ? AND user_id = ?", id, taker.id);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receipt_is_for_the_user_with_the_share_until_it_is_given_back),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
