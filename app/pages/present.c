#include "pages/present.h"

#include <sodium.h>

#include "web/view.h"

struct str present_packet_id(struct exchange *x, uint64_t packet_id)
{
    return public_id_text(x->arena, &x->app->id_key, packet_id);
}

struct str present_packet_path(struct exchange *x, uint64_t packet_id)
{
    struct str id = present_packet_id(x, packet_id);
    return id.ptr == NULL ? STR_NONE : arena_printf(x->arena, "/p/%.*s", STR_ARG(id));
}

struct str present_packet_url(struct exchange *x, uint64_t packet_id)
{
    struct str path = present_packet_path(x, packet_id);
    const char *base_url = x->app->stores.config->base_url;
    return path.ptr == NULL ? STR_NONE : arena_printf(x->arena, "%s%.*s", base_url, STR_ARG(path));
}

struct str present_site_host(const struct exchange *x)
{
    struct str url = str_from(x->app->stores.config->base_url), host = str_after(url, STR("://"));
    return host.ptr != NULL ? host : url;
}

void present_kind(struct model *m, struct value *object, enum packet_kind kind)
{
    value_text(m, object, "kind", packet_kind_name(kind));
    value_page_bool(m, object, "kind_lucky", kind == PACKET_LUCKY);
    value_page_bool(m, object, "kind_even", kind == PACKET_EVEN);
    value_page_bool(m, object, "kind_exclusive", kind == PACKET_EXCLUSIVE);
}

void present_split(struct model *m, struct value *object, enum split_method split)
{
    value_page_bool(m, object, "split_double_average", split == SPLIT_DOUBLE_AVERAGE);
    value_page_bool(m, object, "split_uniform", split == SPLIT_UNIFORM);
    value_page_bool(m, object, "split_gaussian", split == SPLIT_GAUSSIAN);
    value_page_bool(m, object, "split_even", split == SPLIT_EVEN);
}

void present_packet(struct exchange *x, struct model *m, struct value *object, uint64_t packet_id,
                    enum packet_kind kind, struct str greeting)
{
    value_text(m, object, "id", present_packet_id(x, packet_id));
    present_kind(m, object, kind);
    value_text(m, object, "greeting", greeting);
    value_page_text(m, object, "url", present_packet_path(x, packet_id));
}

void present_person(struct model *m, struct value *object, const char *name, uint64_t id, struct str nickname,
                    const struct face *face)
{
    struct value *person = value_object(m, object, name);
    value_int(m, person, "id", (int64_t)id);
    value_text(m, person, "nickname", nickname);
    view_avatar_model(m, person, id, nickname, face);
}

struct str present_hex(struct arena *a, const uint8_t *bytes, size_t len)
{
    size_t size = 2 * len + 1;
    char *text = arena_alloc(a, size);
    return text == NULL ? STR_NONE : (struct str){ sodium_bin2hex(text, size, bytes, len), 2 * len };
}
