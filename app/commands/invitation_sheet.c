#include <inttypes.h>

#include "base/clock.h"
#include "base/value.h"
#include "commands/invitation_internal.h"
#include "mustache/mustache.h"
#include "user/invitation_code.h"
#include "web/csv.h"
#include "web/qr.h"
#include "web/templates.h"

struct str invitation_link(struct arena *a, const struct config *config, const struct invitation *i, struct str *code)
{
    struct invitation_code made;
    *code = STR_NONE;
    if (!invitation_code_of(a, keys_get(&config->keys, KEY_INVITATIONS), i->seed, &made))
        return STR_NONE;
    *code = made.text;
    return arena_printf(a, "%s/register?invitation=%.*s", config->base_url, STR_ARG(made.text));
}

static void time_cell(struct arena *a, struct buf *out, int64_t ms)
{
    csv_cell(out, ms == 0 ? STR("") : str_or_empty(clock_rfc3339(a, ms)));
}

static void row_write(struct arena *a, const struct invitation *i, enum invitation_state state, struct buf *out)
{
    csv_number(out, str_or_empty(arena_printf(a, "%" PRIu64, i->id)));
    csv_cell(out, str_from(invitation_state_name(state)));
    csv_cell(out, i->note);
    csv_cell(out, i->author.len > 0 ? i->author : i->maker);
    time_cell(a, out, i->created_ms);
    time_cell(a, out, i->expires_ms);
    time_cell(a, out, i->used_ms);
    csv_cell(out, i->used_name);
}

enum status invitation_csv(struct arena *a, const struct config *config, const struct invitation *list, size_t count,
                           int64_t now_ms, bool with_codes, struct buf *out)
{
    static const char *const columns[] = { "id",         "state",   "note",    "made_by", "created_at",
                                           "expires_at", "used_at", "used_by", "code",    "url" };
    const size_t without = sizeof columns / sizeof columns[0] - 2;
    csv_begin(out);
    csv_header(out, columns, with_codes ? without + 2 : without);
    for (size_t i = 0; i < count; i++) {
        const enum invitation_state state = invitation_state(&list[i], now_ms);
        row_write(a, &list[i], state, out);
        if (with_codes) {
            struct str code = STR(""), url = STR("");
            if (state == INVITATION_OPEN)
                url = invitation_link(a, config, &list[i], &code);
            if (url.ptr == NULL)
                return ST_NO_MEMORY;
            csv_cell(out, code);
            csv_cell(out, url);
        }
        csv_row_end(out);
    }
    return out->failed ? ST_NO_MEMORY : ST_OK;
}

/* The style of the sheet, as an element: the file needs nothing else when it is opened. STR_NONE: it can't be read. */
static struct str style_read(struct arena *a, const struct config *config)
{
    struct buf css = BUF_EMPTY;
    char path[2 * CONFIG_TEXT_MAX];
    (void)snprintf(path, sizeof path, "%s/sheet.css", config->static_dir);
    struct str out = STR_NONE;
    if (buf_file(&css, path) == ST_OK)
        out = arena_printf(a, "<style>\n%.*s</style>", STR_ARG(buf_view(&css)));
    buf_free(&css);
    return out;
}

static void sheet_model(struct arena *a, const struct config *config, const struct invitation *list, size_t count,
                        struct str style, struct model *m)
{
    model_init(m, a);
    value_page_text(m, &m->root, "html_style", style);
    value_page_text(m, &m->root, "base_url", str_from(config->base_url));
    struct value *items = value_page_list(m, &m->root, "invitations");
    for (size_t i = 0; i < count; i++) {
        struct str code;
        const struct str url = invitation_link(a, config, &list[i], &code);
        struct value *item = value_add_object(m, items);
        value_page_text(m, item, "url", url);
        value_page_text(m, item, "code", code);
        value_page_text(m, item, "html_qr", qr_svg(a, str_or_empty(url)));
        value_page_text(m, item, "expires_text", clock_zone_minute(a, list[i].expires_ms));
        value_page_text(m, item, "note", list[i].note);
    }
}

enum status invitation_sheet(struct arena *a, const struct config *config, const struct invitation *list, size_t count,
                             enum language language, struct buf *out, char *error, size_t error_size)
{
    struct templates templates = { .needed = NULL };
    struct model m;
    const struct str style = style_read(a, config);
    if (style.ptr == NULL) {
        (void)snprintf(error, error_size, "%s/sheet.css can't be read", config->static_dir);
        return ST_INVALID;
    }
    enum status st = templates_load(config->template_dir, &templates, error, error_size);
    if (st != ST_OK)
        return st;
    const struct mustache *sheet = templates_find(&templates, language, STR("pages/invitation_sheet"));
    sheet_model(a, config, list, count, style, &m);
    st = sheet == NULL ? ST_INVALID : m.failed ? ST_NO_MEMORY : mustache_render(sheet, &m.root, out);
    if (sheet == NULL)
        (void)snprintf(error, error_size, "%s has no pages/invitation_sheet.mustache", config->template_dir);
    templates_free(&templates);
    return st;
}
