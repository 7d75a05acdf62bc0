/* The filters of the records pages on a real database: what they find, page by page, and how many rows they read. */
#include <inttypes.h>

#include "base/clock.h"
#include "base/random.h"
#include "packet/record_search.h"
#include "records/records.h"
#include "support/test.h"
#include "test_packet_app.h"
#include "user/store.h"

/* A note of the longest length, as an address has it: 50 characters 快. */
#define TEN "%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB%E5%BF%AB"
#define FIFTY TEN TEN TEN TEN TEN

/* So many rows that reading all of them would exceed each limit of rows. */
enum { MANY = 5000 };

static struct person ming, hong, gang;        /* ming sends to hong and gang */
static struct person many_sender, many_taker; /* of MANY records, all of 2025 */
static uint64_t next_id;
static int64_t first_day_ms; /* of 2025 */
static const int64_t DAY_MS = 86400000;

/* ---- rows, as send and settlement write them ---- */

struct sent {
    const char *kind, *state, *greeting;
    int64_t amount_fen, created_ms;
    const struct person *receiver; /* of an exclusive packet */
};

static uint64_t packet_add(const struct person *sender, const struct sent *p)
{
    packet_row_add(app, next_id,
                   &(struct packet_row){ .sender = sender,
                                         .receiver = p->receiver,
                                         .kind = p->kind,
                                         .state = p->state,
                                         .greeting = p->greeting,
                                         .amount_fen = p->amount_fen,
                                         .count = 2,
                                         .grabbed_count = strcmp(p->state, "finished") == 0 ? 2 : 0,
                                         .created_ms = p->created_ms,
                                         .expires_ms = INT64_C(4102444800000) });
    return next_id++;
}

static int setup(void **state)
{
    if (app_setup(state) != 0)
        return 1;
    person_new(app, &ming, 0);
    person_new(app, &hong, 0);
    person_new(app, &gang, 0);
    next_id = (UINT64_C(1) << 62) + (random_u64() >> 4);
    first_day_ms = clock_zone_year_start_ms(2025);
    person_new(app, &many_sender, 0);
    person_new(app, &many_taker, 0);
    records_many(app, &many_sender, &many_taker, first_day_ms, MANY);

    const struct sent rows[] = {
        { "lucky", "open", "新年快乐", 1000, first_day_ms, NULL },
        { "even", "finished", "Happy NEW Year", 2000, first_day_ms + DAY_MS, NULL },
        { "exclusive", "open", "生日快乐", 520, first_day_ms + 2 * DAY_MS, &hong },
        { "lucky", "expired", "100% 快乐_", 3000, first_day_ms + 3 * DAY_MS - 1, NULL },
        { "lucky", "closed", "ｈａｐｐｙ", 4000, clock_zone_year_start_ms(2026), NULL },
    };
    EACH (row, rows) {
        uint64_t id = packet_add(&ming, row);
        if (strcmp(row->kind, "exclusive") != 0)
            grab_row_add(app, id, 0, &gang, row->amount_fen / 2, row->created_ms + 1);
    }
    const struct sent of_hong = { "lucky", "open", "红的", 800, first_day_ms + DAY_MS, NULL };
    grab_row_add(app, packet_add(&hong, &of_hong), 0, &gang, 800, first_day_ms + DAY_MS + 5);
    return 0;
}

/* Packets of this test have rows but no transfers, so an audit by another test must not find them. */
static int teardown(void **state)
{
    bool done = packets_forget(app, &ming);
    return app_teardown(state) != 0 || !done;
}

static void assert_found(const struct person *p, const char *uri, size_t count, const char *greeting)
{
    visit_says(records_of(app, p, uri, true), 200, text_printf("%zu × \"greeting\":", count), "\"next\":null",
               greeting != NULL ? greeting : "\"items\":");
}

/* ---- what is found ---- */

