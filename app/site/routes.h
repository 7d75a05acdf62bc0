/* The route tables of all folders. The router serves them, GET /openapi.json describes them. */
#ifndef HB_SITE_ROUTES_H
#define HB_SITE_ROUTES_H

#include <stddef.h>

#include "web/router.h"

/* The number of all routes, and route number i of them. */
size_t site_routes_count(void);
const struct route *site_route(size_t i);

#endif
