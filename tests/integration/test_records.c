/* pages/records, verify and home on a real database: each visitor's own rows, each once, newest first. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "packet/grab.h"
#include "packet/id_lease.h"
#include "packet/split.h"
#include "packet/store.h"
#include "pages/verify.h"
#include "records/home.h"
#include "records/records.h"
#include "support/packet_row.h"
#include "support/test.h"
#include "support/test_services.h"
#include "test_packet_app.h"

static struct person sender; /* the first user that this test creates */

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &sender, 0);
    return 0;
}

/* Packets of this test have rows but no transfers, so an audit by another test must not find them. */
static int teardown(void **state)
{
    int failed = !packets_forget(app, &sender);
    failed |= db_exec(app->stores.db, NULL, "DELETE FROM user_month WHERE user_id >= ?",
                      DB_PARAMS(DB_U64(sender.id))) != ST_OK;
    return app_teardown(state) != 0 || failed;
}

/* ---- packets, as the settle worker stores them ---- */

/* Inserts the row of a packet that the person sent at that time, without its transfers. */
static struct packet packet_of(const struct person *p, enum packet_kind kind, int64_t total_fen, uint32_t count,
                               int64_t created_ms)
{
    char *key = arena_alloc(arena, PERSON_KEY_MAX);
    assert_non_null(key);
    fresh_key(key);
    struct packet packet = { .sender_id = p->id,
                             .sender_name = str_from(p->nickname),
                             .kind = kind,
                             .split = kind == PACKET_LUCKY ? SPLIT_DOUBLE_AVERAGE : SPLIT_EVEN,
                             .amount_fen = total_fen,
                             .count = count,
                             .share_min_fen = 1,
                             .share_max_fen = 20000,
                             .best_share_no = PACKET_NO_SHARE,
                             .greeting = STR("大吉大利"),
                             .state = PACKET_OPEN,
                             .created_ms = created_ms,
                             .expires_ms = created_ms + 86400000,
                             .request_key = str_from(key) };
    random_bytes(packet.seed, sizeof packet.seed);
    split_commitment(packet.seed, packet.commitment);
    assert_int_equal(packet_id_next(app->stores.db, clock_now_ms(), &packet.id), ST_OK);
    if (kind == PACKET_LUCKY) {
        int64_t *shares = calloc(count, sizeof *shares);
        assert_non_null(shares);
        assert_int_equal(split_packet(&packet, shares), ST_OK);
        packet.best_share_no = split_best_share_no(shares, count);
        free(shares);
    }
    assert_int_equal(packet_insert(app->stores.db, &packet), ST_OK);
    const struct clock_date month = clock_zone_date(created_ms);
    sql_run(app,
            "INSERT INTO user_month (user_id, year, month, sent_count, sent_fen) VALUES (?, ?, ?, 1, ?) "
            "ON DUPLICATE KEY UPDATE sent_count = sent_count + 1, sent_fen = sent_fen + ?",
            DB_U64(p->id), DB_I64(month.year), DB_I64(month.month), DB_I64(total_fen), DB_I64(total_fen));
    return packet;
}

/* Inserts a settled grab of share share_no. */
static void grabbed(struct packet *packet, uint32_t share_no, const struct person *by, int64_t at_ms)
{
    int64_t *shares = calloc(packet->count, sizeof *shares);
    assert_non_null(shares);
    assert_int_equal(split_packet(packet, shares), ST_OK);
    int64_t fen = shares[share_no];
    struct clock_date date = clock_zone_date(at_ms);
    free(shares);
    sql_run(app, "INSERT INTO grab VALUES (?, ?, ?, ?, ?, ?)", DB_U64(packet->id), DB_U64(share_no), DB_U64(by->id),
            DB_TEXT(str_from(by->nickname)), DB_I64(fen), DB_I64(at_ms));
    sql_run(app,
            "UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + ?, "
            "state = IF(grabbed_count = count, 'closed', state) WHERE id = ?",
            DB_I64(fen), DB_U64(packet->id));
    sql_run(app,
            "INSERT INTO user_month (user_id, year, month, received_count, received_fen) VALUES (?, ?, ?, 1, ?) "
            "ON DUPLICATE KEY UPDATE received_count = received_count + 1, "
            "received_fen = received_fen + ?",
            DB_U64(by->id), DB_I64(date.year), DB_I64(date.month), DB_I64(fen), DB_I64(fen));
    packet->grabbed_count++;
    packet->grabbed_fen += fen;
}

