/* The parts of `hongbao doctor`: shared declarations, and the checks of each area. */
#ifndef HB_DOCTOR_DOCTOR_INTERNAL_H
#define HB_DOCTOR_DOCTOR_INTERNAL_H

#include "config/config.h"
#include "doctor/check.h"
#include "doctor/doctor_words.h"
#include "doctor/findings.h"
#include "doctor/nginx_conf.h"
#include "live/site.h"
#include "mysql/db.h"
#include "redis/redis.h"

enum { DOCTOR_HOST_MAX = 256, DOCTOR_ERROR_MAX = 1024 };

/* The end of a mend of rights in Redis on an installed site. */
#define DOCTOR_OR_SETUP " (if the mend does not help: hongbao setup)"

#define DOCTOR_SETUP    "hongbao setup --non-interactive"

/* The roles of docs/reference/rights.md, in the order of their table. */
enum doctor_role_id {
    ROLE_HOT,
    ROLE_PAGE,
    ROLE_AUTH,
    ROLE_SSO,
    ROLE_CARD,
    ROLE_MONEY,
    ROLE_SETTLE,
    ROLE_AUDIT,
    ROLE_MIGRATE,
    ROLE_SUPPORT,
    ROLE_TREASURY,
    ROLE_BACKUP,
    ROLE_OPERATOR,
    ROLE_COUNT
};

/* A role, with its own users in both stores. */
struct doctor_role {
    const char *name;
    bool uses_mysql, uses_redis;
    bool is_read; /* its file was read */
    struct config config;
    struct redis *redis; /* NULL: not logged in, which is reported */
    struct db *db;       /* the same */
};

struct doctor {
    const struct config *config; /* read without a role, and maybe without the secret */
    struct findings found;
    struct arena *arena; /* of found, too */
    int64_t free_mib_min;
    struct doctor_role roles[ROLE_COUNT];
    char secret_error[DOCTOR_ERROR_MAX]; /* why the configuration has no secret; empty: it has one */
    size_t redis_primary;                /* in a Redis Cluster: the primary that is checked now; else 0 */
    bool redis_is_up, mysql_is_up;       /* their sockets accept connections */
    bool is_service;                     /* check_is_service */
    bool has_setup;                      /* `hongbao setup` mends it: a service whose stores have Unix sockets */
    bool stores_differ;                  /* tables and Redis do not belong together, which is reported */
    bool has_play_money;                 /* there are deposits while demo is off, which is reported */
    bool is_stopped;                     /* the whole service is stopped, which is reported */
    int64_t audited_ms;                  /* when the audit was last clean; 0: not known */
    struct str script;                   /* the output of deploy/commands/doctor.sh */
    bool script_ended;                   /* false: it could not be executed, or was stopped at its limit */
    struct nginx_conf nginx;             /* empty: no file was named */
    enum status nginx_status;            /* result of nginx_conf_read */
    size_t certificates_wrong;           /* findings about certificates; no pool needs one */
    bool nginx_is_read;
};

/* The checks of each area. Each adds to d->found what is wrong, or why it could not check. */
void doctor_check_roles(struct doctor *d);
void doctor_check_site(struct doctor *d);
void doctor_check_redis(struct doctor *d);
void doctor_check_redis_rights(struct doctor *d);
void doctor_check_mysql(struct doctor *d);
void doctor_check_mysql_rights(struct doctor *d);
void doctor_check_schema(struct doctor *d);
void doctor_check_audit(struct doctor *d);
void doctor_check_backups(struct doctor *d);
void doctor_check_files(struct doctor *d);
void doctor_check_access(struct doctor *d);
void doctor_check_clocks(struct doctor *d);
void doctor_check_disks(struct doctor *d);
void doctor_check_nginx(struct doctor *d);
void doctor_check_logs(struct doctor *d);
void doctor_check_certificates(struct doctor *d);
void doctor_check_pools(struct doctor *d);
void doctor_check_worker(struct doctor *d);
void doctor_check_processes(struct doctor *d);
void doctor_check_units(struct doctor *d);

/* The names of all findings, ended by NULL. The build makes the list from docs/reference/doctor.md. */
extern const char *const doctor_findings[];

/* Reads nginx's files; file: the main file, or NULL. False: no memory. */
bool doctor_nginx_read(struct doctor *d, const char *file);
/* Runs the script that calls the tools of this machine, also about nginx's files. Call it before the filter of system
 * calls. False: no memory. */
bool doctor_script_run(struct doctor *d);
/* Adds the script's findings of the area, or the reason why it has none. */
void doctor_script_tell(struct doctor *d, const char *area);
/* Whether the script reported the fact: "stopped": the whole service is stopped; "backup-timer": the timer of backups
 * runs. */
bool doctor_script_says(const struct doctor *d, const char *fact);

/* Adds, before all other findings, that tables and Redis do not belong together, with the evidence. */
void doctor_tell_site(struct doctor *d, enum site_verdict verdict, const char *because);
/* Whether Redis has the data of a site. */
bool doctor_redis_has_site(struct doctor *d);
/* The name of Redis's client, redis-cli or valkey-cli, with the options that name the server. */
const char *doctor_redis_client(struct doctor *d);
/* The command of the operator in Redis, as a person types it. */
const char *doctor_redis_cli(struct doctor *d, const char *command);
/* The command of the administrator of MariaDB that grants the roles their rights. */
const char *doctor_grants(struct doctor *d);
/* Adds the names of the tables that the program needs and on which roles have rights. */
void doctor_tables_read(struct doctor *d, struct words *w);
/* A client program of MariaDB with the options by which the administrator reaches the database of the site. */
const char *doctor_mariadb_client(struct doctor *d, const char *program);
/* The command of the administrator of MariaDB that executes the statement in the database of the site. The statement
 * contains no character that a shell expands between double quotes. */
const char *doctor_mariadb(struct doctor *d, const char *statement);
/* The value of a setting of Redis (CONFIG GET) in the arena; NULL: it can't be read. */
const char *doctor_redis_setting(struct doctor *d, const char *name);
/* "start the settle worker", as a command where there is one. */
const char *doctor_worker_start(const struct doctor *d);
/* The port of a `listen` of nginx, "443 ssl", "127.0.0.1:8080", "[::]:80 default_server" or "example.net"; 0: a Unix
 * socket. */
unsigned doctor_listen_port(const char *listen);
/* Whether a `listen` has the option, as "ssl". */
bool doctor_listen_has(const char *listen, struct str option);
/* base_url: whether it is https://, its host without brackets. Returns its port. */
unsigned doctor_base_url(const struct config *c, bool *tls, char host[DOCTOR_HOST_MAX]);
/* Connects to a Unix socket: a descriptor for the caller to close; -1, and errno says why. */
int doctor_connect(const char *path);

#endif
