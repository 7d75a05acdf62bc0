/* Crowds of the Redis client (redis/crowd.c): calls of one function with one key, queued in one round, are one
 * command. */
#include "redis/crowd.h"
#include "redis/function_load.h"
#include "support/stores_do.h"
#include "support/test_services.h"

enum { CALLS_MAX = 200 };

static struct services *app;
static struct redis_functions *set;
static const struct redis_function *function, *columns;

/* A function that counts its calls at KEYS[1] and returns for each caller: the number of the call, ARGV[1], the
 * caller's argument. With the argument "fail" it fails; with "short" it returns one answer too few. */
static const char CROWD[] = "#!lua\n"
                            "local call = redis.call('INCR', KEYS[1])\n"
                            "local answers = {}\n"
                            "for i = 2, #ARGV do\n"
                            "  if ARGV[i] == 'fail' then return redis.error_reply('ERR failed') end\n"
                            "  if ARGV[i] ~= 'short' then answers[#answers + 1] = {call, ARGV[1], ARGV[i]} end\n"
                            "end\n"
                            "return answers\n";

/* A function that returns both arguments of two callers. */
static const char COLUMNS[] = "#!lua\n"
                              "return {{ARGV[1], ARGV[3]}, {ARGV[2], ARGV[4]}}\n";

static bool file_write(const char *dir, const char *name, const char *text)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "w");
    return f != NULL && fputs(text, f) >= 0 && fclose(f) == 0;
}

static int setup(void **state)
{
    char dir[] = "/tmp/hb-lua-XXXXXX", command[64], error[256];
    (void)state;
    app = test_services_open();
    if (app == NULL || mkdtemp(dir) == NULL || !file_write(dir, "crowd-1.lua", CROWD) ||
        !file_write(dir, "columns-1.lua", COLUMNS) ||
        redis_functions_read(dir, NULL, &set, error, sizeof error) != ST_OK)
        return 1;
    snprintf(command, sizeof command, "rm -r %s", dir);
    function = redis_function_find(set, "crowd");
    columns = redis_function_find(set, "columns");
    return system(command) != 0 || function == NULL || columns == NULL ||
           redis_functions_load(app->stores.redis, set) != ST_OK;
}

static int teardown(void **state)
{
    (void)state;
    redis_functions_free(set);
    test_services_close(app);
    return 0;
}

static void queue_at(struct redis *r, struct redis_call *call, const char *key_text, int fence, struct str own)
{
    const struct str key = str_from(key_text), shared = STR("shared");
    redis_queue_crowd(r, call,
                      &(struct redis_crowd_call){ .function = function,
                                                  .fence = fence,
                                                  .keys = &key,
                                                  .key_count = 1,
                                                  .shared = &shared,
                                                  .shared_count = 1,
                                                  .own = &own,
                                                  .own_count = 1 });
}

static void queue(struct redis_call *call, const char *key_text, struct str own)
{
    queue_at(app->stores.redis, call, key_text, REDIS_ANY, own);
}

/* Checks the answer of one caller and frees it. Returns the number of the call. */
static int64_t answer(struct redis_call *call, struct str own)
{
    int64_t number = -1;
    assert_int_equal(call->status, ST_OK);
    assert_true(redis_reply_i64(redis_reply_at(call->reply, 0), &number));
    assert_true(str_equal(redis_reply_str(redis_reply_at(call->reply, 1)), STR("shared")));
    assert_true(str_equal(redis_reply_str(redis_reply_at(call->reply, 2)), own));
    redis_call_free(call);
    return number;
}

TEST(calls_of_one_key_are_one_command_and_each_gets_its_answer)
{
    struct redis_call calls[5], ping;
    const struct str own[] = { STR("a"), STR("b"), STR(""), STR("*1\r\n$4\r\nPING\r\n"), STR("e") };
    (void)redis_number(app->stores.redis, "DEL test:crowd:1 test:crowd:2");
    for (size_t i = 0; i < 5; i++) {
        queue(&calls[i], i == 2 ? "test:crowd:2" : "test:crowd:1", own[i]);
        assert_int_equal(calls[i].status, ST_UNKNOWN);
    }
    redis_queue(app->stores.redis, &ping, &STR("PING"), 1);
    redis_round(app->stores.redis);
    assert_true(str_equal(redis_reply_str(ping.reply), STR("PONG")));
    redis_call_free(&ping);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(answer(&calls[i], own[i]), 1);
    assert_false(redis_queued(app->stores.redis));
    queue(&calls[0], "test:crowd:1", own[0]); /* one command is a whole round */
    redis_round(app->stores.redis);
    assert_int_equal(answer(&calls[0], own[0]), 2);
}

