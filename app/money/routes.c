#include "money/routes.h"

#include "base/array.h"
#include "web/respond.h"

/* Nobody has a service token yet. */
static enum step refuse(struct exchange *x)
{
    respond_header(x, "WWW-Authenticate", STR("Bearer"));
    respond_problem(x, &PROBLEM_UNAUTHORIZED);
    return STEP_DONE;
}

const struct route money_routes[] = {
    { "GET", "/money/report", FOR_SERVICE, POOL_MONEY, refuse, NULL },
};
const size_t money_routes_count = ARRAY_LEN(money_routes);
