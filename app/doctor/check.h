/* `hongbao check`: whether the configuration and the files that it names can serve. It connects to nothing. */
#ifndef HB_DOCTOR_CHECK_H
#define HB_DOCTOR_CHECK_H

#include "config/config.h"
#include "doctor/findings.h"

/* Makes the processes of the installed service read the settings anew. */
#define CHECK_SERVICE_RELOAD "systemctl reload 'hongbao-*.service'"

/* What check_run checks. Each scope includes the scopes before it. */
enum check_scope {
    CHECK_FILES,   /* the configuration and its files */
    CHECK_MACHINE, /* also what this machine must have: the file of the counters */
    CHECK_SOCKETS, /* also the folders of the stores' sockets; the doctor connects instead */
};

/* Adds all that is wrong in the scope. */
void check_run(const struct config *config, enum check_scope scope, struct findings *found);

/* Whether this is the installed service, whose units systemd runs: mends are then commands for it. */
bool check_is_service(const struct config *config);

/* The mend that gives a setting another value, or its default (value: NULL): a command for the installed service,
 * otherwise the line to write. In the arena of found; NULL without memory. */
const char *check_setting_mend(const struct config *config, struct findings *found, const char *name,
                               const char *value);
/* The mend that gives two settings another value. As check_setting_mend. */
const char *check_two_settings_mend(const struct config *config, struct findings *found, const char *const names[2],
                                    const char *const values[2]);

/* The command that makes the file of counters of the installed service anew. */
#define CHECK_COUNTERS_MEND "systemd-tmpfiles --create hongbao.conf; systemctl restart 'hongbao-*.service'"

/* The command that installs a package over the installed one. why: says which package. NULL without memory. */
const char *check_package_mend(struct findings *found, const char *why);

/* The Redis that `hongbao setup` makes: Redis itself, or Valkey where only that is installed. Both packages have the
 * same files, units and users, under their own name. */
struct redis_own {
    const char *name; /* also the name of its user, and, as NAME-server, of its package */
    const char *address, *unit, *client, *file, *folder;
};

/* The Redis of the installed service. NULL: not an installed service, or its Redis existed before it. */
const struct redis_own *check_redis_own(const struct config *config);

/* The unit of the store that `hongbao setup` has made for the installed service. NULL: not an installed service, or the
 * store existed before it. */
const char *check_redis_unit(const struct config *config);
const char *check_mysql_unit(const struct config *config);

/* `check [--offline]`: prints all that is wrong to stderr: exit 0, 1 (something is wrong) or 2 (usage). */
int check_command(const struct config *config, int argc, char **argv);

#endif
