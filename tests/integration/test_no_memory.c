/* Answers on real stores while memory runs out (the linker wraps malloc, calloc and realloc of our own objects).
 * Every allocation of a request fails in turn, once or from there on. The answer is the whole one, to the last byte,
 * or 503. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "pages/routes.h"
#include "support/test_services.h"
#include "test_packet_fixture.h"
#include "user/pages.h"
#include "user/routes.h"
#include "user/session.h"
#include "wallet/deposit.h"
#include "wallet/routes.h"
#include "web/router.h"

enum {
    ENV_MAX = 8,
    PATH_BYTES_MAX = 64,
    ROUTES_MAX = 64,
    ALLOCATIONS_MAX = 20000,
    /* A chunk of its own for nearly every allocation: so each of them is one that can fail. */
    CHUNK_BYTES = 16,
    ARENA_BYTES_MAX = 16 << 20
};

/* ---- memory ---- */

enum failing { FAIL_NEVER, FAIL_ONCE, FAIL_FROM };
static enum failing failing;
static int allocations_left;
static bool failed;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool must_fail(void)
{
    if (failing == FAIL_NEVER || (failed && failing == FAIL_ONCE) || allocations_left-- > 0)
        return false;
    failed = true;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return must_fail() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return must_fail() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return must_fail() ? NULL : __real_realloc(old, size);
}

/* ---- money ---- */

/* Whether a transaction of the request found its key taken: what was asked for has happened. */
static bool key_taken;

enum status __real_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    enum status st = __real_db_transaction(db, body, ctx);
    key_taken = key_taken || st == ST_EXISTS;
    return st;
}

/* ---- the site ---- */

static struct services *app;
static struct router router;
static struct route routes[ROUTES_MAX];
static uint64_t user_id;
static char cookie[VISIT_TEXT_MAX];
static char packet_path[PATH_BYTES_MAX], open_path[PATH_BYTES_MAX + 8];

static void routes_add(const struct route *list, size_t count)
{
    assert_true(router.count + count <= ROUTES_MAX);
    memcpy(&routes[router.count], list, count * sizeof *list);
    router.count += count;
}

struct question {
    enum pool pool;
    const char *method, *uri, *fields, *accept;
};

/* Runs the request through the router. The n-th allocation fails; visit_end when done with the answer. */
static void ask(struct visit *v, const struct question *q, enum failing how, int n)
{
    static char env[ENV_MAX][VISIT_TEXT_MAX + 32];
    static char *envp[ENV_MAX + 1];
    const char *const params[][2] = { { "REQUEST_METHOD", q->method },
                                      { "REQUEST_URI", q->uri },
                                      { "REQUEST_ID", "0123" },
                                      { "HTTP_ACCEPT", q->accept },
                                      { "HTTP_COOKIE", cookie },
                                      { "HTTP_ACCEPT_LANGUAGE", "en" },
                                      { "CONTENT_TYPE", "application/x-www-form-urlencoded" } };
    size_t count = 0;
    for (; count < ARRAY_LEN(params); count++) {
        snprintf(env[count], sizeof env[count], "%s=%s", params[count][0], params[count][1]);
        envp[count] = env[count];
    }
    envp[count] = NULL;
    memset(v, 0, sizeof *v);
    v->request.fcgx.envp = envp;
    v->request.body = str_from(q->fields);
    v->request.arena = arena_new(CHUNK_BYTES, ARENA_BYTES_MAX);
    assert_non_null(v->request.arena);
    v->x.app = app;
    v->x.fcgi = &v->request;
    v->x.arena = v->request.arena;
    router.pool = q->pool;
    failed = key_taken = false;
    failing = how;
    allocations_left = n;
    while (router_answer(&router, &v->x) == STEP_WAIT)
        redis_round(app->stores.redis);
    failing = FAIL_NEVER;
}

/* A connection that broke in the last run is made again, and asks whether it may take grabs. */
static void stores_calm(void)
{
    struct redis_call call;
    assert_int_equal(redis_do(app->stores.redis, &call, &STR("PING"), 1), ST_OK);
    redis_call_free(&call);
}

