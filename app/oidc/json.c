#include "oidc/json.h"

enum { MS_PER_S = 1000 };
#define SECONDS_MAX 253402300799 /* the end of the year 9999 */

enum oidc_fault oidc_json_read(struct str text, enum oidc_fault malformed, json_t **out)
{
    json_error_t error;
    *out = text.len == 0 ? NULL : json_loadb(text.ptr, text.len, JSON_REJECT_DUPLICATES, &error);
    if (*out == NULL)
        return text.len > 0 && json_error_code(&error) == json_error_out_of_memory ? OIDC_NO_MEMORY : malformed;
    if (json_is_object(*out))
        return OIDC_OK;
    json_decref(*out);
    *out = NULL;
    return malformed;
}

struct str oidc_json_value(const json_t *value)
{
    return json_is_string(value) ? (struct str){ json_string_value(value), json_string_length(value) } : STR_NONE;
}

struct str oidc_json_text(const json_t *object, const char *name)
{
    return oidc_json_value(json_object_get(object, name));
}

bool oidc_json_list_has(const json_t *object, const char *name, struct str text)
{
    const json_t *list = json_object_get(object, name);
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct str item = oidc_json_value(json_array_get(list, i));
        if (item.ptr != NULL && str_equal(item, text))
            return true;
    }
    return false;
}

bool oidc_json_time(const json_t *object, const char *name, int64_t *out_ms)
{
    const json_t *member = json_object_get(object, name);
    int64_t seconds;
    if (json_is_integer(member))
        seconds = json_integer_value(member);
    else if (json_is_real(member) && json_real_value(member) >= 0 && json_real_value(member) <= SECONDS_MAX)
        seconds = (int64_t)json_real_value(member);
    else
        return false;
    if (seconds < 0 || seconds > SECONDS_MAX)
        return false;
    *out_ms = seconds * MS_PER_S;
    return true;
}
