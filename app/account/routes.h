/* The routes of this folder. commands/serve.c gives them to the router. */
#ifndef HB_ACCOUNT_ROUTES_H
#define HB_ACCOUNT_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route account_routes[];
extern const size_t account_routes_count;

#endif
