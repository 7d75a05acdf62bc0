/* The routes of this subject, for the router. */
#ifndef HB_USER_ROUTES_H
#define HB_USER_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route user_routes[];
extern const size_t user_routes_count;

#endif
