/* The settle worker with a real Redis Cluster: what replicas do not have is not settled, and a failover to a replica
 * that lacks settled grabs is repaired. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "io/redis_fence.h"
#include "live/keys.h"
#include "settle/recover_stream.h"
#include "support/cluster_servers.h"
#include "test_settle_fixture.h"

enum { HOUR_MS = 3600000, WAIT_MS = 60000, LATER_MS = 5000, RECOVER_PASSES = 3 };

static struct cluster_servers servers;

/* A cluster and a world of users and packets in it. replicas: the setting redis_replicas. */
static void begin(struct world *w, const char *replicas)
{
    char addresses[256];
    assert_true(cluster_servers_start(&servers));
    cluster_servers_setting(&servers, addresses, sizeof addresses);
    setenv("HB_REDIS", addresses, 1);
    setenv("HB_REDIS_USER", "", 1);
    setenv("HB_REDIS_REPLICAS", replicas, 1);
    setenv("HB_REDIS_REPLICAS_TIMEOUT_MS", "1000", 1);
    world_begin(w, 6);
    world_drain(w);
}

static void end(struct world *w)
{
    world_end(w);
    unsetenv("HB_REDIS");
    unsetenv("HB_REDIS_USER");
    unsetenv("HB_REDIS_REPLICAS");
    unsetenv("HB_REDIS_REPLICAS_TIMEOUT_MS");
    cluster_servers_stop(&servers);
}

static void packet_key(const struct world *w, uint64_t packet_id, char out[LIVE_KEY_MAX])
{
    struct live_keys keys;
    live_keys(&keys, packet_id, w->config->partitions);
    (void)snprintf(out, LIVE_KEY_MAX, "%.*s", STR_ARG(keys.key[LIVE_KEY_PACKET]));
}

/* Ends the replication to the server's only replica: it can't log in any more. Returns the replica. */
static int replica_cut(int primary, const char *key)
{
    int replica = cluster_servers_of(&servers, key, true);
    assert_true(replica >= 0);
    assert_int_equal(cluster_servers_cli(&servers, replica, "CONFIG SET masteruser nobody", NULL, 0), 0);
    assert_int_equal(cluster_servers_cli(&servers, replica, "CONFIG SET masterauth wrong", NULL, 0), 0);
    assert_int_equal(cluster_servers_cli(&servers, primary, "CLIENT KILL TYPE replica", NULL, 0), 0);
    assert_true(cluster_servers_wait(&servers, primary, "INFO replication", "connected_slaves:0"));
    return replica;
}

static void replica_join(int primary, int replica)
{
    assert_int_equal(cluster_servers_cli(&servers, replica, "CONFIG SET masteruser ''", NULL, 0), 0);
    assert_int_equal(cluster_servers_cli(&servers, replica, "CONFIG SET masterauth ''", NULL, 0), 0);
    assert_true(cluster_servers_wait(&servers, primary, "INFO replication", "state=online"));
}

static enum status grab_try(struct world *w, uint64_t packet_id, size_t user, struct live_grab *grab)
{
    struct redis_call call;
    live_grab_queue(&w->live, &call, packet_id, w->users[user], STR("小强"), STR(""));
    redis_round(w->live.redis);
    enum status st = live_grab_read(&call, grab);
    redis_call_free(&call);
    return st;
}

static void a_cut_off_primary_promises_nothing_and_nothing_of_it_is_settled(void **state)
{
    struct world w;
    struct live_grab grab, again;
    uint64_t events;
    char key[LIVE_KEY_MAX];
    (void)state;
    begin(&w, "auto");
    uint64_t id = world_send(&w, 0, PACKET_EVEN, 400, 4, HOUR_MS, -1);
    packet_key(&w, id, key);
    int primary = cluster_servers_of(&servers, key, false), replica = replica_cut(primary, key);
    uint64_t other = id;
    char other_key[LIVE_KEY_MAX];
    do {
        other = world_send_apart(&w, id, 200, 2);
        packet_key(&w, other, other_key);
    } while (cluster_servers_of(&servers, other_key, false) == primary);

    assert_int_equal(grab_try(&w, id, 1, &grab), ST_UNKNOWN);
    assert_int_equal(world_grab(&w, other, 1).code, LIVE_GRABBED);
    assert_int_equal(settle_pass(w.settle, &events), ST_UNAVAILABLE);
    assert_int_equal(events, 1); /* of the other primary */
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 0);
    struct recover r = { .full_walk = true };
    bool open = true;
    assert_int_equal(recover_fences(&r, w.settle, &open), ST_OK);
    assert_false(open);
    assert_int_equal(r.opened[world_partition(&w, id)->no][0], '\0');

    replica_join(primary, replica);
    assert_int_equal(grab_try(&w, id, 1, &again), ST_OK); /* a repeat, which only reads: WAIT confirms the first */
    assert_int_equal(again.share_no, 0);
    assert_int_equal(world_drain(&w), 1);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 1);
    world_audit_clean(&w);
    end(&w);
}

