/* pages/show_model: the parts of a packet's page that each visitor sees in each state, and pages that may still change.
 * pages/show_tag: the tag changes with the answer. */
#include "packet/grab.h"
#include "packet/phrase.h"
#include "packet/view.h"
#include "pages/show_model.h"
#include "pages/show_tag.h"
#include "support/assert_text.h"
#include "support/test_site.h"

enum { SENDER = 10001, GRABBER = 10002, STRANGER = 10003, GUEST = 0 };

static struct fcgi_request request; /* without cookies */

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
    static struct exchange x;
    x = (struct exchange){ .app = &services, .fcgi = &request, .arena = arena, .visitor.user_id = visitor_id };
    arena_reset(arena);
    model_init(m, arena);
    show_model(&x, view, NULL, m);
    assert_false(m->failed);
    return &m->root;
}

static const struct value *member(const struct value *object, const char *name)
{
    return value_get(object, str_from(name), value_hash(str_from(name)));
}

/* The model as its JSON, with ' for ", and then the flags of the page: " NAME=true" or " NAME=false". */
static const char *model_text(const struct value *root)
{
    struct buf text = BUF_EMPTY;
    value_json(&text, root);
    EACH_TEXT (word, "can_thank", "may_thank", "can_open", "needs_login", "not_for_you", "sold_out", "late") {
        const struct value *flag = member(root, word);
        if (flag != NULL && flag->type == VALUE_BOOL)
            buf_printf(&text, " %s=%s", word, flag->as.boolean ? "true" : "false");
    }
    for (size_t i = 0; i < text.len; i++)
        text.ptr[i] = (char)(text.ptr[i] == '"' ? '\'' : text.ptr[i]);
    const char *copy = arena_cstr(arena, buf_view(&text));
    buf_free(&text);
    return copy;
}

/* Expects these parts of the model's text (model_text). "!" before a part: it is missing. */
#define SHOWS(view, visitor_id, ...)                                                                                   \
    do {                                                                                                               \
        struct model shown_model;                                                                                      \
        assert_parts(model_text(shown(view, visitor_id, &shown_model)), __VA_ARGS__);                                  \
    } while (0)

TEST(a_receiver_can_thank_once_the_money_has_come)
{
    struct packet_view view = view_open(GRABBER);
    SHOWS(&view, GRABBER, "can_thank=false", "may_thank=true" /* its place is kept */, "'thanks':null");
    view.mine.settled = true;
    SHOWS(&view, GRABBER, "can_thank=true");
    view.mine.returned = true;
    SHOWS(&view, GRABBER, "can_thank=false");
    view.mine.returned = false;
    view.mine.thanks = view.rows[0].thanks = STR("谢谢\"<b>");
    SHOWS(&view, GRABBER, "can_thank=false", "'thanks':'谢谢\\'\\u003cb\\u003e'");
    view.mine.thanks = STR_NONE;
    SHOWS(&view, GRABBER, "can_thank=true");
    view.packet.sender_name = STR(""); /* has deleted the account */
    SHOWS(&view, GRABBER, "can_thank=false");
    view.packet.sender_id = GRABBER; /* the own share of an own packet */
    view.packet.sender_name = STR("小明");
    SHOWS(&view, GRABBER, "can_thank=false");
}

TEST(only_the_sender_sees_the_amounts_and_with_the_receiver_the_greeting_of_an_exclusive_packet)
{
    struct packet_view view = view_open(SENDER);
    SHOWS(&view, SENDER, "'amount_fen':1000", "'grabbed_fen':250");
    SHOWS(&view, STRANGER, "!amount_fen", "!grabbed_fen");
    view = view_open(GRABBER);
    SHOWS(&view, GRABBER, "!'amount_fen':1000", "!grabbed_fen");
    view = view_open(STRANGER);
    SHOWS(&view, GUEST, "'greeting':'恭喜'");
    view.packet.kind = PACKET_EXCLUSIVE;
    view.packet.receiver_id = GRABBER;
    view.packet.receiver_name = STR("小明");
    SHOWS(&view, SENDER, "恭喜", "!'greeting':null");
    SHOWS(&view, GRABBER, "恭喜", "!'greeting':null");
    SHOWS(&view, STRANGER, "!恭喜", "'greeting':null");
    SHOWS(&view, GUEST, "!恭喜", "'greeting':null");
}

