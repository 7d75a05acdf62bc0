/* The export of an account: all of the user's own data and no secret, in constant memory. */
#include <jansson.h>

#include "records/account_export.h"
#include "support/test.h"
#include "test_packet_two.h"
#include "test_stream_fixture.h"

enum { MANY = 30000, TIMES = 2, PART_BYTES_MAX = 512 << 10 };

static void exported(const struct person *p, struct stream_written *w)
{
    w->mark = "\"amount_fen\":";
    struct visit *v = person_json(p, account_export, "/account/export", NULL, 0);
    assert_true(str_starts(visit_header(v, "Content-Disposition"), STR("attachment; filename=\"hongbao-")));
    stream_run(&v->x, w, PART_BYTES_MAX);
    visit_says(v, 200, "Content-Type: application/json");
}

static json_t *exported_json(const struct person *p)
{
    struct stream_written w = { .keep = true };
    exported(p, &w);
    json_t *json = json_loadb(w.all.ptr, w.all.len, JSON_REJECT_DUPLICATES, NULL);
    if (json == NULL)
        fail_msg("no JSON: %.*s", STR_ARG(buf_view(&w.all)));
    buf_free(&w.all);
    return json;
}

static int64_t number(json_t *json, const char *list, size_t i, const char *name)
{
    return json_integer_value(json_object_get(json_array_get(json_object_get(json, list), i), name));
}

static size_t length(json_t *json, const char *list)
{
    assert_true(json_is_array(json_object_get(json, list)));
    return json_array_size(json_object_get(json, list));
}

TEST(a_new_user_has_names_and_empty_lists)
{
    json_t *json = exported_json(&hong);
    assert_int_equal(json_integer_value(json_object_get(json, "id")), hong.id);
    assert_string_equal(json_string_value(json_object_get(json, "username")), hong.username);
    assert_string_equal(json_string_value(json_object_get(json, "nickname")), hong.nickname);
    assert_true(json_is_string(json_object_get(json, "created_at")));
    assert_true(json_is_string(json_object_get(json, "exported_at")));
    static const char *const lists[] = { "sessions", "tokens", "sent", "received", "statement", "topups" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        assert_int_equal(length(json, lists[i]), 0);
    json_decref(json);
}

static void thanks_add(uint64_t packet_id, const struct person *by, const char *text)
{
    grab_row_add(app, packet_id, 0, by, 234, 1);
    sql_run(app,
            "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms, applied_ms)"
            " VALUES (?, 0, ?, ?, 1, 1)",
            DB_U64(packet_id), DB_U64(by->id), DB_TEXT(str_from(text)));
}

TEST(sender_and_receiver_each_export_their_own_side_of_a_packet)
{
    uint64_t packet = person_send(app, &ming, "kind=lucky&amount=10&count=2&greeting=%3Cb%3E");
    thanks_add(packet, &hong, "\"谢谢\"");
    json_t *sender = exported_json(&ming), *receiver = exported_json(&hong);
    assert_int_equal(length(sender, "sent"), 1);
    assert_int_equal(length(sender, "received"), 0);
    assert_int_equal(length(sender, "statement"), 2); /* the deposit, and the packet */
    assert_int_equal(number(sender, "sent", 0, "amount_fen"), 1000);
    assert_int_equal(number(sender, "statement", 0, "amount_fen"), -1000);
    assert_int_equal(json_integer_value(json_object_get(sender, "balance_fen")), 4000);
    assert_int_equal(length(receiver, "sent"), 0);
    assert_int_equal(length(receiver, "received"), 1);
    assert_int_equal(number(receiver, "received", 0, "amount_fen"), 234);
    json_t *share = json_array_get(json_object_get(receiver, "received"), 0);
    assert_string_equal(json_string_value(json_object_get(share, "thanks")), "\"谢谢\"");
    assert_string_equal(json_string_value(json_object_get(json_object_get(share, "packet"), "greeting")), "<b>");
    json_decref(sender);
    json_decref(receiver);
}

TEST(money_from_a_channel_is_exported_with_its_reference)
{
    struct person p = person_with(0);
    sql_run(app, "CALL channel_open('export', 'ACME', 'boss', 1)");
    sql_run(app,
            "CALL ledger_external('credit', (SELECT id FROM channel WHERE name = 'export'),"
            " JSON_ARRAY(JSON_ARRAY(?, 1234, 'r-1', '\"May\"')), 'boss', 'import', 1)",
            DB_U64(p.id));
    json_t *json = exported_json(&p), *entry = json_array_get(json_object_get(json, "statement"), 0);
    assert_int_equal(length(json, "statement"), 1);
    assert_string_equal(json_string_value(json_object_get(entry, "kind")), "credit");
    assert_string_equal(json_string_value(json_object_get(entry, "channel")), "export");
    assert_string_equal(json_string_value(json_object_get(entry, "memo")), "\"May\"");
    assert_string_equal(json_string_value(json_object_get(entry, "reference")), "r-1");
    json_decref(json);
}

/* One more than a part has. */
#define ORDERS_TEXT "501"

TEST(orders_of_top_ups_are_exported)
{
    enum { ORDERS = ACCOUNT_EXPORT_PART_ROWS + 1 };
    struct person p = person_with(0);
    sql_run(app, "CALL channel_open('paid-on', 'Cards', 'boss', 1)");
    sql_run(app,
            "INSERT INTO topup (user_id, channel_id, amount_fen, request_key, state, created_ms, expires_ms)"
            " SELECT ?, c.id, s.seq, s.seq, 'waiting', 1, 2 FROM channel AS c JOIN seq_1_to_" ORDERS_TEXT
            " AS s WHERE c.name = 'paid-on'",
            DB_U64(p.id));
    json_t *json = exported_json(&p);
    assert_int_equal(length(json, "topups"), ORDERS);
    for (int i = 0; i < ORDERS; i++)
        assert_int_equal(number(json, "topups", (size_t)i, "amount_fen"), ORDERS - i);
    json_decref(json);
}

TEST(a_large_export_takes_the_memory_of_a_small_one)
{
    struct person sender, taker;
    two_with_records(&sender, &taker, TIMES, MANY);
    struct stream_written sent = { .parts = 0 }, received = { .parts = 0 };
    exported(&sender, &sent);
    exported(&taker, &received);
    assert_int_equal(sent.marks, TIMES * MANY);
    assert_int_equal(received.marks, 2 * TIMES * MANY); /* shares, and entries of the statement */
    assert_true(sent.parts >= TIMES * MANY / ACCOUNT_EXPORT_PART_ROWS);
    assert_true(sent.grown_kb < STREAM_GROWTH_KB_MAX);
    assert_true(received.grown_kb < STREAM_GROWTH_KB_MAX);
}

TESTS(two_setup, two_teardown)
