#include "site/api.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/money.h"
#include "site/routes.h"
#include "user/account.h"
#include "web/bearer.h"
#include "web/field_types.h"
#include "web/kept_json.h"
#include "web/limits.h"
#include "web/respond.h"

enum { PATH_BYTES_MAX = 256, COMPONENTS_BYTES_MAX = 256 << 10, REFUSALS_MAX = 32 };

#define FORM_TYPE "application/x-www-form-urlencoded"

/* Of all amounts, by the decimals of the unit. */
static const struct {
    const char *typed, *pattern;
} AMOUNTS[] = {
    { "without decimals (12), answers have the same number", "^(0|[1-9][0-9]*)$" },
    { "with up to one decimal (12.3), answers have its tenths (123)", "^(0|[1-9][0-9]*)([.][0-9])?$" },
    { "with up to two decimals (12.34), answers have its hundredths (1234)", "^(0|[1-9][0-9]*)([.][0-9]{1,2})?$" },
};

static const char DESCRIPTION[] =
    "Red packets. With a token (Authorization: Bearer) every answer is JSON; with a session, or with neither, send "
    "Accept: application/json. Amounts are in %s: forms have them %s, in members that end in _fen. A form that moves "
    "money has a request_key of yours: the same key again changes nothing more and gets the same answer. Errors are "
    "problems (RFC 9457). Programs of the operator have service tokens, and a reference in place of the request_key.";

struct document {
    struct exchange *x;
    struct model *m;
};

const struct api_operation *api_operation_of(const struct route *route)
{
    for (size_t i = 0; i < api_operations_count; i++)
        if (strcmp(api_operations[i].method, route->method) == 0 && strcmp(api_operations[i].path, route->path) == 0)
            return &api_operations[i];
    return NULL;
}

/* ---- JSON ---- */

static const char *number_name(struct document *d, int number)
{
    return arena_cstr(d->x->arena, arena_printf(d->x->arena, "%d", number));
}

static void text_add(struct document *d, struct value *object, const char *name, const char *text)
{
    value_text(d->m, object, name, str_from(text));
}

/* Appends a text to a list of texts; value.h only has lists of objects. */
static void words_add(struct buf *list, struct str word)
{
    buf_char(list, list->len == 0 ? '[' : ',');
    value_json_string(list, word);
}

static void words_end(struct document *d, struct value *object, const char *name, struct buf *list)
{
    if (list->len > 0) {
        buf_char(list, ']');
        value_ready_json(d->m, object, name, list->failed ? STR_NONE : arena_str(d->x->arena, buf_view(list)));
    }
    buf_free(list);
}

static void one_word(struct document *d, struct value *object, const char *name, const char *word)
{
    struct buf list = BUF_EMPTY;
    words_add(&list, str_from(word));
    words_end(d, object, name, &list);
}

/* ---- fields ---- */

/* Limits of a number or of the length of a text. max 0: none. */
static void limits_add(struct document *d, struct value *schema, const struct field *field, const char *min_name,
                       const char *max_name)
{
    int64_t max = field_max(field, d->x->app->stores.config);
    if (field->min > 0)
        value_int(d->m, schema, min_name, field->min);
    if (field->code_points_max > 0)
        max = field->code_points_max; /* JSON Schema counts code points, the form counts graphemes */
    if (max > 0)
        value_int(d->m, schema, max_name, max);
}

static const struct field_type *general_type(const struct field *field)
{
    return field->type->like != NULL ? field->type->like : field->type;
}

/* The description of a field: the text of its row, then the limits that JSON Schema cannot express (a number of
 * characters as people count them, a number of names, an amount). */
