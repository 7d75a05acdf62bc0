/* Answers on real stores when an allocation fails. The linker wraps malloc, calloc and realloc of the program's
 * objects. Every allocation of a request fails in turn, once, or together with all later ones. The answer must be byte
 * for byte the complete one, or a 503. */
#include "account/routes.h"
#include "account/token_page.h"
#include "base/clock.h"
#include "base/log.h"
#include "pages/routes.h"
#include "records/routes.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "test_packet_fixture.h"
#include "user/token.h"
#include "user/visitor.h"
#include "wallet/deposit.h"
#include "wallet/routes.h"
#include "web/router.h"

enum {
    ENV_MAX = 9,
    PATH_BYTES_MAX = 64,
    ROUTES_MAX = 96,
    ALLOCATIONS_MAX = 20000,
    /* so small that nearly every arena allocation needs a separate chunk, which can fail */
    CHUNK_BYTES = 16,
    ARENA_BYTES_MAX = 16 << 20
};

/* ---- memory ---- */

enum failure_mode { FAIL_NEVER, FAIL_ONCE, FAIL_FROM };
static enum failure_mode failure_mode;
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
    if (failure_mode == FAIL_NEVER || (failed && failure_mode == FAIL_ONCE) || allocations_left-- > 0)
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

/* True when a transaction of the request found its request key used: the change has been made before. */
static bool key_taken;

enum status __real_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);
enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx);

enum status __wrap_db_transaction(struct db *db, enum status (*body)(struct db *db, void *ctx), void *ctx)
{
    enum status st = __real_db_transaction(db, body, ctx);
    key_taken = key_taken || st == ST_EXISTS;
    return st;
}

enum status __real_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);
enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count);

enum status __wrap_db_exec_retried(struct db *db, const char *sql, const struct db_param *params, size_t count)
{
    enum status st = __real_db_exec_retried(db, sql, params, count);
    key_taken = key_taken || st == ST_EXISTS;
    return st;
}

/* ---- the site ---- */

static struct services *app;
static struct router router;
static struct route routes[ROUTES_MAX];
static uint64_t user_id;
static char cookie[VISIT_TEXT_MAX];
static char token[TOKEN_MAX]; /* sent in place of the cookie when use_token */
static bool use_token, copy_lost;
static char packet_path[PATH_BYTES_MAX], open_path[PATH_BYTES_MAX + 8];

static void routes_add(const struct route *list, size_t count)
{
    assert_true(router.count + count <= ROUTES_MAX);
    memcpy(&routes[router.count], list, count * sizeof *list);
    router.count += count;
}

struct request_spec {
    enum pool pool;
    const char *method, *uri, *fields, *accept;
};

/* Runs the request through the router with a failure at allocation n (from 0). Call visit_end afterwards. */
static void serve(struct visit *v, const struct request_spec *q, enum failure_mode how, int n)
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
    if (use_token)
        snprintf(env[count], sizeof env[count], "HTTP_AUTHORIZATION=Bearer %s", token);
    envp[count] = use_token ? env[count] : NULL;
    envp[ENV_MAX] = NULL;
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
    failure_mode = how;
    allocations_left = n;
    while (router_answer(&router, &v->x) == STEP_WAIT)
        redis_round(app->stores.redis);
    failure_mode = FAIL_NEVER;
}

/* Removes the token's copy from Redis, so that the next request reads the row. */
static void token_copy_delete(void)
{
    uint8_t hash[HASH_BYTES];
    char key[TOKEN_KEY_MAX];
    hash_sha256(token, TOKEN_LEN, hash);
    token_key_write(hash, key);
    (void)redis_number(app->stores.redis, "DEL %.*s", (int)TOKEN_KEY_LEN, key);
}

/* Restores a connection that broke in the previous run, so that the next run starts with an open connection and a known
 * fence. */
static void stores_ready(void)
{
    assert_int_equal(redis_ping(app->stores.redis), ST_OK);
    if (copy_lost)
        token_copy_delete();
}

static int setup(void **state)
{
    (void)state;
    struct visit v;
    char key[PERSON_KEY_MAX];
    struct arena *a = arena_new(4096, 1 << 20);
    app = packet_services_open();
    if (app == NULL || a == NULL)
        return 1;
    log_init("test", LOG_ERROR);
    app->visitor_queue = visitor_queue;
    app->visitor_read = visitor_read;
    router = (struct router){ .routes = routes, .app = app };
    routes_add(account_routes, account_routes_count);
    routes_add(wallet_routes, wallet_routes_count);
    routes_add(packet_routes, packet_routes_count);
    routes_add(records_routes, records_routes_count);
    fresh_key(key);
    struct account user = account_new(app);
    user_id = user.id;
    memcpy(cookie, user.cookie, sizeof cookie);
    struct deposit d = { .user_id = user_id, .amount_fen = 10000, .request_key = str_from(key) };
    assert_int_equal(deposit_make(app->stores.db, a, &d, clock_now_ms()), ST_OK);
    arena_free(a);
    struct request_spec send = { POOL_PAGE, "POST", "/send", "kind=lucky&amount=9.00&count=3", "application/json" };
    serve(&v, &send, FAIL_NEVER, 0);
    assert_int_equal(v.x.status, 201);
    snprintf(packet_path, sizeof packet_path, "%.*s", STR_ARG(visit_header(&v, "Location")));
    snprintf(open_path, sizeof open_path, "%s/open", packet_path);
    visit_end(&v);
    struct request_spec open = { POOL_HOT, "POST", open_path, "", "application/json" };
    stores_ready();
    serve(&v, &open, FAIL_NEVER, 0);
    assert_int_equal(v.x.status, 200);
    visit_end(&v);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    site_close(app);
    return 0;
}