/* ---- pages ---- */

TEST(received_pages_show_every_grab_once_even_within_one_ms)
{
    struct person p = person_with(0);
    size_t pages;
    int64_t now = clock_now_ms();
    for (int i = 0; i < 45; i++) {
        struct packet packet = packet_of(&sender, PACKET_EVEN, 300, 3, now - 1000);
        grabbed(&packet, 0, &p, now - i / 15 * 7); /* fifteen grabs an instant: pages end in the middle of them */
    }
    assert_int_equal(records_all_pages(app, &p, "/records/received", "\"share_no\":0", &pages), 45);
    assert_int_equal(pages, 3);
}

TEST(a_full_last_page_has_no_next)
{
    struct person p = person_with(0);
    size_t pages;
    int64_t now = clock_now_ms();
    for (int i = 0; i < RECORDS_PAGE_ITEMS; i++)
        (void)packet_of(&p, PACKET_EVEN, 300, 3, now - i);
    assert_int_equal(records_all_pages(app, &p, "/records/sent", "\"refund_fen\"", &pages), RECORDS_PAGE_ITEMS);
    assert_int_equal(pages, 1);
}

TEST(years_follow_the_time_zone_and_have_totals_of_their_own)
{
    struct person p = person_with(0);
    int64_t start = clock_zone_year_start_ms(2025);
    struct packet before = packet_of(&p, PACKET_EVEN, 100, 1, start - 1);
    (void)packet_of(&p, PACKET_EVEN, 200, 1, start);
    (void)packet_of(&p, PACKET_EVEN, 400, 1, clock_zone_year_start_ms(2026) - 1);
    assert_int_equal(before.created_ms, start - 1);
    assert_int_equal(clock_zone_date(start).year, 2025);
    assert_int_equal(clock_zone_date(start - 1).year, 2024);

    visit_says(records_of(app, &p, "/records/sent?year=2025", true), 200, "year: 2025", "total_fen: 600", "count: 2",
               "2 × \"refund_fen\"");
    visit_says(records_of(app, &p, "/records/sent?year=2024", true), 200, "total_fen: 100", "1 × \"refund_fen\"");
    visit_says(records_of(app, &p, "/records/sent?year=2023", true), 200, "total_fen: 0", "\"items\":[]");
    /* The page links to every year with records, and to the shown one. */
    visit_says(records_of(app, &p, "/records/sent?year=2023", false), 200, "/records/sent?year=2025",
               "/records/sent?year=2024", "/records/sent?year=2023");
}

/* A month of the JSON. */
static const char *month_of(int month, int64_t total_fen, unsigned count)
{
    return text_printf("{\"month\":%d,\"total_fen\":%" PRId64 ",\"count\":%u}", month, total_fen, count);
}

TEST(months_follow_the_time_zone_and_the_shown_year)
{
    struct person p = person_with(0), other = person_with(0);
    int64_t march = clock_zone_month_start_ms(2025, 3);
    (void)packet_of(&p, PACKET_EVEN, 100, 1, march - 1);
    struct packet packet = packet_of(&p, PACKET_EVEN, 600, 3, march);
    (void)packet_of(&p, PACKET_EVEN, 400, 1, clock_zone_month_start_ms(2025, 4) - 1);
    (void)packet_of(&p, PACKET_EVEN, 7, 1, clock_zone_year_start_ms(2026));
    (void)packet_of(&other, PACKET_EVEN, 5000, 1, march);
    grabbed(&packet, 0, &p, clock_zone_month_start_ms(2025, 12));
    grabbed(&packet, 1, &other, clock_zone_month_start_ms(2025, 12));

    visit_says(records_of(app, &p, "/records/sent?year=2025", true), 200, "12 × \"month\":", month_of(1, 0, 0),
               month_of(2, 100, 1), month_of(3, 1000, 2), month_of(12, 0, 0));
    visit_says(records_of(app, &p, "/records/received?year=2025", true), 200, "12 × \"month\":", month_of(3, 0, 0),
               month_of(12, 200, 1));
    visit_says(records_of(app, &p, "/records/sent?year=2026", true), 200, month_of(1, 7, 1));
}

