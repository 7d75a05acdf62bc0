#include "doctor/doctor.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "config/address.h"
#include "config/spelling.h"
#include "doctor/check.h"
#include "doctor/doctor_internal.h"
#include "io/sandbox.h"
#include "io/tcp.h"

#define NGINX_FILE "/etc/nginx/nginx.conf"

enum {
    ARENA_BYTES = 256 << 10,
    ARENA_BYTES_MAX = 64 << 20,
    FREE_MIB_MIN = 512,
    FREE_MIB_MAX = 1 << 30,
    NAMES_MAX = 256,
    CONNECT_MS_MAX = 3000,
    ANSWER_MS_MAX = 10000
};

static void check_settings(struct doctor *d)
{
    check_run(d->config, CHECK_MACHINE, &d->found);
}

/* The areas, in the order in which a person would mend them. */
static const struct area {
    const char *name;
    void (*check)(struct doctor *d);
} AREAS[] = {
    { "settings", check_settings },
    { "files", doctor_check_files },
    { "access", doctor_check_access },
    { "roles", doctor_check_roles }, /* logs in, for the areas below; a unit fails without the file of its role */
    { "site", doctor_check_site },
    { "units", doctor_check_units },
    { "redis", doctor_check_redis },
    { "redis-rights", doctor_check_redis_rights },
    { "mysql", doctor_check_mysql },
    { "mysql-rights", doctor_check_mysql_rights },
    { "schema", doctor_check_schema },
    { "audit", doctor_check_audit },
    { "backups", doctor_check_backups },
    { "clocks", doctor_check_clocks },
    { "disks", doctor_check_disks },
    { "nginx", doctor_check_nginx }, /* reads its files, for the areas below */
    { "logs", doctor_check_logs },
    { "certificates", doctor_check_certificates },
    { "pools", doctor_check_pools },
    { "worker", doctor_check_worker },
    { "processes", doctor_check_processes },
};

static const struct {
    const char *name;
    bool uses_mysql, uses_redis;
} ROLES[ROLE_COUNT] = {
    [ROLE_HOT] = { "hot", false, true },           [ROLE_PAGE] = { "page", true, true },
    [ROLE_AUTH] = { "auth", true, true },          [ROLE_CARD] = { "card", true, true },
    [ROLE_MONEY] = { "money", true, true },        [ROLE_SSO] = { "sso", true, true },
    [ROLE_SETTLE] = { "settle", true, true },      [ROLE_AUDIT] = { "audit", true, true },
    [ROLE_MIGRATE] = { "migrate", true, true },    [ROLE_SUPPORT] = { "support", true, true },
    [ROLE_TREASURY] = { "treasury", true, true },  [ROLE_BACKUP] = { "backup", true, true },
    [ROLE_OPERATOR] = { "operator", false, true },
};

int doctor_connect(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) != 0) {
        int error = errno;
        (void)close(fd);
        errno = error;
        fd = -1;
    }
    return fd;
}

/* ---- the roles' logins ---- */

/* Whether the server at the other end answers: a tunnel accepts connections also while its server is away. question:
 * makes the server speak. *why: the reason if it does not. */
static bool server_speaks(int fd, const char *question, const char **why)
{
    struct pollfd waited = { .fd = fd, .events = POLLIN };
    char byte;
    *why = "it accepts connections, and closes them at once";
    if (send(fd, question, strlen(question), MSG_NOSIGNAL) < 0)
        return false;
    if (poll(&waited, 1, ANSWER_MS_MAX) != 1) {
        *why = "it accepts connections, but is silent";
        return false;
    }
    return recv(fd, &byte, sizeof byte, 0) == 1;
}

/* Whether a server at this address answers the question. *why: the reason if not. */
static bool address_answers(const struct address *a, const char *question, const char **why)
{
    int fd = a->port == 0 ? doctor_connect(a->name) : tcp_connect(a->name, a->port, CONNECT_MS_MAX, why);
    if (fd < 0) {
        if (a->port == 0)
            *why = strerror(errno);
        return false;
    }
    const bool speaks = server_speaks(fd, question, why);
    (void)close(fd);
    return speaks;
}

bool doctor_addresses_answer(const char *addresses, const char *question, const char **why)
{
    struct address_list list;
    *why = address_list_read(str_from(addresses), &list);
    const size_t count = *why == NULL ? list.count : 0;
    for (size_t i = 0; i < count; i++)
        if (address_answers(&list.items[i], question, why))
            return true;
    return false;
}

