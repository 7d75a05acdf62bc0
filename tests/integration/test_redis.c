/* redis/redis with a real Redis, and with a fake server for replies that a real one does not give. */
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "io/metrics.h"
#include "redis/fence.h"
#include "redis/function_load.h"
#include "redis/reply.h"
#include "support/capture_stderr.h"
#include "support/stores_do.h"
#include "support/test_services.h"
#include "support/unix_path.h"
#include "support/wait_until.h"

enum { IDLE_CHECK_MS = 20 }; /* a connection unused for longer is tested before use (redis/connection.c) */

static struct services *app;

static int setup(void **state)
{
    (void)state;
    app = test_services_open();
    return app == NULL;
}

static int teardown(void **state)
{
    (void)state;
    test_services_close(app);
    return 0;
}

/* Runs a command and returns its status. out: the reply as text: a string, a number or an error. */
static enum status run(struct redis *r, char *out, size_t out_size, size_t count, const char *const *words)
{
    struct str args[8];
    for (size_t i = 0; i < count; i++)
        args[i] = str_from(words[i]);
    struct redis_call call;
    enum status st = redis_do(r, &call, args, count);
    int64_t number;
    out[0] = '\0';
    if (redis_reply_i64(call.reply, &number))
        snprintf(out, out_size, "%lld", (long long)number);
    else if (redis_reply_str(call.reply).ptr != NULL)
        snprintf(out, out_size, "%.*s", STR_ARG(redis_reply_str(call.reply)));
    else if (call.reply != NULL && call.reply->type == REDIS_REPLY_ERROR)
        snprintf(out, out_size, "%s", call.reply->str);
    redis_call_free(&call);
    return st;
}
#define RUN_INTO(r, out, ...)                                                                                          \
    run(r, out, sizeof out, sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *),                             \
        (const char *const[]){ __VA_ARGS__ })
#define RUN(r, ...) RUN_INTO(r, reply, __VA_ARGS__)

static char reply[256]; /* to the last RUN */

/* Repeats PING until the client may connect again (one attempt per 100 ms at most). Meanwhile only ST_UNAVAILABLE is
 * allowed. */
static void ping_until_answered(struct redis *r)
{
    enum status st;
    WAIT_UNTIL((st = RUN(r, "PING")) != ST_UNAVAILABLE);
    assert_int_equal(st, ST_OK);
}

/* ---- a fake server ---- */

#define FAKE_CONNECTIONS_MAX 4
#define FAKE_PATIENT_MS      20000 /* the limit of a client's round: the server's thread may be slow */
#define FAKE_DEADLINE_MS     250   /* for a round that misses its deadline */

/* A server with one script per connection. On connection i it replies to INFO, then replies answers[i] to the next
 * command. First character '!': it closes the connection after the rest; '-': it replies this to INFO; '#': it replies
 * the rest, and reads nothing more. */
static struct fake {
    char dir[64];
    struct config config;
    int listen_fd;
    pthread_t thread;
    bool running;
    const char *answers[FAKE_CONNECTIONS_MAX];
    size_t count;
} fake;