TEST(the_chart_scales_to_the_largest_month_and_needs_three_months)
{
    struct person p = person_with(0);
    (void)packet_of(&p, PACKET_EVEN, 20000, 1, clock_zone_month_start_ms(2025, 1));
    (void)packet_of(&p, PACKET_EVEN, 10000, 1, clock_zone_month_start_ms(2025, 6));
    (void)packet_of(&p, PACKET_EVEN, 1, 1, clock_zone_month_start_ms(2025, 12));
    /* A month without packets has neither a bar nor a link; even one fen has a visible bar. */
    visit_says(records_of(app, &p, "/records/sent?year=2025", false), 200, "3 × <rect ",
               text_printf("%d × <th scope=\"row\">", MONTHS_PER_YEAR), "3 × ?from=", "height=\"100\"", "height=\"50\"",
               "height=\"2\"", "<a href=\"/records/sent?from=2025-06-01&amp;to=2025-06-30\">6月</a>",
               "<a href=\"/records/sent?from=2025-12-01&amp;to=2025-12-31\">12月</a>");
    (void)packet_of(&p, PACKET_EVEN, 20000, 1, clock_zone_month_start_ms(2024, 1));
    (void)packet_of(&p, PACKET_EVEN, 10000, 1, clock_zone_month_start_ms(2024, 6));
    visit_says(records_of(app, &p, "/records/sent?year=2024", false), 200, LACKS, "class=\"bars\"");
    visit_says(records_of(app, &p, "/records/received?year=2025", false), 200, LACKS, "class=\"bars\"");
}

/* The position of a text in the page, after a position; fails when the text is absent. */
static size_t place(const struct visit *v, size_t from, const char *text)
{
    struct str rest = str_skip(buf_view(&v->x.body), from);
    size_t at = str_find(rest, str_from(text));
    if (at == rest.len)
        fail_msg("no %s", text);
    return from + at;
}

TEST(rows_follow_the_total_and_are_grouped_by_month)
{
    struct person p = person_with(0);
    char next[128];
    for (int i = 0; i < RECORDS_PAGE_ITEMS; i++)
        (void)packet_of(&p, PACKET_EVEN, 100, 1, clock_zone_month_start_ms(2025, 3) + i);
    (void)packet_of(&p, PACKET_EVEN, 250, 1, clock_zone_month_start_ms(2025, 3) - 1);
    (void)packet_of(&p, PACKET_EVEN, 700, 1, clock_zone_month_start_ms(2025, 4));

    struct visit *v = records_of(app, &p, "/records/sent?year=2025", false);
    size_t at = place(v, 0, "class=\"card summary\"");
    at = place(v, at, "<div class=\"bars\"");
    at = place(v, at, "<h3 class=\"month\"><span>4月</span><span>共7.00\u2060元</span></h3>");
    (void)place(v, at, "<h3 class=\"month\"><span>3月</span><span>共20.00\u2060元</span></h3>");
    assert_int_equal(visit_body_count(v, "class=\"month\""), 2);
    visit_says(v, 200);

    v = records_of(app, &p, "/records/sent?year=2025", true);
    visit_json_text(v, "next", next, sizeof next);
    visit_says(v, 200);
    v = records_of(app, &p, text_printf("/records/sent?year=2025&before=%s", next), false);
    at = place(v, 0, "<a href=\"/records/sent?year=2025\" rel=\"first\">");
    at = place(v, at, "<h3 class=\"month\"><span>3月</span>");
    (void)place(v, at, "<h3 class=\"month\"><span>2月</span><span>共2.50\u2060元</span></h3>");
    visit_says(v, 200, LACKS, "card summary", "class=\"years\"", "<div class=\"bars\"");

    visit_says(records_of(app, &p, "/records/sent?min=2", false), 200,
               "<h3 class=\"month\"><span>2025年4月</span></h3>");
}

TEST(the_default_year_is_the_current_one)
{
    struct person p = person_with(0);
    visit_says(records_of(app, &p, "/records/received", true), 200,
               text_printf("year: %d", clock_zone_date(clock_now_ms()).year), "best_count: 0");
}

