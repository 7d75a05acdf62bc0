/* web/fields: reading forms and queries by their tables. */
#include "base/array.h"
#include "base/clock.h"
#include "base/random.h"
#include "support/test.h"
#include "support/test_arena.h"
#include "web/field_types.h"

enum color { RED, GREEN };

struct order {
    enum color color;
    uint32_t count;
    int64_t price_fen;
    struct str note;
    struct str secret;
    struct str key;
    uint64_t from, until;
};

static struct str color_word(unsigned i)
{
    return i == RED ? STR("red") : i == GREEN ? STR("green") : STR_NONE;
}

static bool is_green(const struct field_input *in)
{
    const struct order *order = in->values;
    return order->color == GREEN;
}

static int64_t price_max(const struct config *config)
{
    return config->share_fen_max;
}

#define FIELD(field_name, of_type, to) .name = field_name, .type = &(of_type), .member = offsetof(struct order, to)

static const struct field order_fields[] = {
    { FIELD("color", FIELD_WORD, color), .word = color_word, .malformed = "text/color" },
    { FIELD("count", FIELD_COUNT, count), .required = true, .applies = is_green, .min = 2, .max = 7,
      .missing = "text/count_missing", .malformed = "text/count_malformed", .low = "text/count_low",
      .high = "text/count_high" },
    { FIELD("price", FIELD_YUAN, price_fen), .max_of = price_max, .malformed = "text/price_malformed",
      .high = "text/price_high" },
    { FIELD("note", FIELD_LINE, note), .max = 3, .code_points_max = 4, .malformed = "text/note_malformed",
      .high = "text/note_high", .wide = "text/note_wide" },
    { FIELD("secret", FIELD_TEXT, secret), .no_echo = true, .min = 2, .low = "text/secret_low" },
    { FIELD("key", FIELD_REQUEST_KEY, key), .no_echo = true, .malformed = "text/key" },
    { .name = NULL },
};

static struct config config = { .share_fen_max = 500 };
static struct services services = { .stores = { .config = &config } };
static struct order order;
static struct form_errors errors;

static enum status posted(const char *body)
{
    struct exchange x = { .app = &services, .arena = arena };
    assert_int_equal(form_parse(arena, str_from(body), &x.form), ST_OK);
    order = (struct order){ .color = RED, .count = 1, .price_fen = 100 };
    return form_read(&x, order_fields, &order, &errors);
}

/* Reads body and expects exactly one message: text, with value. */
static void assert_refused(const char *body, const char *text, const char *value)
{
    assert_int_equal(posted(body), ST_INVALID);
    assert_int_equal(errors.count, 1);
    assert_string_equal(errors.items[0].text, text);
    assert_true(str_equal(errors.items[0].value, str_from(value)));
}

TEST(a_form_is_read_into_typed_values)
{
    assert_int_equal(posted("color=green&count=%EF%BC%97&price=1.5&note=+a++b&secret=+s+x+&key=k-1"), ST_OK);
    assert_int_equal(errors.count, 0);
    assert_int_equal(order.color, GREEN);
    assert_int_equal(order.count, 7);
    assert_int_equal(order.price_fen, 150);
    assert_true(str_equal(order.note, STR("a b")));
    assert_true(str_equal(order.secret, STR("s x")));
    assert_true(str_equal(order.key, STR("k-1")));
}

TEST(an_empty_field_keeps_the_default_value)
{
    static const char *const bodies[] = { "", "color=&price=&note=++&secret=&key=",
                                          "color=+&price=+&secret=%C2%A0&key=%E2%80%8B" };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        assert_int_equal(posted(bodies[i]), ST_OK);
        assert_int_equal(order.color, RED);
        assert_int_equal(order.count, 1);
        assert_int_equal(order.price_fen, 100);
        assert_null(order.note.ptr);
        assert_true(request_key_valid(order.key)); /* an absent key is replaced by a new one */
    }
}

TEST(a_field_that_does_not_apply_is_ignored)
{
    assert_int_equal(posted("color=red&count=lots"), ST_OK);
    assert_int_equal(order.count, 1);
    assert_refused("color=green", "text/count_missing", "");
}

TEST(a_value_beyond_a_limit_is_refused_with_the_limit)
{
    assert_refused("color=green&count=1", "text/count_low", "");
    assert_refused("color=green&count=8", "text/count_high", "7");
    assert_refused("color=green&count=99999999999999999999999", "text/count_high", "7");
    assert_refused("color=green&count=08", "text/count_high", "7");
    assert_refused("color=green&count=-3", "text/count_malformed", "");
    assert_refused("price=5.01", "text/price_high", "5");
    assert_refused("price=-5", "text/price_malformed", "");
    assert_refused("note=abcd", "text/note_high", "3");
    assert_refused("note=x%CC%A3x%CC%A3x%CC%A3", "text/note_wide", "3");
    assert_refused("secret=s", "text/secret_low", "");
    assert_refused("color=blue", "text/color", "red, green");
    assert_refused("key=a+b", "text/key", "");
}

