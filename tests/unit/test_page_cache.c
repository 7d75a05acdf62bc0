/* pages/page_cache: the packets that are cacheable, the answers from the cache, its limits, and its pages. */
#include "live/grab.h"
#include "live/live.h"
#include "live/view.h"
#include "packet/grab.h"
#include "packet/view.h"
#include "pages/page_cache.h"
#include "pages/show_model.h"
#include "support/assert_text.h"
#include "support/test_site.h"
#include "web/respond.h"

enum { SENDER = 10001, FIRST_USER = 20000, STRANGER = 30000, SHARES = 7 };

static struct grab rows[LIVE_ROWS_MAX];

/* Finished and settled, newest first: share n went to FIRST_USER + n for 100 + n fen. */
static struct cached_page finished_make(uint64_t id, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t share_no = count - 1 - i;
        rows[i] = (struct grab){ .share_no = share_no,
                                 .user_id = FIRST_USER + share_no,
                                 .nickname = STR("某,人"),
                                 .amount_fen = 100 + share_no,
                                 .grabbed_ms = 1700000000000 + share_no,
                                 .settled = true };
    }
    return (struct cached_page){ .view = { .packet = { .id = id,
                                                       .sender_id = SENDER,
                                                       .sender_name = STR("小明"),
                                                       .receiver_name = STR(""),
                                                       .greeting = STR("恭喜发财"),
                                                       .kind = PACKET_LUCKY,
                                                       .state = PACKET_FINISHED,
                                                       .count = count,
                                                       .grabbed_count = count },
                                           .over = true,
                                           .final = true,
                                           .rows = rows,
                                           .row_count = count },
                                 .rows = { { STR("<li>"), STR("<li lang=en>") }, STR("[]") },
                                 .complete = true };
}

/* Finished, but not settled: the newest 3 rows of a packet with count shares. */
static struct cached_page unsettled_make(uint64_t id, uint32_t count)
{
    struct cached_page p = finished_make(id, count);
    p.complete = p.view.final = false;
    p.view.row_count = 3;
    p.view.next = count - 3;
    p.view.packet.finished_ms = 1700000000000 + count - 1;
    for (uint32_t i = 0; i < count; i++)
        rows[i].settled = false;
    return p;
}

TEST(the_rows_of_a_finished_packet_are_kept_before_it_is_settled)
{
    struct page_cache *cache = page_cache_new(4, 1 << 20);
    struct cached_page p = unsettled_make(1, SHARES);
    assert_false(page_cacheable(&p.view));
    assert_true(page_rows_keepable(&p.view));
    page_cache_put(cache, &p);
    const struct cached_page *kept = page_cache_find(cache, 1);
    assert_non_null(kept);
    assert_ints({ kept->complete, false }, { kept->view.row_count, 3 }, { kept->view.next, SHARES - 3 });
    assert_text(kept->rows.html[0], "<li>");

    struct packet_view now = p.view;
    now.row_count = 0;
    assert_true(page_rows_fit(kept, &now));
    now.packet.finished_ms++; /* Redis lost the last grab and gave its share to another user */
    assert_false(page_rows_fit(kept, &now));
    now = p.view;
    now.busy = true;
    assert_false(page_rows_fit(kept, &now));

    struct cached_page whole = finished_make(1, SHARES);
    page_cache_put(cache, &whole); /* settled: replaces the rows */
    assert_true(page_cache_find(cache, 1)->complete);
    page_cache_put(cache, &p);
    assert_true(page_cache_find(cache, 1)->complete);
    page_cache_free(cache);
}

TEST(only_users_without_a_share_are_served_and_not_for_long)
{
    enum { NOW_MS = 100000 };
    struct cached_page p = unsettled_make(1, SHARES);
    p.checked_ms = NOW_MS;
    assert_false(page_serves(&p, STRANGER, NOW_MS)); /* it has not all grabs: the user may have a share */
    p.view.row_count = SHARES;
    assert_true(page_serves(&p, STRANGER, NOW_MS));
    assert_true(page_serves(&p, 0, NOW_MS));
    assert_false(page_serves(&p, FIRST_USER + 1, NOW_MS));
    assert_false(page_serves(&p, STRANGER, NOW_MS + PAGE_CACHE_CHECK_MS));
    assert_false(page_serves(&p, STRANGER, NOW_MS - 1));
    struct page_cache *cache = page_cache_new(4, 1 << 20);
    page_cache_put(cache, &p);
    page_cache_checked(cache, 1, NOW_MS + 500);
    assert_true(page_serves(page_cache_find(cache, 1), STRANGER, NOW_MS + PAGE_CACHE_CHECK_MS));
    page_cache_free(cache);
    p = finished_make(1, SHARES); /* its marks may change */
    p.checked_ms = NOW_MS;
    assert_true(page_serves(&p, STRANGER, NOW_MS));
    assert_false(page_serves(&p, STRANGER, NOW_MS + PAGE_CACHE_CHECK_MS));
    assert_false(page_serves(&p, FIRST_USER + 1, NOW_MS));
    assert_false(page_serves(&p, SENDER, NOW_MS));
}

