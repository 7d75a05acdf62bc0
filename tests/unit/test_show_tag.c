/* pages/show_tag: the tag changes with the answer. pages/show_model: packets whose page may still change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/array.h"
#include "packet/grab.h"
#include "packet/view.h"
#include "pages/show_model.h"
#include "pages/show_tag.h"
#include "web/assets.h"

enum { SENDER = 10001, GRABBER = 10002, STRANGER = 10003, GUEST = 0, TAGS_MAX = 32 };

static struct arena *arena;
static struct config config;
static struct services services;
static struct assets *assets, *other_assets;

static int setup(void **state)
{
    (void)state;
    arena = arena_new(1 << 14, 1 << 20);
    config_defaults(&config);
    services.stores.config = &config;
    return arena == NULL || assets_load(HB_SOURCE_DIR "/static", &assets) != ST_OK ||
           assets_load(HB_SOURCE_DIR "/docs", &other_assets) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    assets_free(assets);
    assets_free(other_assets);
    arena_free(arena);
    return 0;
}

/* The facts of one answer. Each test changes one of them. */
struct facts {
    struct fcgi_request request;
    struct exchange x;
    struct packet_view view;
    struct grab rows[2];
};

/* A lucky packet of 3 shares, 10.00 yuan. Two shares are taken; the visitor is GRABBER, who has the first one. */
static void facts_make(struct facts *s)
{
    services.assets = assets;
    services.templates.hash = 1;
    *s = (struct facts){ .rows = { { .share_no = 1,
                                     .user_id = STRANGER,
                                     .nickname = STR("某人"),
                                     .amount_fen = 300,
                                     .grabbed_ms = 1700000070000 },
                                   { .share_no = 0,
                                     .user_id = GRABBER,
                                     .nickname = STR("小明"),
                                     .amount_fen = 250,
                                     .grabbed_ms = 1700000060000 } } };
    s->request = (struct fcgi_request){ 0 }; /* without cookies */
    s->x = (struct exchange){ .app = &services,
                              .fcgi = &s->request,
                              .arena = arena,
                              .target = STR("/p/abc"),
                              .visitor = { .user_id = GRABBER, .nickname = STR("小明") } };
    s->view = (struct packet_view){ .packet = { .id = 77,
                                                .sender_id = SENDER,
                                                .state = PACKET_OPEN,
                                                .kind = PACKET_LUCKY,
                                                .count = 3,
                                                .amount_fen = 1000,
                                                .grabbed_count = 2,
                                                .grabbed_fen = 550 },
                                    .rows = s->rows,
                                    .row_count = 2,
                                    .has_mine = true,
                                    .mine = s->rows[1] };
}

static void the_same_answer_has_the_same_tag(void **state)
{
    (void)state;
    struct facts a, b;
    facts_make(&a);
    facts_make(&b);
    struct str tag = show_tag(&a.x, &a.view);
    assert_int_equal(tag.len, 2 + 2 + 32);
    assert_true(str_starts(tag, STR("W/\"")));
    assert_true(str_equal(tag, show_tag(&b.x, &b.view)));
    /* Facts that no page shows: Redis's clock, and whether others' shares are settled. */
    b.view.now_ms += 5000;
    b.view.final = true;
    b.rows[0].settled = true;
    b.view.luckiest = &(struct grab){ .share_no = 2, .nickname = STR("小红") }; /* rendered rows have it */
    assert_true(str_equal(tag, show_tag(&b.x, &b.view)));
}

static void change_language(struct facts *s)
{
    s->x.language = LANGUAGE_EN;
}
static void change_format(struct facts *s)
{
    s->x.wants_json = true;
}
static void change_visitor(struct facts *s)
{
    s->x.visitor.user_id = SENDER;
}
static void change_receiver(struct facts *s)
{
    s->view.packet.receiver_name = STR("小红");
}
static void change_receivers(struct facts *s)
{
    s->view.packet.receiver_names = STR("小红\n\n小刚");
}
static void change_nickname(struct facts *s)
{
    s->x.visitor.nickname = STR("小月");
}
static void change_known_device(struct facts *s)
{
    static char *envp[] = { "HTTP_COOKIE=device=1", NULL };
    s->request.fcgx.envp = envp;
}
static void change_passkey_offer(struct facts *s)
{
    static char *envp[] = { "HTTP_COOKIE=offer=1", NULL };
    s->request.fcgx.envp = envp;
}
static void change_logged_out(struct facts *s)
{
    s->x.visitor = (struct visitor){ 0 };
}
static void change_page(struct facts *s)
{
    s->x.target = STR("/p/abc?after=2");
}
static void change_packet(struct facts *s)
{
    s->view.packet.id = 78;
}
static void change_state(struct facts *s)
{
    s->view.packet.state = PACKET_EXPIRED;
}
static void change_count(struct facts *s)
{
    s->view.packet.grabbed_count = 3;
}
static void change_refund(struct facts *s)
{
    s->view.packet.refund_fen = 450;
}
static void change_busy(struct facts *s)
{
    s->view.busy = true;
}
static void change_waiting(struct facts *s)
{
    s->view.packet.opens_ms = s->view.now_ms + 1;
}
static void change_over(struct facts *s)
{
    s->view.over = true;
}
static void change_newest(struct facts *s)
{
    s->rows[0].user_id = 10009;
}
static void change_newest_time(struct facts *s)
{
    s->rows[0].grabbed_ms++;
}
static void change_no_rows(struct facts *s)
{
    s->view.row_count = 0;
}
static void change_mine(struct facts *s)
{
    s->view.has_mine = false;
}
static void change_my_share(struct facts *s)
{
    s->view.mine.share_no = 1;
}
static void change_settled(struct facts *s)
{
    s->view.mine.settled = true;
}
static void change_marks(struct facts *s)
{
    s->view.packet.returned_shares = STR("3");
}
static void change_best_mark(struct facts *s)
{
    static const struct grab luckiest = { .share_no = 2, .nickname = STR("小红"), .returned = true };
    s->view.luckiest = &luckiest;
}
static void change_best_name(struct facts *s)
{
    static const struct grab luckiest = { .share_no = 2, .nickname = STR("") };
    s->view.luckiest = &luckiest;
}
static void change_templates(struct facts *s)
{
    s->x.app->templates.hash = 2;
}
static void change_assets(struct facts *s)
{
    s->x.app->assets = other_assets;
}

