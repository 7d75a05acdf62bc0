/* What the values of settings may be: config/address, config/rate, config/site_url with config/punycode. And
 * config/spelling: which name a mistyped one was meant to be. */
#include "config/address.h"
#include "config/punycode.h"
#include "config/rate.h"
#include "config/site_url.h"
#include "config/spelling.h"
#include "support/test.h"

/* ---- the addresses of the stores ---- */

static struct address_list list;

TEST(a_socket_a_name_and_ip_addresses_are_read_and_differ_in_host_or_port)
{
    static const struct address wanted[] = { { .name = "/run/redis.sock" },
                                             { .name = "redis-1.example", .port = 6379 },
                                             { .name = "10.0.0.7", .port = 1 },
                                             { .name = "fe80::1", .port = 65535 } };
    static const char *const printed[] = { "unix:/run/redis.sock", "redis-1.example:6379", "10.0.0.7:1",
                                           "[fe80::1]:65535" };
    assert_null(
        address_list_read(STR("unix:/run/redis.sock,redis-1.example:6379 , 10.0.0.7:1,[fe80::1]:65535"), &list));
    assert_int_equal(list.count, ARRAY_LEN(wanted));
    for (size_t i = 0; i < list.count; i++) {
        char text[ADDRESS_TEXT_MAX];
        assert_string_equal(list.items[i].name, wanted[i].name);
        assert_int_equal(list.items[i].port, wanted[i].port);
        assert_string_equal(address_print(&list.items[i], text), printed[i]);
    }
    assert_null(address_list_read(STR("a:1,a:2,b:1,unix:a,unix:A"), &list));
    assert_int_equal(list.count, 5);
}

TEST(each_mistake_has_its_own_words)
{
    static const struct {
        const char *words, *texts; /* between "|" */
    } bad[] = { { "empty", "|,|a:1,| , a:1" },
                { "written unix:PATH", "/run/redis.sock" },
                { "from 1 to 107 bytes", "unix:" },
                { "no port", "redis|[::1]" },
                { "port must be from 1 to 65535", "redis:|redis:0|redis:65536|redis:x|redis:+1|redis:01" },
                { "stands in brackets", "::1:6379|[::1:6379|redis://a:6379" },
                { "must be an IPv6 address", "[redis]:6379|[]:6379|[10.0.0.1]:6379" },
                { "name or an IP address", ":6379|192.168.1.300:6379|1.2.3:6379|-h:6379|a b:6379|a/b:6379" },
                { "twice", "a:1, b:1, A:1|unix:/a, unix:/a" } };
    EACH (row, bad)
        for (struct str rest = str_from(row->texts); rest.ptr != NULL;) {
            const struct str text = str_cut(rest, '|', &rest);
            const char *words = address_list_read(text, &list);
            if (words == NULL || strstr(words, row->words) == NULL)
                fail_msg("%.*s: %s", STR_ARG(text), words == NULL ? "accepted" : words);
        }
    assert_non_null(address_list_read(STR_NONE, &list));
}

TEST(the_limits_are_reached_and_not_passed)
{
    char path[5 + ADDRESS_PATH_MAX + 1] = "unix:", name[ADDRESS_NAME_MAX + 3] = "", many[256] = "";
    memset(path + 5, 'p', sizeof path - 5);
    assert_null(address_list_read((struct str){ path, 5 + ADDRESS_PATH_MAX }, &list));
    assert_int_equal(strlen(list.items[0].name), ADDRESS_PATH_MAX);
    assert_non_null(address_list_read((struct str){ path, 5 + ADDRESS_PATH_MAX + 1 }, &list));
    memset(name, 'n', sizeof name);
    memcpy(name + ADDRESS_NAME_MAX, ":1", 2);
    assert_null(address_list_read((struct str){ name, ADDRESS_NAME_MAX + 2 }, &list));
    memcpy(name + ADDRESS_NAME_MAX, "n:1", 3);
    assert_non_null(address_list_read((struct str){ name, ADDRESS_NAME_MAX + 3 }, &list));
    size_t len = 0;
    for (unsigned i = 0; i <= ADDRESSES_MAX; i++) {
        len += (size_t)snprintf(many + len, sizeof many - len, "%sh:%u", i == 0 ? "" : ",", i + 1);
        assert_int_equal(address_list_read((struct str){ many, len }, &list) == NULL, i < ADDRESSES_MAX);
    }
}

/* ---- rates: the settings limit_… ---- */

