/* Reads replies of Redis, checking every type and bound. */
#ifndef HB_REDIS_REPLY_H
#define HB_REDIS_REPLY_H

#include <hiredis/hiredis.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Reads a reply; each function checks type and bounds. NULL is allowed. */
bool redis_reply_is_nil(const redisReply *reply);
struct str redis_reply_str(const redisReply *reply);         /* STR_NONE unless string or status */
struct str redis_reply_error(const redisReply *reply);       /* STR_NONE unless an error */
bool redis_reply_is_wrong_type(const redisReply *reply);     /* the key has another type than the command expects */
bool redis_reply_lacks_function(const redisReply *reply);    /* the server has no function of this name */
bool redis_reply_i64(const redisReply *reply, int64_t *out); /* false unless integer or decimal string */
const redisReply *redis_reply_at(const redisReply *reply, size_t index); /* NULL unless an array with that element */

#endif