TEST(sent_packets_are_found_by_each_filter)
{
    const char *uri;
    assert_found(&ming, "/records/sent?kind=lucky", 3, NULL); /* of all years */
    assert_found(&ming, "/records/sent?kind=exclusive", 1, "生日快乐");
    assert_found(&ming, "/records/sent?state=open", 2, "新年快乐");
    assert_found(&ming, "/records/sent?state=finished", 1, "Happy NEW Year");
    assert_found(&ming, "/records/sent?state=expired", 2, "100% 快乐_");
    assert_found(&ming, "/records/sent?q=%E5%BF%AB%E4%B9%90", 3, NULL);
    assert_found(&ming, "/records/sent?q=hAPPy", 2, "ｈａｐｐｙ"); /* capitals and full width are the same */
    assert_found(&ming, "/records/sent?q=%25", 1, "100% 快乐_");   /* no pattern */
    assert_found(&ming, "/records/sent?q=_", 1, "100% 快乐_");
    sql_run(app, "UPDATE packet SET note = 'Expenses of MAY' WHERE sender_id = ? AND kind = 'even'", DB_U64(ming.id));
    assert_found(&ming, "/records/sent?q=may", 1, "\"note\":\"Expenses of MAY\"");
    assert_found(&gang, "/records/received?q=may", 0, NULL); /* only the packet's sender can search the note */
    sql_run(app, "UPDATE packet SET note = REPEAT('快', 50) WHERE sender_id = ? AND kind = 'even'", DB_U64(ming.id));
    assert_found(&ming, "/records/sent?q=" FIFTY, 1, "\"note\":\"快快");
    assert_found(&ming, "/records/sent?min=20", 3, NULL);
    assert_found(&ming, "/records/sent?max=10", 2, NULL);
    assert_found(&ming, "/records/sent?min=10&max=20", 2, NULL);
    uri = text_printf("/records/sent?person=%s", hong.username); /* a named receiver who has not opened it */
    assert_found(&ming, uri, 1, "生日快乐");
    sql_run(app,
            "INSERT INTO packet_receiver (packet_id, user_id, name, expires_ms) "
            "SELECT id, ?, 'hong', expires_ms FROM packet WHERE sender_id = ? AND kind = 'even'",
            DB_U64(hong.id), DB_U64(ming.id));
    assert_found(&ming, uri, 2, "Happy NEW Year");               /* one of several named receivers */
    uri = text_printf("/records/sent?person=%s", gang.username); /* a user with a share */
    assert_found(&ming, uri, 4, NULL);
}

TEST(received_shares_are_found_by_each_filter)
{
    const char *uri;
    assert_found(&gang, "/records/received?kind=even", 1, "Happy NEW Year");
    assert_found(&gang, "/records/received?state=open", 2, "红的");
    assert_found(&gang, "/records/received?q=%E7%BA%A2", 1, "红的");
    assert_found(&gang, "/records/received?min=10", 3, NULL); /* of the share, not of the packet */
    assert_found(&gang, "/records/received?max=5", 1, "新年快乐");
    assert_found(&gang, text_printf("/records/received?person=%s", ming.username), 4, NULL);
    uri = text_printf("/records/received?person=%s", hong.username);
    assert_found(&gang, uri, 1, "红的");
    assert_found(&hong, uri, 0, NULL);
}

TEST(days_include_both_ends_in_the_service_zone)
{
    assert_found(&ming, "/records/sent?from=2025-01-02", 4, NULL);
    assert_found(&ming, "/records/sent?to=2025-01-02", 2, NULL);
    assert_found(&ming, "/records/sent?from=2025-01-03&to=2025-01-03", 2, "100% 快乐_");
    assert_found(&ming, "/records/sent?from=2025/1/3&to=+2025.01.03", 2, "100% 快乐_");
    assert_found(&ming, "/records/sent?from=2025-01-04&to=2025-12-31", 0, NULL);
    assert_found(&ming, "/records/sent?from=2025-12-31&to=2026-01-01", 1, NULL);
    assert_found(&ming, "/records/sent?from=2025-01-02&year=2025", 3, NULL);
    assert_found(&ming, "/records/sent?from=2026-01-01&year=2025", 0, NULL);
}

TEST(filters_hold_together_and_with_a_year)
{
    assert_found(&ming, "/records/sent?kind=lucky&year=2025", 2, NULL);
    assert_found(&ming, "/records/sent?kind=lucky&year=2026", 1, NULL);
    assert_found(&ming, "/records/sent?kind=lucky&state=expired&q=%E5%BF%AB&min=30&max=30", 1, "100% 快乐_");
    assert_found(&ming, "/records/sent?kind=even&state=expired", 0, NULL);
    assert_found(
        &gang, text_printf("/records/received?person=%s&kind=lucky&from=2025-01-01&to=2025-01-31&min=5", ming.username),
        2, NULL);
    /* A form without anything typed in is the list of the year. */
    assert_found(&ming, "/records/sent?year=2025&kind=&state=&person=&q=&from=&to=&min=&max=", 4, NULL);
}

