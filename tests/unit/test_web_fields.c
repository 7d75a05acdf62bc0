/* web/fields: reading forms and queries by their tables. */
#include "base/clock.h"
#include "support/assert_text.h"
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
    { FIELD("price", FIELD_AMOUNT, price_fen), .max_of = price_max, .malformed = "text/price_malformed",
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

TEST(a_form_is_read_into_typed_values_and_what_is_empty_or_does_not_apply_keeps_its_default)
{
    assert_int_equal(posted("color=green&count=%EF%BC%97&price=1.5&note=+a++b&secret=+s+x+&key=k-1"), ST_OK);
    assert_ints({ errors.count, 0 }, { order.color, GREEN }, { order.count, 7 }, { order.price_fen, 150 });
    assert_true(str_equal(order.note, STR("a b")));
    assert_true(str_equal(order.secret, STR("s x")));
    assert_true(str_equal(order.key, STR("k-1")));
    EACH_TEXT (body, "", "color=&price=&note=++&secret=&key=", "color=+&price=+&secret=%C2%A0&key=%E2%80%8B") {
        assert_int_equal(posted(body), ST_OK);
        assert_ints({ order.color, RED }, { order.count, 1 }, { order.price_fen, 100 });
        assert_null(order.note.ptr);
        assert_true(request_key_valid(order.key)); /* an absent key is replaced by a new one */
    }
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
    assert_refused("price=1,234", "text/price_high", "5");
    assert_refused("price=1,23", "text/price_malformed", "");
    assert_refused("note=abcd", "text/note_high", "3");
    assert_refused("note=x%CC%A3x%CC%A3x%CC%A3", "text/note_wide", "3");
    assert_refused("secret=s", "text/secret_low", "");
    assert_refused("color=blue", "text/color", "red, green");
    assert_refused("key=a+b", "text/key", "");
}

/* typed.json has the texts of numbers and amounts; test_base_utf8 has what is removed from a pasted text. */
TEST(pasted_text_is_read_as_if_it_was_typed)
{
    EACH_TEXT (c, "+", "%0D%0A", "%E2%80%8B", "%E3%80%80") {
        const char *body =
            arena_printf(arena, "color=%sgreen%s&count=%s7%s&price=%s1.5%s&key=%sk-1%s", c, c, c, c, c, c, c, c).ptr;
        if (posted(body) != ST_OK)
            fail_msg("%s: %s", body, errors.items[0].text);
        assert_ints({ order.color, GREEN }, { order.count, 7 }, { order.price_fen, 150 });
        assert_true(str_equal(order.key, STR("k-1")));
    }
    assert_int_equal(posted("color=%EF%BD%87reen&count=%C2%A0"), ST_INVALID); /* a lone blank is no malformed number */
    assert_string_equal(errors.items[0].text, "text/count_missing");
    assert_int_equal(posted("price=%C2%A51%E2%80%8B.5+%E5%85%83"), ST_OK);
    assert_int_equal(order.price_fen, 150);
}

TEST(messages_come_in_the_order_of_the_table_and_without_memory_none)
{
    static const char *const wanted[] = { "color", "price", "note", "secret", "key" };
    assert_int_equal(posted("key=%21&secret=s&note=abcd&price=x&color=blue"), ST_INVALID);
    assert_int_equal(errors.count, 5);
    for (size_t i = 0; i < errors.count; i++)
        assert_string_equal(errors.items[i].field, wanted[i]);
    assert_true(form_failed(&errors, "note"));
    assert_false(form_failed(&errors, "count"));
    struct arena *full = arena_new(16, 16);
    struct exchange x = { .app = &services, .arena = full };
    assert_non_null(full);
    assert_int_equal(form_parse(arena, STR("price=5.01"), &x.form), ST_OK);
    assert_int_equal(form_read(&x, order_fields, &order, &errors), ST_NO_MEMORY);
    arena_free(full);
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

TEST(values_are_written_as_their_form_would_read_them)
{
    struct exchange x = { .app = &services, .arena = arena };
    struct form form = { .count = 0 };
    const struct order values = { .color = GREEN, .count = 7, .note = STR("abc"), .secret = STR("xyz") };
    form_write(&x, order_fields, &values, &form);
    assert_int_equal(form.count, 2); /* the other types write nothing */
    assert_true(str_equal(form_get(&form, "color", NULL), STR("green")));
    assert_true(str_equal(form_get(&form, "note", NULL), STR("abc")));
    form.count = 0;
    form_write(&x, order_fields, &(const struct order){ .color = RED }, &form);
    assert_int_equal(form.count, 1); /* an empty text is none */
}

static struct str first_note(const struct config *of)
{
    (void)of;
    return STR("ab");
}

TEST(a_text_unfolds_its_field_unless_it_is_the_first_one)
{
    struct field note = order_fields[3];
    assert_false(field_unfolds(&note, &config, STR("")));
    assert_true(field_unfolds(&note, &config, STR("ab")));
    note.first = first_note;
    assert_false(field_unfolds(&note, &config, STR("")));
    assert_false(field_unfolds(&note, &config, STR("ab")));
    assert_false(field_unfolds(&order_fields[RED], &config, STR("red")));
    assert_true(field_unfolds(&order_fields[RED], &config, STR("green")));
}

static bool query_broken; /* by from_of */

/* The number in the field "from" of the query, 42 without one; 0: the query is refused. */
static uint64_t from_of(const char *query)
{
    static const struct field query_fields[] = { { FIELD("from", FIELD_NUMBER, from), .min = 1 },
                                                 { FIELD("until", FIELD_NUMBER, until), .max = 9 },
                                                 { .name = NULL } };
    struct exchange x = { .app = &services, .arena = arena, .query_text = str_from(query) };
    struct order out = { .from = 42 };
    bool valid = query_read(&x, query_fields, &out);
    query_broken = x.query_broken;
    return valid ? out.from : 0;
}

TEST(a_query_with_a_malformed_field_that_is_read_is_refused)
{
    assert_int_equal(from_of(""), 42);
    assert_true(from_of("from=18446744073709551615&other=x") == UINT64_MAX);
    assert_int_equal(from_of("from=%EF%BB%BF%EF%BC%97%C2%A0"), 7);
    EACH_TEXT (text, "from=", "from=0", "from=00", "from=x", "from=%EF%BC%97x", "until=10", "until")
        assert_of(text, from_of(text) == 0 && !query_broken); /* the handler may refuse or ignore it */
    assert_int_equal(from_of("x=1&x=1&from=7&%&\xB0=%E5&until%=1"), 7);
    assert_false(query_broken);
    EACH_TEXT (text, "from=%", "from=1&from=1", "until=%00", "until=1&x=%&unti%6C=1") {
        (void)from_of(text);
        assert_of(text, query_broken);
    }
    /* Also when the two tables of a page have a field in common. */
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

/* The first instant of the day; -1: it is refused. */
static int64_t day_ms(const char *typed)
{
    static const struct field day_fields[] = { { .name = "day", .type = &FIELD_DAY, .min = 2000, .max = 2100 },
                                               { .name = NULL } };
    struct exchange x = { .app = &services, .arena = arena };
    int64_t ms;
    x.query.count = 1;
    x.query.fields[0] = (struct form_field){ STR("day"), str_from(typed) };
    return query_read(&x, day_fields, &ms) ? ms : -1;
}

/* typed.json has the forms of a day. */
TEST(a_day_is_read_as_its_first_instant_in_the_zone_and_shown_again_as_its_input_has_it)
{
    assert_true(clock_zone_set("Asia/Shanghai"));
    EACH_TEXT (text, "2026-11-20", "２０２６－１１－２０", "\u200b2026/11/20\u00a0")
        assert_of(text, day_ms(text) == 1795104000000);
    EACH_TEXT (text, "2026-02-30", "1999-12-31", "2101-01-01")
        assert_of(text, day_ms(text) == -1);
    assert_true(clock_zone_set("UTC"));
    static const struct field day_fields[] = { { .name = "day", .type = &FIELD_DAY }, { .name = NULL } };
    static const char *const rows[][2] = { { "2026-12-01", "2026-12-01" },
                                           { "2026/12/1", "2026-12-01" },
                                           { "\u00a02026.12.01 ", "2026-12-01" },
                                           { "1 December ", "1 December " },
                                           { "", "" } };
    EACH (row, rows) {
        struct form form = { .count = 1, .fields = { { STR("day"), str_from((*row)[0]) } } };
        struct model m;
        model_init(&m, arena);
        form_typed_model(&m, &m.root, day_fields, &form);
        assert_text(value_get(&m.root, STR("day"), value_hash(STR("day")))->as.text, (*row)[1]);
    }
}

TESTS(arena_setup, arena_teardown)
