#include "test_user_fixture.h"
#include "support/test.h"

#include <inttypes.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/random.h"
#include "config/settings.h"
#include "ledger/channel.h"
#include "support/test_services.h"
#include "user/password.h"
#include "user/session.h"
#include "user/store.h"
#include "web/assets.h"
#include "web/respond.h"

struct services *site_open(void)
{
    char error[512] = "assets";
    struct templates templates = { .generation = 0 };
    struct assets *assets = NULL;
    struct services *app = test_services_open();
    if (app == NULL)
        return NULL;
    log_init("test", LOG_WARN);
    if (!clock_zone_set(app->stores.config->timezone) ||
        assets_load(app->stores.config->static_dir, &assets) != ST_OK ||
        templates_load(app->stores.config->template_dir, &templates, error, sizeof error) != ST_OK) {
        fprintf(stderr, "site_open: %s\n", error);
        test_services_close(app);
        return NULL;
    }
    app->templates = templates;
    app->assets = assets;
    return app;
}

void site_close(struct services *app)
{
    if (app != NULL) {
        templates_free(&app->templates);
        assets_free((struct assets *)app->assets);
    }
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
    x->target = str_from(text_printf("%s", uri)); /* outlives the caller */
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

void visit_handle(struct visit *v, handler_fn *handler)
{
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

struct visit *visit_new(struct services *app, const char *uri, const char *fields, const char *cookie)
{
    struct visit *v = calloc(1, sizeof *v);
    assert_non_null(v);
    visit_begin(v, app, uri, fields, cookie);
    return v;
}

struct visit *visit_json_new(struct services *app, handler_fn *handler, const char *uri, const char *fields,
                             const char *cookie)
{
    struct visit *v = visit_new(app, uri, fields, cookie);
    assert_int_equal(visit_look_up(v), ST_OK);
    visit_handle(v, handler);
    return v;
}

struct visit *visit_html_new(struct services *app, handler_fn *handler, const char *uri, const char *fields,
                             const char *cookie)
{
    struct visit *v = visit_new(app, uri, fields, cookie);
    v->x.wants_json = false;
    assert_int_equal(visit_look_up(v), ST_OK);
    visit_handle(v, handler);
    return v;
}

int visit_close(struct visit *v)
{
    int status = v->x.status;
    visit_end(v);
    free(v);
    return status;
}

static bool body_has(const struct visit *v, struct str text)
{
    bool number = text.len > 0 && text.ptr[text.len - 1] >= '0' && text.ptr[text.len - 1] <= '9';
    struct str rest = buf_view(&v->x.body);
    while ((rest = str_after(rest, text)).ptr != NULL)
        if (!number || rest.len == 0 || rest.ptr[0] < '0' || rest.ptr[0] > '9')
            return true;
    return false;
}

static bool header_has(const struct visit *v, struct str line)
{
    struct str rest = buf_view(&v->x.headers);
    while (rest.len > 0)
        if (str_equal(str_trim(str_cut(rest, '\n', &rest)), line))
            return true;
    return false;
}

/* Whether a text of visit_says has a number, as `3 × <p>` or `count: 2`, instead of being searched as it is. */
static bool is_of_a_number(const char *text)
{
    char *end;
    const size_t digits = strspn(text, "0123456789"), letters = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    if (digits > 0 && strncmp(text + digits, " × ", strlen(" × ")) == 0)
        return true;
    if (letters == 0 || strncmp(text + letters, ": ", 2) != 0)
        return false;
    (void)strtoll(text + letters + 2, &end, 10);
    return end != text + letters + 2 && *end == '\0';
}

/* Whether the answer agrees with a text of visit_says. */
static bool answer_has(const struct visit *v, const char *text)
{
    struct str rest;
    const struct str first = str_cut(str_from(text), ' ', &rest);
    if (is_of_a_number(text) && str_skip_prefix(&rest, STR("× ")))
        return visit_body_count(v, rest.ptr) == strtoull(text, NULL, 10);
    if (is_of_a_number(text)) {
        const char *member = text_printf("%.*s", (int)first.len - 1, text);
        return visit_body_has(v, text_printf("\"%s\":", member)) &&
               visit_json_int(v, member) == strtoll(rest.ptr, NULL, 10);
    }
    if (str_starts(str_from(text), STR("Location: ")))
        return str_equal(visit_header(v, "Location"), rest);
    return body_has(v, str_from(text)) || header_has(v, str_from(text));
}

static void texts_check(const struct visit *v, const char *file, int line, va_list texts)
{
    bool wanted = true;
    for (const char *text; (text = va_arg(texts, const char *)) != NULL;) {
        if (strcmp(text, LACKS) == 0) {
            wanted = false;
        } else if (wanted ? !answer_has(v, text)
                          : is_of_a_number(text) || visit_body_has(v, text) || header_has(v, str_from(text))) {
            print_error("%.*s: %s %s in the answer:\n%.*s%.*s\n", STR_ARG(v->x.target),
                        wanted ? "not" : "forbidden:", text, STR_ARG(buf_view(&v->x.headers)),
                        STR_ARG(buf_view(&v->x.body)));
            _fail(file, line);
        }
    }
}

void visit_said(struct visit *v, const char *file, int line, int status, ...)
{
    va_list texts;
    if (v->x.status != status) {
        print_error("%.*s: status %d instead of %d:\n%.*s\n", STR_ARG(v->x.target), v->x.status, status,
                    STR_ARG(buf_view(&v->x.body)));
        _fail(file, line);
    }
    va_start(texts, status);
    texts_check(v, file, line, texts);
    va_end(texts);
    (void)visit_close(v);
}

const char *text_printf(const char *format, ...)
{
    static struct arena *texts;
    if (texts == NULL)
        texts = arena_new(64 << 10, 64 << 20);
    va_list args;
    va_start(args, format);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(texts, (size_t)len + 1);
    assert_non_null(text);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)len + 1, format, args);
    va_end(args);
    return text;
}