static struct str field_says(struct document *d, const struct field *field)
{
    const struct field_type *type = general_type(field);
    int64_t max = field_max(field, d->x->app->stores.config);
    const char *says = field->says == NULL ? "" : field->says;
    if (max > 0 && field->code_points_max > 0)
        return arena_printf(d->x->arena, "%s; at most %" PRId64 " characters as people count them%s", says, max,
                            type == &FIELD_SENTENCE ? "; two letters count as one" : "");
    if (max > 0 && type == &FIELD_USERNAMES)
        return arena_printf(d->x->arena, "%s; at most %" PRId64, says, max);
    if (type == &FIELD_DAY)
        return arena_printf(d->x->arena, "%s, in the zone %s", says, d->x->app->stores.config->timezone);
    if (max > 0 && type == &FIELD_AMOUNT)
        return arena_printf(d->x->arena, "%s; at most %.*s", says, STR_ARG(money_text(d->x->arena, max)));
    return str_from(says);
}

static void schema_of_field(struct document *d, struct value *schema, const struct field *field)
{
    const struct field_type *type = general_type(field);
    bool is_number = type == &FIELD_COUNT || type == &FIELD_NUMBER;
    text_add(d, schema, "type", is_number ? "integer" : "string");
    if (is_number)
        limits_add(d, schema, field, "minimum", "maximum");
    bool is_password = type == &FIELD_PASSWORD || type == &FIELD_NEW_PASSWORD;
    if (type == &FIELD_TEXT || type == &FIELD_LINE || type == &FIELD_SENTENCE || type == &FIELD_LINK_KEY || is_password)
        limits_add(d, schema, field, "minLength", "maxLength");
    if (is_password)
        text_add(d, schema, "format", "password");
    if (type == &FIELD_DAY)
        text_add(d, schema, "format", "date");
    if (type == &FIELD_AMOUNT)
        text_add(d, schema, "pattern", AMOUNTS[money_unit()->decimals].pattern);
    if (type == &FIELD_REQUEST_KEY)
        text_add(d, schema, "pattern", "^[A-Za-z0-9_-]{1,64}$");
    if (type == &FIELD_WORD) {
        struct buf words = BUF_EMPTY;
        struct str word;
        for (unsigned i = 0; (word = field->word(i)).ptr != NULL; i++)
            words_add(&words, word);
        words_end(d, schema, "enum", &words);
    }
}

/* The example of a field; of an amount without the decimals that the unit does not have. */
static struct str example_of(const struct field *field)
{
    const struct str example = str_from(field->example);
    const size_t decimals = (size_t)money_unit()->decimals;
    struct str fraction, whole = str_cut(example, '.', &fraction);
    if (general_type(field) != &FIELD_AMOUNT || fraction.len <= decimals)
        return example;
    return (struct str){ example.ptr, decimals == 0 ? whole.len : whole.len + 1 + decimals };
}

static void form_model(struct document *d, const struct field *fields, struct value *operation)
{
    struct model *m = d->m;
    struct buf required = BUF_EMPTY;
    struct value *body = value_object(m, operation, "requestBody");
    struct value *form = value_object(m, value_object(m, body, "content"), FORM_TYPE);
    struct value *schema = value_object(m, form, "schema");
    text_add(d, schema, "type", "object");
    struct value *properties = value_object(m, schema, "properties");
    for (const struct field *field = fields; field->name != NULL; field++) {
        struct value *property = value_object(m, properties, field->name);
        schema_of_field(d, property, field);
        value_text(m, property, "description", field_says(d, field));
        if (field->required && field->applies == NULL)
            words_add(&required, str_from(field->name));
    }
    value_bool(m, body, "required", required.len > 0);
    words_end(d, schema, "required", &required);
    struct value *example = value_object(m, form, "example");
    for (const struct field *field = fields; field->name != NULL; field++)
        if (field->example != NULL)
            value_text(d->m, example, field->name, example_of(field));
}

/* ---- path and query ---- */

static struct value *parameter_add(struct document *d, struct value *list, const char *name, const char *in)
{
    struct value *parameter = value_add_object(d->m, list);
    text_add(d, parameter, "name", name);
    text_add(d, parameter, "in", in);
    value_bool(d->m, parameter, "required", strcmp(in, "path") == 0);
    return parameter;
}

