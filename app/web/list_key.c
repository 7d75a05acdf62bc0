#include "web/list_key.h"

#include "base/public_id.h"
#include "web/mended_link.h"

static enum status list_key_read(struct field_input *in)
{
    struct list_key *key = in->out;
    struct str id;
    if (in->typed.len == 0)
        return field_absent(in);
    struct str ms = str_cut(mended_link_value(in->typed), '-', &id);
    key->given = str_to_i64(ms, &key->ms) && key->ms >= 0 && public_id_decode(&in->x->app->id_key, id, &key->id);
    return key->given ? ST_OK : field_fail(in, in->field->malformed);
}

const struct field_type FIELD_LIST_KEY = { .read = list_key_read };

struct str list_key_text(struct exchange *x, int64_t ms, uint64_t id)
{
    struct str text = public_id_text(x->arena, &x->app->id_key, id);
    return text.ptr == NULL ? STR_NONE : arena_printf(x->arena, "%lld-%.*s", (long long)ms, STR_ARG(text));
}
