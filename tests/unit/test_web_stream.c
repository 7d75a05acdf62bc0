/* web/router: answers in parts. Runs whole requests; the functions of io/fcgi are wrapped by the linker. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "web/respond.h"
#include "web/router.h"

enum { PARTS = 3 };

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);
void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes);
bool __wrap_fcgi_flush(struct fcgi_request *r);
void __wrap_fcgi_break_off(struct fcgi_request *r);

static struct served {
    struct fcgi_request request;
    struct buf answer;
    int parts;             /* how many were made */
    int fail_at, close_at; /* the part that fails, and the part that the peer does not take; 0: none */
    bool broken_off;
} served;

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    (void)options;
    while (app->step(app->ctx, &served.request) == FCGI_WAIT)
        app->round(app->ctx);
    app->finish(app->ctx, &served.request);
    return ST_OK;
}

void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes)
{
    (void)r;
    buf_str(&served.answer, bytes);
}

bool __wrap_fcgi_flush(struct fcgi_request *r)
{
    (void)r;
    return served.close_at != served.parts;
}

void __wrap_fcgi_break_off(struct fcgi_request *r)
{
    (void)r;
    served.broken_off = true;
}

static enum status part_next(struct exchange *x, bool *more)
{
    served.parts++;
    *more = served.parts < PARTS;
    if (served.parts == served.fail_at)
        return ST_UNAVAILABLE;
    buf_printf(&x->body, "part %d;", served.parts);
    return ST_OK;
}

static enum step handle(struct exchange *x)
{
    respond_header(x, "X-Name", STR("value"));
    respond_stream(x, STR("text/csv"), part_next);
    return STEP_DONE;
}

/* Requests the stream. The answer is in `served` until the next request. */
static void ask(const char *method, int fail_at, int close_at)
{
    static const struct route site[] = { { "GET", "/stream", 0, POOL_PAGE, handle } };
    static struct config config;
    static struct services app;
    char method_env[32] = "REQUEST_METHOD=", error[512];
    char *env[] = { method_env, "REQUEST_URI=/stream", "HTTP_ACCEPT=application/json", NULL };
    (void)strncat(method_env, method, sizeof method_env - strlen(method_env) - 1);
    buf_free(&served.answer);
    served = (struct served){ .fail_at = fail_at, .close_at = close_at };
    config_defaults(&config);
    app = (struct services){ .stores.config = &config, .stores.redis = redis_new(&config) };
    assert_non_null(app.stores.redis);
    assert_int_equal(templates_load(HB_SOURCE_DIR "/templates", &app.templates, error, sizeof error), ST_OK);
    served.request.fcgx.envp = env;
    served.request.arena = arena_new(4096, 1 << 20);
    assert_int_equal(router_serve(&(struct router){ site, ARRAY_LEN(site), POOL_PAGE, &app }), ST_OK);
    arena_free(served.request.arena);
    templates_free(&app.templates);
    redis_free(app.stores.redis);
}

static bool answer_has(const char *text)
{
    return str_after(buf_view(&served.answer), str_from(text)).ptr != NULL;
}

static void parts_are_sent_one_by_one_without_a_length(void **state)
{
    (void)state;
    ask("GET", 0, 0);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: 200 OK\r\n")));
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\npart 1;part 2;part 3;")));
    assert_true(answer_has("X-Name: value\r\n"));
    assert_true(answer_has("Cache-Control: no-store\r\n"));
    assert_false(answer_has("Content-Length"));
    assert_false(served.broken_off);
}

static void a_head_request_gets_no_part(void **state)
{
    (void)state;
    ask("HEAD", 0, 0);
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\n")));
    assert_int_equal(served.parts, 0);
}

static void when_the_first_part_fails_the_answer_says_so(void **state)
{
    (void)state;
    ask("GET", 1, 0);
    assert_true(str_starts(buf_view(&served.answer), STR("Status: 503 ")));
    assert_true(answer_has("Content-Length"));
    assert_false(answer_has("X-Name"));
    assert_false(answer_has("part"));
    assert_false(served.broken_off);
}

static void when_a_later_part_fails_the_answer_is_broken_off(void **state)
{
    (void)state;
    ask("GET", 2, 0);
    assert_true(str_ends(buf_view(&served.answer), STR("\r\n\r\npart 1;")));
    assert_true(served.broken_off);
    assert_int_equal(served.parts, 2);
}

static void nothing_more_is_made_for_a_peer_that_has_gone(void **state)
{
    (void)state;
    ask("GET", 0, 1);
    assert_int_equal(served.parts, 1);
    buf_free(&served.answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_sent_one_by_one_without_a_length),
        cmocka_unit_test(a_head_request_gets_no_part),
        cmocka_unit_test(when_the_first_part_fails_the_answer_says_so),
        cmocka_unit_test(when_a_later_part_fails_the_answer_is_broken_off),
        cmocka_unit_test(nothing_more_is_made_for_a_peer_that_has_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
