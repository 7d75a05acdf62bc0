#include "web/kept_form.h"

#include "base/array.h"
#include "web/fields.h"
#include "web/origin.h"
#include "web/respond.h"
#include "web/router.h"

#define LACKS_BYTES_MAX (sizeof "&lacks=phrase,note,to" - 1)

void kept_form_copy(struct exchange *x, const struct field *fields, struct form *out)
{
    bool posted = x->method == METHOD_POST;
    out->count = 0;
    for (enum field_kept kept = KEPT_FIRST; kept <= KEPT_LAST; kept++) {
        for (const struct field *field = fields; field->name != NULL; field++) {
            if (field->kept != kept)
                continue;
            struct str value = posted ? form_get(&x->form, field->name, NULL) : query_get(x, field->name, NULL);
            if (value.len > 0)
                out->fields[out->count++] = (struct form_field){ str_from(field->name), value };
        }
    }
}

/* Adds to the address the names of what it lacks: the passphrase and the note, which must not be in an address, and
 * receivers that do not fit. */
static struct str lacks_url(const struct exchange *x, struct str url, bool to_left_out, char before)
{
    static const char *const names[] = { "phrase", "note", "to" };
    struct str lacks = STR("");

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const bool is_to = i == ARRAY_LEN(names) - 1;
        if (is_to ? to_left_out : form_get(&x->form, names[i], NULL).len > 0)
            lacks = arena_printf(x->arena, "%.*s%s%s", STR_ARG(lacks), lacks.len > 0 ? "," : "", names[i]);
    }
    if (url.ptr == NULL || lacks.len == 0)
        return lacks.ptr == NULL ? STR_NONE : url;
    return arena_printf(x->arena, "%.*s%clacks=%.*s", STR_ARG(url), before, STR_ARG(lacks));
}

struct str kept_form_url(struct exchange *x)
{
    struct form kept;
    bool to_left_out = false;
    struct str url = exchange_page_path(x);
    if (x->route == NULL || (x->route->needs & KEEP_FORM) == 0)
        return url;
    kept_form_copy(x, x->route->form, &kept);
    char before = '?';
    for (size_t i = 0; i < kept.count && url.ptr != NULL; i++) {
        struct str longer =
            arena_printf(x->arena, "%.*s%c%.*s=%.*s", STR_ARG(url), before, STR_ARG(kept.fields[i].name),
                         STR_ARG(str_or_empty(form_encode(x->arena, kept.fields[i].value))));
        if (longer.len > NEXT_BYTES_MAX - LACKS_BYTES_MAX) {
            to_left_out = to_left_out || str_equal(kept.fields[i].name, STR("to"));
            continue;
        }
        url = longer;
        before = '&';
    }
    return lacks_url(x, url, to_left_out, before);
}

bool kept_form_switches_language(struct exchange *x)
{
    enum language language;
    if (x->method != METHOD_POST || (x->route->needs & KEEP_FORM) == 0 || x->wants_json ||
        !language_from_tag(form_get(&x->form, "language", NULL), &language))
        return false;
    respond_see_other(x, kept_form_url(x));
    respond_cookie(x, STR(LANGUAGE_COOKIE), str_from(language_tag(language)), LANGUAGE_COOKIE_S);
    return true;
}
