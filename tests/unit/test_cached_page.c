/* The page and the JSON of a packet that is kept in memory are those that Redis's own answer would make, to the last
 * byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "packet/grab.h"
#include "packet/view.h"
#include "pages/show_model.h"
#include "web/assets.h"
#include "web/respond.h"

enum { SENDER = 10001, FIRST_USER = 20000, STRANGER = 30000, LOGGED_OUT = 0, SHARES = 70 };

static struct arena *arena;
static struct config config;
static struct services services;
static struct grab rows[SHARES];
static struct cached_page packet;

static struct exchange exchange_make(uint64_t user_id, bool wants_json, enum language language)
{
    return (struct exchange){ .app = &services,
                              .arena = arena,
                              .target = STR("/p/abc"),
                              .wants_json = wants_json,
                              .language = language,
                              .visitor = { .user_id = user_id, .nickname = STR("<小 & 明>") } };
}

/* Newest first, as Redis's answer is read. */
static void rows_make(void)
{
    static const struct str names[] = { STR("阿红"), STR("<b>&\"'`"), STR("某,人"), STR("a") };
    for (uint32_t i = 0; i < SHARES; i++) {
        uint32_t share_no = SHARES - 1 - i;
        rows[i] = (struct grab){ .share_no = share_no,
                                 .user_id = FIRST_USER + share_no,
                                 .nickname = names[i % 4],
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
    strcpy(config.base_url, "http://hongbao.example");
    public_id_key_derive(STR("a secret of more than thirty-two characters"), &services.id_key);
    services.stores.config = &config;
    if (arena == NULL ||
        templates_load(HB_SOURCE_DIR "/templates", &services.templates, error, sizeof error) != ST_OK ||
        assets_load(HB_SOURCE_DIR "/static", &services.assets) != ST_OK)
        return 1;
    rows_make();
    packet.view = (struct packet_view){ .packet = { .id = (uint64_t)1 << 60,
                                                    .sender_id = SENDER,
                                                    .sender_name = STR("阿强"),
                                                    .receiver_name = STR(""),
                                                    .kind = PACKET_LUCKY,
                                                    .amount_fen = 300000,
                                                    .count = SHARES,
                                                    .best_share_no = SHARES - 1,
                                                    .greeting = STR("恭喜 & 发财"),
                                                    .state = PACKET_FINISHED,
                                                    .grabbed_count = SHARES,
                                                    .grabbed_fen = 300000,
                                                    .created_ms = 1699999999000,
                                                    .finished_ms = 1700000069000,
                                                    .expires_ms = 1700086400000 },
                                        .over = true,
                                        .closed = true,
                                        .rows = rows,
                                        .row_count = SHARES };
    struct exchange x = exchange_make(LOGGED_OUT, false, LANGUAGE_ZH_CN);
    struct packet_view page = cached_page_view(&packet, LOGGED_OUT, PACKET_NO_SHARE, SHOW_ROWS);
    return show_rows(&x, &page, &packet.rows) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    templates_free(&services.templates);
    assets_free(services.assets);
    arena_free(arena);
    return 0;
}

/* What live_view_read makes of the script's answer: the page's own rows. */
static struct packet_view view_read(uint64_t user_id, uint32_t after)
{
    struct packet_view view = packet.view;
    uint32_t stop = after < SHARES ? after : SHARES, start = stop > SHOW_ROWS ? stop - SHOW_ROWS : 0;
    view.rows = &rows[SHARES - stop];
    view.row_count = stop - start;
    view.next = view.row_count > 0 ? start : 0;
    view.has_mine = user_id >= FIRST_USER && user_id < FIRST_USER + SHARES;
    if (view.has_mine)
        view.mine = rows[SHARES - 1 - (user_id - FIRST_USER)];
    return view;
}

static void answer(struct exchange *x, const struct packet_view *view, const struct cached_rows *ready)
{
    struct model m;
    model_init(&m, arena);
    show_model(x, view, ready, &m);
    respond_model(x, 200, "pages/packet", &m);
    respond_finish(x);
    assert_int_equal(x->status, 200);
    assert_true(x->body.len > 200);
}

static void everybody_gets_the_bytes_that_redis_would_have_given(void **state)
{
    (void)state;
    static const uint64_t visitors[] = { LOGGED_OUT, SENDER, STRANGER, FIRST_USER, FIRST_USER + SHARES - 1 };
    static const uint32_t afters[] = { PACKET_NO_SHARE, SHARES, SHARES + 1, SHARES - 1, 20, 1, 0 };
    for (size_t i = 0; i < 2 * LANGUAGES * 5 * 7; i++) {
        bool json = i % 2 == 1;
        enum language language = (enum language)(i / 2 % LANGUAGES);
        uint64_t user_id = visitors[i / (2 * LANGUAGES) % 5];
        uint32_t after = afters[i / (2 * LANGUAGES * 5)];
        struct exchange ours = exchange_make(user_id, json, language), theirs = exchange_make(user_id, json, language);
        struct packet_view read = view_read(user_id, after),
                           kept = cached_page_view(&packet, user_id, after, SHOW_ROWS);
        answer(&theirs, &read, NULL);
        answer(&ours, &kept, after >= SHARES ? &packet.rows : NULL);
        if (!str_equal(buf_view(&ours.body), buf_view(&theirs.body)))
            fail_msg("json %d, %s, user %u, after %u: another answer", json, language_tag(language), (unsigned)user_id,
                     after);
        assert_true(str_equal(buf_view(&ours.headers), buf_view(&theirs.headers)));
        buf_free(&ours.body);
        buf_free(&ours.headers);
        buf_free(&theirs.body);
        buf_free(&theirs.headers);
    }
}

static void the_list_is_still_hidden_from_whoever_is_logged_out(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++) {
        struct exchange x = exchange_make(LOGGED_OUT, json == 1, LANGUAGE_ZH_CN);
        struct packet_view kept = cached_page_view(&packet, LOGGED_OUT, PACKET_NO_SHARE, SHOW_ROWS);
        answer(&x, &kept, &packet.rows);
        buf_char(&x.body, '\0');
        assert_null(strstr(x.body.ptr, "阿红"));
        buf_free(&x.body);
        buf_free(&x.headers);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everybody_gets_the_bytes_that_redis_would_have_given),
        cmocka_unit_test(the_list_is_still_hidden_from_whoever_is_logged_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
