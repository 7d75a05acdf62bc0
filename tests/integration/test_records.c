/* pages/records, verify and home on a real database: each visitor's own rows, each once, newest first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "packet/grab.h"
#include "packet/id_lease.h"
#include "packet/split.h"
#include "packet/store.h"
#include "packet/totals.h"
#include "pages/home.h"
#include "pages/records.h"
#include "pages/verify.h"
#include "test_packet_fixture.h"

static struct services *app;
static struct arena *arena;
static struct person sender; /* the first user that this test creates */

static int setup(void **state)
{
    (void)state;
    app = packet_services_open();
    arena = arena_new(65536, 256 << 20);
    if (app == NULL || arena == NULL)
        return 1;
    person_new(app, &sender, 0);
    return 0;
}

/* Packets of this test have rows but no transfers, so an audit by another test must not find them. */
static int teardown(void **state)
{
    (void)state;
    int failed = !packets_forget(app, &sender);
    failed |= db_exec(app->stores.db, NULL, "DELETE FROM user_month WHERE user_id >= ?",
                      DB_PARAMS(DB_U64(sender.id))) != ST_OK;
    arena_free(arena);
    packet_services_close(app);
    return failed;
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
    assert_int_equal(user_totals_add_sent(app->stores.db, p->id, created_ms, total_fen), ST_OK);
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
    assert_int_equal(db_exec(app->stores.db, NULL, "INSERT INTO grab VALUES (?, ?, ?, ?, ?, ?)",
                             DB_PARAMS(DB_U64(packet->id), DB_U64(share_no), DB_U64(by->id),
                                       DB_TEXT(str_from(by->nickname)), DB_I64(fen), DB_I64(at_ms))),
                     ST_OK);
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET grabbed_count = grabbed_count + 1, grabbed_fen = grabbed_fen + ?, "
                             "state = IF(grabbed_count = count, 'closed', state) WHERE id = ?",
                             DB_PARAMS(DB_I64(fen), DB_U64(packet->id))),
                     ST_OK);
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "INSERT INTO user_month (user_id, year, month, received_count, received_fen) VALUES (?, ?, ?, 1, ?) "
                "ON DUPLICATE KEY UPDATE received_count = received_count + 1, "
                "received_fen = received_fen + ?",
                DB_PARAMS(DB_U64(by->id), DB_I64(date.year), DB_I64(date.month), DB_I64(fen), DB_I64(fen))),
        ST_OK);
    packet->grabbed_count++;
    packet->grabbed_fen += fen;
}

static int requested(struct visit *v, const struct person *p, const char *uri)
{
    bool is_sent = strncmp(uri, "/records/sent", 13) == 0;
    return person_request(v, app, p, is_sent ? records_sent : records_received, uri, NULL, 0, true);
}

/* ---- pages ---- */

/* Reads pages until there is no next one. Returns the number of items and sets the number of pages. */
static size_t all_pages(const struct person *p, const char *path, const char *item_mark, size_t *pages)
{
    struct visit v;
    char uri[512], next[128];
    size_t items = 0;
    *pages = 0;
    snprintf(uri, sizeof uri, "%s", path);
    for (;;) {
        assert_int_equal(requested(&v, p, uri), 200);
        size_t here = visit_body_count(&v, item_mark);
        assert_true(here <= RECORDS_PAGE_ITEMS);
        items += here;
        (*pages)++;
        bool more = !visit_body_has(&v, "\"next\":null");
        if (more) {
            visit_json_text(&v, "next", next, sizeof next);
            snprintf(uri, sizeof uri, "%s%sbefore=%s", path, strchr(path, '?') != NULL ? "&" : "?", next);
        }
        visit_end(&v);
        if (!more)
            return items;
        assert_true(*pages < 20);
    }
}