static void *fake_run(void *arg)
{
    (void)arg;
    for (size_t i = 0; i < fake.count; i++) {
        int fd = accept(fake.listen_fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        static const char greeting[] = "$17\r\n# Server\nrun_id:1\r\n";
        char bytes[4096];
        ssize_t n = recv(fd, bytes, sizeof bytes, 0);
        const char *answer = fake.answers[i];
        if (n > 0 && answer[0] != '-')
            (void)send(fd, greeting, sizeof greeting - 1, MSG_NOSIGNAL);
        if (answer[0] == '#') {
            if (recv(fd, bytes, sizeof bytes, 0) > 0)
                (void)send(fd, answer + 1, strlen(answer + 1), MSG_NOSIGNAL);
            struct pollfd end = { .fd = fd };
            (void)poll(&end, 1, -1);
            close(fd);
            continue;
        }
        if (n > 0 && answer[0] != '-')
            n = recv(fd, bytes, sizeof bytes, 0);
        bool close_after = answer[0] == '!';
        if (n > 0)
            (void)send(fd, answer + close_after, strlen(answer + close_after), MSG_NOSIGNAL);
        while (!close_after && n > 0 && recv(fd, bytes, sizeof bytes, 0) > 0)
            ;
        close(fd);
    }
    return NULL;
}

static struct redis *fake_start(size_t count, const char *const *answers)
{
    snprintf(fake.dir, sizeof fake.dir, "/tmp/hb-fake-XXXXXX");
    assert_non_null(mkdtemp(fake.dir));
    fake.config = *app->stores.config;
    fake.config.redis_user[0] = '\0';
    fake.config.redis_timeout_ms = FAKE_PATIENT_MS;
    snprintf(fake.config.redis, sizeof fake.config.redis, "unix:%s/s", fake.dir);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    snprintf(address.sun_path, sizeof address.sun_path, "%s/s", fake.dir);
    fake.listen_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fake.listen_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(fake.listen_fd, 8), 0);
    fake.count = count;
    for (size_t i = 0; i < count; i++)
        fake.answers[i] = answers[i];
    fake.running = count > 0;
    if (fake.running)
        assert_int_equal(pthread_create(&fake.thread, NULL, fake_run, NULL), 0);
    struct redis *r = redis_new(&fake.config);
    assert_non_null(r);
    return r;
}
#define FAKE_START(...)                                                                                                \
    fake_start(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *), (const char *const[]){ __VA_ARGS__ })

static void fake_stop(struct redis *r)
{
    redis_free(r);
    shutdown(fake.listen_fd, SHUT_RDWR);
    if (fake.running)
        pthread_join(fake.thread, NULL);
    close(fake.listen_fd);
    unlink(unix_path(fake.config.redis));
    rmdir(fake.dir);
}

/* ---- rounds ---- */

TEST(replies_arrive_in_the_order_of_the_commands)
{
    enum { COUNT = 300 };
    static struct redis_call calls[COUNT];
    static const struct str args[] = { STR("INCR"), STR("test:counter") };
    struct redis *r = app->stores.redis;
    assert_int_equal(RUN(r, "DEL", "test:counter"), ST_OK);
    for (size_t i = 0; i < COUNT; i++) {
        redis_queue(r, &calls[i], args, 2);
        assert_int_equal(calls[i].status, ST_UNKNOWN);
    }
    assert_true(redis_queued(r));
    redis_round(r);
    assert_false(redis_queued(r));
    for (size_t i = 0; i < COUNT; i++) {
        int64_t n = 0;
        assert_true(calls[i].status == ST_OK && redis_reply_i64(calls[i].reply, &n));
        assert_int_equal(n, i + 1);
        redis_call_free(&calls[i]);
    }
}

TEST(a_value_can_hold_every_byte)
{
    char bytes[512];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)i;
    const struct str set[] = { STR("SET"), STR("test:bytes"), { bytes, sizeof bytes } };
    const struct str get[] = { STR("GET"), STR("test:bytes") };
    struct redis_call call;
    assert_int_equal(redis_do(app->stores.redis, &call, set, 3), ST_OK);
    redis_call_free(&call);
    assert_int_equal(redis_do(app->stores.redis, &call, get, 2), ST_OK);
    assert_true(str_equal(redis_reply_str(call.reply), set[2]));
    redis_call_free(&call);
}

TEST(an_error_reply_concerns_its_own_command_only)
{
    struct redis_call calls[3];
    const struct str ping = STR("PING"), wrong = STR("NOSUCHCOMMAND");
    for (size_t i = 0; i < 3; i++)
        redis_queue(app->stores.redis, &calls[i], i == 1 ? &wrong : &ping, 1);
    redis_round(app->stores.redis);
    assert_int_equal(calls[1].reply->type, REDIS_REPLY_ERROR);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(calls[i].status, i == 1 ? ST_INVALID : ST_OK);
        redis_call_free(&calls[i]);
    }
}

TEST(a_command_refused_for_full_memory_is_a_conflict)
{
    assert_int_equal(RUN(app->stores.redis, "CONFIG", "SET", "maxmemory", "1"), ST_OK);
    enum status st = RUN(app->stores.redis, "SET", "test:full", "x");
    (void)redis_number(app->stores.redis, "CONFIG SET maxmemory 2gb");
    assert_int_equal(st, ST_CONFLICT);
    assert_memory_equal(reply, "OOM", 3);
}

