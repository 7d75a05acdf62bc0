/* The settle worker with a real Redis Cluster: grabs that the replicas lack are not settled, and a failover to a
 * replica that lacks settled grabs is repaired. */
#include <signal.h>

#include "acts/erase.h"
#include "acts/thanks.h"
#include "live/keys.h"
#include "live/shut.h"
#include "redis/function_load.h"
#include "settle/away.h"
#include "settle/expire.h"
#include "settle/recover_stream.h"
#include "support/cluster_servers.h"
#include "support/wait_until.h"
#include "test_world.h"
#include "user/session.h"
#include "user/session_list.h"

enum { LATER_MS = 5000, RECOVER_PASSES = 3 };

static struct cluster_servers servers;

static const char *const SETTINGS[] = { "HB_REDIS", "HB_REDIS_USER", "HB_REDIS_REPLICAS",
                                        "HB_REDIS_REPLICAS_TIMEOUT_MS" };

/* A cluster and a world of users and packets in it. replicas: the setting redis_replicas. */
static void begin(const char *replicas)
{
    char addresses[256];
    assert_true(cluster_servers_start(&servers));
    cluster_servers_setting(&servers, addresses, sizeof addresses);
    const char *const values[] = { addresses, "", replicas, "1000" };
    for (size_t i = 0; i < ARRAY_LEN(values); i++)
        setenv(SETTINGS[i], values[i], 1);
    world_begin(w, 6);
    world_drain(w);
}

static int end(void **state)
{
    (void)state;
    world_end(w);
    for (size_t i = 0; i < ARRAY_LEN(SETTINGS); i++)
        unsetenv(SETTINGS[i]);
    cluster_servers_stop(&servers);
    return 0;
}

#define CLUSTER_TEST(name, replicas) WORLD_TEST_WITH(name, begin(replicas), end)

static void packet_key(uint64_t packet_id, char out[LIVE_KEY_MAX])
{
    struct live_keys keys;
    live_keys(&keys, packet_id, w->config->partitions);
    (void)snprintf(out, LIVE_KEY_MAX, "%.*s", STR_ARG(keys.key[LIVE_KEY_PACKET]));
}

/* Stops the replication to the server's only replica, which can't log in any more. Returns the replica. */
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

static enum status grab_try(uint64_t packet_id, size_t user, struct live_grab *grab)
{
    struct redis_call call;
    live_grab_queue(&w->live, &call, packet_id, w->users[user], STR("小强"), NULL);
    redis_round(w->live.redis);
    enum status st = live_grab_read(&call, grab);
    redis_call_free(&call);
    return st;
}

/* Sends packets until one is on another primary, or on the same one. */
static uint64_t send_by_server(int primary, bool same, int64_t lifetime_ms)
{
    char key[LIVE_KEY_MAX];
    uint64_t id;
    do {
        id = world_send(w, 0, PACKET_EVEN, 400, 4, lifetime_ms, -1);
        packet_key(id, key);
    } while ((cluster_servers_of(&servers, key, false) == primary) != same);
    return id;
}

CLUSTER_TEST(a_cut_off_primary_promises_nothing_and_nothing_of_it_is_settled, "auto")
{
    struct live_grab grab, again;
    uint64_t events;
    char key[LIVE_KEY_MAX];
    uint64_t id = world_even(w, 400, 4);
    packet_key(id, key);
    int primary = cluster_servers_of(&servers, key, false), replica = replica_cut(primary, key);
    uint64_t other = send_by_server(primary, false, HOUR_MS);

    assert_int_equal(grab_try(id, 1, &grab), ST_UNKNOWN);
    assert_int_equal(world_grab(w, other, 1).code, LIVE_GRABBED);
    assert_int_equal(settle_pass(w->settle, &events), ST_OK);
    assert_int_equal(events, 1); /* of the other primary */
    assert_true(world_partition(w, id)->away);
    assert_false(world_partition(w, other)->away);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 0);
    struct recover r = { .full_walk = true };
    bool open = true;
    assert_int_equal(recover_fences(&r, w->settle, &open), ST_OK);
    assert_false(open);
    assert_int_equal(r.opened[world_partition(w, id)->no][0], '\0');
    bool settled = true; /* a deletion waits: the streams may have grabs that this server lacks */
    const int64_t later_ms = clock_now_ms() + HOUR_MS;
    assert_int_equal(erase_settled(&w->settler->stores, w->arena, w->users[2], later_ms, &settled), ST_UNAVAILABLE);
    assert_false(settled);

    replica_join(primary, replica);
    /* a repeat, which only reads: its WAIT also confirms the first grab */
    assert_int_equal(grab_try(id, 1, &again), ST_OK);
    assert_int_equal(again.share_no, 0);
    assert_int_equal(world_drain(w), 1);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 1);
    assert_int_equal(erase_settled(&w->settler->stores, w->arena, w->users[2], later_ms, &settled), ST_OK);
    assert_true(settled);
    world_audit_clean(w);
}