TEST(the_list_is_for_the_sender_and_users_with_a_share_and_at_the_end_for_all_for_whom_the_packet_is)
{
    static const struct {
        bool named; /* the packet is for GRABBER and another user */
        enum packet_state state;
        uint64_t visitor_id;
        bool has_mine, allowed;
    } rows[] = { { false, PACKET_OPEN, SENDER, false, true },       { false, PACKET_OPEN, GRABBER, true, true },
                 { false, PACKET_OPEN, STRANGER, false, false },    { false, PACKET_OPEN, GUEST, false, false },
                 { false, PACKET_FINISHED, STRANGER, false, true }, { false, PACKET_FINISHED, GUEST, false, false },
                 { false, PACKET_EXPIRED, STRANGER, false, true },  { true, PACKET_FINISHED, SENDER, false, true },
                 { true, PACKET_FINISHED, GRABBER, false, true },   { true, PACKET_FINISHED, STRANGER, false, false },
                 { true, PACKET_FINISHED, GUEST, false, false },    { true, PACKET_EXPIRED, SENDER, false, true },
                 { true, PACKET_EXPIRED, GRABBER, false, true },    { true, PACKET_EXPIRED, STRANGER, false, false },
                 { true, PACKET_EXPIRED, GUEST, false, false } };
    EACH (row, rows) {
        struct packet p = view_open(0).packet;
        p.state = row->state;
        p.receiver_count = row->named ? 2 : 0;
        p.receivers = row->named ? STR(",10002,10009,") : STR_NONE;
        if (show_list_allowed(&p, row->has_mine, row->visitor_id) != row->allowed)
            fail_msg("row %zu: %s", (size_t)(row - rows), row->allowed ? "refused" : "allowed");
    }
}

TEST(the_coin_is_shown_to_users_who_can_open_the_packet)
{
    struct packet_view view = view_open(STRANGER);
    SHOWS(&view, STRANGER, "can_open=true", "needs_login=false");
    SHOWS(&view, GUEST, "can_open=false", "needs_login=true");
    view = view_open(GRABBER);
    SHOWS(&view, GRABBER, "can_open=false");
    view = view_open(STRANGER);
    view.packet.kind = PACKET_EXCLUSIVE;
    view.packet.count = 1;
    view.packet.grabbed_count = 0;
    view.packet.receiver_id = GRABBER;
    view.packet.receiver_name = STR("小明");
    SHOWS(&view, STRANGER, "not_for_you=true", "can_open=false");
    SHOWS(&view, GRABBER, "can_open=true");
    SHOWS(&view, SENDER, "can_open=false", "not_for_you=false");
    struct model m;
    view = view_open(STRANGER);
    view.packet.grabbed_count = 0;
    view.packet.receiver_count = 5;
    view.packet.receivers = STR(",1,2,3,10002,100030,");
    view.packet.receiver_names = STR("小明\n小红\n小刚\n");
    SHOWS(&view, STRANGER, "not_for_you=true", "can_open=false",
          "'receivers':{'named':[{'nickname':'小明'},{'nickname':'小红'},{'nickname':'小刚'}],'count':5}");
    SHOWS(&view, GRABBER, "can_open=true", "not_for_you=false");
    SHOWS(&view, SENDER, "not_for_you=false");
    const struct value *receivers = member(shown(&view, STRANGER, &m), "receivers");
    assert_int_equal(member(member(receivers, "more"), "more_count")->as.integer, 2);
    view.packet.receiver_count = 0;
    SHOWS(&view, STRANGER, "'receivers':null");
}

TEST(only_the_sender_sees_the_phrase_and_the_note)
{
    static const uint64_t visitors[] = { SENDER, GRABBER, STRANGER, GUEST };
    struct model m;
    struct packet_view view = view_open(SENDER);
    struct arena *a = arena_new(1024, 65536);
    SHOWS(&view, SENDER, "'needs_phrase':false", "'phrase':null", "'note':null");
    EACH (visitor, visitors) {
        view = view_open(*visitor);
        view.packet.phrase_hash = phrase_hash(a, &config.keys.of[KEY_PHRASE_HASH], view.packet.id, STR("开心"));
        view.packet.phrase_sealed = phrase_seal(a, &config.keys.of[KEY_PHRASE_SEAL], view.packet.id, STR("开心"));
        view.packet.note = STR("聚餐");
        if (*visitor == SENDER) {
            SHOWS(&view, SENDER, "'phrase':'开心'", "'note':'聚餐'");
            continue;
        }
        SHOWS(&view, *visitor, "'needs_phrase':true", "!'phrase':", "!开心", "!'note':", "!聚餐");
        EACH_TEXT (name, "phrase", "note")
            assert_of(name, member(shown(&view, *visitor, &m), name) == NULL); /* nor is it for templates alone */
    }
    arena_free(a);
}