TEST(a_malformed_filter_has_a_message_beside_its_field)
{
    static const struct {
        const char *query, *field;
    } bad[] = {
        { "year=abc", "year" },
        { "year=26", "year" },
        { "year=-025", "year" },
        { "year=20255", "year" },
        { "year=0999", "year" },
        { "year=2025x", "year" },
        { "year=9999", "year" },
        { "year=1999&kind=even", "year" },
        { "kind=Lucky", "kind" },
        { "state=closed", "state" },
        { "person=nobody-of-this-name", "person" },
        { "person=a%20b", "person" },
        { "q=%E5%BF%AB" FIFTY, "q" },
        { "from=2025-02-29", "from" },
        { "from=2025-1", "from" },
        { "from=1999-12-31", "from" },
        { "to=2025-13-01", "to" },
        { "to=2025-01-01T00:00", "to" },
        { "from=2025-01-02&to=2025-01-01", "to" },
        { "min=1.234", "min" },
        { "min=-1", "min" },
        { "max=0", "max" },
        { "min=2&max=1", "max" }
    };
    EACH (one, bad) {
        const char *uri = text_printf("/records/sent?%s", one->query);
        visit_says(records_of(app, &ming, uri, true), 422,
                   "1 × \"field\":", text_printf("{\"field\":\"%s\",", one->field));
        visit_says(records_of(app, &ming, uri, false), 422, text_printf("id=\"%s_error\"", one->field),
                   "<details class=\"filters\" open>", LACKS, "class=\"row\"");
    }
    for (int json = 0; json < 2; json++) {
        visit_says(records_of(app, &ming, "/records/sent?person=nobody-of-this-name", json), 422,
                   "没有用户 nobody-of-this-name，");
        visit_says(records_of(app, &ming, "/records/received?person=%20a%20b", json), 422, "没有用户 a b，");
    }
    visit_says(records_of(app, &ming, "/records/sent?kind=lucky&before=x", true), 400);
    visit_says(records_of(app, &ming, "/records/sent?year=", true), 200);
}

TEST(one_of_ones_people_is_found_by_the_nickname_too)
{
    const char *from_ming = text_printf("/records/received?person=%s", ming.nickname);
    const char *to_gang = text_printf("/records/sent?person=%s", gang.nickname);
    assert_found(&ming, to_gang, 4, NULL);
    assert_found(&gang, from_ming, 4, NULL);
    visit_says(records_of(app, &hong, from_ming, true), 422); /* hong has never exchanged anything with ming */
    /* The page offers people, and shows the chosen one by the nickname. */
    visit_says(records_of(app, &ming, to_gang, false), 200,
               text_printf("href=\"/records/sent?person=%s\"", hong.username),
               text_printf("<option value=\"%s\">%s</option>", gang.username, gang.nickname),
               text_printf("<bdi translate=\"no\">%s</bdi></a></li>", gang.nickname),
               "href=\"/records/sent\" aria-current=\"true\"");
}

TEST(a_nickname_of_several_people_is_refused)
{
    struct person twin = person_with(0);
    const struct sent to_twin = { "lucky", "open", "双", 100, first_day_ms, NULL };
    grab_row_add(app, packet_add(&ming, &to_twin), 0, &twin, 100, first_day_ms + 1);
    const struct str same = str_from(gang.nickname);
    assert_int_equal(user_rename(app->stores.db, twin.id, &same, NULL), ST_OK);
    visit_says(records_of(app, &ming, text_printf("/records/sent?person=%s", gang.nickname), true), 422, "请填用户名");
}

/* ---- the page ---- */

static void assert_says(const struct person *p, const char *uri, const char *text)
{
    visit_says(records_of(app, p, uri, false), 200, text);
}

