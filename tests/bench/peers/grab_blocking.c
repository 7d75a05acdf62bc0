/* POST /p/ID/open as FastCGI programs in C are usually written: a process takes one request at a time, reads the
 * session from Redis, waits, calls the grab script, waits, answers. It uses the site's own functions for ids, sessions
 * and keys, so that only the way of serving differs. Run by spawn-fcgi and multiwatch with any number of processes.
 *
 * HB_CONFIG: the configuration of the instance. BENCH_GRAB_HASH: what Redis calls the grab script. */
#include <fcgiapp.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "base/clock.h"
#include "base/config.h"
#include "base/public_id.h"
#include "base/random.h"
#include "base/str.h"
#include "live/keys.h"
#include "live/live.h"
#include "user/session.h"
#include "web/origin.h"

enum { BODY_MAX = 128, ERROR_MAX = 1024, GRAB_KEYS = 5, HTTP_OK = 200 };

struct peer {
    struct config config;
    struct public_id_key id_key;
    const char *grab_hash;
    redisContext *redis; /* kept; NULL after an error */
};

static struct str param(const FCGX_Request *r, const char *name)
{
    const char *value = FCGX_GetParam(name, r->envp);
    return value == NULL ? STR_NONE : str_from(value);
}

static void answer(FCGX_Request *r, int status, struct str body)
{
    (void)FCGX_FPrintF(r->out,
                       "Status: %d\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"
                       "Cache-Control: no-store\r\nVary: Accept, Accept-Language, Cookie\r\n\r\n",
                       status, (int)body.len);
    (void)FCGX_PutStr(body.ptr, (int)body.len, r->out);
}

static bool redis_ready(struct peer *p)
{
    if (p->redis != NULL && p->redis->err == 0)
        return true;
    if (p->redis != NULL)
        redisFree(p->redis);
    p->redis = redisConnectUnix(p->config.redis_socket);
    if (p->redis == NULL || p->redis->err != 0)
        return false;
    const struct timeval limit = { .tv_sec = p->config.redis_timeout_ms / 1000,
                                   .tv_usec = p->config.redis_timeout_ms % 1000 * 1000 };
    if (redisSetTimeout(p->redis, limit) != REDIS_OK)
        return false;
    redisReply *reply = redisCommand(p->redis, "AUTH %s %s", p->config.redis_user, p->config.redis_password);
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
static redisReply *session_find(struct peer *p, const FCGX_Request *r, struct session *out)
{
    char key[SESSION_KEY_MAX];
    struct str token = cookie(r, STR("sid"));
    if (!session_token_valid(token))
        return NULL;
    session_key_write(token, key);
    redisReply *reply = redisCommand(p->redis, "GET %b", key, (size_t)SESSION_KEY_LEN);
    if (reply != NULL && reply->type == REDIS_REPLY_STRING &&
        session_value_read((struct str){ reply->str, (size_t)reply->len }, out) &&
        session_ttl_ms(&p->config, out, clock_now_ms()) > 0)
        return reply;
    freeReplyObject(reply);
    return NULL;
}

static redisReply *grab_call(struct peer *p, uint64_t packet_id, const struct session *session)
{
    struct live_keys keys;
    char packet_text[24], user_text[24];
    live_keys(&keys, packet_id, p->config.partitions);
    int packet_len = snprintf(packet_text, sizeof packet_text, "%llu", (unsigned long long)packet_id);
    int user_len = snprintf(user_text, sizeof user_text, "%llu", (unsigned long long)session->user_id);
    static const enum live_key order[GRAB_KEYS] = { LIVE_KEY_PACKET, LIVE_KEY_SHARES, LIVE_KEY_GRABS, LIVE_KEY_ORDER,
                                                    LIVE_KEY_EVENTS };
    const char *argv[3 + GRAB_KEYS + 3] = { "EVALSHA", p->grab_hash, "5" };
    size_t lengths[3 + GRAB_KEYS + 3] = { strlen("EVALSHA"), strlen(p->grab_hash), 1 };
    int n = 3;
    for (size_t i = 0; i < GRAB_KEYS; i++, n++)
        argv[n] = keys.key[order[i]].ptr, lengths[n] = keys.key[order[i]].len;
    argv[n] = packet_text, lengths[n++] = (size_t)packet_len;
    argv[n] = user_text, lengths[n++] = (size_t)user_len;
    argv[n] = session->nickname.ptr, lengths[n++] = session->nickname.len;
    return redisCommandArgv(p->redis, n, argv, lengths);
}

static void answer_grab(FCGX_Request *r, const redisReply *reply)
{
    char body[BODY_MAX];
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || reply->elements == 0) {
        answer(r, 503, STR("{\"type\":\"urn:hongbao:problem:unknown\",\"status\":503}\n"));
        return;
    }
    long long code = reply->element[0]->integer;
    switch (code) {
    case LIVE_GRABBED:
    case LIVE_ALREADY: {
        int len = snprintf(body, sizeof body, "{\"result\":\"%s\",\"share_no\":%lld,\"amount_fen\":%lld}\n",
                           code == LIVE_GRABBED ? "grabbed" : "already", reply->element[1]->integer,
                           reply->element[2]->integer);
        answer(r, HTTP_OK, (struct str){ body, (size_t)len });
        break;
    }
    case LIVE_EMPTY: answer(r, 410, STR("{\"type\":\"urn:hongbao:problem:empty\",\"status\":410}\n")); break;
    case LIVE_EXPIRED: answer(r, 410, STR("{\"type\":\"urn:hongbao:problem:expired\",\"status\":410}\n")); break;
    case LIVE_NOT_FOR_YOU:
        answer(r, 403, STR("{\"type\":\"urn:hongbao:problem:not-for-you\",\"status\":403}\n"));
        break;
    case LIVE_MISSING: answer(r, 404, STR("{\"type\":\"urn:hongbao:problem:not-found\",\"status\":404}\n")); break;
    default: answer(r, 503, STR("{\"type\":\"urn:hongbao:problem:busy\",\"status\":503}\n"));
    }
}

