#include "support/cluster_servers.h"
#include "support/test_port.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TRIES = 20,
    NODE_TIMEOUT_MS = 2000 * HB_TEST_PATIENCE, /* a busy machine stalls for seconds */
    WAIT_TRIES = 1200 * HB_TEST_PATIENCE,
    WAIT_PAUSE_NS = 50000000,
    COMMAND_MAX = 1024,
    OUTPUT_MAX = 16384
};

static void server_run(const struct cluster_servers *c, int port, int bus)
{
    char path[128], text[512];
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)snprintf(text, sizeof text,
                   "port %1$d\ncluster-port %2$d\nbind 127.0.0.1\ndir %3$s\nunixsocket %1$d.sock\nlogfile %1$d.log\n"
                   "cluster-enabled yes\ncluster-config-file nodes-%1$d.conf\ncluster-node-timeout %4$d\n"
                   "cluster-require-full-coverage no\ncluster-allow-replica-migration no\nappendonly no\nsave \"\"\n"
                   "repl-diskless-sync-delay 0\nrepl-ping-replica-period 1\n",
                   port, bus, c->dir, NODE_TIMEOUT_MS);
    (void)snprintf(path, sizeof path, "%s/%d.conf", c->dir, port);
    FILE *file = fopen(path, "w");
    if (file != NULL && fputs(text, file) >= 0 && fclose(file) == 0)
        execlp("redis-server", "redis-server", path, (char *)NULL);
    _exit(127);
}

int cluster_servers_cli(const struct cluster_servers *c, int server, const char *words, char *out, size_t size)
{
    char command[COMMAND_MAX], ignored[256];
    (void)snprintf(command, sizeof command, "timeout 60 redis-cli -p %d %s 2>&1", c->ports[server], words);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return -1;
    size_t len = out == NULL ? 0 : fread(out, 1, size - 1, pipe);
    if (out != NULL)
        out[len] = '\0';
    while (fread(ignored, 1, sizeof ignored, pipe) > 0)
        ;
    return pclose(pipe);
}

bool cluster_servers_wait(const struct cluster_servers *c, int server, const char *words, const char *text)
{
    const struct timespec pause = { .tv_nsec = WAIT_PAUSE_NS };
    char out[OUTPUT_MAX];
    for (int i = 0; i < WAIT_TRIES; i++, nanosleep(&pause, NULL))
        if (cluster_servers_cli(c, server, words, out, sizeof out) == 0 && strstr(out, text) != NULL)
            return true;
    (void)fprintf(stderr, "cluster_servers: port %d: %s never has %s, but:\n%s\n", c->ports[server], words, text, out);
    return false;
}

static bool servers_join(const struct cluster_servers *c)
{
    char words[COMMAND_MAX], out[OUTPUT_MAX];
    size_t len = (size_t)snprintf(words, sizeof words, "--cluster-yes --cluster-replicas 1 --cluster create");
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        len += (size_t)snprintf(words + len, sizeof words - len, " 127.0.0.1:%d", c->ports[i]);
    if (cluster_servers_cli(c, 0, words, out, sizeof out) != 0) {
        (void)fprintf(stderr, "cluster_servers: %s\n", out);
        return false;
    }
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        if (!cluster_servers_wait(c, i, "CLUSTER INFO", "cluster_state:ok") ||
            !cluster_servers_wait(c, i, "CLUSTER NODES | grep -c slave", "3")) /* all know of every replica */
            return false;
    for (int i = 0; i < CLUSTER_PRIMARIES; i++)
        if (!cluster_servers_wait(c, i, "INFO replication", "state=online"))
            return false;
    return true;
}

/* False: the test has no free port left. */
static bool ports_choose(struct cluster_servers *c)
{
    for (int i = 0; i < CLUSTER_SERVERS; i++) {
        c->ports[i] = test_port_next();
        c->buses[i] = test_port_next();
        if (c->ports[i] == 0 || c->buses[i] == 0) {
            (void)fprintf(stderr, "cluster_servers: no free ports\n");
            return false;
        }
    }
    return true;
}

/* Waits until our own server answers. False: it has ended because another program took its port, or it is late. */
static bool server_is_up(struct cluster_servers *c, int server)
{
    const struct timespec pause = { .tv_nsec = WAIT_PAUSE_NS };
    char out[OUTPUT_MAX];
    for (int i = 0; i < WAIT_TRIES; i++, nanosleep(&pause, NULL)) {
        bool answers = cluster_servers_cli(c, server, "PING", out, sizeof out) == 0 && strstr(out, "PONG") != NULL;
        if (waitpid(c->pids[server], NULL, WNOHANG) != 0) {
            c->pids[server] = 0;
            break;
        }
        if (answers)
            return true;
    }
    (void)fprintf(stderr, "cluster_servers: no server of ours at port %d\n", c->ports[server]);
    return false;
}

