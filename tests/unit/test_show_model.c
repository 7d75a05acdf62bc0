/* pages/show_model: the parts of a packet's page that each visitor sees in each state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "packet/grab.h"
#include "packet/phrase.h"
#include "packet/view.h"
#include "pages/show_model.h"
#include "web/assets.h"

enum { SENDER = 10001, GRABBER = 10002, STRANGER = 10003, GUEST = 0 };

static struct arena *arena;
static struct config config;
static struct services services;
static struct exchange exchange;
static struct fcgi_request request; /* without cookies */

static int setup(void **state)
{
    (void)state;
    char error[512];
    arena = arena_new(1 << 16, 1 << 22);
    config_defaults(&config);
    keys_derive(STR("a secret of more than thirty-two characters"), false, &config.keys);
    strcpy(config.base_url, "http://hongbao.example");
    public_id_key_set(&services.id_key,
                      (struct key[]){ key_derive(STR("a secret of more than thirty-two characters"), KEY_IDS) });
    services.stores.config = &config;
    return arena == NULL ||
           templates_load(HB_SOURCE_DIR "/templates", &services.templates, error, sizeof error) != ST_OK ||
           assets_load(HB_SOURCE_DIR "/static", &services.assets) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    templates_free(&services.templates);
    assets_free(services.assets);
    arena_free(arena);
    return 0;
}

/* A lucky packet of 3 shares, 10.00 yuan; one share (2.50) taken by GRABBER. */
static struct packet_view view_open(uint64_t visitor_id)
{
    static struct grab row;
    struct packet_view view = { 0 };
    row = (struct grab){ .user_id = GRABBER, .nickname = STR("小明"), .amount_fen = 250, .grabbed_ms = 1700000060000 };
    view.packet = (struct packet){ .id = (uint64_t)1 << 60,
                                   .sender_id = SENDER,
                                   .sender_name = STR("阿红"),
                                   .kind = PACKET_LUCKY,
                                   .amount_fen = 1000,
                                   .count = 3,
                                   .best_share_no = 1,
                                   .greeting = STR("恭喜"),
                                   .state = PACKET_OPEN,
                                   .grabbed_count = 1,
                                   .grabbed_fen = 250,
                                   .created_ms = 1700000000000,
                                   .expires_ms = 1700086400000 };
    view.rows = &row;
    view.row_count = 1;
    view.has_mine = visitor_id == GRABBER;
    if (view.has_mine)
        view.mine = row;
    return view;
}

static const struct value *shown(const struct packet_view *view, uint64_t visitor_id, struct model *m)
{
    exchange = (struct exchange){ .app = &services, .fcgi = &request, .arena = arena, .visitor.user_id = visitor_id };
    arena_reset(arena);
    model_init(m, arena);
    show_model(&exchange, view, NULL, m);
    assert_false(m->failed);
    return &m->root;
}

static const struct value *member(const struct value *object, const char *name)
{
    return value_get(object, str_from(name), value_hash(str_from(name)));
}

static bool flag(const struct value *root, const char *name)
{
    const struct value *v = member(root, name);
    assert_non_null(v);
    assert_int_equal(v->type, VALUE_BOOL);
    return v->as.boolean;
}

static bool json_has(const struct model *m, const char *part)
{
    struct buf json = BUF_EMPTY;
    value_json(&json, &m->root);
    buf_char(&json, '\0');
    bool found = strstr(json.ptr, part) != NULL;
    buf_free(&json);
    return found;
}

