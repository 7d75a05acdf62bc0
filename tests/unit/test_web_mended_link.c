/* web/mended_link: what chats and people add to a link, and the address that was meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/mended_link.h"

#define ID       "00005kmwye5zsc4yqkbbkvv7pj" /* of the secret below */
#define ID_LOOKS "OOoO5KMWYE5ZSC4YQKBBKVV7PJ"
#define FORGED   "00005kmwye5zsc4yqkbbkvv7pk"

static struct services services;
static struct arena *arena;

static const struct route routes[] = {
    { "GET", "/", 0, POOL_PAGE, NULL },
    { "GET", "/p/:id", 0, POOL_HOT, NULL },
    { "POST", "/p/:id/open", 0, POOL_HOT, NULL },
    { "GET", "/p/:id/card.png", 0, POOL_CARD, NULL },
    { "GET", "/p/:id/receipt", 0, POOL_PAGE, NULL },
    { "GET", "/p/:id/receipt.json", 0, POOL_PAGE, NULL },
    { "GET", "/orders/:key", 0, POOL_PAGE, NULL },
    { "GET", "/records/sent", 0, POOL_PAGE, NULL },
    { "GET", "/wallet", 0, POOL_PAGE, NULL },
};
static const struct router router = { routes, ARRAY_LEN(routes), POOL_PAGE, &services };

static int setup(void **state)
{
    (void)state;
    public_id_key_set(&services.id_key,
                      (struct key[]){ key_derive(STR("a secret of at least thirty-two characters"), KEY_IDS) });
    arena = arena_new(4096, 1 << 20);
    return arena == NULL;
}