TEST(a_malformed_cursor_is_refused)
{
    EACH_TEXT (text, "1", "1-", "1-2", "-1-2", "x-00000000000000000000000000", "1-00000000000000000000000000",
               "1%27-1") {
        visit_says(records_of(app, &sender, text_printf("/records/received?before=%s", text), true), 400);
        visit_says(records_of(app, &sender, text_printf("/records/sent?before=%s", text), true), 400);
    }
}

TEST(records_of_other_users_are_not_shown)
{
    struct person p = person_with(0), other = person_with(0);
    struct packet packet = packet_of(&p, PACKET_EVEN, 200, 2, clock_now_ms());
    grabbed(&packet, 0, &other, clock_now_ms());
    visit_says(records_of(app, &other, "/records/sent", true), 200, "\"items\":[]");
    visit_says(records_of(app, &p, "/records/received", true), 200, "\"items\":[]");
}

TEST(the_best_share_is_shown_only_when_the_packet_is_finished)
{
    struct person lucky = person_with(0), last = person_with(0);
    int64_t now = clock_now_ms();
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 2, now);
    uint32_t best = packet.best_share_no;
    grabbed(&packet, best, &lucky, now);
    visit_says(records_of(app, &lucky, "/records/received", true), 200, "\"best\":false");
    grabbed(&packet, 1 - best, &last, now);
    visit_says(records_of(app, &lucky, "/records/received", true), 200, "\"best\":true");
    visit_says(records_of(app, &last, "/records/received", true), 200, "\"best\":false");
}

TEST(sent_items_show_state_and_refund)
{
    struct person p = person_with(0);
    int64_t now = clock_now_ms();
    (void)packet_of(&p, PACKET_EVEN, 200, 2, now);
    struct packet expired = packet_of(&p, PACKET_EVEN, 500, 2, now);
    sql_run(app, "UPDATE packet SET expires_ms = created_ms - 1 WHERE id = ?", DB_U64(expired.id));
    /* The expired one is not closed yet. */
    visit_says(records_of(app, &p, "/records/sent", true), 200, "1 × \"state\":\"open\"", "1 × \"state\":\"expired\"");
    sql_run(app, "UPDATE packet SET state = 'closed', refund_fen = 500 WHERE id = ?", DB_U64(expired.id));
    visit_says(records_of(app, &p, "/records/sent", true), 200, "1 × \"state\":\"expired\"", "\"refund_fen\":500");
}

TEST(the_html_pages_show_the_same)
{
    struct person p = person_with(0), q = person_with(0);
    int64_t now = clock_now_ms();
    struct packet packet = packet_of(&p, PACKET_EVEN, 246, 2, now);
    grabbed(&packet, 0, &q, now);
    visit_says(records_of(app, &q, "/records/received", false), 200, "1.23\u2060元", p.nickname, "共收到");
    visit_says(records_of(app, &p, "/records/sent", false), 200, "2.46\u2060元", "1/2个");
}

/* ---- home ---- */

TEST(home_shows_guests_a_welcome)
{
    visit_says(person_html(NULL, home_show, "/", NULL, 0), 200, "href=\"/login\"");
    visit_says(person_json(NULL, home_show, "/", NULL, 0), 200, "\"user\":null");
}

TEST(home_shows_balance_and_the_latest_five_of_each)
{
    struct person p = person_with(4321);
    int64_t now = clock_now_ms();
    for (int i = 0; i < 7; i++) {
        struct packet packet = packet_of(&sender, PACKET_EVEN, 300, 3, now - i);
        grabbed(&packet, 0, &p, now - i);
        (void)packet_of(&p, PACKET_EVEN, 100, 1, now - i);
    }
    visit_says(person_json(&p, home_show, "/", NULL, 0), 200, "balance_fen: 4321", "5 × \"share_no\"",
               "5 × \"refund_fen\"");
    visit_says(person_html(&p, home_show, "/", NULL, 0), 200, "43.21");
}

/* Restores the settings also after a failure. */
static int home_end(void **state)
{
    (void)state;
    test_services_config(app)->share_fen_max = 20000;
    test_services_config(app)->sending = true;
    return 0;
}

