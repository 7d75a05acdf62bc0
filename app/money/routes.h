/* The routes of this floor, all in the money pool: for programs of the operator. commands/serve.c gives them to the
 * router. */
#ifndef HB_MONEY_ROUTES_H
#define HB_MONEY_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route money_routes[];
extern const size_t money_routes_count;

#endif