TEST(a_round_takes_a_limited_number_of_commands)
{
    struct redis_call *calls = calloc(REDIS_QUEUE_MAX + 1, sizeof *calls);
    const struct str ping[] = { STR("PING") };
    for (size_t i = 0; i <= REDIS_QUEUE_MAX; i++)
        redis_queue(app->stores.redis, &calls[i], ping, 1);
    redis_round(app->stores.redis);
    for (size_t i = 0; i < REDIS_QUEUE_MAX; i++) {
        assert_int_equal(calls[i].status, ST_OK);
        redis_call_free(&calls[i]);
    }
    assert_int_equal(calls[REDIS_QUEUE_MAX].status, ST_NO_MEMORY);
    assert_null(calls[REDIS_QUEUE_MAX].reply);
    free(calls);
}

/* ---- functions ---- */

static const struct redis_include MADE = { STR("made"), STR("local made = 2\n") };

/* Reads a folder with one function and one include. Returns the status. */
static enum status functions_read(const char *name, const char *text, const char *include, struct redis_functions **set,
                                  char error[static 256])
{
    char dir[] = "/tmp/hb-lua-XXXXXX", path[64];
    const char *const names[] = { name, "include/part.lua" }, *const texts[] = { text, include };
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/include", dir);
    assert_int_equal(mkdir(path, 0700), 0);
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fputs(texts[i], f);
        fclose(f);
    }
    *set = NULL;
    error[0] = '\0';
    enum status st = redis_functions_read(dir, &MADE, set, error, 256);
    snprintf(path, sizeof path, "rm -r %s", dir);
    assert_int_equal(system(path), 0);
    return st;
}

/* The set of one function. The caller frees it. */
static struct redis_functions *function_read(const char *name, const char *text)
{
    char error[256];
    struct redis_functions *set;
    assert_int_equal(functions_read(name, text, "", &set, error), ST_OK);
    return set;
}

static int64_t code_of(struct redis_call *call)
{
    int64_t code = -1;
    assert_int_equal(call->status, ST_OK);
    assert_true(redis_reply_i64(redis_reply_at(call->reply, 0), &code));
    redis_call_free(call);
    return code;
}

TEST(a_server_without_the_functions_executes_nothing_until_they_are_loaded)
{
    struct redis *r = app->stores.redis;
    const struct redis_functions *all = app->stores.functions;
    const struct redis_function *busy = redis_function_find(all, "busy"), *view = redis_function_find(all, "view");
    const struct str keys[] = { STR("test:none1"), STR("test:none2"), STR("test:none3"), STR("test:none4") };
    const struct str args[] = { STR(""), STR(""), STR("10") }, ping[] = { STR("PING") };
    struct redis_functions_state found;
    for (int round = 0; round < 2; round++) {
        struct redis_call calls[3];
        if (round == 0)
            assert_int_equal(RUN(r, "FUNCTION", "FLUSH"), ST_OK);
        else
            assert_int_equal(redis_functions_load(r, all), ST_OK);
        assert_int_equal(redis_functions_compare(r, all, 0, &found), ST_OK);
        assert_int_equal(found.missing_count, round == 0 ? redis_functions_count(all) : 0);
        assert_int_equal(found.other_count, 0);
        redis_queue_function(r, &calls[0], busy, REDIS_ANY, keys, 1, NULL, 0);
        redis_queue(r, &calls[1], ping, 1);
        redis_queue_function(r, &calls[2], view, REDIS_ANY, keys, 4, args, 3);
        redis_round(r);
        assert_true(str_equal(redis_reply_str(calls[1].reply), STR("PONG")));
        redis_call_free(&calls[1]);
        for (size_t i = 0; i < 3; i += 2) {
            if (round == 0)
                assert_int_equal(calls[i].status, ST_UNAVAILABLE);
            else
                assert_int_equal(code_of(&calls[i]), 1); /* LIVE_MISSING */
            redis_call_free(&calls[i]);
        }
    }
}