TEST_WITH(home_offers_who_is_new_gifts_of_one_share_and_none_while_sending_is_paused, NULL, home_end)
{
    static const struct {
        int64_t share_fen_max;
        const char *says, *lacks;
    } rows[] = { { 20000, "href=\"/send?amount=188.00\">¥<b>188.00</b>", "amount=1880" },
                 { 18799, "href=\"/send?amount=88.00\"", "188.00" },
                 { 666, "href=\"/send?amount=6.66\"", "8.88" },
                 { 665, "href=\"/send\"", "class=\"quick\"" } };
    struct person p = person_with(0);
    EACH (row, rows) {
        test_services_config(app)->share_fen_max = row->share_fen_max;
        visit_says(person_html(&p, home_show, "/", NULL, 0), 200, row->says, LACKS, row->lacks);
    }
    visit_says(person_json(&p, home_show, "/", NULL, 0), 200, "\"sending\":true", LACKS, "amount=");
    (void)home_end(NULL);
    test_services_config(app)->sending = false;
    visit_says(person_html(&p, home_show, "/", NULL, 0), 200, "暂停发红包", LACKS, "href=\"/send");
    visit_says(person_json(&p, home_show, "/", NULL, 0), 200, "\"sending\":false");
    (void)packet_of(&p, PACKET_EVEN, 100, 1, clock_now_ms());
    visit_says(person_html(&p, home_show, "/", NULL, 0), 200, "暂停发红包", LACKS, "href=\"/send");
}

/* ---- verify ---- */

static struct visit *verify_of(const struct person *p, const struct packet *packet, const char *query, bool json)
{
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, packet->id, id);
    return person_visit_new(app, p, packet_verify, text_printf("/p/%s/verify%s", id, query), NULL, packet->id, json);
}

static struct visit *verified(const struct person *p, const struct packet *packet, const char *query)
{
    return verify_of(p, packet, query, true);
}

static void packet_state_set(const struct packet *packet, const char *packet_state)
{
    sql_run(app, "UPDATE packet SET state = ? WHERE id = ?", DB_TEXT(str_from(packet_state)), DB_U64(packet->id));
}

TEST(a_seed_is_hidden_until_the_packet_is_over)
{
    static const char *const sealed[] = { "funding", "open" };
    static const char *const open[] = { "finished", "closed" };
    /* Its lifetime is over, but it is not closed in MySQL: grabs may still have to be settled. */
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 4, clock_now_ms() - 90000000);
    for (size_t i = 0; i < 2; i++) {
        packet_state_set(&packet, sealed[i]);
        visit_says(verified(&sender, &packet, ""), 200, "\"seed\":null", "\"amount_fen\":null", "\"shares\":[]",
                   "\"commitment\":\"");
    }
    for (size_t i = 0; i < 2; i++) {
        packet_state_set(&packet, open[i]);
        visit_says(verified(&sender, &packet, ""), 200, "4 × \"share_no\"", LACKS, "\"seed\":null");
        /* A guest does not see it. */
        visit_says(verified(NULL, &packet, ""), 200, "\"seed\":null", "\"shares\":[]");
    }
}

static struct visit *verify_page(const struct person *p, const struct packet *packet)
{
    return verify_of(p, packet, "", false);
}

TEST(a_stranger_learns_of_a_packet_for_others_that_its_draw_is_for_them)
{
    struct person dear = person_with(0), stranger = person_with(0);
    struct packet packet = packet_of(&sender, PACKET_EVEN, 17700, 1, clock_now_ms());
    sql_run(app, "UPDATE packet SET kind = 'exclusive', receiver_id = ?, receiver_name = ? WHERE id = ?",
            DB_U64(dear.id), DB_TEXT(str_from(dear.nickname)), DB_U64(packet.id));
    visit_says(verify_page(&stranger, &packet), 200, "金额已封存", "种子和金额只给发红包的人和指定的领取人看", LACKS,
               "这里会公布");
    packet_state_set(&packet, "closed");
    visit_says(verify_page(&stranger, &packet), 200, "已结束，结果不公开", LACKS, "金额已封存", "177.00", dear.nickname,
               sender.nickname);
    /* A guest may turn out to be one of them. */
    visit_says(verify_page(NULL, &packet), 200, "登录后查看种子", "只有发红包的人和指定的领取人能看", LACKS, "177.00");
    visit_says(verify_page(&dear, &packet), 200, "177.00");
}