TEST(seed_and_best_share_are_shown_only_at_the_end_when_late_visitors_get_the_reason)
{
    struct packet_view view = view_open(GRABBER);
    view.packet.best_share_no = 0;
    SHOWS(&view, GRABBER, "'seed':null", "!'best':true");
    /* Until the close event is stored, a clock that is set back makes the packet open again. */
    view.packet.state = PACKET_EXPIRED;
    SHOWS(&view, SENDER, "'state':'expired'", "'seed':null");
    view.over = true;
    SHOWS(&view, GRABBER, "!'seed':null", "!'best':true");
    view.packet.state = PACKET_FINISHED;
    view.packet.finished_ms = 1700000037000;
    SHOWS(&view, GRABBER, "!'seed':null", "'best':true");
    view = view_open(STRANGER);
    view.packet.state = PACKET_FINISHED;
    SHOWS(&view, STRANGER, "sold_out=true", "can_open=false");
    view.packet.state = PACKET_EXPIRED;
    SHOWS(&view, STRANGER, "late=true");
    view = view_open(GRABBER);
    view.packet.state = PACKET_EXPIRED;
    SHOWS(&view, GRABBER, "late=false");
}

/* Expects that the template renders the model like this. */
static void assert_rendered(const struct value *root, enum language language, const char *name, const char *want)
{
    struct buf said = BUF_EMPTY;
    const struct mustache *text = templates_find(&services.templates, language, str_from(name));
    assert_non_null(text);
    assert_int_equal(mustache_render(text, root, &said), ST_OK);
    assert_text(buf_view(&said), want);
    buf_free(&said);
}

TEST(an_expired_packet_tells_its_own_lifetime)
{
    static const struct {
        int64_t opened_ms, ended_ms, lifetime_ms; /* after it was sent */
        const char *chinese, *english;
    } rows[] = { { 0, 0, 1, "已超过1秒", "expired after 1 second" },
                 { 0, 0, 90000, "已超过90秒", "expired after 90 seconds" },
                 { 0, 0, 3600000, "已超过1小时", "expired after 1 hour" },
                 { 0, 0, 86400000, "已超过24小时", "expired after 24 hours" },
                 { 0, 0, 129600000, "已超过36小时", "expired after 36 hours" },
                 { 0, 0, 172800000, "已超过2天", "expired after 2 days" },
                 { 0, 0, 604800000, "已超过7天", "expired after 7 days" },
                 { 5000, 0, 3605000, "已超过1小时", "expired after 1 hour" },
                 { 0, 7000, 3605000, "已过期", "has expired" } };
    char chinese[256], english[256];
    struct model m;
    struct packet_view view = view_open(STRANGER);
    struct packet *p = &view.packet;
    p->state = PACKET_EXPIRED;
    EACH (row, rows) {
        p->opens_ms = row->opened_ms > 0 ? p->created_ms + row->opened_ms : 0;
        p->ended_ms = row->ended_ms > 0 ? p->created_ms + row->ended_ms : 0;
        p->expires_ms = p->created_ms + row->lifetime_ms;
        snprintf(chinese, sizeof chinese, "该红包%s。如已领取，可在“我的红包”中查看", row->chinese);
        snprintf(english, sizeof english, "This red packet %s. If you took a share, you’ll find it in “My red packets”",
                 row->english);
        assert_rendered(shown(&view, STRANGER, &m), LANGUAGE_ZH_CN, "text/late", chinese);
        assert_rendered(&m.root, LANGUAGE_EN, "text/late", english);
    }
}

/* Expects that partials/packet_list_text renders the sentence above the list like this. */
static void assert_list_says(const struct packet *p, uint64_t visitor_id, const char *chinese, const char *english)
{
    struct packet_view view = { .packet = *p };
    struct model m;
    assert_rendered(shown(&view, visitor_id, &m), LANGUAGE_ZH_CN, "partials/packet_list_text", chinese);
    assert_rendered(&m.root, LANGUAGE_EN, "partials/packet_list_text", english);
}

