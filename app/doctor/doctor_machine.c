/* This machine: its clock compared with the clocks of the stores, and its disks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/address.h"
#include "doctor/doctor_internal.h"
#include "redis/reply.h"

enum { CLOCK_MS_MAX = 1000, INODES_MIN = 1000, HOST_BYTES_MAX = 256 };

/* ---- clocks ---- */

/* Compares a clock. The other server read there_ms between before_ms and now. */
static void clock_compare(struct doctor *d, const char *finding, const char *store, int64_t before_ms, int64_t there_ms)
{
    int64_t now_ms = clock_now_ms();
    int64_t ahead_ms = there_ms < before_ms ? there_ms - before_ms : there_ms > now_ms ? there_ms - now_ms : 0;
    if (llabs((long long)ahead_ms) > CLOCK_MS_MAX)
        finding_wrong(&d->found, finding,
                      d->is_service ? "timedatectl set-ntp true # and on the machine of the store, if it is another"
                                    : "let systemd-timesyncd or chrony set the clock on every machine",
                      "the clock of %s differs from that of this machine by %" PRId64
                      " ms: packets open and end at other times than their pages say",
                      store, ahead_ms);
}

static void redis_clock_check(struct doctor *d)
{
    struct redis *r = d->roles[ROLE_OPERATOR].redis;
    const struct str time[] = { STR("TIME") };
    struct redis_call call;
    int64_t seconds, us, before_ms = clock_now_ms();
    if (r == NULL)
        return;
    if (redis_do(r, &call, time, 1) != ST_OK)
        finding_unchecked(&d->found, "clock-redis", "the operator may not ask Redis for its time");
    else if (redis_reply_i64(redis_reply_at(call.reply, 0), &seconds) &&
             redis_reply_i64(redis_reply_at(call.reply, 1), &us))
        clock_compare(d, "clock-redis", "Redis", before_ms, seconds * 1000 + us / 1000);
    redis_call_free(&call);
}

static void mysql_clock_check(struct doctor *d)
{
    struct db *db = d->roles[ROLE_MIGRATE].db;
    struct db_rows rows;
    int64_t before_ms = clock_now_ms();
    if (db != NULL &&
        db_query(db, d->arena, &rows, "SELECT CAST(UNIX_TIMESTAMP(NOW(3)) * 1000 AS SIGNED)", NULL, 0) == ST_OK)
        clock_compare(d, "clock-mysql", "MariaDB", before_ms, db_cell_i64(&rows, 0, 0));
}

void doctor_check_clocks(struct doctor *d)
{
    redis_clock_check(d);
    mysql_clock_check(d);
}

/* ---- disks ---- */

static void disk_check(struct doctor *d, const char *finding, const char *what, const char *path)
{
    struct statvfs disk;
    if (path == NULL || path[0] == '\0') {
        finding_unchecked(&d->found, finding, "the folder of %s is not known", what);
        return;
    }
    if (statvfs(path, &disk) != 0) {
        finding_unchecked(&d->found, finding, "the folder of %s can't be looked at on this machine: %s: %s", what, path,
                          strerror(errno));
        return;
    }
    int64_t free_mib = (int64_t)(disk.f_bavail * disk.f_frsize >> 20);
    if (free_mib < d->free_mib_min)
        finding_wrong(&d->found, finding,
                      finding_text(&d->found, "du -x -d 1 %s | sort -n # shows where to make room", path),
                      "only %" PRId64 " MiB are free for %s in %s, of %" PRId64 " that should be", free_mib, what, path,
                      d->free_mib_min);
    else if (disk.f_files > 0 && disk.f_favail < INODES_MIN)
        finding_wrong(&d->found, finding,
                      finding_text(&d->found, "du -x --inodes -d 1 %s | sort -n # shows where to remove files", path),
                      "only %" PRIu64 " more files are possible for %s in %s", (uint64_t)disk.f_favail, what, path);
}

/* The folder that one of MariaDB's settings names; the role migrate reads the setting. */
static const char *mysql_folder(struct doctor *d)
{
    struct db_rows rows;
    struct db *db = d->roles[ROLE_MIGRATE].db;
    if (db == NULL || db_query(db, d->arena, &rows, "SELECT @@datadir", NULL, 0) != ST_OK || rows.count == 0)
        return NULL;
    return arena_cstr(d->arena, db_cell(&rows, 0, 0));
}

/* Whether the first server of the setting is on this machine, so that its folders can be checked. */
static bool is_here(const char *addresses)
{
    struct address_list list;
    return address_list_read(str_from(addresses), &list) == NULL && list.items[0].port == 0;
}

/* Whether MariaDB is on another machine, behind a tunnel that has a socket here. */
static bool mysql_is_elsewhere(struct doctor *d)
{
    struct db_rows rows;
    char own[HOST_BYTES_MAX] = "";
    struct db *db = d->roles[ROLE_MIGRATE].db;
    return is_here(d->config->mysql) && db != NULL && gethostname(own, sizeof own - 1) == 0 &&
           db_query(db, d->arena, &rows, "SELECT @@hostname", NULL, 0) == ST_OK && rows.count > 0 &&
           !str_equal(db_cell(&rows, 0, 0), str_from(own));
}

void doctor_check_disks(struct doctor *d)
{
    /* a Redis that a full disk has stopped can't be queried */
    const struct redis_own *own = check_redis_own(d->config);
    const char *redis = d->redis_is_up ? doctor_redis_setting(d, "dir") : NULL, *mysql = mysql_folder(d);
    if (redis == NULL)
        redis = own == NULL ? NULL : own->folder;
    if (mysql == NULL && check_mysql_unit(d->config) != NULL)
        mysql = "/var/lib/mysql";
    const char *slash = strrchr(d->config->metrics_file, '/');
    if (is_here(d->config->redis))
        disk_check(d, "disk-redis", "Redis", redis);
    if (mysql_is_elsewhere(d))
        finding_unchecked(&d->found, "disk-mysql", "MariaDB runs on another machine: look at its disks there");
    else if (is_here(d->config->mysql))
        disk_check(d, "disk-mysql", "MariaDB", mysql);
    disk_check(d, "disk-logs", "nginx's logs", d->config->nginx_counts_dir);
    if (slash != NULL && slash != d->config->metrics_file) {
        char *folder =
            arena_cstr(d->arena, (struct str){ d->config->metrics_file, (size_t)(slash - d->config->metrics_file) });
        struct statvfs disk; /* usually a small file system in memory, which only must not be full */
        if (folder != NULL && statvfs(folder, &disk) == 0 && disk.f_bavail == 0)
            finding_wrong(&d->found, "disk-run",
                          finding_text(&d->found, "du -x -d 1 %s | sort -n # shows where to make room", folder),
                          "%s is full", folder);
    }
}
