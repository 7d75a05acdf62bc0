/* pages/card: the picture that everybody with the link sees says nothing that is not for everybody. What would be drawn
 * is read here as SVG. */
#include "base/clock.h"
#include "io/svg_png.h"
#include "pages/card.h"
#include "pages/present.h"
#include "support/test.h"
#include "test_packet_app.h"
#include "web/respond.h"

enum { FIELDS_MAX = 512, BALANCE_FEN = 100000 };

static struct buf drawn; /* the newest SVG */

enum status __wrap_svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out);
enum status __wrap_svg_png_draw(const struct svg_png *s, struct str svg, int width, int height, struct buf *out)
{
    assert_null(s);
    assert_true(width > 0 && height > 0);
    buf_free(&drawn);
    buf_str(&drawn, svg);
    buf_cstr(out, "PNG");
    return ST_OK;
}

static int teardown(void **state)
{
    buf_free(&drawn);
    return app_teardown(state);
}

static int requested(uint64_t packet_id, const char *uri)
{
    struct visit v;
    visit_begin(&v, app, uri, NULL, NULL);
    v.x.id = packet_id;
    v.x.params.id = present_packet_id(&v.x, packet_id);
    buf_free(&drawn);
    assert_int_equal(packet_card(&v.x), STEP_DONE);
    respond_finish(&v.x);
    int status = v.x.status;
    visit_end(&v);
    return status;
}

static bool drawn_has(const char *text)
{
    return str_after(buf_view(&drawn), str_from(text)).ptr != NULL;
}

TEST(the_picture_has_no_amount_and_no_passphrase)
{
    static const char *const uris[] = { "/p/x/card.png", "/p/x/card.png?shape=tall&lang=en" };
    struct person sender = person_with(BALANCE_FEN);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=67.89&count=3&greeting=Hello+all&phrase=xyzzy");
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        assert_int_equal(requested(id, uris[i]), 200);
        assert_true(drawn_has("Hello all"));
        assert_true(drawn_has(sender.nickname));
        assert_false(drawn_has("67.89"));
        assert_false(drawn_has("6789"));
        assert_false(drawn_has("xyzzy"));
    }
}

TEST(the_opening_is_on_it)
{
    struct person sender = person_with(BALANCE_FEN);
    const int64_t opens_ms = (clock_now_ms() / 60000 + 60) * 60000;
    struct str opens = clock_zone_minute(arena, opens_ms);
    uint64_t id = person_send(
        app, &sender,
        text_printf("kind=lucky&amount=5&count=3&phrase=xyzzy&opens_at=%.*s", STR_ARG(clock_rfc3339(arena, opens_ms))));
    for (int tall = 0; tall < 2; tall++) {
        assert_int_equal(requested(id, tall ? "/p/x/card.png?shape=tall&lang=en" : "/p/x/card.png?lang=en"), 200);
        assert_true(str_after(buf_view(&drawn), opens).ptr != NULL);
        assert_false(drawn_has("xyzzy"));
        assert_int_equal(drawn_has(app->stores.config->timezone),
                         strcmp(app->stores.config->timezone, "Asia/Shanghai") != 0);
        assert_int_equal(drawn_has("China time"), strcmp(app->stores.config->timezone, "Asia/Shanghai") == 0);
        assert_int_equal(requested(id, tall ? "/p/x/card.png?shape=tall&lang=zh-CN" : "/p/x/card.png?lang=zh-CN"), 200);
        assert_int_equal(drawn_has("北京时间"), strcmp(app->stores.config->timezone, "Asia/Shanghai") == 0);
    }
    uint64_t plain = person_send(app, &sender, "kind=lucky&amount=5&count=3");
    assert_int_equal(requested(plain, "/p/x/card.png?lang=en"), 200);
    assert_false(drawn_has("Opens"));
}

/* In a line of its own in the wide picture, behind the opening in the tall one. */
TEST(a_passphrase_is_announced)
{
    static const char *const uris[] = { "/p/x/card.png?lang=en", "/p/x/card.png?shape=tall&lang=en" };
    struct person sender = person_with(BALANCE_FEN);
    struct str opens = clock_rfc3339(arena, (clock_now_ms() / 60000 + 60) * 60000);
    for (int n = 0; n < 4; n++) { /* bit 0: a passphrase, bit 1: an opening */
        uint64_t id = person_send(app, &sender,
                                  text_printf("kind=lucky&amount=5&count=3%s%s%.*s", n & 1 ? "&phrase=xyzzy" : "",
                                              n & 2 ? "&opens_at=" : "", n & 2 ? (int)opens.len : 0, opens.ptr));
        for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
            assert_int_equal(requested(id, uris[i]), 200);
            assert_int_equal(drawn_has("Passphrase needed"), n & 1);
            assert_int_equal(drawn_has("Opens"), n >> 1);
            assert_false(drawn_has("xyzzy"));
        }
    }
}

/* Its last letters are found once each. Words take more room than characters do: then the letters are smaller. */
TEST(a_long_greeting_is_whole)
{
    static const struct {
        const char *greeting, *end, *language;
    } cases[] = {
        { "恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊", "进啊", "zh-CN" }, /* 25, and no more are allowed */
        { "Merry+Christmas+Grandma%2C+from+all+of+us+in+Boston", "in Boston", "en" },
    };
    static const char *const uris[] = { "/p/x/card.png?lang=", "/p/x/card.png?shape=tall&lang=" };
    struct person sender = person_with(BALANCE_FEN);
    for (size_t n = 0; n < 2; n++) {
        uint64_t id =
            person_send(app, &sender, text_printf("kind=lucky&amount=5&count=3&greeting=%s", cases[n].greeting));
        for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
            assert_int_equal(requested(id, text_printf("%s%s", uris[i], cases[n].language)), 200);
            if (!drawn_has(cases[n].end))
                fail_msg("%s: no %s", uris[i], cases[n].end);
            assert_false(drawn_has("…"));
        }
    }
}

TEST(an_exclusive_packet_shows_its_receiver_and_not_its_greeting)
{
    struct person sender = person_with(BALANCE_FEN), receiver = person_with(0);
    uint64_t id = person_send(app, &sender,
                              text_printf("kind=exclusive&amount=5&to=%s&greeting=only+for+you", receiver.username));
    assert_int_equal(requested(id, "/p/x/card.png?lang=en"), 200);
    assert_true(drawn_has(receiver.nickname));
    assert_false(drawn_has("only for you"));
}

TESTS(app_setup, teardown)
