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

static const char JSON[] = "application/json";

static struct str param(const FCGX_Request *r, const char *name)
{
    const char *value = FCGX_GetParam(name, r->envp);
    return value == NULL ? STR_NONE : str_from(value);
}

void blocking_answer(FCGX_Request *r, int status, const char *type, struct str body)
{
    (void)FCGX_FPrintF(r->out,
                       "Status: %d\r\nContent-Length: %d\r\nContent-Type: %s\r\n"
                       "Cache-Control: no-store\r\nVary: Accept, Accept-Language, Cookie\r\n\r\n",
                       status, (int)body.len, type);
    (void)FCGX_PutStr(body.ptr, (int)body.len, r->out);
}

void blocking_problem(FCGX_Request *r, int status, const char *name)
{
    char body[BODY_MAX];
    int len = snprintf(body, sizeof body, "{\"type\":\"urn:hongbao:problem:%s\",\"status\":%d}\n", name, status);
    blocking_answer(r, status, JSON, (struct str){ body, (size_t)len });
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
    if (b->config.redis_user[0] == '\0')
        return true;
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

struct blocking_grab blocking_grab_read(const redisReply *reply)
{
    struct blocking_grab out = { .code = LIVE_BAD };
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements == 0)
        return out;
    out.code = (enum live_code)reply->element[0]->integer;
    if (reply->elements >= 4) {
        out.share_no = reply->element[1]->integer;
        out.fen = reply->element[2]->integer;
        out.left_count = reply->element[3]->integer;
    }
    return out;
}

void blocking_answer_grab(FCGX_Request *r, const struct blocking_grab *grab)
{
    char body[BODY_MAX];
    switch (grab->code) {
    case LIVE_GRABBED:
    case LIVE_ALREADY: {
        int len = snprintf(
            body, sizeof body, "{\"result\":\"%s\",\"share_no\":%lld,\"amount_fen\":%lld,\"left_count\":%lld}\n",
            grab->code == LIVE_GRABBED ? "grabbed" : "already", grab->share_no, grab->fen, grab->left_count);
        blocking_answer(r, HTTP_OK, JSON, (struct str){ body, (size_t)len });
        break;
    }
    case LIVE_EMPTY: blocking_problem(r, 410, "empty"); break;
    case LIVE_MISSING: blocking_problem(r, 404, "not-found"); break;
    default: blocking_problem(r, 503, "unknown");
    }
}

/* packet_id: from "/p/ID" and "/p/ID/open"; none for a forged id. */
static enum blocking_action action_of(const struct blocking *b, const FCGX_Request *r, uint64_t *packet_id)
{
    const bool posted = str_equal(param(r, "REQUEST_METHOD"), STR("POST"));
    struct str path = param(r, "REQUEST_URI");
    if (posted && str_equal(path, STR("/send")))
        return BLOCKING_SEND;
    if (!str_skip_prefix(&path, STR("/p/")) || path.len < PUBLIC_ID_LEN ||
        !public_id_decode(&b->id_key, str_slice(path, 0, PUBLIC_ID_LEN), packet_id))
        return BLOCKING_NONE;
    const struct str tail = str_skip(path, PUBLIC_ID_LEN);
    if (posted)
        return str_equal(tail, STR("/open")) ? BLOCKING_OPEN : BLOCKING_NONE;
    return tail.len == 0 ? BLOCKING_VIEW : BLOCKING_NONE;
}

static void request_serve(struct blocking *b, FCGX_Request *r, blocking_handler *const handlers[BLOCKING_NONE])
{
    uint64_t packet_id = 0;
    struct session session;
    const enum blocking_action action = action_of(b, r, &packet_id);
    if (action == BLOCKING_NONE || handlers[action] == NULL) {
        blocking_problem(r, 404, "not-found");
        return;
    }
    if (action != BLOCKING_VIEW &&
        !origin_allows(param(r, "HTTP_SEC_FETCH_SITE"), param(r, "HTTP_ORIGIN"), param(r, "HTTP_HOST"), STR(""))) {
        blocking_problem(r, 403, "cross-origin");
        return;
    }
    if (!redis_ready(b)) {
        blocking_problem(r, 503, "busy");
        return;
    }
    redisReply *visitor = session_find(b, r, &session);
    if (visitor != NULL)
        handlers[action](b, r, packet_id, &session);
    else
        blocking_problem(r, 401, "unauthorized");
    freeReplyObject(visitor);
}

int blocking_serve(struct blocking *b, const char *name, blocking_handler *const handlers[BLOCKING_NONE])
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
        request_serve(b, &r, handlers);
        FCGX_Finish_r(&r);
    }
    return 0;
}
