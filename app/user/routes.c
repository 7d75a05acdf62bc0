#include "user/routes.h"

#include "base/array.h"
#include "user/language.h"
#include "user/login.h"
#include "user/logout.h"
#include "user/register.h"

const struct route user_routes[] = {
    { "GET", "/register", WANT_VISITOR, POOL_AUTH, register_show },
    { "POST", "/register", WANT_VISITOR | SAME_ORIGIN, POOL_AUTH, register_submit },
    { "GET", "/login", WANT_VISITOR, POOL_AUTH, login_show },
    { "POST", "/login", WANT_VISITOR | SAME_ORIGIN, POOL_AUTH, login_submit },
    { "POST", "/logout", WANT_VISITOR | SAME_ORIGIN, POOL_AUTH | POOL_PAGE, logout_submit },
    { "POST", "/language", SAME_ORIGIN, POOL_PAGE, language_submit },
};
const size_t user_routes_count = ARRAY_LEN(user_routes);