static void every_fact_of_an_answer_changes_its_tag(void **state)
{
    (void)state;
    static void (*const changes[])(struct facts *) = {
        change_language,  change_format,     change_visitor,   change_nickname,     change_receiver,
        change_receivers, change_logged_out, change_page,      change_packet,       change_state,
        change_count,     change_refund,     change_busy,      change_over,         change_waiting,
        change_newest,    change_mine,       change_no_rows,   change_newest_time,  change_my_share,
        change_settled,   change_assets,     change_templates, change_known_device, change_passkey_offer,
        change_marks,     change_best_mark,  change_best_name,
    };
    const size_t count = ARRAY_LEN(changes);
    struct str tags[TAGS_MAX];
    struct facts s;
    facts_make(&s);
    tags[count] = show_tag(&s.x, &s.view);
    for (size_t i = 0; i < count; i++) {
        facts_make(&s);
        changes[i](&s);
        tags[i] = show_tag(&s.x, &s.view);
    }
    for (size_t i = 0; i <= count; i++)
        for (size_t j = 0; j < i; j++)
            if (str_equal(tags[i], tags[j]))
                fail_msg("changes %zu and %zu have the same tag", j, i);
}

static void adjacent_texts_are_hashed_separately(void **state)
{
    (void)state;
    struct facts a, b;
    facts_make(&a);
    facts_make(&b);
    a.x.target = STR("/p/abc?a");
    a.x.visitor.nickname = STR("bc");
    b.x.target = STR("/p/abc?ab");
    b.x.visitor.nickname = STR("c");
    assert_false(str_equal(show_tag(&a.x, &a.view), show_tag(&b.x, &b.view)));
}

static void an_open_packet_may_change_for_visitors_who_see_its_list(void **state)
{
    (void)state;
    struct facts s;
    facts_make(&s);
    s.view.mine.settled = true;
    assert_true(show_may_change(&s.view, GRABBER));
    s.view.has_mine = false;
    assert_true(show_may_change(&s.view, SENDER));
    assert_false(show_may_change(&s.view, STRANGER));
    assert_false(show_may_change(&s.view, GUEST));
}

static void a_finished_packet_may_change_until_the_visitors_share_is_settled(void **state)
{
    (void)state;
    struct facts s;
    facts_make(&s);
    s.view.packet.state = PACKET_FINISHED;
    assert_true(show_may_change(&s.view, GRABBER));
    s.view.mine.settled = true;
    assert_false(show_may_change(&s.view, GRABBER));
    s.view.has_mine = false;
    s.view.packet.grabbed_fen = 1000;
    assert_false(show_may_change(&s.view, SENDER));
    assert_false(show_may_change(&s.view, STRANGER));
}

static void an_expired_packet_may_change_for_its_sender_until_the_refund(void **state)
{
    (void)state;
    struct facts s;
    facts_make(&s);
    s.view.packet.state = PACKET_EXPIRED;
    s.view.has_mine = false;
    assert_true(show_may_change(&s.view, SENDER));
    assert_false(show_may_change(&s.view, STRANGER));
    s.view.packet.refund_fen = 450;
    assert_false(show_may_change(&s.view, SENDER));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_answer_has_the_same_tag),
        cmocka_unit_test(every_fact_of_an_answer_changes_its_tag),
        cmocka_unit_test(adjacent_texts_are_hashed_separately),
        cmocka_unit_test(an_open_packet_may_change_for_visitors_who_see_its_list),
        cmocka_unit_test(a_finished_packet_may_change_until_the_visitors_share_is_settled),
        cmocka_unit_test(an_expired_packet_may_change_for_its_sender_until_the_refund),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
