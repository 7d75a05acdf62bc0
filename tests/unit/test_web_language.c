/* web/language, web/text: the choice of a visitor's language, and texts in it. tests/e2e/language.test.js uses the same
 * list of weights. */
#include "support/test_site.h"
#include "web/text.h"

static void assert_chosen(struct str cookie, const char *accept_language, enum language wanted)
{
    struct str accept = accept_language != NULL ? str_from(accept_language) : STR_NONE;
    if (language_choose(cookie, accept) != wanted)
        fail_msg("\"%.*s\" and \"%.*s\" are not %s", STR_ARG(cookie), STR_ARG(accept), language_tag(wanted));
}

TEST(the_language_is_that_of_the_cookie_or_has_the_highest_weight_in_accept_language)
{
    static const struct {
        const char *accept;
        enum language wanted;
    } cases[] = {
        { NULL, LANGUAGE_ZH_CN },
        { "", LANGUAGE_ZH_CN },
        { "en", LANGUAGE_EN },
        { "EN-gb", LANGUAGE_EN },
        { "zh-CN,zh;q=0.9,en;q=0.8", LANGUAGE_ZH_CN },
        { "en-US,en;q=0.9,zh;q=0.8", LANGUAGE_EN },
        { "zh;q=0.3, en;q=0.7", LANGUAGE_EN },
        { "de, fr;q=0.9, en;q=0.1", LANGUAGE_EN },
        { "en ; q=0.5 , zh-TW ; q=0.5", LANGUAGE_EN },
        { "zh;q=0.5,en;q=0.5", LANGUAGE_ZH_CN },
        { "zh;q=0.85,en;q=0.9", LANGUAGE_EN },
        { "en;q=0.8,zh;q=0.85", LANGUAGE_ZH_CN },
        { "de", LANGUAGE_EN },
        { "fr-CA, ja;q=0.5", LANGUAGE_EN },
        { "ja, zh;q=0.1", LANGUAGE_ZH_CN },
        { "de, *;q=0.5", LANGUAGE_EN },
        { "de;q=0", LANGUAGE_ZH_CN },
        { "de;q=0.000, ko;q=0.01", LANGUAGE_EN },
        { "fr, zh;q=0", LANGUAGE_EN },
        { "x", LANGUAGE_ZH_CN },
        { "*", LANGUAGE_ZH_CN },
        { "en;q=0", LANGUAGE_ZH_CN },
        { "en;q=0.000, zh;q=0", LANGUAGE_ZH_CN },
        { "en;q=0.001", LANGUAGE_EN },
        { "en;q=2", LANGUAGE_ZH_CN },
        { "en;q=", LANGUAGE_ZH_CN },
        { "en;q=-1", LANGUAGE_ZH_CN },
        { "en;level=1", LANGUAGE_ZH_CN },
        { "english", LANGUAGE_EN },
        { "zh;q=0.999,en;q=1.000", LANGUAGE_EN },
        { ",,,;;;=,en,", LANGUAGE_EN },
    };
    EACH (row, cases)
        assert_chosen(STR_NONE, row->accept, row->wanted);
    assert_chosen(STR("zh-CN"), "en", LANGUAGE_ZH_CN);
    assert_chosen(STR("en"), "zh-CN", LANGUAGE_EN);
    assert_chosen(STR("en"), NULL, LANGUAGE_EN);
    assert_chosen(STR("EN"), "zh", LANGUAGE_ZH_CN);
    assert_chosen(STR("xx"), "en", LANGUAGE_EN);
    assert_chosen(STR(""), "en", LANGUAGE_EN);
}

TEST(a_text_is_in_the_language_of_the_visitor)
{
    struct exchange x = { .app = &services, .arena = arena, .language = LANGUAGE_ZH_CN };
    assert_true(str_equal(text_of(&x, "text/sold_out"), STR("手慢了，红包派完了")));
    assert_true(str_equal(text_with(&x, "text/share_max", STR("12.50")), STR("单个红包金额不可超过12.50\u2060元")));
    x.language = LANGUAGE_EN;
    assert_true(str_equal(text_of(&x, "text/sold_out"), STR("Too late: all shares are gone")));
    assert_true(str_equal(text_with(&x, "text/share_max", STR("12.50")), STR("A share can be at most ¥12.50")));
    assert_true(str_equal(text_with(&x, "text/share_max", STR("<&>")), STR("A share can be at most ¥<&>")));
    assert_true(str_equal(text_of(&x, "text/nothing"), STR("text/nothing")));
}

TESTS(site_setup, site_teardown)
