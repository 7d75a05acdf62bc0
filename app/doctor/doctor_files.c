/* Files that others should not read or change. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "doctor/file_walk.h"
#include "web/assets.h"

enum { PATH_BYTES_MAX = 4096, SECRET_LETTERS_MIN = 10, KEYS_TEXT_MAX = 4096 };

/* Paths that hongbao setup makes (deploy/commands/setup.sh): the list of what it has made, and the folder that nginx
 * serves. */
#define SETUP_MADE  "/var/lib/hongbao/made"
#define STATIC_COPY "/var/lib/hongbao/static"

/* Reports a secret that others than its owner and one group can read. */
static void secret_file_check(struct doctor *d, const char *path, const char *what)
{
    struct stat info;
    if (stat(path, &info) != 0 || (info.st_mode & S_IRWXO) == 0)
        return;
    finding_of(&d->found, "secret-file", "chmod o= {}",
               finding_text(&d->found, "everybody on this machine may read %s", what), path);
}

static void role_files_check(struct doctor *d)
{
    char path[PATH_BYTES_MAX];
    for (size_t i = 0; i < ROLE_COUNT && d->config->rights_dir[0] != '\0'; i++) {
        (void)snprintf(path, sizeof path, "%s/%s.conf", d->config->rights_dir, d->roles[i].name);
        secret_file_check(d, path, "the passwords of roles");
        (void)snprintf(path, sizeof path, "%s/%s.keys", d->config->rights_dir, d->roles[i].name);
        secret_file_check(d, path, "the keys of roles");
    }
}

static void secret_missing_tell(struct doctor *d)
{
    const char *path = d->config->secret_file;
    const char *mend = geteuid() != 0 && access(path, R_OK) != 0 && errno == EACCES ? "sudo hongbao doctor"
                       : path[0] != '\0'
                           ? finding_text(&d->found, "install -m 600 COPY %s # COPY: your copy of this file", path)
                           : "secret_file = FILE # in the configuration; FILE: your copy of the secret";
    finding_wrong(
        &d->found, "secret-missing", mend,
        "the secret of the site is missing: %s. No link to a packet works without it, or without the keys that were"
        " made from it, and no backup has it: it is in your copy of the configuration. Without any copy a new one"
        " is the last resort (docs/how-to/rotate-secrets.md)",
        d->secret_error);
}

static const char *secret_draw(struct doctor *d)
{
    const char *path = d->config->secret_file;
    return d->has_setup && path[0] != '\0'
               ? finding_text(
                     &d->found,
                     "systemctl stop hongbao.target; openssl rand -hex 32 >%s; hongbao setup --non-interactive", path)
               : "secret = what `openssl rand -hex 32` prints";
}

/* Compares the role's file with what `hongbao keys` would print now. */
static void role_keys_check(struct doctor *d, const char *role)
{
    char path[PATH_BYTES_MAX], is[KEYS_TEXT_MAX] = "", wanted[KEYS_TEXT_MAX] = "";
    unsigned set;
    if (!keys_of_role(str_from(role), &set) || set == 0)
        return;
    (void)snprintf(path, sizeof path, "%s/%s.keys", d->config->rights_dir, role);
    FILE *file = fopen(path, "re"), *text = fmemopen(wanted, sizeof wanted, "w");
    bool read = file != NULL && fread(is, 1, sizeof is - 1, file) > 0;
    bool made = text != NULL && keys_print(&d->config->keys, str_from(role), text);
    if (text != NULL)
        made = fclose(text) == 0 && made;
    if (file != NULL)
        fclose(file);
    /* A pool without a file of keys may read the secret instead, where the site is no service of this machine. */
    if (made && (read ? strcmp(is, wanted) != 0 : d->is_service))
        finding_wrong(
            &d->found, "role-keys",
            d->has_setup ? DOCTOR_SETUP : finding_text(&d->found, "umask 077; hongbao keys %s >%s", role, path),
            read ? "%s has other keys than the secret and older_keys give: the pool %s does not know what other pools"
                   " make. Is it the secret of this site?"
                 : "%s can't be read: the pool %s would need the secret itself",
            path, role);
    sodium_memzero(is, sizeof is);
    sodium_memzero(wanted, sizeof wanted);
}

