/* redis/ with a real Redis Cluster: routes, slots that move, a primary that dies, replicas that do not confirm. */
#include <signal.h>
#include <sys/wait.h>

#include "redis/cluster.h"
#include "redis/fence.h"
#include "redis/function_load.h"
#include "redis/reply.h"
#include "redis/slot.h"
#include "support/capture_stderr.h"
#include "support/cluster_servers.h"
#include "support/wait_until.h"

enum { FENCES = 16, KEYS = 2000, RESHARD_SLOTS = 1500 };

static struct cluster_servers servers;
static struct config config;
static struct redis *r;
static struct redis_functions *functions;
static const struct redis_function *counter;

static struct str fence_key(char *out, uint32_t fence)
{
    return (struct str){ out, (size_t)snprintf(out, REDIS_FENCE_KEY_MAX, "t:{p%02u}:fence", fence) };
}

static void function_make(void)
{
    char dir[] = "/tmp/hb-lua-XXXXXX", command[128], error[256];
    assert_non_null(mkdtemp(dir));
    snprintf(command, sizeof command, "printf '#!lua\\nreturn {redis.call(\"INCR\", KEYS[1])}\\n' > %s/count-1.lua",
             dir);
    assert_int_equal(system(command), 0);
    assert_int_equal(redis_functions_read(dir, NULL, &functions, error, sizeof error), ST_OK);
    snprintf(command, sizeof command, "rm -r %s", dir);
    assert_int_equal(system(command), 0);
    counter = redis_function_find(functions, "count");
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    config_defaults(&config);
    config.redis_timeout_ms = 2000;
    config.redis_replicas_timeout_ms = 1000;
    if (!cluster_servers_start(&servers))
        return 1;
    cluster_servers_setting(&servers, config.redis, sizeof config.redis);
    r = redis_new(&config);
    function_make();
    redis_fences_set(r, fence_key, FENCES);
    return r == NULL;
}

static int teardown(void **state)
{
    (void)state;
    redis_free(r);
    redis_functions_free(functions);
    cluster_servers_stop(&servers);
    return 0;
}

/* ---- helpers ---- */

static enum status run(int64_t *number, const char *command, const char *key, const char *value)
{
    struct redis_call call;
    const struct str args[] = { str_from(command), str_from(key), str_from(value == NULL ? "" : value) };
    enum status st = redis_do(r, &call, args, value == NULL ? 2 : 3);
    if (number != NULL && !redis_reply_i64(call.reply, number))
        *number = -1;
    redis_call_free(&call);
    return st;
}

/* Opens every fence whose server answers. */
static void fences_open(void)
{
    char key[REDIS_FENCE_KEY_MAX], text[REDIS_FENCE_TEXT_MAX];
    for (uint32_t i = 0; i < FENCES; i++)
        if (redis_fence_text(r, i, text) == ST_OK)
            (void)run(NULL, "SET", fence_key(key, i).ptr, text);
}

static void counter_key(char out[64], uint32_t fence)
{
    snprintf(out, 64, "t:{p%02u}:counter", fence);
}

/* Makes one fenced call for each fence, in one round. statuses: the results. */
static void fenced_all(enum status statuses[FENCES])
{
    struct redis_call calls[FENCES];
    for (uint32_t i = 0; i < FENCES; i++) {
        char text[64];
        counter_key(text, i);
        const struct str key = str_from(text);
        redis_queue_function(r, &calls[i], counter, (int)i, &key, 1, NULL, 0);
    }
    redis_round(r);
    for (uint32_t i = 0; i < FENCES; i++) {
        statuses[i] = calls[i].status;
        redis_call_free(&calls[i]);
    }
}

/* Opens the fences, as the settle worker does, and calls the function through each. */
static bool all_ok(void)
{
    enum status statuses[FENCES];
    (void)redis_functions_load(r, functions);
    fences_open();
    fenced_all(statuses);
    for (size_t i = 0; i < FENCES; i++)
        if (statuses[i] != ST_OK)
            return false;
    return true;
}

/* Counts the calls that succeeded. */
static void count_ok(const enum status statuses[FENCES], int64_t counts[FENCES])
{
    for (size_t i = 0; i < FENCES; i++)
        counts[i] += statuses[i] == ST_OK;
}

/* Increments every key, in one round. */
static void increment_all(struct redis_call calls[KEYS])
{
    for (size_t i = 0; i < KEYS; i++) {
        char text[32];
        snprintf(text, sizeof text, "key:%zu", i);
        const struct str incr[] = { STR("INCR"), str_from(text) };
        redis_queue(r, &calls[i], incr, 2);
    }
    redis_round(r);
}

/* ---- tests ---- */

