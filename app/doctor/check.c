#include "doctor/check.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/buf.h"
#include "config/address.h"
#include "config/settings.h"
#include "doctor/file_walk.h"
#include "io/metrics.h"
#include "live/stores.h"
#include "migrate/migrations.h"
#include "packet/receipt_keys.h"
#include "site/templates.h"
#include "user/passkey.h"
#include "web/assets.h"
#include "web/templates.h"

/* Lines "NAME = VALUE" of the settings with which setup has last run (deploy/commands/setup/config.sh). */
#define SETUP_FILE    "/var/lib/hongbao/settings"

#define ISSUER_READER "hongbao-sso" /* the user of the pool sso */

enum {
    ERROR_MAX = 1024,
    SETUP_BYTES_MAX = 64 << 10,
    ARENA_BYTES = 16 << 10,
    ARENA_BYTES_MAX = 16 << 20,
    NAME_MAX_BYTES = 64
};

extern char **environ;

/* ---- the environment ---- */

/* Variables that are no settings: of the program, of ./dev and its tests. */
static bool variable_is_known(struct str name)
{
    static const char *const known[] = { "CONFIG", "CRASH", "BUILD", "BINARY" };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_equal(name, str_from(known[i])))
            return true;
    return str_starts(name, STR("TEST_"));
}

/* Whether name, without HB_, is the setting's name in capitals. */
static bool variable_sets(struct str name, const char *setting)
{
    size_t i = 0;
    while (i < name.len && setting[i] != '\0' && name.ptr[i] == (char)toupper((unsigned char)setting[i]))
        i++;
    return i == name.len && setting[i] == '\0';
}

static bool is_setting(struct str name)
{
    size_t count, i = 0;
    const struct config_setting *settings = config_settings(&count);
    while (i < count && !variable_sets(name, settings[i].name) &&
           (settings[i].older == NULL || !variable_sets(name, settings[i].older)))
        i++;
    return i < count;
}

/* Whether the shell takes it as the name of a variable. */
static bool variable_is_plain(struct str name)
{
    size_t i = 0;
    while (i < name.len && (isalnum((unsigned char)name.ptr[i]) || name.ptr[i] == '_'))
        i++;
    return i == name.len;
}

/* name is a variable's, without HB_. */
static void variable_check(struct str name, struct findings *found)
{
    char upper[NAME_MAX_BYTES] = "";
    const char *like = config_setting_like(name);
    if (variable_is_known(name) || is_setting(name))
        return;
    for (size_t i = 0; like != NULL && like[i] != '\0' && i < sizeof upper - 1; i++)
        upper[i] = (char)toupper((unsigned char)like[i]);
    finding_wrong(found, "environment",
                  variable_is_plain(name)
                      ? finding_text(found, "unset HB_%.*s%s%s%s", STR_ARG(name),
                                     like != NULL ? " # did you mean HB_" : "", upper, like != NULL ? "?" : "")
                      : "remove the variable",
                  "HB_%.*s in the environment is no setting", STR_ARG(name));
}

static void environment_check(const struct config *config, struct findings *found)
{
    (void)config;
    for (char **variable = environ; *variable != NULL; variable++) {
        struct str rest, name = str_cut(str_from(*variable), '=', &rest);
        if (str_skip_prefix(&name, STR("HB_")))
            variable_check(name, found);
    }
}

/* ---- settings ---- */

static bool host_is_own(struct str host)
{
    static const char *const own[] = { "localhost", "127.0.0.1", "[::1]" };
    for (size_t i = 0; i < ARRAY_LEN(own); i++) {
        struct str rest = host;
        if (str_skip_prefix(&rest, str_from(own[i])) && (rest.len == 0 || rest.ptr[0] == ':' || rest.ptr[0] == '/'))
            return true;
    }
    return false;
}

/* Without TLS the session's cookie is not Secure, and anybody on the network path can read it. Demo money is worth
 * nothing. */
static void base_url_check(const struct config *config, struct findings *found)
{
    struct str url = str_from(config->base_url);
    if (str_skip_prefix(&url, STR("http://")) && !host_is_own(url) && !config->demo)
        finding_wrong(found, "base-url",
                      check_is_service(config)
                          ? "sed -i 's,^\\s*base_url\\s*=\\s*http:,base_url = https:,' " CONFIG_FILE
                            " && " CHECK_SERVICE_RELOAD
                          : "set base_url to the https:// address of the site (docs/how-to/tls.md)",
                      "base_url is http:// and demo is off: passwords and sessions can be read on the way, and cookies"
                      " are not Secure");
}

