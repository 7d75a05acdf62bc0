/* The link to the page of a channel: its bytes are a contract with programs of operators (docs/how-to/topup.md). */
#include "wallet/topup_link.h"

#include "base/money.h"
#include "support/test.h"
#include "support/test_arena.h"

static const struct str SECRET = STR("0123456789abcdef0123456789abcdef");

/* The vector of docs/how-to/topup.md. */
#define KEY       "21df7201dceacc5b190d9718c9b58b592276f603593b8574107af88fa8d979cc"
#define SIGNATURE "c191c98b755cfc0e31a1c49f1672765885dfd953eb1bdcc127ab79c324646914"
/* The same of other units, by another implementation (python's hmac). */
#define SIGNATURE_POINT "ea4890ee7a582a7776670df107a4eba1559222f89309add3073a5e082f52853d"
#define SIGNATURE_HKD   "67cc1cf2fe29ca598c8607e5fa88eec73244ee398fb05bf000d7f0291dc9a808"

TEST(the_link_is_that_of_the_documents)
{
    const struct topup_link link = { 12, 8800, 1795248000999, STR("https://hongbao.example/wallet/topup/12") };
    const char *key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    const struct str url = topup_link_text(arena, STR("https://pay.example/topup"), key, &link);
    assert_string_equal(url.ptr, "https://pay.example/topup?order=12&amount=88.00&currency=CNY&return=https%3A//"
                                 "hongbao.example/wallet/topup/12&expires=1795248000&signature=" SIGNATURE);
    const struct str with_query = topup_link_text(arena, STR("https://pay.example/?shop=1"), key, &link);
    assert_true(str_starts(with_query, STR("https://pay.example/?shop=1&order=12&amount=88.00&")));
    assert_true(str_ends(with_query, STR(SIGNATURE))); /* the address itself is not signed */
}

TEST(the_currency_is_the_unit_and_the_amount_has_its_decimals_and_both_are_signed)
{
    const struct money_unit yuan = *money_unit();
    const struct topup_link link = { 12, 8800, 1795248000999, STR("https://hongbao.example/wallet/topup/12") };
    const char *key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
    static const struct {
        const char *code, *middle, *signature;
        int decimals;
    } units[] = {
        { "POINT", "&amount=8800&currency=POINT&", SIGNATURE_POINT, 0 },
        { "HKD", "&amount=88.00&currency=HKD&", SIGNATURE_HKD, 2 },
    };
    EACH (row, units) {
        struct money_unit unit = yuan;
        unit.code = row->code;
        unit.decimals = row->decimals;
        money_unit_set(&unit);
        const struct str url = topup_link_text(arena, STR("https://pay.example/topup"), key, &link);
        money_unit_set(&yuan);
        assert_non_null(strstr(url.ptr, row->middle));
        assert_true(str_ends(url, str_from(row->signature)));
    }
}

TEST(each_channel_has_a_key_of_its_own)
{
    char key[TOPUP_KEY_MAX], other[TOPUP_KEY_MAX];
    const struct key topups = key_derive(SECRET, KEY_TOPUPS);
    topup_key(&topups, STR("cards"), key);
    assert_string_equal(key, KEY);
    topup_key(&topups, STR("card"), other);
    assert_string_not_equal(key, other);
}

TEST(a_page_is_https_and_its_address_is_plain)
{
    EACH_TEXT (url, "https://pay.example", "https://pay.example/", "https://pay.example:8443/a/b?c=d&e",
               "https://xn--fiqs8s.example/%E4%BB%98?x=%40", "http://127.0.0.1:3000/pay", "http://localhost/pay",
               "http://[::1]:3000/", "https://pay.example/a@b?orders=1&x=order")
        if (topup_url_mistake(str_from(url)) != NULL)
            fail_msg("%s: %s", url, topup_url_mistake(str_from(url)));
    EACH_TEXT (url, "", "pay.example", "http://pay.example/", "http://127.0.0.1.example/", "http://localhost.example",
               "ftp://127.0.0.1/", "https://", "https:///x", "https://:443/", "https://me@pay.example/",
               "https://me:secret@pay.example/", "https://pay.example/#x", "https://pay.example/a b",
               "https://pay.example/\"", "https://pay.example\\@evil", "https://pay.example/付",
               "https://pay.example/?order=1", "https://pay.example/?a=b&signature=", "https://pay.example/?expires",
               "javascript:alert(1)", "HTTPS://pay.example/")
        assert_of(url, topup_url_mistake(str_from(url)) != NULL);
    char url[600] = "https://pay.example/";
    memset(url + strlen(url), 'x', 500);
    assert_non_null(topup_url_mistake(str_from(url)));
    url[500] = '\0';
    assert_null(topup_url_mistake(str_from(url)));
}

TESTS(arena_setup, arena_teardown)