TEST(slots_are_those_of_the_server)
{
    static const char *const keys[] = { "foo", "hb:{p07}:events", "hb:{p07}:packet:1", "{}x",   "a{}b",
                                        "a{b", "a}b{c}d",         "hb:session:abc",    "{{x}}", "123456789" };
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        char words[64], out[64];
        snprintf(words, sizeof words, "CLUSTER KEYSLOT '%s'", keys[i]);
        assert_int_equal(cluster_servers_cli(&servers, 0, words, out, sizeof out), 0);
        assert_int_equal(redis_slot(str_from(keys[i])), atoi(out));
    }
}

/* The filter of system calls allows Unix sockets only. */
TEST(a_cluster_that_is_named_by_a_socket_is_told_in_the_log)
{
    char log[4096];
    struct config by[2] = { config, config };
    snprintf(by[1].redis, sizeof by[1].redis, "unix:%s/%d.sock", servers.dir, servers.ports[0]);
    for (size_t i = 0; i < 2; i++) {
        by[i].sandbox = true;
        CAPTURE(log, {
            struct redis *one = redis_new(&by[i]);
            assert_int_equal(redis_ping(one), ST_OK);
            redis_free(one);
        });
        assert_non_null(strstr(log, "redis is a cluster"));
        assert_int_equal(strstr(log, "refuses connections to the cluster") != NULL, i == 1);
    }
}

TEST(every_key_finds_its_server_in_one_round)
{
    static struct redis_call calls[KEYS + 1];
    redis_queue(r, &calls[KEYS], &STR("PING"), 1); /* any server */
    increment_all(calls);
    uint64_t connections[4] = { 0 };
    size_t count = 0;
    for (size_t i = 0; i <= KEYS; i++) {
        int64_t n;
        assert_int_equal(calls[i].status, ST_OK);
        if (i < KEYS) {
            assert_true(redis_reply_i64(calls[i].reply, &n));
            assert_int_equal(n, 1);
        }
        size_t k = 0;
        while (k < count && connections[k] != calls[i].connection)
            k++;
        if (k == count && count < ARRAY_LEN(connections))
            connections[count++] = calls[i].connection;
        redis_call_free(&calls[i]);
    }
    assert_int_equal(count, CLUSTER_PRIMARIES);
    assert_int_equal(redis_primaries(r), CLUSTER_PRIMARIES);
}

TEST(each_primary_can_be_asked)
{
    int64_t sum = 0;
    for (size_t i = 0; i < CLUSTER_PRIMARIES; i++) {
        struct redis_call call;
        int64_t n;
        assert_int_equal(redis_do_at(r, &call, i, &STR("DBSIZE"), 1), ST_OK);
        assert_true(redis_reply_i64(call.reply, &n) && n > 0);
        sum += n;
        redis_call_free(&call);
    }
    assert_true(sum >= KEYS);
    struct redis_call none;
    assert_int_equal(redis_do_at(r, &none, CLUSTER_PRIMARIES, &STR("DBSIZE"), 1), ST_UNAVAILABLE);
    redis_call_free(&none);
}

TEST(another_text_of_a_function_is_found_in_each_primary)
{
    char text[512];
    const struct str name = redis_function_name(counter);
    snprintf(text, sizeof text, "#!lua name=%.*s\nredis.register_function('%.*s', function() return {77} end)\n",
             STR_ARG(name), STR_ARG(name));
    const struct str load[] = { STR("FUNCTION"), STR("LOAD"), STR("REPLACE"), str_from(text) };
    assert_int_equal(redis_functions_load(r, functions), ST_OK);
    for (size_t planted = 0; planted < CLUSTER_PRIMARIES; planted++) {
        struct redis_call call;
        struct redis_functions_state found;
        assert_int_equal(redis_do_at(r, &call, planted, load, 4), ST_OK);
        redis_call_free(&call);
        for (size_t i = 0; i < CLUSTER_PRIMARIES; i++) {
            assert_int_equal(redis_functions_compare(r, functions, i, &found), ST_OK);
            assert_int_equal(found.other_count, i == planted ? 1 : 0);
        }
        assert_int_equal(redis_functions_load(r, functions), ST_OK);
        assert_int_equal(redis_functions_compare(r, functions, planted, &found), ST_OK);
        assert_int_equal(found.missing_count + found.other_count, 0);
    }
}

TEST(each_partition_has_a_fence_of_its_own)
{
    enum status statuses[FENCES];
    char key[REDIS_FENCE_KEY_MAX];
    fenced_all(statuses);
    for (size_t i = 0; i < FENCES; i++)
        assert_int_equal(statuses[i], ST_UNAVAILABLE);
    assert_int_equal(redis_functions_load(r, functions), ST_OK);
    fences_open();
    assert_int_equal(run(NULL, "SET", fence_key(key, 3).ptr, "0123456789012345678901234567890123456789 16"), ST_OK);
    fenced_all(statuses);
    for (size_t i = 0; i < FENCES; i++)
        assert_int_equal(statuses[i], i == 3 ? ST_UNAVAILABLE : ST_OK);
    assert_int_equal(redis_fences_open(r), FENCES - 1);
    fences_open();
    fenced_all(statuses);
    assert_int_equal(statuses[3], ST_OK);
}

