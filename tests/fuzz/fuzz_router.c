/* A whole request in memory: its FastCGI parameters and body through the router, the handlers and the templates, with
 * the replies of Redis also from the input. There is no MySQL.
 *
 * The input is cut at its first two NUL bytes into the parameters (a line NAME=value each; the line POOL=page chooses
 * the page pool, POOL=auth the auth pool, otherwise it is the hot pool), the body, and the replies of Redis, cut at
 * further NUL bytes into rounds. The answer must be well formed, whatever the input is. */
#include <jansson.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/utf8.h"
#include "base/value.h"
#include "fuzz.h"
#include "live/fence.h"
#include "pages/page_cache.h"
#include "redis/redis_internal.h"
#include "site/routes.h"
#include "site/services.h"
#include "web/kept_json.h"
#include "web/router.h"

enum { PARAMS_MAX = 64, ROUTES_MAX = 256, ERROR_BYTES = 512, ROUNDS_MAX = 64 };

static struct {
    struct config config;
    struct services app;
    struct route routes[ROUTES_MAX];
    struct fcgi_request request;
    char *env[PARAMS_MAX + 1];
    struct str replies; /* of Redis */
    bool had_replies;
    int redis_peer; /* the other end of the connection to Redis; -1: closed */
    struct buf answer;
    bool broken_off;
} fuzz;

/* ---- instead of the FastCGI loop, Redis's socket, the clock and slow hashes ---- */

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app);
void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes);
bool __wrap_fcgi_flush(struct fcgi_request *r);
void __wrap_fcgi_break_off(struct fcgi_request *r);
bool __wrap_redis_connection_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms);
void __real_redis_transfer(struct redis_flight *flights, size_t count, int64_t deadline_ms);
void __wrap_redis_transfer(struct redis_flight *flights, size_t count, int64_t deadline_ms);
int64_t __wrap_clock_now_ms(void);
bool __real_public_id_decode(const struct public_id_key *key, struct str text, uint64_t *out_id);
bool __wrap_public_id_decode(const struct public_id_key *key, struct str text, uint64_t *out_id);
int __wrap_crypto_pwhash_str_alg(char *out, const char *passwd, unsigned long long len, unsigned long long ops,
                                 size_t mem, int alg);
int __wrap_crypto_pwhash_str_verify(const char *str, const char *passwd, unsigned long long len);

enum status __wrap_fcgi_serve(const struct fcgi_options *options, const struct fcgi_app *app)
{
    (void)options;
    int rounds = 0;
    while (app->step(app->ctx, &fuzz.request) == FCGI_WAIT) {
        assert(++rounds < ROUNDS_MAX);
        app->round(app->ctx);
    }
    app->finish(app->ctx, &fuzz.request);
    return ST_OK;
}

void __wrap_fcgi_write(struct fcgi_request *r, struct str bytes)
{
    (void)r;
    buf_str(&fuzz.answer, bytes);
}

bool __wrap_fcgi_flush(struct fcgi_request *r)
{
    (void)r;
    return true;
}

void __wrap_fcgi_break_off(struct fcgi_request *r)
{
    (void)r;
    fuzz.broken_off = true;
}

