/* web/multipart: bodies as browsers and curl write them, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/multipart.h"

#define TYPE "multipart/form-data; boundary=B"
#define HEAD "Content-Disposition: form-data; name=\"picture\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"

static enum status find(const char *type, const char *body, struct str *content)
{
    return multipart_find(str_from(type), str_from(body), "picture", content);
}

static void a_part_is_found_by_its_name(void **state)
{
    (void)state;
    static const struct {
        const char *type, *body, *content;
    } BODIES[] = {
        { TYPE, "--B\r\n" HEAD "bytes\r\n--B--\r\n", "bytes" },
        { TYPE, "--B\r\n" HEAD "bytes\r\n--B--", "bytes" },
        { TYPE, "--B\r\n" HEAD "\r\n--B--\r\n", "" },
        { TYPE, "--B\r\n" HEAD "a\r\n--\r\n-B\r\n\r\n--B--\r\n", "a\r\n--\r\n-B\r\n" },
        { TYPE,
          "--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B\r\n" HEAD "2\r\n--B\r\n"
          "Content-Disposition: form-data; name=\"y\"\r\n\r\n3\r\n--B--\r\n",
          "2" },
        { "Multipart/Form-Data;  boundary=\"------------------------d74496d66958873e\"",
          "--------------------------d74496d66958873e\r\n"
          "content-disposition: FORM-DATA; name=\"picture\"; filename=\"a\\\"b; c.jpg\"\r\n\r\nx\r\n"
          "--------------------------d74496d66958873e--\r\n",
          "x" },
        { TYPE "; charset=utf-8",
          "--B\r\nContent-Disposition: form-data; filename=\"\xe7\x85\xa7.jpg\"; name=picture\r\n\r\nx\r\n--B--\r\n",
          "x" },
    };
    for (size_t i = 0; i < ARRAY_LEN(BODIES); i++) {
        struct str content;
        assert_int_equal(find(BODIES[i].type, BODIES[i].body, &content), ST_OK);
        assert_true(str_equal(content, str_from(BODIES[i].content)));
    }
}

static void a_body_without_the_part_is_told_from_a_broken_one(void **state)
{
    (void)state;
    struct str content;
    assert_int_equal(find(TYPE, "--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B--\r\n", &content),
                     ST_NOT_FOUND);
    assert_int_equal(find(TYPE, "--B--\r\n", &content), ST_NOT_FOUND);
}

static void what_is_malformed_or_ambiguous_is_refused(void **state)
{
    (void)state;
    static const char *const types[] = {
        "multipart/\tform-data; boundary=B",
        "multipart /form-data; boundary=B",
        "",
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/form-data; boundary=\"",
        "multipart/form-data; boundary=\"B \"",
        "multipart/form-data; boundary=B; boundary=B",
        "multipart/form-data; boundary=\"\xc3\xa9\"",
        "multipart/form-data boundary=B",
        "multipart/mixed; boundary=B",
        "text/plain; boundary=B",
        "multipart/form-data; boundary=BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB",
    };
    static const char *const bodies[] = {
        "",
        "--B",
        "--B\r\n",
        "--B-",
        "--C\r\n" HEAD "1\r\n--C--\r\n",
        "\r\n--B\r\n" HEAD "1\r\n--B--\r\n",                 /* something before the first part */
        "--B\r\n" HEAD "1\r\n--B--\r\nmore",                 /* and behind the last */
        "--B\r\n" HEAD "1\r\n--B",                           /* cut off */
        "--B\r\n" HEAD "1\r\n--Bx\r\n",                      /* a longer boundary */
        "--B\r\n" HEAD "1\r\n--B\r\n" HEAD "2\r\n--B--\r\n", /* two of one name */
        "--B\r\nContent-Type: image/jpeg\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"a b\"\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"a\"; name=\"b\"\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: attachment; name=\"picture\"\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"picture\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"picture\" x\r\n\r\n1\r\n--B--\r\n",
        "--B\r\nContent-Disposition: form-data; name=\"picture\"\n\n1\r\n--B--\r\n",
        "--B\r\n" HEAD,
        "--B\r\nContent-Transfer-Encoding: base64\r\n" HEAD "1\r\n--B--\r\n",
        "--B\r\nX\r\n" HEAD "1\r\n--B--\r\n",
        "--B\r\n" HEAD "1\r\n--B\r\n\r\n2\r\n--B--\r\n",
    };
    struct str content;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (find(types[i], "--B\r\n" HEAD "1\r\n--B--\r\n", &content) != ST_INVALID)
            fail_msg("type %zu", i);
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        if (find(TYPE, bodies[i], &content) != ST_INVALID)
            fail_msg("body %zu", i);
}

static void there_are_limits(void **state)
{
    (void)state;
    char body[16384];
    struct str content;
    for (int parts = MULTIPART_PARTS_MAX; parts <= MULTIPART_PARTS_MAX + 1; parts++) {
        int len = 0;
        for (int i = 0; i < parts; i++)
            len += snprintf(body + len, sizeof body - (size_t)len,
                            "--B\r\nContent-Disposition: form-data; name=\"n%d\"\r\n\r\n1\r\n", i);
        (void)snprintf(body + len, sizeof body - (size_t)len, "--B--\r\n");
        assert_int_equal(find(TYPE, body, &content), parts > MULTIPART_PARTS_MAX ? ST_INVALID : ST_NOT_FOUND);
    }
    (void)snprintf(body, sizeof body, "--B\r\nContent-Type: %0*d\r\n" HEAD "1\r\n--B--\r\n", MULTIPART_HEAD_MAX, 0);
    assert_int_equal(find(TYPE, body, &content), ST_INVALID);
}

static void the_media_type_is_read_in_any_case(void **state)
{
    (void)state;
    assert_true(multipart_is(STR("Multipart/Form-Data; boundary=x")));
    assert_true(multipart_is(STR("multipart/form-data")));
    assert_false(multipart_is(STR("multipart/form-data2")));
    assert_false(multipart_is(STR("application/x-www-form-urlencoded")));
    assert_false(multipart_is(STR_NONE));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_found_by_its_name),
        cmocka_unit_test(a_body_without_the_part_is_told_from_a_broken_one),
        cmocka_unit_test(what_is_malformed_or_ambiguous_is_refused),
        cmocka_unit_test(there_are_limits),
        cmocka_unit_test(the_media_type_is_read_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
