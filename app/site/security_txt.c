#include "site/security_txt.h"

#include "base/clock.h"
#include "web/respond.h"

static const int64_t DAY_MS = 24LL * 60 * 60 * 1000;

struct str security_txt(struct arena *a, const char *contact, const char *base_url, int64_t now_ms)
{
    char expires[CLOCK_TEXT_MAX];
    struct str canonical = STR("");
    (void)clock_rfc3339_format((now_ms / DAY_MS + SECURITY_TXT_DAYS) * DAY_MS, expires);
    if (str_starts(str_from(base_url), STR("https://")))
        canonical = arena_printf(a, "Canonical: %s/.well-known/security.txt\n", base_url);
    if (canonical.ptr == NULL)
        return STR_NONE;
    return arena_printf(a, "Contact: %s\nExpires: %s\nPreferred-Languages: zh, en\n%.*s", contact, expires,
                        STR_ARG(canonical));
}

enum step security_txt_show(struct exchange *x)
{
    const struct config *config = x->app->stores.config;
    if (config->security_contact[0] == '\0') {
        respond_problem(x, &PROBLEM_NOT_FOUND);
        return STEP_DONE;
    }
    struct str text = security_txt(x->arena, config->security_contact, config->base_url, x->now_ms);
    if (text.ptr == NULL)
        respond_status(x, ST_NO_MEMORY);
    else
        respond_text(x, 200, STR("text/plain; charset=utf-8"), text);
    return STEP_DONE;
}
