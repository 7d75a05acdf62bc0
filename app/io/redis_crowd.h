/* Crowds: script calls that share one command. */
#ifndef HB_IO_REDIS_CROWD_H
#define HB_IO_REDIS_CROWD_H

#include "io/redis.h"

/* Queues a script call that may share its EVALSHA with others. The calls of one round with the same script and the same
 * first key are one command, with the keys and shared arguments of the first call and the own arguments of each, in the
 * order of the calls. The script replies an array with one element per call; the round makes this element the reply of
 * the call. An error, or a lost reply, is the status of each of them. A call without others is a crowd of one. At most
 * REDIS_CROWD_MAX calls are one command. Crowds are sent after the other commands of the round. As redis_queue. */
#define REDIS_CROWD_MAX 64
struct redis_crowd_call {
    struct redis_script *script;
    enum redis_target target;
    const struct str *keys;
    size_t key_count;
    const struct str *shared; /* arguments, equal in all calls with this first key */
    size_t shared_count;
    const struct str *own;
    size_t own_count;
};
void redis_queue_crowd(struct redis *r, struct redis_call *call, const struct redis_crowd_call *q);

#endif
