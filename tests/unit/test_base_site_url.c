/* base/site_url and base/punycode: what may stand in base_url, and what to write in place of other letters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include <string.h>

#include "base/array.h"
#include "base/punycode.h"
#include "base/site_url.h"

#define LABEL_63 "a23456789012345678901234567890123456789012345678901234567890123"

static void an_address_of_a_site_is_a_host_and_maybe_a_port(void **state)
{
    static const char *const urls[] = {
        "https://hongbao.example",
        "http://127.0.0.1:8080",
        "http://localhost",
        "https://[::1]",
        "https://[fd00::7]:8443",
        "https://a:65535",
        "https://a:1",
        "https://xn--uirv82h.example",
        "https://1.example",
        "https://my_host",
        "https://" LABEL_63 ".b",
        "https://Hongbao.Example",
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(urls); i++)
        if (site_url_mistake(urls[i]) != NULL)
            fail_msg("%s: %s", urls[i], site_url_mistake(urls[i]));
}

static void what_is_wrong_with_an_address_is_told_in_words(void **state)
{
    static const struct {
        const char *url, *says;
    } cases[] = {
        { "hongbao.example", "must begin with https://" },
        { "HTTPS://hongbao.example", "must begin with https://" },
        { "ftp://x", "must begin with https://" },
        { "javascript:alert(1)", "must begin with https://" },
        { "https://", "no host" },
        { "https://:80", "no host" },
        { "https://x/", "must end after the host or its port: a path" },
        { "https://x/pay", "must end after the host or its port: a path" },
        { "https:///x", "must end after the host or its port: a path" },
        { "https://x?y", "must end after the host or its port: a path" },
        { "https://x#y", "must end after the host or its port: a path" },
        { "https://x\\y", "must end after the host or its port: a path" },
        { "https://a b", "a character" },
        { "https://x\"onload=", "a character" },
        { "https://a@b", "a character" },
        { "https://x:0", "must be a number from 1 to 65535" },
        { "https://x:65536", "must be a number from 1 to 65535" },
        { "https://x:99999", "must be a number from 1 to 65535" },
        { "https://x:080", "must be a number from 1 to 65535" },
        { "https://x:", "must be a number from 1 to 65535" },
        { "https://x:a", "must be a number from 1 to 65535" },
        { "https://x:1:2", "more than one colon" },
        { "https://::1", "must stand in brackets" },
        { "https://[::1", "IPv6" },
        { "https://[", "IPv6" },
        { "https://[x]", "IPv6" },
        { "https://[::1]8443", "follow ]" },
        { "https://[::1]x:1", "follow ]" },
        { "https://x]", "no name" },
        { "https://x[::1]", "brackets" },
        { "https://-x.example", "letters, digits, _ and" },
        { "https://x-.example", "no name" },
        { "https://x..example", "no name" },
        { "https://x.example.", "no dot at the end" },
        { "https://x.example.:443", "no dot at the end" },
        { "https://红包.example.", "no dot at the end" },
        { "https://192.168.1.30.", "no dot at the end" },
        { "https://.", "no name" },
        { "https://a%41", "no name" },
        { "https://" LABEL_63 "4", "no name" },
        { "https://192.168.1.300", "looks like an address" },
        { "https://1.2.3.4.5", "looks like an address" },
        { "https://999", "looks like an address" },
        { "https://红包.example", "ASCII: https://xn--uirv82h.example" },
        { "https://红包。中国", "ASCII: https://xn--uirv82h.xn--fiqs8s" },
        { "http://ＨＢ．example:81", "ASCII: http://hb.example:81" },
        { "https://Bücher.example", "ASCII: https://xn--bcher-kva.example" },
        { "https://。", "letters that no name" },
        { "https://红包。。x", "letters that no name" },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *mistake = site_url_mistake(cases[i].url);
        if (mistake == NULL || strstr(mistake, cases[i].says) == NULL)
            fail_msg("%s: %s", cases[i].url, mistake != NULL ? mistake : "accepted");
    }
}

static void a_host_is_too_long_beyond_253_bytes(void **state)
{
    char url[300] = "https://";
    (void)state;
    for (size_t i = 0; i < 127; i++)
        strcat(url, i == 0 ? "a" : ".a"); /* 253 */
    assert_null(site_url_mistake(url));
    strcat(url, ".a");
    assert_non_null(strstr(site_url_mistake(url), "253 characters"));
}

/* RFC 3492, section 7.1: (A), (B), (C), (E), (L), (Q), (R) and (S). */
static void the_samples_of_the_rfc_are_encoded(void **state)
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
        { "-> $1.00 <--", { '-', '>', ' ', '$', '1', '.', '0', '0', ' ', '<', '-' } },
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
        char out[64];
        size_t count = 0;
        while (count < ARRAY_LEN(samples[i].codes) && samples[i].codes[count] != 0)
            count++;
        assert_int_equal(punycode_encode(samples[i].codes, count, out, sizeof out), strlen(samples[i].punycode));
        assert_string_equal(out, samples[i].punycode);
    }
}

static void what_does_not_fit_is_not_written(void **state)
{
    static const int32_t codes[] = { 0x7ea2, 0x5305 };
    char out[16], host[HOST_NAME_MAX_BYTES + 1];
    (void)state;
    assert_int_equal(punycode_encode(codes, 2, out, strlen("uirv82h")), 0);
    assert_int_equal(punycode_encode(codes, 2, out, sizeof "uirv82h"), strlen("uirv82h"));
    assert_int_equal(punycode_encode(codes, 2, out, 0), 0);
    assert_false(host_to_ascii(STR("\xff.example"), host));
    assert_false(host_to_ascii(STR(""), host));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_of_a_site_is_a_host_and_maybe_a_port),
        cmocka_unit_test(what_is_wrong_with_an_address_is_told_in_words),
        cmocka_unit_test(a_host_is_too_long_beyond_253_bytes),
        cmocka_unit_test(the_samples_of_the_rfc_are_encoded),
        cmocka_unit_test(what_does_not_fit_is_not_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