/* A store, with its names in findings. */
struct store {
    const char *finding, *program, *setting, *question;
};

static const struct store STORE_REDIS = { "redis-down", "Redis", "redis", DOCTOR_ASKS_REDIS };
static const struct store STORE_MYSQL = { "mysql-down", "MariaDB", "mysql", DOCTOR_ASKS_MYSQL };

/* Whether a server answers on one of the addresses, the value of the setting. unit: the unit that starts it, or
 * NULL. */
static bool store_answers(struct doctor *d, const struct store *store, const char *addresses, const char *unit)
{
    const char *why;
    if (doctor_addresses_answer(addresses, store->question, &why))
        return true;
    finding_wrong(&d->found, store->finding,
                  unit != NULL
                      ? finding_text(&d->found, "systemctl start %s", unit)
                      : finding_text(&d->found, "start %s, or set %s to its address", store->program, store->setting),
                  "%s does not answer on %s: %s", store->program, addresses, why);
    return false;
}

static void redis_login(struct doctor *d, struct doctor_role *role)
{
    const char *unit = check_redis_unit(d->config);
    if (!role->uses_redis || !d->redis_is_up)
        return;
    role->redis = redis_new(&role->config);
    if (role->redis == NULL || redis_ping(role->redis) == ST_OK)
        return;
    redis_free(role->redis);
    role->redis = NULL;
    finding_of(&d->found, "redis-login",
               unit == NULL && d->has_setup       ? "hongbao setup"
               : role != &d->roles[ROLE_OPERATOR] ? doctor_redis_cli(d, "ACL LOAD")
               : unit != NULL                     ? finding_text(&d->found, "systemctl restart %s", unit)
                                                  : "restart Redis",
               finding_text(&d->found,
                            "Redis refuses users of roles: another password, no such user, or switched off. If the mend"
                            " does not help, put the earlier password back into %s, or make new ones"
                            " (docs/how-to/rotate-secrets.md)",
                            d->config->rights_dir),
               role->config.redis_user);
}

/* Whether the role logs in to MariaDB. True also when there is nothing to try: it has no file, needs no MariaDB, or
 * MariaDB is down. */
static bool mysql_logs_in(struct doctor *d, struct doctor_role *role)
{
    struct db_rows rows;
    if (!role->is_read || !role->uses_mysql || !d->mysql_is_up)
        return true;
    role->db = db_new(&role->config);
    return role->db == NULL || db_query(role->db, d->arena, &rows, "SELECT 1", NULL, 0) == ST_OK;
}

/* Reports why MariaDB refused the role, which has just tried to log in. */
static void mysql_refusal_tell(struct doctor *d, struct doctor_role *role)
{
    const char *refusal = arena_cstr(d->arena, str_from(db_refusal(role->db)));
    if (refusal == NULL || refusal[0] != '\0') {
        const int name_len = refusal == NULL ? 0 : (int)strcspn(refusal, " ");
        finding_of(&d->found, "mysql-session",
                   doctor_mariadb(d, finding_text(&d->found, "SET GLOBAL %.*s = DEFAULT", name_len, refusal)),
                   finding_text(&d->found,
                                "no session of MariaDB serves roles: %s. The configuration of MariaDB needs the"
                                " change, too, for the next start",
                                refusal == NULL ? "" : refusal),
                   role->name);
        return;
    }
    finding_of(
        &d->found, "mysql-login", d->has_setup ? DOCTOR_SETUP : doctor_grants(d),
        finding_text(&d->found,
                     "MariaDB refuses users of roles: another password, no such user, or no right on the database"
                     " %s. If the mend does not help, put the earlier password back into %s, or make new ones"
                     " (docs/how-to/rotate-secrets.md)",
                     role->config.mysql_database, d->config->rights_dir),
        role->config.mysql_user);
}

/* When MariaDB knows no role, but Redis has the data of a site, MariaDB has lost its data or the users: this is one
 * finding. Setup makes the users again, or refuses when the tables are gone, too. */
static void mysql_logins(struct doctor *d)
{
    bool refused[ROLE_COUNT];
    size_t count = 0, asked = 0;
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        refused[i] = !mysql_logs_in(d, &d->roles[i]);
        count += refused[i] && db_login_refused(d->roles[i].db);
        asked += d->roles[i].db != NULL;
    }
    const bool is_gone = count > 1 && count == asked && doctor_redis_has_site(d);
    if (is_gone)
        doctor_tell_site(d, SITE_TABLES_GONE, "MariaDB knows no user of the site: ");
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        if (!refused[i])
            continue;
        if (!is_gone)
            mysql_refusal_tell(d, &d->roles[i]);
        db_free(d->roles[i].db);
        d->roles[i].db = NULL;
    }
}

