/* Opens struct services (web/exchange.h), with the parts that a command needs. Nothing here connects: the stores may be
 * unreachable. */
#ifndef HB_SITE_SERVICES_H
#define HB_SITE_SERVICES_H

#include "base/status.h"
#include "config/config.h"
#include "web/exchange.h"

enum services_part {
    SERVICES_MYSQL = 1,
    SERVICES_PAGES = 2,      /* templates, names of static files; Redis behind the fence (live/fence.h) */
    SERVICES_PAGE_CACHE = 4, /* the pages of packets that never change are kept in memory */
    SERVICES_DRAWING = 8,    /* the library that draws pictures */
    SERVICES_INBOX = 16,     /* pages show the number of new items in the inbox; needs MySQL */
    SERVICES_ISSUER = 32     /* the client of the issuer, when one is set */
};

/* Opens Redis with its scripts, and parts (enum services_part, ORed). config is borrowed and outlives s. ST_INVALID:
 * for example, a template is broken or a script is missing; ST_NO_MEMORY. Unless ST_OK, error (error_size bytes, the
 * caller's) has the reason and nothing stays open. */
enum status services_open(struct services *s, const struct config *config, unsigned parts, char *error,
                          size_t error_size);
void services_close(struct services *s);

#endif
