#include "user/routes.h"

#include "base/array.h"
#include "user/account_page.h"
#include "user/cover_page.h"
#include "user/deletion_page.h"
#include "user/language.h"
#include "user/login.h"
#include "user/logout.h"
#include "user/nickname_page.h"
#include "user/passkey_login.h"
#include "user/passkey_page.h"
#include "user/password_page.h"
#include "user/picture_page.h"
#include "user/recovery_login.h"
#include "user/recovery_page.h"
#include "user/register.h"
#include "user/session_page.h"
#include "user/token_page.h"
#include "web/limits.h"

const struct route user_routes[] = {
    { "GET", "/register", WANT_VISITOR | NO_TOKEN, POOL_AUTH, register_show },
    { "POST", "/register",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM | LIMITED_BY(LIMIT_REGISTER_ADDRESS) |
          LIMITED_BY(LIMIT_REGISTER_NETWORK),
      POOL_AUTH, register_submit },
    { "GET", "/login", WANT_VISITOR | NO_TOKEN, POOL_AUTH, login_show },
    { "POST", "/login", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM, POOL_AUTH, login_submit },
    { "POST", "/login/passkey/challenge", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, passkey_login_challenge },
    { "POST", "/login/passkey",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_PASSKEY_ADDRESS) | LIMITED_BY(LIMIT_PASSKEY_NETWORK),
      POOL_AUTH, passkey_login_submit },
    { "GET", "/login/recovery", WANT_VISITOR | NO_TOKEN, POOL_AUTH, recovery_login_show },
    { "POST", "/login/recovery", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM, POOL_AUTH, recovery_login_submit },
    { "POST", "/logout", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH | POOL_PAGE, logout_submit },
    { "POST", "/language", SAME_ORIGIN, POOL_PAGE, language_submit },
    { "GET", "/account", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, account_show },
    { "POST", "/account/nickname", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      nickname_submit },
    { "GET", "/account/nickname", 0, POOL_PAGE, account_redirect },
    { "POST", "/account/picture", NEED_USER | SAME_ORIGIN | NO_TOKEN | UPLOAD | LIMITED_BY(LIMIT_PICTURE), POOL_PAGE,
      picture_submit },
    { "GET", "/account/picture", 0, POOL_PAGE, account_redirect },
    { "POST", "/account/picture/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      picture_delete_submit },
    { "GET", "/account/picture/delete", 0, POOL_PAGE, account_redirect },
    { "GET", "/covers", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, covers_show },
    { "POST", "/covers", NEED_USER | SAME_ORIGIN | NO_TOKEN | UPLOAD | LIMITED_BY(LIMIT_PICTURE), POOL_PAGE,
      cover_submit },
    { "POST", "/covers/:key/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      cover_delete_submit },
    { "GET", "/covers/:key/delete", 0, POOL_PAGE, covers_redirect },
    { "GET", "/picture/:key", LIMITED_BY(LIMIT_CARD), POOL_CARD, picture_show },
    { "GET", "/account/password", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, password_show },
    { "POST", "/account/password", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, password_submit },
    { "GET", "/account/recovery", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, recovery_show },
    { "POST", "/account/recovery", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, recovery_submit },
    { "GET", "/account/delete", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, deletion_show },
    { "POST", "/account/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, deletion_submit },
    { "GET", "/account/deleted", 0, POOL_PAGE, deletion_done_show },
    { "POST", "/account/sessions/end", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      session_end_submit },
    { "GET", "/account/sessions/end", 0, POOL_PAGE, devices_redirect },
    { "GET", "/account/devices", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, devices_show },
    { "GET", "/account/developers", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, developers_show },
    { "POST", "/account/tokens", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, token_submit },
    { "POST", "/account/tokens/:id/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      token_delete_submit },
    { "GET", "/account/passkeys", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, passkeys_show },
    { "POST", "/account/passkeys/challenge", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, passkey_challenge_submit },
    { "POST", "/account/passkeys", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      passkey_submit },
    { "POST", "/account/passkeys/:id/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      passkey_delete_submit },
    { "GET", "/account/tokens", 0, POOL_AUTH, developers_redirect },
    { "GET", "/account/tokens/:id", 0, POOL_PAGE, developers_redirect },
    { "GET", "/account/passkeys/:id", 0, POOL_PAGE, passkeys_redirect },
};
const size_t user_routes_count = ARRAY_LEN(user_routes);