/* Adds the parts of the path that begin with ':', and returns it in the form of OpenAPI: /p/{id}. */
static struct str path_read(struct document *d, const char *path, struct value *parameters)
{
    char text[PATH_BYTES_MAX];
    struct buf out = { .ptr = text, .cap = sizeof text, .limit = sizeof text };
    struct str rest = str_from(path);
    while (rest.ptr != NULL) {
        struct str part = str_cut(rest, '/', &rest);
        if (part.len > 0 && part.ptr[0] == ':') {
            struct str name = { part.ptr + 1, part.len - 1 };
            buf_char(&out, '{');
            buf_str(&out, name);
            buf_char(&out, '}');
            if (parameters != NULL) {
                struct value *parameter = parameter_add(d, parameters, arena_cstr(d->x->arena, name), "path");
                text_add(d, value_object(d->m, parameter, "schema"), "type", "string");
            }
        } else {
            buf_str(&out, part);
        }
        if (rest.ptr != NULL)
            buf_char(&out, '/');
    }
    return out.failed ? STR_NONE : arena_str(d->x->arena, buf_view(&out));
}

static void query_model(struct document *d, const struct field *fields, struct value *list)
{
    for (const struct field *field = fields; field->name != NULL; field++) {
        struct value *parameter = parameter_add(d, list, field->name, "query");
        schema_of_field(d, value_object(d->m, parameter, "schema"), field);
        value_text(d->m, parameter, "description", field_says(d, field));
    }
}

static void parameters_model(struct document *d, const struct api_operation *op, struct value *operation)
{
    struct value *list = value_list(d->m, operation, "parameters");
    (void)path_read(d, op->path, list);
    for (int i = 0; i < API_QUERIES_MAX && op->query[i] != NULL; i++)
        query_model(d, op->query[i], list);
}

/* ---- security ---- */

static void security_model(struct document *d, const struct route *route, const struct api_operation *op,
                           struct value *operation)
{
    unsigned scope = bearer_scope(route);
    struct value *list = value_list(d->m, operation, "security");
    if (op->service_scope != NULL)
        one_word(d, value_add_object(d->m, list), "service", op->service_scope);
    if ((route->needs & WANT_VISITOR) == 0)
        return;
    if ((route->needs & NEED_USER) != NEED_USER)
        (void)value_add_object(d->m, list); /* {}: an operation that also works without a login */
    if (scope != 0) {
        struct str name = scopes_text(d->x->arena, scope);
        struct buf names = BUF_EMPTY;
        words_add(&names, name);
        words_end(d, value_add_object(d->m, list), "token", &names);
    }
    (void)value_list(d->m, value_add_object(d->m, list), "session");
}

/* ---- answers ---- */

struct refusals {
    struct api_refusal items[REFUSALS_MAX];
    size_t count;
};

static void refusal_add(struct refusals *r, int status, const char *type, const char *says)
{
    if (r->count < REFUSALS_MAX)
        r->items[r->count++] = (struct api_refusal){ status, type, says };
}

/* Of routes for programs of the operator. */
static void refusals_of_service(struct refusals *r)
{
    refusal_add(r, 401, "unauthorized", "no service token, or one that is unknown or revoked");
    refusal_add(r, 403, "insufficient-scope", "the service lacks the scope that the member `scope` names");
    refusal_add(r, 403, "service-address", "the service may not call from this address");
}