/* The sum of a person's shares, not of the packets; without shares that were given back. */
TEST(the_sum_of_a_person_is_what_the_person_kept)
{
    const char *of_gang = text_printf("/records/sent?person=%s", gang.username);
    const char *of_hong = text_printf("/records/sent?person=%s&kind=exclusive", hong.username);
    const char *from_ming = text_printf("/records/received?person=%s", ming.username);
    assert_says(&ming, of_gang,
                text_printf("共4个 · <bdi translate=\"no\">%s</bdi>一共领取50.00\u2060元</p>", gang.nickname));
    assert_says(&ming, of_gang, "<small>对方领取5.00\u2060元</small>");
    assert_says(&ming, of_hong, "</bdi>一共领取0.00\u2060元</p>"); /* her exclusive packet, not opened */
    assert_says(&gang, from_ming, "共4个 · 合计50.00\u2060元</p>");
    sql_run(app,
            "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, returned_ms) "
            "SELECT packet_id, share_no, user_id, amount_fen, grabbed_ms + 1 FROM grab "
            "WHERE user_id = ? AND amount_fen = 500",
            DB_U64(gang.id));
    assert_says(&ming, of_gang, "</bdi>一共领取45.00\u2060元</p>");
    assert_says(&gang, from_ming, "共4个 · 合计45.00\u2060元</p>");
    sql_run(app, "DELETE FROM share_return WHERE user_id = ?", DB_U64(gang.id));
}

TEST(of_one_person_both_directions_are_summed)
{
    const struct sent of_gang = { "lucky", "open", "回礼", 900, first_day_ms + DAY_MS, NULL };
    uint64_t id = packet_add(&gang, &of_gang);
    grab_row_add(app, id, 0, &ming, 333, first_day_ms + DAY_MS + 7);
    const char *to_gang = text_printf("/records/sent?person=%s&kind=lucky", gang.username);
    const char *from_gang = text_printf("/records/received?person=%s&kind=lucky", gang.username);
    assert_says(&ming, to_gang,
                text_printf("我发出的 · 共3个 · <bdi translate=\"no\">%s</bdi>一共领取40.00\u2060元</p>", gang.nickname));
    assert_says(&ming, to_gang,
                text_printf("<a href=\"/records/received?kind=lucky&amp;person=%s\">我收到的 · 共1个 · 合计3.33\u2060元</a>",
                            gang.username));
    assert_says(&ming, from_gang, "<p class=\"found\">我收到的 · 共1个 · 合计3.33\u2060元</p>");
    assert_says(&ming, from_gang, "</bdi>一共领取40.00\u2060元</a>");
    /* A side on which the filter finds nothing is not shown; when several people have the name, there is only one
     * direction. */
    assert_says(&gang, text_printf("/records/received?person=%s&kind=even", ming.username),
                "<p class=\"found\">共1个 · 合计10.00\u2060元</p>");
    visit_says(records_of(app, &ming, "/records/sent?kind=lucky", false), 200, "1 × class=\"found\"");
    sql_run(app, "DELETE FROM grab WHERE packet_id = ?", DB_U64(id));
    sql_run(app, "DELETE FROM packet WHERE id = ?", DB_U64(id));
}

TEST(a_search_of_all_years_says_so)
{
    assert_says(&ming, "/records/sent?kind=lucky", "符合条件的红包 · 全部年份</h2>");
    assert_says(&ming, "/records/sent?year=2025&kind=lucky", "符合条件的红包 · 2025年</h2>");
    /* A search that finds nothing in a year offers all years. */
    assert_says(&ming, "/records/sent?year=2026&kind=even", "<a href=\"/records/sent?kind=even\">在全部年份中找</a>");
    /* Days belong to the site's zone, which the page names. */
    assert_says(&ming, "/records/sent?from=2025-01-02", "class=\"hint\">月份和日期均按北京时间计。</p>");
    visit_says(records_of(app, &ming, "/records/sent?from=2025-01-02", false), 200, LACKS, "全部年份");
    visit_says(records_of(app, &ming, "/records/sent?year=2025", false), 200, LACKS, "全部年份");
}