static void a_receiver_can_thank_once_the_money_has_come(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(GRABBER);
    assert_false(flag(shown(&view, GRABBER, &m), "can_thank"));
    assert_true(flag(&m.root, "may_thank")); /* its place is kept */
    assert_true(json_has(&m, "\"thanks\":null"));
    view.mine.settled = true;
    assert_true(flag(shown(&view, GRABBER, &m), "can_thank"));
    view.mine.returned = true;
    assert_false(flag(shown(&view, GRABBER, &m), "can_thank"));
    view.mine.returned = false;
    view.mine.thanks = view.rows[0].thanks = STR("谢谢\"<b>");
    assert_false(flag(shown(&view, GRABBER, &m), "can_thank"));
    assert_true(json_has(&m, "\"thanks\":\"谢谢\\\"\\u003cb\\u003e\""));
    view.mine.thanks = STR_NONE;
    assert_true(flag(shown(&view, GRABBER, &m), "can_thank"));
    view.packet.sender_name = STR(""); /* has deleted the account */
    assert_false(flag(shown(&view, GRABBER, &m), "can_thank"));
    view.packet.sender_id = GRABBER; /* the own share of an own packet */
    view.packet.sender_name = STR("小明");
    assert_false(flag(shown(&view, GRABBER, &m), "can_thank"));
}

static void only_the_sender_sees_the_amounts(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(SENDER);
    (void)shown(&view, SENDER, &m);
    assert_true(json_has(&m, "\"amount_fen\":1000"));
    assert_true(json_has(&m, "\"grabbed_fen\":250"));
    (void)shown(&view, STRANGER, &m);
    assert_false(json_has(&m, "amount_fen"));
    assert_false(json_has(&m, "grabbed_fen"));
    view = view_open(GRABBER);
    (void)shown(&view, GRABBER, &m);
    assert_false(json_has(&m, "\"amount_fen\":1000"));
    assert_false(json_has(&m, "grabbed_fen"));
}

static void the_greeting_of_an_exclusive_packet_is_for_its_sender_and_its_receiver(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(STRANGER);
    (void)shown(&view, GUEST, &m);
    assert_true(json_has(&m, "\"greeting\":\"恭喜\""));
    view.packet.kind = PACKET_EXCLUSIVE;
    view.packet.receiver_id = GRABBER;
    view.packet.receiver_name = STR("小明");
    static const struct {
        uint64_t visitor_id;
        bool reads;
    } cases[] = { { SENDER, true }, { GRABBER, true }, { STRANGER, false }, { GUEST, false } };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        (void)shown(&view, cases[i].visitor_id, &m);
        assert_int_equal(json_has(&m, "恭喜"), cases[i].reads);
        assert_int_equal(json_has(&m, "\"greeting\":null"), !cases[i].reads);
    }
}

static void the_list_of_an_open_packet_is_for_the_sender_and_users_with_a_share(void **state)
{
    (void)state;
    struct packet p = view_open(0).packet;
    assert_true(show_list_allowed(&p, false, SENDER));
    assert_true(show_list_allowed(&p, true, GRABBER));
    assert_false(show_list_allowed(&p, false, STRANGER));
    assert_false(show_list_allowed(&p, false, GUEST));
    p.state = PACKET_FINISHED;
    assert_true(show_list_allowed(&p, false, STRANGER));
    assert_false(show_list_allowed(&p, false, GUEST));
    p.state = PACKET_EXPIRED;
    assert_true(show_list_allowed(&p, false, STRANGER));
}

static void the_list_of_a_packet_for_named_receivers_is_for_them_and_its_sender(void **state)
{
    (void)state;
    struct packet p = view_open(0).packet;
    p.receiver_count = 2;
    p.receivers = STR(",10002,10009,");
    static const enum packet_state over[] = { PACKET_FINISHED, PACKET_EXPIRED };
    for (size_t i = 0; i < ARRAY_LEN(over); i++) {
        p.state = over[i];
        assert_true(show_list_allowed(&p, false, SENDER));
        assert_true(show_list_allowed(&p, false, GRABBER));
        assert_false(show_list_allowed(&p, false, STRANGER));
        assert_false(show_list_allowed(&p, false, GUEST));
    }
}

static void the_coin_is_shown_to_users_who_can_open_the_packet(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(STRANGER);
    const struct value *root = shown(&view, STRANGER, &m);
    assert_true(flag(root, "can_open"));
    assert_false(flag(root, "needs_login"));
    root = shown(&view, GUEST, &m);
    assert_false(flag(root, "can_open"));
    assert_true(flag(root, "needs_login"));
    view = view_open(GRABBER);
    root = shown(&view, GRABBER, &m);
    assert_false(flag(root, "can_open"));
}