/* Adds the refusals of the router: they follow from the route's requirements. */
static void refusals_of_route(const struct route *route, const struct api_operation *op, struct refusals *r)
{
    bool post = strcmp(route->method, "POST") == 0, visitor = (route->needs & WANT_VISITOR) != 0;
    const bool service = op->service_scope != NULL;
    if (post || op->query[0] != NULL)
        refusal_add(r, 400, "bad-request", "the request can’t be read");
    if (visitor)
        refusal_add(r, 401, "unauthorized", "not logged in, or the token is invalid, expired or revoked");
    if (service)
        refusals_of_service(r);
    if (post && !service)
        refusal_add(r, 403, "cross-origin", "a browser sent it from another website");
    if (visitor && bearer_scope(route) != 0)
        refusal_add(r, 403, "insufficient-scope", "the token lacks the scope that the member `scope` names");
    if (visitor && bearer_scope(route) == 0)
        refusal_add(r, 403, "token-refused", "only for a session");
    if (strchr(route->path, ':') != NULL)
        refusal_add(r, 404, "not-found", "there is no such thing, or it is somebody else’s");
    if (post) {
        refusal_add(r, 413, "too-large", "the body is too large");
        refusal_add(r, 415, "media-type", "the body is no form");
    }
    if (route->form != NULL)
        refusal_add(r, 422, "invalid-form", "fields are missing or refused; `errors` names them");
    if ((route->needs & LIMITED) != 0 || (route->pools & POOL_AUTH) != 0)
        refusal_add(r, 429, "too-many", "too often; nothing has happened, try again after Retry-After seconds");
    refusal_add(r, 503, "busy", "nothing has happened; try again after Retry-After seconds");
    if (service && post)
        refusal_add(r, 503, "unknown", "it may or may not have happened; repeat it with the same reference or reason");
    else if (post)
        refusal_add(r, 503, "unknown", "it may or may not have happened; look, or repeat it with the same request_key");
}

/* The response for one status: all refusals of it, with the types that the problem can have. */
static void refusal_model(struct document *d, const struct refusals *r, size_t first, struct value *responses)
{
    const int status = r->items[first].status;
    struct buf types = BUF_EMPTY;
    struct str says = STR("");
    for (size_t i = first; i < r->count; i++) {
        if (r->items[i].status != status)
            continue;
        words_add(&types, arena_printf(d->x->arena, "urn:hongbao:problem:%s", r->items[i].type));
        says = arena_printf(d->x->arena, "%.*s%s`%s`: %s", STR_ARG(says), says.len > 0 ? "; " : "", r->items[i].type,
                            r->items[i].says);
    }
    struct value *response = value_object(d->m, responses, number_name(d, status));
    value_text(d->m, response, "description", says);
    struct value *schema = value_object(
        d->m, value_object(d->m, value_object(d->m, response, "content"), "application/problem+json"), "schema");
    struct value *all = value_list(d->m, schema, "allOf");
    text_add(d, value_add_object(d->m, all), "$ref", "#/components/schemas/Problem");
    struct value *type = value_object(d->m, value_object(d->m, value_add_object(d->m, all), "properties"), "type");
    words_end(d, type, "enum", &types);
}

static bool status_is_new(const struct refusals *r, size_t i)
{
    for (size_t before = 0; before < i; before++)
        if (r->items[before].status == r->items[i].status)
            return false;
    return true;
}

static void answer_model(struct document *d, const struct api_operation *op, const struct api_answer *answer,
                         struct value *responses)
{
    struct model *m = d->m;
    struct value *response = value_object(m, responses, number_name(d, answer->status));
    text_add(d, response, "description", answer->says);
    if (answer->schema == NULL && op->media == NULL)
        return;
    struct value *content = value_object(m, response, "content");
    struct value *schema =
        value_object(m, value_object(m, content, op->media == NULL ? "application/json" : op->media), "schema");
    if (answer->schema != NULL)
        value_text(m, schema, "$ref", arena_printf(d->x->arena, "#/components/schemas/%s", answer->schema));
    else
        text_add(d, schema, "type", "string");
}

static void responses_model(struct document *d, const struct route *route, const struct api_operation *op,
                            struct value *operation)
{
    struct refusals refusals = { .count = 0 };
    struct value *responses = value_object(d->m, operation, "responses");
    for (const struct api_answer *answer = op->answers; answer->status != 0; answer++)
        answer_model(d, op, answer, responses);
    if (op->leads != NULL)
        value_text(d->m, value_object(d->m, responses, "303"), "description",
                   arena_printf(d->x->arena, "without JSON, for a browser: to %s", op->leads));
    if (op->media == NULL || route->needs != 0) /* no such link for liveness, readiness and metrics */
        refusals_of_route(route, op, &refusals);
    for (const struct api_refusal *own = op->refusals; own != NULL && own->status != 0; own++)
        refusal_add(&refusals, own->status, own->type, own->says);
    for (size_t i = 0; i < refusals.count; i++)
        if (status_is_new(&refusals, i))
            refusal_model(d, &refusals, i, responses);
}