TEST(the_page_has_a_chip_for_each_filter_that_leaves_it_out)
{
    visit_says(records_of(app, &ming, "/records/sent?year=2025&kind=lucky&state=&q=%3Cb%3E&min=1", false), 200,
               "4 × class=\"chip gone\"", "href=\"/records/sent?kind=lucky&amp;q=%3Cb%3E&amp;min=1\"",
               "href=\"/records/sent?year=2025&amp;q=%3Cb%3E&amp;min=1\"",
               "href=\"/records/sent?year=2025&amp;kind=lucky&amp;min=1\"",
               "href=\"/records/sent?year=2025&amp;kind=lucky&amp;q=%3Cb%3E\"", "&lt;b&gt;", "没有符合条件的红包",
               "清除筛选条件", "<option value=\"lucky\" selected>", "name=\"year\" value=\"2025\"");
    visit_says(records_of(app, &ming, "/records/sent?year=2025", false), 200, "0 × class=\"chip gone\"", LACKS,
               "清除筛选条件");
}

/* In the last month of a year, too. Other periods have a chip for each of their days. */
TEST(a_period_of_one_whole_month_is_one_chip)
{
    visit_says(records_of(app, &ming, "/records/sent?from=2025-01-01&to=2025-01-31", false), 200,
               "1 × class=\"chip gone\"", ">2025年1月</a>");
    visit_says(records_of(app, &ming, "/records/sent?from=2025-12-01&to=2025-12-31", false), 200,
               "1 × class=\"chip gone\"", ">2025年12月</a>");
    EACH_TEXT (period, "from=2025-01-02&to=2025-01-31", "from=2025-01-01&to=2025-01-30",
               "from=2025-12-01&to=2026-12-31", "from=2025-01-01&to=2025-12-31", "from=2024-12-01&to=2025-01-31")
        visit_says(records_of(app, &ming, text_printf("/records/sent?%s", period), false), 200,
                   "2 × class=\"chip gone\"");
    EACH_TEXT (half, "from=2025-01-01", "to=2025-01-31", "kind=even")
        visit_says(records_of(app, &ming, text_printf("/records/sent?%s", half), false), 200, "1 × class=\"chip gone\"",
                   LACKS, ">2025年1月</a>", ">1970年1月</a>");
}

TEST(totals_of_all_years_stand_beside_those_of_the_year)
{
    struct person p = person_with(0);
    const struct db_param id = DB_U64(p.id);
    sql_run(app,
            "INSERT INTO user_month (user_id, year, month, sent_count, sent_fen, received_count, received_fen,"
            " best_count) VALUES (?, 2024, 2, 2, 300, 5, 50, 1), (?, 2025, 1, 1, 100, 0, 0, 0),"
            " (?, 2025, 7, 3, 70, 1, 9, 1)",
            id, id, id);
    visit_says(records_of(app, &p, "/records/sent?year=2025", true), 200,
               "\"year\":2025,\"total_fen\":170,\"count\":4,\"best_count\":0,"
               "\"all_time\":{\"total_fen\":470,\"count\":6,\"best_count\":0}");
    visit_says(records_of(app, &p, "/records/received?year=2025", true), 200,
               "\"year\":2025,\"total_fen\":9,\"count\":1,\"best_count\":1,"
               "\"all_time\":{\"total_fen\":59,\"count\":6,\"best_count\":2}");
    visit_says(records_of(app, &p, "/records/sent?year=2025", false), 200, "历年合计</dt><dd>4.70\u2060元</dd>",
               "<nav class=\"years scroll\"");
    /* When a side has only one year, the totals of all years would repeat its figures. */
    sql_run(app, "UPDATE user_month SET sent_count = 0, sent_fen = 0 WHERE user_id = ? AND year = 2024", DB_U64(p.id));
    visit_says(records_of(app, &p, "/records/sent?year=2025", false), 200, LACKS, "历年合计");
    /* A search shows the years as links, and one more link for all years. */
    visit_says(records_of(app, &p, "/records/sent?kind=even", false), 200,
               "<a class=\"chip\" href=\"/records/sent?kind=even\" aria-current=\"true\">全部年份");
    visit_says(records_of(app, &p, "/records/sent?kind=even&year=2024", false), 200,
               "<a class=\"chip\" href=\"/records/sent?kind=even\">全部年份");
    sql_run(app, "DELETE FROM user_month WHERE user_id = ?", DB_U64(p.id));
}

/* ---- many records ---- */

