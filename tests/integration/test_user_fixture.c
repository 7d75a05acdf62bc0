#include "test_user_fixture.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "support/test_services.h"
#include "user/register.h"
#include "user/session.h"
#include "web/assets.h"
#include "web/respond.h"

static struct templates templates;
static struct assets *assets;

struct services *site_open(void)
{
    char error[512] = "assets";
    struct services *app = test_services_open();
    if (app == NULL)
        return NULL;
    log_init("test", LOG_WARN);
    if (!clock_zone_set(app->stores.config->timezone) ||
        assets_load(app->stores.config->static_dir, &assets) != ST_OK ||
        templates_load(app->stores.config->template_dir, &templates, error, sizeof error) != ST_OK) {
        fprintf(stderr, "site_open: %s\n", error);
        site_close(app);
        return NULL;
    }
    app->templates = templates;
    app->assets = assets;
    return app;
}

void site_close(struct services *app)
{
    templates_free(&templates);
    assets_free(assets);
    assets = NULL;
    test_services_close(app);
}

void visit_begin(struct visit *v, struct services *app, const char *uri, const char *fields, const char *cookie)
{
    memset(v, 0, sizeof *v);
    struct exchange *x = &v->x;
    v->request.arena = arena_new(64 << 10, 16 << 20);
    assert_non_null(v->request.arena);
    if (cookie != NULL) {
        snprintf(v->cookie, sizeof v->cookie, "HTTP_COOKIE=%s", cookie);
        v->envp[0] = v->cookie;
    }
    v->request.fcgx.envp = v->envp;
    x->app = app;
    x->fcgi = &v->request;
    x->arena = v->request.arena;
    x->method = fields != NULL ? METHOD_POST : METHOD_GET;
    x->target = str_from(uri);
    x->path = str_cut(x->target, '?', &x->query_text);
    x->request_id = STR("test");
    x->wants_json = true;
    x->now_ms = clock_now_ms();
    assert_int_equal(form_parse(x->arena, x->query_text, &x->query), ST_OK);
    if (fields != NULL)
        assert_int_equal(form_parse(x->arena, str_from(fields), &x->form), ST_OK);
}

enum status visit_look_up(struct visit *v)
{
    if (!session_visitor_queue(&v->x))
        return ST_OK;
    redis_round(v->x.app->stores.redis);
    enum status st = session_visitor_read(&v->x);
    redis_round(v->x.app->stores.redis); /* a renewal */
    return st;
}

/* Reads the session and runs the handler, which must finish in one step. */
static void visit_run(struct visit *v, handler_fn *handler)
{
    assert_int_equal(visit_look_up(v), ST_OK);
    assert_int_equal(handler(&v->x), STEP_DONE);
    respond_finish(&v->x);
}

void visit_end(struct visit *v)
{
    redis_call_free(&v->x.session_call);
    redis_call_free(&v->x.renewal_call);
    redis_call_free(&v->x.call);
    buf_free(&v->x.headers);
    buf_free(&v->x.body);
    arena_free(v->request.arena);
    memset(v, 0, sizeof *v);
}

int visit_post(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie)
{
    visit_begin(v, app, uri, fields, cookie);
    visit_run(v, handler);
    return v->x.status;
}

int visit_get(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *cookie)
{
    visit_begin(v, app, uri, NULL, cookie);
    visit_run(v, handler);
    return v->x.status;
}

int visit_page(struct visit *v, struct services *app, handler_fn *handler, const char *uri, const char *fields,
               const char *cookie)
{
    visit_begin(v, app, uri, fields, cookie);
    v->x.wants_json = false;
    visit_run(v, handler);
    return v->x.status;
}

void fresh_username(char *out)
{
    static unsigned count;
    snprintf(out, VISIT_NAME_MAX, "u%012" PRIx64 "-%u", random_u64() >> 16, count++);
}

uint64_t visit_register(struct services *app, const char *username, char *cookie)
{
    struct visit v;
    char fields[VISIT_TEXT_MAX];
    snprintf(fields, sizeof fields, "username=%s&nickname=Ming&password=long+enough", username);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 201);
    uint64_t id = (uint64_t)visit_json_int(&v, "id");
    if (cookie != NULL)
        assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    return id;
}

struct str visit_header(const struct visit *v, const char *name)
{
    struct str rest = buf_view(&v->x.headers);
    while (rest.len > 0) {
        struct str value;
        struct str line = str_cut(rest, '\n', &rest);
        struct str found = str_cut(line, ':', &value);
        if (str_equal_fold(found, str_from(name)))
            return str_trim(value);
    }
    return STR_NONE;
}

