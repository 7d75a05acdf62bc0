/* pages/card: the picture that everybody with the link sees says nothing that is not for everybody. What would be drawn
 * is read here as SVG. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

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
        cmocka_unit_test(an_exclusive_packet_shows_its_receiver_and_not_its_greeting),
    };
    return cmocka_run_group_tests(tests, app_setup, teardown);
}
