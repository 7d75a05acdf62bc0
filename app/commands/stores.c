#include "commands/stores.h"

#include <stdio.h>

#include "doctor/doctor.h"
#include "doctor/findings.h"
#include "live/site.h"

enum { ERROR_MAX = 1024 };

bool command_stores_open(struct stores *stores, const struct config *config, const char *name)
{
    char error[ERROR_MAX];
    if (stores_open(stores, config, true, error, sizeof error) != ST_OK) {
        (void)fprintf(stderr, "hongbao %s: %s\n", name, error);
        return false;
    }
    if (site_confirm(stores) == ST_OK || site_may_serve(stores->site.verdict))
        return true;
    (void)fprintf(stderr, "hongbao %s: %s\n", name, site_verdict_text(stores->site.verdict));
    stores_close(stores);
    return false;
}

/* What an operator does about a store that does not work. */
static void next_step_tell(void)
{
    const char *manual = findings_manual();
    (void)fprintf(stderr, ". hongbao doctor says what mends it; when its data is lost: %s/how-to/lost.md\n",
                  manual != NULL ? manual : "docs");
}

/* addresses: the value of the setting. False: no address answers; it has printed so. */
static bool store_tell(const char *name, const char *program, const char *question, const char *addresses)
{
    const char *why = NULL;
    if (doctor_addresses_answer(addresses, question, &why))
        return true;
    (void)fprintf(stderr, "hongbao %s: %s does not answer on %s: %s", name, program, addresses, why);
    next_step_tell();
    return false;
}

void command_stores_tell(const struct config *config, const char *name)
{
    const bool mysql = store_tell(name, "MariaDB", DOCTOR_ASKS_MYSQL, config->mysql);
    const bool redis = store_tell(name, "Redis", DOCTOR_ASKS_REDIS, config->redis);
    if (!mysql || !redis)
        return;
    (void)fprintf(
        stderr,
        "hongbao %s: MariaDB on %s and Redis on %s are there, but one of them has refused or not answered this"
        " command: the lines above say which, and why",
        name, config->mysql, config->redis);
    next_step_tell();
}