void sql_ran(struct services *app, const char *file, int line, const char *sql, const struct db_param *params,
             size_t count)
{
    if (db_exec(app->stores.db, NULL, sql, params, count) == ST_OK)
        return;
    print_error("refused: %s\n", sql);
    _fail(file, line);
}

int64_t sql_number(struct services *app, const char *sql, uint64_t id)
{
    struct arena *a = arena_new(1 << 12, 1 << 20);
    struct db_rows rows;
    assert_non_null(a);
    assert_int_equal(db_query(app->stores.db, a, &rows, sql, DB_PARAMS(DB_U64(id))), ST_OK);
    assert_int_equal(rows.count, 1);
    int64_t number = db_cell_i64(&rows, 0, 0);
    arena_free(a);
    return number;
}

static unsigned racer; /* of this process */

unsigned race_number(void)
{
    return racer;
}

void race_run(unsigned count, int (*body)(void *ctx), void *ctx, unsigned results[RACE_RESULTS])
{
    memset(results, 0, RACE_RESULTS * sizeof *results);
    int started[2];
    char go;
    assert_int_equal(pipe(started), 0);
    for (unsigned i = 0; i < count; i++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            racer = i;
            (void)close(started[1]);
            _exit(read(started[0], &go, 1) == 0 ? body(ctx) : RACE_RESULTS);
        }
    }
    (void)close(started[0]);
    (void)close(started[1]); /* starts them all */
    for (unsigned i = 0; i < count; i++) {
        int status = 0;
        assert_true(wait(&status) > 0);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) < RACE_RESULTS);
        results[WEXITSTATUS(status)]++;
    }
}

struct lacking {
    struct services app; /* the first member */
    struct config config;
    bool redis;
};

struct services *services_without(struct services *app, const char *store)
{
    struct lacking *l = calloc(1, sizeof *l);
    assert_non_null(l);
    *l = (struct lacking){ .app = *app, .config = *app->stores.config, .redis = strcmp(store, "redis") == 0 };
    l->app.stores.config = &l->config;
    strcpy(l->redis ? l->config.redis : l->config.mysql, "unix:/nonexistent/socket");
    if (l->redis)
        l->app.stores.redis = l->app.stores.live.redis = redis_new(&l->config);
    else
        l->app.stores.db = db_new(&l->config);
    assert_true(l->app.stores.redis != NULL && l->app.stores.db != NULL);
    return &l->app;
}

void services_without_free(struct services *lacking)
{
    struct lacking *l = (struct lacking *)lacking;
    if (l->redis)
        redis_free(l->app.stores.redis);
    else
        db_free(l->app.stores.db);
    free(l);
}

void fresh_username(char *out)
{
    static unsigned count;
    snprintf(out, VISIT_NAME_MAX, "u%012" PRIx64 "-%u", random_u64() >> 16, count++);
}

