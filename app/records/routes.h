/* The routes of this folder. commands/serve.c gives them to the router. */
#ifndef HB_RECORDS_ROUTES_H
#define HB_RECORDS_ROUTES_H

#include "web/router.h"

extern const struct route records_routes[];
extern const size_t records_routes_count;

#endif