/* A secret with few different letters was probably typed by a person instead of drawn at random. */
static void secret_check(struct doctor *d)
{
    bool seen[256] = { false };
    size_t different = 0;
    if (d->secret_error[0] != '\0') {
        secret_missing_tell(d);
        return;
    }
    for (const char *c = d->config->secret; *c != '\0'; c++) {
        different += !seen[(unsigned char)*c];
        seen[(unsigned char)*c] = true;
    }
    if (different < SECRET_LETTERS_MIN)
        finding_wrong(&d->found, "secret-weak", secret_draw(d),
                      "the secret has only %zu different characters: it can be guessed. Another one changes every link"
                      " that people have (docs/how-to/rotate-secrets.md)",
                      different);
    for (size_t i = 0; i < ROLE_COUNT && different >= SECRET_LETTERS_MIN && d->config->rights_dir[0] != '\0'; i++)
        role_keys_check(d, d->roles[i].name);
}

/* The files of one setting that everybody may change. */
struct writable {
    struct doctor *d;
    const char *setting;
};

static void writable_check(void *ctx, const char *path, const struct stat *info)
{
    struct writable *w = ctx;
    if ((info->st_mode & S_IWOTH) != 0)
        finding_of(
            &w->d->found, "writable-file", "chmod o-w {}",
            finding_text(&w->d->found, "everybody on this machine may change what the program trusts (%s)", w->setting),
            path);
}

static void trusted_folder_check(struct doctor *d, const char *setting, const char *path)
{
    struct writable w = { .d = d, .setting = setting };
    file_walk(path, writable_check, &w);
}

static void counters_check(struct doctor *d)
{
    struct stat info;
    const char *path = d->config->metrics_file;
    if (stat(path, &info) != 0) {
        if (errno == ENOENT)
            finding_wrong(&d->found, "metrics-missing",
                          d->is_service ? CHECK_COUNTERS_MEND
                                        : "start the pools and the worker: the first one makes it",
                          "there is no file of counters %s", path);
        return;
    }
    if (!S_ISREG(info.st_mode))
        finding_wrong(&d->found, "metrics-missing",
                      d->is_service ? finding_text(&d->found, "mv %s %s.wrong; " CHECK_COUNTERS_MEND, path, path)
                                    : finding_text(&d->found, "remove %s, and restart the pools", path),
                      "%s is no file, so every process counts for itself", path);
    else if ((info.st_mode & S_IRWXO) != 0)
        finding_wrong(&d->found, "metrics-mode", finding_text(&d->found, "chmod 0660 %s", path),
                      "everybody on this machine may read or change the counters %s", path);
}

static void nginx_counts_check(struct doctor *d)
{
    struct stat info;
    if (stat(d->config->nginx_counts_dir, &info) != 0 || !S_ISDIR(info.st_mode))
        finding_wrong(&d->found, "nginx-counts",
                      d->is_service ? check_setting_mend(d->config, &d->found, "nginx_counts_dir", NULL)
                                    : "set nginx_counts_dir to the folder of nginx's counting logs",
                      "nginx_counts_dir: there is no folder %s, so /metrics lacks what nginx's limits refused",
                      d->config->nginx_counts_dir);
}

/* Compares nginx's copy of static_dir with static_dir. Reports only the first file that differs: one command mends
 * all. */
static void static_copy_check(struct doctor *d)
{
    struct assets *assets = NULL;
    const char *folder = d->config->static_dir;
    if (!d->is_service || access(SETUP_MADE, F_OK) != 0)
        return; /* hongbao setup has made no copy */
    if (assets_load(folder, &assets) != ST_OK)
        return; /* reported as "static" */
    const char *file = assets_uncopied(assets, STATIC_COPY);
    if (file != NULL)
        finding_wrong(&d->found, "static-copy",
                      d->has_setup
                          ? DOCTOR_SETUP
                          : finding_text(&d->found, "/usr/share/hongbao/static-copy.sh %s " STATIC_COPY, folder),
                      "%s/%s is not as %s/%s: nginx serves another file than pages link, or none", STATIC_COPY, file,
                      folder, file);
    assets_free(assets);
}

void doctor_check_files(struct doctor *d)
{
    const struct config *c = d->config;
    if (c->file[0] != '\0' && (c->secret_file[0] == '\0' || c->rights_dir[0] == '\0'))
        secret_file_check(d, c->file, "the secret of the site or passwords");
    if (c->secret_file[0] != '\0')
        secret_file_check(d, c->secret_file, "the secret of the site");
    role_files_check(d);
    secret_check(d);
    trusted_folder_check(d, "template_dir", c->template_dir);
    trusted_folder_check(d, "lua_dir", c->lua_dir);
    trusted_folder_check(d, "sql_dir", c->sql_dir);
    trusted_folder_check(d, "static_dir", c->static_dir);
    static_copy_check(d);
    counters_check(d);
    nginx_counts_check(d);
}