TEST(a_search_ends_after_some_records_and_continues_there)
{
    static const struct {
        bool sent;
        const char *query;
        size_t found, pages_min;
    } walks[] = { { true, "q=%E7%A8%80%E6%9C%89", MANY / 1000, MANY / RECORD_SEARCH_ROWS_MAX },
                  { false, "q=%E7%A8%80%E6%9C%89", MANY / 1000, MANY / RECORD_SEARCH_ROWS_MAX },
                  { false, "kind=lucky", 0, MANY / RECORD_SEARCH_ROWS_MAX },
                  { false, "min=1&kind=even", MANY, MANY / RECORDS_PAGE_ITEMS } };
    EACH (walk, walks) {
        size_t pages;
        const char *uri = text_printf("/records/%s?%s", walk->sent ? "sent" : "received", walk->query);
        assert_int_equal(records_all_pages(app, walk->sent ? &many_sender : &many_taker, uri, "\"greeting\":", &pages),
                         walk->found);
        assert_in_range(pages, walk->pages_min, walk->pages_min + 1);
    }
    visit_says(records_of(app, &many_taker, "/records/received?kind=lucky", false), 200, "继续往前找", "已查到", LACKS,
               "没有符合条件的红包");
    visit_says(records_of(app, &many_taker, "/records/received?kind=even", false), 200,
               text_printf("%d × class=\"row\"", RECORDS_PAGE_ITEMS), "共999个 · 合计999.00\u2060元 · 只算了最近的999条",
               "rel=\"next\"");
    visit_says(records_of(app, &ming, "/records/sent?kind=lucky&year=2025", false), 200, "class=\"found\">共", LACKS,
               "只算了");
}

/* A row of the list costs its key, its packet, a look-up of returns, and with a person a look-up of receivers and
 * shares. */
TEST(no_filter_reads_many_rows_more_than_it_shows)
{
    enum { PAGE_ROWS = 5 * (RECORDS_PAGE_ITEMS + 1), SEARCH_ROWS = 5 * RECORD_SEARCH_ROWS_MAX };
    char id[PUBLIC_ID_TEXT_MAX];
    public_id_encode(&app->id_key, 1, id);
    for (int sent = 0; sent < 2; sent++) {
        const struct person *p = sent ? &many_sender : &many_taker, *other = sent ? &many_taker : &many_sender;
        const struct {
            const char *query;
            int64_t rows_max;
        } cases[] = {
            /* all match */
            { "year=2025", PAGE_ROWS },
            { "kind=even", PAGE_ROWS },
            { "state=expired", PAGE_ROWS },
            { "q=%E5%B8%B8", PAGE_ROWS },
            { "min=1", PAGE_ROWS },
            { "max=1", PAGE_ROWS },
            { "from=2025-01-01", PAGE_ROWS },
            { "to=2025-12-31", PAGE_ROWS },
            { "kind=even&min=1&max=1&from=2025-01-01", PAGE_ROWS },
            /* none */
            { "kind=lucky", SEARCH_ROWS },
            { "state=open", SEARCH_ROWS },
            { "q=nothing", SEARCH_ROWS },
            { "min=2", SEARCH_ROWS },
            { "max=0.01", SEARCH_ROWS },
            { "kind=lucky&state=open&q=nothing&min=2", SEARCH_ROWS },
            { text_printf("person=%s", other->username), 8 * (RECORDS_PAGE_ITEMS + 1) },
            { text_printf("person=%s", ming.username), 8 * RECORD_SEARCH_ROWS_MAX },
            /* days long ago, and pages deep in the list, are reached by the key */
            { "from=2025-01-01&to=2025-01-01&kind=even", PAGE_ROWS },
            { text_printf("kind=even&before=%lld-%s", (long long)(first_day_ms + MANY / 4 * 60000), id), PAGE_ROWS },
        };
        EACH (row, cases) {
            const char *uri = text_printf("/records/%s?%s", sent ? "sent" : "received", row->query);
            int64_t rows = sql_rows_read(app);
            visit_says(records_of(app, p, uri, true), 200);
            rows = sql_rows_read(app) - rows;
            if (rows > row->rows_max)
                fail_msg("%s reads %" PRId64 " rows", uri, rows);
        }
    }
}

TESTS(setup, teardown)
