#include "sso/routes.h"

#include "base/array.h"
#include "sso/backchannel.h"
#include "sso/login.h"
#include "web/limits.h"

enum { BY_ADDRESS = LIMITED_BY(LIMIT_OIDC_ADDRESS), BY_NETWORK = LIMITED_BY(LIMIT_OIDC_NETWORK) };

const struct route sso_routes[] = {
    { "GET", "/login/oidc", WANT_VISITOR | NO_TOKEN | BY_ADDRESS | BY_NETWORK, POOL_SSO, login_start, NULL },
    { "GET", "/login/oidc/callback", WANT_VISITOR | NO_TOKEN | BY_ADDRESS | BY_NETWORK, POOL_SSO, login_finish, NULL },
    { "POST", "/login/oidc/backchannel", SAME_ORIGIN | NO_TOKEN | BY_ADDRESS | BY_NETWORK, POOL_SSO, backchannel_submit,
      backchannel_fields },
};
const size_t sso_routes_count = ARRAY_LEN(sso_routes);