/* Without passwords somebody must be able to log in: by an issuer, or by passkey, which browsers allow only at some
 * addresses. */
static void login_check(const struct config *config, struct findings *found)
{
    struct passkey_site site;
    if (config->password_login || config->oidc_issuer[0] != '\0' ||
        passkey_site_read(found->arena, str_from(config->base_url), &site))
        return;
    finding_wrong(found, "no-login", check_setting_mend(config, found, "password_login", "on"),
                  "password_login is off, there is no oidc_issuer, and browsers allow no passkeys at base_url: nobody"
                  " can log in; passkeys need https:// and a domain name");
}

bool check_is_service(const struct config *config)
{
    return strcmp(config->file, CONFIG_FILE) == 0 && access("/run/systemd/system", F_OK) == 0;
}

/* Whether the shell takes the text between single quotes as it is. */
static bool is_plain(const char *text)
{
    return strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:/[]-") == strlen(text);
}

const char *check_setting_mend(const struct config *config, struct findings *found, const char *name, const char *value)
{
    if (!check_is_service(config) || (value != NULL && !is_plain(value)))
        return value == NULL ? finding_text(found, "remove the setting %s", name)
                             : finding_text(found, "%s = %s", name, value);
    const char *add = value == NULL ? "" : finding_text(found, "echo '%s = %s' >>" CONFIG_FILE " && ", name, value);
    return finding_text(found, "sed -i '/^\\s*%s\\s*=/d' " CONFIG_FILE " && %s" CHECK_SERVICE_RELOAD, name,
                        add == NULL ? "" : add);
}

const char *check_two_settings_mend(const struct config *config, struct findings *found, const char *const names[2],
                                    const char *const values[2])
{
    const char *second = check_setting_mend(config, found, names[1], values[1]);
    if (second == NULL)
        return NULL;
    if (!check_is_service(config) || !is_plain(values[0]) || !is_plain(values[1]))
        return finding_text(found, "%s = %s; %s = %s", names[0], values[0], names[1], values[1]);
    return finding_text(found, "sed -i '/^\\s*%s\\s*=/d' " CONFIG_FILE " && echo '%s = %s' >>" CONFIG_FILE " && %s",
                        names[0], names[0], values[0], second);
}

const char *check_package_mend(struct findings *found, const char *why)
{
    return finding_text(found,
                        "apt-get install -y --reinstall --allow-downgrades ./hongbao_*.deb # in the folder of %s", why);
}

#define REDIS_OWN(name)                                                                                                \
    {                                                                                                                  \
        name, "unix:/run/" name "-hongbao/" name "-server.sock", name "-server@hongbao", name "-cli",                  \
            "/etc/" name "/" name "-hongbao.conf", "/var/lib/" name "/hongbao"                                         \
    }

const struct redis_own *check_redis_own(const struct config *config)
{
    static const struct redis_own names[] = { REDIS_OWN("redis"), REDIS_OWN("valkey") };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(config->redis, names[i].address) == 0 && check_is_service(config))
            return &names[i];
    return NULL;
}

const char *check_redis_unit(const struct config *config)
{
    const struct redis_own *own = check_redis_own(config);
    return own == NULL ? NULL : own->unit;
}

const char *check_mysql_unit(const struct config *config)
{
    bool is_own = strcmp(config->mysql, "unix:/run/mysqld/mysqld.sock") == 0;
    return is_own && check_is_service(config) ? "mariadb" : NULL;
}

/* ---- files ---- */

/* The mend for a folder of this version whose rights or contents are wrong. */
static const char *folder_mend(const struct config *config, struct findings *found, const char *setting,
                               const char *path, const char *name)
{
    if (str_starts(str_from(path), str_from(config_data_dir())))
        return check_is_service(config) ? check_package_mend(found, "the package of this version")
                                        : "install the program again";
    if (!check_is_service(config))
        return finding_text(found, "set %s to the folder %s of this version", setting, name);
    const char *reset = check_setting_mend(config, found, setting, NULL);
    return reset == NULL ? NULL : finding_text(found, "%s # or mend %s", reset, path);
}

static void scripts_check(const struct config *config, struct findings *found)
{
    struct stores stores;
    char error[ERROR_MAX];
    if (stores_open(&stores, config, false, error, sizeof error) == ST_OK)
        stores_close(&stores);
    else
        finding_wrong(found, "scripts", folder_mend(config, found, "lua_dir", config->lua_dir, "lua"), "lua_dir: %s",
                      error);
}