static void an_exclusive_packet_can_be_opened_by_its_receiver_only(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(STRANGER);
    view.packet.kind = PACKET_EXCLUSIVE;
    view.packet.count = 1;
    view.packet.grabbed_count = 0;
    view.packet.receiver_id = GRABBER;
    view.packet.receiver_name = STR("小明");
    const struct value *root = shown(&view, STRANGER, &m);
    assert_true(flag(root, "not_for_you"));
    assert_false(flag(root, "can_open"));
    root = shown(&view, GRABBER, &m);
    assert_true(flag(root, "can_open"));
    root = shown(&view, SENDER, &m);
    assert_false(flag(root, "can_open"));
    assert_false(flag(root, "not_for_you"));
}

static void a_packet_for_several_can_be_opened_by_them_only(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(STRANGER);
    view.packet.grabbed_count = 0;
    view.packet.receiver_count = 5;
    view.packet.receivers = STR(",1,2,3,10002,100030,");
    view.packet.receiver_names = STR("小明\n小红\n小刚\n");
    const struct value *root = shown(&view, STRANGER, &m);
    assert_true(flag(root, "not_for_you"));
    assert_false(flag(root, "can_open"));
    assert_true(json_has(&m, "\"receivers\":{\"named\":[{\"nickname\":\"小明\"},{\"nickname\":\"小红\"},"
                             "{\"nickname\":\"小刚\"}],\"count\":5}"));
    assert_int_equal(member(member(member(root, "receivers"), "more"), "more_count")->as.integer, 2);
    root = shown(&view, GRABBER, &m);
    assert_true(flag(root, "can_open"));
    assert_false(flag(root, "not_for_you"));
    assert_false(flag(shown(&view, SENDER, &m), "not_for_you"));
    view.packet.receiver_count = 0;
    (void)shown(&view, STRANGER, &m);
    assert_true(json_has(&m, "\"receivers\":null"));
}

static void only_the_sender_sees_the_phrase(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(SENDER);
    struct arena *a = arena_new(1024, 65536);
    (void)shown(&view, SENDER, &m);
    assert_true(json_has(&m, "\"needs_phrase\":false"));
    assert_true(json_has(&m, "\"phrase\":null"));
    struct str hash = phrase_hash(a, &config.keys.of[KEY_PHRASE_HASH], view.packet.id, STR("开心"));
    struct str sealed = phrase_seal(a, &config.keys.of[KEY_PHRASE_SEAL], view.packet.id, STR("开心"));
    view.packet.phrase_hash = hash;
    view.packet.phrase_sealed = sealed;
    (void)shown(&view, SENDER, &m);
    assert_true(json_has(&m, "\"phrase\":\"开心\""));
    static const uint64_t others[] = { GRABBER, STRANGER, GUEST };
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        view = view_open(others[i]);
        view.packet.phrase_hash = hash;
        view.packet.phrase_sealed = sealed;
        const struct value *root = shown(&view, others[i], &m);
        assert_true(flag(root, "needs_phrase"));
        assert_null(member(root, "phrase"));
        assert_false(json_has(&m, "开心"));
    }
    arena_free(a);
}

static void seed_and_best_share_are_shown_only_at_the_end(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(GRABBER);
    view.packet.best_share_no = 0;
    (void)shown(&view, GRABBER, &m);
    assert_true(json_has(&m, "\"seed\":null"));
    assert_false(json_has(&m, "\"best\":true"));
    view.packet.state = PACKET_FINISHED;
    view.packet.finished_ms = 1700000037000;
    view.over = true;
    (void)shown(&view, GRABBER, &m);
    assert_false(json_has(&m, "\"seed\":null"));
    assert_true(json_has(&m, "\"best\":true"));
    view.packet.state = PACKET_EXPIRED;
    (void)shown(&view, GRABBER, &m);
    assert_false(json_has(&m, "\"seed\":null"));
    assert_false(json_has(&m, "\"best\":true"));
}

/* Until the close event is stored, the packet opens again when the clock is set back. */
static void an_expired_packet_hides_its_seed_until_it_is_closed(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(SENDER);
    view.packet.state = PACKET_EXPIRED;
    (void)shown(&view, SENDER, &m);
    assert_true(json_has(&m, "\"state\":\"expired\""));
    assert_true(json_has(&m, "\"seed\":null"));
}