static int teardown(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static void assert_mended(const char *path, const char *wanted)
{
    struct str meant = mended_link(&router, arena, str_from(path));
    if (!str_equal(meant, str_from(wanted)) || (meant.ptr == NULL) != (wanted == NULL))
        fail_msg("%s: %.*s instead of %s", path, STR_ARG(meant), wanted == NULL ? "none" : wanted);
    arena_reset(arena);
}

static void what_is_added_behind_an_id_is_dropped(void **state)
{
    (void)state;
    static const char *const added[] = {
        "。",
        "，",
        "！快来",
        "）",
        "」",
        "》",
        "】",
        "”",
        "’",
        "…",
        "\xc2\xa0",
        "\xe2\x80\x8b",
        "\xef\xbb\xbf",
        "🧧",
        ".",
        ",",
        ")",
        "]",
        "}",
        ">",
        "\"",
        "'",
        "*",
        "**",
        "_",
        "~",
        "!",
        ";",
        ":",
        "/",
        "//",
        "/)",
        "&nbsp;",
        "&amp;x=1",
        ").",
        ".More",
        "-later",
        ",http://elsewhere.example/x",
        "%E3%80%82",
        "%EF%BC%89%E5%BF%AB",
        "%20",
        "%20now",
        "%0A",
        "%E2%80%8B",
        "%22%3Ehere%3C/a%3E",
        "%3F",
        "%ff",
        "%e3%80",
        "%",
        "%zz",
        "%00",
        "\xff",
        "/。",
        "\\",
    };
    for (size_t i = 0; i < ARRAY_LEN(added); i++) {
        char path[256];
        (void)snprintf(path, sizeof path, "/p/" ID "%s", added[i]);
        assert_mended(path, "/p/" ID);
    }
}

static void a_longer_address_with_an_id_is_found(void **state)
{
    (void)state;
    assert_mended("/p/" ID "/receipt。", "/p/" ID "/receipt");
    assert_mended("/p/" ID "/receipt.json)", "/p/" ID "/receipt.json");
    assert_mended("/p/" ID "/card.png%EF%BC%81", "/p/" ID "/card.png");
    assert_mended("/p/" ID "/card.png/", "/p/" ID "/card.png");
    assert_mended("/p/" ID "//card.png", "/p/" ID "/card.png");
    assert_mended("/p/" ID "%20/card.png", "/p/" ID "/card.png");
    assert_mended("/p/" ID "/open。", "/p/" ID "/open");
    assert_mended("/orders/my-key_1%22", "/orders/my-key_1");
    assert_mended("/records/sent/", "/records/sent");
    assert_mended("/wallet。", "/wallet");
    assert_mended("/。", "/");
}

static void what_is_in_front_and_between_is_skipped(void **state)
{
    (void)state;
    assert_mended("/p/%20" ID, "/p/" ID);
    assert_mended("/p/「" ID "」", "/p/" ID);
    assert_mended("//p/" ID, "/p/" ID);
    assert_mended("/p//" ID, "/p/" ID);
    assert_mended("/p/00005kmwye5zsc4y\xe2\x80\x8bqkbbkvv7pj", "/p/" ID);
    assert_mended("/p/00005kmw-ye5zsc4y-%0D%0Aqkbbkvv7pj", "/p/" ID);
    assert_mended("/p/%30%30005kmwye5zsc4yqkbbkvv7pj", "/p/" ID);
}

static void capitals_and_lookalikes_are_read_as_everywhere(void **state)
{
    (void)state;
    assert_mended("/P/" ID_LOOKS, "/p/" ID);
    assert_mended("/p/" ID_LOOKS "。", "/p/" ID);
    assert_mended("/P/" ID "/RECEIPT.JSON", "/p/" ID "/receipt.json");
    assert_mended("/WALLET", "/wallet");
}

static void other_addresses_are_not_guessed(void **state)
{
    (void)state;
    static const char *const strangers[] = {
        "/p/" ID,
        "/p/" ID "/open",
        "/p/" ID "x",
        "/p/" ID "0",
        "/p/" ID "/nothing",
        "/p/" FORGED,
        "/p/" FORGED ")",
        "/p/" ID "/../" FORGED,
        "/p/" ID "/receiptx",
        "/p/",
        "/p/)",
        "/p/x",
        "/q/" ID,
        "/wallet.php",
        "/wallets",
        "/wallet/x",
        "/.env",
        "/.git/config",
        "/nothing",
        "/orders/",
        "/orders/a)b",
        "/orders/my-key_1",
        "",
        "wallet",
        "/p/" ID "%2Fnothing",
        "/static/x.css)",
    };
    for (size_t i = 0; i < ARRAY_LEN(strangers); i++)
        assert_mended(strangers[i], NULL);
}

static void the_address_has_nothing_else_of_the_request(void **state)
{
    (void)state;
    assert_mended("/p/" ID "%0d%0aSet-Cookie:x=1", "/p/" ID);
    assert_mended("//evil.example/p/" ID, NULL);
    assert_mended("/\\evil.example", NULL);
    assert_mended("/%2f%2f。", "/");
    assert_mended("/p/" ID "@evil.example", "/p/" ID);
}

static void without_memory_nothing_is_mended(void **state)
{
    (void)state;
    struct arena *tiny = arena_new(64, 64);
    assert_non_null(tiny);
    assert_null(mended_link(&router, tiny, STR("/p/" ID "................................................")).ptr);
    arena_free(tiny);
}

static void added_slashes_are_told_from_other_additions(void **state)
{
    (void)state;
    static const char *const added[] = { "/p/x", "//p/x", "/p/x/", "///p//x//" };
    static const char *const others[] = { "/p/x.", "/p/x/.", "/P/x/", "/p", "/px", "/p/x/y", "//evil/p/x", "/" };
    for (size_t i = 0; i < ARRAY_LEN(added); i++)
        assert_true(mended_link_slashes(str_from(added[i]), STR("/p/x")));
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_false(mended_link_slashes(str_from(others[i]), STR("/p/x")));
    assert_true(mended_link_slashes(STR("//"), STR("/")));
}

static void a_value_of_a_query_ends_with_a_letter_or_digit(void **state)
{
    (void)state;
    assert_true(str_equal(mended_link_value(STR("a1。快来")), STR("a1")));
    assert_true(str_equal(mended_link_value(STR("5)")), STR("5")));
    assert_true(str_equal(mended_link_value(STR("1-0000")), STR("1-0000")));
    assert_true(str_equal(mended_link_value(STR("5)x")), STR("5)x")));
    assert_int_equal(mended_link_value(STR("…")).len, 0);
    assert_int_equal(mended_link_value(STR("")).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_added_behind_an_id_is_dropped),
        cmocka_unit_test(a_longer_address_with_an_id_is_found),
        cmocka_unit_test(what_is_in_front_and_between_is_skipped),
        cmocka_unit_test(capitals_and_lookalikes_are_read_as_everywhere),
        cmocka_unit_test(other_addresses_are_not_guessed),
        cmocka_unit_test(the_address_has_nothing_else_of_the_request),
        cmocka_unit_test(without_memory_nothing_is_mended),
        cmocka_unit_test(added_slashes_are_told_from_other_additions),
        cmocka_unit_test(a_value_of_a_query_ends_with_a_letter_or_digit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