static void migrations_check(const struct config *config, struct findings *found)
{
    char error[ERROR_MAX] = "";
    struct migrations *known = NULL;
    FILE *out = fmemopen(error, sizeof error, "w");
    enum status st = out == NULL ? ST_NO_MEMORY : migrations_read(config->sql_dir, &known, out);
    if (out != NULL)
        (void)fclose(out);
    if (st == ST_OK && known->count == 0) {
        (void)snprintf(error, sizeof error, "there are no migrations in %s/migrations", config->sql_dir);
        st = ST_INVALID;
    }
    if (st != ST_OK)
        finding_wrong(found, "migrations", folder_mend(config, found, "sql_dir", config->sql_dir, "sql"), "sql_dir: %s",
                      error[0] != '\0' ? error : status_name(st));
    migrations_free(known);
}

static void templates_check(const struct config *config, struct findings *found)
{
    struct templates templates = { .needed = site_templates };
    char error[ERROR_MAX] = "";
    enum status st = templates_load(config->template_dir, &templates, error, sizeof error);
    if (st != ST_OK)
        finding_wrong(found, "templates", folder_mend(config, found, "template_dir", config->template_dir, "templates"),
                      "template_dir: %s: %s", config->template_dir, error[0] != '\0' ? error : status_name(st));
    templates_free(&templates);
}

static void static_check(const struct config *config, struct findings *found)
{
    static const char *const needed[] = { "app.css", "app.js", "favicon.svg" };
    const char *mend = folder_mend(config, found, "static_dir", config->static_dir, "static");
    struct assets *assets = NULL;
    enum status st = assets_load(config->static_dir, &assets);
    if (st != ST_OK) {
        finding_wrong(found, "static", mend, "static_dir: %s: %s", config->static_dir,
                      st == ST_UNAVAILABLE ? strerror(errno) : status_name(st));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(needed); i++)
        if (assets_url(assets, str_from(needed[i])).len == 0)
            finding_wrong(found, "static", mend, "static_dir: %s has no %s", config->static_dir, needed[i]);
    assets_free(assets);
}

static void receipt_keys_check(const struct config *config, struct findings *found)
{
    struct receipt_keys keys;
    char error[ERROR_MAX] = "";
    enum status st = ST_OK;
    if (config->keys.has[KEY_RECEIPTS])
        st = receipt_keys_open(&keys, config, error, sizeof error);
    else if (config->receipt_keys_file[0] != '\0') /* the doctor runs without the secret, too */
        st = receipt_keys_open_file(&keys, config->receipt_keys_file, error, sizeof error);
    else
        return;
    if (st == ST_OK)
        receipt_keys_close(&keys);
    else
        finding_wrong(found, "receipt-keys", check_setting_mend(config, found, "receipt_keys_file", NULL),
                      "receipt_keys_file: %s. Without the file, receipts that an earlier secret has signed can't be"
                      " checked: mend it if they matter (docs/reference/receipt.md)",
                      error[0] != '\0' ? error : status_name(st));
}

/* The secret of this site at the issuer is for the pool sso alone: whoever has it can be this site. */
static void issuer_secret_check(const struct config *config, struct findings *found)
{
    const char *path = config->oidc_client_secret_file;
    const bool is_service = check_is_service(config);
    const struct passwd *reader = is_service ? getpwnam(ISSUER_READER) : NULL;
    struct stat info;
    if (config->oidc_issuer[0] == '\0' || path[0] == '\0')
        return;
    if (stat(path, &info) != 0)
        finding_wrong(found, "issuer-secret",
                      finding_text(found, "install -m 400 %s/dev/stdin %s # and paste what the issuer gave",
                                   is_service ? "-o " ISSUER_READER " " : "", path),
                      "oidc_client_secret_file: %s: %s", path, strerror(errno));
    else if ((info.st_mode & (is_service ? S_IRWXG | S_IRWXO : S_IRWXO)) != 0)
        finding_wrong(found, "issuer-secret", finding_text(found, "chmod %s %s", is_service ? "400" : "o=", path),
                      "oidc_client_secret_file: others than the pool sso may read or change %s", path);
    else if (reader != NULL && info.st_uid != reader->pw_uid)
        finding_wrong(found, "issuer-secret", finding_text(found, "chown " ISSUER_READER " %s", path),
                      "oidc_client_secret_file: %s does not belong to " ISSUER_READER ", whose pool can't read it",
                      path);
}

/* ---- what setup has made ---- */

/* The value of a line "NAME = VALUE" of the text; absent without one. */
static struct str line_value(struct str text, const char *name)
{
    while (text.len > 0) {
        struct str value, line = str_cut(text, '\n', &text);
        if (str_equal(str_trim(str_cut(line, '=', &value)), str_from(name)))
            return str_trim(str_or_empty(value));
    }
    return STR_NONE;
}

