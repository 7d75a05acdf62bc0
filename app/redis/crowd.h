/* Crowds: calls of a function that share one command. */
#ifndef HB_REDIS_CROWD_H
#define HB_REDIS_CROWD_H

#include "redis/redis.h"

/* Queues a call that may share its FCALL with others. The calls of one round of the same function with the same first
 * key are one command: the keys and shared arguments of the first call, then the first own argument of every call in
 * the order of the calls, then the second of every call, and so on. The function replies an array with one element per
 * call; the round makes this element the reply of the call. An error, or a lost reply, is the status of each of them. A
 * single call is a crowd of one. At most REDIS_CROWD_MAX calls are one command. Crowds are sent after the other
 * commands of the round. As redis_queue. */
#define REDIS_CROWD_MAX     64
#define REDIS_CROWD_OWN_MAX 4
struct redis_crowd_call {
    const struct redis_function *function;
    int fence; /* as in redis_queue_function */
    const struct str *keys;
    size_t key_count;
    const struct str *shared; /* arguments, equal in all calls with this first key */
    size_t shared_count;
    const struct str *own;
    size_t own_count; /* at most REDIS_CROWD_OWN_MAX, the same in all calls of a function */
};
void redis_queue_crowd(struct redis *r, struct redis_call *call, const struct redis_crowd_call *q);

#endif