static void received_pages_show_every_grab_once_even_within_one_ms(void **state)
{
    (void)state;
    struct person p;
    size_t pages;
    int64_t now = clock_now_ms();
    person_new(app, &p, 0);
    for (int i = 0; i < 45; i++) {
        struct packet packet = packet_of(&sender, PACKET_EVEN, 300, 3, now - 1000);
        grabbed(&packet, 0, &p, now - i / 15 * 7); /* fifteen grabs an instant: pages end in the middle of them */
    }
    assert_int_equal(all_pages(&p, "/records/received", "\"share_no\":0", &pages), 45);
    assert_int_equal(pages, 3);
}

static void a_full_last_page_has_no_next(void **state)
{
    (void)state;
    struct person p;
    size_t pages;
    int64_t now = clock_now_ms();
    person_new(app, &p, 0);
    for (int i = 0; i < RECORDS_PAGE_ITEMS; i++)
        (void)packet_of(&p, PACKET_EVEN, 300, 3, now - i);
    assert_int_equal(all_pages(&p, "/records/sent", "\"refund_fen\"", &pages), RECORDS_PAGE_ITEMS);
    assert_int_equal(pages, 1);
}

static void years_follow_the_time_zone_and_have_totals_of_their_own(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 0);
    int64_t start = clock_zone_year_start_ms(2025);
    struct packet before = packet_of(&p, PACKET_EVEN, 100, 1, start - 1);
    (void)packet_of(&p, PACKET_EVEN, 200, 1, start);
    (void)packet_of(&p, PACKET_EVEN, 400, 1, clock_zone_year_start_ms(2026) - 1);
    assert_int_equal(before.created_ms, start - 1);
    assert_int_equal(clock_zone_date(start).year, 2025);
    assert_int_equal(clock_zone_date(start - 1).year, 2024);

    assert_int_equal(requested(&v, &p, "/records/sent?year=2025"), 200);
    assert_int_equal(visit_json_int(&v, "year"), 2025);
    assert_int_equal(visit_json_int(&v, "total_fen"), 600);
    assert_int_equal(visit_json_int(&v, "count"), 2);
    assert_int_equal(visit_body_count(&v, "\"refund_fen\""), 2);
    visit_end(&v);
    assert_int_equal(requested(&v, &p, "/records/sent?year=2024"), 200);
    assert_int_equal(visit_json_int(&v, "total_fen"), 100);
    assert_int_equal(visit_body_count(&v, "\"refund_fen\""), 1);
    visit_end(&v);
    assert_int_equal(requested(&v, &p, "/records/sent?year=2023"), 200);
    assert_int_equal(visit_json_int(&v, "total_fen"), 0);
    assert_true(visit_body_has(&v, "\"items\":[]"));
    visit_end(&v);
    /* The page links to every year with records, and to the shown one. */
    assert_int_equal(person_request(&v, app, &p, records_sent, "/records/sent?year=2023", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "/records/sent?year=2025"));
    assert_true(visit_body_has(&v, "/records/sent?year=2024"));
    assert_true(visit_body_has(&v, "/records/sent?year=2023"));
    visit_end(&v);
}

/* Expects twelve months in order in the JSON, and these totals of one of them. */
static void assert_month(const struct visit *v, int month, int64_t total_fen, uint64_t count)
{
    char text[96];
    snprintf(text, sizeof text, "{\"month\":%d,\"total_fen\":%lld,\"count\":%llu}", month, (long long)total_fen,
             (unsigned long long)count);
    assert_int_equal(visit_body_count(v, "\"month\":"), MONTHS_PER_YEAR);
    assert_true(visit_body_has(v, text));
}