bool visit_cookie(const struct visit *v, char *out)
{
    struct str attributes;
    struct str pair = str_cut(visit_header(v, "Set-Cookie"), ';', &attributes);
    if (pair.len == 0)
        return false;
    snprintf(out, VISIT_TEXT_MAX, "%.*s", STR_ARG(pair));
    return true;
}

bool visit_body_has(const struct visit *v, const char *text)
{
    return str_after(buf_view(&v->x.body), str_from(text)).ptr != NULL;
}

int64_t visit_json_int(const struct visit *v, const char *name)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    struct str number = str_after(buf_view(&v->x.body), str_from(wanted));
    assert_non_null(number.ptr);
    return strtoll(number.ptr, NULL, 10);
}

void visit_json_text(const struct visit *v, const char *name, char *out, size_t out_size)
{
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\":\"", name);
    struct str rest, text = str_cut(str_after(buf_view(&v->x.body), str_from(wanted)), '"', &rest);
    assert_non_null(rest.ptr);
    assert_true(text.len < out_size);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

static struct str account_kind(uint64_t id)
{
    return id == ACCOUNT_BANK_ID ? STR("bank") : id < (uint64_t)1 << 50 ? STR("wallet") : STR("escrow");
}

enum status transfer_make(struct db *db, const struct transfer *t)
{
    bool of_packet = t->packet_id != 0;
    return db_exec(db, NULL, "SET @moved = ledger_move(?, ?, ?, ?, ?, ?, ?, ?, NULL, ?)",
                   DB_PARAMS(DB_TEXT(str_from(transfer_kind_name(t->kind))), DB_U64(t->debit_id),
                             DB_TEXT(account_kind(t->debit_id)), DB_U64(t->credit_id),
                             DB_TEXT(account_kind(t->credit_id)), DB_I64(t->amount_fen),
                             of_packet ? DB_U64(t->packet_id) : DB_NULL, of_packet ? DB_U64(t->seq) : DB_NULL,
                             DB_I64(t->created_ms)));
}

void account_make(struct services *app, uint64_t id, const char *kind)
{
    assert_int_equal(db_exec(app->stores.db, NULL, "INSERT INTO account (id, kind) VALUES (?, ?)",
                             DB_PARAMS(DB_U64(id), DB_TEXT(str_from(kind)))),
                     ST_OK);
}

void accounts_forget(struct services *app, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct db_param id = DB_U64(ids[i]);
        assert_int_equal(
            db_exec(app->stores.db, NULL, "DELETE FROM grab WHERE packet_id = ? OR user_id = ?", DB_PARAMS(id, id)),
            ST_OK);
        assert_int_equal(db_exec(app->stores.db, NULL, "DELETE FROM transfer WHERE debit_id = ? OR credit_id = ?",
                                 DB_PARAMS(id, id)),
                         ST_OK);
        assert_int_equal(
            db_exec(app->stores.db, NULL, "UPDATE account SET balance_fen = 0 WHERE id = ?", DB_PARAMS(id)), ST_OK);
        assert_int_equal(
            db_exec(app->stores.db, NULL,
                    "DELETE FROM account WHERE id = ? AND NOT EXISTS (SELECT 1 FROM user WHERE user.id = ?)",
                    DB_PARAMS(id, id)),
            ST_OK);
    }
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "UPDATE account SET balance_fen = (SELECT COALESCE(SUM(CASE WHEN credit_id = 1 THEN amount_fen"
                " ELSE -amount_fen END), 0) FROM transfer WHERE credit_id = 1 OR debit_id = 1) WHERE id = 1",
                NULL, 0),
        ST_OK);
}

int64_t sql_rows_read(struct services *app)
{
    struct arena *a = arena_new(1 << 16, 1 << 20);
    struct db_rows rows;
    int64_t sum = 0;
    assert_non_null(a);
    assert_int_equal(db_query(app->stores.db, a, &rows, "SHOW SESSION STATUS LIKE 'Handler_read%'", NULL, 0), ST_OK);
    for (size_t i = 0; i < rows.count; i++)
        if (!str_equal(db_cell(&rows, i, 0), STR("Handler_read_retry")))
            sum += db_cell_i64(&rows, i, 1);
    arena_free(a);
    return sum;
}

uint64_t visit_user(struct services *app, const char *cookie)
{
    struct visit v;
    visit_begin(&v, app, "/", NULL, cookie);
    assert_int_equal(visit_look_up(&v), ST_OK);
    uint64_t id = v.x.visitor.user_id;
    visit_end(&v);
    return id;
}

void limits_clear(struct config *config)
{
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    for (size_t i = 0; i < count; i++)
        if (strncmp(settings[i].name, "limit_", 6) == 0)
            strcpy((char *)config + settings[i].offset, "off");
    config->limits = true;
}