/* Reads the id of "/p/ID/open"; false: another path, or a forged id. */
static bool path_read(struct peer *p, struct str path, uint64_t *out)
{
    const struct str head = STR("/p/"), tail = STR("/open");
    if (path.len != head.len + PUBLIC_ID_LEN + tail.len || !str_starts(path, head) ||
        !str_equal((struct str){ path.ptr + head.len + PUBLIC_ID_LEN, tail.len }, tail))
        return false;
    return public_id_decode(&p->id_key, (struct str){ path.ptr + head.len, PUBLIC_ID_LEN }, out);
}

static void serve(struct peer *p, FCGX_Request *r)
{
    uint64_t packet_id;
    struct session session;
    if (!str_equal(param(r, "REQUEST_METHOD"), STR("POST")) || !path_read(p, param(r, "REQUEST_URI"), &packet_id)) {
        answer(r, 404, STR("{\"type\":\"urn:hongbao:problem:not-found\",\"status\":404}\n"));
        return;
    }
    if (!origin_allows(param(r, "HTTP_SEC_FETCH_SITE"), param(r, "HTTP_ORIGIN"), param(r, "HTTP_HOST"))) {
        answer(r, 403, STR("{\"type\":\"urn:hongbao:problem:cross-origin\",\"status\":403}\n"));
        return;
    }
    if (!redis_ready(p)) {
        answer(r, 503, STR("{\"type\":\"urn:hongbao:problem:busy\",\"status\":503}\n"));
        return;
    }
    redisReply *visitor = session_find(p, r, &session);
    if (visitor == NULL) {
        answer(r, 401, STR("{\"type\":\"urn:hongbao:problem:unauthorized\",\"status\":401}\n"));
        return;
    }
    redisReply *grab = grab_call(p, packet_id, &session);
    answer_grab(r, grab);
    freeReplyObject(grab);
    freeReplyObject(visitor);
}

int main(void)
{
    static struct peer p;
    char error[ERROR_MAX] = "";
    FCGX_Request r;
    p.grab_hash = getenv("BENCH_GRAB_HASH");
    config_defaults(&p.config);
    if (p.grab_hash == NULL || !random_init() ||
        config_load(&p.config, getenv("HB_CONFIG"), "web", error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "grab_blocking: %s\n", p.grab_hash == NULL ? "BENCH_GRAB_HASH is not set" : error);
        return 1;
    }
    public_id_key_derive(str_from(p.config.secret), &p.id_key);
    if (FCGX_Init() != 0 || FCGX_InitRequest(&r, 0, 0) != 0)
        return 1;
    while (FCGX_Accept_r(&r) == 0) {
        serve(&p, &r);
        FCGX_Finish_r(&r);
    }
    return 0;
}