TEST(a_rate_has_up_to_three_tiers_of_numbers_at_once_and_in_a_time)
{
    static const struct {
        const char *text;
        int64_t at_once, every_us;
    } rates[] = { { "120 2/s", 120, 500000 },
                  { "1 1/m", 1, 60000000 },
                  { "30 4/h", 30, INT64_C(900000000) },
                  { "1000000 1/d", 1000000, INT64_C(86400000000) },
                  { "5 1000000/s", 5, 1 } };
    struct rate rate;
    EACH (row, rates) {
        assert_true(rate_read(str_from(row->text), &rate));
        assert_ints({ rate.count, 1 }, { rate.tiers[0].at_once, row->at_once },
                    { rate.tiers[0].every_us, row->every_us });
    }
    assert_true(rate_read(STR("5 30/m 10 1/m 30 4/h"), &rate));
    assert_ints({ rate.count, 3 }, { rate.tiers[1].at_once, 10 }, { rate.tiers[2].every_us, INT64_C(900000000) });
    assert_false(rate_read(STR("1 1/s 1 1/s 1 1/s 1 1/s"), &rate));
    assert_true(rate_read(STR("off"), &rate));
    assert_int_equal(rate.count, 0);
    EACH_TEXT (text, "", "5", "5 ", "2/s", "0 1/s", "5 0/s", "5 1/", "5 1/w", "5 1/ss", "5  1/s", "5 1/s ", " 5 1/s",
               "-5 1/s", "5 -1/s", "5 1/s 6", "1000001 1/s", "5 1000001/s", "off off", "5 1/s off")
        assert_of(text, !rate_read(str_from(text), &rate));
}

/* ---- base_url ---- */

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

static char url[300]; /* the last one that was read */

static const char *mistake_of(struct str text)
{
    (void)snprintf(url, sizeof url, "%.*s", STR_ARG(text));
    return site_url_mistake(url);
}

TEST(an_address_of_a_site_is_a_host_of_253_bytes_and_maybe_a_port)
{
    struct str rest = STR("https://hongbao.example http://127.0.0.1:8080 http://localhost https://[::1] "
                          "https://[fd00::7]:8443 https://a:65535 https://a:1 https://xn--uirv82h.example "
                          "https://1.example https://my_host https://" LABEL_63 ".b https://Hongbao.Example");
    while (rest.ptr != NULL) {
        const char *mistake = mistake_of(str_cut(rest, ' ', &rest));
        if (mistake != NULL)
            fail_msg("%s: %s", url, mistake);
    }
    strcpy(url, "https://");
    for (size_t i = 0; i < 127; i++)
        strcat(url, i == 0 ? "a" : ".a"); /* 253 */
    assert_null(site_url_mistake(url));
    strcat(url, ".a");
    assert_non_null(strstr(site_url_mistake(url), "253 characters"));
}

TEST(what_is_wrong_with_an_address_is_told_in_words)
{
    static const struct {
        const char *says, *urls; /* between "|" */
    } cases[] = { { "must begin with https://", "hongbao.example|HTTPS://hongbao.example|ftp://x|javascript:alert(1)" },
                  { "no host", "https://|https://:80" },
                  { "must end after the host or its port: a path",
                    "https://x/|https://x/pay|https:///x|https://x?y|https://x#y|https://x\\y" },
                  { "a character", "https://a b|https://x\"onload=|https://a@b" },
                  { "must be a number from 1 to 65535",
                    "https://x:0|https://x:65536|https://x:99999|https://x:080|https://x:|https://x:a" },
                  { "more than one colon", "https://x:1:2" },
                  { "must stand in brackets", "https://::1" },
                  { "IPv6", "https://[::1|https://[|https://[x]" },
                  { "follow ]", "https://[::1]8443|https://[::1]x:1" },
                  { "brackets", "https://x[::1]" },
                  { "letters, digits, _ and", "https://-x.example" },
                  { "no name",
                    "https://x]|https://x-.example|https://x..example|https://.|https://a%41|https://" LABEL_63 "4" },
                  { "no dot at the end",
                    "https://x.example.|https://x.example.:443|https://红包.example.|https://192.168.1.30." },
                  { "looks like an address", "https://192.168.1.300|https://1.2.3.4.5|https://999" },
                  { "ASCII: https://xn--uirv82h.example", "https://红包.example" },
                  { "ASCII: https://xn--uirv82h.xn--fiqs8s", "https://红包。中国" },
                  { "ASCII: http://hb.example:81", "http://ＨＢ．example:81" },
                  { "ASCII: https://xn--bcher-kva.example", "https://Bücher.example" },
                  { "letters that no name", "https://。|https://红包。。x" } };
    EACH (row, cases)
        for (struct str rest = str_from(row->urls); rest.ptr != NULL;) {
            const char *mistake = mistake_of(str_cut(rest, '|', &rest));
            if (mistake == NULL || strstr(mistake, row->says) == NULL)
                fail_msg("%s: %s", url, mistake != NULL ? mistake : "accepted");
        }
}

