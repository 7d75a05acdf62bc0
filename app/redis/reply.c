/* Reading replies with checks of type and bounds. */
#include "redis/reply.h"

bool redis_reply_is_nil(const redisReply *reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_NIL;
}

struct str redis_reply_str(const redisReply *reply)
{
    if (reply == NULL || (reply->type != REDIS_REPLY_STRING && reply->type != REDIS_REPLY_STATUS))
        return STR_NONE;
    return (struct str){ reply->str, (size_t)reply->len };
}

struct str redis_reply_error(const redisReply *reply)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ERROR)
        return STR_NONE;
    return (struct str){ reply->str, (size_t)reply->len };
}

bool redis_reply_is_wrong_type(const redisReply *reply)
{
    return str_starts(redis_reply_error(reply), STR("WRONGTYPE "));
}

bool redis_reply_lacks_function(const redisReply *reply)
{
    return str_equal(redis_reply_error(reply), STR("ERR Function not found"));
}

bool redis_reply_i64(const redisReply *reply, int64_t *out)
{
    if (reply == NULL)
        return false;
    if (reply->type == REDIS_REPLY_INTEGER) {
        *out = reply->integer;
        return true;
    }
    if (reply->type != REDIS_REPLY_STRING)
        return false;
    return str_to_i64(redis_reply_str(reply), out);
}

const redisReply *redis_reply_at(const redisReply *reply, size_t index)
{
    if (reply == NULL || reply->type != REDIS_REPLY_ARRAY || index >= reply->elements)
        return NULL;
    return reply->element[index];
}
