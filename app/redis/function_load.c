#include "redis/function_load.h"

#include "base/log.h"
#include "base/security_event.h"
#include "redis/cluster.h"
#include "redis/reply.h"

/* Reads all libraries that a primary has, with their texts: a name proves nothing. */
static enum status list_read(struct redis *r, size_t primary, struct redis_call *call)
{
    const struct str list[] = { STR("FUNCTION"), STR("LIST"), STR("WITHCODE") };
    enum status st = redis_do_at(r, call, primary, list, 3);
    return st == ST_OK && call->reply->type != REDIS_REPLY_ARRAY ? ST_CORRUPT : st;
}

/* fields: names, each followed by its value. NULL: no such name. */
static const redisReply *field(const redisReply *fields, const char *name)
{
    const redisReply *at;
    for (size_t i = 0; (at = redis_reply_at(fields, i)) != NULL; i += 2)
        if (str_equal(redis_reply_str(at), str_from(name)))
            return redis_reply_at(fields, i + 1);
    return NULL;
}

static struct str library_name(const redisReply *library)
{
    return redis_reply_str(field(library, "library_name"));
}

static const redisReply *library_find(const redisReply *list, struct str name)
{
    const redisReply *library;
    for (size_t i = 0; (library = redis_reply_at(list, i)) != NULL; i++)
        if (str_equal(library_name(library), name))
            return library;
    return NULL;
}

static bool library_registers(const redisReply *library, struct str name)
{
    const redisReply *functions = field(library, "functions"), *function;
    for (size_t i = 0; (function = redis_reply_at(functions, i)) != NULL; i++)
        if (str_equal(redis_reply_str(field(function, "name")), name))
            return true;
    return false;
}

/* Finds a library of another name that has registered this function: one function name can be in one library only. */
static const redisReply *stranger_find(const redisReply *list, struct str name)
{
    const redisReply *library;
    for (size_t i = 0; (library = redis_reply_at(list, i)) != NULL; i++)
        if (!str_equal(library_name(library), name) && library_registers(library, name))
            return library;
    return NULL;
}

/* Redis returns the text as it was sent. */
static bool list_has(const redisReply *list, const struct redis_function *f)
{
    const redisReply *library = library_find(list, redis_function_name(f));
    return library != NULL && str_equal(redis_reply_str(field(library, "library_code")), redis_function_library(f));
}

/* The functions that a primary lacks, or has with another text. */
static void list_compare(const redisReply *list, const struct redis_functions *set, struct redis_functions_state *out)
{
    for (size_t i = 0; i < redis_functions_count(set); i++) {
        const struct redis_function *f = redis_functions_at(set, i);
        const struct str name = redis_function_name(f);
        if (list_has(list, f))
            continue;
        if (library_find(list, name) != NULL || stranger_find(list, name) != NULL)
            out->others[out->other_count++] = f;
        else
            out->missing[out->missing_count++] = f;
    }
}

static bool is_there_already(const struct redis_call *call)
{
    struct str error = redis_reply_error(call->reply);
    return str_starts(error, STR("ERR Library ")) && str_ends(error, STR(" already exists"));
}

/* Another worker may load the same functions meanwhile. */
static enum status load_result(const struct redis_call *call, const struct redis_function *function)
{
    char quoted[LOG_LINE_MAX / 2];
    if (call->status != ST_INVALID || is_there_already(call))
        return call->status == ST_INVALID ? ST_OK : call->status;
    log_error("redis refuses a function", "function=%.*s error=%s", STR_ARG(redis_function_name(function)),
              log_quote(redis_reply_error(call->reply), quoted, sizeof quoted));
    return ST_CORRUPT;
}

/* Deletes such a library: Redis would refuse the function. If this fails, loading reports it. */
static void stranger_delete(struct redis *r, size_t primary, const redisReply *list, const struct redis_function *f)
{
    const redisReply *stranger = stranger_find(list, redis_function_name(f));
    const struct str delete[] = { STR("FUNCTION"), STR("DELETE"), library_name(stranger) };
    struct redis_call call;
    if (stranger == NULL)
        return;
    (void)redis_do_at(r, &call, primary, delete, 3);
    redis_call_free(&call);
}

/* Replaces a text only if it was found to differ, and was logged. */
static void load_queue(struct redis *r, struct redis_call *call, size_t primary, const struct redis_function *f,
                       bool replace)
{
    const struct str load[] = { STR("FUNCTION"), STR("LOAD"), redis_function_library(f) };
    const struct str again[] = { STR("FUNCTION"), STR("LOAD"), STR("REPLACE"), redis_function_library(f) };
    redis_queue_at(r, call, primary, replace ? again : load, replace ? 4 : 3);
}

static enum status functions_load(struct redis *r, const struct redis_function *const *functions, size_t count,
                                  size_t primary, bool replace)
{
    struct redis_call calls[REDIS_FUNCTIONS_MAX];
    enum status failed = ST_OK;
    for (size_t i = 0; i < count; i++)
        load_queue(r, &calls[i], primary, functions[i], replace);
    redis_round(r);
    for (size_t i = 0; i < count; i++) {
        enum status st = load_result(&calls[i], functions[i]);
        if (failed == ST_OK)
            failed = st;
        redis_call_free(&calls[i]);
    }
    if (count > 0 && failed == ST_OK)
        log_info("functions loaded", "count=%zu", count);
    return failed;
}

/* Loads the functions that the list lacks. */
static enum status list_mend(struct redis *r, const struct redis_functions *set, size_t primary, const redisReply *list)
{
    struct redis_functions_state state = { 0 };
    list_compare(list, set, &state);
    for (size_t i = 0; i < state.other_count; i++) {
        security_event_log(SECURITY_FUNCTION_PLANTED, "function=%.*s", STR_ARG(redis_function_name(state.others[i])));
        stranger_delete(r, primary, list, state.others[i]);
    }
    enum status others = functions_load(r, state.others, state.other_count, primary, true);
    enum status missing = functions_load(r, state.missing, state.missing_count, primary, false);
    return others != ST_OK ? others : missing;
}

enum status redis_functions_load(struct redis *r, const struct redis_functions *set)
{
    const size_t primaries = redis_primaries(r);
    enum status failed = primaries == 0 ? ST_UNAVAILABLE : ST_OK;
    for (size_t i = 0; i < primaries; i++) {
        struct redis_call list;
        enum status st = list_read(r, i, &list);
        if (st == ST_OK)
            st = list_mend(r, set, i, list.reply);
        if (failed == ST_OK)
            failed = st;
        redis_call_free(&list);
    }
    return failed;
}

enum status redis_functions_compare(struct redis *r, const struct redis_functions *set, size_t primary,
                                    struct redis_functions_state *out)
{
    struct redis_call list;
    enum status st = list_read(r, primary, &list);
    *out = (struct redis_functions_state){ 0 };
    if (st == ST_OK)
        list_compare(list.reply, set, out);
    redis_call_free(&list);
    return st;
}
