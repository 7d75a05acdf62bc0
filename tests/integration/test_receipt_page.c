/* pages/receipt: a receipt is for the user who has the share, as long as that user has it. */
#include <inttypes.h>

#include "packet/receipt_keys.h"
#include "pages/receipt.h"
#include "support/test.h"
#include "test_packet_app.h"

enum { BALANCE_FEN = 100000 };

static struct receipt_keys keys;

static int setup(void **state)
{
    char error[256];
    if (app_setup(state) != 0 || receipt_keys_open(&keys, app->stores.config, error, sizeof error) != ST_OK)
        return 1;
    app->receipt_keys = &keys;
    return 0;
}

static int teardown(void **state)
{
    app->receipt_keys = NULL;
    receipt_keys_close(&keys);
    return app_teardown(state);
}

static void changed(const char *sql, uint64_t packet_id, uint64_t user_id)
{
    sql_run(app, sql, DB_U64(packet_id), DB_U64(user_id));
}

static struct visit *requested(const struct person *p, uint64_t packet_id)
{
    return person_visit_new(app, p, receipt_show, "/p/x/receipt", NULL, packet_id, true);
}

TEST(a_receipt_is_for_the_user_with_the_share_until_it_is_given_back)
{
    struct person sender = person_with(BALANCE_FEN), taker = person_with(0);
    uint64_t id = person_send(app, &sender, "kind=even&amount=1&count=2");
    grab_row_add(app, id, 0, &taker, 100, 1700000000000);
    visit_says(requested(&taker, id), 200, text_printf("user_id: %" PRIu64, taker.id),
               text_printf("sender_id: %" PRIu64, sender.id), "amount_fen: 100", "\"packet\":\"");
    visit_says(requested(&sender, id), 404);
    changed("INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, returned_ms)"
            " VALUES (?, 0, ?, 100, NULL, 1700000000000)",
            id, taker.id);
    visit_says(requested(&taker, id), 404, "no-receipt");
    changed("DELETE FROM share_return WHERE packet_id = ? AND user_id = ?", id, taker.id);
    changed("DELETE FROM grab WHERE packet_id = ? AND user_id = ?", id, taker.id);
}

TESTS(setup, teardown)
