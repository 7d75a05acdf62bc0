/* What a process needs, opened as far as its command asks. Nothing here connects: the stores may be away. */
#ifndef HB_OPS_SERVICES_H
#define HB_OPS_SERVICES_H

#include "base/config.h"
#include "base/status.h"
#include "web/exchange.h"

enum services_part {
    SERVICES_MYSQL = 1,
    SERVICES_PAGES = 2,     /* templates and names of static files */
    SERVICES_PAGE_CACHE = 4 /* packets that never change are kept in memory */
};

/* Opens Redis with its scripts, and the parts asked for. config is borrowed. What can't work at all (a broken template,
 * a missing script) is ST_INVALID with a message in error; nothing stays open then. */
enum status services_open(struct services *s, const struct config *config, unsigned parts, char *error,
                          size_t error_size);
void services_close(struct services *s);

#endif
