/* The routes of this folder. commands/serve.c gives them to the router. */
#ifndef HB_PAGES_ROUTES_H
#define HB_PAGES_ROUTES_H

#include "web/router.h"

extern const struct route packet_routes[];
extern const size_t packet_routes_count;

#endif
