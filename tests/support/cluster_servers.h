/* A Redis Cluster of three primaries with one replica each, on loopback ports of this test and on the sockets
 * DIR/PORT.sock. Its processes end with the test. */
#ifndef HB_TESTS_SUPPORT_CLUSTER_SERVERS_H
#define HB_TESTS_SUPPORT_CLUSTER_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { CLUSTER_SERVERS = 6, CLUSTER_PRIMARIES = 3 };

struct cluster_servers {
    char dir[64];
    int ports[CLUSTER_SERVERS], buses[CLUSTER_SERVERS];
    pid_t pids[CLUSTER_SERVERS];
};

/* Starts the servers, joins them, and waits until every primary has its replica. False: it failed, with the reason on
 * stderr. */
bool cluster_servers_start(struct cluster_servers *c);
void cluster_servers_stop(struct cluster_servers *c);
/* The value of the setting redis: all addresses. */
void cluster_servers_setting(const struct cluster_servers *c, char *out, size_t size);
/* The server at which a key is now, by CLUSTER SLOTS of any server that answers; of its replicas the first one when
 * replica is true. Its index; -1: there is none. */
int cluster_servers_of(const struct cluster_servers *c, const char *key, bool replica);
/* Runs redis-cli with arguments for the shell, on the server. Returns its exit status; out (may be NULL): the
 * output. */
int cluster_servers_cli(const struct cluster_servers *c, int server, const char *words, char *out, size_t size);
/* Ends a server for good. */
void cluster_servers_kill(struct cluster_servers *c, int server);
/* Repeats a command until its output contains text; at most a minute, times HB_TEST_PATIENCE. */
bool cluster_servers_wait(const struct cluster_servers *c, int server, const char *words, const char *text);

#endif