TEST(amounts_are_read_as_people_write_them)
{
    static const char *const bodies[] = { "price=%C2%A51.5", "price=%EF%BF%A51.50", "price=1.5%E5%85%83",
                                          "price=%C2%A5+1.5+%E5%85%83", "price=+1.5+" };
    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        order.price_fen = 0;
        (void)posted(bodies[i]);
        assert_false(form_failed(&errors, "price"));
        assert_int_equal(order.price_fen, 150);
    }
    static const char *const high[] = { "price=1,234", "price=%C2%A512,345.60", "price=1%EF%BC%8C234%E5%85%83",
                                        "price=1,234,567" };
    for (size_t i = 0; i < ARRAY_LEN(high); i++)
        assert_refused(high[i], "text/price_high", "5");
    static const char *const malformed[] = { "price=1,23",          "price=,123",      "price=1234,567", "price=1,,234",
                                             "price=1.234,5",       "price=%E5%85%83", "price=%C2%A5",   "price=1,234,",
                                             "price=%C2%A5%C2%A51", "price=1,2345" };
    for (size_t i = 0; i < ARRAY_LEN(malformed); i++)
        assert_refused(malformed[i], "text/price_malformed", "");
}

TEST(pasted_text_is_read_as_if_it_was_typed)
{
    static const char *const around[] = { "+",         "%0D%0A",    "%C2%A0",    "%E2%80%8B", "%EF%BB%BF",
                                          "%E2%80%89", "%E3%80%80", "%E2%80%8E", "%C2%AD",    "%E2%80%A8" };
    for (size_t i = 0; i < ARRAY_LEN(around); i++) {
        const char *c = around[i];
        const char *body =
            arena_printf(arena, "color=%sgreen%s&count=%s7%s&price=%s1.5%s&key=%sk-1%s", c, c, c, c, c, c, c, c).ptr;
        if (posted(body) != ST_OK)
            fail_msg("%s: %s", body, errors.items[0].text);
        assert_int_equal(order.color, GREEN);
        assert_int_equal(order.count, 7);
        assert_int_equal(order.price_fen, 150);
        assert_true(str_equal(order.key, STR("k-1")));
    }
    assert_int_equal(posted("color=%EF%BD%87reen&count=%C2%A0"), ST_INVALID); /* a lone blank is no malformed number */
    assert_string_equal(errors.items[0].text, "text/count_missing");
    assert_int_equal(posted("price=1%E2%80%8B.5"), ST_OK);
    assert_int_equal(order.price_fen, 150);
}

TEST(messages_come_in_the_order_of_the_table)
{
    static const char *const wanted[] = { "color", "price", "note", "secret", "key" };
    assert_int_equal(posted("key=%21&secret=s&note=abcd&price=x&color=blue"), ST_INVALID);
    assert_int_equal(errors.count, 5);
    for (size_t i = 0; i < errors.count; i++)
        assert_string_equal(errors.items[i].field, wanted[i]);
    assert_true(form_failed(&errors, "note"));
    assert_false(form_failed(&errors, "count"));
}

TEST(typed_texts_are_shown_again_except_secret_ones)
{
    struct form form;
    struct model m;
    struct buf json = BUF_EMPTY;
    assert_int_equal(form_parse(arena, STR("color=blue&price=+1&secret=xyz&key=k&other=o"), &form), ST_OK);
    model_init(&m, arena);
    form_typed_model(&m, &m.root, order_fields, &form);
    value_json(&json, &m.root);
    assert_true(str_equal(buf_view(&json), STR("{}")));
    static const char *const wanted[][2] = { { "color", "blue" }, { "count", "" },    { "price", " 1" },
                                             { "note", "" },      { "secret", NULL }, { "key", NULL } };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        struct str name = str_from(wanted[i][0]);
        const struct value *value = value_get(&m.root, name, value_hash(name));
        assert_int_equal(value != NULL, wanted[i][1] != NULL);
        if (value != NULL)
            assert_true(str_equal(value->as.text, str_from(wanted[i][1])));
    }
    buf_free(&json);
}

static bool query_broken; /* by query_valid */

static bool query_valid(const char *query, struct order *out)
{
    static const struct field query_fields[] = {
        { FIELD("from", FIELD_NUMBER, from), .min = 1 },
        { FIELD("until", FIELD_NUMBER, until), .max = 9 },
        { .name = NULL },
    };
    struct exchange x = { .app = &services, .arena = arena, .query_text = str_from(query) };
    *out = (struct order){ .from = 42 };
    bool valid = query_read(&x, query_fields, out);
    query_broken = x.query_broken;
    return valid;
}

TEST(a_query_with_a_malformed_field_is_refused)
{
    static const char *const bad[] = { "from=", "from=0", "from=00", "from=x", "from=%EF%BC%97x", "until=10", "until" };
    struct order out;
    assert_true(query_valid("", &out));
    assert_int_equal(out.from, 42);
    assert_true(query_valid("from=18446744073709551615&other=x", &out));
    assert_true(out.from == UINT64_MAX);
    assert_true(query_valid("from=%EF%BB%BF%EF%BC%97%C2%A0", &out));
    assert_int_equal(out.from, 7);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(query_valid(bad[i], &out));
    assert_false(query_broken); /* these are for the handler to refuse or to ignore */
}

