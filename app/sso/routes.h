/* The routes of the login by an issuer, in the sso pool. commands/serve.c gives them to the router. */
#ifndef HB_SSO_ROUTES_H
#define HB_SSO_ROUTES_H

#include <stddef.h>

#include "web/router.h"

extern const struct route sso_routes[];
extern const size_t sso_routes_count;

#endif
