/* The reading of an address. Input: a query, up to the first NUL byte, and behind it the name of a field. */
#include "base/utf8.h"
#include "fuzz.h"
#include "web/form.h"

static struct form pick(struct str query, struct str name, enum status *st)
{
    struct form form = { .count = 0 };
    *st = form_pick(fuzz_arena, query, name, &form);
    assert(*st == ST_OK || *st == ST_INVALID);
    assert(form.count <= 1);
    return form;
}

/* Checks that both forms have the field with the same value, or that neither has it. */
static void same_check(const struct form *a, const struct form *b)
{
    assert(a->count == b->count);
    if (a->count > 0)
        assert(str_equal(a->fields[0].name, b->fields[0].name) && str_equal(a->fields[0].value, b->fields[0].value));
}

/* Checks that a strict reader finds the same value. */
static void strict_check(struct str query, struct str name, const struct form *picked, enum status st)
{
    struct form whole, one = { .count = 0 };
    if (form_parse(fuzz_arena, query, &whole) != ST_OK)
        return;
    for (size_t i = 0; i < whole.count; i++)
        if (str_equal(whole.fields[i].name, name))
            one.fields[one.count++] = whole.fields[i];
    assert(st == ST_OK);
    same_check(picked, &one);
    assert(form_overlaps(&whole, query) == (whole.count > 0));
}

/* Checks that additional fields, which nobody reads, change nothing. */
static void junk_check(struct str query, struct str name, const struct form *picked, enum status st)
{
    static const char *const junk[] = { "%", "\xB0\xC5=\xFF", "=&&%00=%E5" };
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++) {
        enum status again;
        struct str more = arena_printf(fuzz_arena, "%%zz=%%&%.*s&%s", STR_ARG(query), junk[i]);
        struct form form = pick(more, name, &again);
        assert(again == st);
        same_check(picked, &form);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str name;
    struct str query = str_cut(fuzz_text(data, size), '\0', &name);
    enum status st, again;
    fuzz_begin();
    name = str_cut(str_or_empty(name), '\0', &(struct str){ 0 });
    if (name.len == 0 || !utf8_valid(name))
        name = STR("after");
    struct form picked = pick(query, name, &st);
    if (picked.count > 0)
        assert(str_equal(picked.fields[0].name, name) && utf8_valid(picked.fields[0].value));
    strict_check(query, name, &picked, st);
    junk_check(query, name, &picked, st);

    struct str ascii = form_ascii(fuzz_arena, query);
    for (size_t i = 0; i < ascii.len; i++)
        assert((unsigned char)ascii.ptr[i] < 0x80);
    struct form of_ascii = pick(ascii, name, &again);
    assert(again == st);
    same_check(&picked, &of_ascii);
    return 0;
}
