/* pages/screen from MySQL: who may see the list of a big screen, and which grabs are the luckiest; also a large
 * packet. */
#include "base/link_key.h"
#include "pages/screen.h"
#include "pages/show.h"
#include "support/test.h"
#include "test_packet_app.h"

enum { PATH_MAX_BYTES = 128 };
static const int64_t GRABBED_MS = 1700000000000;

/* Settled grabs of a lucky packet of 10.00 in 3: 2.00, 4.00, 4.00. The caller takes them away again. */
static void grabs_set(uint64_t packet_id, const struct person *who, bool there)
{
    static const int64_t fen[] = { 200, 400, 400 };
    for (uint32_t i = 0; there && i < 3; i++) {
        struct person named = who[i];
        snprintf(named.nickname, sizeof named.nickname, "%cbc", 'a' + (int)i);
        grab_row_add(app, packet_id, i, &named, fen[i], GRABBED_MS);
    }
    if (!there)
        sql_run(app, "DELETE FROM grab WHERE packet_id = ?", DB_U64(packet_id));
    sql_run(app, "UPDATE packet SET grabbed_count = ?, best_share_no = 1 WHERE id = ?", DB_U64(there ? 3 : 0),
            DB_U64(packet_id));
}

/* Marks this share as given back; into_packet: it is now share 3, which is open. The caller deletes the row again. */
static void return_set(uint64_t packet_id, uint32_t share_no, uint64_t user_id, bool into_packet, bool there)
{
    const int64_t fen = share_no == 0 ? 200 : 400;
    if (there)
        sql_run(app,
                "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, returned_ms, "
                "applied_ms) VALUES (?, ?, ?, ?, ?, 1700000000000, 1700000000000)",
                DB_U64(packet_id), DB_U64(share_no), DB_U64(user_id), DB_I64(fen), into_packet ? DB_U64(3) : DB_NULL);
    else
        sql_run(app, "DELETE FROM share_return WHERE packet_id = ?", DB_U64(packet_id));
    sql_run(app, "UPDATE packet SET returned_count = ?, returned_fen = ?, best_share_no = ? WHERE id = ?",
            DB_U64(there && into_packet), DB_I64(there && into_packet ? fen : 0),
            DB_U64(there && into_packet && share_no == 1 ? 2 : 1), DB_U64(packet_id));
}

/* Requests the screen with this query. */
static struct visit *screen(const struct person *p, const char *query, uint64_t id)
{
    return person_visit_new(app, p, packet_screen_cold, text_printf("/p/x/screen%s", query), NULL, id, true);
}

/* The "?key=…" that the sender's page shows. */
static void screen_key(const struct person *sender, uint64_t id, char *query)
{
    char path[PATH_MAX_BYTES];
    struct visit *v = person_json(sender, packet_show_cold, "/p/x", NULL, id);
    visit_json_text(v, "screen_url", path, sizeof path);
    const char *at = strchr(path, '?');
    assert_non_null(at);
    (void)snprintf(query, PATH_MAX_BYTES, "%s", at);
    visit_says(v, 200);
}

/* As long as the earlier key is configured. */
TEST(a_link_of_an_earlier_version_shows_the_list)
{
    struct person sender = person_with(5000), guest = person_with(0);
    struct visit *v;
    char query[PATH_MAX_BYTES], now[PATH_MAX_BYTES];
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    struct keys *keys = &((struct config *)(uintptr_t)app->stores.config)->keys;
    const struct key *before = keys_pair(keys, KEY_SCREENS).before;
    assert_non_null(before);
    snprintf(query, sizeof query, "?key=%.*s", STR_ARG(link_key(arena, before, "hongbao screen v1", id)));
    screen_key(&sender, id, now);
    assert_string_not_equal(query, now);
    for (int with = 1; with >= 0; with--) {
        keys->has[KEY_BEFORE] = with == 1;
        v = screen(&guest, query, id);
        assert_int_equal(visit_body_has(v, "\"with_list\":true"), with);
        visit_says(v, with ? 200 : 404);
    }
    keys->has[KEY_BEFORE] = true;
}