static void months_follow_the_time_zone_and_the_shown_year(void **state)
{
    (void)state;
    struct person p, other;
    struct visit v;
    person_new(app, &p, 0);
    person_new(app, &other, 0);
    int64_t march = clock_zone_month_start_ms(2025, 3);
    (void)packet_of(&p, PACKET_EVEN, 100, 1, march - 1);
    struct packet packet = packet_of(&p, PACKET_EVEN, 600, 3, march);
    (void)packet_of(&p, PACKET_EVEN, 400, 1, clock_zone_month_start_ms(2025, 4) - 1);
    (void)packet_of(&p, PACKET_EVEN, 7, 1, clock_zone_year_start_ms(2026));
    (void)packet_of(&other, PACKET_EVEN, 5000, 1, march);
    grabbed(&packet, 0, &p, clock_zone_month_start_ms(2025, 12));
    grabbed(&packet, 1, &other, clock_zone_month_start_ms(2025, 12));

    assert_int_equal(requested(&v, &p, "/records/sent?year=2025"), 200);
    assert_month(&v, 1, 0, 0);
    assert_month(&v, 2, 100, 1);
    assert_month(&v, 3, 1000, 2);
    assert_month(&v, 12, 0, 0);
    visit_end(&v);
    assert_int_equal(requested(&v, &p, "/records/received?year=2025"), 200);
    assert_month(&v, 3, 0, 0);
    assert_month(&v, 12, 200, 1);
    visit_end(&v);
    assert_int_equal(requested(&v, &p, "/records/sent?year=2026"), 200);
    assert_month(&v, 1, 7, 1);
    visit_end(&v);
}

static void the_chart_scales_to_the_largest_month_and_needs_three_months(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 0);
    (void)packet_of(&p, PACKET_EVEN, 20000, 1, clock_zone_month_start_ms(2025, 1));
    (void)packet_of(&p, PACKET_EVEN, 10000, 1, clock_zone_month_start_ms(2025, 6));
    (void)packet_of(&p, PACKET_EVEN, 1, 1, clock_zone_month_start_ms(2025, 12));
    assert_int_equal(person_request(&v, app, &p, records_sent, "/records/sent?year=2025", NULL, 0, false), 200);
    assert_int_equal(visit_body_count(&v, "<rect "), 3); /* a month without packets has no bar */
    assert_true(visit_body_has(&v, "height=\"100\""));
    assert_true(visit_body_has(&v, "height=\"50\""));
    assert_true(visit_body_has(&v, "height=\"2\"")); /* even one fen has a visible bar */
    assert_int_equal(visit_body_count(&v, "<th scope=\"row\">"), MONTHS_PER_YEAR);
    assert_true(visit_body_has(&v, "<a href=\"/records/sent?from=2025-06-01&amp;to=2025-06-30\">6月</a>"));
    assert_true(visit_body_has(&v, "<a href=\"/records/sent?from=2025-12-01&amp;to=2025-12-31\">12月</a>"));
    assert_int_equal(visit_body_count(&v, "?from="), 3); /* nor a link */
    visit_end(&v);
    (void)packet_of(&p, PACKET_EVEN, 20000, 1, clock_zone_month_start_ms(2024, 1));
    (void)packet_of(&p, PACKET_EVEN, 10000, 1, clock_zone_month_start_ms(2024, 6));
    assert_int_equal(person_request(&v, app, &p, records_sent, "/records/sent?year=2024", NULL, 0, false), 200);
    assert_false(visit_body_has(&v, "class=\"bars\""));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, records_received, "/records/received?year=2025", NULL, 0, false), 200);
    assert_false(visit_body_has(&v, "class=\"bars\""));
    visit_end(&v);
}

/* The place of a text in the page, from a place on; fails when it is absent. */
static size_t place(const struct visit *v, size_t from, const char *text)
{
    struct str rest = str_skip(buf_view(&v->x.body), from);
    size_t at = str_find(rest, str_from(text));
    if (at == rest.len)
        fail_msg("no %s", text);
    return from + at;
}

static int shown(struct visit *v, const struct person *p, const char *uri)
{
    return person_request(v, app, p, records_sent, uri, NULL, 0, false);
}

