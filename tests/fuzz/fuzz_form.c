/* A form's body: its fields, and each value as text, number and span. */
#include "base/clock.h"
#include "base/utf8.h"
#include "fuzz.h"
#include "web/form.h"
#include "web/origin.h"

static void numbers_check(struct str text)
{
    uint64_t n;
    int64_t ms;
    char digits[STR_U64_MAX];
    if (str_to_u64(text, &n))
        assert(str_equal(str_u64(digits, n), text));
    if (clock_span(text, &ms))
        assert(ms >= 0 && text.len >= 2);
}

/* Cleaning clean text changes nothing, and its characters fit their columns. */
static void clean_check(struct str text, enum status clean_by(struct arena *a, struct str s, struct str *out))
{
    struct str clean, again;
    enum status st = clean_by(fuzz_arena, text, &clean);
    assert((st == ST_INVALID) == !utf8_valid(text));
    if (st != ST_OK)
        return;
    assert(utf8_valid(clean) && clean_by(fuzz_arena, clean, &again) == ST_OK && str_equal(clean, again));
    assert(utf8_codepoints(clean) <= UTF8_CLUSTER_MAX * utf8_graphemes(clean));
    assert(str_starts(clean, utf8_first_grapheme(clean)));
    assert(str_equal(str_trim(clean), clean) && str_index(clean, '\n') == clean.len);
}

static void fold_check(struct str text)
{
    struct str folded, again;
    if (utf8_fold_pasted(fuzz_arena, text, &folded) == ST_OK) {
        assert(utf8_valid(folded) && folded.len <= text.len);
        assert(utf8_fold_pasted(fuzz_arena, folded, &again) == ST_OK && str_equal(folded, again));
    }
    if (utf8_fold_case(fuzz_arena, text, &folded) == ST_OK)
        assert(utf8_valid(folded));
}

/* A value that is encoded and parsed again is the same value. */
static void field_check(const struct form *form, size_t i)
{
    struct str value = form->fields[i].value;
    struct form again;
    assert(utf8_valid(form->fields[i].name) && utf8_valid(value));
    assert(str_index(value, '\0') == value.len);
    struct str encoded = arena_printf(fuzz_arena, "v=%.*s", STR_ARG(form_encode(fuzz_arena, value)));
    assert(form_parse(fuzz_arena, encoded, &again) == ST_OK && again.count == 1);
    assert(str_equal(again.fields[0].value, value));
    for (size_t k = 0; k < i; k++)
        assert(!str_equal(form->fields[k].name, form->fields[i].name));
    (void)request_key_valid(value);
    if (origin_path_is_local(value))
        assert(value.len <= NEXT_BYTES_MAX && value.ptr[0] == '/' && !str_starts(value, STR("//")) &&
               str_index(value, '\r') == value.len && str_index(value, '\\') == value.len);
    numbers_check(value);
    clean_check(value, utf8_clean);
    clean_check(value, utf8_clean_shown);
    fold_check(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = fuzz_text(data, size);
    struct form form;
    fuzz_begin();
    enum status st = form_parse(fuzz_arena, text, &form);
    assert(st == ST_OK || st == ST_INVALID);
    if (st == ST_OK) {
        assert(form.count <= FORM_FIELDS_MAX);
        for (size_t i = 0; i < form.count; i++)
            field_check(&form, i);
        assert(form_overlaps(&form, text) == (form.count > 0));
    }
    clean_check(text, utf8_clean);
    clean_check(text, utf8_clean_shown);
    numbers_check(text);
    return 0;
}