/* Thanks that Redis lacks. */
static void thank_untold(uint64_t packet_id, size_t user)
{
    enum thanks_result result;
    assert_int_equal(
        thanks_say(&w->page->stores, w->arena, packet_id, w->users[user], STR("谢谢"), clock_now_ms(), &result), ST_OK);
    assert_int_equal(result, THANKS_SAID);
    world_sql(w, "UPDATE thanks SET applied_ms = NULL");
}

/* One step of opening all fences of the cluster, as the settle worker does. True: all are open. */
static bool fences_open(struct recover *r)
{
    bool open = false;
    (void)redis_functions_load(w->settle->stores->redis, w->settle->stores->functions);
    (void)recover_fences(r, w->settle, &open);
    return open;
}

/* Opens the fences once the cluster works again, and recovers the packets. */
static void fences_open_wait(void)
{
    struct recover r = { .full_walk = true };
    WAIT_UNTIL(fences_open(&r));
    for (int i = 0; i < RECOVER_PASSES; i++)
        assert_int_equal(world_recover(w).faults, 0);
}

/* The hot pool has to notice the failover first. */
static struct live_grab grab_wait(uint64_t packet_id, size_t user)
{
    struct live_grab grab = { 0 };
    enum status st;
    WAIT_UNTIL((st = grab_try(packet_id, user, &grab)) != ST_UNAVAILABLE);
    assert_int_equal(st, ST_OK);
    return grab;
}

/* A session whose key is on this server. */
static void session_begin(int server, char key[SESSION_KEY_MAX])
{
    char token[SESSION_TOKEN_MAX];
    const int64_t now_ms = clock_now_ms();
    const struct session s = { .user_id = w->users[1],
                               .created_ms = now_ms,
                               .seen_ms = now_ms,
                               .username = STR("xiaoqiang"),
                               .nickname = STR("小强"),
                               .listed = true };
    do {
        session_token_new(token);
        session_key_write(str_from(token), key);
    } while (cluster_servers_of(&servers, key, false) != server);
    assert_int_equal(session_list_start(&w->page->stores, w->arena, str_from(key), &s, STR("Firefox"), now_ms), ST_OK);
}

static void replica_promote(int primary, int replica)
{
    cluster_servers_kill(&servers, primary);
    assert_int_equal(cluster_servers_cli(&servers, replica, "CLUSTER FAILOVER TAKEOVER", NULL, 0), 0);
    assert_true(cluster_servers_wait(&servers, replica, "INFO replication", "role:master"));
}

/* The worker writes the thanks to Redis. True: it has written all. */
static bool all_told(void)
{
    struct tell t = { 0 };
    settle_away_begin(w->settle);
    (void)tell_pass(&t, w->settle, clock_now_ms());
    return world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL", 0) == 0;
}

/* After a reply that was too late for its deadline, the next command may be refused at once. */
static bool is_unconfirmed(enum status st)
{
    return st == ST_UNKNOWN || st == ST_UNAVAILABLE;
}

CLUSTER_TEST(what_ended_stays_ended_after_a_failover, "auto")
{
    char key[LIVE_KEY_MAX], session[SESSION_KEY_MAX], ask[128], answer[64];
    enum thanks_result result;
    const struct stores *page = &w->page->stores;
    uint64_t id = world_even(w, 400, 4);
    packet_key(id, key);
    (void)world_grab(w, id, 1);
    world_drain(w);
    int primary = cluster_servers_of(&servers, key, false);
    session_begin(primary, session);

    /* Without the replica nothing is confirmed. */
    int replica = replica_cut(primary, key);
    assert_true(is_unconfirmed(session_list_end_key(page, w->arena, w->users[1], str_from(session))));
    assert_int_equal(thanks_say(&w->page->stores, w->arena, id, w->users[1], STR("谢谢"), clock_now_ms(), &result),
                     ST_OK);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL", 0), 1);
    assert_true(is_unconfirmed(live_tombstone(&w->settler->stores.live, id + (uint64_t)w->config->partitions)));

    replica_join(primary, replica);
    /* connections that were dropped are made again after a pause */
    WAIT_UNTIL(session_list_end_key(page, w->arena, w->users[1], str_from(session)) == ST_OK);
    WAIT_UNTIL(all_told());

    replica_promote(primary, replica);
    (void)snprintf(ask, sizeof ask, "EXISTS '%s'", session);
    assert_int_equal(cluster_servers_cli(&servers, replica, ask, answer, sizeof answer), 0);
    assert_int_equal(atoi(answer), 0);
    (void)snprintf(ask, sizeof ask, "HGET '%s' thanks_count", key);
    assert_int_equal(cluster_servers_cli(&servers, replica, ask, answer, sizeof answer), 0);
    assert_int_equal(atoi(answer), 1);
}

struct apart {
    uint64_t dead, dead_due; /* on the primary that is lost */
    uint64_t gap, due; /* on other primaries, in two partitions: repairing the gap in one must not close the other */
};

