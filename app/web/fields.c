#include "web/fields.h"

#include <assert.h>
#include <inttypes.h>

#include "base/utf8.h"

static enum status field_read(struct exchange *x, const struct field *field, struct str typed, void *values,
                              struct form_errors *errors)
{
    struct field_input in = { .x = x,
                              .field = field,
                              .typed = typed,
                              .values = values,
                              .out = (char *)values + field->member,
                              .errors = errors };
    if (field->applies != NULL && !field->applies(&in))
        return ST_OK;
    /* Text that is no UTF-8 stays as it is: its type refuses it. */
    if (!field->type->as_typed && utf8_fold_pasted(x->arena, typed, &in.typed) == ST_NO_MEMORY)
        return ST_NO_MEMORY;
    return field->type->read(&in);
}

static enum status fields_read(struct exchange *x, const struct form *form, const struct field *fields, void *values,
                               struct form_errors *errors)
{
    enum status result = ST_OK;
    errors->count = 0;
    for (const struct field *field = fields; field->name != NULL; field++) {
        enum status st = field_read(x, field, form_get(form, field->name, NULL), values, errors);
        if (st == ST_NO_MEMORY)
            return st;
        if (st != ST_OK)
            result = st;
    }
    return result;
}

enum status form_read(struct exchange *x, const struct field *fields, void *values, struct form_errors *errors)
{
    return fields_read(x, &x->form, fields, values, errors);
}

struct str query_get(struct exchange *x, const char *name, bool *present)
{
    bool found = false;
    struct str value = form_get(&x->query, name, &found);
    if (!found && x->method != METHOD_POST && x->query_text.len > 0) {
        enum status st = form_pick(x->arena, x->query_text, str_from(name), &x->query);
        x->query_broken = x->query_broken || st == ST_INVALID;
        value = form_get(&x->query, name, &found);
    }
    if (present != NULL)
        *present = found;
    return value;
}

const struct form *query_form(struct exchange *x, const struct field *fields)
{
    for (const struct field *field = fields; field->name != NULL; field++)
        (void)query_get(x, field->name, NULL);
    return &x->query;
}

enum status query_form_read(struct exchange *x, const struct field *fields, void *values, struct form_errors *errors)
{
    return fields_read(x, query_form(x, fields), fields, values, errors);
}

bool query_read(struct exchange *x, const struct field *fields, void *values)
{
    struct form_errors unused = { .count = 0 };
    for (const struct field *field = fields; field->name != NULL; field++) {
        bool present;
        struct str typed = query_get(x, field->name, &present);
        if (present && (typed.len == 0 || field_read(x, field, typed, values, &unused) != ST_OK))
            return false;
    }
    return true;
}

void form_write(struct exchange *x, const struct field *fields, const void *values, struct form *out)
{
    struct form_errors none = { .count = 0 };
    for (const struct field *field = fields; field->name != NULL; field++) {
        const struct field_input in = { .x = x, .field = field, .values = values, .errors = &none };
        if (field->type->write == NULL || (field->applies != NULL && !field->applies(&in)))
            continue;
        struct str text = field->type->write(&in, (const char *)values + field->member);
        if (text.len == 0)
            continue;
        assert(out->count < FORM_FIELDS_MAX);
        out->fields[out->count++] = (struct form_field){ str_from(field->name), text };
    }
}

/* The text in the form that the field's input shows; as typed when there is no such form. */
static struct str field_shown(struct arena *a, const struct field *field, struct str typed)
{
    struct str folded;
    if (field->type->shown == NULL || utf8_fold_pasted(a, typed, &folded) != ST_OK)
        return typed;
    struct str shown = field->type->shown(a, folded);
    return shown.len > 0 ? shown : typed;
}

void form_typed_model(struct model *m, struct value *object, const struct field *fields, const struct form *form)
{
    for (const struct field *field = fields; field->name != NULL; field++)
        if (!field->no_echo)
            value_page_text(m, object, field->name, field_shown(m->arena, field, form_get(form, field->name, NULL)));
}

bool field_unfolds(const struct field *field, const struct config *config, struct str text)
{
    struct str first = STR("");
    if (field->first != NULL)
        first = field->first(config);
    else if (field->word != NULL)
        first = field->word(0);
    return text.len > 0 && !str_equal(text, first);
}

int64_t field_max(const struct field *field, const struct config *config)
{
    return field->max_of != NULL ? field->max_of(config) : field->max;
}

enum status field_absent(struct field_input *in)
{
    return in->field->required ? field_fail(in, in->field->missing) : ST_OK;
}

enum status field_fail(struct field_input *in, const char *text)
{
    return field_fail_with(in, text, STR(""));
}

enum status field_fail_with(struct field_input *in, const char *text, struct str value)
{
    if (value.ptr == NULL)
        return ST_NO_MEMORY;
    if (text != NULL)
        form_fail_with(in->errors, in->field->name, text, value);
    return ST_INVALID;
}

enum status field_limits(struct field_input *in, int64_t n)
{
    int64_t max = field_max(in->field, in->x->app->stores.config);
    if (n < in->field->min)
        return field_fail(in, in->field->low);
    if (max > 0 && n > max)
        return field_fail_with(in, in->field->high, arena_printf(in->x->arena, "%" PRId64, max));
    return ST_OK;
}
