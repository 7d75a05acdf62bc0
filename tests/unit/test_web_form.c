/* web/form: accepted and refused bodies, request keys, and lists of messages. web/multipart: bodies as browsers and
 * curl write them, and what is refused. */
#include "base/buf.h"
#include "support/test_arena.h"
#include "web/form.h"
#include "web/multipart.h"

static struct form form; /* what was parsed last */

static enum status parse(const char *text)
{
    return form_parse(arena, str_from(text), &form);
}

TEST(fields_are_decoded_and_a_repeated_broken_or_one_too_many_is_refused)
{
    bool present;
    assert_int_equal(parse("kind=lucky&greeting=%E6%81%AD%E5%96%9C+%26+ok&empty=&flag"), ST_OK);
    assert_int_equal(form.count, 4);
    assert_true(str_equal(form_get(&form, "greeting", NULL), STR("恭喜 & ok")));
    assert_true(str_equal(form_get(&form, "empty", &present), STR("")));
    assert_true(present);
    assert_true(str_equal(form_get(&form, "flag", &present), STR("")));
    assert_true(present);
    (void)form_get(&form, "absent", &present);
    assert_false(present);
    assert_int_equal(parse(""), ST_OK);
    assert_int_equal(form.count, 0);
    assert_int_equal(parse("&&"), ST_OK);
    assert_int_equal(form.count, 0);
    assert_int_equal(parse("amount=1&amount=2"), ST_INVALID);
    assert_int_equal(parse("amount=1&%61mount=1"), ST_INVALID);
    assert_int_equal(parse("amount=1&Amount=1"), ST_OK);
    EACH_TEXT (text, "a=%", "a=%4", "a=%zz", "a=%4z", "%=1", "a=%00", "a=%FF", "a=%C0%80", "a=%ED%A0%80",
               "a=%F4%90%80%80", "%FF=a", "a=\xE6\x81", "a=%E6%81", "a=%z0%90%80%80")
        assert_int_equal(parse(text), ST_INVALID);
    struct buf body = BUF_EMPTY;
    for (int i = 0; i < FORM_FIELDS_MAX; i++)
        buf_printf(&body, "f%d=1&", i);
    assert_int_equal(form_parse(arena, buf_view(&body), &form), ST_OK);
    buf_cstr(&body, "one_more=1");
    assert_int_equal(form_parse(arena, buf_view(&body), &form), ST_INVALID);
    buf_free(&body);
}

TEST(a_name_in_both_query_and_body_is_found_and_a_field_picked_from_any_query)
{
    assert_int_equal(parse("amount=1&%E7%BA%A2=2"), ST_OK);
    assert_true(form_overlaps(&form, STR("year=2026&amount=5")));
    assert_true(form_overlaps(&form, STR("%&&am%6funt")));
    assert_true(form_overlaps(&form, STR("\xE7%BA%A2")));
    assert_false(form_overlaps(&form, STR("")));
    assert_false(form_overlaps(&form, STR("amount%=1&amoun=1&amounts=1&amount%00=1&am%6=1&x=amount")));
    /* A field that no handler reads may have any text, and may be there more than once. */
    static const struct {
        const char *query;
        enum status status;
        const char *value; /* NULL: absent */
    } cases[] = { { "from=a&from=a&after=3&isappinstalled=0&isappinstalled=0", ST_OK, "3" },
                  { "%&after=3&%E5&%00=%00&\xB0\xC5=\xFF&=&==&&&a=%zz", ST_OK, "3" },
                  { "afte=1&afters=2&after%=4&after%00=5&xafter=6", ST_OK, NULL },
                  { "x=after=3&AFTER=3", ST_OK, NULL },
                  { "a%66ter=%E7%BA%A2+x", ST_OK, "\xE7\xBA\xA2 x" },
                  { "after", ST_OK, "" },
                  { "after=3&after=3", ST_INVALID, "3" },
                  { "after=3&x=%&%61fter", ST_INVALID, "3" },
                  { "x=1&after=%", ST_INVALID, NULL },
                  { "after=%00", ST_INVALID, NULL },
                  { "after=\xB0\xC5", ST_INVALID, NULL } };
    EACH (row, cases) {
        bool present;
        form.count = 0;
        assert_int_equal(form_pick(arena, str_from(row->query), STR("after"), &form), row->status);
        struct str value = form_get(&form, "after", &present);
        assert_int_equal(present, row->value != NULL);
        assert_int_equal(form.count, present);
        assert_true(str_equal(value, str_from(present ? row->value : "")));
    }
    struct buf text = BUF_EMPTY;
    form.count = 0;
    for (int i = 0; i < 10 * FORM_FIELDS_MAX; i++)
        buf_printf(&text, "f%d=1&", i);
    buf_cstr(&text, "after=7");
    assert_int_equal(form_pick(arena, buf_view(&text), STR("after"), &form), ST_OK);
    assert_true(str_equal(form_get(&form, "after", NULL), STR("7")));
    buf_free(&text);
}