static int setup(void **state)
{
    (void)state;
    struct visit v;
    char fields[VISIT_TEXT_MAX], key[PERSON_KEY_MAX];
    struct arena *a = arena_new(4096, 1 << 20);
    app = packet_services_open();
    if (app == NULL || a == NULL)
        return 1;
    log_init("test", LOG_ERROR);
    app->visitor_queue = session_visitor_queue;
    app->visitor_read = session_visitor_read;
    router = (struct router){ .routes = routes, .app = app };
    routes_add(user_routes, user_routes_count);
    routes_add(wallet_routes, wallet_routes_count);
    routes_add(packet_routes, packet_routes_count);
    fresh_key(key);
    snprintf(fields, sizeof fields, "username=%.20s&nickname=%%E5%%B0%%8F%%E6%%98%%8E&password=long+enough", key);
    assert_int_equal(visit_post(&v, app, register_submit, "/register", fields, NULL), 201);
    user_id = (uint64_t)visit_json_int(&v, "id");
    assert_true(visit_cookie(&v, cookie));
    visit_end(&v);
    struct deposit d = { .user_id = user_id, .amount_fen = 10000, .request_key = str_from(key) };
    assert_int_equal(deposit_make(app->stores.db, a, &d, clock_now_ms()), ST_OK);
    arena_free(a);
    struct question send = { POOL_PAGE, "POST", "/send", "kind=lucky&amount=9.00&count=3", "application/json" };
    ask(&v, &send, FAIL_NEVER, 0);
    assert_int_equal(v.x.status, 201);
    snprintf(packet_path, sizeof packet_path, "%.*s", STR_ARG(visit_header(&v, "Location")));
    snprintf(open_path, sizeof open_path, "%s/open", packet_path);
    visit_end(&v);
    struct question open = { POOL_HOT, "POST", open_path, "", "application/json" };
    stores_calm();
    ask(&v, &open, FAIL_NEVER, 0);
    assert_int_equal(v.x.status, 200);
    visit_end(&v);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    packet_services_close(app);
    return 0;
}

/* ---- the answers ---- */

/* True: it is 503 and leads nowhere, keeps no tag and touches no cookie. */
static bool is_refusal(const struct visit *v)
{
    return v->x.status == 503 && visit_header(v, "Location").ptr == NULL && visit_header(v, "ETag").ptr == NULL &&
           visit_header(v, "Set-Cookie").ptr == NULL;
}

static bool is_same(const struct visit *a, const struct visit *b)
{
    return a->x.status == b->x.status && str_equal(buf_view(&a->x.headers), buf_view(&b->x.headers)) &&
           str_equal(buf_view(&a->x.body), buf_view(&b->x.body));
}

/* Called for each refusal. */
typedef void look_fn(const struct visit *refusal);

static void each_allocation_fails(const struct question *q, int status, enum failing how, look_fn *look)
{
    struct visit good, v;
    bool complete = false;
    stores_calm();
    ask(&good, q, FAIL_NEVER, 0);
    assert_int_equal(good.x.status, status);
    for (int n = 0; !complete; n++) {
        assert_true(n < ALLOCATIONS_MAX);
        stores_calm();
        ask(&v, q, how, n);
        complete = !failed;
        if (complete ? !is_same(&v, &good) : !is_same(&v, &good) && !is_refusal(&v))
            fail_msg("%s %s (%s), allocation %d fails: %d\n%.*s\n%.*s", q->method, q->uri, q->accept, n, v.x.status,
                     STR_ARG(buf_view(&v.x.headers)), STR_ARG(buf_view(&v.x.body)));
        if (v.x.status == 503 && look != NULL)
            look(&v);
        visit_end(&v);
    }
    visit_end(&good);
}

static void each_fails_in_both_ways(struct question q, int json_status, int page_status, look_fn *look)
{
    static const char *const accepts[] = { "application/json", "text/html" };
    for (int i = 0; i < 2; i++) {
        q.accept = accepts[i];
        each_allocation_fails(&q, i == 0 ? json_status : page_status, FAIL_ONCE, look);
        each_allocation_fails(&q, i == 0 ? json_status : page_status, FAIL_FROM, look);
    }
}

static void the_packets_page_is_whole_or_503(void **state)
{
    (void)state;
    each_fails_in_both_ways((struct question){ POOL_HOT, "GET", packet_path, "", NULL }, 200, 200, NULL);
    each_fails_in_both_ways((struct question){ POOL_PAGE, "GET", packet_path, "", NULL }, 200, 200, NULL);
}