static void late_visitors_get_the_reason(void **state)
{
    (void)state;
    struct model m;
    struct packet_view view = view_open(STRANGER);
    view.packet.state = PACKET_FINISHED;
    assert_true(flag(shown(&view, STRANGER, &m), "sold_out"));
    assert_false(flag(shown(&view, STRANGER, &m), "can_open"));
    view.packet.state = PACKET_EXPIRED;
    assert_true(flag(shown(&view, STRANGER, &m), "late"));
    view = view_open(GRABBER);
    view.packet.state = PACKET_EXPIRED;
    assert_false(flag(shown(&view, GRABBER, &m), "late"));
}

/* Expects that the template renders the model like this. */
static void assert_rendered(const struct value *root, enum language language, struct str name, const char *want)
{
    struct buf said = BUF_EMPTY;
    const struct mustache *text = templates_find(&services.templates, language, name);
    assert_non_null(text);
    assert_int_equal(mustache_render(text, root, &said), ST_OK);
    if (!str_equal(buf_view(&said), str_from(want)))
        fail_msg("got \"%.*s\", want \"%s\"", STR_ARG(buf_view(&said)), want);
    buf_free(&said);
}

static void an_expired_packet_tells_its_own_lifetime(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *chinese, *english;
    } cases[] = {
        { 1, "已超过1秒", "expired after 1 second" },
        { 90000, "已超过90秒", "expired after 90 seconds" },
        { 3600000, "已超过1小时", "expired after 1 hour" },
        { 86400000, "已超过24小时", "expired after 24 hours" },
        { 129600000, "已超过36小时", "expired after 36 hours" },
        { 172800000, "已超过2天", "expired after 2 days" },
        { 604800000, "已超过7天", "expired after 7 days" },
    };
    char chinese[256], english[256];
    struct model m;
    struct packet_view view = view_open(STRANGER);
    view.packet.state = PACKET_EXPIRED;
    for (size_t i = 0; i < ARRAY_LEN(cases) + 2; i++) {
        bool scheduled = i == ARRAY_LEN(cases), ended = i > ARRAY_LEN(cases);
        view.packet.opens_ms = scheduled ? view.packet.created_ms + 5000 : 0;
        view.packet.ended_ms = ended ? view.packet.created_ms + 7000 : 0;
        view.packet.expires_ms = view.packet.created_ms + (scheduled || ended ? 3605000 : cases[i].ms);
        snprintf(chinese, sizeof chinese, "该红包%s。如已领取，可在“我的红包”中查看",
                 ended       ? "已过期"
                 : scheduled ? "已超过1小时"
                             : cases[i].chinese);
        snprintf(english, sizeof english, "This red packet %s. If you took a share, you’ll find it in “My red packets”",
                 ended       ? "has expired"
                 : scheduled ? "expired after 1 hour"
                             : cases[i].english);
        assert_rendered(shown(&view, STRANGER, &m), LANGUAGE_ZH_CN, STR("text/late"), chinese);
        assert_rendered(shown(&view, STRANGER, &m), LANGUAGE_EN, STR("text/late"), english);
    }
}

/* Expects that partials/packet_list_text renders the sentence above the list like this. */
static void assert_said(const struct packet *p, uint64_t visitor_id, enum language language, const char *want)
{
    struct packet_view view = { .packet = *p };
    struct model m;
    assert_rendered(shown(&view, visitor_id, &m), language, STR("partials/packet_list_text"), want);
}

static void assert_list_says(const struct packet *p, uint64_t visitor_id, const char *chinese, const char *english)
{
    assert_said(p, visitor_id, LANGUAGE_ZH_CN, chinese);
    assert_said(p, visitor_id, LANGUAGE_EN, english);
}

