/* The routes of this floor. ops/serve.c gives them to the router. */
#ifndef HB_USER_ROUTES_H
#define HB_USER_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route user_routes[];
extern const size_t user_routes_count;

#endif