/* Functions of an earlier program are not replaced, and only what is missing is loaded. */
TEST(functions_of_two_programs_stand_side_by_side)
{
    struct redis *r = app->stores.redis;
    struct redis_functions *sets[2] = { NULL, NULL };
    const char *const texts[] = { "#!lua\nreturn {1}\n", "#!lua flags=allow-oom,no-writes\nreturn {2}\n" };
    for (size_t i = 0; i < 2; i++)
        sets[i] = function_read("one-1.lua", texts[i]);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(redis_functions_load(r, sets[i % 2]), ST_OK);
    for (size_t i = 0; i < 4; i++) {
        struct redis_call call;
        const struct str key = STR("test:none");
        (void)redis_do_function(r, &call, redis_function_find(sets[i % 2], "one"), REDIS_ANY, &key, 1, NULL, 0);
        assert_int_equal(code_of(&call), i % 2 + 1);
    }
    for (size_t i = 0; i < 2; i++)
        redis_functions_free(sets[i]);
}

/* Deletes the library, if it exists, and loads another library of this name, which registers the function. */
static void library_plant(struct redis *r, struct str library, struct str function)
{
    char text[512], name[128];
    snprintf(name, sizeof name, "%.*s", STR_ARG(library));
    snprintf(text, sizeof text, "#!lua name=%s\nredis.register_function('%.*s', function() return {77} end)\n", name,
             STR_ARG(function));
    (void)RUN(r, "FUNCTION", "DELETE", name);
    assert_int_equal(RUN(r, "FUNCTION", "LOAD", text), ST_OK);
}

/* Loads the functions again. wanted: the number of functions that the security log must name. */
static void functions_mend(struct redis *r, const struct redis_functions *set, size_t wanted)
{
    char lines[8192];
    size_t told = 0;
    enum status st;
    struct redis_functions_state found;
    CAPTURE(lines, st = redis_functions_load(r, set));
    assert_int_equal(st, ST_OK);
    for (const char *at = lines; (at = strstr(at, "event=function-planted function=hongbao_")) != NULL; at++)
        told++;
    assert_int_equal(told, wanted);
    assert_int_equal(redis_functions_compare(r, set, 0, &found), ST_OK);
    assert_int_equal(found.missing_count + found.other_count, 0);
}

/* The same when a library of another name has the function, and when two libraries have each other's function. */
TEST(another_text_of_a_function_is_told_and_replaced)
{
    struct redis *r = app->stores.redis;
    const struct redis_functions *all = app->stores.functions;
    const struct redis_function *busy = redis_function_find(all, "busy");
    const struct str names[] = { redis_function_name(busy), redis_function_name(redis_function_find(all, "view")) };
    const struct str key = STR("test:none");
    char name[128];
    snprintf(name, sizeof name, "%.*s", STR_ARG(names[0]));
    for (size_t way = 0; way < 3; way++) {
        struct redis_call call;
        struct redis_functions_state found;
        functions_mend(r, all, 0);
        assert_int_equal(RUN(r, "FUNCTION", "DELETE", name), ST_OK);
        if (way == 2) {
            library_plant(r, names[1], names[0]);
            library_plant(r, names[0], names[1]);
        } else {
            library_plant(r, way == 0 ? names[0] : STR("planted"), names[0]);
        }
        assert_int_equal(redis_functions_compare(r, all, 0, &found), ST_OK);
        assert_ints({ found.missing_count, 0 }, { found.other_count, way == 2 ? 2 : 1 });
        functions_mend(r, all, found.other_count);
        (void)redis_do_function(r, &call, busy, REDIS_ANY, &key, 1, NULL, 0);
        assert_int_equal(code_of(&call), 1); /* LIVE_MISSING */
    }
    functions_mend(r, all, 0);
}

TEST(a_function_that_redis_cannot_read_is_told)
{
    struct redis_functions *set = function_read("wrong-1.lua", "#!lua\nreturn }\n");
    assert_int_equal(redis_functions_load(app->stores.redis, set), ST_CORRUPT);
    redis_functions_free(set);
}