/* Slots move from the first primary to the second while counters are incremented: no increment counts twice, and none
 * is lost. */
TEST(slots_that_move_under_load_lose_nothing)
{
    static int64_t expected[KEYS];
    char words[256], out[256], to[64], from[64];
    assert_int_equal(cluster_servers_cli(&servers, 0, "CLUSTER MYID", from, sizeof from), 0);
    assert_int_equal(cluster_servers_cli(&servers, 1, "CLUSTER MYID", to, sizeof to), 0);
    snprintf(words, sizeof words,
             "--cluster-yes --cluster reshard 127.0.0.1:%d --cluster-from %.40s --cluster-to %.40s"
             " --cluster-slots %d > /dev/null",
             servers.ports[0], from, to, RESHARD_SLOTS);
    for (size_t i = 0; i < KEYS; i++)
        expected[i] = 1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(cluster_servers_cli(&servers, 0, words, out, sizeof out) == 0 ? 0 : 1);
    int status = 0;
    size_t rounds = 0, failed = 0;
    for (bool done = false; !done; rounds++) {
        static struct redis_call calls[KEYS];
        done = waitpid(pid, &status, WNOHANG) == pid;
        increment_all(calls);
        for (size_t i = 0; i < KEYS; i++) {
            int64_t n;
            if (calls[i].status == ST_OK && redis_reply_i64(calls[i].reply, &n))
                assert_int_equal(n, ++expected[i]);
            else
                failed += calls[i].status != ST_UNAVAILABLE; /* not executed */
            redis_call_free(&calls[i]);
        }
    }
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(failed, 0);
    assert_true(rounds > 1);
    WAIT_UNTIL(all_ok());
}

static void setslot(int server, const char *key, const char *how, int other)
{
    char words[128], id[64] = "";
    if (other >= 0)
        assert_int_equal(cluster_servers_cli(&servers, other, "CLUSTER MYID", id, sizeof id), 0);
    snprintf(words, sizeof words, "CLUSTER SETSLOT %u %s %.40s", redis_slot(str_from(key)), how, id);
    assert_int_equal(cluster_servers_cli(&servers, server, words, NULL, 0), 0);
}

/* Begins to move a slot. */
static void slot_half_move(const char *key, int from, int to)
{
    setslot(to, key, "IMPORTING", from);
    setslot(from, key, "MIGRATING", to);
}

TEST(a_function_follows_a_slot_that_is_being_moved)
{
    struct redis_call call;
    const struct str key = STR("t:{moving}:counter");
    const int from = cluster_servers_of(&servers, key.ptr, false), to = from == 0 ? 1 : 0;
    int64_t n = 0;
    assert_int_equal(redis_functions_load(r, functions), ST_OK);
    slot_half_move(key.ptr, from, to);
    for (int64_t wanted = 1; wanted <= 2; wanted++) {
        assert_int_equal(redis_do_function(r, &call, counter, REDIS_ANY, &key, 1, NULL, 0), ST_OK);
        assert_true(redis_reply_i64(redis_reply_at(call.reply, 0), &n));
        assert_int_equal(n, wanted);
        redis_call_free(&call);
    }

    setslot(to, key.ptr, "NODE", to);
    setslot(from, key.ptr, "NODE", to);
    WAIT_UNTIL(all_ok());
}

static enum status read_confirmed(const char *key)
{
    struct redis_call call;
    const struct str get[] = { STR("GET"), str_from(key) };
    redis_queue_confirmed(r, &call, get, 2);
    redis_round(r);
    redis_call_free(&call);
    return call.status;
}

/* A reshard was aborted: for the slot of a partition, or for the slot of the key that is written before WAIT. */
TEST(while_a_slot_is_half_moved_the_server_confirms)
{
    char partition[64], mark[64];
    counter_key(partition, 0);
    WAIT_UNTIL(all_ok());
    const int from = cluster_servers_of(&servers, partition, false), to = from == 0 ? 1 : 0;
    int tag = 0;
    do
        snprintf(mark, sizeof mark, "hb:wait:{%d}", tag++);
    while (cluster_servers_of(&servers, mark, false) != from);
    (void)run(NULL, "DEL", mark, NULL);
    const char *const slots[] = { partition, mark };
    for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
        slot_half_move(slots[i], from, to);
        for (uint32_t fence = 0; fence < FENCES; fence++) {
            char key[64];
            counter_key(key, fence);
            assert_int_equal(read_confirmed(key), ST_OK);
        }
        setslot(from, slots[i], "STABLE", -1);
        setslot(to, slots[i], "STABLE", -1);
    }
    WAIT_UNTIL(all_ok());
}

