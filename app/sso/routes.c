#include "sso/routes.h"

#include "base/array.h"
#include "web/limits.h"
#include "web/respond.h"

enum { BY_ADDRESS = LIMITED_BY(LIMIT_OIDC_ADDRESS), BY_NETWORK = LIMITED_BY(LIMIT_OIDC_NETWORK) };

static const struct problem ISSUER_NONE = { 404, "not-found", "text/issuer_none", "text/issuer_none_detail", 0 };

/* GET /login/oidc: nothing is set up to lead to. */
static enum step login_start(struct exchange *x)
{
    respond_problem(x, &ISSUER_NONE);
    return STEP_DONE;
}

const struct route sso_routes[] = {
    { "GET", "/login/oidc", WANT_VISITOR | NO_TOKEN | BY_ADDRESS | BY_NETWORK, POOL_SSO, login_start, NULL },
};
const size_t sso_routes_count = ARRAY_LEN(sso_routes);