TEST(the_sentence_above_the_list_has_the_words_of_the_apps_and_durations_in_their_largest_unit)
{
    struct packet p = view_open(0).packet;
    assert_list_says(&p, SENDER, "已领取1/3个，共2.50/<wbr>10.00\u2060元", "1 of 3 taken, ¥2.50 of ¥10.00");
    assert_list_says(&p, GRABBER, "领取1/3个", "1 of 3 taken");
    p.state = PACKET_EXPIRED;
    assert_list_says(&p, SENDER, "该红包已过期。已领取1/3个，共2.50/<wbr>10.00\u2060元",
                     "This red packet has expired: 1 of 3 taken, ¥2.50 of ¥10.00");
    assert_list_says(&p, GRABBER, "该红包已过期。已领取1/3个", "This red packet has expired: 1 of 3 taken");
    p.state = PACKET_FINISHED;
    p.finished_ms = p.created_ms + 37400;
    assert_list_says(&p, SENDER, "3个红包<wbr>共10.00\u2060元，37秒被抢光",
                     "All 3 shares, ¥10.00 in total, taken in 37 seconds");
    assert_list_says(&p, GRABBER, "3个红包，37秒被抢光", "All 3 shares taken in 37 seconds");
    p = view_open(0).packet;
    p.kind = PACKET_EXCLUSIVE;
    p.receiver_name = STR("小明");
    p.count = 1;
    p.grabbed_count = 0;
    p.amount_fen = 300;
    assert_list_says(&p, SENDER, "红包金额<wbr>3.00\u2060元，等待对方领取", "¥3.00, not opened yet");
    p.receiver_name = STR(""); /* has deleted the account */
    assert_list_says(&p, SENDER, "红包金额<wbr>3.00\u2060元，对方已注销账号，没有人能领了。你可以<wbr>提前结束",
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
    assert_list_says(&p, SENDER, "1个红包<wbr>共3.00\u2060元，1分钟被抢光", "Opened, ¥3.00");
    assert_list_says(&p, GRABBER, "1个红包，1分钟被抢光", "Opened");
    static const struct {
        int64_t ms;
        const char *chinese, *english;
    } cases[] = { { -1, "3个红包，1秒被抢光", "All 3 shares taken in 1 second" },
                  { 1999, "3个红包，1秒被抢光", "All 3 shares taken in 1 second" },
                  { 59999, "3个红包，59秒被抢光", "All 3 shares taken in 59 seconds" },
                  { 60000, "3个红包，1分钟被抢光", "All 3 shares taken in 1 minute" },
                  { 3599999, "3个红包，59分钟被抢光", "All 3 shares taken in 59 minutes" },
                  { 3600000, "3个红包，1小时被抢光", "All 3 shares taken in 1 hour" },
                  { 7200000, "3个红包，2小时被抢光", "All 3 shares taken in 2 hours" },
                  { 86400000, "3个红包，1天被抢光", "All 3 shares taken in 1 day" },
                  { 172800000, "3个红包，2天被抢光", "All 3 shares taken in 2 days" } };
    p = view_open(0).packet;
    p.state = PACKET_FINISHED;
    EACH (row, cases) {
        p.finished_ms = p.created_ms + row->ms;
        assert_list_says(&p, STRANGER, row->chinese, row->english);
    }
}

TEST(a_scheduled_packet_waits_until_its_time_and_was_finished_since_then)
{
    struct packet_view view = view_open(STRANGER);
    struct model m;
    view.packet.opens_ms = 1700000030000;
    view.now_ms = 1700000028500;
    SHOWS(&view, STRANGER, "'opens_at':'2023-11-14T22:13:50.000Z'", "'state':'open'");
    assert_int_equal(member(member(shown(&view, STRANGER, &m), "waiting"), "left_ms")->as.integer, 1500);
    view.now_ms = view.packet.opens_ms;
    SHOWS(&view, STRANGER, "'opens_at':'2023-11-14T22:13:50.000Z'");
    assert_null(member(shown(&view, STRANGER, &m), "waiting"));
    view.packet.state = PACKET_FINISHED;
    view.packet.grabbed_count = 3;
    view.packet.finished_ms = 1700000037000;
    assert_int_equal(member(member(shown(&view, SENDER, &m), "duration"), "seconds")->as.integer, 7);
}

TEST(a_zone_abroad_has_one_blank_on_each_side)
{
    struct model m;
    arena_reset(arena);
    model_init(&m, arena);
    struct value *root = &m.root, *site = value_object(&m, root, "site");
    value_text(&m, site, "timezone", STR("Europe/Paris"));
    value_bool(&m, site, "china_time", false);
    value_bool(&m, root, "is_open", true);
    value_text(&m, root, "greeting", STR("恭喜"));
    value_text(&m, root, "opens_text", STR("10:00"));
    (void)value_object(&m, root, "waiting");
    assert_rendered(root, LANGUAGE_ZH_CN, "text/og_more", " · 10:00 开抢（Europe/Paris 时区时间）");
    assert_rendered(root, LANGUAGE_ZH_CN, "text/share_text",
                    "给你发了一个红包：恭喜 · Europe/Paris 时区时间 10:00 开抢");
    assert_rendered(root, LANGUAGE_ZH_CN, "text/site_times", "时间均为 Europe/Paris 时区时间。");
    assert_rendered(root, LANGUAGE_ZH_CN, "text/filter_zone", "月份和日期均按 Europe/Paris 时区时间计。");
}

/* ---- the tag of an answer, and pages that may still change ---- */

enum { TAGS_MAX = 32 };

/* The facts of one answer. Each test changes one of them. */
struct facts {
    struct fcgi_request request;
    struct exchange x;
    struct packet_view view;
    struct grab rows[2];
};

/* Two shares are taken; the visitor is GRABBER, who has the first one. */
static void facts_make(struct facts *s)
{
    services.templates.hash = 1;
    *s = (struct facts){ .view = view_open(GRABBER) };
    s->x = (struct exchange){ .app = &services,
                              .fcgi = &s->request,
                              .arena = arena,
                              .target = STR("/p/abc"),
                              .visitor = { .user_id = GRABBER, .nickname = STR("小明") } };
    s->rows[0] = (struct grab){ .share_no = 1, .user_id = STRANGER, .amount_fen = 300, .grabbed_ms = 1700000070000 };
    s->rows[1] = s->view.mine;
    s->view.rows = s->rows;
    s->view.row_count = s->view.packet.grabbed_count = 2;
    s->view.packet.grabbed_fen = 550;
}

TEST(the_same_answer_has_the_same_tag_but_adjacent_texts_are_hashed_separately)
{
    struct facts a, b;
    facts_make(&a);
    facts_make(&b);
    struct str tag = show_tag(&a.x, &a.view);
    assert_int_equal(tag.len, 2 + 2 + 32);
    assert_true(str_starts(tag, STR("W/\"")));
    assert_true(str_equal(tag, show_tag(&b.x, &b.view)));
    b.view.packet.opens_ms = b.view.now_ms; /* the packet has opened; a packet that waits has another tag, see below */
    assert_true(str_equal(tag, show_tag(&b.x, &b.view)));
    /* Facts that no page shows: Redis's clock, and whether others' shares are settled. */
    b.view.now_ms += 5000;
    b.view.final = true;
    b.rows[0].settled = true;
    b.view.luckiest = &(struct grab){ .share_no = 2, .nickname = STR("小红") }; /* rendered rows have it */
    assert_true(str_equal(tag, show_tag(&b.x, &b.view)));
    facts_make(&a);
    facts_make(&b);
    a.x.target = STR("/p/abc?a");
    a.x.visitor.nickname = STR("bc");
    b.x.target = STR("/p/abc?ab");
    b.x.visitor.nickname = STR("c");
    assert_false(str_equal(show_tag(&a.x, &a.view), show_tag(&b.x, &b.view)));
}

TEST(every_fact_of_an_answer_changes_its_tag)
{
    static char *known_device[] = { "HTTP_COOKIE=device=1", NULL }, *passkey_offer[] = { "HTTP_COOKIE=offer=1", NULL };
    static const struct grab returned = { .share_no = 2, .nickname = STR("小红"), .returned = true },
                             nameless = { .share_no = 2, .nickname = STR("") };
    struct assets *assets = services.assets, *others;
    assert_int_equal(assets_load(HB_SOURCE_DIR "/docs", &others), ST_OK);
    const char *changes[TAGS_MAX] = { "nothing" };
    struct str tags[TAGS_MAX];
    struct facts s;
    facts_make(&s);
    tags[0] = show_tag(&s.x, &s.view);
    size_t count = 1;
#define TAG_AFTER(change)                                                                                              \
    do {                                                                                                               \
        facts_make(&s);                                                                                                \
        change;                                                                                                        \
        changes[count] = #change;                                                                                      \
        tags[count++] = show_tag(&s.x, &s.view);                                                                       \
    } while (0)
    TAG_AFTER(s.x.language = LANGUAGE_EN);
    TAG_AFTER(s.x.wants_json = true);
    TAG_AFTER(s.x.visitor.user_id = SENDER);
    TAG_AFTER(s.view.packet.receiver_name = STR("小红"));
    TAG_AFTER(s.view.packet.receiver_names = STR("小红\n\n小刚"));
    TAG_AFTER(s.x.visitor.nickname = STR("小月"));
    TAG_AFTER(s.request.fcgx.envp = known_device);
    TAG_AFTER(s.request.fcgx.envp = passkey_offer);
    TAG_AFTER(s.x.visitor = (struct visitor){ 0 });
    TAG_AFTER(s.x.target = STR("/p/abc?after=2"));
    TAG_AFTER(s.view.packet.id = 78);
    TAG_AFTER(s.view.packet.state = PACKET_EXPIRED);
    TAG_AFTER(s.view.packet.grabbed_count = 3);
    TAG_AFTER(s.view.packet.refund_fen = 450);
    TAG_AFTER(s.view.busy = true);
    TAG_AFTER(s.view.packet.opens_ms = s.view.now_ms + 1);
    TAG_AFTER(s.view.over = true);
    TAG_AFTER(s.rows[0].user_id = 10009);
    TAG_AFTER(s.rows[0].grabbed_ms++);
    TAG_AFTER(s.view.row_count = 0);
    TAG_AFTER(s.view.has_mine = false);
    TAG_AFTER(s.view.mine.share_no = 1);
    TAG_AFTER(s.view.mine.settled = true);
    TAG_AFTER(s.view.packet.returned_shares = STR("3"));
    TAG_AFTER(s.view.luckiest = &returned);
    TAG_AFTER(s.view.luckiest = &nameless);
    TAG_AFTER(services.templates.hash = 2);
    TAG_AFTER(services.assets = others);
    services.assets = assets;
    assets_free(others);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (str_equal(tags[i], tags[j]))
                fail_msg("these have the same tag: %s; %s", changes[j], changes[i]);
}

TEST(the_page_of_an_open_packet_or_of_one_with_money_to_come_may_change)
{
    enum { MINE = 1, SETTLED = 2, REFUNDED = 4, ALL_TAKEN = 8 };
    static const struct {
        enum packet_state state;
        unsigned facts;
        uint64_t visitor_id;
        bool may_change;
    } rows[] = { { PACKET_OPEN, MINE | SETTLED, GRABBER, true },
                 { PACKET_OPEN, 0, SENDER, true },
                 { PACKET_OPEN, 0, STRANGER, false },
                 { PACKET_OPEN, 0, GUEST, false },
                 { PACKET_FINISHED, MINE, GRABBER, true },
                 { PACKET_FINISHED, MINE | SETTLED, GRABBER, false },
                 { PACKET_FINISHED, ALL_TAKEN, SENDER, false },
                 { PACKET_FINISHED, ALL_TAKEN, STRANGER, false },
                 { PACKET_EXPIRED, 0, SENDER, true },
                 { PACKET_EXPIRED, 0, STRANGER, false },
                 { PACKET_EXPIRED, REFUNDED, SENDER, false } };
    EACH (row, rows) {
        struct facts s;
        facts_make(&s);
        s.view.packet.state = row->state;
        s.view.has_mine = (row->facts & MINE) != 0;
        s.view.mine.settled = (row->facts & SETTLED) != 0;
        s.view.packet.refund_fen = (row->facts & REFUNDED) != 0 ? 450 : 0;
        s.view.packet.grabbed_fen = (row->facts & ALL_TAKEN) != 0 ? 1000 : 550;
        if (show_may_change(&s.view, row->visitor_id) != row->may_change)
            fail_msg("row %zu", (size_t)(row - rows));
    }
}

TESTS(site_setup, site_teardown)