TEST(an_entry_has_no_text_that_is_only_for_the_sender)
{
    struct page_cache *cache = page_cache_new(4, 1 << 20);
    struct cached_page p = finished_make(1, SHARES);
    p.view.packet.note = STR("team lunch");
    p.view.packet.cover = STR("birthday");
    page_cache_put(cache, &p);
    const struct packet *kept = &page_cache_find(cache, 1)->view.packet;
    assert_text(kept->cover, "birthday");
    assert_text(kept->note, "");
    page_cache_free(cache);
}

TEST(an_entry_with_other_marks_is_replaced_but_never_by_an_older_copy)
{
    struct cached_page old = finished_make(1, SHARES), marked = old;
    assert_false(page_replaces(&marked, &old));
    marked.view.packet.returned_shares = STR("2");
    assert_false(page_rows_fit(&old, &marked.view));
    assert_true(page_replaces(&marked, &old));
    marked = old;
    marked.view.packet.thanks_count = 1;
    assert_true(page_replaces(&marked, &old));
    marked.complete = false; /* a copy in which the packet is not settled */
    assert_false(page_replaces(&marked, &old));

    struct packet_view open = old.view;
    open.over = open.final = false;
    open.packet.state = PACKET_OPEN;
    assert_false(page_outlives(&old, &old.view));
    assert_true(page_outlives(&old, &open));
    old.complete = false;
    assert_false(page_outlives(&old, &open));
}