TEST(an_address_is_written_in_ascii_and_an_encoded_value_decoded_to_itself)
{
    struct str plain = STR("/p/x?a=%E7&b=\x7F+");
    assert_ptr_equal(form_ascii(arena, plain).ptr, plain.ptr);
    assert_true(str_equal(form_ascii(arena, STR("/\xE7\xBA?\xFF=%\x80")), STR("/%E7%BA?%FF=%%80")));
    struct str value = STR("/records/sent?year=2026&before=1-x y+恭%");
    struct str text = arena_printf(arena, "next=%.*s", STR_ARG(form_encode(arena, value)));
    assert_int_equal(form_parse(arena, text, &form), ST_OK);
    assert_true(str_equal(form_get(&form, "next", NULL), value));
}

TEST(the_first_message_of_a_field_stays_and_a_request_key_is_a_word_of_limited_length)
{
    struct form_errors errors = { 0 };
    form_fail(&errors, "amount", "text/first");
    form_fail_with(&errors, "count", "text/other", STR("100"));
    form_fail(&errors, "amount", "text/second");
    assert_int_equal(errors.count, 2);
    assert_string_equal(errors.items[0].field, "amount");
    assert_string_equal(errors.items[0].text, "text/first");
    assert_string_equal(errors.items[1].text, "text/other");
    assert_true(str_equal(errors.items[1].value, STR("100")));
    char text[REQUEST_KEY_MAX + 1];
    memset(text, 'k', sizeof text);
    assert_true(request_key_valid(STR("a")));
    assert_true(request_key_valid(STR("f81d4fae-7dec-11d0-A765_00a0c91e6bf6")));
    assert_true(request_key_valid((struct str){ text, REQUEST_KEY_MAX }));
    assert_false(request_key_valid((struct str){ text, REQUEST_KEY_MAX + 1 }));
    assert_false(request_key_valid(STR("")));
    assert_false(request_key_valid(STR("a:b")));
    assert_false(request_key_valid(STR("a b")));
    assert_false(request_key_valid(STR("键")));
    struct str first = request_key_new(arena), second = request_key_new(arena);
    assert_true(request_key_valid(first));
    assert_int_equal(first.len, 32);
    assert_false(str_equal(first, second));
}

/* ---- bodies with files ---- */

#define TYPE "multipart/form-data; boundary=B"
#define HEAD "Content-Disposition: form-data; name=\"picture\"; filename=\"a.jpg\"\r\nContent-Type: image/jpeg\r\n\r\n"

static enum status find(const char *type, const char *body, struct str *content)
{
    return multipart_find(str_from(type), str_from(body), "picture", content);
}

TEST(a_part_is_found_by_its_name_and_its_absence_told_from_a_broken_body)
{
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
          "x" }
    };
    EACH (row, BODIES) {
        struct str content;
        assert_int_equal(find(row->type, row->body, &content), ST_OK);
        assert_true(str_equal(content, str_from(row->content)));
    }
    struct str content;
    assert_int_equal(find(TYPE, "--B\r\nContent-Disposition: form-data; name=\"x\"\r\n\r\n1\r\n--B--\r\n", &content),
                     ST_NOT_FOUND);
    assert_int_equal(find(TYPE, "--B--\r\n", &content), ST_NOT_FOUND);
    assert_true(multipart_is(STR("Multipart/Form-Data; boundary=x")));
    assert_true(multipart_is(STR("multipart/form-data")));
    assert_false(multipart_is(STR("multipart/form-data2")));
    assert_false(multipart_is(STR("application/x-www-form-urlencoded")));
    assert_false(multipart_is(STR_NONE));
}

TEST(what_is_malformed_ambiguous_or_beyond_a_limit_is_refused)
{
    struct str types = STR("multipart/\tform-data; boundary=B|multipart /form-data; boundary=B||multipart/form-data|"
                           "multipart/form-data; boundary=|multipart/form-data; boundary=\"|"
                           "multipart/form-data; boundary=\"B \"|multipart/form-data; boundary=B; boundary=B|"
                           "multipart/form-data; boundary=\"\xc3\xa9\"|multipart/form-data boundary=B|"
                           "multipart/mixed; boundary=B|text/plain; boundary=B|multipart/form-data; boundary="
                           "BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB");
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
        "--B\r\n" HEAD "1\r\n--B\r\n\r\n2\r\n--B--\r\n"
    };
    struct str content;
    while (types.ptr != NULL) {
        const struct str type = str_cut(types, '|', &types);
        if (multipart_find(type, STR("--B\r\n" HEAD "1\r\n--B--\r\n"), "picture", &content) != ST_INVALID)
            fail_msg("%.*s", STR_ARG(type));
    }
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++)
        if (find(TYPE, bodies[i], &content) != ST_INVALID)
            fail_msg("body %zu", i);
    char body[16384];
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

TESTS(arena_setup, arena_teardown)