TEST(includes_are_resolved_once_and_errors_are_reported)
{
    static const struct {
        const char *name, *text, *include, *error;
    } wrong[] = {
        { "one-2.lua", "#!lua\n-- @include \"other\"\n", "", "include/other.lua" },
        { "one-2.lua", "#!lua\n-- @include \"part\"\n", "-- @include \"part\"\n", "includes itself" },
        { "one-2.lua", "#!lua\n-- @include \"../x\"\n", "", "bad include name" },
        { "one-2.lua", "return 1\n", "", "#!lua" },
        { "one-2.lua", "#!lua name=x\nreturn 1\n", "", "#!lua" },
        { "one.lua", "#!lua\n", "", "NAME-KEYS" },
        { "one-x.lua", "#!lua\n", "", "NAME-KEYS" },
    };
    char error[256];
    struct redis_functions *set;
    EACH (row, wrong) {
        assert_int_equal(functions_read(row->name, row->text, row->include, &set, error), ST_INVALID);
        if (set != NULL || strstr(error, row->error) == NULL)
            fail_msg("%s: %s", row->text, error);
    }
    static const char twice[] = "#!lua\n-- @include \"part\"\n-- @include \"part\"\n-- @include \"made\"\nreturn a\n";
    assert_int_equal(functions_read("one-2.lua", twice, "local a = 1\n", &set, error), ST_OK);
    const struct redis_function *one = redis_function_find(set, "one");
    const char *library = redis_function_library(one).ptr;
    assert_true(str_starts(redis_function_name(one), STR("hongbao_one_")));
    assert_non_null(strstr(library, redis_function_name(one).ptr));
    assert_non_null(strstr(library, "\nlocal a = 1\nlocal made = 2\nredis.register_function{"));
    assert_non_null(strstr(library, "callback=function(KEYS, ARGV)\nreturn a\nend}\n"));
    assert_int_equal(redis_function_key_count(one), 2);
    redis_functions_free(set);
}

/* Loads a function that increments KEYS[1] and returns the count, its key and argument. The caller frees the set. */
static const struct redis_function *count_load(struct redis_functions **set)
{
    *set = function_read("count-1.lua", "#!lua\nreturn {redis.call('INCR', KEYS[1]), KEYS[1], ARGV[1]}\n");
    assert_int_equal(redis_functions_load(app->stores.redis, *set), ST_OK);
    return redis_function_find(*set, "count");
}

/* ---- faults ---- */

TEST(commands_on_a_killed_connection_are_unknown_and_a_later_round_works)
{
    char id[64];
    uint64_t lost = metrics_get(METRIC_REDIS_LOST);
    assert_int_equal(RUN_INTO(app->stores.redis, id, "CLIENT", "ID"), ST_OK);
    struct redis_call kill_call, after;
    const struct str kill_self[] = { STR("CLIENT"), STR("KILL"), STR("ID"), str_from(id), STR("SKIPME"), STR("no") };
    const struct str ping[] = { STR("PING") };
    redis_queue(app->stores.redis, &kill_call, kill_self, 6);
    redis_queue(app->stores.redis, &after, ping, 1);
    redis_round(app->stores.redis);
    assert_ints({ kill_call.status, ST_OK }, { after.status, ST_UNKNOWN });
    assert_null(after.reply);
    redis_call_free(&kill_call);
    assert_int_equal(metrics_get(METRIC_REDIS_LOST), lost + 1);
    ping_until_answered(app->stores.redis);
}

TEST(a_connection_that_died_while_idle_is_replaced_before_a_command_is_sent)
{
    char id[64];
    struct redis *other = redis_new(app->stores.config);
    assert_int_equal(RUN_INTO(other, id, "CLIENT", "ID"), ST_OK);
    assert_int_equal(RUN(app->stores.redis, "CLIENT", "KILL", "ID", id), ST_OK);
    wait_ms(IDLE_CHECK_MS + 1); /* a connection that was used just before is not tested */
    /* Until the client may connect again the status is unavailable, never unknown: nothing was sent. */
    ping_until_answered(other);
    redis_free(other);
}

TEST(without_a_server_commands_are_unavailable)
{
    struct config config = *app->stores.config;
    snprintf(config.redis, sizeof config.redis, "unix:/tmp/hb-no-such-socket");
    struct redis *r = redis_new(&config);
    assert_int_equal(RUN(r, "PING"), ST_UNAVAILABLE);
    assert_int_equal(RUN(r, "PING"), ST_UNAVAILABLE);
    redis_free(r);
}