/* The command that makes the file of a role that is missing or wrong, with a new password, which it also gives both
 * stores. */
static const char *role_file_mend(struct doctor *d, const char *path, bool is_missing)
{
    if (geteuid() != 0)
        return "sudo hongbao doctor";
    if (!d->has_setup)
        return finding_text(&d->found, "write %s (docs/reference/rights.md)", path);
    return is_missing ? DOCTOR_SETUP : finding_text(&d->found, "mv %s %s.wrong; " DOCTOR_SETUP, path, path);
}

/* The role's settings. Without rights_dir every role has the users of the configuration. */
static void role_read(struct doctor *d, struct doctor_role *role)
{
    char error[DOCTOR_ERROR_MAX];
    const char *path = finding_text(&d->found, "%s/%s.conf", d->config->rights_dir, role->name);
    role->config = *d->config;
    role->is_read = config_role(&role->config, role->name, error, sizeof error) == ST_OK;
    if (path == NULL)
        return;
    if (role->is_read && role->uses_mysql && role->uses_redis && d->config->rights_dir[0] != '\0' &&
        strcmp(role->config.mysql_password, role->config.redis_password) != 0)
        finding_wrong(&d->found, "role-passwords", role_file_mend(d, path, false),
                      "%s has one password for Redis and another for MariaDB; setup tells both stores the first one of"
                      " them",
                      path);
    if (!role->is_read)
        finding_of(&d->found, "role-file", role_file_mend(d, path, access(path, F_OK) != 0), "roles can't be used",
                   finding_text(&d->found, "%s: %s", role->name, error));
}

void doctor_check_roles(struct doctor *d)
{
    const struct config *c = d->config;
    d->redis_is_up = store_answers(d, &STORE_REDIS, c->redis, check_redis_unit(c));
    d->mysql_is_up = store_answers(d, &STORE_MYSQL, c->mysql, check_mysql_unit(c));
    for (size_t i = 0; i < ROLE_COUNT; i++) /* all roles first: mends name the operator's user */
        role_read(d, &d->roles[i]);
    for (size_t i = 0; i < ROLE_COUNT; i++)
        if (d->roles[i].is_read)
            redis_login(d, &d->roles[i]);
    mysql_logins(d);
}

/* ---- the command ---- */

static int usage(void)
{
    (void)fputs("usage: hongbao doctor [--json] [--nginx FILE] [--free MIB] [--skip NAME]...\n"
                "       hongbao doctor --names\n\n"
                "NAME is a finding, which --names prints, or an area:",
                stderr);
    for (size_t i = 0; i < ARRAY_LEN(AREAS); i++)
        (void)fprintf(stderr, " %s", AREAS[i].name);
    (void)fputc('\n', stderr);
    return 2;
}

/* The names of the areas, then of the findings; some areas share their name with a finding. Returns their number, at
 * most NAMES_MAX. */
static size_t names_all(const char *names[NAMES_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(AREAS) && count < NAMES_MAX; i++)
        names[count++] = AREAS[i].name;
    for (size_t i = 0; doctor_findings[i] != NULL && count < NAMES_MAX; i++)
        names[count++] = doctor_findings[i];
    return count;
}

static int names_print(void)
{
    const char *names[NAMES_MAX];
    const size_t count = names_all(names);
    for (size_t i = 0; i < count; i++)
        (void)puts(names[i]);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* Whether --skip accepts the name; prints a message if not. */
static bool name_is_known(const char *name)
{
    const char *names[NAMES_MAX];
    const size_t count = names_all(names);
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    const char *like = spelling_nearest(str_from(name), names, count);
    (void)fprintf(stderr, "hongbao doctor: there is no finding or area '%s'%s%s%s; hongbao doctor --names lists them\n",
                  name, like != NULL ? "; did you mean " : "", like != NULL ? like : "", like != NULL ? "?" : "");
    return false;
}

static bool arguments_read(struct doctor *d, int argc, char **argv, bool *json, const char **nginx_file)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--json") == 0) {
            *json = true;
            continue;
        }
        if (value == NULL)
            return false;
        if (strcmp(argv[i], "--nginx") == 0)
            *nginx_file = value;
        else if (strcmp(argv[i], "--skip") == 0 && d->found.skip_count < FINDINGS_SKIP_MAX)
            d->found.skip[d->found.skip_count++] = value;
        else if (strcmp(argv[i], "--free") != 0 || !str_to_i64(str_from(value), &d->free_mib_min) ||
                 d->free_mib_min < 0 || d->free_mib_min > FREE_MIB_MAX)
            return false;
        i++;
    }
    return true;
}

