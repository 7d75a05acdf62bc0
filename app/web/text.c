#include "web/text.h"

#include "base/log.h"
#include "base/value.h"

struct str text_of(struct exchange *x, const char *name)
{
    return text_with(x, name, STR(""));
}

struct str text_with(struct exchange *x, const char *name, struct str value)
{
    const struct mustache *text = exchange_template(x, name);
    struct model m;
    struct buf out = BUF_EMPTY;
    struct str copy = STR_NONE;

    if (text == NULL) {
        log_error("text missing", "name=%s language=%s", name, language_tag(x->language));
        return str_from(name);
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "value", value);
    if (!m.failed && mustache_render(text, &m.root, &out) == ST_OK)
        copy = arena_str(x->arena, buf_view(&out));
    buf_free(&out);
    return copy;
}