/* RFC 3492, section 7.1: (A), (B), (C), (E), (L), (Q), (R) and (S). */
TEST(the_samples_of_the_rfc_are_encoded_and_what_does_not_fit_is_not)
{
    static const struct {
        const char *punycode;
        int32_t codes[24];
    } samples[] = {
        { "egbpdaj6bu4bxfgehfvwxn",
          { 0x0644, 0x064a, 0x0647, 0x0645, 0x0627, 0x0628, 0x062a, 0x0643, 0x0644, 0x0645, 0x0648, 0x0634, 0x0639,
            0x0631, 0x0628, 0x064a, 0x061f } },
        { "ihqwcrb4cv8a8dqg056pqjye", { 0x4ed6, 0x4eec, 0x4e3a, 0x4ec0, 0x4e48, 0x4e0d, 0x8bf4, 0x4e2d, 0x6587 } },
        { "ihqwctvzc91f659drss3x8bo0yb", { 0x4ed6, 0x5011, 0x7232, 0x4ec0, 0x9ebd, 0x4e0d, 0x8aaa, 0x4e2d, 0x6587 } },
        { "4dbcagdahymbxekheh6e0a7fei0b",
          { 0x05dc, 0x05de, 0x05d4, 0x05d4, 0x05dd, 0x05e4, 0x05e9, 0x05d5, 0x05d8, 0x05dc, 0x05d0,
            0x05de, 0x05d3, 0x05d1, 0x05e8, 0x05d9, 0x05dd, 0x05e2, 0x05d1, 0x05e8, 0x05d9, 0x05ea } },
        { "3B-ww4c5e180e575a65lsy2b", { '3', 0x5e74, 'B', 0x7d44, 0x91d1, 0x516b, 0x5148, 0x751f } },
        { "MajiKoi5-783gue6qz075azm5e",
          { 'M', 'a', 'j', 'i', 0x3067, 'K', 'o', 'i', 0x3059, 0x308b, '5', 0x79d2, 0x524d } },
        { "de-jg4avhby1noc0d", { 0x30d1, 0x30d5, 0x30a3, 0x30fc, 'd', 'e', 0x30eb, 0x30f3, 0x30d0 } },
        { "d9juau41awczczp", { 0x305d, 0x306e, 0x30b9, 0x30d4, 0x30fc, 0x30c9, 0x3067 } },
        { "-> $1.00 <--", { '-', '>', ' ', '$', '1', '.', '0', '0', ' ', '<', '-' } }
    };
    EACH (row, samples) {
        char out[64];
        size_t count = 0;
        while (count < ARRAY_LEN(row->codes) && row->codes[count] != 0)
            count++;
        assert_int_equal(punycode_encode(row->codes, count, out, sizeof out), strlen(row->punycode));
        assert_string_equal(out, row->punycode);
    }
    static const int32_t codes[] = { 0x7ea2, 0x5305 };
    char out[16], host[HOST_NAME_MAX_BYTES + 1];
    assert_int_equal(punycode_encode(codes, 2, out, strlen("uirv82h")), 0);
    assert_int_equal(punycode_encode(codes, 2, out, sizeof "uirv82h"), strlen("uirv82h"));
    assert_int_equal(punycode_encode(codes, 2, out, 0), 0);
    assert_false(host_to_ascii(STR("\xff.example"), host));
    assert_false(host_to_ascii(STR(""), host));
}

/* ---- names ---- */

static const char *const NAMES[] = { "base_url", "redis_socket", "redis_user", "mysql_socket", "demo" };

static const char *nearest(const char *word)
{
    return spelling_nearest(str_from(word), NAMES, ARRAY_LEN(NAMES));
}

TEST(a_mistyped_name_is_understood_as_the_nearest_one)
{
    assert_string_equal(nearest("redis_sockett"), "redis_socket");
    assert_string_equal(nearest("redis_soket"), "redis_socket");
    assert_string_equal(nearest("mysqi_socket"), "mysql_socket");
    assert_string_equal(nearest("bsae_url"), "base_url");
    assert_string_equal(nearest("Base_URL"), "base_url");
    assert_string_equal(nearest("dmeo"), "demo");
    assert_string_equal(nearest("demo"), "demo");
    assert_string_equal(nearest("redis_uset"), "redis_user");
    assert_string_equal(nearest("mydis_socket"), "redis_socket");
    char longest[200];
    memset(longest, 'a', sizeof longest);
    assert_null(nearest(""));
    assert_null(nearest("x"));
    assert_null(nearest("password"));
    assert_null(nearest("abcd"));
    assert_null(spelling_nearest((struct str){ longest, sizeof longest }, NAMES, ARRAY_LEN(NAMES)));
    assert_null(spelling_nearest(STR("demo"), NAMES, 0));
}

TESTS(NULL, NULL)