static void rows_follow_the_total_and_are_grouped_by_month(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    char next[128], uri[256];
    person_new(app, &p, 0);
    for (int i = 0; i < RECORDS_PAGE_ITEMS; i++)
        (void)packet_of(&p, PACKET_EVEN, 100, 1, clock_zone_month_start_ms(2025, 3) + i);
    (void)packet_of(&p, PACKET_EVEN, 250, 1, clock_zone_month_start_ms(2025, 3) - 1);
    (void)packet_of(&p, PACKET_EVEN, 700, 1, clock_zone_month_start_ms(2025, 4));

    assert_int_equal(shown(&v, &p, "/records/sent?year=2025"), 200);
    size_t at = place(&v, 0, "class=\"card summary\"");
    at = place(&v, at, "<div class=\"bars\"");
    at = place(&v, at, "<h3 class=\"month\"><span>4月</span><span>共7.00元</span></h3>");
    (void)place(&v, at, "<h3 class=\"month\"><span>3月</span><span>共20.00元</span></h3>");
    assert_int_equal(visit_body_count(&v, "class=\"month\""), 2);
    visit_end(&v);

    assert_int_equal(requested(&v, &p, "/records/sent?year=2025"), 200);
    visit_json_text(&v, "next", next, sizeof next);
    visit_end(&v);
    snprintf(uri, sizeof uri, "/records/sent?year=2025&before=%s", next);
    assert_int_equal(shown(&v, &p, uri), 200);
    at = place(&v, 0, "<a href=\"/records/sent?year=2025\" rel=\"first\">");
    at = place(&v, at, "<h3 class=\"month\"><span>3月</span>");
    (void)place(&v, at, "<h3 class=\"month\"><span>2月</span><span>共2.50元</span></h3>");
    assert_false(visit_body_has(&v, "card summary"));
    assert_false(visit_body_has(&v, "class=\"years\""));
    assert_false(visit_body_has(&v, "<div class=\"bars\""));
    visit_end(&v);

    assert_int_equal(shown(&v, &p, "/records/sent?min=2"), 200);
    (void)place(&v, 0, "<h3 class=\"month\"><span>2025年4月</span></h3>");
    visit_end(&v);
}

static void the_default_year_is_the_current_one(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 0);
    assert_int_equal(requested(&v, &p, "/records/received"), 200);
    assert_int_equal(visit_json_int(&v, "year"), clock_zone_date(clock_now_ms()).year);
    assert_int_equal(visit_json_int(&v, "best_count"), 0);
    visit_end(&v);
}

static void a_malformed_year_or_cursor_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = { "year=26",
                                       "year=abcd",
                                       "year=-025",
                                       "year=20255",
                                       "year=0999",
                                       "year=2025x",
                                       "year=9999",
                                       "before=1",
                                       "before=1-2",
                                       "before=-1-2",
                                       "before=x-00000000000000000000000000",
                                       "before=1-00000000000000000000000000",
                                       "before=1%27-1" };
    struct visit v;
    char uri[128];
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        snprintf(uri, sizeof uri, "/records/received?%s", bad[i]);
        assert_int_equal(requested(&v, &sender, uri), strncmp(bad[i], "year", 4) == 0 ? 422 : 400);
        visit_end(&v);
        snprintf(uri, sizeof uri, "/records/sent?%s", bad[i]);
        assert_int_equal(requested(&v, &sender, uri), strncmp(bad[i], "year", 4) == 0 ? 422 : 400);
        visit_end(&v);
    }
}

static void records_of_other_users_are_not_shown(void **state)
{
    (void)state;
    struct person p, other;
    struct visit v;
    person_new(app, &p, 0);
    person_new(app, &other, 0);
    struct packet packet = packet_of(&p, PACKET_EVEN, 200, 2, clock_now_ms());
    grabbed(&packet, 0, &other, clock_now_ms());
    assert_int_equal(requested(&v, &other, "/records/sent"), 200);
    assert_true(visit_body_has(&v, "\"items\":[]"));
    visit_end(&v);
    assert_int_equal(requested(&v, &p, "/records/received"), 200);
    assert_true(visit_body_has(&v, "\"items\":[]"));
    visit_end(&v);
}

