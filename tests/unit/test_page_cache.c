/* packet/finished: which packets are kept, what is answered of them, and how little room they take. */
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
                                           .closed = true,
                                           .rows = rows,
                                           .row_count = count },
                                 .rows = { { STR("<li>"), STR("<li lang=en>") }, STR("[]") } };
}

static void assert_text(struct str got, const char *want)
{
    if (!str_equal(got, str_from(want)))
        fail_msg("got %.*s, want %s", STR_ARG(got), want);
}

static void only_what_can_never_change_is_for_ever(void **state)
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
    p.view.closed = false; /* the position passes dead letters, too */
    assert_false(page_cacheable(&p.view));
    p.view.row_count = SHARES - 1;
    assert_false(page_needs_all_rows(&p.view));
    p = finished_make(1, SHARES);
    p.view.row_count = SHARES - 1;
    assert_false(page_cacheable(&p.view));
    assert_true(page_needs_all_rows(&p.view));
    rows[0].settled = false;
    assert_false(page_needs_all_rows(&p.view));
}

static void a_packet_of_more_grabs_than_a_view_has_is_never_looked_for(void **state)
{
    (void)state;
    struct cached_page p = finished_make(1, LIVE_ROWS_MAX);
    p.view.row_count = 50;
    assert_true(page_needs_all_rows(&p.view));
    p.view.packet.count = LIVE_ROWS_MAX + 1;
    assert_false(page_needs_all_rows(&p.view));
    struct page_cache *f = page_cache_new(1, 1000);
    unsigned looks = 0;
    for (int i = 0; i < 10 * PAGE_CACHE_PROBE_EVERY; i++) {
        looks += page_cache_probe_due(f, LIVE_ROWS_MAX);
        assert_false(page_cache_probe_due(f, LIVE_ROWS_MAX + 1));
    }
    assert_int_equal(looks, 10);
    page_cache_free(f);
}

static void a_kept_packet_outlives_what_it_was_made_of(void **state)
{
    (void)state;
    struct page_cache *f = page_cache_new(4, 1 << 16);
    char name[] = "阿红", html[] = "<li>1</li>";
    struct cached_page p = finished_make(77, SHARES);
    p.view.packet.sender_name = str_from(name);
    p.rows.html[LANGUAGE_ZH_CN] = str_from(html);
    p.view.has_mine = true; /* somebody's view */
    page_cache_keep(f, &p);
    memset(name, 'x', strlen(name));
    memset(html, 'x', strlen(html));
    memset(rows, 0, sizeof rows);
    assert_null(page_cache_find(f, 78));
    const struct cached_page *kept = page_cache_find(f, 77);
    assert_non_null(kept);
    assert_text(kept->view.packet.sender_name, "阿红");
    assert_text(kept->view.packet.greeting, "恭喜发财");
    assert_text(kept->view.packet.receiver_name, "");
    assert_text(kept->rows.html[LANGUAGE_ZH_CN], "<li>1</li>");
    assert_text(kept->rows.json, "[]");
    assert_false(kept->view.has_mine);
    assert_int_equal(kept->view.row_count, SHARES);
    for (uint32_t i = 0; i < SHARES; i++) {
        assert_int_equal(kept->view.rows[i].user_id, FIRST_USER + SHARES - 1 - i);
        assert_text(kept->view.rows[i].nickname, "某,人");
    }
    page_cache_free(f);
}

static void whoever_has_a_share_is_told_it_and_all_others_that_it_is_empty(void **state)
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

static void pages_are_cut_as_the_script_cuts_them(void **state)
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

static void packets_that_nobody_asks_for_make_room(void **state)
{
    (void)state;
    enum { ROOM = 8 };
    struct page_cache *f = page_cache_new(ROOM, 1 << 20);
    for (uint64_t id = 1; id <= 100; id++) {
        struct cached_page p = finished_make(id, SHARES);
        page_cache_keep(f, &p);
        assert_non_null(page_cache_find(f, id));
        assert_non_null(page_cache_find(f, 1)); /* everybody asks for the first one */
    }
    size_t kept = 0;
    for (uint64_t id = 1; id <= 100; id++)
        kept += page_cache_find(f, id) != NULL;
    assert_int_equal(kept, ROOM);
    page_cache_free(f);
}

static void the_bytes_are_limited_too(void **state)
{
    (void)state;
    struct cached_page one = finished_make(1, SHARES);
    const size_t bytes = SHARES * (sizeof(struct grab) + strlen("某,人")) + strlen("小明恭喜发财<li><li lang=en>[]");
    struct page_cache *f = page_cache_new(100, 3 * bytes);
    for (uint64_t id = 1; id <= 10; id++) {
        one = finished_make(id, SHARES);
        page_cache_keep(f, &one);
    }
    size_t kept = 0;
    for (uint64_t id = 1; id <= 10; id++)
        kept += page_cache_find(f, id) != NULL;
    assert_int_equal(kept, 3);
    struct cached_page large = finished_make(11, 4 * SHARES);
    page_cache_keep(f, &large);
    assert_null(page_cache_find(f, 11));
    page_cache_free(f);
}

static void new_templates_make_new_rows(void **state)
{
    (void)state;
    struct page_cache *f = page_cache_new(4, 1 << 16);
    struct cached_page p = finished_make(5, SHARES);
    page_cache_keep(f, &p);
    page_cache_generation_set(f, 0);
    assert_non_null(page_cache_find(f, 5));
    page_cache_generation_set(f, 1);
    assert_null(page_cache_find(f, 5));
    page_cache_keep(f, &p);
    page_cache_generation_set(f, 1);
    assert_non_null(page_cache_find(f, 5));
    page_cache_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_can_never_change_is_for_ever),
        cmocka_unit_test(a_packet_of_more_grabs_than_a_view_has_is_never_looked_for),
        cmocka_unit_test(a_kept_packet_outlives_what_it_was_made_of),
        cmocka_unit_test(whoever_has_a_share_is_told_it_and_all_others_that_it_is_empty),
        cmocka_unit_test(pages_are_cut_as_the_script_cuts_them),
        cmocka_unit_test(packets_that_nobody_asks_for_make_room),
        cmocka_unit_test(the_bytes_are_limited_too),
        cmocka_unit_test(new_templates_make_new_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
