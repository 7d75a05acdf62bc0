/* pages/page_cache: the packets that are cacheable, the answers from the cache, and its limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "live/grab.h"
#include "live/live.h"
#include "live/view.h"
#include "packet/grab.h"
#include "packet/view.h"
#include "pages/page_cache.h"

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

static void assert_text(struct str got, const char *want)
{
    if (!str_equal(got, str_from(want)))
        fail_msg("got %.*s, want %s", STR_ARG(got), want);
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

static void the_rows_of_a_finished_packet_are_kept_before_it_is_settled(void **state)
{
    (void)state;
    struct page_cache *cache = page_cache_new(4, 1 << 20);
    struct cached_page p = unsettled_make(1, SHARES);
    assert_false(page_cacheable(&p.view));
    assert_true(page_rows_keepable(&p.view));
    page_cache_put(cache, &p);
    const struct cached_page *kept = page_cache_find(cache, 1);
    assert_non_null(kept);
    assert_false(kept->complete);
    assert_int_equal(kept->view.row_count, 3);
    assert_int_equal(kept->view.next, SHARES - 3);
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

static void only_users_without_a_share_are_served_and_not_for_long(void **state)
{
    enum { NOW_MS = 100000 };
    (void)state;
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

static void an_entry_with_other_marks_is_replaced_but_never_by_an_older_copy(void **state)
{
    (void)state;
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

static void a_share_that_was_given_back_is_one_more_row(void **state)
{
    (void)state;
    struct cached_page p = finished_make(1, SHARES);
    p.view.packet.count = SHARES - 1;
    assert_false(page_cacheable(&p.view));
    p.view.packet.returned_count = 1;
    assert_true(page_cacheable(&p.view));
    assert_true(page_rows_keepable(&p.view));
    p.view.row_count--;
    assert_true(page_needs_all_rows(&p.view));
}

static void only_finished_packets_have_rows_to_keep(void **state)
{
    (void)state;
    struct cached_page p = unsettled_make(1, SHARES);
    p.view.busy = true;
    assert_false(page_rows_keepable(&p.view));
    p = unsettled_make(1, SHARES);
    p.view.over = false;
    assert_false(page_rows_keepable(&p.view));
    p = unsettled_make(1, SHARES);
    p.view.packet.state = PACKET_EXPIRED;
    assert_false(page_rows_keepable(&p.view));
    p = unsettled_make(1, SHARES);
    p.view.row_count = 0;
    assert_false(page_rows_keepable(&p.view));
    p = unsettled_make(1, SHARES);
    p.view.rows++; /* not the newest ones */
    assert_false(page_rows_keepable(&p.view));
}

static void only_packets_that_never_change_are_cacheable(void **state)
{
    (void)state;
    struct cached_page p = finished_make(1, SHARES);
    assert_true(page_cacheable(&p.view));
    assert_false(page_needs_all_rows(&p.view));
    rows[3].settled = false;
    assert_false(page_cacheable(&p.view));
    p = finished_make(1, SHARES);
    p.view.busy = true;
    assert_false(page_cacheable(&p.view));
    p = finished_make(1, SHARES);
    p.view.packet.state = PACKET_EXPIRED;
    assert_false(page_cacheable(&p.view));
    p = finished_make(1, SHARES);
    p.view.over = false;
    assert_false(page_cacheable(&p.view));
    p = finished_make(1, SHARES);
    p.view.final = false; /* the published position also passes dead letters */
    assert_false(page_cacheable(&p.view));
    p.view.row_count = SHARES - 1;
    assert_true(page_needs_all_rows(&p.view)); /* before the settlement its rows are kept */
    p = finished_make(1, SHARES);
    p.view.row_count = SHARES - 1;
    assert_false(page_cacheable(&p.view));
    assert_true(page_needs_all_rows(&p.view));
    rows[0].settled = false;
    assert_false(page_needs_all_rows(&p.view));
}

