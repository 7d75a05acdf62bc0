#include "service/caller.h"

#include "base/cidr.h"
#include "base/log.h"
#include "web/security_log.h"

enum { USED_MS = 60 * 1000 };

const struct problem CALLER_UNKNOWN = { 503, "unknown", "text/problem_unknown", "text/service_unknown_detail", 1 };

static const struct problem NO_TOKEN = { 401, "unauthorized", "text/service_token", NULL, 0 };
static const struct problem SCOPE = { 403, "insufficient-scope", "text/problem_scope", "text/service_scope_detail", 0 };
static const struct problem CHANNEL = { 403, "service-channel", "text/service_channel", NULL, 0 };
static const struct problem ADDRESS = { 403, "service-address", "text/service_address", NULL, 0 };
static const struct problem DAY_LIMIT = { 403, "service-day-limit", "text/service_day_limit",
                                          "text/service_day_limit_detail", 0 };

/* The token is missing, unknown or revoked. */
static void refuse_token(struct exchange *x)
{
    const bool given = x->bearer.ptr != NULL;
    if (given)
        security_log(x, SECURITY_TOKEN_REFUSED, 0, NULL);
    respond_header(x, "WWW-Authenticate", given ? STR("Bearer error=\"invalid_token\"") : STR("Bearer"));
    respond_problem(x, &NO_TOKEN);
}

static void refuse_limited(struct exchange *x, const struct caller *caller)
{
    security_log(x, SECURITY_LIMITED, 0, "limit=service_day service=%.*s", STR_ARG(caller->service.name));
    respond_problem(x, &DAY_LIMIT);
}

void caller_failed(struct exchange *x, const struct caller *caller, enum status st)
{
    if (st == ST_DENIED)
        refuse_token(x);
    else if (st == ST_LIMITED)
        refuse_limited(x, caller);
    else if (st == ST_UNKNOWN)
        respond_problem(x, &CALLER_UNKNOWN);
    else
        respond_status(x, st);
}

static void refuse_scope(struct exchange *x, const struct caller *caller, enum service_scope scope)
{
    struct model m;
    const char *name = service_scope_name(scope);
    security_log(x, SECURITY_SCOPE_REFUSED, 0, "scope=%s service=%.*s", name, STR_ARG(caller->service.name));
    respond_header(x, "WWW-Authenticate",
                   arena_printf(x->arena, "Bearer error=\"insufficient_scope\", scope=\"%s\"", name));
    model_init(&m, x->arena);
    value_text(&m, &m.root, "scope", str_from(name));
    respond_problem_with(x, &SCOPE, &m);
}

/* The time of the last use is no reason to refuse a request. */
static void use_note(struct exchange *x, const struct caller *caller)
{
    if (caller->service.used_ms + USED_MS > x->now_ms)
        return;
    if (service_used(x->app->stores.db, caller->hash) != ST_OK)
        log_warn("last use of a service not written", "service=%.*s", STR_ARG(caller->service.name));
}

bool caller_read(struct exchange *x, enum service_scope scope, struct caller *out)
{
    if (!service_token_is_valid(x->bearer)) {
        refuse_token(x);
        return false;
    }
    hash_sha256(x->bearer.ptr, x->bearer.len, out->hash);
    enum status st = service_find(x->app->stores.db, x->arena, out->hash, &out->service);
    if (st == ST_NOT_FOUND)
        refuse_token(x);
    else if (st != ST_OK)
        respond_status(x, status_idempotent(st));
    if (st != ST_OK)
        return false;
    const struct service *service = &out->service;
    if (service->addresses.len > 0 &&
        !cidr_list_has(service->addresses, str_or_empty(exchange_param(x, "REMOTE_ADDR")))) {
        security_log(x, SECURITY_TOKEN_REFUSED, 0, "service=%.*s why=address", STR_ARG(service->name));
        respond_problem(x, &ADDRESS);
        return false;
    }
    if ((service->scopes & scope) == 0) {
        refuse_scope(x, out, scope);
        return false;
    }
    use_note(x, out);
    out->author = service_author(x->arena, service, out->hash);
    if (out->author.name.ptr == NULL)
        respond_status(x, ST_NO_MEMORY);
    return out->author.name.ptr != NULL;
}

bool caller_has_channel(struct exchange *x, const struct caller *caller, struct str channel)
{
    if (channel.len == 0 || str_equal(channel, caller->service.channel))
        return true;
    security_log(x, SECURITY_SCOPE_REFUSED, 0, "service=%.*s why=channel", STR_ARG(caller->service.name));
    respond_problem(x, &CHANNEL);
    return false;
}

bool caller_query_read(struct exchange *x, const struct field *fields, void *values)
{
    struct form_errors unused;
    enum status st = query_form_read(x, fields, values, &unused);
    if (st == ST_INVALID)
        respond_problem(x, &PROBLEM_BAD_REQUEST);
    else if (st != ST_OK)
        respond_status(x, st);
    return st == ST_OK;
}