TEST(own_arguments_are_sent_column_by_column)
{
    struct redis_call calls[2];
    const struct str key = STR("test:crowd:1");
    const struct str own[2][2] = { { STR("a1"), STR("a2") }, { STR("b1"), STR("b2") } };
    for (size_t i = 0; i < 2; i++)
        redis_queue_crowd(
            app->stores.redis, &calls[i],
            &(struct redis_crowd_call){
                .function = columns, .fence = REDIS_ANY, .keys = &key, .key_count = 1, .own = own[i], .own_count = 2 });
    redis_round(app->stores.redis);
    for (size_t i = 0; i < 2; i++) {
        assert_true(str_equal(redis_reply_str(redis_reply_at(calls[i].reply, 0)), own[i][0]));
        assert_true(str_equal(redis_reply_str(redis_reply_at(calls[i].reply, 1)), own[i][1]));
        redis_call_free(&calls[i]);
    }
}

TEST(a_large_crowd_is_several_commands)
{
    struct redis_call calls[CALLS_MAX];
    char own[CALLS_MAX][8];
    (void)redis_number(app->stores.redis, "DEL test:crowd:1");
    for (size_t i = 0; i < CALLS_MAX; i++) {
        snprintf(own[i], sizeof own[i], "%zu", i);
        queue(&calls[i], "test:crowd:1", str_from(own[i]));
    }
    redis_round(app->stores.redis);
    for (size_t i = 0; i < CALLS_MAX; i++)
        assert_int_equal(answer(&calls[i], str_from(own[i])), i / REDIS_CROWD_MAX + 1);
}

/* Three callers, the second with another argument: each gets this status and no answer. */
static void assert_unanswered(struct str second, enum status wanted)
{
    struct redis_call calls[3];
    for (size_t i = 0; i < 3; i++)
        queue(&calls[i], "test:crowd:1", i == 1 ? second : STR("x"));
    redis_round(app->stores.redis);
    for (size_t i = 0; i < 3; i++) {
        int64_t number;
        assert_int_equal(calls[i].status, wanted);
        assert_false(redis_reply_i64(redis_reply_at(calls[i].reply, 0), &number));
        redis_call_free(&calls[i]);
    }
}

TEST(an_error_is_the_status_of_each_caller_and_too_few_answers_answer_nobody)
{
    assert_unanswered(STR("fail"), ST_INVALID);
    assert_unanswered(STR("short"), ST_OK);
    (void)redis_number(app->stores.redis, "FUNCTION FLUSH");
    assert_unanswered(STR("x"), ST_UNAVAILABLE);
    assert_int_equal(redis_functions_load(app->stores.redis, set), ST_OK);
}

TEST(behind_a_shut_fence_no_caller_is_sent)
{
    struct redis_call calls[2], plain;
    struct redis *own = redis_new(app->stores.config); /* without keys its fences are shut */
    queue_at(own, &calls[0], "test:crowd:1", 0, STR("x"));
    queue_at(own, &calls[1], "test:crowd:1", REDIS_ANY, STR("x"));
    redis_queue(own, &plain, &STR("PING"), 1);
    redis_round(own);
    assert_int_equal(calls[0].status, ST_UNAVAILABLE);
    assert_null(calls[0].reply);
    (void)answer(&calls[1], STR("x"));
    assert_int_equal(plain.status, ST_OK);
    redis_call_free(&plain);
    queue_at(own, &calls[0], "test:crowd:1", REDIS_ANY, STR("x"));
    redis_free(own); /* with a caller in the queue */
    assert_int_equal(calls[0].status, ST_UNAVAILABLE);
}

TEST(after_a_broken_connection_each_caller_is_unknown)
{
    struct redis_call kill, calls[2];
    struct redis *own = redis_new(app->stores.config);
    char id_text[24];
    snprintf(id_text, sizeof id_text, "%lld", (long long)redis_number(own, "CLIENT ID"));
    const struct str kill_self[] = {
        STR("CLIENT"), STR("KILL"), STR("ID"), str_from(id_text), STR("SKIPME"), STR("no")
    };
    for (size_t i = 0; i < 2; i++)
        queue_at(own, &calls[i], "test:crowd:1", REDIS_ANY, STR("x"));
    redis_queue(own, &kill, kill_self, 6); /* sent before the crowd */
    redis_round(own);
    redis_call_free(&kill);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(calls[i].status, ST_UNKNOWN);
        assert_null(calls[i].reply);
    }
    redis_free(own);
}

TESTS(setup, teardown)