TEST(only_a_field_that_is_read_breaks_a_query)
{
    static const char *const broken[] = { "from=%", "from=1&from=1", "until=%00", "until=1&x=%&unti%6C=1" };
    struct order out;
    assert_true(query_valid("x=1&x=1&from=7&%&\xB0=%E5&until%=1", &out));
    assert_int_equal(out.from, 7);
    assert_false(query_broken);
    for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
        (void)query_valid(broken[i], &out);
        assert_true(query_broken);
    }
}

/* Also when the two tables of a page have a field in common. */
TEST(a_field_of_a_query_may_be_read_twice_but_not_that_of_a_posted_address)
{
    struct exchange x = { .app = &services, .arena = arena, .query_text = STR("next=%2F") };
    assert_true(str_equal(query_get(&x, "next", NULL), STR("/")));
    assert_true(str_equal(query_get(&x, "next", NULL), STR("/")));
    assert_false(x.query_broken);
    struct exchange post = { .app = &services, .arena = arena, .method = METHOD_POST, .query_text = STR("next=%") };
    assert_int_equal(query_get(&post, "next", NULL).len, 0);
    assert_false(post.query_broken);
}

TEST(a_form_in_the_query_is_read_like_a_posted_one)
{
    struct exchange x = { .app = &services, .arena = arena, .query_text = STR("color=green&count=&price=x&note=") };
    order = (struct order){ .note = STR("before") };
    assert_int_equal(query_form_read(&x, order_fields, &order, &errors), ST_INVALID);
    assert_int_equal(errors.count, 2);
    assert_true(form_failed(&errors, "count") && form_failed(&errors, "price"));
    x = (struct exchange){ .app = &services, .arena = arena, .query_text = STR("color=green&count=2&note=&x=%") };
    assert_int_equal(query_form_read(&x, order_fields, &order, &errors), ST_OK);
    assert_int_equal(order.count, 2);
    assert_true(str_equal(order.note, STR("before")));
}

static bool day_valid(const char *typed, int64_t *out)
{
    static const struct field day_fields[] = {
        { .name = "day", .type = &FIELD_DAY, .min = 2000, .max = 2100 },
        { .name = NULL },
    };
    struct exchange x = { .app = &services, .arena = arena };
    x.query.count = 1;
    x.query.fields[0] = (struct form_field){ STR("day"), str_from(typed) };
    *out = -1;
    return query_read(&x, day_fields, out);
}

TEST(a_day_is_read_as_its_first_instant_in_the_zone)
{
    static const char *const bad[] = { "2026-02-30", "2026-11- 20", "1999-12-31", "2101-01-01", "2026-11-20T00" };
    int64_t ms;
    assert_true(clock_zone_set("Asia/Shanghai"));
    assert_true(day_valid("2026-11-20", &ms));
    assert_int_equal(ms, 1795104000000);
    static const char *const same[] = { "２０２６－１１－２０", "2026-11-20 ", "\u200b2026-11-20\u00a0",
                                        "2026\u201111\u201120", "2026/11/20" };
    for (size_t i = 0; i < ARRAY_LEN(same); i++) {
        assert_true(day_valid(same[i], &ms));
        assert_int_equal(ms, 1795104000000);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_false(day_valid(bad[i], &ms));
    assert_true(clock_zone_set("UTC"));
}

/* What the input of the field shows again. */
static struct str shown_again(const struct field *fields, const char *typed)
{
    struct form form = { .count = 1, .fields = { { STR("day"), str_from(typed) } } };
    struct model m;
    model_init(&m, arena);
    form_typed_model(&m, &m.root, fields, &form);
    return value_get(&m.root, STR("day"), value_hash(STR("day")))->as.text;
}

TEST(a_day_is_shown_again_as_its_input_has_it)
{
    static const struct field day_fields[] = { { .name = "day", .type = &FIELD_DAY }, { .name = NULL } };
    static const char *const same[] = { "2026-12-01", "2026/12/1", "\u00a02026.12.01 " };
    for (size_t i = 0; i < ARRAY_LEN(same); i++)
        assert_true(str_equal(shown_again(day_fields, same[i]), STR("2026-12-01")));
    assert_true(str_equal(shown_again(day_fields, "1 December "), STR("1 December ")));
    assert_true(str_equal(shown_again(day_fields, ""), STR("")));
}

TEST(without_memory_a_form_is_neither_accepted_nor_refused)
{
    struct arena *full = arena_new(16, 16);
    struct exchange x = { .app = &services, .arena = full };
    assert_non_null(full);
    assert_int_equal(form_parse(arena, STR("price=5.01"), &x.form), ST_OK);
    assert_int_equal(form_read(&x, order_fields, &order, &errors), ST_NO_MEMORY);
    arena_free(full);
}

TESTS(arena_setup, arena_teardown)