/* After the change, the packet p, made by make, must not pass the check. */
#define MUST_NOT(check, make, change)                                                                                  \
    do {                                                                                                               \
        struct cached_page p = make(1, SHARES);                                                                        \
        change;                                                                                                        \
        if (check(&p.view))                                                                                            \
            fail_msg("%s after %s", #check, #change);                                                                  \
    } while (0)

TEST(only_packets_that_never_change_are_cacheable_and_only_finished_ones_have_rows_to_keep)
{
    struct cached_page page = finished_make(1, SHARES);
    assert_true(page_cacheable(&page.view));
    assert_false(page_needs_all_rows(&page.view));
    MUST_NOT(page_cacheable, finished_make, rows[3].settled = false);
    MUST_NOT(page_cacheable, finished_make, p.view.busy = true);
    MUST_NOT(page_cacheable, finished_make, p.view.packet.state = PACKET_EXPIRED);
    MUST_NOT(page_cacheable, finished_make, p.view.over = false);
    MUST_NOT(page_cacheable, finished_make, p.view.final = false); /* the published position also passes dead letters */
    MUST_NOT(page_cacheable, finished_make, p.view.row_count = SHARES - 1);
    page = finished_make(1, SHARES);
    page.view.row_count = SHARES - 1;
    assert_true(page_needs_all_rows(&page.view));
    page.view.final = false;
    assert_true(page_needs_all_rows(&page.view)); /* before the settlement its rows are kept */
    page.view.final = true;
    rows[0].settled = false;
    assert_false(page_needs_all_rows(&page.view));
    MUST_NOT(page_rows_keepable, unsettled_make, p.view.busy = true);
    MUST_NOT(page_rows_keepable, unsettled_make, p.view.over = false);
    MUST_NOT(page_rows_keepable, unsettled_make, p.view.packet.state = PACKET_EXPIRED);
    MUST_NOT(page_rows_keepable, unsettled_make, p.view.row_count = 0);
    MUST_NOT(page_rows_keepable, unsettled_make, p.view.rows++); /* not the newest ones */
    /* A share that was given back adds a row. */
    struct cached_page p = finished_make(1, SHARES);
    p.view.packet.count = SHARES - 1;
    assert_false(page_cacheable(&p.view));
    p.view.packet.returned_count = 1;
    assert_true(page_cacheable(&p.view));
    assert_true(page_rows_keepable(&p.view));
    p.view.row_count--;
    assert_true(page_needs_all_rows(&p.view));
}

TEST(a_packet_with_more_shares_than_a_view_is_never_probed)
{
    struct cached_page p = finished_make(1, LIVE_ROWS_MAX);
    p.view.row_count = 50;
    assert_true(page_needs_all_rows(&p.view));
    p.view.packet.count = LIVE_ROWS_MAX + 1;
    assert_false(page_needs_all_rows(&p.view));
    struct page_cache *cache = page_cache_new(1, 1000);
    unsigned probes = 0;
    for (int i = 0; i < 10 * PAGE_CACHE_PROBE_EVERY; i++) {
        probes += page_cache_probe_due(cache, LIVE_ROWS_MAX);
        assert_false(page_cache_probe_due(cache, LIVE_ROWS_MAX + 1));
    }
    assert_int_equal(probes, 10);
    page_cache_free(cache);
}

TEST(a_cached_packet_is_a_copy)
{
    struct page_cache *cache = page_cache_new(4, 1 << 16);
    char name[] = "阿红", html[] = "<li>1</li>";
    struct cached_page p = finished_make(77, SHARES);
    p.view.packet.sender_name = str_from(name);
    p.rows.html[LANGUAGE_ZH_CN] = str_from(html);
    p.view.has_mine = true; /* the view of one visitor */
    page_cache_put(cache, &p);
    memset(name, 'x', strlen(name));
    memset(html, 'x', strlen(html));
    memset(rows, 0, sizeof rows);
    assert_null(page_cache_find(cache, 78));
    const struct cached_page *cached = page_cache_find(cache, 77);
    assert_non_null(cached);
    assert_text(cached->view.packet.sender_name, "阿红");
    assert_text(cached->view.packet.greeting, "恭喜发财");
    assert_text(cached->view.packet.receiver_name, "");
    assert_text(cached->rows.html[LANGUAGE_ZH_CN], "<li>1</li>");
    assert_text(cached->rows.json, "[]");
    assert_false(cached->view.has_mine);
    assert_int_equal(cached->view.row_count, SHARES);
    for (uint32_t i = 0; i < SHARES; i++) {
        assert_int_equal(cached->view.rows[i].user_id, FIRST_USER + SHARES - 1 - i);
        assert_text(cached->view.rows[i].nickname, "某,人");
    }
    page_cache_free(cache);
}

TEST(a_user_with_a_share_gets_it_and_all_others_get_empty)
{
    struct cached_page p = finished_make(1, SHARES);
    for (uint32_t i = 0; i < SHARES; i++) {
        struct live_grab g = cached_page_grab(&p, FIRST_USER + i);
        assert_ints({ g.code, LIVE_ALREADY }, { g.share_no, i }, { g.amount_fen, 100 + i });
    }
    assert_int_equal(cached_page_grab(&p, STRANGER).code, LIVE_EMPTY);
    assert_int_equal(cached_page_grab(&p, SENDER).code, LIVE_EMPTY);
    p = finished_make(1, 1);
    p.view.packet.kind = PACKET_EXCLUSIVE;
    p.view.packet.receiver_id = FIRST_USER;
    assert_int_equal(cached_page_grab(&p, FIRST_USER).code, LIVE_ALREADY);
    assert_int_equal(cached_page_grab(&p, STRANGER).code, LIVE_NOT_FOR_YOU);
}

TEST(pages_are_cut_as_by_the_view_script)
{
    static const struct {
        uint64_t user_id;
        uint32_t after, limit, row_count, first_share, next; /* first_share: with rows */
    } cuts[] = { { FIRST_USER + 2, PACKET_NO_SHARE, 3, 3, 6, 4 },
                 { STRANGER, 4, 3, 3, 3, 1 },
                 { 0, 1, 3, 1, 0, 0 },
                 { 0, 0, 3, 0, 0, 0 },
                 { 0, SHARES + 5, SHARES, SHARES, SHARES - 1, 0 } };
    struct cached_page p = finished_make(1, SHARES);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct packet_view v = cached_page_view(&p, cuts[i].user_id, cuts[i].after, cuts[i].limit);
        if (v.row_count != cuts[i].row_count || v.next != cuts[i].next)
            fail_msg("row %zu: %zu rows, next %u", i, (size_t)v.row_count, v.next);
        if (v.row_count > 0)
            assert_int_equal(v.rows[0].share_no, cuts[i].first_share);
        assert_int_equal(v.has_mine, i == 0);
        if (v.has_mine)
            assert_int_equal(v.mine.share_no, 2);
    }
}