/* ---- the document ---- */

static void operation_model(struct document *d, const struct route *route, struct value *path)
{
    const struct api_operation *op = api_operation_of(route);
    struct value *operation = value_object(d->m, path, strcmp(route->method, "POST") == 0 ? "post" : "get");
    if (op == NULL) {
        log_warn("route without a description", "path=%s", route->path);
        return;
    }
    text_add(d, operation, "operationId", op->id);
    text_add(d, operation, "summary", op->says);
    one_word(d, operation, "tags", op->group);
    security_model(d, route, op, operation);
    parameters_model(d, op, operation);
    if (route->form != NULL)
        form_model(d, route->form, operation);
    responses_model(d, route, op, operation);
}

/* True when an earlier route has the same path and, with same_method, the same method: both pools of a route. */
static bool listed_before(size_t i, bool same_method)
{
    const struct route *route = site_route(i);
    for (size_t before = 0; before < i; before++) {
        const struct route *other = site_route(before);
        if (strcmp(other->path, route->path) == 0 && (!same_method || strcmp(other->method, route->method) == 0))
            return true;
    }
    return false;
}

static void paths_model(struct document *d)
{
    struct value *paths = value_object(d->m, &d->m->root, "paths");
    for (size_t i = 0; i < site_routes_count(); i++) {
        if (listed_before(i, false))
            continue;
        struct str text = path_read(d, site_route(i)->path, NULL);
        struct value *path = value_object(d->m, paths, arena_cstr(d->x->arena, text));
        for (size_t k = i; k < site_routes_count(); k++)
            if (strcmp(site_route(k)->path, site_route(i)->path) == 0 && !listed_before(k, true))
                operation_model(d, site_route(k), path);
    }
}

/* The file templates/openapi.json: the object `components`. STR_NONE when it can't be read, or without memory. */
static struct str components_read(struct exchange *x)
{
    char path[CONFIG_TEXT_MAX + sizeof "/openapi.json"];
    (void)snprintf(path, sizeof path, "%s/openapi.json", x->app->stores.config->template_dir);
    char *bytes = arena_alloc(x->arena, COMPONENTS_BYTES_MAX);
    FILE *file = bytes == NULL ? NULL : fopen(path, "re");
    size_t len = file == NULL ? 0 : fread(bytes, 1, COMPONENTS_BYTES_MAX, file);
    bool whole = file != NULL && ferror(file) == 0 && len > 0 && len < COMPONENTS_BYTES_MAX;
    if (file != NULL)
        (void)fclose(file);
    if (!whole) {
        log_error("can't read the schemas", "path=%s", path);
        return STR_NONE;
    }
    return (struct str){ bytes, len };
}

static enum status api_make(struct exchange *x, struct model *m)
{
    struct str components = str_trim(components_read(x));
    if (components.ptr == NULL)
        return ST_UNAVAILABLE;
    struct document d = { .x = x, .m = m };
    text_add(&d, &m->root, "openapi", "3.1.0");
    struct value *info = value_object(m, &m->root, "info");
    text_add(&d, info, "title", "hongbao");
    text_add(&d, info, "version", "1");
    const struct money_unit *unit = money_unit();
    value_text(m, info, "description", arena_printf(x->arena, DESCRIPTION, unit->code, AMOUNTS[unit->decimals].typed));
    text_add(&d, info, "x-unit", unit->code);
    value_int(m, info, "x-unit-decimals", unit->decimals);
    struct value *license = value_object(m, info, "license");
    text_add(&d, license, "name", "MIT");
    text_add(&d, license, "identifier", "MIT");
    struct value *servers = value_list(m, &m->root, "servers");
    text_add(&d, value_add_object(m, servers), "url", x->app->stores.config->base_url);
    paths_model(&d);
    value_ready_json(m, &m->root, "components", components);
    return ST_OK;
}

enum step api_show(struct exchange *x)
{
    kept_json_respond(x, &x->app->api, api_make, STR("public, max-age=300"));
    return STEP_DONE;
}
