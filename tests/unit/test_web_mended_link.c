/* web/mended_link: what chats and people add to a link, and the address that was meant. */
#include "support/test_arena.h"
#include "web/mended_link.h"

#define ID       "00005kmwye5zsc4yqkbbkvv7pj" /* of the secret below */
#define ID_LOOKS "OOoO5KMWYE5ZSC4YQKBBKVV7PJ"
#define FORGED   "00005kmwye5zsc4yqkbbkvv7pk"

static struct services services;

static const struct route routes[] = {
    { "GET", "/", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/p/:id", 0, POOL_HOT, NULL, NULL },
    { "POST", "/p/:id/open", 0, POOL_HOT, NULL, NULL },
    { "GET", "/p/:id/card.png", 0, POOL_CARD, NULL, NULL },
    { "GET", "/p/:id/receipt", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/p/:id/receipt.json", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/orders/:key", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/records/sent", 0, POOL_PAGE, NULL, NULL },
    { "GET", "/wallet", 0, POOL_PAGE, NULL, NULL },
};
static const struct router router = { routes, ARRAY_LEN(routes), POOL_PAGE, &services };

static int setup(void **state)
{
    public_id_key_set(&services.id_key,
                      (struct key[]){ key_derive(STR("a secret of at least thirty-two characters"), KEY_IDS) });
    return arena_setup(state);
}

static void assert_mended(const char *path, const char *wanted)
{
    struct str meant = mended_link(&router, arena, str_from(path));
    if (!str_equal(meant, str_from(wanted)) || (meant.ptr == NULL) != (wanted == NULL))
        fail_msg("%s: %.*s instead of %s", path, STR_ARG(meant), wanted == NULL ? "none" : wanted);
    arena_reset(arena);
}

TEST(what_is_added_behind_an_id_or_a_value_is_dropped_and_slashes_are_told_from_it)
{
    struct str rest =
        STR("。 ， ！快来 ） 」 》 】 ” ’ … 🧧 \xc2\xa0 \xe2\x80\x8b \xef\xbb\xbf \xff /。 "
            ". , ) ] } > \" ' * ** _ ~ ! ; : / // /) ). .More -later \\ &nbsp; &amp;x=1 "
            ",http://elsewhere.example/x %E3%80%82 %EF%BC%89%E5%BF%AB %20 %20now %0A %E2%80%8B "
            "%22%3Ehere%3C/a%3E %3F %ff %e3%80 % %zz %00");
    while (rest.ptr != NULL) {
        char path[256];
        struct str added = str_cut(rest, ' ', &rest);
        (void)snprintf(path, sizeof path, "/p/" ID "%.*s", STR_ARG(added));
        assert_mended(path, "/p/" ID);
    }
    EACH_TEXT (text, "/p/x", "//p/x", "/p/x/", "///p//x//")
        assert_of(text, mended_link_slashes(str_from(text), STR("/p/x")));
    EACH_TEXT (text, "/p/x.", "/p/x/.", "/P/x/", "/p", "/px", "/p/x/y", "//evil/p/x", "/")
        assert_of(text, !mended_link_slashes(str_from(text), STR("/p/x")));
    assert_true(mended_link_slashes(STR("//"), STR("/")));
    assert_true(str_equal(mended_link_value(STR("a1。快来")), STR("a1")));
    assert_true(str_equal(mended_link_value(STR("5)")), STR("5")));
    assert_true(str_equal(mended_link_value(STR("1-0000")), STR("1-0000")));
    assert_true(str_equal(mended_link_value(STR("5)x")), STR("5)x")));
    assert_int_equal(mended_link_value(STR("…")).len, 0);
    assert_int_equal(mended_link_value(STR("")).len, 0);
}

TEST(what_is_in_front_between_and_behind_is_skipped_and_capitals_are_read_as_everywhere)
{
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
    assert_mended("/p/%20" ID, "/p/" ID);
    assert_mended("/p/「" ID "」", "/p/" ID);
    assert_mended("//p/" ID, "/p/" ID);
    assert_mended("/p//" ID, "/p/" ID);
    assert_mended("/p/00005kmwye5zsc4y\xe2\x80\x8bqkbbkvv7pj", "/p/" ID);
    assert_mended("/p/00005kmw-ye5zsc4y-%0D%0Aqkbbkvv7pj", "/p/" ID);
    assert_mended("/p/%30%30005kmwye5zsc4yqkbbkvv7pj", "/p/" ID);
    assert_mended("/P/" ID_LOOKS, "/p/" ID);
    assert_mended("/p/" ID_LOOKS "。", "/p/" ID);
    assert_mended("/P/" ID "/RECEIPT.JSON", "/p/" ID "/receipt.json");
    assert_mended("/WALLET", "/wallet");
    assert_mended("/p/" ID "%0d%0aSet-Cookie:x=1", "/p/" ID);
    assert_mended("//evil.example/p/" ID, NULL);
    assert_mended("/\\evil.example", NULL);
    assert_mended("/%2f%2f。", "/");
    assert_mended("/p/" ID "@evil.example", "/p/" ID);
}

TEST(other_addresses_are_not_guessed_and_without_memory_nothing_is_mended)
{
    EACH_TEXT (text, "", "/open", "x", "0", "/nothing", "/receiptx", "%2Fnothing") {
        char path[128];
        (void)snprintf(path, sizeof path, "/p/" ID "%s", text);
        assert_mended(path, NULL);
    }
    assert_mended("/p/" ID "/../" FORGED, NULL);
    EACH_TEXT (text, "/p/", "/p/)", "/p/x", "/wallet.php", "/wallets", "/wallet/x", "/.env", "/.git/config", "/nothing",
               "/orders/", "/orders/a)b", "/orders/my-key_1", "", "wallet", "/q/" ID, "/static/x.css)", "/p/" FORGED,
               "/p/" FORGED ")")
        assert_mended(text, NULL);
    struct arena *tiny = arena_new(64, 64);
    assert_non_null(tiny);
    assert_null(mended_link(&router, tiny, STR("/p/" ID "................................................")).ptr);
    arena_free(tiny);
}

TESTS(setup, arena_teardown)