static size_t cached_count(struct page_cache *cache, uint64_t last_id)
{
    size_t count = 0;
    for (uint64_t id = 1; id <= last_id; id++)
        count += page_cache_find(cache, id) != NULL;
    return count;
}

TEST(packets_not_used_lately_beyond_the_bytes_or_of_other_templates_are_evicted)
{
    enum { ROOM = 8 };
    struct page_cache *cache = page_cache_new(ROOM, 1 << 20);
    for (uint64_t id = 1; id <= 100; id++) {
        struct cached_page p = finished_make(id, SHARES);
        page_cache_put(cache, &p);
        assert_non_null(page_cache_find(cache, id));
        assert_non_null(page_cache_find(cache, 1)); /* the first one is used all the time */
    }
    assert_int_equal(cached_count(cache, 100), ROOM);
    page_cache_free(cache);
    const size_t bytes = SHARES * (sizeof(struct grab) + strlen("某,人")) + strlen("小明恭喜发财<li><li lang=en>[]");
    cache = page_cache_new(100, 3 * bytes);
    for (uint64_t id = 1; id <= 10; id++) {
        struct cached_page one = finished_make(id, SHARES);
        page_cache_put(cache, &one);
    }
    assert_int_equal(cached_count(cache, 10), 3);
    struct cached_page large = finished_make(11, 4 * SHARES);
    page_cache_put(cache, &large);
    assert_null(page_cache_find(cache, 11));
    page_cache_free(cache);
    cache = page_cache_new(4, 1 << 16);
    struct cached_page p = finished_make(5, SHARES);
    page_cache_put(cache, &p);
    page_cache_generation_set(cache, 0);
    assert_non_null(page_cache_find(cache, 5));
    page_cache_generation_set(cache, 1);
    assert_null(page_cache_find(cache, 5));
    page_cache_put(cache, &p);
    page_cache_generation_set(cache, 1);
    assert_non_null(page_cache_find(cache, 5));
    page_cache_free(cache);
}

/* ---- a cached packet's page and JSON are byte for byte those that are rendered from Redis's reply ---- */

enum { GUEST = 0, MANY = 70, BEST = 3 };

static struct grab many[MANY];
static struct cached_page page;
static struct fcgi_request request; /* without cookies */

static struct exchange exchange_make(uint64_t user_id, bool wants_json, enum language language)
{
    return (struct exchange){ .app = &services,
                              .fcgi = &request,
                              .arena = arena,
                              .target = STR("/p/abc"),
                              .wants_json = wants_json,
                              .language = language,
                              .visitor = { .user_id = user_id, .nickname = STR("<小 & 明>") } };
}

static int setup(void **state)
{
    static const struct str names[] = { STR("阿红"), STR("<b>&\"'`"), STR("某,人"), STR("a") };
    if (site_setup(state) != 0)
        return 1;
    page = finished_make((uint64_t)1 << 60, MANY);
    page.view.rows = memcpy(many, rows, sizeof many);
    for (uint32_t i = 0; i < MANY; i++) {
        many[i].nickname = names[i % 4];
        many[i].face = face_from(i % 3 == 0 ? STR("rabbit") : STR(""));
        many[i].amount_fen = 1 + 99 * many[i].share_no;
        many[i].grabbed_ms = 1700000000000 + 1000 * many[i].share_no;
    }
    struct packet *p = &page.view.packet;
    p->amount_fen = p->grabbed_fen = 300000;
    p->best_share_no = BEST;
    p->greeting = STR("恭喜 & 发财");
    p->created_ms = 1699999999000;
    p->finished_ms = 1700000069000;
    p->expires_ms = 1700086400000;
    struct exchange x = exchange_make(GUEST, false, LANGUAGE_ZH_CN);
    struct packet_view first = cached_page_view(&page, GUEST, PACKET_NO_SHARE, SHOW_ROWS);
    return show_rows(&x, &first, &page.rows) != ST_OK;
}

