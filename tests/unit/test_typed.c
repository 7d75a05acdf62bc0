/* The readers of what people type, by the cases of typed.json. */
#include <jansson.h>

#include "base/base32.h"
#include "base/money.h"
#include "base/typed.h"
#include "base/utf8.h"
#include "packet/phrase.h"
#include "support/test_arena.h"
#include "user/account.h"

enum { CODE_CHARS = 17, NAMES_MAX = 20 };

#define REFUSED STR("null")
#define LARGE   STR("\"max\"")

/* Reads a text; returns the result in JSON, as in the table. */
typedef struct str reader(struct str folded);

static struct str quoted(struct str text)
{
    return arena_printf(arena, "\"%.*s\"", STR_ARG(text));
}

static struct str number(uint64_t n)
{
    return arena_printf(arena, "%llu", (unsigned long long)n);
}

static struct str count_read(struct str folded)
{
    uint64_t n = 4711, again;
    if (!typed_count(folded, &n)) {
        assert_int_equal(n, 4711); /* untouched */
        return REFUSED;
    }
    assert_true(typed_count(number(n), &again) && again == n);
    return n == UINT64_MAX ? LARGE : number(n);
}

static struct str amount_read(struct str folded)
{
    int64_t fen = 4711, again;
    if (!typed_amount(folded, &fen)) {
        assert_int_equal(fen, 4711);
        return REFUSED;
    }
    assert_true(typed_amount(money_text(arena, fen), &again) && again == fen);
    return fen == INT64_MAX ? LARGE : number((uint64_t)fen);
}

/* Reads the list as the field of the receivers does. */
static struct str names_read(struct str folded)
{
    static const struct field names_fields[] = { { .name = "to", .type = &FIELD_USERNAMES, .max = NAMES_MAX },
                                                 { .name = NULL } };
    static struct config config;
    static struct services services = { .stores = { .config = &config } };
    struct exchange x = { .app = &services, .arena = arena };
    struct str_list names = { NULL, 0 };
    struct str json = STR("[");
    struct form_errors errors;
    x.form.count = 1;
    x.form.fields[0] = (struct form_field){ STR("to"), folded };
    assert_int_equal(form_read(&x, names_fields, &names, &errors), ST_OK);
    for (size_t i = 0; i < names.count; i++)
        json = arena_printf(arena, "%.*s%s%.*s", STR_ARG(json), i > 0 ? ", " : "", STR_ARG(quoted(names.items[i])));
    return arena_printf(arena, "%.*s]", STR_ARG(json));
}

static struct str line_read(struct str typed)
{
    struct str clean, again;
    assert_int_equal(utf8_clean_shown(arena, typed, &clean), ST_OK);
    assert_true(utf8_clean_shown(arena, clean, &again) == ST_OK && str_equal(clean, again));
    return quoted(clean);
}

static struct str code_read(struct str folded)
{
    uint8_t values[CODE_CHARS];
    char text[CODE_CHARS];
    if (!typed_code(folded, values, CODE_CHARS))
        return REFUSED;
    for (size_t i = 0; i < CODE_CHARS; i++)
        text[i] = BASE32_DIGITS[values[i]];
    return quoted((struct str){ text, CODE_CHARS });
}

static struct str phrase_folded(struct str typed)
{
    struct str out;
    assert_int_equal(phrase_fold(arena, typed, &out), ST_OK);
    return quoted(out);
}

static struct str day_read(struct str folded)
{
    struct clock_date d, again;
    if (!typed_day(folded, &d))
        return REFUSED;
    struct str text = arena_printf(arena, "%04d-%02d-%02d", d.year, d.month, d.day);
    assert_true(typed_day(text, &again) && clock_utc_ms(d) == clock_utc_ms(again));
    return quoted(text);
}

static struct str time_read(struct str folded)
{
    int64_t ms = 4711, again;
    enum status st = typed_time(folded, &ms);
    if (st != ST_OK) {
        assert_int_equal(ms, 4711);
        return st == ST_NOT_FOUND ? STR("\"skipped\"") : REFUSED;
    }
    struct str text = clock_rfc3339(arena, ms);
    assert_true(typed_time(text, &again) == ST_OK && again == ms);
    return quoted(text);
}

static json_t *table;

static struct str json_text(const json_t *value)
{
    return (struct str){ json_string_value(value), json_string_length(value) };
}

/* The expected result in the form of the readers above. */
static struct str wanted(const json_t *value)
{
    char *text = json_dumps(value, JSON_ENCODE_ANY);
    struct str copy = arena_str(arena, str_from(text));
    free(text);
    return copy;
}

