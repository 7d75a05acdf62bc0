/* Checks the processes. Sends each pool a request over its socket, as nginx does, and finds the settle worker by its
 * connection to MariaDB. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "doctor/doctor_internal.h"
#include "doctor/fcgi_ask.h"

enum { QUESTION_MAX = 32, ANSWER_S_MAX = 5, MS_PER_S = 1000 };

/* ---- pools ---- */

static const char *const POOLS[] = { "hot", "page", "auth", "sso", "card", "money" };

/* Whether the site has this pool: it has no pool sso without an issuer. */
static bool pool_is_wanted(const struct doctor *d, const char *pool)
{
    return strcmp(pool, "sso") != 0 || d->config->oidc_issuer[0] != '\0';
}

/* The pool to which this socket belongs: its name ends in NAME.sock. -1: it belongs to another service behind nginx. */
static int pool_of(const char *path)
{
    char end[32];
    for (size_t i = 0; i < ARRAY_LEN(POOLS); i++) {
        (void)snprintf(end, sizeof end, "%s.sock", POOLS[i]);
        if (str_ends(str_from(path), str_from(end)))
            return (int)i;
    }
    return -1;
}

/* Reads the status of an answer, "Status: 503 …"; an answer without that line has 200. */
static bool is_ready(struct str answer)
{
    return answer.len > 0 && (!str_starts(answer, STR("Status: ")) || str_starts(answer, STR("Status: 200")));
}

/* The command that restarts a pool. It is the mend when the pool is not ready and nothing else is wrong. */
static const char *pool_restart(struct doctor *d, const char *pool)
{
    return d->is_service
               ? finding_text(&d->found,
                              "systemctl restart 'hongbao-%s@*'; journalctl -u 'hongbao-%s@*' -n 20 --no-pager", pool,
                              pool)
               : finding_text(&d->found, "restart the pool %s, and look into its log", pool);
}

/* Reports each line of /readyz/POOL, which is a problem. others: findings that may explain it. */
static void problems_tell(struct doctor *d, const char *path, const char *pool, struct str answer, size_t others)
{
    struct str rest = str_after(answer, STR("\r\n\r\n"));
    bool has_looked = !findings_skip(&d->found, "roles");
    while (rest.len > 0) {
        struct str line = str_cut(rest, '\n', &rest);
        bool is_told = has_looked && ((!d->redis_is_up && str_starts(line, STR("redis:"))) ||
                                      /* redis-down or mysql-down explains it */
                                      (!d->mysql_is_up && str_starts(line, STR("mysql:"))));
        if (line.len > 0 && !is_told)
            finding_of(&d->found, "pool-not-ready",
                       others > 0 ? "hongbao doctor # again, once the findings above are mended"
                                  : pool_restart(d, pool),
                       finding_text(&d->found, "pools say: %.*s", STR_ARG(line)), path);
    }
}

static void pool_check(struct doctor *d, const char *path, const char *pool, size_t others)
{
    struct stat info;
    char question[QUESTION_MAX];
    int fd = doctor_connect(path);
    if (fd < 0) {
        finding_wrong(&d->found, "pool-down",
                      d->is_service ? finding_text(&d->found, "systemctl start hongbao-%s.socket", pool)
                                    : "start the pool, and look into its log",
                      "no pool answers on %s: %s", path, strerror(errno));
        return;
    }
    (void)snprintf(question, sizeof question, "/readyz/%s", pool);
    struct str answer = fcgi_ask(fd, question, ANSWER_S_MAX * MS_PER_S, d->arena);
    (void)close(fd);
    if (answer.len == 0)
        finding_wrong(&d->found, "pool-silent", pool_restart(d, pool),
                      "the pool on %s accepts connections, but does not answer within %d s", path, (int)ANSWER_S_MAX);
    else if (!is_ready(answer) && !d->stores_differ)
        problems_tell(d, path, pool, answer, others);
    if (stat(path, &info) == 0 && (info.st_mode & S_IRWXO) != 0)
        finding_wrong(&d->found, "pool-socket-mode", finding_text(&d->found, "chmod 0660 %s", path),
                      "everybody on this machine may connect to %s, and name any address as a visitor's", path);
}

void doctor_check_pools(struct doctor *d)
{
    bool named[ARRAY_LEN(POOLS)] = { false };
    const size_t others = d->found.wrong - d->certificates_wrong;
    if (d->is_stopped)
        return;
    if (!d->nginx_is_read) {
        finding_unchecked(&d->found, "pools", "nginx's configuration, which names their sockets, was not read");
        return;
    }
    for (size_t i = 0; i < d->nginx.sockets.count; i++) {
        int pool = pool_of(d->nginx.sockets.items[i]);
        if (pool < 0 || !pool_is_wanted(d, POOLS[pool]))
            continue;
        named[pool] = true;
        pool_check(d, d->nginx.sockets.items[i], POOLS[pool], others);
    }
    for (size_t i = 0; i < ARRAY_LEN(POOLS); i++)
        if (!named[i] && pool_is_wanted(d, POOLS[i]))
            finding_of(&d->found, "pool-missing",
                       d->has_setup ? DOCTOR_SETUP : "upstream hongbao_POOL { server unix:…/POOL.sock; }",
                       "nginx's configuration names no socket of these pools", POOLS[i]);
}

/* ---- the settle worker ---- */

const char *doctor_worker_start(const struct doctor *d)
{
    return d->is_service ? "systemctl start hongbao-settle; journalctl -u hongbao-settle -n 20 --no-pager"
                         : "start the settle worker, and look into its log";
}

/* A user may see its own connections: a connection of the worker's user besides this one is the worker's. */
void doctor_check_worker(struct doctor *d)
{
    struct db_rows rows;
    struct db *db = d->roles[ROLE_SETTLE].db;
    if (d->is_stopped)
        return;
    if (db != NULL && d->roles[ROLE_SETTLE].redis == NULL) { /* it connects to MariaDB once it has Redis */
        finding_unchecked(&d->found, "worker", "the settle worker waits for Redis");
        return;
    }
    if (db == NULL || d->config->rights_dir[0] == '\0') {
        finding_unchecked(&d->found, "worker", "%s",
                          db == NULL ? "the role settle is not logged in"
                                     : "rights_dir is empty, so its connections can't be told from others");
        return;
    }
    if (db_query(db, d->arena, &rows,
                 "SELECT COUNT(*) FROM information_schema.processlist WHERE id <> CONNECTION_ID()"
                 " AND user = SUBSTRING_INDEX(CURRENT_USER(), '@', 1)",
                 NULL, 0) == ST_OK &&
        db_cell_i64(&rows, 0, 0) == 0)
        finding_wrong(&d->found, "worker-down", doctor_worker_start(d),
                      "no settle worker is connected to MariaDB: grabs reach no wallet, packets are not refunded");
}
