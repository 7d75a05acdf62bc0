/* Compares the mode and owner of each file and folder of the installed service with docs/reference/files.md, which is
 * part of the program, and checks that each user has the rights there that the site needs. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "doctor/file_walk.h"
#include "doctor/files.h"

enum { PATH_BYTES_MAX = 4096, GROUPS_MAX = 32, PARENTS_MAX = 16, NAME_BYTES_MAX = 64 };

#define POOLS "hongbao-hot hongbao-page hongbao-auth hongbao-sso hongbao-card hongbao-money hongbao-settle"

/* To whom a file belongs decides whether it is checked: setup makes no store that existed before, and either Redis or
 * Valkey. */
enum part { OF_SITE, OF_REDIS, OF_MYSQL };

/* The users who need a path of files.md, and what for. A path that is not in this table is for root alone. */
static const struct need {
    const char *path;
    const char *users; /* with a blank between two */
    unsigned bits;     /* the rights they need: 4 to read, 2 to write, 1 to pass */
    bool is_tree;      /* they need the same rights on everything below the path */
    bool is_vital;     /* a missing path is a finding */
    enum part part;
    const char *use; /* what fails without these rights */
} NEEDS[] = {
    { "/etc/hongbao/hongbao.conf", POOLS, 4, false, false, OF_SITE, "no process starts again" },
    { "/etc/redis/redis-hongbao.conf", "redis", 4, false, false, OF_REDIS, "Redis does not start again" },
    { "/etc/redis/hongbao-users.acl", "redis", 4, false, false, OF_REDIS, "Redis does not start again" },
    { "/etc/valkey/valkey-hongbao.conf", "valkey", 4, false, false, OF_REDIS, "Valkey does not start again" },
    { "/etc/valkey/hongbao-users.acl", "valkey", 4, false, false, OF_REDIS, "Valkey does not start again" },
    { "/etc/mysql/mariadb.conf.d/60-hongbao.cnf", "mysql", 4, false, false, OF_MYSQL,
      "MariaDB starts without the settings of the site" },
    { "/var/lib/mysql", "mysql", 7, true, false, OF_MYSQL, "MariaDB can't use its tables" },
    { "/var/lib/redis/hongbao", "redis", 7, true, false, OF_REDIS, "Redis can't keep what it promises" },
    { "/var/lib/valkey/hongbao", "valkey", 7, true, false, OF_REDIS, "Valkey can't keep what it promises" },
    { "/var/lib/hongbao/static", "www-data", 5, true, false, OF_SITE, "pages have no style" },
    { "/var/lib/hongbao/acme", "www-data", 5, false, true, OF_SITE, "certbot gets no certificate" },
    { "/var/cache/hongbao", "www-data", 5, false, true, OF_SITE, "nginx keeps no picture" },
    { "/run/hongbao", POOLS " www-data", 5, false, false, OF_SITE, "nginx reaches no pool" },
    { "/usr/share/hongbao/redis/settings.conf", "redis valkey", 4, false, false, OF_REDIS,
      "Redis does not start again" },
    { "/var/log/redis/redis-server-hongbao.log", "redis", 2, false, false, OF_REDIS, "Redis does not start again" },
    { "/var/log/valkey/valkey-server-hongbao.log", "valkey", 2, false, false, OF_REDIS, "Valkey does not start again" },
};

/* A line of files.md. */
struct owned {
    const char *path;
    mode_t mode;
    char owner[NAME_BYTES_MAX], group[NAME_BYTES_MAX];
};

/* The input of the check of one path, and what it has found. */
struct look {
    struct doctor *d;
    const struct owned *owned;
    const struct need *need; /* NULL: for root alone */
    size_t below;            /* entries below the path that a user can't use */
    const char *first;       /* the first of these entries */
    const char *first_user;
    const char **parents_told; /* folders above that were reported; room for PARENTS_MAX */
};

/* ---- what a user may do ---- */

/* Whether the mode gives the user all the bits. A user who does not exist needs nothing. */
static bool user_may(const char *user, const struct stat *info, unsigned bits)
{
    gid_t groups[GROUPS_MAX];
    int count = GROUPS_MAX;
    const struct passwd *who = getpwnam(user);
    if (who == NULL || who->pw_uid == 0)
        return true;
    if (who->pw_uid == info->st_uid)
        return ((info->st_mode >> 6) & bits) == bits;
    if (getgrouplist(user, who->pw_gid, groups, &count) < 0)
        count = GROUPS_MAX;
    for (int i = 0; i < count; i++)
        if (groups[i] == info->st_gid)
            return ((info->st_mode >> 3) & bits) == bits;
    return (info->st_mode & bits) == bits;
}

