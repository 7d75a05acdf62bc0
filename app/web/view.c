#include "web/view.h"

#include "base/clock.h"
#include "base/money.h"
#include "base/utf8.h"
#include "web/assets.h"
#include "web/faces.h"
#include "web/kept_form.h"

enum { AVATAR_HUES = 12, LONG_TOTAL_WIDTH = 10, LARGE_WIDTH = 15, HUGE_WIDTH = 21 };

void view_avatar_model(struct model *m, struct value *object, uint64_t user_id, struct str nickname,
                       const struct face *face)
{
    const struct drawn_face *drawn = drawn_face_of(face);
    const struct str picture = picture_face_of(face);
    if (drawn != NULL)
        value_page_text(m, object, "drawn", drawn->word);
    else
        /* sets the member although it is null: it hides the member of an enclosing context */
        value_page_null(m, object, "drawn");
    if (picture.len > 0)
        /* copied, because the face belongs to the caller */
        value_page_text(m, object, "picture", arena_str(m->arena, picture));
    else
        value_page_null(m, object, "picture");
    value_page_text(m, object, "initial", drawn != NULL ? STR("") : utf8_first_grapheme(nickname));
    value_page_int(m, object, "hue", drawn != NULL ? drawn->hue : (int64_t)(user_id % AVATAR_HUES));
}

void view_cover_model(struct model *m, struct value *object, struct str cover, struct str hash)
{
    value_text(m, object, "cover", cover);
    if (hash.ptr != NULL)
        value_text(m, object, "cover_url", arena_printf(m->arena, "/picture/%.*s.webp", STR_ARG(hash)));
    else
        value_null(m, object, "cover_url");
}

void view_time_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t ms)
{
    value_text(m, object, name, clock_rfc3339(m->arena, ms));
    value_page_text(m, object, text_name, clock_zone_minute(m->arena, ms));
}

void view_moment_model(struct model *m, struct value *object, const char *name, int64_t ms)
{
    if (ms != 0)
        value_text(m, object, name, clock_rfc3339(m->arena, ms));
    else
        value_null(m, object, name);
}

void view_count_model(struct model *m, struct value *object, const char *name, const char *one_name, int64_t n)
{
    value_int(m, object, name, n);
    value_page_bool(m, object, one_name, n == 1);
}

void view_span_model(struct model *m, struct value *object, const char *name, int64_t ms, enum view_span span)
{
    static const struct {
        int64_t unit_s;
        int64_t exact_from_s; /* for VIEW_SPAN_EXACT: a smaller span is shown in the next smaller unit */
        const char *name;
    } units[] = { { 86400, 2 * 86400, "days" }, { 3600, 3600, "hours" }, { 60, 60, "minutes" }, { 1, 1, "seconds" } };
    int64_t seconds = ms > 1000 ? ms / 1000 : 1;
    size_t i = 0;
    while (span == VIEW_SPAN_EXACT ? seconds < units[i].exact_from_s || seconds % units[i].unit_s != 0
                                   : seconds < units[i].unit_s)
        i++;
    struct value *object_of_span = value_page_object(m, object, name);
    value_page_int(m, object_of_span, units[i].name, seconds / units[i].unit_s);
    value_page_bool(m, object_of_span, "one", seconds / units[i].unit_s == 1);
}

void view_money_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t fen)
{
    value_int(m, object, name, fen);
    value_page_number(m, object, text_name, money_text(m->arena, fen));
}

/* The width of the unit beside a large total, in digits. Its letters are half as large: two take one digit's place. */
static size_t unit_width(void)
{
    const struct money_unit *unit = money_unit();
    const size_t symbol = utf8_width(str_from(unit->symbol)), zh = utf8_width(str_from(unit->name_zh)),
                 en = utf8_width(str_from(unit->name_en));
    return symbol > 0 ? symbol : zh > en ? zh : en;
}

void view_total_model(struct model *m, struct value *object, const char *name, const char *text_name, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    view_money_model(m, object, name, text_name, fen);
    value_page_bool(m, object, "long_total", money_format(fen, text) + unit_width() >= LONG_TOTAL_WIDTH);
}

void view_size_model(struct model *m, struct value *object, int64_t fen)
{
    char text[MONEY_TEXT_MAX];
    /* In halves of a digit: the symbol is half as large, as is the name in its place, behind a blank. */
    const size_t symbol = utf8_codepoints(str_from(money_unit()->symbol));
    const size_t width = 2 * money_format(fen, text) + (symbol > 0 ? symbol : 1 + 2 * unit_width());
    value_page_bool(m, object, "large", width >= LARGE_WIDTH && width < HUGE_WIDTH);
    value_page_bool(m, object, "huge", width >= HUGE_WIDTH);
}

void view_unit_model(struct model *m, struct value *object)
{
    value_text(m, object, "unit", str_from(money_unit()->code));
    value_int(m, object, "unit_decimals", money_unit()->decimals);
}

/* Adds the time zone of all times on pages. */
static void zone_model(struct exchange *x, struct model *m, struct value *site)
{
    struct str zone = str_from(x->app->stores.config->timezone);
    value_page_text(m, site, "timezone", zone);
    value_page_bool(m, site, "china_time", str_equal(zone, STR("Asia/Shanghai")));
}

/* Adds the links to login and registration, which lead back to the guest's page. */
static void entry_model(struct exchange *x, struct model *m, struct value *site)
{
    struct str query, path = str_cut(x->target, '?', &query);
    bool back = x->method == METHOD_GET && x->status < 400 && !str_equal(path, STR("/"));
    const char *next = back ? "?next=" : "";
    path = back ? path : STR("");
    value_page_text(m, site, "login_url", arena_printf(m->arena, "/login%s%.*s", next, STR_ARG(path)));
    value_page_text(m, site, "register_url", arena_printf(m->arena, "/register%s%.*s", next, STR_ARG(path)));
}

void view_site_model(struct exchange *x, struct model *m)
{
    struct value *site = value_page_object(m, &m->root, "site");
    assets_model(x->app->assets, m, site);
    value_page_text(m, site, "base_url", str_from(x->app->stores.config->base_url));
    value_page_text(m, site, "path", x->method == METHOD_POST ? kept_form_url(x) : x->target);
    zone_model(x, m, site);
    value_page_bool(m, site, "demo", x->app->stores.config->demo);
    value_page_bool(m, site, "paused", !x->app->stores.config->sending);
    value_page_bool(m, site, "registers", config_registration(x->app->stores.config) != REGISTRATION_CLOSED);
    value_page_bool(m, site, "by_invitation", config_registration(x->app->stores.config) == REGISTRATION_INVITE);
    value_page_bool(m, site, "by_issuer", x->app->stores.config->oidc_issuer[0] != '\0');
    value_page_bool(m, site, "guest", x->visitor_known && x->visitor.user_id == 0);
    if (x->visitor.user_id == 0) {
        entry_model(x, m, site);
        return;
    }
    struct value *user = value_page_object(m, site, "user");
    value_page_int(m, user, "id", (int64_t)x->visitor.user_id);
    value_page_text(m, user, "nickname", x->visitor.nickname);
    view_avatar_model(m, user, x->visitor.user_id, x->visitor.nickname, &x->visitor.face);
    int64_t news = x->app->news_count != NULL && x->status < 500 ? x->app->news_count(x) : 0;
    if (news > 0)
        view_count_model(m, user, "news", "news_one", news);
}