/* Opens all fences of the cluster once it works again. */
static void fences_open(struct world *w)
{
    const struct timespec pause = { .tv_nsec = 50000000 };
    int64_t until_ms = clock_monotonic_ms() + WAIT_MS;
    struct recover r = { .full_walk = true };
    bool open = false;
    while (!open && clock_monotonic_ms() < until_ms) {
        (void)recover_fences(&r, w->settle, &open);
        if (!open)
            nanosleep(&pause, NULL);
    }
    assert_true(open);
    for (int i = 0; i < RECOVER_PASSES; i++) {
        struct recover walk = { .full_walk = true };
        struct recover_done done = { 0 };
        assert_int_equal(recover_pass(&walk, w->settle, clock_now_ms() + LATER_MS, &done), ST_OK);
        assert_int_equal(done.faults, 0);
    }
}

/* The hot pool has to notice the failover first. */
static struct live_grab grab_wait(struct world *w, uint64_t packet_id, size_t user)
{
    const struct timespec pause = { .tv_nsec = 50000000 };
    int64_t until_ms = clock_monotonic_ms() + WAIT_MS;
    struct live_grab grab = { 0 };
    enum status st = grab_try(w, packet_id, user, &grab);
    while (st == ST_UNAVAILABLE && clock_monotonic_ms() < until_ms) {
        nanosleep(&pause, NULL);
        st = grab_try(w, packet_id, user, &grab);
    }
    assert_int_equal(st, ST_OK);
    return grab;
}

static void a_failover_to_a_replica_that_lacks_settled_grabs_is_repaired(void **state)
{
    struct world w;
    char key[LIVE_KEY_MAX];
    (void)state;
    begin(&w, "0"); /* nothing is confirmed */
    uint64_t id = world_send(&w, 0, PACKET_LUCKY, 1000, 4, HOUR_MS, -1);
    packet_key(&w, id, key);
    struct live_grab first = world_grab(&w, id, 1);
    world_drain(&w);
    int primary = cluster_servers_of(&servers, key, false), replica = replica_cut(primary, key);
    struct live_grab second = world_grab(&w, id, 2);
    world_drain(&w);
    (void)world_grab(&w, id, 3); /* never settled: lost with the primary */

    assert_int_equal(kill(servers.pids[primary], SIGKILL), 0);
    (void)waitpid(servers.pids[primary], NULL, 0);
    assert_int_equal(cluster_servers_cli(&servers, replica, "CLUSTER FAILOVER TAKEOVER", NULL, 0), 0);
    assert_true(cluster_servers_wait(&servers, replica, "INFO replication", "role:master"));
    fences_open(&w);

    /* What was settled holds: same users, same shares; the third user takes the next share anew. */
    struct live_grab one = grab_wait(&w, id, 1), two = grab_wait(&w, id, 2), three = grab_wait(&w, id, 4);
    assert_int_equal(one.code, LIVE_ALREADY);
    assert_int_equal(one.share_no, first.share_no);
    assert_int_equal(one.amount_fen, first.amount_fen);
    assert_int_equal(two.code, LIVE_ALREADY);
    assert_int_equal(two.share_no, second.share_no);
    assert_int_equal(two.amount_fen, second.amount_fen);
    assert_int_equal(three.code, LIVE_GRABBED);
    assert_int_equal(three.share_no, 2);
    world_drain(&w);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 3);
    assert_int_equal(world_number(&w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    world_audit_clean(&w);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_off_primary_promises_nothing_and_nothing_of_it_is_settled),
        cmocka_unit_test(a_failover_to_a_replica_that_lacks_settled_grabs_is_repaired),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
