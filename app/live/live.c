#include "live/live.h"

#include "base/array.h"
#include "base/log.h"
#include "live/live_internal.h"
#include "live/options_internal.h"
#include "packet/packet.h"
#include "redis/reply.h"

enum status live_functions_read(const char *dir, struct redis_functions **out, char *error, size_t error_size)
{
    const struct redis_include options = { STR("options"), live_options_include() };
    return redis_functions_read(dir, &options, out, error, error_size);
}

enum status live_init(struct live *live, struct redis *redis, struct redis_functions *functions,
                      const struct config *config, const char **missing)
{
    *live = (struct live){ .redis = redis,
                           .load = redis_function_find(functions, "load"),
                           .grab = redis_function_find(functions, "grab"),
                           .close = redis_function_find(functions, "close"),
                           .view = redis_function_find(functions, "view"),
                           .busy = redis_function_find(functions, "busy"),
                           .tombstone = redis_function_find(functions, "tombstone"),
                           .anchor = redis_function_find(functions, "anchor"),
                           .fence = redis_function_find(functions, "fence"),
                           .site = redis_function_find(functions, "site"),
                           .hold = redis_function_find(functions, "hold"),
                           .thanks = redis_function_find(functions, "thanks"),
                           .give_back = redis_function_find(functions, "return"),
                           .erase = redis_function_find(functions, "erase"),
                           .partitions = config->partitions };
    const struct {
        const struct redis_function *function;
        uint32_t keys;
        const char *file;
    } wanted[] = {
        { live->load, 4, "load-4.lua" },     { live->grab, 5, "grab-5.lua" },
        { live->close, 3, "close-3.lua" },   { live->view, 4, "view-4.lua" },
        { live->busy, 1, "busy-1.lua" },     { live->tombstone, 4, "tombstone-4.lua" },
        { live->anchor, 1, "anchor-1.lua" }, { live->fence, 1, "fence-1.lua" },
        { live->site, 1, "site-1.lua" },     { live->hold, 1, "hold-1.lua" },
        { live->thanks, 1, "thanks-1.lua" }, { live->give_back, 2, "return-2.lua" },
        { live->erase, 3, "erase-3.lua" },
    };
    for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
        *missing = wanted[i].file;
        if (wanted[i].function == NULL || redis_function_key_count(wanted[i].function) != wanted[i].keys)
            return ST_INVALID;
    }
    return ST_OK;
}

enum status live_reply_corrupt(const char *function)
{
    log_error("function reply malformed", "function=%s", function);
    return ST_CORRUPT;
}

enum status live_code_read(const struct redis_call *call, const char *function, enum live_code *out)
{
    if (call->status == ST_INVALID) {
        char quoted[LOG_LINE_MAX / 2];
        log_error("function failed", "function=%s error=%s", function,
                  log_quote(redis_reply_error(call->reply), quoted, sizeof quoted));
        return ST_CORRUPT;
    }
    if (call->status != ST_OK)
        return call->status;
    int64_t code;
    if (!redis_reply_i64(redis_reply_at(call->reply, 0), &code) || code <= LIVE_BAD || code > LIVE_TRIED_OUT)
        return live_reply_corrupt(function);
    *out = (enum live_code)code;
    return ST_OK;
}

bool live_reply_u32(const redisReply *array, size_t at, uint32_t *out)
{
    int64_t n;
    if (!redis_reply_i64(redis_reply_at(array, at), &n) || n < 0 || n >= PACKET_NO_SHARE)
        return false;
    *out = (uint32_t)n;
    return true;
}

enum status live_key_set(const struct live *live, const struct redis_function *function, const char *name,
                         struct str key, struct str arg, enum live_code *code)
{
    struct redis_call call;
    (void)redis_do_function(live->redis, &call, function, REDIS_CONFIRMED, &key, 1, &arg, 1);
    enum status st = live_code_read(&call, name, code);
    redis_call_free(&call);
    return st;
}