TEST(after_a_missed_deadline_rounds_fail_at_once_and_late_replies_are_dropped)
{
    struct redis *r = FAKE_START("#+FIRST\r\n", "+SECOND\r\n");
    assert_int_equal(RUN(r, "PING"), ST_OK);
    fake.config.redis_timeout_ms = FAKE_DEADLINE_MS;
    assert_int_equal(RUN(r, "PING"), ST_UNKNOWN);
    fake.config.redis_timeout_ms = FAKE_PATIENT_MS;
    assert_int_equal(RUN(r, "PING"), ST_UNAVAILABLE); /* at once, without waiting for a deadline */
    ping_until_answered(r);
    assert_string_equal(reply, "SECOND");
    fake_stop(r);
}

TEST(a_surplus_reply_never_reaches_a_later_round)
{
    struct redis *r = FAKE_START("+ONE\r\n+SURPLUS\r\n", "+TWO\r\n");
    assert_int_equal(RUN(r, "PING"), ST_OK);
    assert_string_equal(reply, "ONE");
    ping_until_answered(r);
    assert_string_equal(reply, "TWO");
    fake_stop(r);
}

TEST(a_connection_closed_within_a_reply_is_unknown)
{
    EACH_TEXT (answer, "!", "!$10\r\nhal", "!hello\r\n") {
        struct redis *r = FAKE_START(answer);
        assert_int_equal(RUN(r, "GET", "x"), ST_UNKNOWN);
        fake_stop(r);
    }
}

TEST(a_command_that_was_not_written_completely_is_unavailable)
{
    struct redis *r = FAKE_START("#+PONG\r\n");
    assert_int_equal(RUN(r, "PING"), ST_OK);
    fake.config.redis_timeout_ms = FAKE_DEADLINE_MS;
    size_t size = 16 << 20;
    char *bytes = calloc(1, size);
    const struct str ping[] = { STR("PING") };
    const struct str large[] = { STR("SET"), STR("x"), { bytes, size } };
    struct redis_call first, second;
    redis_queue(r, &first, ping, 1);
    redis_queue(r, &second, large, 3);
    redis_round(r);
    assert_ints({ first.status, ST_UNKNOWN }, { second.status, ST_UNAVAILABLE });
    free(bytes);
    fake_stop(r);
}

TEST(commands_to_a_server_with_too_many_clients_are_unavailable)
{
    struct redis *r = FAKE_START("-ERR max number of clients reached\r\n");
    assert_int_equal(RUN(r, "INCR", "x"), ST_UNAVAILABLE);
    fake_stop(r);

    assert_int_equal(RUN(app->stores.redis, "CONFIG", "SET", "maxclients", "1"), ST_OK);
    r = redis_new(app->stores.config);
    enum status st = RUN(r, "PING");
    (void)redis_number(app->stores.redis, "CONFIG SET maxclients 10000");
    assert_int_equal(st, ST_UNAVAILABLE);
    redis_free(r);
}

/* ---- the fence ---- */

static const struct redis_function *fenced; /* function of the running test */

/* Calls the function behind the fence, and expects this status; another command of the round gets its own reply.
 * Returns the number of the connection. */
static uint64_t assert_fenced(struct redis *r, enum status wanted)
{
    const struct str ping = STR("PING"), key = STR("test:fenced"), arg = STR("");
    struct redis_call call, plain;
    redis_queue_function(r, &call, fenced, 0, &key, 1, &arg, 1);
    redis_queue(r, &plain, &ping, 1);
    redis_round(r);
    assert_int_equal(call.status, wanted);
    assert_true(str_equal(redis_reply_str(plain.reply), STR("PONG")));
    redis_call_free(&call);
    redis_call_free(&plain);
    return plain.connection;
}

static void fence_write(const char *text)
{
    assert_int_equal(RUN(app->stores.redis, "SET", "test:fence", text), ST_OK);
}

static struct str test_fence_key(char *out, uint32_t fence)
{
    int len = snprintf(out, REDIS_FENCE_KEY_MAX, fence == 0 ? "test:fence" : "test:fence:%u", fence);
    return (struct str){ out, (size_t)len };
}

