/* The routes of this floor, all in the money pool. commands/serve.c gives them to the router. */
#ifndef HB_SERVICE_ROUTES_H
#define HB_SERVICE_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route service_routes[];
extern const size_t service_routes_count;

#endif
