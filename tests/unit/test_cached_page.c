/* A cached packet's page and JSON are byte for byte those that are rendered from Redis's reply. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "packet/grab.h"
#include "packet/view.h"
#include "pages/show_model.h"
#include "web/assets.h"
#include "web/respond.h"

enum { SENDER = 10001, FIRST_USER = 20000, STRANGER = 30000, GUEST = 0, SHARES = 70, BEST = 3 };

static struct arena *arena;
static struct config config;
static struct services services;
static struct grab rows[SHARES];
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

/* Newest first, as live_view_read returns them. */
static void rows_make(void)
{
    static const struct str names[] = { STR("阿红"), STR("<b>&\"'`"), STR("某,人"), STR("a") };
    for (uint32_t i = 0; i < SHARES; i++) {
        uint32_t share_no = SHARES - 1 - i;
        rows[i] = (struct grab){ .share_no = share_no,
                                 .user_id = FIRST_USER + share_no,
                                 .nickname = names[i % 4],
                                 .face = face_from(i % 3 == 0 ? STR("rabbit") : STR("")),
                                 .amount_fen = 1 + 99 * share_no,
                                 .grabbed_ms = 1700000000000 + 1000 * share_no,
                                 .settled = true };
    }
}

static int setup(void **state)
{
    (void)state;
    char error[512];
    arena = arena_new(1 << 16, 1 << 24);
    config_defaults(&config);
    keys_derive(STR("a secret of more than thirty-two characters"), false, &config.keys);
    strcpy(config.base_url, "http://hongbao.example");
    public_id_key_set(&services.id_key,
                      (struct key[]){ key_derive(STR("a secret of more than thirty-two characters"), KEY_IDS) });
    services.stores.config = &config;
    if (arena == NULL ||
        templates_load(HB_SOURCE_DIR "/templates", &services.templates, error, sizeof error) != ST_OK ||
        assets_load(HB_SOURCE_DIR "/static", &services.assets) != ST_OK)
        return 1;
    rows_make();
    page.view = (struct packet_view){ .packet = { .id = (uint64_t)1 << 60,
                                                  .sender_id = SENDER,
                                                  .sender_name = STR("阿强"),
                                                  .receiver_name = STR(""),
                                                  .kind = PACKET_LUCKY,
                                                  .amount_fen = 300000,
                                                  .count = SHARES,
                                                  .best_share_no = BEST,
                                                  .greeting = STR("恭喜 & 发财"),
                                                  .state = PACKET_FINISHED,
                                                  .grabbed_count = SHARES,
                                                  .grabbed_fen = 300000,
                                                  .created_ms = 1699999999000,
                                                  .finished_ms = 1700000069000,
                                                  .expires_ms = 1700086400000 },
                                      .over = true,
                                      .final = true,
                                      .rows = rows,
                                      .row_count = SHARES };
    struct exchange x = exchange_make(GUEST, false, LANGUAGE_ZH_CN);
    struct packet_view first = cached_page_view(&page, GUEST, PACKET_NO_SHARE, SHOW_ROWS);
    return show_rows(&x, &first, &page.rows) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    templates_free(&services.templates);
    assets_free(services.assets);
    arena_free(arena);
    return 0;
}

/* The view that live_view_read makes of the script's reply: only the rows of the requested page. */
static struct packet_view view_read(uint64_t user_id, uint32_t after)
{
    struct packet_view view = page.view;
    uint32_t stop = after < SHARES ? after : SHARES, start = stop > SHOW_ROWS ? stop - SHOW_ROWS : 0;
    view.rows = &rows[SHARES - stop];
    view.row_count = stop - start;
    view.next = view.row_count > 0 ? start : 0;
    view.luckiest = stop == SHARES ? &rows[SHARES - 1 - BEST] : NULL;
    view.has_mine = user_id >= FIRST_USER && user_id < FIRST_USER + SHARES;
    if (view.has_mine)
        view.mine = rows[SHARES - 1 - (user_id - FIRST_USER)];
    return view;
}