TEST(a_fenced_call_is_sent_only_through_an_open_fence)
{
    char id[64], other_number[64], no_number[64], own[64];
    struct redis *r = redis_new(app->stores.config);
    struct redis_functions *set = NULL;
    fenced = count_load(&set);
    assert_int_equal(RUN(app->stores.redis, "DEL", "test:fenced", "test:fence"), ST_OK);
    redis_fences_set(r, test_fence_key, 16);
    assert_int_equal(redis_fence_text(r, 16, id), ST_UNAVAILABLE); /* there is no such fence */
    assert_int_equal(redis_fence_text(r, 0, own), ST_OK);
    assert_int_equal(strlen(own), 43);
    snprintf(other_number, sizeof other_number, "%.40s 8", own);
    snprintf(no_number, sizeof no_number, "%.40s", own);
    const char *const wrong[] = { NULL, "0123456789012345678901234567890123456789 16", other_number, no_number };
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        if (wrong[i] != NULL)
            fence_write(wrong[i]);
        (void)assert_fenced(r, ST_UNAVAILABLE);
        assert_false(redis_fence_is_open(r, 0));
    }
    fence_write(own);
    const uint64_t connection = assert_fenced(r, ST_OK); /* the round reads the fence first */
    assert_ints({ redis_fence_is_open(r, 0), true }, { redis_fences_open(r), 1 });

    /* The fence is open for this connection only. */
    assert_int_equal(RUN_INTO(r, id, "CLIENT", "ID"), ST_OK);
    assert_int_equal(RUN(app->stores.redis, "CLIENT", "KILL", "ID", id), ST_OK);
    wait_ms(130); /* longer than IDLE_CHECK_MS, and 100 ms after the last connect */
    fence_write(other_number);
    assert_true(assert_fenced(r, ST_UNAVAILABLE) > connection);
    fence_write(own);
    (void)assert_fenced(r, ST_OK);
    assert_int_equal(RUN(app->stores.redis, "GET", "test:fenced"), ST_OK);
    assert_string_equal(reply, "2");
    redis_functions_free(set);
    redis_free(r);
}

TEST(after_a_wrong_password_no_command_is_sent)
{
    struct config config = *app->stores.config;
    assert_int_equal(RUN(app->stores.redis, "ACL", "SETUSER", "tester", "on", ">right", "~*", "+@all"), ST_OK);
    assert_int_equal(RUN(app->stores.redis, "DEL", "test:auth"), ST_OK);
    snprintf(config.redis_user, sizeof config.redis_user, "tester");
    snprintf(config.redis_password, sizeof config.redis_password, "wrong");
    struct redis *r = redis_new(&config);
    assert_int_equal(RUN(r, "SET", "test:auth", "1"), ST_UNAVAILABLE);
    redis_free(r);
    assert_int_equal(redis_number(app->stores.redis, "EXISTS test:auth"), 0);

    snprintf(config.redis_password, sizeof config.redis_password, "right");
    r = redis_new(&config);
    assert_int_equal(RUN(r, "ACL", "WHOAMI"), ST_OK);
    assert_string_equal(reply, "tester");
    redis_free(r);
    assert_int_equal(RUN(app->stores.redis, "ACL", "DELUSER", "tester"), ST_OK);
}

TEST(a_reply_of_another_type_is_refused)
{
    redisReply text = { .type = REDIS_REPLY_STRING, .str = (char[]){ "12" }, .len = 2 };
    redisReply word = { .type = REDIS_REPLY_STRING, .str = (char[]){ "1x" }, .len = 2 };
    redisReply nil = { .type = REDIS_REPLY_NIL };
    redisReply *items[] = { &text };
    redisReply list = { .type = REDIS_REPLY_ARRAY, .elements = 1, .element = items };
    const redisReply *const others[] = { &word, &list, NULL };
    int64_t n = 7;
    assert_true(redis_reply_i64(&text, &n));
    assert_int_equal(n, 12);
    EACH (other, others)
        assert_false(redis_reply_i64(*other, &n));
    assert_true(redis_reply_str(&nil).ptr == NULL && redis_reply_str(&list).ptr == NULL);
    assert_ptr_equal(redis_reply_at(&list, 0), &text);
    assert_true(redis_reply_at(&list, 1) == NULL && redis_reply_at(&text, 0) == NULL);
    assert_true(redis_reply_is_nil(&nil) && !redis_reply_is_nil(NULL));
}

TESTS(setup, teardown)