static void the_best_share_is_shown_only_when_the_packet_is_finished(void **state)
{
    (void)state;
    struct person lucky, last;
    struct visit v;
    int64_t now = clock_now_ms();
    person_new(app, &lucky, 0);
    person_new(app, &last, 0);
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 2, now);
    uint32_t best = packet.best_share_no;
    grabbed(&packet, best, &lucky, now);
    assert_int_equal(requested(&v, &lucky, "/records/received"), 200);
    assert_true(visit_body_has(&v, "\"best\":false"));
    visit_end(&v);
    grabbed(&packet, 1 - best, &last, now);
    assert_int_equal(requested(&v, &lucky, "/records/received"), 200);
    assert_true(visit_body_has(&v, "\"best\":true"));
    visit_end(&v);
    assert_int_equal(requested(&v, &last, "/records/received"), 200);
    assert_true(visit_body_has(&v, "\"best\":false"));
    visit_end(&v);
}

static void sent_items_show_state_and_refund(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    int64_t now = clock_now_ms();
    person_new(app, &p, 0);
    (void)packet_of(&p, PACKET_EVEN, 200, 2, now);
    struct packet expired = packet_of(&p, PACKET_EVEN, 500, 2, now);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET expires_ms = created_ms - 1 WHERE id = ?",
                             DB_PARAMS(DB_U64(expired.id))),
                     ST_OK);
    assert_int_equal(requested(&v, &p, "/records/sent"), 200);
    assert_int_equal(visit_body_count(&v, "\"state\":\"open\""), 1);
    assert_int_equal(visit_body_count(&v, "\"state\":\"expired\""), 1); /* although it is not closed yet */
    visit_end(&v);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET state = 'closed', refund_fen = 500 WHERE id = ?",
                             DB_PARAMS(DB_U64(expired.id))),
                     ST_OK);
    assert_int_equal(requested(&v, &p, "/records/sent"), 200);
    assert_int_equal(visit_body_count(&v, "\"state\":\"expired\""), 1);
    assert_true(visit_body_has(&v, "\"refund_fen\":500"));
    visit_end(&v);
}

static void the_html_pages_show_the_same(void **state)
{
    (void)state;
    struct person p, q;
    struct visit v;
    int64_t now = clock_now_ms();
    person_new(app, &p, 0);
    person_new(app, &q, 0);
    struct packet packet = packet_of(&p, PACKET_EVEN, 246, 2, now);
    grabbed(&packet, 0, &q, now);
    assert_int_equal(person_request(&v, app, &q, records_received, "/records/received", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "1.23元"));
    assert_true(visit_body_has(&v, p.nickname));
    assert_true(visit_body_has(&v, "共收到"));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, records_sent, "/records/sent", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "2.46元"));
    assert_true(visit_body_has(&v, "1/2个"));
    visit_end(&v);
}

/* ---- home ---- */

static void home_shows_guests_a_welcome(void **state)
{
    (void)state;
    struct visit v;
    assert_int_equal(person_request(&v, app, NULL, home_show, "/", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "href=\"/login\""));
    visit_end(&v);
    assert_int_equal(person_request(&v, app, NULL, home_show, "/", NULL, 0, true), 200);
    assert_true(visit_body_has(&v, "\"user\":null"));
    visit_end(&v);
}

static void home_shows_balance_and_the_latest_five_of_each(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    int64_t now = clock_now_ms();
    person_new(app, &p, 4321);
    for (int i = 0; i < 7; i++) {
        struct packet packet = packet_of(&sender, PACKET_EVEN, 300, 3, now - i);
        grabbed(&packet, 0, &p, now - i);
        (void)packet_of(&p, PACKET_EVEN, 100, 1, now - i);
    }
    assert_int_equal(person_request(&v, app, &p, home_show, "/", NULL, 0, true), 200);
    assert_int_equal(visit_json_int(&v, "balance_fen"), 4321);
    assert_int_equal(visit_body_count(&v, "\"share_no\""), 5);
    assert_int_equal(visit_body_count(&v, "\"refund_fen\""), 5);
    visit_end(&v);
    assert_int_equal(person_request(&v, app, &p, home_show, "/", NULL, 0, false), 200);
    assert_true(visit_body_has(&v, "43.21"));
    visit_end(&v);
}