TEST(writes_that_no_replica_confirms_are_unknown)
{
    char key[64];
    enum status statuses[FENCES];
    counter_key(key, 0);
    WAIT_UNTIL(all_ok());
    int primary = cluster_servers_of(&servers, key, false), replica = cluster_servers_of(&servers, key, true);
    assert_true(primary >= 0 && replica >= 0);
    assert_int_equal(kill(servers.pids[replica], SIGSTOP), 0);
    fenced_all(statuses);
    enum status read = read_confirmed(key);
    enum status plain = run(NULL, "GET", key, NULL);
    assert_int_equal(kill(servers.pids[replica], SIGCONT), 0);
    assert_ints({ statuses[0], ST_UNKNOWN }, { read, ST_UNKNOWN }, { plain, ST_OK });
    size_t ok = 0;
    for (size_t i = 0; i < FENCES; i++) {
        char other[64];
        counter_key(other, (uint32_t)i);
        bool same = cluster_servers_of(&servers, other, false) == primary;
        assert_int_equal(statuses[i], same ? ST_UNKNOWN : ST_OK);
        ok += !same;
    }
    assert_true(ok > 0);
    WAIT_UNTIL(all_ok());
}

TEST(a_primary_that_dies_takes_only_its_partitions_and_loses_nothing_confirmed)
{
    char key[64];
    int64_t confirmed[FENCES] = { 0 }, n;
    enum status statuses[FENCES];
    int owner[FENCES];
    WAIT_UNTIL(all_ok());
    for (uint32_t i = 0; i < FENCES; i++) {
        counter_key(key, i);
        assert_int_equal(run(&n, "GET", key, NULL), ST_OK);
        confirmed[i] = n;
        owner[i] = cluster_servers_of(&servers, key, false);
    }
    for (int round = 0; round < 200; round++) {
        fenced_all(statuses);
        count_ok(statuses, confirmed);
    }
    cluster_servers_kill(&servers, owner[0]);
    fenced_all(statuses); /* notices it */
    count_ok(statuses, confirmed);
    fenced_all(statuses);
    count_ok(statuses, confirmed);
    for (size_t i = 0; i < FENCES; i++)
        assert_int_equal(statuses[i], owner[i] == owner[0] ? ST_UNAVAILABLE : ST_OK);
    /* The promoted replica has the fence of the dead primary, which does not open for it. */
    counter_key(key, 0);
    WAIT_UNTIL(run(NULL, "GET", key, NULL) == ST_OK);
    fenced_all(statuses);
    assert_int_equal(statuses[0], ST_UNAVAILABLE);
    count_ok(statuses, confirmed);
    for (uint32_t i = 0; i < FENCES; i++) {
        counter_key(key, i);
        assert_int_equal(run(&n, "GET", key, NULL), ST_OK);
        assert_true(n >= confirmed[i]);
    }
}

/* A round has a command for a server that works, then one for a server that is gone. The map may be outdated; while the
 * client requests it, the first server stops answering, too. */
TEST(servers_that_fall_silent_within_a_round_end_it_only)
{
    char gone_key[64], silent_key[64] = "";
    /* a primary has lost its replica in an earlier test */
    snprintf(config.redis_replicas, sizeof config.redis_replicas, "0");
    redis_free(r);
    r = redis_new(&config);
    assert_non_null(r);
    redis_fences_set(r, fence_key, FENCES);
    WAIT_UNTIL(all_ok());
    counter_key(gone_key, 0);
    int gone = cluster_servers_of(&servers, gone_key, false), silent = -1;
    for (uint32_t i = 1; i < FENCES && (silent < 0 || silent == gone); i++) {
        counter_key(silent_key, i);
        silent = cluster_servers_of(&servers, silent_key, false);
    }
    assert_true(gone >= 0 && silent >= 0 && silent != gone);
    assert_int_equal(run(NULL, "GET", silent_key, NULL), ST_OK);
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        if (i != gone && servers.pids[i] > 0)
            (void)kill(servers.pids[i], SIGSTOP);
    cluster_servers_kill(&servers, gone);
    wait_ms(100); /* an idle connection is looked at */
    struct redis_call calls[3];
    const char *const keys[] = { silent_key, gone_key, silent_key };
    for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
        const struct str get[] = { STR("GET"), str_from(keys[i]) };
        redis_queue(r, &calls[i], get, 2);
    }
    redis_round(r);
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        if (i != gone && servers.pids[i] > 0)
            (void)kill(servers.pids[i], SIGCONT);
    EACH (call, calls) {
        assert_true(call->status == ST_UNAVAILABLE || call->status == ST_UNKNOWN);
        redis_call_free(call);
    }
}

TESTS(setup, teardown)
