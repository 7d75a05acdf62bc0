#include "ops/command_stores.h"

#include <stdio.h>

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