/* ---- verify ---- */

static int verified(struct visit *v, const struct person *p, const struct packet *packet, const char *query)
{
    char uri[128];
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, packet->id, id);
    snprintf(uri, sizeof uri, "/p/%s/verify%s", id, query);
    return person_request(v, app, p, packet_verify, uri, NULL, packet->id, true);
}

static void packet_state_set(const struct packet *packet, const char *packet_state)
{
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET state = ? WHERE id = ?",
                             DB_PARAMS(DB_TEXT(str_from(packet_state)), DB_U64(packet->id))),
                     ST_OK);
}

static void a_seed_is_hidden_until_the_packet_is_over(void **state)
{
    (void)state;
    struct visit v;
    static const char *const sealed[] = { "funding", "open" };
    static const char *const open[] = { "finished", "closed" };
    /* Its time is over, but it is not closed in MySQL: grabs may still have to be settled. */
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 4, clock_now_ms() - 90000000);
    for (size_t i = 0; i < 2; i++) {
        packet_state_set(&packet, sealed[i]);
        assert_int_equal(verified(&v, &sender, &packet, ""), 200);
        assert_true(visit_body_has(&v, "\"seed\":null"));
        assert_true(visit_body_has(&v, "\"amount_fen\":null"));
        assert_true(visit_body_has(&v, "\"shares\":[]"));
        assert_true(visit_body_has(&v, "\"commitment\":\""));
        visit_end(&v);
    }
    for (size_t i = 0; i < 2; i++) {
        packet_state_set(&packet, open[i]);
        assert_int_equal(verified(&v, &sender, &packet, ""), 200);
        assert_false(visit_body_has(&v, "\"seed\":null"));
        assert_int_equal(visit_body_count(&v, "\"share_no\""), 4);
        visit_end(&v);
        assert_int_equal(verified(&v, NULL, &packet, ""), 200); /* a guest */
        assert_true(visit_body_has(&v, "\"seed\":null"));
        assert_true(visit_body_has(&v, "\"shares\":[]"));
        visit_end(&v);
    }
}

static int verify_page(struct visit *v, const struct person *p, const struct packet *packet)
{
    char uri[128];
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, packet->id, id);
    snprintf(uri, sizeof uri, "/p/%s/verify", id);
    return person_request(v, app, p, packet_verify, uri, NULL, packet->id, false);
}

static void a_stranger_learns_of_a_packet_for_others_that_its_draw_is_for_them(void **state)
{
    (void)state;
    struct person dear, stranger;
    struct visit v;
    person_new(app, &dear, 0);
    person_new(app, &stranger, 0);
    struct packet packet = packet_of(&sender, PACKET_EVEN, 17700, 1, clock_now_ms());
    assert_int_equal(db_exec(app->stores.db, NULL,
                             "UPDATE packet SET kind = 'exclusive', receiver_id = ?, receiver_name = ? WHERE id = ?",
                             DB_PARAMS(DB_U64(dear.id), DB_TEXT(str_from(dear.nickname)), DB_U64(packet.id))),
                     ST_OK);
    assert_int_equal(verify_page(&v, &stranger, &packet), 200);
    assert_true(visit_body_has(&v, "金额已封存"));
    assert_true(visit_body_has(&v, "种子和金额只给发红包的人和指定的领取人看"));
    assert_false(visit_body_has(&v, "这里会公布"));
    visit_end(&v);
    packet_state_set(&packet, "closed");
    assert_int_equal(verify_page(&v, &stranger, &packet), 200);
    assert_true(visit_body_has(&v, "已结束，结果不公开"));
    assert_false(visit_body_has(&v, "金额已封存"));
    assert_false(visit_body_has(&v, "177.00"));
    assert_false(visit_body_has(&v, dear.nickname));
    assert_false(visit_body_has(&v, sender.nickname));
    visit_end(&v);
    assert_int_equal(verify_page(&v, NULL, &packet), 200); /* a guest may be one of them */
    assert_true(visit_body_has(&v, "登录后查看种子"));
    assert_true(visit_body_has(&v, "只有发红包的人和指定的领取人能看"));
    assert_false(visit_body_has(&v, "177.00"));
    visit_end(&v);
    assert_int_equal(verify_page(&v, &dear, &packet), 200);
    assert_true(visit_body_has(&v, "177.00"));
    visit_end(&v);
}

