/* pages/card: the picture that everybody with the link sees says only what everybody may know. What would be drawn is
 * read here as SVG. */
#include "base/clock.h"
#include "pages/card.h"
#include "pages/present.h"
#include "test_drawn.h"
#include "test_packet_app.h"

enum { BALANCE_FEN = 100000 };

/* query: ends with "lang=", or has no language. */
static struct visit *card(uint64_t packet_id, const char *query, const char *language)
{
    struct visit *v = visit_new(app, text_printf("/p/x/card.png%s%s", query, language), NULL, NULL);
    v->x.id = packet_id;
    v->x.params.id = present_packet_id(&v->x, packet_id);
    visit_handle(v, packet_card);
    return v;
}

static const char *const SHAPES[] = { "?lang=", "?shape=tall&lang=" };

TEST(the_picture_has_no_amount_and_no_passphrase)
{
    struct person sender = person_with(BALANCE_FEN);
    uint64_t id = person_send(app, &sender, "kind=lucky&amount=67.89&count=3&greeting=Hello+all&phrase=xyzzy");
    visit_says(card(id, "", ""), 200, "Hello all", sender.nickname, LACKS, "67.89", "6789", "xyzzy");
    visit_says(card(id, SHAPES[1], "en"), 200, "Hello all", sender.nickname, LACKS, "67.89", "6789", "xyzzy");
}

TEST(the_opening_is_on_it)
{
    struct person sender = person_with(BALANCE_FEN);
    const int64_t opens_ms = (clock_now_ms() / 60000 + 60) * 60000;
    const struct str opens_at = clock_rfc3339(arena, opens_ms);
    const char *opens = text_printf("%.*s", STR_ARG(clock_zone_minute(arena, opens_ms)));
    const char *zone = app->stores.config->timezone;
    const bool china = strcmp(zone, "Asia/Shanghai") == 0;
    uint64_t id = person_send(app, &sender,
                              text_printf("kind=lucky&amount=5&count=3&phrase=xyzzy&opens_at=%.*s", STR_ARG(opens_at)));
    for (size_t i = 0; i < ARRAY_LEN(SHAPES); i++) {
        visit_says(card(id, SHAPES[i], "en"), 200, opens, china ? "China time" : zone, LACKS, "xyzzy",
                   china ? zone : "China time");
        visit_says(card(id, SHAPES[i], "zh-CN"), 200, china ? "北京时间" : zone, LACKS, china ? zone : "北京时间");
    }
    visit_says(card(person_send(app, &sender, "kind=lucky&amount=5&count=3"), SHAPES[0], "en"), 200, LACKS, "Opens");
}

/* The passphrase has its own line in the wide picture, and stands behind the opening in the tall one. */
TEST(a_passphrase_is_announced)
{
    struct person sender = person_with(BALANCE_FEN);
    const struct str opens = clock_rfc3339(arena, (clock_now_ms() / 60000 + 60) * 60000);
    for (int n = 0; n < 4; n++) { /* bit 0: a passphrase, bit 1: an opening */
        uint64_t id = person_send(app, &sender,
                                  text_printf("kind=lucky&amount=5&count=3%s%s%.*s", n & 1 ? "&phrase=xyzzy" : "",
                                              n & 2 ? "&opens_at=" : "", n & 2 ? (int)opens.len : 0, opens.ptr));
        for (size_t i = 0; i < ARRAY_LEN(SHAPES); i++) {
            struct visit *v = card(id, SHAPES[i], "en");
            assert_int_equal(visit_body_has(v, "Passphrase needed"), n & 1);
            assert_int_equal(visit_body_has(v, "Opens"), n >> 1);
            visit_says(v, 200, LACKS, "xyzzy");
        }
    }
}

/* Each line ends with the expected letters, once. Words take more room than characters, so their letters are
 * smaller. */
TEST(a_long_greeting_is_whole)
{
    static const struct {
        const char *greeting, *end, *language;
    } cases[] = {
        { "恭喜发财大吉大利万事如意身体健康阖家幸福财源广进啊", "进啊", "zh-CN" }, /* 25, and no more are allowed */
        { "Merry+Christmas+Grandma%2C+from+all+of+us+in+Boston", "in Boston", "en" },
    };
    struct person sender = person_with(BALANCE_FEN);
    for (size_t n = 0; n < ARRAY_LEN(cases); n++) {
        uint64_t id =
            person_send(app, &sender, text_printf("kind=lucky&amount=5&count=3&greeting=%s", cases[n].greeting));
        for (size_t i = 0; i < ARRAY_LEN(SHAPES); i++)
            visit_says(card(id, SHAPES[i], cases[n].language), 200, cases[n].end, LACKS, "…");
    }
}

TEST(an_exclusive_packet_shows_its_receiver_and_not_its_greeting)
{
    struct person sender = person_with(BALANCE_FEN), receiver = person_with(0);
    uint64_t id = person_send(app, &sender,
                              text_printf("kind=exclusive&amount=5&to=%s&greeting=only+for+you", receiver.username));
    visit_says(card(id, SHAPES[0], "en"), 200, receiver.nickname, LACKS, "only for you");
}

TESTS(app_setup, app_teardown)
