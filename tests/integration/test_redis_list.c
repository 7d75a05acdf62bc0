/* io/redis with a list of two addresses: a primary and its replica, which change places. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/redis.h"

enum { WAIT_MS = 60000, PAUSE_NS = 50000000, PORT_FIRST = 22700, PORT_COUNT = 600 };

static char dir[] = "/tmp/hb-list-XXXXXX";
static int ports[2];
static pid_t pids[2];
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

/* Repeats a confirmed read until it succeeds. False: it does not. */
static bool reads_are_confirmed(void)
{
    const struct timespec pause = { .tv_nsec = PAUSE_NS };
    const struct str get[] = { STR("GET"), STR("k") };
    int64_t until_ms = clock_monotonic_ms() + WAIT_MS;
    do {
        struct redis_call call;
        redis_queue_confirmed(r, &call, get, 2);
        redis_round(r);
        redis_call_free(&call);
        if (call.status == ST_OK)
            return true;
        nanosleep(&pause, NULL);
    } while (clock_monotonic_ms() < until_ms);
    return false;
}

static int setup(void **state)
{
    (void)state;
    signal(SIGPIPE, SIG_IGN);
    if (mkdtemp(dir) == NULL)
        return 1;
    ports[0] = PORT_FIRST + getpid() % (PORT_COUNT / 2) * 2;
    ports[1] = ports[0] + 1;
    for (int i = 0; i < 2; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            server_run(ports[i]);
    }
    config_defaults(&config);
    config.redis_timeout_ms = 2000;
    snprintf(config.redis, sizeof config.redis, "127.0.0.1:%d, 127.0.0.1:%d", ports[0], ports[1]);
    r = redis_new(&config);
    int64_t until_ms = clock_monotonic_ms() + WAIT_MS;
    while (clock_monotonic_ms() < until_ms)
        if (cli(0, "PING") == 0 && cli(1, "PING") == 0)
            return r == NULL;
    return 1;
}

static int teardown(void **state)
{
    char command[64];
    (void)state;
    redis_free(r);
    for (int i = 0; i < 2; i++) {
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    snprintf(command, sizeof command, "rm -rf -- '%s'", dir);
    return system(command);
}

/* Nobody ends the connections of the demoted server, as Sentinel does. */
static void a_demoted_server_is_left_also_by_those_who_only_read(void **state)
{
    (void)state;
    char words[64];
    snprintf(words, sizeof words, "REPLICAOF 127.0.0.1 %d", ports[0]);
    assert_int_equal(cli(1, words), 0);
    assert_true(reads_are_confirmed());
    assert_int_equal(cli(1, "REPLICAOF NO ONE"), 0);
    snprintf(words, sizeof words, "REPLICAOF 127.0.0.1 %d", ports[1]);
    assert_int_equal(cli(0, words), 0);
    assert_true(reads_are_confirmed());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_demoted_server_is_left_also_by_those_who_only_read),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
