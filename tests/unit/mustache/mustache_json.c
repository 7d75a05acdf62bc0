#include "mustache_json.h"

#include <stdio.h>
#include <stdlib.h>

enum { REAL_TEXT_BYTES = 32, REAL_DIGITS_MAX = 17 };

static bool value_fill(struct arena *a, const json_t *json, struct value *out);

static struct str real_text(struct arena *a, double number)
{
    char text[REAL_TEXT_BYTES];
    for (int digits = 1; digits <= REAL_DIGITS_MAX; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) <= number && strtod(text, NULL) >= number)
            break;
    }
    return arena_str(a, str_from(text));
}

static bool fill_list(struct arena *a, const json_t *json, struct value *out)
{
    for (size_t i = 0; i < json_array_size(json); i++) {
        struct value *item = arena_alloc(a, sizeof *item);
        if (!item || !value_fill(a, json_array_get(json, i), item))
            return false;
        if (out->as.list.last)
            out->as.list.last->next = item;
        else
            out->as.list.first = item;
        out->as.list.last = item;
    }
    return true;
}

static bool fill_object(struct arena *a, const json_t *json, struct value *out)
{
    json_t *object = json_incref((json_t *)(uintptr_t)json); /* iterating wants a pointer it could write through */
    bool ok = true;

    for (void *at = json_object_iter(object); at && ok; at = json_object_iter_next(object, at)) {
        struct member *m = arena_alloc(a, sizeof *m);
        if (!m || !value_fill(a, json_object_iter_value(at), &m->value)) {
            ok = false;
            break;
        }
        m->name = str_from(json_object_iter_key(at));
        m->name_hash = value_hash(m->name);
        if (out->as.object.last)
            out->as.object.last->next = m;
        else
            out->as.object.first = m;
        out->as.object.last = m;
    }
    json_decref(object);
    return ok;
}

static bool value_fill(struct arena *a, const json_t *json, struct value *out)
{
    switch (json_typeof(json)) {
    case JSON_NULL: out->type = VALUE_NULL; return true;
    case JSON_TRUE:
    case JSON_FALSE:
        out->type = VALUE_BOOL;
        out->as.boolean = json_is_true(json);
        return true;
    case JSON_INTEGER:
        out->type = VALUE_INT;
        out->as.integer = json_integer_value(json);
        return true;
    case JSON_REAL:
        out->type = VALUE_TEXT;
        out->as.text = real_text(a, json_real_value(json));
        return out->as.text.ptr != NULL;
    case JSON_STRING:
        out->type = VALUE_TEXT;
        out->as.text = (struct str){ json_string_value(json), json_string_length(json) };
        return true;
    case JSON_ARRAY: out->type = VALUE_LIST; return fill_list(a, json, out);
    case JSON_OBJECT: out->type = VALUE_OBJECT; return fill_object(a, json, out);
    }
    return false;
}

struct value *value_from_json(struct arena *a, const json_t *json)
{
    struct value *v = arena_alloc(a, sizeof *v);
    return v && value_fill(a, json, v) ? v : NULL;
}