TEST(a_draw_that_was_tampered_with_is_reported)
{
    struct person p = person_with(0);
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 4, clock_now_ms());
    grabbed(&packet, 0, &p, clock_now_ms());
    packet_state_set(&packet, "closed");
    visit_says(verified(&p, &packet, ""), 200, "\"commitment_ok\":true", "\"shares_ok\":true");
    sql_run(app, "UPDATE grab SET amount_fen = amount_fen + 1 WHERE packet_id = ?", DB_U64(packet.id));
    visit_says(verified(&p, &packet, ""), 200, "\"shares_ok\":false");
    sql_run(app, "UPDATE packet SET commitment = REPEAT('x', 32) WHERE id = ?", DB_U64(packet.id));
    visit_says(verified(&p, &packet, ""), 200, "\"commitment_ok\":false");
}

TEST(a_large_draw_is_shown_a_thousand_shares_a_page)
{
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 100000, 2500, clock_now_ms());
    packet_state_set(&packet, "closed");
    visit_says(verified(&sender, &packet, ""), 200, "1000 × \"share_no\"", "\"next\":\"999\"");
    visit_says(verified(&sender, &packet, "?after=1999"), 200, "500 × \"share_no\"", "\"next\":null");
    /* The page behind the last share is empty. */
    visit_says(verified(&sender, &packet, "?after=2499"), 200, "0 × \"share_no\"");
    visit_says(verified(&sender, &packet, "?after=2500"), 400);
    visit_says(verified(&sender, &packet, "?after=-1"), 400);
}

TEST(an_unknown_packet_has_no_verify_page)
{
    struct packet packet = { .id = 12345 };
    visit_says(verified(&sender, &packet, ""), 404);
}

/* ---- store ---- */

TEST(grabs_are_paged_by_share_newest_first)
{
    struct person people[4];
    struct grab *rows;
    size_t count;
    struct grab own;
    int64_t now = clock_now_ms();
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 4, now);
    for (uint32_t i = 0; i < 4; i++) {
        person_new(app, &people[i], 0);
        grabbed(&packet, i, &people[i], now + i);
    }
    assert_int_equal(packet_grabs(app->stores.db, arena, packet.id, PACKET_NO_SHARE, 3, &rows, &count), ST_OK);
    assert_ints({ count, 3 }, { rows[0].share_no, 3 }, { rows[2].share_no, 1 });
    assert_int_equal(packet_grabs(app->stores.db, arena, packet.id, rows[2].share_no, 3, &rows, &count), ST_OK);
    assert_ints({ count, 1 }, { rows[0].user_id, people[0].id });
    assert_int_equal(packet_grabs_between(app->stores.db, arena, packet.id, 1, 3, &rows, &count), ST_OK);
    assert_ints({ count, 2 }, { rows[0].share_no, 1 });
    assert_int_equal(packet_grab_of(app->stores.db, arena, packet.id, people[2].id, &own), ST_OK);
    assert_int_equal(own.share_no, 2);
    assert_int_equal(packet_grab_of(app->stores.db, arena, packet.id, sender.id, &own), ST_NOT_FOUND);
}

TEST(a_packet_is_read_back_from_its_row)
{
    struct packet in = packet_of(&sender, PACKET_LUCKY, 777, 7, 1767225600123);
    struct packet out;
    assert_int_equal(packet_find(app->stores.db, arena, in.id, &out), ST_OK);
    assert_ints({ out.amount_fen, 777 }, { out.count, 7 }, { out.share_max_fen, 20000 },
                { out.best_share_no, in.best_share_no });
    assert_memory_equal(out.seed, in.seed, sizeof in.seed);
    assert_memory_equal(out.commitment, in.commitment, sizeof in.commitment);
    assert_ints({ out.created_ms, in.created_ms }, { out.expires_ms, in.expires_ms }, { out.finished_ms, 0 },
                { out.receiver_id, 0 });
    assert_true(str_equal(out.greeting, in.greeting));
    assert_int_equal(packet_find_by_key(app->stores.db, arena, sender.id, in.request_key, &out), ST_OK);
    assert_int_equal(out.id, in.id);
    assert_int_equal(packet_find_by_key(app->stores.db, arena, sender.id + 1, in.request_key, &out), ST_NOT_FOUND);
    assert_int_equal(packet_insert(app->stores.db, &in), ST_EXISTS);
}

TESTS(setup, teardown)