/* Connects to a socket of the test itself. */
bool __wrap_redis_connection_ensure(struct redis *r, struct redis_node *node, int64_t deadline_ms)
{
    int pair[2];
    (void)deadline_ms;
    if (node->context != NULL)
        return true;
    if (fuzz.replies.len == 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    if (fuzz.redis_peer >= 0)
        close(fuzz.redis_peer);
    fuzz.redis_peer = pair[1];
    node->context = redisConnectFd(pair[0]);
    assert(node->context != NULL);
    node->connection = ++r->connections;
    for (size_t i = 0; i < REDIS_FENCES_MAX; i++)
        r->fence_opened[i] = node->connection;
    return true;
}

/* Each round gets the next part of the input; when the input is used up, the connection ends. */
void __wrap_redis_transfer(struct redis_flight *flights, size_t count, int64_t deadline_ms)
{
    struct str part = str_cut(fuzz.replies, '\0', &fuzz.replies);
    (void)!send(fuzz.redis_peer, part.ptr, part.len, MSG_NOSIGNAL); /* an earlier transfer may have closed it */
    if (fuzz.replies.len == 0)
        shutdown(fuzz.redis_peer, SHUT_WR);
    __real_redis_transfer(flights, count, fuzz.replies.len == 0 ? deadline_ms : clock_monotonic_ms());
}

int64_t __wrap_clock_now_ms(void)
{
    return INT64_C(1795000000000); /* a time in November 2026 */
}

/* Random input never has a valid id, so every word of the right length is one here. */
bool __wrap_public_id_decode(const struct public_id_key *key, struct str text, uint64_t *out_id)
{
    if (__real_public_id_decode(key, text, out_id))
        return true;
    bool taken = text.len == PUBLIC_ID_LEN && str_is_word(text);
    if (taken)
        *out_id = (UINT64_C(1) << 52) + value_hash(text);
    return taken;
}

int __wrap_crypto_pwhash_str_alg(char *out, const char *passwd, unsigned long long len, unsigned long long ops,
                                 size_t mem, int alg)
{
    (void)passwd;
    (void)len;
    (void)ops;
    (void)mem;
    (void)alg;
    memcpy(out, "$argon2id$", sizeof "$argon2id$");
    return 0;
}

int __wrap_crypto_pwhash_str_verify(const char *str, const char *passwd, unsigned long long len)
{
    (void)str;
    (void)passwd;
    return len % 2 == 0 ? 0 : -1;
}

/* ---- the answer ---- */

/* The value of a header of the answer; STR_NONE: it has none. */
static struct str header_find(struct str head, const char *name)
{
    struct str rest = head;
    while (rest.ptr != NULL && rest.len > 0) {
        struct str line = str_cut(rest, '\r', &rest);
        (void)str_skip_prefix(&rest, STR("\n"));
        if (str_skip_prefix(&line, str_from(name)) && str_skip_prefix(&line, STR(": ")))
            return line;
    }
    return STR_NONE;
}

/* Checks the lines `Name: value`: each ends with CR LF, and none is within a value. */
static void head_check(struct str head)
{
    struct str rest = head;
    while (rest.len > 0) {
        size_t end = str_find(rest, STR("\r\n"));
        assert(end < rest.len);
        struct str line = str_slice(rest, 0, end), value = STR_NONE;
        struct str name = str_cut(line, ':', &value);
        assert(str_is_word(name) && name.len > 0 && str_starts(value, STR(" ")));
        assert(str_index(line, '\n') == line.len && str_index(line, '\r') == line.len &&
               str_index(line, '\0') == line.len);
        rest = str_skip(rest, end + 2);
    }
}

static void body_check(struct str head, struct str body)
{
    struct str type = header_find(head, "Content-Type"), length = header_find(head, "Content-Length");
    uint64_t bytes = 0;
    bool has_body = str_equal(fcgi_param(&fuzz.request, "REQUEST_METHOD"), STR("HEAD")) == false;
    if (length.ptr != NULL)
        assert(str_to_u64(length, &bytes) && (!has_body || bytes == body.len));
    assert(body.len == 0 || type.ptr != NULL);
    if (body.len == 0 || str_starts(type, STR("text/plain")))
        return;
    bool is_json = str_find(type, STR("json")) < type.len;
    /* JSON replaces broken UTF-8; a page shows names from Redis as they are there, and here Redis may have any. */
    assert(utf8_valid(body) || (!is_json && fuzz.had_replies));
    if (is_json) {
        json_t *json = json_loadb(body.ptr, body.len, 0, NULL);
        assert(json != NULL);
        json_decref(json);
    } else if (str_starts(type, STR("text/html"))) {
        assert(str_starts(body, STR("<!doctype html>")) && str_find(body, STR("</html>")) < body.len);
    }
}

static void answer_check(void)
{
    struct str answer = buf_view(&fuzz.answer);
    size_t end = str_find(answer, STR("\r\n\r\n"));
    assert(str_starts(answer, STR("Status: ")) && end < answer.len);
    struct str head = str_slice(answer, 0, end + 2), status = str_slice(answer, 8, 11);
    assert(!str_equal(status, STR("500")) || fuzz.had_replies); /* a malformed reply of Redis is an internal error */
    head_check(head);
    if (!fuzz.broken_off)
        body_check(head, str_skip(answer, end + 4));
}

/* ---- the request ---- */

static void services_once(void)
{
    char error[ERROR_BYTES];
    if (fuzz.app.stores.redis != NULL)
        return;
    assert(sodium_init() >= 0 && site_routes_count() <= ROUTES_MAX);
    config_defaults(&fuzz.config);
    (void)snprintf(fuzz.config.template_dir, CONFIG_TEXT_MAX, "%s/templates", HB_SOURCE_DIR);
    (void)snprintf(fuzz.config.static_dir, CONFIG_TEXT_MAX, "%s/static", HB_SOURCE_DIR);
    (void)snprintf(fuzz.config.lua_dir, CONFIG_TEXT_MAX, "%s/lua", HB_SOURCE_DIR);
    keys_derive(STR("0123456789abcdef0123456789abcdef"), true, &fuzz.config.keys);
    (void)snprintf(fuzz.config.mysql, CONFIG_TEXT_MAX, "%s", "unix:/nowhere");
    (void)snprintf(fuzz.config.timezone, CONFIG_TEXT_MAX, "%s", "UTC");
    fuzz.config.demo = true;
    enum status st = services_open(&fuzz.app, &fuzz.config, SERVICES_MYSQL | SERVICES_PAGES, error, sizeof error);
    if (st != ST_OK)
        (void)fprintf(stderr, "%s\n", error);
    assert(st == ST_OK);
    for (size_t i = 0; i < site_routes_count(); i++)
        fuzz.routes[i] = *site_route(i);
    fuzz.redis_peer = -1;
}

/* Takes the parameters from the lines of the text; the pool is one of them. */
static enum pool params_set(struct str lines)
{
    enum pool pool = POOL_HOT;
    size_t count = 0;
    while (lines.ptr != NULL && count < PARAMS_MAX) {
        struct str line = str_cut(lines, '\n', &lines);
        if (str_equal(line, STR("POOL=page")))
            pool = POOL_PAGE;
        else if (str_equal(line, STR("POOL=auth")))
            pool = POOL_AUTH;
        else if (str_index(line, '=') < line.len)
            fuzz.env[count++] = arena_cstr(fuzz_arena, line);
    }
    fuzz.env[count] = NULL;
    return pool;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str body, replies = STR_NONE;
    struct str params = str_cut(fuzz_text(data, size), '\0', &body);
    body = str_cut(body, '\0', &replies);
    fuzz_begin();
    services_once();
    struct arena *arena = arena_new(4096, (size_t)4 << 20);
    enum pool pool = params_set(params);
    fuzz.request = (struct fcgi_request){ .arena = arena, .body = str_or_empty(body) };
    fuzz.request.fcgx.envp = fuzz.env;
    fuzz.replies = fuzz_reply_is_huge(replies) ? STR("") : str_or_empty(replies);
    fuzz.had_replies = fuzz.replies.len > 0;
    fuzz.broken_off = false;
    buf_reset(&fuzz.answer);
    struct str path = fcgi_param(&fuzz.request, "REQUEST_URI");
    if (path.ptr == NULL || path.len == 0 || path.ptr[0] != '/') { /* nginx passes on only absolute paths */
        arena_free(arena);
        return 0;
    }
    struct services whole = fuzz.app;
    fuzz.app.picture_program = "/nowhere"; /* pictures have a separate target */
    if (pool == POOL_HOT) {                /* as commands/serve.c opens it for this pool */
        fuzz.app.page_cache = page_cache_new(PAGE_CACHE_PAGES_MAX, PAGE_CACHE_BYTES_MAX);
        fuzz.app.stores.db = NULL;
        fuzz.app.news_count = NULL;
    }
    assert(router_serve(&(struct router){ fuzz.routes, site_routes_count(), pool, &fuzz.app }) == ST_OK);
    page_cache_free(fuzz.app.page_cache);
    kept_json_free(&fuzz.app.api);
    kept_json_free(&fuzz.app.keys_shown);
    fuzz.app = whole;
    answer_check();
    redis_close(&fuzz.app.stores.redis->nodes[0]);
    if (fuzz.redis_peer >= 0)
        close(fuzz.redis_peer);
    fuzz.redis_peer = -1;
    arena_free(arena);
    return 0;
}