/* The main file of nginx: the installed service is behind Debian's nginx; elsewhere --nginx names the file. */
static const char *nginx_default(const struct config *config)
{
    return strcmp(config->file, CONFIG_FILE) == 0 && access(NGINX_FILE, F_OK) == 0 ? NGINX_FILE : NULL;
}

/* A site out of service is one finding: the areas would only find what setup mends. */
static bool is_out_of_service(struct doctor *d)
{
    if (d->is_service && d->script_ended)
        doctor_script_tell(d, "service");
    return d->found.wrong > 0;
}

static void areas_check(struct doctor *d)
{
    for (size_t i = 0; i < ARRAY_LEN(AREAS); i++)
        if (!findings_skip(&d->found, AREAS[i].name))
            AREAS[i].check(d);
}

/* Prints the end of the report. "0 wrong" is about the checks that ran now; for the money it is as old as the last
 * audit. */
static void ends_print(const struct doctor *d, struct str audited)
{
    (void)printf("the audit was last clean: %.*s\n", STR_ARG(audited.ptr != NULL ? audited : STR("not known")));
    (void)printf("%zu wrong, %zu not checked\n", d->found.wrong, d->found.unchecked);
}

static int doctor_run(struct doctor *d, bool json)
{
    for (size_t i = 0; i < ROLE_COUNT; i++)
        d->roles[i] = (struct doctor_role){ .name = ROLES[i].name,
                                            .uses_mysql = ROLES[i].uses_mysql,
                                            .uses_redis = ROLES[i].uses_redis };
    if (!is_out_of_service(d))
        areas_check(d);
    for (size_t i = 0; i < ROLE_COUNT; i++) {
        redis_free(d->roles[i].redis);
        db_free(d->roles[i].db);
    }
    const struct str audited = d->audited_ms > 0 ? clock_rfc3339(d->arena, d->audited_ms) : STR_NONE;
    if (json ? !findings_print_json(&d->found, audited, stdout) : !findings_print(&d->found, stdout))
        return 2;
    if (!json)
        ends_print(d, audited);
    return d->found.wrong == 0 ? 0 : 1;
}

int doctor_command(const struct config *config, int argc, char **argv)
{
    static struct doctor d;     /* static, because the settings of all roles are large */
    static struct config whole; /* with the secret, if it can be read */
    const char *nginx_file = nginx_default(config);
    bool json = false;
    if (argc == 2 && strcmp(argv[1], "--names") == 0)
        return names_print();
    whole = *config;
    d = (struct doctor){ .config = &whole, .free_mib_min = FREE_MIB_MIN, .is_service = check_is_service(config) };
    d.has_setup = d.is_service && !config_stores_by_tcp(config);
    if (config_secret_read(&whole, d.secret_error, sizeof d.secret_error) == ST_OK)
        d.secret_error[0] = '\0';
    if (!arguments_read(&d, argc, argv, &json, &nginx_file))
        return usage();
    for (size_t i = 0; i < d.found.skip_count; i++)
        if (!name_is_known(d.found.skip[i]))
            return 2;
    log_init("doctor", LOG_SILENT); /* log lines would only repeat the findings */
    d.arena = arena_new(ARENA_BYTES, ARENA_BYTES_MAX);
    d.found.arena = d.arena;
    d.found.manual = findings_manual();
    const bool is_prepared = d.arena != NULL && doctor_nginx_read(&d, nginx_file) && doctor_script_run(&d);
    if (config->sandbox && sandbox_enter(SANDBOX_COMMAND, config_stores_by_tcp(config)) != ST_OK) {
        (void)fputs("hongbao doctor: the kernel refuses the filter of system calls (sandbox)\n", stderr);
        return 2;
    }
    int code = is_prepared ? doctor_run(&d, json) : 2;
    arena_free(d.arena);
    if (code == 2)
        (void)fputs("hongbao doctor: out of memory, or the output can't be written\n", stderr);
    return code;
}
