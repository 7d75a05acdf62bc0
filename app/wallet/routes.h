/* The routes of this floor. commands/serve.c gives them to the router. */
#ifndef HB_WALLET_ROUTES_H
#define HB_WALLET_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route wallet_routes[];
extern const size_t wallet_routes_count;

#endif