static void answer(struct exchange *x, const struct packet_view *view, const struct cached_rows *rendered)
{
    struct model m;
    model_init(&m, arena);
    show_model(x, view, rendered, &m);
    respond_model(x, 200, "pages/packet", &m);
    respond_finish(x);
    assert_int_equal(x->status, 200);
    assert_true(x->body.len > 200);
}

static void every_visitor_gets_the_same_bytes_from_cache_and_redis(void **state)
{
    (void)state;
    static const uint64_t visitors[] = { GUEST, SENDER, STRANGER, FIRST_USER, FIRST_USER + SHARES - 1 };
    static const uint32_t afters[] = { PACKET_NO_SHARE, SHARES, SHARES + 1, SHARES - 1, 20, 1, 0 };
    for (size_t i = 0; i < 2 * LANGUAGES * 5 * 7; i++) {
        bool json = i % 2 == 1;
        enum language language = (enum language)(i / 2 % LANGUAGES);
        uint64_t user_id = visitors[i / (2 * LANGUAGES) % 5];
        uint32_t after = afters[i / (2 * LANGUAGES * 5)];
        struct exchange from_cache = exchange_make(user_id, json, language);
        struct exchange from_redis = exchange_make(user_id, json, language);
        struct packet_view read = view_read(user_id, after),
                           cached = cached_page_view(&page, user_id, after, SHOW_ROWS);
        answer(&from_redis, &read, NULL);
        answer(&from_cache, &cached, after >= SHARES ? &page.rows : NULL);
        if (!str_equal(buf_view(&from_cache.body), buf_view(&from_redis.body)))
            fail_msg("json %d, %s, user %u, after %u: the answers differ", json, language_tag(language),
                     (unsigned)user_id, after);
        assert_true(str_equal(buf_view(&from_cache.headers), buf_view(&from_redis.headers)));
        buf_free(&from_cache.body);
        buf_free(&from_cache.headers);
        buf_free(&from_redis.body);
        buf_free(&from_redis.headers);
    }
}

static void guests_do_not_get_the_cached_list(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct exchange x = exchange_make(GUEST, json == 1, LANGUAGE_ZH_CN);
        struct packet_view cached = cached_page_view(&page, GUEST, PACKET_NO_SHARE, SHOW_ROWS);
        answer(&x, &cached, &page.rows);
        buf_char(&x.body, '\0');
        assert_null(strstr(x.body.ptr, "阿红"));
        buf_free(&x.body);
        buf_free(&x.headers);
    }
}

static void the_luckiest_is_named_once_in_every_part_that_has_it_or_is_the_first(void **state)
{
    (void)state;
    static const struct {
        uint32_t after;
        int named;
    } PARTS[] = { { PACKET_NO_SHARE, 1 }, { SHARES, 1 }, { SHARES - 1, 0 }, { BEST + 1, 1 }, { BEST, 0 } };
    for (size_t i = 0; i < 2 * ARRAY_LEN(PARTS); i++) {
        bool rendered = i % 2 == 1 && PARTS[i / 2].after >= SHARES;
        struct exchange x = exchange_make(STRANGER, false, LANGUAGE_ZH_CN);
        struct packet_view cached = cached_page_view(&page, STRANGER, PARTS[i / 2].after, SHOW_ROWS);
        answer(&x, &cached, rendered ? &page.rows : NULL);
        buf_char(&x.body, '\0');
        const char *first = strstr(x.body.ptr, "手气最佳");
        assert_int_equal(first != NULL, PARTS[i / 2].named);
        if (first != NULL) {
            assert_null(strstr(first + 1, "手气最佳"));
            const char *row = strstr(x.body.ptr, "<li class=\"row\">"), *amount = strstr(row, "2.98元");
            assert_true(amount != NULL && amount < first); /* at the top of the list */
            assert_true(PARTS[i / 2].after < SHARES || first < strstr(row + 1, "<li class=\"row\">"));
        }
        buf_free(&x.body);
        buf_free(&x.headers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_visitor_gets_the_same_bytes_from_cache_and_redis),
        cmocka_unit_test(guests_do_not_get_the_cached_list),
        cmocka_unit_test(the_luckiest_is_named_once_in_every_part_that_has_it_or_is_the_first),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