static void a_packet_with_more_shares_than_a_view_is_never_probed(void **state)
{
    (void)state;
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

static void a_cached_packet_is_a_copy(void **state)
{
    (void)state;
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

static void a_user_with_a_share_gets_it_and_all_others_get_empty(void **state)
{
    (void)state;
    struct cached_page p = finished_make(1, SHARES);
    for (uint32_t i = 0; i < SHARES; i++) {
        struct live_grab g = cached_page_grab(&p, FIRST_USER + i);
        assert_int_equal(g.code, LIVE_ALREADY);
        assert_int_equal(g.share_no, i);
        assert_int_equal(g.amount_fen, 100 + i);
    }
    assert_int_equal(cached_page_grab(&p, STRANGER).code, LIVE_EMPTY);
    assert_int_equal(cached_page_grab(&p, SENDER).code, LIVE_EMPTY);
    p = finished_make(1, 1);
    p.view.packet.kind = PACKET_EXCLUSIVE;
    p.view.packet.receiver_id = FIRST_USER;
    assert_int_equal(cached_page_grab(&p, FIRST_USER).code, LIVE_ALREADY);
    assert_int_equal(cached_page_grab(&p, STRANGER).code, LIVE_NOT_FOR_YOU);
}

static void pages_are_cut_as_by_the_view_script(void **state)
{
    (void)state;
    struct cached_page p = finished_make(1, SHARES);
    struct packet_view v = cached_page_view(&p, FIRST_USER + 2, PACKET_NO_SHARE, 3);
    assert_true(v.has_mine);
    assert_int_equal(v.mine.share_no, 2);
    assert_int_equal(v.row_count, 3);
    assert_int_equal(v.rows[0].share_no, 6);
    assert_int_equal(v.next, 4);
    v = cached_page_view(&p, STRANGER, 4, 3);
    assert_false(v.has_mine);
    assert_int_equal(v.rows[0].share_no, 3);
    assert_int_equal(v.next, 1);
    v = cached_page_view(&p, 0, 1, 3);
    assert_false(v.has_mine);
    assert_int_equal(v.row_count, 1);
    assert_int_equal(v.rows[0].share_no, 0);
    assert_int_equal(v.next, 0);
    v = cached_page_view(&p, 0, 0, 3);
    assert_int_equal(v.row_count, 0);
    assert_int_equal(v.next, 0);
    v = cached_page_view(&p, 0, SHARES + 5, SHARES);
    assert_int_equal(v.row_count, SHARES);
    assert_int_equal(v.next, 0);
}

static void packets_not_used_lately_are_evicted(void **state)
{
    (void)state;
    enum { ROOM = 8 };
    struct page_cache *cache = page_cache_new(ROOM, 1 << 20);
    for (uint64_t id = 1; id <= 100; id++) {
        struct cached_page p = finished_make(id, SHARES);
        page_cache_put(cache, &p);
        assert_non_null(page_cache_find(cache, id));
        assert_non_null(page_cache_find(cache, 1)); /* the first one is used all the time */
    }
    size_t cached = 0;
    for (uint64_t id = 1; id <= 100; id++)
        cached += page_cache_find(cache, id) != NULL;
    assert_int_equal(cached, ROOM);
    page_cache_free(cache);
}

static void the_bytes_of_all_packets_are_limited(void **state)
{
    (void)state;
    struct cached_page one = finished_make(1, SHARES);
    const size_t bytes = SHARES * (sizeof(struct grab) + strlen("某,人")) + strlen("小明恭喜发财<li><li lang=en>[]");
    struct page_cache *cache = page_cache_new(100, 3 * bytes);
    for (uint64_t id = 1; id <= 10; id++) {
        one = finished_make(id, SHARES);
        page_cache_put(cache, &one);
    }
    size_t cached = 0;
    for (uint64_t id = 1; id <= 10; id++)
        cached += page_cache_find(cache, id) != NULL;
    assert_int_equal(cached, 3);
    struct cached_page large = finished_make(11, 4 * SHARES);
    page_cache_put(cache, &large);
    assert_null(page_cache_find(cache, 11));
    page_cache_free(cache);
}

static void a_new_generation_of_templates_empties_the_cache(void **state)
{
    (void)state;
    struct page_cache *cache = page_cache_new(4, 1 << 16);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rows_of_a_finished_packet_are_kept_before_it_is_settled),
        cmocka_unit_test(only_users_without_a_share_are_served_and_not_for_long),
        cmocka_unit_test(an_entry_with_other_marks_is_replaced_but_never_by_an_older_copy),
        cmocka_unit_test(a_share_that_was_given_back_is_one_more_row),
        cmocka_unit_test(only_finished_packets_have_rows_to_keep),
        cmocka_unit_test(only_packets_that_never_change_are_cacheable),
        cmocka_unit_test(a_packet_with_more_shares_than_a_view_is_never_probed),
        cmocka_unit_test(a_cached_packet_is_a_copy),
        cmocka_unit_test(a_user_with_a_share_gets_it_and_all_others_get_empty),
        cmocka_unit_test(pages_are_cut_as_by_the_view_script),
        cmocka_unit_test(packets_not_used_lately_are_evicted),
        cmocka_unit_test(the_bytes_of_all_packets_are_limited),
        cmocka_unit_test(a_new_generation_of_templates_empties_the_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
