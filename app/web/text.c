#include "web/text.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/value.h"

struct str text_of(struct exchange *x, const char *name)
{
    return text_with(x, name, STR(""));
}

/* Stands for the value while a text is rendered: an escaped value would be escaped again later. */
static const struct str PLACE = STR("\x1a");

static void value_insert(struct buf *out, struct str text, struct str value)
{
    while (text.len > 0) {
        size_t place = str_find(text, PLACE);
        buf_str(out, str_slice(text, 0, place));
        if (place < text.len)
            buf_str(out, value);
        text = place < text.len ? str_skip(text, place + PLACE.len) : STR("");
    }
}

struct str text_with(struct exchange *x, const char *name, struct str value)
{
    const struct mustache *text = exchange_template(x, name);
    struct model m;
    struct buf out = BUF_EMPTY, rendered = BUF_EMPTY;
    struct str copy = STR_NONE;

    if (text == NULL) {
        log_error("text missing", "name=%s language=%s", name, language_tag(x->language));
        return str_from(name);
    }
    model_init(&m, x->arena);
    value_text(&m, &m.root, "value", PLACE);
    if (!m.failed && mustache_render(text, &m.root, &rendered) == ST_OK) {
        value_insert(&out, buf_view(&rendered), value);
        copy = out.failed ? STR_NONE : arena_str(x->arena, buf_view(&out));
    }
    buf_free(&rendered);
    buf_free(&out);
    return copy;
}

struct str text_number(struct exchange *x, struct str number)
{
    const struct mustache_set *set = x->app->templates.sets[x->language];
    struct buf grouped = BUF_EMPTY;

    buf_number(&grouped, number, set != NULL ? mustache_set_separator(set) : STR(""));
    struct str copy = grouped.failed ? STR_NONE : arena_str(x->arena, buf_view(&grouped));
    buf_free(&grouped);
    return copy;
}

struct str text_month(struct exchange *x, int month)
{
    static const char *const TEXTS[MONTHS_PER_YEAR] = {
        "text/month_1", "text/month_2", "text/month_3", "text/month_4",  "text/month_5",  "text/month_6",
        "text/month_7", "text/month_8", "text/month_9", "text/month_10", "text/month_11", "text/month_12",
    };
    return text_of(x, TEXTS[month - 1]);
}
