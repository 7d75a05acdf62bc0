/* pages/screen from MySQL: who sees the list of a big screen, and who is the luckiest; and a large packet. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/link_key.h"
#include "pages/screen.h"
#include "pages/show.h"
#include "test_packet_app.h"

enum { PATH_MAX_BYTES = 128 };

/* Settled grabs of a lucky packet of 10.00 in 3: 2.00, 4.00, 4.00. The caller takes them away again. */
static void grabs_set(uint64_t packet_id, const struct person *who, bool there)
{
    static const int64_t fen[] = { 200, 400, 400 };
    if (!there)
        assert_int_equal(
            db_exec(app->stores.db, NULL, "DELETE FROM grab WHERE packet_id = ?", DB_PARAMS(DB_U64(packet_id))), ST_OK);
    for (uint32_t i = 0; there && i < 3; i++) {
        char name[] = { (char)('a' + i), 'b', 'c', '\0' };
        assert_int_equal(db_exec(app->stores.db, NULL,
                                 "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                                 "VALUES (?, ?, ?, ?, ?, 1700000000000)",
                                 DB_PARAMS(DB_U64(packet_id), DB_U64(i), DB_U64(who[i].id), DB_TEXT(str_from(name)),
                                           DB_I64(fen[i]))),
                         ST_OK);
    }
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET grabbed_count = ?, best_share_no = 1 WHERE id = ?",
                             DB_PARAMS(DB_U64(there ? 3 : 0), DB_U64(packet_id))),
                     ST_OK);
}

/* This share was given back; into_packet: as share 3, which is open. The caller takes it away again. */
static void return_set(uint64_t packet_id, uint32_t share_no, uint64_t user_id, bool into_packet, bool there)
{
    const int64_t fen = share_no == 0 ? 200 : 400;
    if (there)
        assert_int_equal(
            db_exec(app->stores.db, NULL,
                    "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, returned_ms, "
                    "applied_ms) VALUES (?, ?, ?, ?, ?, 1700000000000, 1700000000000)",
                    DB_PARAMS(DB_U64(packet_id), DB_U64(share_no), DB_U64(user_id), DB_I64(fen),
                              into_packet ? DB_U64(3) : DB_NULL)),
            ST_OK);
    else
        assert_int_equal(
            db_exec(app->stores.db, NULL, "DELETE FROM share_return WHERE packet_id = ?", DB_PARAMS(DB_U64(packet_id))),
            ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET returned_count = ?, returned_fen = ?, best_share_no = ? WHERE id = ?",
                             DB_PARAMS(DB_U64(there && into_packet), DB_I64(there && into_packet ? fen : 0),
                                       DB_U64(there && into_packet && share_no == 1 ? 2 : 1), DB_U64(packet_id))),
                     ST_OK);
}

/* Requests the screen with this query. */
static int screen(struct visit *v, const struct person *p, const char *query, uint64_t id)
{
    char uri[PATH_MAX_BYTES];
    (void)snprintf(uri, sizeof uri, "/p/x/screen%s", query);
    return person_request(v, app, p, packet_screen_cold, uri, NULL, id, true);
}

/* The "?key=…" that the sender's page shows. */
static void screen_key(const struct person *sender, uint64_t id, char *query)
{
    struct visit v;
    char path[PATH_MAX_BYTES];
    assert_int_equal(person_request(&v, app, sender, packet_show_cold, "/p/x", NULL, id, true), 200);
    visit_json_text(&v, "screen_url", path, sizeof path);
    const char *at = strchr(path, '?');
    assert_non_null(at);
    (void)snprintf(query, PATH_MAX_BYTES, "%s", at);
    visit_end(&v);
}

/* As long as the key of before is there. */
static void a_link_of_an_earlier_version_shows_the_list(void **state)
{
    (void)state;
    struct person sender, guest;
    struct visit v;
    char query[PATH_MAX_BYTES], now[PATH_MAX_BYTES];
    person_new(app, &sender, 5000);
    person_new(app, &guest, 0);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    struct arena *a = arena_new(1024, 65536);
    struct keys *keys = &((struct config *)(uintptr_t)app->stores.config)->keys;
    const struct key *before = keys_pair(keys, KEY_SCREENS).before;
    assert_non_null(before);
    snprintf(query, sizeof query, "?key=%.*s", STR_ARG(link_key(a, before, "hongbao screen v1", id)));
    screen_key(&sender, id, now);
    assert_string_not_equal(query, now);
    for (int with = 1; with >= 0; with--) {
        keys->has[KEY_BEFORE] = with == 1;
        assert_int_equal(screen(&v, &guest, query, id), with ? 200 : 404);
        assert_int_equal(visit_body_has(&v, "\"with_list\":true"), with);
        visit_end(&v);
    }
    keys->has[KEY_BEFORE] = true;
    arena_free(a);
}

static void the_list_needs_the_key_or_the_sender(void **state)
{
    (void)state;
    struct person sender, who[3];
    struct visit v;
    char key[PATH_MAX_BYTES], other_key[PATH_MAX_BYTES];
    person_new(app, &sender, 5000);
    for (int i = 0; i < 3; i++)
        person_new(app, &who[i], 0);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    uint64_t other = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    screen_key(&sender, id, key);
    screen_key(&sender, other, other_key);
    grabs_set(id, who, true);

    assert_int_equal(screen(&v, &who[0], "", id), 200);
    assert_true(visit_body_has(&v, "\"with_list\":false"));
    assert_true(visit_body_has(&v, "\"luckiest\":null"));
    assert_true(visit_body_has(&v, "\"grabs\":[]"));
    assert_true(visit_body_has(&v, "\"left_count\":0"));
    visit_end(&v);
    assert_int_equal(screen(&v, &who[0], other_key, id), 404);
    visit_end(&v);
    assert_int_equal(screen(&v, &who[0], "?key=0", id), 404);
    visit_end(&v);

    assert_int_equal(screen(&v, &sender, "", id), 200);
    assert_true(visit_body_has(&v, "\"with_list\":true"));
    visit_end(&v);
    assert_int_equal(screen(&v, &who[0], key, id), 200);
    assert_true(visit_body_has(&v, "\"nickname\":\"abc\""));
    /* The best share. */
    assert_true(visit_body_has(&v, "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\""));
    visit_end(&v);
    grabs_set(id, who, false);
}

