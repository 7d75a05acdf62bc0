/* redis/ with a list of addresses: primaries and replicas that change places. */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis/redis.h"
#include "support/test_port.h"
#include "support/wait_until.h"

enum { SERVERS = 4 };

static char dir[] = "/tmp/hb-list-XXXXXX";
static int ports[SERVERS];
static pid_t pids[SERVERS];
static struct config config;
static struct redis *r;

static void server_run(int port)
{
    char text[16], log[32];
    snprintf(text, sizeof text, "%d", port);
    snprintf(log, sizeof log, "%d.log", port);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    execlp("redis-server", "redis-server", "--port", text, "--bind", "127.0.0.1", "--dir", dir, "--logfile", log,
           "--save", "", "--repl-diskless-sync-delay", "0", (char *)NULL);
    _exit(127);
}

static int cli(int server, const char *words)
{
    char command[256];
    snprintf(command, sizeof command, "timeout 60 redis-cli -e -p %d %s > /dev/null 2>&1", ports[server], words);
    return system(command);
}

static enum status read_confirmed(void)
{
    const struct str get[] = { STR("GET"), STR("k") };
    struct redis_call call;
    redis_queue_confirmed(r, &call, get, 2);
    redis_round(r);
    redis_call_free(&call);
    return call.status;
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    assert_non_null(mkdtemp(dir));
    for (int i = 0; i < SERVERS; i++) {
        ports[i] = test_port_next();
        assert_true(ports[i] > 0);
        pids[i] = fork();
        if (pids[i] == 0)
            server_run(ports[i]);
    }
    for (int i = 0; i < SERVERS; i++)
        WAIT_UNTIL(cli(i, "PING") == 0);
    return 0;
}

/* A client of the first count servers. */
static void client_begin(int count)
{
    size_t len = 0;
    config_defaults(&config);
    config.redis_timeout_ms = 2000;
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(config.redis + len, sizeof config.redis - len, "%s127.0.0.1:%d", i > 0 ? ", " : "",
                                ports[i]);
    r = redis_new(&config);
    assert_non_null(r);
}

/* Makes a server the replica of another one. */
static void replica_of(int server, int primary)
{
    char words[64];
    snprintf(words, sizeof words, "REPLICAOF 127.0.0.1 %d", ports[primary]);
    assert_int_equal(cli(server, words), 0);
}

static bool has_replica(int server)
{
    return cli(server, "INFO replication | grep -q state=online") == 0;
}

/* The server to which the client is connected. */
static int server_in_use(void)
{
    struct redis_call call;
    const struct str get[] = { STR("CONFIG"), STR("GET"), STR("port") };
    int found = -1;
    if (redis_do(r, &call, get, 3) == ST_OK)
        for (int i = 0; i < SERVERS; i++)
            if (atoi(call.reply->element[1]->str) == ports[i])
                found = i;
    redis_call_free(&call);
    return found;
}

static int teardown(void **state)
{
    char command[64];
    (void)state;
    for (int i = 0; i < SERVERS; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf -- '%s'", dir);
    return system(command);
}

static int client_end(void **state)
{
    (void)state;
    redis_free(r);
    for (int i = 0; i < SERVERS; i++) {
        (void)kill(pids[i], SIGCONT);
        (void)cli(i, "REPLICAOF NO ONE");
    }
    return 0;
}

/* Unlike with Sentinel, the connections of the demoted server stay open. */
TEST_WITH(a_demoted_server_is_left_also_by_those_who_only_read, NULL, client_end)
{
    client_begin(2);
    replica_of(1, 0);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(cli(1, "REPLICAOF NO ONE"), 0);
    replica_of(0, 1);
    WAIT_UNTIL(read_confirmed() == ST_OK);
}

TEST_WITH(of_two_primaries_the_one_with_replicas_is_used, NULL, client_end)
{
    replica_of(2, 1);
    WAIT_UNTIL(has_replica(1));
    client_begin(2);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(server_in_use(), 1);
}

TEST_WITH(without_replicas_the_first_primary_is_used, NULL, client_end)
{
    client_begin(2);
    assert_int_equal(server_in_use(), 0);
}

/* The old primary has not noticed that it was replaced: its connections stay, and it still calls itself a primary. */
TEST_WITH(a_primary_that_lost_its_replica_to_another_one_is_left, NULL, client_end)
{
    replica_of(2, 0);
    WAIT_UNTIL(has_replica(0));
    client_begin(2);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(server_in_use(), 0);
    replica_of(2, 1);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(server_in_use(), 1);
}

/* The old primary was cut off from its replica, and still counts it. */
TEST_WITH(a_primary_whose_replica_is_silent_is_left, NULL, client_end)
{
    replica_of(2, 0);
    replica_of(3, 1);
    WAIT_UNTIL(has_replica(0));
    WAIT_UNTIL(has_replica(1));
    client_begin(2);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(server_in_use(), 0);
    assert_int_equal(kill(pids[2], SIGSTOP), 0);
    assert_int_equal(cli(0, "SET k v"), 0);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(server_in_use(), 1);
}

/* A client of one server, whose replica has confirmed. */
static void client_with_replica(const char *user)
{
    replica_of(2, 0);
    WAIT_UNTIL(has_replica(0));
    client_begin(1);
    snprintf(config.redis_replicas, sizeof config.redis_replicas, "1");
    snprintf(config.redis_user, sizeof config.redis_user, "%s", user);
    snprintf(config.redis_password, sizeof config.redis_password, "%s", user);
}

/* A full server refuses SET, but settling has to go on. */
TEST_WITH(a_full_server_confirms_what_replicas_have_and_no_more, NULL, client_end)
{
    client_with_replica("");
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(kill(pids[2], SIGSTOP), 0);
    assert_int_equal(cli(0, "SET k v"), 0);
    assert_int_equal(cli(0, "CONFIG SET maxmemory 1"), 0);
    assert_int_not_equal(cli(0, "SET k v"), 0);
    assert_int_equal(read_confirmed(), ST_UNKNOWN);
    assert_int_equal(kill(pids[2], SIGCONT), 0);
    WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(cli(0, "CONFIG SET maxmemory 0"), 0);
}

/* WAIT needs a write before it since Redis 7.2. */
TEST_WITH(a_user_who_may_not_write_before_wait_gets_nothing_confirmed, NULL, client_end)
{
    assert_int_equal(cli(0, "ACL SETUSER reader on '>reader' '~k' +@all"), 0);
    client_with_replica("reader");
    bool writes = cli(0, "INFO server | grep -Eq '^redis_version:(7\\.[2-9]|[89]\\.|[1-9][0-9])'") == 0;
    if (writes)
        assert_int_equal(read_confirmed(), ST_UNKNOWN);
    else
        WAIT_UNTIL(read_confirmed() == ST_OK);
    assert_int_equal(cli(0, "ACL DELUSER reader"), 0);
}

TESTS(setup, teardown)
