#include "peers/blocking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/str.h"
#include "support/unix_path.h"
#include "web/origin.h"

enum { BODY_MAX = 128, ERROR_MAX = 1024, HTTP_OK = 200 };

static struct str param(const FCGX_Request *r, const char *name)
{
    const char *value = FCGX_GetParam(name, r->envp);
    return value == NULL ? STR_NONE : str_from(value);
}

static void answer(FCGX_Request *r, int status, const char *body, int len)
{
    (void)FCGX_FPrintF(r->out,
                       "Status: %d\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"
                       "Cache-Control: no-store\r\nVary: Accept, Accept-Language, Cookie\r\n\r\n",
                       status, len);
    (void)FCGX_PutStr(body, len, r->out);
}

static void problem(FCGX_Request *r, int status, const char *name)
{
    char body[BODY_MAX];
    int len = snprintf(body, sizeof body, "{\"type\":\"urn:hongbao:problem:%s\",\"status\":%d}\n", name, status);
    answer(r, status, body, len);
}

static bool redis_ready(struct blocking *b)
{
    if (b->redis != NULL && b->redis->err == 0)
        return true;
    if (b->redis != NULL)
        redisFree(b->redis);
    b->redis = redisConnectUnix(unix_path(b->config.redis));
    if (b->redis == NULL || b->redis->err != 0)
        return false;
    const struct timeval limit = { .tv_sec = b->config.redis_timeout_ms / 1000,
                                   .tv_usec = b->config.redis_timeout_ms % 1000 * 1000 };
    if (redisSetTimeout(b->redis, limit) != REDIS_OK)
        return false;
    redisReply *reply = redisCommand(b->redis, "AUTH %s %s", b->config.redis_user, b->config.redis_password);
    bool ok = reply != NULL && reply->type == REDIS_REPLY_STATUS;
    freeReplyObject(reply);
    return ok;
}

static struct str cookie(const FCGX_Request *r, struct str name)
{
    struct str rest = param(r, "HTTP_COOKIE"), value;
    while (rest.len > 0)
        if (str_equal(str_cut(str_trim(str_cut(rest, ';', &rest)), '=', &value), name))
            return value;
    return STR_NONE;
}

/* The session's reply, for the caller to free; out points into it. NULL: not logged in. */
static redisReply *session_find(struct blocking *b, const FCGX_Request *r, struct session *out)
{
    char key[SESSION_KEY_MAX];
    struct str token = cookie(r, STR("sid"));
    if (!session_token_valid(token))
        return NULL;
    session_key_write(token, key);
    redisReply *reply = redisCommand(b->redis, "GET %b", key, (size_t)SESSION_KEY_LEN);
    if (reply != NULL && reply->type == REDIS_REPLY_STRING &&
        session_value_read((struct str){ reply->str, (size_t)reply->len }, out) &&
        session_ttl_ms(&b->config, out, clock_now_ms()) > 0)
        return reply;
    freeReplyObject(reply);
    return NULL;
}

static void answer_grab(FCGX_Request *r, const struct blocking_grab *grab)
{
    char body[BODY_MAX];
    switch (grab->code) {
    case LIVE_GRABBED:
    case LIVE_ALREADY: {
        int len = snprintf(
            body, sizeof body, "{\"result\":\"%s\",\"share_no\":%lld,\"amount_fen\":%lld,\"left_count\":%lld}\n",
            grab->code == LIVE_GRABBED ? "grabbed" : "already", grab->share_no, grab->fen, grab->left_count);
        answer(r, HTTP_OK, body, len);
        break;
    }
    case LIVE_EMPTY: problem(r, 410, "empty"); break;
    case LIVE_MISSING: problem(r, 404, "not-found"); break;
    default: problem(r, 503, "unknown");
    }
}

/* Reads the id of "/p/ID/open"; false: another path, or a forged id. */
static bool path_read(struct blocking *b, struct str path, uint64_t *out)
{
    const struct str head = STR("/p/"), tail = STR("/open");
    if (path.len != head.len + PUBLIC_ID_LEN + tail.len || !str_starts(path, head) ||
        !str_equal((struct str){ path.ptr + head.len + PUBLIC_ID_LEN, tail.len }, tail))
        return false;
    return public_id_decode(&b->id_key, (struct str){ path.ptr + head.len, PUBLIC_ID_LEN }, out);
}

static void request_serve(struct blocking *b, FCGX_Request *r,
                          struct blocking_grab (*grab)(struct blocking *b, uint64_t packet_id,
                                                       const struct session *session))
{
    uint64_t packet_id;
    struct session session;
    if (!str_equal(param(r, "REQUEST_METHOD"), STR("POST")) || !path_read(b, param(r, "REQUEST_URI"), &packet_id)) {
        problem(r, 404, "not-found");
        return;
    }
    if (!origin_allows(param(r, "HTTP_SEC_FETCH_SITE"), param(r, "HTTP_ORIGIN"), param(r, "HTTP_HOST"), STR(""))) {
        problem(r, 403, "cross-origin");
        return;
    }
    if (!redis_ready(b)) {
        problem(r, 503, "busy");
        return;
    }
    redisReply *visitor = session_find(b, r, &session);
    if (visitor == NULL) {
        problem(r, 401, "unauthorized");
        return;
    }
    struct blocking_grab got = grab(b, packet_id, &session);
    answer_grab(r, &got);
    freeReplyObject(visitor);
}

int blocking_serve(struct blocking *b, const char *name,
                   struct blocking_grab (*grab)(struct blocking *b, uint64_t packet_id, const struct session *session))
{
    char error[ERROR_MAX] = "";
    FCGX_Request r;
    config_defaults(&b->config);
    if (!random_init() || config_load(&b->config, getenv("HB_CONFIG"), "hot", error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "%s: %s\n", name, error);
        return 1;
    }
    public_id_key_set(&b->id_key, &b->config.keys.of[KEY_IDS]);
    if (FCGX_Init() != 0 || FCGX_InitRequest(&r, 0, 0) != 0)
        return 1;
    while (FCGX_Accept_r(&r) == 0) {
        request_serve(b, &r, grab);
        FCGX_Finish_r(&r);
    }
    return 0;
}