static void a_draw_that_was_tampered_with_is_reported(void **state)
{
    (void)state;
    struct person p;
    struct visit v;
    person_new(app, &p, 0);
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 1000, 4, clock_now_ms());
    grabbed(&packet, 0, &p, clock_now_ms());
    packet_state_set(&packet, "closed");
    assert_int_equal(verified(&v, &p, &packet, ""), 200);
    assert_true(visit_body_has(&v, "\"commitment_ok\":true"));
    assert_true(visit_body_has(&v, "\"shares_ok\":true"));
    visit_end(&v);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE grab SET amount_fen = amount_fen + 1 WHERE packet_id = ?",
                             DB_PARAMS(DB_U64(packet.id))),
                     ST_OK);
    assert_int_equal(verified(&v, &p, &packet, ""), 200);
    assert_true(visit_body_has(&v, "\"shares_ok\":false"));
    visit_end(&v);
    assert_int_equal(db_exec(app->stores.db, NULL, "UPDATE packet SET commitment = REPEAT('x', 32) WHERE id = ?",
                             DB_PARAMS(DB_U64(packet.id))),
                     ST_OK);
    assert_int_equal(verified(&v, &p, &packet, ""), 200);
    assert_true(visit_body_has(&v, "\"commitment_ok\":false"));
    visit_end(&v);
}

static void a_large_draw_is_shown_a_thousand_shares_a_page(void **state)
{
    (void)state;
    struct visit v;
    struct packet packet = packet_of(&sender, PACKET_LUCKY, 100000, 2500, clock_now_ms());
    packet_state_set(&packet, "closed");
    assert_int_equal(verified(&v, &sender, &packet, ""), 200);
    assert_int_equal(visit_body_count(&v, "\"share_no\""), 1000);
    assert_true(visit_body_has(&v, "\"next\":\"999\""));
    visit_end(&v);
    assert_int_equal(verified(&v, &sender, &packet, "?after=1999"), 200);
    assert_int_equal(visit_body_count(&v, "\"share_no\""), 500);
    assert_true(visit_body_has(&v, "\"next\":null"));
    visit_end(&v);
    assert_int_equal(verified(&v, &sender, &packet, "?after=2499"), 200); /* the page behind the last share is empty */
    assert_int_equal(visit_body_count(&v, "\"share_no\""), 0);
    visit_end(&v);
    assert_int_equal(verified(&v, &sender, &packet, "?after=2500"), 400);
    visit_end(&v);
    assert_int_equal(verified(&v, &sender, &packet, "?after=-1"), 400);
    visit_end(&v);
}

static void an_unknown_packet_has_no_verify_page(void **state)
{
    (void)state;
    struct visit v;
    struct packet packet = { .id = 12345 };
    assert_int_equal(verified(&v, &sender, &packet, ""), 404);
    visit_end(&v);
}

/* ---- store ---- */