struct account account_new(struct services *app)
{
    static char hash[PASSWORD_HASH_MAX];
    struct account a;
    struct visit v;
    fresh_username(a.name);
    if (hash[0] == '\0')
        assert_int_equal(password_hash(&(struct hash_permit){ 1 }, STR("long enough"), hash), ST_OK);
    struct user user = { .username = str_from(a.name), .nickname = STR("Ming"), .password_hash = str_from(hash) };
    visit_begin(&v, app, "/login", "", NULL);
    assert_int_equal(user_insert(app->stores.db, v.x.arena, &app->stores.config->keys, &user, v.x.now_ms), ST_OK);
    a.id = user.id;
    assert_int_equal(session_start(&v.x, user.id, user.username, user.nickname), ST_OK);
    assert_true(visit_cookie(&v, a.cookie));
    visit_cookie_of(&v, "device", a.device);
    visit_end(&v);
    return a;
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

void visit_cookie_of(const struct visit *v, const char *name, char *out)
{
    struct str rest, value = str_after(buf_view(&v->x.headers), str_from(text_printf("Set-Cookie: %s=", name)));
    value = str_cut(value, ';', &rest);
    assert_true(value.len > 0);
    snprintf(out, VISIT_TEXT_MAX, "%s=%.*s", name, STR_ARG(value));
}

bool visit_body_has(const struct visit *v, const char *text)
{
    return str_after(buf_view(&v->x.body), str_from(text)).ptr != NULL;
}

size_t visit_body_count(const struct visit *v, const char *text)
{
    size_t count = 0;
    struct str rest = buf_view(&v->x.body);
    while ((rest = str_after(rest, str_from(text))).ptr != NULL)
        count++;
    return count;
}

int64_t visit_json_int(const struct visit *v, const char *name)
{
    struct str number = str_after(buf_view(&v->x.body), str_from(text_printf("\"%s\":", name)));
    assert_non_null(number.ptr);
    return strtoll(number.ptr, NULL, 10);
}

void visit_json_text(const struct visit *v, const char *name, char *out, size_t out_size)
{
    struct str rest,
        text = str_cut(str_after(buf_view(&v->x.body), str_from(text_printf("\"%s\":\"", name))), '"', &rest);
    assert_non_null(rest.ptr);
    assert_true(text.len < out_size);
    memcpy(out, text.ptr, text.len);
    out[text.len] = '\0';
}

static struct str account_kind(uint64_t id)
{
    return id == CHANNEL_DEMO_ID ? STR("bank") : id < (uint64_t)1 << 50 ? STR("wallet") : STR("escrow");
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
    sql_run(app, "INSERT INTO account (id, kind) VALUES (?, ?)", DB_U64(id), DB_TEXT(str_from(kind)));
}

void accounts_forget(struct services *app, const uint64_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct db_param id = DB_U64(ids[i]);
        sql_run(app, "DELETE FROM grab WHERE packet_id = ? OR user_id = ?", id, id);
        sql_run(app, "DELETE FROM withdrawal WHERE user_id = ?", id);
        sql_run(app, "DELETE FROM topup_payment WHERE topup_id IN (SELECT id FROM topup WHERE user_id = ?)", id);
        sql_run(app, "DELETE FROM topup WHERE user_id = ?", id);
        sql_run(app,
                "DELETE FROM external_transfer WHERE reverses IN"
                " (SELECT id FROM transfer WHERE ? IN (debit_id, credit_id))",
                id);
        sql_run(app,
                "DELETE FROM external_transfer WHERE transfer_id IN"
                " (SELECT id FROM transfer WHERE ? IN (debit_id, credit_id))",
                id);
        sql_run(app, "DELETE FROM transfer WHERE debit_id = ? OR credit_id = ?", id, id);
        sql_run(app, "UPDATE account SET balance_fen = 0 WHERE id = ?", id);
        sql_run(app, "DELETE FROM account WHERE id = ? AND NOT EXISTS (SELECT 1 FROM user WHERE user.id = ?)", id, id);
    }
    assert_int_equal(
        db_exec(app->stores.db, NULL,
                "UPDATE account SET balance_fen = (SELECT COALESCE(SUM(CASE WHEN credit_id = 1 THEN amount_fen"
                " ELSE -amount_fen END), 0) FROM transfer WHERE credit_id = 1 OR debit_id = 1) WHERE id = 1",
                NULL, 0),
        ST_OK);
}

static int64_t rows_read(struct services *app)
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

int64_t sql_rows_read(struct services *app)
{
    int64_t before = rows_read(app), now = rows_read(app), looked = now - before;
    static int64_t all_looks;
    all_looks += 2 * looked;
    return now + looked - all_looks;
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
