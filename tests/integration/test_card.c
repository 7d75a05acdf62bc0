/* pages/card: the picture that everybody with the link sees says nothing that is not for everybody. What would be drawn
 * is read here as SVG. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/svg_png.h"
#include "pages/card.h"
#include "pages/present.h"
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

static void the_picture_has_no_amount_and_no_passphrase(void **state)
{
    static const char *const uris[] = { "/p/x/card.png", "/p/x/card.png?shape=tall&lang=en" };
    struct person sender;
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
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

static void the_opening_is_on_it(void **state)
{
    struct person sender;
    char fields[FIELDS_MAX];
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    const int64_t opens_ms = (clock_now_ms() / 60000 + 60) * 60000;
    struct arena *a = arena_new(1024, 65536);
    struct str opens = clock_zone_minute(a, opens_ms);
    snprintf(fields, sizeof fields, "kind=lucky&amount=5&count=3&phrase=xyzzy&opens_at=%.*s",
             STR_ARG(clock_rfc3339(a, opens_ms)));
    uint64_t id = person_send(app, &sender, fields);
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
    arena_free(a);
}

/* In a line of its own in the wide picture, behind the opening in the tall one. */
static void a_passphrase_is_announced(void **state)
{
    static const char *const uris[] = { "/p/x/card.png?lang=en", "/p/x/card.png?shape=tall&lang=en" };
    struct person sender;
    char fields[FIELDS_MAX];
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    struct arena *a = arena_new(1024, 65536);
    struct str opens = clock_rfc3339(a, (clock_now_ms() / 60000 + 60) * 60000);
    for (int n = 0; n < 4; n++) { /* bit 0: a passphrase, bit 1: an opening */
        snprintf(fields, sizeof fields, "kind=lucky&amount=5&count=3%s%s%.*s", n & 1 ? "&phrase=xyzzy" : "",
                 n & 2 ? "&opens_at=" : "", n & 2 ? (int)opens.len : 0, opens.ptr);
        uint64_t id = person_send(app, &sender, fields);
        for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
            assert_int_equal(requested(id, uris[i]), 200);
            assert_int_equal(drawn_has("Passphrase needed"), n & 1);
            assert_int_equal(drawn_has("Opens"), n >> 1);
            assert_false(drawn_has("xyzzy"));
        }
    }
    arena_free(a);
}

/* 25 characters, of which the last two are found once each. */
static void the_longest_greeting_is_whole(void **state)
{
    static const char *const uris[] = { "/p/x/card.png", "/p/x/card.png?shape=tall" };
    struct person sender;
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    uint64_t id = person_send(
        app, &sender, "kind=lucky&amount=5&count=3&greeting=恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊");
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        assert_int_equal(requested(id, uris[i]), 200);
        assert_true(drawn_has("进啊"));
        assert_false(drawn_has("…"));
    }
}

/* Words take more room than characters do: then the letters are smaller. */
static void a_long_greeting_in_letters_is_whole(void **state)
{
    static const char *const uris[] = { "/p/x/card.png?lang=en", "/p/x/card.png?shape=tall&lang=en" };
    struct person sender;
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    uint64_t id = person_send(
        app, &sender, "kind=lucky&amount=5&count=3&greeting=Merry+Christmas+Grandma%2C+from+all+of+us+in+Boston");
    for (size_t i = 0; i < sizeof uris / sizeof *uris; i++) {
        assert_int_equal(requested(id, uris[i]), 200);
        assert_true(drawn_has("in Boston"));
        assert_false(drawn_has("…"));
    }
}

static void an_exclusive_packet_shows_its_receiver_and_not_its_greeting(void **state)
{
    struct person sender, receiver;
    char fields[FIELDS_MAX];
    (void)state;
    person_new(app, &sender, BALANCE_FEN);
    person_new(app, &receiver, 0);
    snprintf(fields, sizeof fields, "kind=exclusive&amount=5&to=%s&greeting=only+for+you", receiver.username);
    uint64_t id = person_send(app, &sender, fields);
    assert_int_equal(requested(id, "/p/x/card.png?lang=en"), 200);
    assert_true(drawn_has(receiver.nickname));
    assert_false(drawn_has("only for you"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_picture_has_no_amount_and_no_passphrase),
        cmocka_unit_test(the_opening_is_on_it),
        cmocka_unit_test(a_passphrase_is_announced),
        cmocka_unit_test(the_longest_greeting_is_whole),
        cmocka_unit_test(a_long_greeting_in_letters_is_whole),
        cmocka_unit_test(an_exclusive_packet_shows_its_receiver_and_not_its_greeting),
    };
    return cmocka_run_group_tests(tests, app_setup, teardown);
}