static void the_sentence_above_the_list_has_the_words_of_the_apps(void **state)
{
    (void)state;
    struct packet p = view_open(0).packet;
    assert_list_says(&p, SENDER, "已领取1/3个，共2.50/<wbr>10.00元", "1 of 3 taken, ¥2.50 of ¥10.00");
    assert_list_says(&p, GRABBER, "领取1/3个", "1 of 3 taken");
    p.state = PACKET_EXPIRED;
    assert_list_says(&p, SENDER, "该红包已过期。已领取1/3个，共2.50/<wbr>10.00元",
                     "This red packet has expired: 1 of 3 taken, ¥2.50 of ¥10.00");
    assert_list_says(&p, GRABBER, "该红包已过期。已领取1/3个", "This red packet has expired: 1 of 3 taken");
    p.state = PACKET_FINISHED;
    p.finished_ms = p.created_ms + 37400;
    assert_list_says(&p, SENDER, "3个红包<wbr>共10.00元，37秒被抢光",
                     "All 3 shares, ¥10.00 in total, taken in 37 seconds");
    assert_list_says(&p, GRABBER, "3个红包，37秒被抢光", "All 3 shares taken in 37 seconds");
}

static void a_packet_of_one_share_has_texts_in_the_singular(void **state)
{
    (void)state;
    struct packet p = view_open(0).packet;
    p.kind = PACKET_EXCLUSIVE;
    p.receiver_name = STR("小明");
    p.count = 1;
    p.grabbed_count = 0;
    p.amount_fen = 300;
    assert_list_says(&p, SENDER, "红包金额<wbr>3.00元，等待对方领取", "¥3.00, not opened yet");
    p.receiver_name = STR(""); /* has deleted the account */
    assert_list_says(&p, SENDER, "红包金额<wbr>3.00元，对方已注销账号，没有人能领了。你可以<wbr>提前结束",
                     "¥3.00: the receiver has deleted the account, so nobody can open it. You can end it early");
    p.receiver_name = STR("小明");
    p.state = PACKET_FINISHED;
    p.finished_ms = p.created_ms + 61000;
    assert_list_says(&p, SENDER, "对方已领取", "Opened");
    assert_list_says(&p, GRABBER, "你已领取", "You have opened it");
    p.state = PACKET_EXPIRED;
    assert_list_says(&p, SENDER, "未领取", "Not opened");
    p.kind = PACKET_LUCKY;
    p.state = PACKET_FINISHED;
    assert_list_says(&p, SENDER, "1个红包<wbr>共3.00元，1分钟被抢光", "Opened, ¥3.00");
    assert_list_says(&p, GRABBER, "1个红包，1分钟被抢光", "Opened");
}

static void durations_are_shown_in_their_largest_unit(void **state)
{
    (void)state;
    static const struct {
        int64_t ms;
        const char *chinese, *english;
    } cases[] = {
        { -1, "3个红包，1秒被抢光", "All 3 shares taken in 1 second" },
        { 1999, "3个红包，1秒被抢光", "All 3 shares taken in 1 second" },
        { 59999, "3个红包，59秒被抢光", "All 3 shares taken in 59 seconds" },
        { 60000, "3个红包，1分钟被抢光", "All 3 shares taken in 1 minute" },
        { 3599999, "3个红包，59分钟被抢光", "All 3 shares taken in 59 minutes" },
        { 3600000, "3个红包，1小时被抢光", "All 3 shares taken in 1 hour" },
        { 7200000, "3个红包，2小时被抢光", "All 3 shares taken in 2 hours" },
        { 86400000, "3个红包，1天被抢光", "All 3 shares taken in 1 day" },
        { 172800000, "3个红包，2天被抢光", "All 3 shares taken in 2 days" },
    };
    struct packet p = view_open(0).packet;
    p.state = PACKET_FINISHED;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        p.finished_ms = p.created_ms + cases[i].ms;
        assert_list_says(&p, STRANGER, cases[i].chinese, cases[i].english);
    }
}