/* One step of the worker. */
static void step_without_a_primary(struct recover *r, uint64_t *closed, struct recover_done *done)
{
    struct tell t = { 0 };
    struct expire e = { 0 };
    uint64_t events;
    bool open;
    assert_int_equal(recover_fences(r, w->settle, &open), ST_OK);
    assert_int_equal(settle_pass(w->settle, &events), ST_OK);
    assert_int_equal(recover_gaps(w->settle), ST_OK);
    assert_int_equal(recover_pass(r, w->settle, clock_now_ms() + LATER_MS, done), ST_OK);
    assert_int_equal(tell_pass(&t, w->settle, clock_now_ms()), ST_OK);
    assert_int_equal(expire_pass(&e, w->settle, clock_now_ms(), closed, done), ST_OK);
}

/* Whether after one more step of the worker the other packets are repaired, closed and have their thanks. */
static bool others_went_on(const struct apart *a, struct recover *r, uint64_t *closed, struct recover_done *done)
{
    step_without_a_primary(r, closed, done);
    return done->loaded > 0 && world_packet(w, a->due).state == PACKET_CLOSED &&
           world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL", 0) <= 1;
}

static void others_go_on(const struct apart *a)
{
    struct recover r = { .full_walk = true };
    struct recover_done done = { 0 };
    uint64_t closed = 0;
    assert_int_equal(world_redis(w, a->gap, "DEL {ev}"), 1);
    WAIT_UNTIL(others_went_on(a, &r, &closed, &done));
    assert_true(world_partition(w, a->dead)->away);
    assert_true(r.skipped);
    assert_true(closed > 0);
    assert_ints(
        { done.faults, 0 }, { world_packet(w, a->dead_due).state, PACKET_OPEN },
        { world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL AND packet_id = ?", a->dead), 1 },
        { world_number(w, "SELECT COUNT(*) FROM thanks WHERE applied_ms IS NULL", 0), 1 });
    (void)grab_wait(a->gap, 2); /* it was rebuilt */
}

CLUSTER_TEST(without_one_primary_the_others_are_repaired_expired_and_told, "auto")
{
    struct apart a;
    char key[LIVE_KEY_MAX];
    a.dead = world_even(w, 400, 4);
    packet_key(a.dead, key);
    int primary = cluster_servers_of(&servers, key, false), replica = cluster_servers_of(&servers, key, true);
    a.gap = send_by_server(primary, false, HOUR_MS);
    a.dead_due = send_by_server(primary, true, -1);
    do
        a.due = send_by_server(primary, false, -1);
    while (packet_partition(a.due, w->config->partitions) == packet_partition(a.gap, w->config->partitions));
    (void)world_grab(w, a.dead, 1);
    (void)world_grab(w, a.gap, 1);
    world_drain(w);
    thank_untold(a.dead, 1);
    thank_untold(a.gap, 1);

    /* Both come back in their old roles. */
    assert_int_equal(cluster_servers_cli(&servers, replica, "CONFIG SET cluster-replica-no-failover yes", NULL, 0), 0);
    const int stopped[] = { replica, primary };
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(kill(servers.pids[stopped[i]], SIGSTOP), 0);
    others_go_on(&a);

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(kill(servers.pids[stopped[i]], SIGCONT), 0);
    fences_open_wait();
    WAIT_UNTIL(world_expire(w, NULL) + world_drain(w) == 0 && world_packet(w, a.dead_due).state == PACKET_CLOSED);
    world_audit_clean(w);
}

CLUSTER_TEST(a_failover_to_a_replica_that_lacks_settled_grabs_is_repaired, "0") /* nothing is confirmed */
{
    char key[LIVE_KEY_MAX];
    uint64_t id = world_send(w, 0, PACKET_LUCKY, 1000, 4, HOUR_MS, -1);
    packet_key(id, key);
    struct live_grab first = world_grab(w, id, 1);
    world_drain(w);
    int primary = cluster_servers_of(&servers, key, false), replica = replica_cut(primary, key);
    struct live_grab second = world_grab(w, id, 2);
    world_drain(w);
    (void)world_grab(w, id, 3); /* never settled: lost with the primary */

    /* The replica may have been cut off before it had the functions. */
    replica_promote(primary, replica);
    assert_int_equal(cluster_servers_cli(&servers, replica, "FUNCTION FLUSH", NULL, 0), 0);
    fences_open_wait();

    /* Settled grabs stay: same users, same shares. The third user takes the next share again. */
    struct live_grab third = grab_wait(id, 4);
    assert_ints({ third.code, LIVE_GRABBED }, { third.share_no, 2 });
    assert_same_share(&first, id, 1);
    assert_same_share(&second, id, 2);
    world_drain(w);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM `grab` WHERE packet_id = ?", id), 3);
    assert_int_equal(world_number(w, "SELECT COUNT(*) FROM dead_letter", 0), 0);
    world_audit_clean(w);
}

TESTS(NULL, NULL)