/* The view that live_view_read would make of the script's reply: it has only the rows of the requested page. */
static struct packet_view view_read(uint64_t user_id, uint32_t after)
{
    struct packet_view view = page.view;
    uint32_t stop = after < MANY ? after : MANY, start = stop > SHOW_ROWS ? stop - SHOW_ROWS : 0;
    view.rows = &many[MANY - stop];
    view.row_count = stop - start;
    view.next = view.row_count > 0 ? start : 0;
    view.luckiest = stop == MANY ? &many[MANY - 1 - BEST] : NULL;
    view.has_mine = user_id >= FIRST_USER && user_id < FIRST_USER + MANY;
    if (view.has_mine)
        view.mine = many[MANY - 1 - (user_id - FIRST_USER)];
    return view;
}

/* Ends with answer_free. */
static struct exchange answer(uint64_t user_id, bool json, enum language language, const struct packet_view *view,
                              const struct cached_rows *rendered)
{
    struct exchange x = exchange_make(user_id, json, language);
    struct model m;
    model_init(&m, arena);
    show_model(&x, view, rendered, &m);
    respond_model(&x, 200, "pages/packet", &m);
    respond_finish(&x);
    assert_int_equal(x.status, 200);
    assert_true(x.body.len > 200);
    return x;
}

static void answer_free(struct exchange *x)
{
    buf_free(&x->body);
    buf_free(&x->headers);
}

TEST(every_visitor_gets_the_same_bytes_from_cache_and_redis_and_guests_no_list)
{
    static const uint64_t visitors[] = { GUEST, SENDER, STRANGER, FIRST_USER, FIRST_USER + MANY - 1 };
    static const uint32_t afters[] = { PACKET_NO_SHARE, MANY, MANY + 1, MANY - 1, 20, 1, 0 };
    for (size_t i = 0; i < 2 * LANGUAGES * 5 * 7; i++) {
        bool json = i % 2 == 1;
        enum language language = (enum language)(i / 2 % LANGUAGES);
        uint64_t user_id = visitors[i / (2 * LANGUAGES) % 5];
        uint32_t after = afters[i / (2 * LANGUAGES * 5)];
        struct packet_view read = view_read(user_id, after),
                           cached = cached_page_view(&page, user_id, after, SHOW_ROWS);
        struct exchange from_redis = answer(user_id, json, language, &read, NULL);
        struct exchange from_cache = answer(user_id, json, language, &cached, after >= MANY ? &page.rows : NULL);
        if (!str_equal(buf_view(&from_cache.body), buf_view(&from_redis.body)))
            fail_msg("json %d, %s, user %u, after %u: the answers differ", json, language_tag(language),
                     (unsigned)user_id, after);
        assert_true(str_equal(buf_view(&from_cache.headers), buf_view(&from_redis.headers)));
        answer_free(&from_cache);
        answer_free(&from_redis);
    }
    for (int json = 0; json < 2; json++) {
        struct packet_view cached = cached_page_view(&page, GUEST, PACKET_NO_SHARE, SHOW_ROWS);
        struct exchange x = answer(GUEST, json == 1, LANGUAGE_ZH_CN, &cached, &page.rows);
        buf_char(&x.body, '\0');
        assert_null(strstr(x.body.ptr, "阿红"));
        answer_free(&x);
    }
}

TEST(the_luckiest_is_named_once_in_every_part_that_has_it_or_is_the_first)
{
    static const struct {
        uint32_t after;
        int named;
    } PARTS[] = { { PACKET_NO_SHARE, 1 }, { MANY, 1 }, { MANY - 1, 0 }, { BEST + 1, 1 }, { BEST, 0 } };
    for (size_t i = 0; i < 2 * ARRAY_LEN(PARTS); i++) {
        bool rendered = i % 2 == 1 && PARTS[i / 2].after >= MANY;
        struct packet_view cached = cached_page_view(&page, STRANGER, PARTS[i / 2].after, SHOW_ROWS);
        struct exchange x = answer(STRANGER, false, LANGUAGE_ZH_CN, &cached, rendered ? &page.rows : NULL);
        buf_char(&x.body, '\0');
        const char *first = strstr(x.body.ptr, "手气最佳");
        assert_int_equal(first != NULL, PARTS[i / 2].named);
        if (first != NULL) {
            assert_null(strstr(first + 1, "手气最佳"));
            const char *row = strstr(x.body.ptr, "<li class=\"row\">"), *amount = strstr(row, "2.98\u2060元");
            assert_true(amount != NULL && amount < first); /* at the top of the list */
            assert_true(PARTS[i / 2].after < MANY || first < strstr(row + 1, "<li class=\"row\">"));
        }
        answer_free(&x);
    }
}

TESTS(setup, site_teardown)
