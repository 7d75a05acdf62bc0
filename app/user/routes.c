#include "user/routes.h"

#include "base/array.h"
#include "user/account_page.h"
#include "user/language.h"
#include "user/login.h"
#include "user/logout.h"
#include "user/register.h"
#include "user/token_page.h"

const struct route user_routes[] = {
    { "GET", "/register", WANT_VISITOR | NO_TOKEN, POOL_AUTH, register_show },
    { "POST", "/register", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, register_submit },
    { "GET", "/login", WANT_VISITOR | NO_TOKEN, POOL_AUTH, login_show },
    { "POST", "/login", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, login_submit },
    { "POST", "/logout", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH | POOL_PAGE, logout_submit },
    { "POST", "/language", SAME_ORIGIN, POOL_PAGE, language_submit },
    { "GET", "/account", NEED_USER | NO_TOKEN, POOL_PAGE, account_show },
    { "POST", "/account/tokens", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_PAGE, token_submit },
    { "POST", "/account/tokens/:id/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_PAGE, token_delete_submit },
    { "GET", "/account/tokens", 0, POOL_PAGE, account_redirect },
    { "GET", "/account/tokens/:id", 0, POOL_PAGE, account_redirect },
};
const size_t user_routes_count = ARRAY_LEN(user_routes);