/* Whether setup can know this value: it does not set up sites whose stores are on other machines. */
static bool is_of_setup(const struct config_setting *setting, const char *value)
{
    const bool is_address = strcmp(setting->name, "redis") == 0 || strcmp(setting->name, "mysql") == 0;
    return !is_address || (strncmp(value, "unix:", strlen("unix:")) == 0 && strchr(value, ',') == NULL);
}

/* Whether the settings are still those with which setup last granted rights and made keys. */
static void setup_check(const struct config *config, struct findings *found)
{
    struct buf text = { .limit = SETUP_BYTES_MAX };
    size_t count;
    const struct config_setting *settings = config_settings(&count);
    if (!check_is_service(config) || config_stores_by_tcp(config) || buf_file(&text, SETUP_FILE) != ST_OK)
        count = 0; /* a site that was made by hand */
    for (size_t i = 0; i < count; i++) {
        char value[CONFIG_TEXT_MAX] = "";
        struct str then = line_value(buf_view(&text), settings[i].name);
        FILE *out = then.ptr == NULL ? NULL : fmemopen(value, sizeof value, "w");
        if (out == NULL)
            continue;
        (void)config_value_print(config, &settings[i], out);
        (void)fclose(out);
        if (then.len == 0)
            then = str_from(settings[i].preset);
        if (is_of_setup(&settings[i], value) && !str_equal(then, str_from(value)))
            finding_wrong(found, "setup-needed", "hongbao setup --non-interactive",
                          "%s has changed since the last hongbao setup, from '%.*s' to '%s': rights, keys and files are"
                          " still for the value of before",
                          settings[i].name, STR_ARG(then), value);
    }
    buf_free(&text);
}

/* ---- this machine ---- */

/* The folder of a path: "/run/redis" for "/run/redis/redis.sock". */
static const char *folder_of(const char *path, struct findings *found)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? "." : slash == path ? "/" : finding_text(found, "%.*s", (int)(slash - path), path);
}

/* unit: of the store, which systemd runs; NULL: unknown. */
static void folder_check(const char *name, const char *setting, const char *path, const char *unit,
                         struct findings *found)
{
    struct stat info;
    const char *folder = folder_of(path, found);
    if (folder == NULL || (stat(folder, &info) == 0 && S_ISDIR(info.st_mode)))
        return;
    finding_wrong(found, name, unit != NULL ? finding_text(found, "systemctl start %s", unit) : "start the server",
                  "there is no folder %s: the server does not run, or %s does not name its socket", folder, setting);
}

/* addresses: the setting's value. Whether a TCP address answers is known only by connecting. */
static void addresses_check(const char *name, const char *setting, const char *addresses, const char *unit,
                            struct findings *found)
{
    struct address_list list;
    if (address_list_read(str_from(addresses), &list) != NULL)
        return;
    for (size_t i = 0; i < list.count; i++)
        if (list.items[i].port == 0)
            folder_check(name, setting, list.items[i].name, unit, found);
}

static void sockets_check(const struct config *config, struct findings *found)
{
    addresses_check("redis-socket", "redis", config->redis, check_redis_unit(config), found);
    addresses_check("mysql-socket", "mysql", config->mysql, check_mysql_unit(config), found);
}

/* The command that lets the processes write the file of counters. error: errno after this process tried to open it. */
static const char *metrics_mend(const struct config *config, const char *folder, int error, struct findings *found)
{
    const char *file = config->metrics_file;
    if (error == EROFS && check_is_service(config))
        return finding_text(found, "mount -o remount,rw \"$(findmnt -n -o TARGET -T %s)\"", file);
    if (check_is_service(config))
        return CHECK_COUNTERS_MEND;
    return error == ENOENT ? finding_text(found, "mkdir -p %s, writable for the group of all processes", folder)
                           : finding_text(found, "chmod 0660 %s, in the group of all processes", file);
}

/* A process that can't open the file keeps its counts to itself: /metrics lacks them. */
static void metrics_check(const struct config *config, struct findings *found)
{
    const char *folder = folder_of(config->metrics_file, found);
    if (folder == NULL || access(config->metrics_file, R_OK | W_OK) == 0)
        return;
    int error = errno;
    if (error == ENOENT && access(folder, W_OK | X_OK) == 0)
        return; /* the first process makes it */
    finding_wrong(found, "metrics-file", metrics_mend(config, folder, error, found),
                  "metrics_file: %s can't be written: %s", config->metrics_file, strerror(error));
}