TEST(the_list_needs_the_key_or_the_sender)
{
    struct person sender = person_with(5000), who[] = { person_with(0), person_with(0), person_with(0) };
    char key[PATH_MAX_BYTES], other_key[PATH_MAX_BYTES];
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    uint64_t other = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    screen_key(&sender, id, key);
    screen_key(&sender, other, other_key);
    grabs_set(id, who, true);

    visit_says(screen(&who[0], "", id), 200, "\"with_list\":false", "\"luckiest\":null", "\"grabs\":[]",
               "\"left_count\":0");
    visit_says(screen(&who[0], other_key, id), 404);
    visit_says(screen(&who[0], "?key=0", id), 404);

    visit_says(screen(&sender, "", id), 200, "\"with_list\":true");
    /* The best share. */
    visit_says(screen(&who[0], key, id), 200, "\"nickname\":\"abc\"",
               "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\"");
    grabs_set(id, who, false);
}

TEST(a_share_that_went_back_into_the_packet_is_not_the_luckiest)
{
    struct person sender = person_with(5000), who[] = { person_with(0), person_with(0), person_with(0) };
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=3");
    grabs_set(id, who, true);
    return_set(id, 0, who[0].id, true, true);
    /* Of equal shares, the earlier one is the luckiest. */
    visit_says(screen(&sender, "", id), 200, "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\"");
    return_set(id, 0, who[0].id, true, false);

    return_set(id, 1, who[1].id, true, true);
    visit_says(screen(&sender, "", id), 200, "\"state\":\"open\"", "\"left_count\":1",
               "\"nickname\":\"cbc\"},\"amount_fen\":400},\"grabs\"");
    return_set(id, 1, who[1].id, true, false);

    /* After the end the draw stays as it was: the money went to the sender. */
    return_set(id, 1, who[1].id, false, true);
    visit_says(screen(&sender, "", id), 200, "\"state\":\"finished\"",
               "\"nickname\":\"bbc\"},\"amount_fen\":400},\"grabs\"");
    return_set(id, 1, who[1].id, false, false);
    grabs_set(id, who, false);
}

/* A packet of 52 shares, with the largest first: the page shows 50. */
TEST(the_page_of_many_names_the_luckiest_above_the_newest)
{
    enum { SHARES = 52 };
    struct person sender = person_with(5000), luckiest = { 0 };
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=10&count=52");
    for (uint32_t i = 0; i < SHARES; i++) {
        struct person p = person_with(0);
        luckiest = i == 0 ? p : luckiest;
        grab_row_add(app, id, i, &p, i == 0 ? 490 : 10, GRABBED_MS);
    }
    static const char *sql = "UPDATE packet SET grabbed_count = ?, best_share_no = 0 WHERE id = ?";
    for (uint32_t taken = SHARES - 1; taken <= SHARES; taken++) { /* once one is left */
        sql_run(app, sql, DB_U64(taken), DB_U64(id));
        const int whole = taken == SHARES;
        visit_says(person_html(&sender, packet_show_cold, "/p/x", NULL, id), 200,
                   text_printf("%d × <li class=\"row\">", 50 + whole), text_printf("%d × %s", whole, luckiest.nickname),
                   text_printf("%d × 手气最佳", whole));
    }
    visit_says(person_json(&sender, packet_show_cold, "/p/x", NULL, id), 200, "50 × \"share_no\":");
    /* Here the best share is in its place. */
    visit_says(person_html(&sender, packet_show_cold, "/p/x?after=2", NULL, id), 200, "1 × 手气最佳");
    sql_run(app, "DELETE FROM grab WHERE packet_id = ?", DB_U64(id));
    sql_run(app, sql, DB_U64(0), DB_U64(id));
}

TEST(an_exclusive_packet_has_no_screen)
{
    struct person sender = person_with(1000), receiver = person_with(0);
    uint64_t id = person_send(app, &sender, text_printf("kind=exclusive&amount=1&to=%s", receiver.username));
    visit_says(screen(&sender, "", id), 404);
    visit_says(person_json(&sender, packet_show_cold, "/p/x", NULL, id), 200, "\"screen_url\":null");
}

TESTS(app_setup, app_teardown)