static void a_scheduled_packet_waits_until_its_time(void **state)
{
    (void)state;
    struct packet_view view = view_open(STRANGER);
    struct model m;
    view.packet.opens_ms = 1700000030000;
    view.now_ms = 1700000028500;
    const struct value *root = shown(&view, STRANGER, &m);
    assert_true(str_equal(member(root, "opens_at")->as.text, STR("2023-11-14T22:13:50.000Z")));
    assert_true(str_equal(member(root, "state")->as.text, STR("open")));
    assert_int_equal(member(member(root, "waiting"), "left_ms")->as.integer, 1500);
    view.now_ms = view.packet.opens_ms;
    root = shown(&view, STRANGER, &m);
    assert_null(member(root, "waiting"));
    assert_non_null(member(root, "opens_at"));
}

/* A text of the visitor's language, with a site elsewhere. */
static void assert_text_abroad(const char *name, const char *want)
{
    struct model m;
    struct buf text = BUF_EMPTY;
    arena_reset(arena);
    model_init(&m, arena);
    struct value *root = &m.root, *site = value_object(&m, root, "site");
    value_text(&m, site, "timezone", STR("Europe/Paris"));
    value_bool(&m, site, "china_time", false);
    value_bool(&m, root, "is_open", true);
    value_text(&m, root, "greeting", STR("恭喜"));
    value_text(&m, root, "opens_text", STR("10:00"));
    (void)value_object(&m, root, "waiting");
    const struct mustache *template = templates_find(&services.templates, LANGUAGE_ZH_CN, str_from(name));
    assert_non_null(template);
    assert_int_equal(mustache_render(template, root, &text), ST_OK);
    if (!str_equal(str_trim(buf_view(&text)), str_from(want)))
        fail_msg("%s: %.*s", name, STR_ARG(buf_view(&text)));
    buf_free(&text);
}

static void a_zone_abroad_has_one_blank_on_each_side(void **state)
{
    (void)state;
    assert_text_abroad("text/og_more", "· 10:00 开抢（Europe/Paris 时区时间）");
    assert_text_abroad("text/share_text", "给你发了一个红包：恭喜 · Europe/Paris 时区时间 10:00 开抢");
    assert_text_abroad("text/site_times", "时间均为 Europe/Paris 时区时间。");
    assert_text_abroad("text/filter_zone", "月份和日期均按 Europe/Paris 时区时间计。");
}

static void a_scheduled_packet_was_finished_since_its_opening(void **state)
{
    (void)state;
    struct packet_view view = view_open(SENDER);
    struct model m;
    view.packet.opens_ms = 1700000030000;
    view.packet.state = PACKET_FINISHED;
    view.packet.grabbed_count = 3;
    view.packet.finished_ms = 1700000037000;
    assert_int_equal(member(member(shown(&view, SENDER, &m), "duration"), "seconds")->as.integer, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_receiver_can_thank_once_the_money_has_come),
        cmocka_unit_test(only_the_sender_sees_the_amounts),
        cmocka_unit_test(the_greeting_of_an_exclusive_packet_is_for_its_sender_and_its_receiver),
        cmocka_unit_test(the_list_of_an_open_packet_is_for_the_sender_and_users_with_a_share),
        cmocka_unit_test(the_list_of_a_packet_for_named_receivers_is_for_them_and_its_sender),
        cmocka_unit_test(the_coin_is_shown_to_users_who_can_open_the_packet),
        cmocka_unit_test(an_exclusive_packet_can_be_opened_by_its_receiver_only),
        cmocka_unit_test(a_packet_for_several_can_be_opened_by_them_only),
        cmocka_unit_test(only_the_sender_sees_the_phrase),
        cmocka_unit_test(seed_and_best_share_are_shown_only_at_the_end),
        cmocka_unit_test(an_expired_packet_hides_its_seed_until_it_is_closed),
        cmocka_unit_test(late_visitors_get_the_reason),
        cmocka_unit_test(the_sentence_above_the_list_has_the_words_of_the_apps),
        cmocka_unit_test(a_packet_of_one_share_has_texts_in_the_singular),
        cmocka_unit_test(an_expired_packet_tells_its_own_lifetime),
        cmocka_unit_test(durations_are_shown_in_their_largest_unit),
        cmocka_unit_test(a_scheduled_packet_waits_until_its_time),
        cmocka_unit_test(a_scheduled_packet_was_finished_since_its_opening),
        cmocka_unit_test(a_zone_abroad_has_one_blank_on_each_side),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