void cluster_servers_kill(struct cluster_servers *c, int server)
{
    if (c->pids[server] > 0) {
        (void)kill(c->pids[server], SIGKILL);
        (void)waitpid(c->pids[server], NULL, 0);
    }
    c->pids[server] = 0;
}

static void servers_kill(struct cluster_servers *c)
{
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        cluster_servers_kill(c, i);
}

static bool servers_try(struct cluster_servers *c)
{
    for (int i = 0; i < CLUSTER_SERVERS; i++) {
        c->pids[i] = fork();
        if (c->pids[i] == 0)
            server_run(c, c->ports[i], c->buses[i]);
    }
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        if (!server_is_up(c, i))
            return false;
    return true;
}

bool cluster_servers_start(struct cluster_servers *c)
{
    *c = (struct cluster_servers){ .dir = "/tmp/hb-cluster-XXXXXX" };
    if (mkdtemp(c->dir) == NULL)
        return false;
    for (int try = 0; try < TRIES; try++) {
        if (!ports_choose(c))
            break;
        if (servers_try(c) && servers_join(c))
            return true;
        servers_kill(c);
    }
    cluster_servers_stop(c);
    return false;
}

void cluster_servers_stop(struct cluster_servers *c)
{
    char command[COMMAND_MAX];
    servers_kill(c);
    (void)snprintf(command, sizeof command, "rm -rf -- '%s'", c->dir);
    if (system(command) != 0)
        (void)fprintf(stderr, "cluster_servers: %s is left\n", c->dir);
}

void cluster_servers_setting(const struct cluster_servers *c, char *out, size_t size)
{
    size_t len = 0;
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        len += (size_t)snprintf(out + len, size - len, "%s127.0.0.1:%d", i > 0 ? ", " : "", c->ports[i]);
}

/* Line of CLUSTER NODES: id ip:port@bus flags primary … ranges. */
static int port_of(const char *line)
{
    const char *colon = strchr(line, ':');
    return colon == NULL ? 0 : atoi(colon + 1);
}

static bool line_has_slot(const char *line, int slot)
{
    int column = 0, first, last;
    for (const char *word = line; word != NULL && *word != '\0'; column++) {
        if (column >= 8 && sscanf(word, "%d-%d", &first, &last) == 2 && slot >= first && slot <= last)
            return true;
        if (column >= 8 && strchr(word, '-') == NULL && atoi(word) == slot)
            return true;
        word = strchr(word, ' ');
        word = word == NULL ? NULL : word + 1;
    }
    return false;
}

static int index_of(const struct cluster_servers *c, int port)
{
    for (int i = 0; i < CLUSTER_SERVERS; i++)
        if (c->ports[i] == port)
            return i;
    return -1;
}

int cluster_servers_of(const struct cluster_servers *c, const char *key, bool replica)
{
    char words[COMMAND_MAX], out[OUTPUT_MAX], id[41] = "";
    int found = -1;
    (void)snprintf(words, sizeof words, "CLUSTER KEYSLOT '%s'", key);
    for (int i = 0; i < CLUSTER_SERVERS && found < 0; i++) {
        if (kill(c->pids[i], 0) != 0 || cluster_servers_cli(c, i, words, out, sizeof out) != 0)
            continue;
        int slot = atoi(out);
        if (cluster_servers_cli(c, i, "CLUSTER NODES", out, sizeof out) != 0)
            continue;
        char copy[OUTPUT_MAX], *state = NULL;
        memcpy(copy, out, sizeof copy);
        for (char *line = strtok_r(copy, "\n", &state); line != NULL; line = strtok_r(NULL, "\n", &state))
            if (strstr(line, "master") != NULL && strstr(line, "fail") == NULL && line_has_slot(line, slot)) {
                (void)snprintf(id, sizeof id, "%.40s", line);
                found = index_of(c, port_of(line));
            }
        for (char *line = replica && found >= 0 ? strtok_r(out, "\n", &state) : NULL; line != NULL;
             line = strtok_r(NULL, "\n", &state))
            if (strstr(line, "slave") != NULL && strstr(line + 40, id) != NULL)
                return index_of(c, port_of(line));
    }
    return replica ? -1 : found;
}