/* The first of the users who lacks the rights, in the arena; NULL: all have them. */
static const char *user_without(struct doctor *d, const char *users, const struct stat *info, unsigned bits)
{
    struct str rest = str_from(users);
    while (rest.ptr != NULL) {
        const char *user = arena_cstr(d->arena, str_cut(rest, ' ', &rest));
        if (user != NULL && !user_may(user, info, bits))
            return user;
    }
    return NULL;
}

/* ---- what is wrong ---- */

static const char *names_of(struct doctor *d, const struct stat *info)
{
    const struct passwd *owner = getpwuid(info->st_uid);
    const char *user = owner != NULL ? finding_text(&d->found, "%s", owner->pw_name)
                                     : finding_text(&d->found, "%u", (unsigned)info->st_uid);
    const struct group *group = getgrgid(info->st_gid);
    return group != NULL ? finding_text(&d->found, "%s:%s", user, group->gr_name)
                         : finding_text(&d->found, "%s:%u", user, (unsigned)info->st_gid);
}

/* The command that gives the path its owner and mode, for a tree with all that is below: a folder of a store also gets
 * its owner there, and nginx may read the files that it serves. */
static const char *mend_text(const struct look *look)
{
    const struct owned *o = look->owned;
    const bool is_tree = look->need != NULL && look->need->is_tree;
    const bool is_served = is_tree && (look->need->bits & 2) == 0;
    return finding_text(&look->d->found, "chown %s%s:%s %s && chmod %o %s%s%s", is_tree ? "-R " : "", o->owner,
                        o->group, o->path, (unsigned)o->mode, o->path,
                        !is_tree    ? ""
                        : is_served ? " && chmod -R a+rX "
                                    : " && chmod -R u+rwX ",
                        is_tree ? o->path : "");
}

static void mode_tell(const struct look *look, const struct stat *info, const char *because)
{
    const struct owned *o = look->owned;
    finding_wrong(&look->d->found, "file-mode", mend_text(look), "%s is %03o %s, not %03o %s:%s: %s", o->path,
                  (unsigned)(info->st_mode & 0777), names_of(look->d, info), (unsigned)o->mode, o->owner, o->group,
                  because);
}

/* Whether the owner is right. Root may own a file in place of its owner: the rights of the users who need it are
 * checked besides. */
static bool owner_is_right(const struct owned *o, const struct stat *info)
{
    const struct passwd *owner = getpwnam(o->owner);
    return owner == NULL || info->st_uid == owner->pw_uid || info->st_uid == 0;
}

/* The rights that the file gives a wrong group beyond what everybody has. */
static mode_t mode_of_another_group(const struct owned *o, const struct stat *info)
{
    const struct group *group = getgrnam(o->group);
    if (group == NULL || info->st_gid == group->gr_gid || info->st_gid == 0)
        return 0;
    return info->st_mode & S_IRWXG & ~((o->mode & S_IRWXO) << 3);
}

/* Checks the path itself, without its parents. Returns whether it is right. */
static bool path_check(const struct look *look, const struct stat *info)
{
    const struct owned *o = look->owned;
    const mode_t more = (info->st_mode & ~o->mode & (S_IRWXG | S_IRWXO)) | mode_of_another_group(o, info);
    const char *user = look->need == NULL ? NULL : user_without(look->d, look->need->users, info, look->need->bits);
    if (user != NULL)
        mode_tell(look, info, finding_text(&look->d->found, "%s can't use it, so %s", user, look->need->use));
    else if (more != 0)
        mode_tell(look, info,
                  (more & (S_IWGRP | S_IWOTH)) != 0 ? "more users than it needs may change it"
                                                    : "more users than it needs may read it");
    else if (!owner_is_right(o, info))
        mode_tell(look, info, "another user than it needs may change it");
    return user == NULL && more == 0 && owner_is_right(o, info);
}

/* Whether the entry is one that Debian or the file system keeps for root alone beside the files of a store. */
static bool is_of_root(const char *path)
{
    static const char *const NAMES[] = { "/lost+found", "/mysql_upgrade_info", "/mariadb_upgrade_info", "/debian-" };
    const char *name = strrchr(path, '/');
    for (size_t i = 0; name != NULL && i < ARRAY_LEN(NAMES); i++)
        if (strncmp(name, NAMES[i], strlen(NAMES[i])) == 0)
            return true;
    return false;
}

static void below_check(void *ctx, const char *path, const struct stat *info)
{
    struct look *look = ctx;
    if (is_of_root(path))
        return;
    const unsigned bits = S_ISDIR(info->st_mode) ? look->need->bits : look->need->bits & ~1U;
    const char *user = user_without(look->d, look->need->users, info, bits);
    if (user == NULL || look->below++ > 0)
        return;
    look->first = finding_text(&look->d->found, "%s", path);
    look->first_user = user;
}