static void a_share_that_went_back_into_the_packet_is_not_the_luckiest(void **state)
{
    (void)state;
    struct person sender, who[3];
    struct visit v;
    person_new(app, &sender, 5000);
    for (int i = 0; i < 3; i++)
        person_new(app, &who[i], 0);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    grabs_set(id, who, true);
    return_set(id, 0, who[0].id, true, true);
    assert_int_equal(screen(&v, &sender, "", id), 200);
    assert_true(
        visit_body_has(&v, "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\"")); /* the earlier one of equals */
    visit_end(&v);
    return_set(id, 0, who[0].id, true, false);

    return_set(id, 1, who[1].id, true, true);
    assert_int_equal(screen(&v, &sender, "", id), 200);
    assert_true(visit_body_has(&v, "\"state\":\"open\""));
    assert_true(visit_body_has(&v, "\"left_count\":1"));
    assert_true(visit_body_has(&v, "\"nickname\":\"cbc\"},\"amount_fen\":400},\"grabs\""));
    visit_end(&v);
    return_set(id, 1, who[1].id, true, false);

    /* After the end the draw stays as it was: the money went to the sender. */
    return_set(id, 1, who[1].id, false, true);
    assert_int_equal(screen(&v, &sender, "", id), 200);
    assert_true(visit_body_has(&v, "\"state\":\"finished\""));
    assert_true(visit_body_has(&v, "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\""));
    visit_end(&v);
    return_set(id, 1, who[1].id, false, false);
    grabs_set(id, who, false);
}

/* Of 52 shares, the first of which is the largest: the page shows 50. */
static void the_page_of_many_names_the_luckiest_above_the_newest(void **state)
{
    (void)state;
    enum { SHARES = 52 };
    struct person sender, luckiest = { 0 };
    struct visit v;
    person_new(app, &sender, 5000);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=52");
    for (uint32_t i = 0; i < SHARES; i++) {
        struct person p;
        person_new(app, &p, 0);
        luckiest = i == 0 ? p : luckiest;
        assert_int_equal(db_exec(app->stores.db, NULL,
                                 "INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) "
                                 "VALUES (?, ?, ?, ?, ?, 1700000000000)",
                                 DB_PARAMS(DB_U64(id), DB_U64(i), DB_U64(p.id), DB_TEXT(str_from(p.nickname)),
                                           DB_I64(i == 0 ? 490 : 10))),
                         ST_OK);
    }
    static const char *sql = "UPDATE packet SET grabbed_count = ?, best_share_no = 0 WHERE id = ?";
    for (uint32_t taken = SHARES - 1; taken <= SHARES; taken++) { /* once one is left */
        assert_int_equal(db_exec(app->stores.db, NULL, sql, DB_PARAMS(DB_U64(taken), DB_U64(id))), ST_OK);
        assert_int_equal(person_request(&v, app, &sender, packet_show_cold, "/p/x", NULL, id, false), 200);
        assert_int_equal(visit_body_count(&v, "<li class=\"row\">"), taken == SHARES ? 51 : 50);
        assert_int_equal(visit_body_count(&v, luckiest.nickname), taken == SHARES);
        assert_int_equal(visit_body_count(&v, "手气最佳"), taken == SHARES);
        visit_end(&v);
    }
    assert_int_equal(person_request(&v, app, &sender, packet_show_cold, "/p/x", NULL, id, true), 200);
    assert_int_equal(visit_body_count(&v, "\"share_no\":"), 50);
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &sender, packet_show_cold, "/p/x?after=2", NULL, id, false), 200);
    assert_int_equal(visit_body_count(&v, "手气最佳"), 1); /* in its place */
    visit_end(&v);
    assert_int_equal(db_exec(app->stores.db, NULL, "DELETE FROM grab WHERE packet_id = ?", DB_PARAMS(DB_U64(id))),
                     ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL, sql, DB_PARAMS(DB_U64(0), DB_U64(id))), ST_OK);
}

static void an_exclusive_packet_has_no_screen(void **state)
{
    (void)state;
    struct person sender, receiver;
    struct visit v;
    char fields[PATH_MAX_BYTES];
    person_new(app, &sender, 1000);
    person_new(app, &receiver, 0);
    (void)snprintf(fields, sizeof fields, "kind=exclusive&amount=1&to=%s", receiver.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_int_equal(screen(&v, &sender, "", id), 404);
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &sender, packet_show_cold, "/p/x", NULL, id, true), 200);
    assert_true(visit_body_has(&v, "\"screen_url\":null"));
    visit_end(&v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_needs_the_key_or_the_sender),
        cmocka_unit_test(a_link_of_an_earlier_version_shows_the_list),
        cmocka_unit_test(a_share_that_went_back_into_the_packet_is_not_the_luckiest),
        cmocka_unit_test(the_page_of_many_names_the_luckiest_above_the_newest),
        cmocka_unit_test(an_exclusive_packet_has_no_screen),
    };
    return cmocka_run_group_tests(tests, app_setup, app_teardown);
}