/* The session is read for it: a guest would see another page. */
static void home_is_whole_or_503_and_never_a_guests(void **state)
{
    (void)state;
    each_fails_in_both_ways((struct question){ POOL_PAGE, "GET", "/", "", NULL }, 200, 200, NULL);
}

static void the_records_are_whole_or_503(void **state)
{
    (void)state;
    each_fails_in_both_ways((struct question){ POOL_PAGE, "GET", "/records/sent", "", NULL }, 200, 200, NULL);
}

static unsigned unknowns;

/* Once it has happened, nobody is told that it was refused. */
static void look_at_outcome(const struct visit *refusal, bool happened)
{
    if (happened && (visit_body_has(refusal, "problem:busy") || visit_body_has(refusal, "Very busy right now")))
        fail_msg("refused, yet it happened: %.*s", STR_ARG(buf_view(&refusal->x.body)));
    unknowns += visit_body_has(refusal, "problem:unknown") || visit_body_has(refusal, "isn’t known yet");
}

static void look_at_grab(const struct visit *refusal)
{
    const struct redis_call *grab = &refusal->x.call;
    look_at_outcome(refusal, grab->reply != NULL && grab->status == ST_OK);
}

static void look_at_payment(const struct visit *refusal)
{
    look_at_outcome(refusal, key_taken);
}

static void a_grab_leads_to_its_packet_or_is_unknown(void **state)
{
    (void)state;
    unknowns = 0;
    each_fails_in_both_ways((struct question){ POOL_HOT, "POST", open_path, "", NULL }, 200, 303, look_at_grab);
    assert_true(unknowns > 0);
}

/* A repeat by the same key, which is answered as the first one was. */
static void what_was_paid_for_is_told_or_unknown(void **state)
{
    (void)state;
    char key[PERSON_KEY_MAX], fields[VISIT_TEXT_MAX];
    unknowns = 0;
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=even&amount=0.10&count=2&request_key=%s", key);
    each_fails_in_both_ways((struct question){ POOL_PAGE, "POST", "/send", fields, NULL }, 201, 303, look_at_payment);
    snprintf(fields, sizeof fields, "amount=0.10&request_key=%s", key);
    each_fails_in_both_ways((struct question){ POOL_PAGE, "POST", "/wallet/deposit", fields, NULL }, 201, 303,
                            look_at_payment);
    assert_true(unknowns > 0);
}

static void a_guest_is_led_to_the_login_with_an_address_or_not_at_all(void **state)
{
    (void)state;
    char kept[VISIT_TEXT_MAX];
    memcpy(kept, cookie, sizeof kept);
    cookie[0] = '\0';
    each_fails_in_both_ways((struct question){ POOL_PAGE, "GET", "/wallet?before=17", "", NULL }, 401, 303, NULL);
    memcpy(cookie, kept, sizeof cookie);
}

/* A lost key must not become a shared one: two such deposits would be taken for one. */
static void a_deposit_without_a_key_is_made_by_one_of_its_own_or_not(void **state)
{
    (void)state;
    static const struct question deposit = { POOL_PAGE, "POST", "/wallet/deposit", "amount=0.01", "application/json" };
    bool complete = false;
    for (int n = 0; !complete; n++) {
        struct visit v;
        stores_calm();
        ask(&v, &deposit, FAIL_ONCE, n);
        complete = !failed;
        assert_true(v.x.status == 201 || is_refusal(&v));
        visit_end(&v);
    }
    assert_int_equal(sql_number(app,
                                "SELECT COUNT(*) FROM transfer WHERE credit_id = ? AND kind = 'deposit'"
                                " AND request_key LIKE '%:'",
                                user_id),
                     0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_packets_page_is_whole_or_503),
        cmocka_unit_test(home_is_whole_or_503_and_never_a_guests),
        cmocka_unit_test(the_records_are_whole_or_503),
        cmocka_unit_test(a_grab_leads_to_its_packet_or_is_unknown),
        cmocka_unit_test(what_was_paid_for_is_told_or_unknown),
        cmocka_unit_test(a_guest_is_led_to_the_login_with_an_address_or_not_at_all),
        cmocka_unit_test(a_deposit_without_a_key_is_made_by_one_of_its_own_or_not),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