/* Files that the processes may be unable to read. The check runs as root, who can read everything, so it compares
 * rights instead. */
struct unreadable {
    struct findings *found;
    const char *setting;
    const struct stat *processes; /* of the file of the counters: its group is the processes' group, and its owner if */
    bool has_owner;               /* the owner is one of the processes; the package makes the file as root */
};

/* The mode of the file for the processes, shifted to the bits of others. */
static mode_t mode_for_processes(const struct unreadable *u, const struct stat *info)
{
    mode_t allowed = info->st_mode;
    if (u->has_owner && info->st_uid == u->processes->st_uid)
        allowed |= (info->st_mode & S_IRWXU) >> 6;
    if (info->st_gid == u->processes->st_gid)
        allowed |= (info->st_mode & S_IRWXG) >> 3;
    return allowed;
}

static void readable_check(void *ctx, const char *path, const struct stat *info)
{
    struct unreadable *u = ctx;
    const mode_t needed = S_ISDIR(info->st_mode) ? S_IROTH | S_IXOTH : S_IROTH;
    if ((mode_for_processes(u, info) & needed) != needed)
        finding_of(
            u->found, "unreadable-file", "chmod a+rX {}",
            finding_text(u->found, "the processes can't read files of %s, so none of them can start", u->setting),
            path);
}

/* Each folder above the path must let the processes through. */
static void parents_check(struct unreadable *u, const char *path)
{
    for (const char *slash = strchr(path, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        struct stat info;
        const char *parent = slash == path ? "/" : finding_text(u->found, "%.*s", (int)(slash - path), path);
        if (parent == NULL || stat(parent, &info) != 0 || (mode_for_processes(u, &info) & S_IXOTH) != 0)
            continue;
        finding_of(u->found, "unreadable-file", "chmod a+x {}",
                   "the processes may not pass through folders of their files, so none of them can start", parent);
    }
}

static void readable_folder_check(const char *setting, const char *path, struct unreadable u)
{
    u.setting = setting;
    parents_check(&u, path);
    file_walk(path, readable_check, &u);
}

static void files_readable_check(const struct config *config, struct findings *found)
{
    struct stat processes;
    if (stat(config->metrics_file, &processes) != 0)
        return; /* no process has run yet */
    const struct unreadable u = { .found = found,
                                  .processes = &processes,
                                  .has_owner = processes.st_uid != 0 || !check_is_service(config) };
    readable_folder_check("template_dir", config->template_dir, u);
    readable_folder_check("lua_dir", config->lua_dir, u);
    readable_folder_check("sql_dir", config->sql_dir, u);
    readable_folder_check("static_dir", config->static_dir, u);
}

static const struct check {
    void (*run)(const struct config *config, struct findings *found);
    enum check_scope scope;
} CHECKS[] = {
    { environment_check, CHECK_FILES },     { base_url_check, CHECK_FILES },         { login_check, CHECK_FILES },
    { scripts_check, CHECK_FILES },         { migrations_check, CHECK_FILES },       { templates_check, CHECK_FILES },
    { static_check, CHECK_FILES },          { receipt_keys_check, CHECK_FILES },     { sockets_check, CHECK_SOCKETS },
    { metrics_check, CHECK_MACHINE },       { files_readable_check, CHECK_MACHINE }, { setup_check, CHECK_MACHINE },
    { issuer_secret_check, CHECK_MACHINE },
};

void check_run(const struct config *config, enum check_scope scope, struct findings *found)
{
    for (size_t i = 0; i < ARRAY_LEN(CHECKS); i++)
        if (CHECKS[i].scope <= scope)
            CHECKS[i].run(config, found);
}

int check_command(const struct config *config, int argc, char **argv)
{
    bool offline = argc == 2 && strcmp(argv[1], "--offline") == 0;
    if (argc != 1 && !offline) {
        (void)fputs("usage: hongbao check [--offline]\n", stderr);
        return 2;
    }
    struct findings found = { .arena = arena_new(ARENA_BYTES, ARENA_BYTES_MAX), .manual = findings_manual() };
    if (found.arena != NULL)
        check_run(config, offline ? CHECK_FILES : CHECK_SOCKETS, &found);
    bool ok = found.arena != NULL && findings_print(&found, stderr);
    arena_free(found.arena);
    if (!ok)
        (void)fputs("hongbao check: out of memory\n", stderr);
    else if (found.wrong == 0)
        (void)puts("hongbao check: configuration, scripts, templates, migrations and static files are fine");
    return ok && found.wrong == 0 ? 0 : 1;
}