static void below_tell(struct look *look)
{
    file_walk(look->owned->path, below_check, look);
    if (look->below > 0)
        finding_wrong(
            &look->d->found, "file-mode", mend_text(look), "%s can't use %s%s, so %s", look->first_user, look->first,
            look->below > 1 ? finding_text(&look->d->found, " and %zu more", look->below - 1) : "", look->need->use);
}

/* Checks that the users may pass the folders above the path; reports each folder once. False: they can't pass one. */
static bool parents_check(const struct look *look)
{
    const char *path = look->owned->path;
    for (const char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        struct stat info;
        size_t told = 0;
        const char *parent = finding_text(&look->d->found, "%.*s", (int)(slash - path), path);
        if (parent == NULL || stat(parent, &info) != 0)
            continue;
        const char *user = user_without(look->d, look->need->users, &info, 1);
        if (user == NULL)
            continue;
        while (told < PARENTS_MAX && look->parents_told[told] != NULL && strcmp(look->parents_told[told], parent) != 0)
            told++;
        if (told < PARENTS_MAX && look->parents_told[told] == NULL) {
            look->parents_told[told] = parent;
            finding_wrong(&look->d->found, "file-mode", finding_text(&look->d->found, "chmod a+x %s", parent),
                          "%s is %03o: %s may not pass through it to %s, so %s", parent,
                          (unsigned)(info.st_mode & 0777), user, path, look->need->use);
        }
        return false;
    }
    return true;
}

/* ---- the paths ---- */

static const struct need *need_of(const char *path)
{
    for (size_t i = 0; i < ARRAY_LEN(NEEDS); i++)
        if (strcmp(NEEDS[i].path, path) == 0)
            return &NEEDS[i];
    return NULL;
}

static bool is_own(const struct doctor *d, const struct need *need)
{
    const struct redis_own *redis = check_redis_own(d->config);
    if (need == NULL || need->part == OF_SITE)
        return true;
    return need->part == OF_REDIS ? redis != NULL && strstr(need->users, redis->name) != NULL
                                  : check_mysql_unit(d->config) != NULL;
}

static void missing_tell(const struct look *look)
{
    const bool is_of_nginx = strcmp(look->owned->path, "/var/cache/hongbao") == 0;
    if (look->need != NULL && look->need->is_vital && (look->d->has_setup || is_of_nginx))
        finding_wrong(&look->d->found, "file-missing",
                      is_of_nginx ? "systemd-tmpfiles --create hongbao.conf && systemctl reload nginx" : DOCTOR_SETUP,
                      "there is no %s, so %s", look->owned->path, look->need->use);
}

static void owned_check(struct look *look)
{
    struct stat info;
    if (!is_own(look->d, look->need) || (look->need != NULL && !parents_check(look)))
        return;
    const bool is_secret = strcmp(look->owned->path, look->d->config->secret_file) == 0;
    if (stat(look->owned->path, &info) != 0) {
        if (errno == ENOENT)
            missing_tell(look);
    } else if (is_secret && (info.st_mode & S_IRWXO) != 0) {
        return; /* reported as secret-file */
    } else if (path_check(look, &info) && look->need != NULL && look->need->is_tree) {
        below_tell(look);
    }
}

/* Reads a line "PATH MODE OWNER:GROUP". False: the line is none. */
static bool owned_read(struct doctor *d, struct str line, struct owned *o)
{
    unsigned mode;
    struct str rest, group, path = str_cut(line, ' ', &rest), names;
    if (rest.ptr == NULL || sscanf(rest.ptr, "%o", &mode) != 1)
        return false;
    (void)str_cut(rest, ' ', &names);
    struct str owner = str_cut(str_or_empty(names), ':', &group);
    o->path = arena_cstr(d->arena, path);
    o->mode = (mode_t)mode;
    (void)snprintf(o->owner, sizeof o->owner, "%.*s", STR_ARG(owner));
    (void)snprintf(o->group, sizeof o->group, "%.*s", STR_ARG(str_or_empty(group)));
    return o->path != NULL;
}

void doctor_check_access(struct doctor *d)
{
    const char *parents_told[PARENTS_MAX] = { NULL };
    struct str rest = str_from(files_owned);
    struct owned owned;
    while (d->is_service && rest.ptr != NULL) {
        struct str line = str_cut(rest, '\n', &rest);
        if (!owned_read(d, line, &owned))
            continue;
        struct look look = { .d = d, .owned = &owned, .need = need_of(owned.path), .parents_told = parents_told };
        owned_check(&look);
    }
}