static void grabs_are_paged_by_share_newest_first(void **state)
{
    (void)state;
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
    assert_int_equal(count, 3);
    assert_int_equal(rows[0].share_no, 3);
    assert_int_equal(rows[2].share_no, 1);
    assert_int_equal(packet_grabs(app->stores.db, arena, packet.id, rows[2].share_no, 3, &rows, &count), ST_OK);
    assert_int_equal(count, 1);
    assert_int_equal(rows[0].user_id, people[0].id);
    assert_int_equal(packet_grabs_between(app->stores.db, arena, packet.id, 1, 3, &rows, &count), ST_OK);
    assert_int_equal(count, 2);
    assert_int_equal(rows[0].share_no, 1);
    assert_int_equal(packet_grab_of(app->stores.db, arena, packet.id, people[2].id, &own), ST_OK);
    assert_int_equal(own.share_no, 2);
    assert_int_equal(packet_grab_of(app->stores.db, arena, packet.id, sender.id, &own), ST_NOT_FOUND);
}

static void a_packet_is_read_back_from_its_row(void **state)
{
    (void)state;
    struct packet in = packet_of(&sender, PACKET_LUCKY, 777, 7, 1767225600123);
    struct packet out;
    assert_int_equal(packet_find(app->stores.db, arena, in.id, &out), ST_OK);
    assert_int_equal(out.amount_fen, 777);
    assert_int_equal(out.count, 7);
    assert_int_equal(out.share_max_fen, 20000);
    assert_int_equal(out.best_share_no, in.best_share_no);
    assert_memory_equal(out.seed, in.seed, sizeof in.seed);
    assert_memory_equal(out.commitment, in.commitment, sizeof in.commitment);
    assert_int_equal(out.created_ms, in.created_ms);
    assert_int_equal(out.expires_ms, in.expires_ms);
    assert_int_equal(out.finished_ms, 0);
    assert_int_equal(out.receiver_id, 0);
    assert_true(str_equal(out.greeting, in.greeting));
    assert_int_equal(packet_find_by_key(app->stores.db, arena, sender.id, in.request_key, &out), ST_OK);
    assert_int_equal(out.id, in.id);
    assert_int_equal(packet_find_by_key(app->stores.db, arena, sender.id + 1, in.request_key, &out), ST_NOT_FOUND);
    assert_int_equal(packet_insert(app->stores.db, &in), ST_EXISTS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(received_pages_show_every_grab_once_even_within_one_ms),
        cmocka_unit_test(a_full_last_page_has_no_next),
        cmocka_unit_test(years_follow_the_time_zone_and_have_totals_of_their_own),
        cmocka_unit_test(months_follow_the_time_zone_and_the_shown_year),
        cmocka_unit_test(the_chart_scales_to_the_largest_month_and_needs_three_months),
        cmocka_unit_test(rows_follow_the_total_and_are_grouped_by_month),
        cmocka_unit_test(the_default_year_is_the_current_one),
        cmocka_unit_test(a_malformed_year_or_cursor_is_refused),
        cmocka_unit_test(records_of_other_users_are_not_shown),
        cmocka_unit_test(the_best_share_is_shown_only_when_the_packet_is_finished),
        cmocka_unit_test(sent_items_show_state_and_refund),
        cmocka_unit_test(the_html_pages_show_the_same),
        cmocka_unit_test(home_shows_guests_a_welcome),
        cmocka_unit_test(home_shows_balance_and_the_latest_five_of_each),
        cmocka_unit_test(a_seed_is_hidden_until_the_packet_is_over),
        cmocka_unit_test(a_draw_that_was_tampered_with_is_reported),
        cmocka_unit_test(a_large_draw_is_shown_a_thousand_shares_a_page),
        cmocka_unit_test(a_stranger_learns_of_a_packet_for_others_that_its_draw_is_for_them),
        cmocka_unit_test(an_unknown_packet_has_no_verify_page),
        cmocka_unit_test(grabs_are_paged_by_share_newest_first),
        cmocka_unit_test(a_packet_is_read_back_from_its_row),
    };
    return cmocka_run_group_tests_name("records", tests, setup, teardown);
}
