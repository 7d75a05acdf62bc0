/* The peer libfcgi: a process reads the session from Redis, waits, calls the function of the grab, waits, answers.
 * BENCH_GRAB_FUNCTION: the function's name there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "live/keys.h"
#include "peers/blocking.h"

enum { GRAB_KEYS = 5 };

static const char *grab_function;

static redisReply *function_call(struct blocking *b, uint64_t packet_id, const struct session *session)
{
    struct live_keys keys;
    char packet_text[24], user_text[24];
    live_keys(&keys, packet_id, b->config.partitions);
    int packet_len = snprintf(packet_text, sizeof packet_text, "%llu", (unsigned long long)packet_id);
    int user_len = snprintf(user_text, sizeof user_text, "%llu", (unsigned long long)session->user_id);
    static const enum live_key order[GRAB_KEYS] = { LIVE_KEY_PACKET, LIVE_KEY_SHARES, LIVE_KEY_GRABS, LIVE_KEY_ORDER,
                                                    LIVE_KEY_EVENTS };
    const char *argv[3 + GRAB_KEYS + 5] = { "FCALL", grab_function, "5" };
    size_t lengths[3 + GRAB_KEYS + 5] = { strlen("FCALL"), strlen(grab_function), 1 };
    int n = 3;
    for (size_t i = 0; i < GRAB_KEYS; i++, n++)
        argv[n] = keys.key[order[i]].ptr, lengths[n] = keys.key[order[i]].len;
    argv[n] = packet_text, lengths[n++] = (size_t)packet_len;
    argv[n] = user_text, lengths[n++] = (size_t)user_len;
    argv[n] = session->nickname.ptr, lengths[n++] = session->nickname.len;
    argv[n] = "", lengths[n++] = 0; /* no passphrase, */
    argv[n] = "", lengths[n++] = 0; /* empty: no address of the visitor for the passphrase */
    return redisCommandArgv(b->redis, n, argv, lengths);
}

static void grab(struct blocking *b, FCGX_Request *r, uint64_t packet_id, const struct session *session)
{
    redisReply *reply = function_call(b, packet_id, session);
    /* The function answers a list, with one answer here. */
    const bool answered = reply != NULL && reply->type == REDIS_REPLY_ARRAY && reply->elements == 1;
    const struct blocking_grab got = blocking_grab_read(answered ? reply->element[0] : NULL);
    blocking_answer_grab(r, &got);
    freeReplyObject(reply);
}

int main(void)
{
    static struct blocking b;
    grab_function = getenv("BENCH_GRAB_FUNCTION");
    if (grab_function == NULL) {
        (void)fputs("grab_blocking: BENCH_GRAB_FUNCTION is not set\n", stderr);
        return 1;
    }
    return blocking_serve(&b, "grab_blocking", (blocking_handler *[BLOCKING_NONE]){ [BLOCKING_OPEN] = grab });
}