/* A row is a text and its result; for times the zone comes first. */
static void assert_rows(const char *kind, const json_t *rows, reader *read, bool as_typed)
{
    size_t i;
    json_t *row;
    assert_true(json_array_size(rows) > 0);
    json_array_foreach(rows, i, row)
    {
        size_t at = json_array_size(row) - 2;
        struct str typed = json_text(json_array_get(row, at)), want = wanted(json_array_get(row, at + 1)), folded;
        assert_true(at == 0 || clock_zone_set(json_string_value(json_array_get(row, 0))));
        assert_int_equal(utf8_fold_pasted(arena, typed, &folded), ST_OK);
        struct str got = read(as_typed ? typed : folded);
        if (!str_equal(got, want))
            fail_msg("%s %zu \"%.*s\": %.*s instead of %.*s", kind, i, STR_ARG(typed), STR_ARG(got), STR_ARG(want));
    }
    assert_true(clock_zone_set("UTC"));
}

TEST(what_people_type_is_read_as_the_table_has_it)
{
    static const struct {
        const char *kind;
        reader *read;
        bool as_typed;
    } kinds[] = { { "fold", quoted, false },   { "count", count_read, false }, { "names", names_read, true },
                  { "line", line_read, true }, { "code", code_read, false },   { "phrase", phrase_folded, true },
                  { "day", day_read, false },  { "time", time_read, false } };
    assert_int_equal(json_object_size(table), ARRAY_LEN(kinds) + 1); /* the other test has the amounts */
    EACH (row, kinds)
        assert_rows(row->kind, json_object_get(table, row->kind), row->read, row->as_typed);
}

/* Sets the unit of a row: [code, decimals, symbol, Chinese name, English name]. */
static void unit_take(const json_t *row)
{
    const struct money_unit unit = { .code = json_string_value(json_array_get(row, 0)),
                                     .decimals = (int)json_integer_value(json_array_get(row, 1)),
                                     .symbol = json_string_value(json_array_get(row, 2)),
                                     .name_zh = json_string_value(json_array_get(row, 3)),
                                     .name_en = json_string_value(json_array_get(row, 4)) };
    money_unit_set(&unit);
}

TEST(amounts_are_read_and_shown_in_each_unit_as_the_table_has_it)
{
    const struct money_unit before = *money_unit();
    size_t i, j;
    json_t *amounts, *row;
    json_array_foreach(json_object_get(table, "amounts"), i, amounts)
    {
        unit_take(json_object_get(amounts, "unit"));
        assert_rows(money_unit()->code, json_object_get(amounts, "cases"), amount_read, false);
        json_array_foreach(json_object_get(amounts, "shown"), j, row)
        {
            const int64_t fen = json_integer_value(json_array_get(row, 0));
            const struct str text = money_text(arena, fen);
            if (!str_equal(text, json_text(json_array_get(row, 1))))
                fail_msg("%s: %lld is shown as %.*s", money_unit()->code, (long long)fen, STR_ARG(text));
        }
    }
    assert_int_equal(i, 4);
    money_unit_set(&before);
}

TEST(every_amount_that_is_shown_is_read_back_and_a_day_of_a_setting_has_one_form)
{
    for (int64_t fen = 0; fen <= 999999999; fen += fen < 100000 ? 1 : 99991) {
        char text[MONEY_TEXT_MAX];
        int64_t back = -1;
        size_t len = money_format(fen, text);
        assert_true(typed_amount((struct str){ text, len }, &back));
        assert_int_equal(back, fen);
    }
    static char digits[100000];
    int64_t fen;
    uint64_t n;
    struct clock_date d;
    assert_false(typed_amount(STR_NONE, &fen) || typed_count(STR_NONE, &n) || typed_day(STR_NONE, &d));
    assert_false(typed_amount(STR("1\0"), &fen) || typed_amount(STR("1\0.00"), &fen) || typed_count(STR("1\0"), &n));
    memset(digits, '9', sizeof digits);
    assert_true(typed_count((struct str){ digits, sizeof digits }, &n));
    assert_true(n == UINT64_MAX);
    digits[1] = '.';
    assert_false(typed_amount((struct str){ digits, sizeof digits }, &fen));
    int64_t ms;
    assert_true(typed_utc_day(STR("1970-01-01"), &ms));
    assert_int_equal(ms, 0);
    assert_true(typed_utc_day(STR("2028-02-29"), &ms));
    assert_int_equal(ms, 1835395200000);
    EACH_TEXT (text, "", "2026-11-2", "2026-11-200", "2026-1-20", "2026-11-31", "2026-02-29", "2026-13-01",
               "2026/01/01", "+026-01-01", "2026-01-01 ")
        assert_of(text, !typed_utc_day(str_from(text), &ms));
    assert_int_equal(ms, 1835395200000);
}

static int table_setup(void **state)
{
    json_error_t error;
    table = json_load_file(HB_SOURCE_DIR "/tests/unit/typed.json", 0, &error);
    return table == NULL ? -1 : arena_setup(state);
}

static int table_teardown(void **state)
{
    json_decref(table);
    return arena_teardown(state);
}

TESTS(table_setup, table_teardown)