/* ---- answers ---- */

/* True for a 503 without Location, ETag and Set-Cookie. */
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
typedef void refusal_check_fn(const struct visit *refusal);

static void each_allocation_fails(const struct request_spec *q, int status, enum failure_mode how,
                                  refusal_check_fn *check)
{
    struct visit good, v;
    bool complete = false;
    stores_ready();
    serve(&good, q, FAIL_NEVER, 0);
    assert_int_equal(good.x.status, status);
    for (int n = 0; !complete; n++) {
        assert_true(n < ALLOCATIONS_MAX);
        stores_ready();
        serve(&v, q, how, n);
        complete = !failed;
        if (complete ? !is_same(&v, &good) : !is_same(&v, &good) && !is_refusal(&v))
            fail_msg("%s %s (%s), allocation %d fails: %d\n%.*s\n%.*s", q->method, q->uri, q->accept, n, v.x.status,
                     STR_ARG(buf_view(&v.x.headers)), STR_ARG(buf_view(&v.x.body)));
        if (v.x.status == 503 && check != NULL)
            check(&v);
        visit_end(&v);
    }
    visit_end(&good);
}

static void each_fails_in_both_ways(struct request_spec q, int json_status, int page_status, refusal_check_fn *check)
{
    static const char *const accepts[] = { "application/json", "text/html" };
    for (int i = 0; i < 2; i++) {
        q.accept = accepts[i];
        each_allocation_fails(&q, i == 0 ? json_status : page_status, FAIL_ONCE, check);
        each_allocation_fails(&q, i == 0 ? json_status : page_status, FAIL_FROM, check);
    }
}

static void page_is_complete(enum pool pool, const char *uri)
{
    each_fails_in_both_ways((struct request_spec){ pool, "GET", uri, "", NULL }, 200, 200, NULL);
}

/* A failed read of the session must not show the page of a guest. */
TEST(a_page_is_complete_or_503_and_never_that_of_a_guest)
{
    static const char *const pages[] = { packet_path, "/", "/account", "/records/sent" };
    page_is_complete(POOL_HOT, packet_path);
    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        page_is_complete(POOL_PAGE, pages[i]);
}

/* Home with a token. 401 would mean that the token is wrong, and a guest's home would mean that there is no token. */
TEST(a_token_is_read_from_each_store_or_the_answer_is_503)
{
    struct visit *v =
        visit_json_new(app, token_submit, "/account/tokens", "name=n&scopes=read&days=1&password=long+enough", cookie);
    visit_json_text(v, "token", token, sizeof token);
    visit_says(v, 201);
    use_token = true;
    page_is_complete(POOL_PAGE, "/");
    page_is_complete(POOL_HOT, packet_path);
    copy_lost = true;
    page_is_complete(POOL_PAGE, "/");
    use_token = copy_lost = false;
}

static unsigned unknowns;

/* Once the change was made, the answer must not be "busy", which means that nothing changed. */
static void outcome_check(const struct visit *refusal, bool changed)
{
    if (changed && (visit_body_has(refusal, "problem:busy") || visit_body_has(refusal, "Very busy right now")))
        fail_msg("busy, but the change was made: %.*s", STR_ARG(buf_view(&refusal->x.body)));
    unknowns += visit_body_has(refusal, "problem:unknown") || visit_body_has(refusal, "isn’t known yet");
}

static void grab_check(const struct visit *refusal)
{
    const struct redis_call *grab = &refusal->x.call;
    outcome_check(refusal, grab->reply != NULL && grab->status == ST_OK);
}

static void payment_check(const struct visit *refusal)
{
    outcome_check(refusal, key_taken);
}

TEST(a_grab_answers_its_share_or_unknown)
{
    unknowns = 0;
    each_fails_in_both_ways((struct request_spec){ POOL_HOT, "POST", open_path, "", NULL }, 200, 303, grab_check);
    assert_true(unknowns > 0);
}

/* Repeats a payment with the same key: they get the answer of the first one. */
TEST(a_payment_that_was_made_answers_success_or_unknown)
{
    char key[PERSON_KEY_MAX], fields[VISIT_TEXT_MAX];
    unknowns = 0;
    fresh_key(key);
    snprintf(fields, sizeof fields, "kind=even&amount=0.10&count=2&request_key=%s", key);
    each_fails_in_both_ways((struct request_spec){ POOL_PAGE, "POST", "/send", fields, NULL }, 201, 303, payment_check);
    snprintf(fields, sizeof fields, "amount=0.10&request_key=%s", key);
    each_fails_in_both_ways((struct request_spec){ POOL_PAGE, "POST", "/wallet/deposit", fields, NULL }, 201, 303,
                            payment_check);
    assert_true(unknowns > 0);
}

TEST(a_guest_is_redirected_to_the_login_with_next_or_gets_503)
{
    char kept[VISIT_TEXT_MAX];
    memcpy(kept, cookie, sizeof kept);
    cookie[0] = '\0';
    each_fails_in_both_ways((struct request_spec){ POOL_PAGE, "GET", "/wallet?before=17", "", NULL }, 401, 303, NULL);
    memcpy(cookie, kept, sizeof cookie);
}

/* A key that could not be allocated must not become an empty one, which all such deposits would share. */
TEST(a_deposit_without_a_key_gets_a_key_of_its_own_or_503)
{
    static const struct request_spec deposit = { POOL_PAGE, "POST", "/wallet/deposit", "amount=0.01",
                                                 "application/json" };
    bool complete = false;
    for (int n = 0; !complete; n++) {
        struct visit v;
        stores_ready();
        serve(&v, &deposit, FAIL_ONCE, n);
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

TESTS(setup, teardown)
