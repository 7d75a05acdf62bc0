#include "account/routes.h"

#include "account/account_page.h"
#include "account/cover_page.h"
#include "account/deletion_page.h"
#include "account/invitations_page.h"
#include "account/issuer_page.h"
#include "account/language.h"
#include "account/login.h"
#include "account/login_link_page.h"
#include "account/logout.h"
#include "account/nickname_page.h"
#include "account/nudge.h"
#include "account/passkey_confirm.h"
#include "account/passkey_login.h"
#include "account/passkey_page.h"
#include "account/passkey_register.h"
#include "account/password_page.h"
#include "account/picture_page.h"
#include "account/proof.h"
#include "account/recovery_login.h"
#include "account/recovery_page.h"
#include "account/register.h"
#include "account/session_page.h"
#include "account/terms_page.h"
#include "account/token_page.h"
#include "base/array.h"
#include "user/account.h"
#include "web/limits.h"

const struct route account_routes[] = {
    { "GET", "/register", WANT_VISITOR | NO_TOKEN, POOL_AUTH, register_show, NULL },
    { "POST", "/register",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM | LIMITED_BY(LIMIT_REGISTER_ADDRESS) |
          LIMITED_BY(LIMIT_REGISTER_NETWORK),
      POOL_AUTH, register_submit, register_fields },
    { "POST", "/register/passkey/challenge",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_PASSKEY_ADDRESS) | LIMITED_BY(LIMIT_PASSKEY_NETWORK),
      POOL_AUTH, passkey_register_challenge, passkey_register_begin_fields },
    { "POST", "/register/passkey",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_REGISTER_ADDRESS) | LIMITED_BY(LIMIT_REGISTER_NETWORK),
      POOL_AUTH, passkey_register_submit, passkey_register_fields },
    { "GET", "/login", WANT_VISITOR | NO_TOKEN, POOL_AUTH, login_show, NULL },
    { "POST", "/login", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM, POOL_AUTH, login_submit, login_fields },
    { "POST", "/login/passkey/challenge", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, passkey_login_challenge,
      NULL },
    { "POST", "/login/passkey",
      WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_PASSKEY_ADDRESS) | LIMITED_BY(LIMIT_PASSKEY_NETWORK),
      POOL_AUTH, passkey_login_submit, passkey_login_fields },
    { "GET", "/login/link", WANT_VISITOR | NO_TOKEN, POOL_AUTH, login_link_show, NULL },
    { "POST", "/login/link", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, login_link_submit, login_link_fields },
    { "GET", "/login/recovery", WANT_VISITOR | NO_TOKEN, POOL_AUTH, recovery_login_show, NULL },
    { "POST", "/login/recovery", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN | KEEP_FORM, POOL_AUTH, recovery_login_submit,
      recovery_login_fields },
    { "GET", "/terms", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, terms_show, NULL },
    { "POST", "/terms", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, terms_submit,
      terms_fields },
    { "POST", "/logout", WANT_VISITOR | SAME_ORIGIN | NO_TOKEN, POOL_AUTH | POOL_PAGE, logout_submit, NULL },
    { "POST", "/language", SAME_ORIGIN, POOL_PAGE, language_submit, language_fields },
    { "GET", "/account", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, account_show, NULL },
    { "POST", "/account/nickname", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      nickname_submit, nickname_fields },
    { "GET", "/account/nickname", 0, POOL_PAGE, account_redirect, NULL },
    { "POST", "/account/nudge", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, nudge_submit,
      NULL },
    { "GET", "/account/nudge", 0, POOL_PAGE, account_redirect, NULL },
    { "POST", "/account/picture", NEED_USER | SAME_ORIGIN | NO_TOKEN | UPLOAD | LIMITED_BY(LIMIT_PICTURE), POOL_PAGE,
      picture_submit, NULL },
    { "GET", "/account/picture", 0, POOL_PAGE, account_redirect, NULL },
    { "POST", "/account/picture/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      picture_delete_submit, NULL },
    { "GET", "/account/picture/delete", 0, POOL_PAGE, account_redirect, NULL },
    { "GET", "/covers", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, covers_show, NULL },
    { "POST", "/covers", NEED_USER | SAME_ORIGIN | NO_TOKEN | UPLOAD | LIMITED_BY(LIMIT_PICTURE), POOL_PAGE,
      cover_submit, NULL },
    { "POST", "/covers/:key/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      cover_delete_submit, NULL },
    { "GET", "/covers/:key/delete", 0, POOL_PAGE, covers_redirect, NULL },
    { "GET", "/picture/:key", LIMITED_BY(LIMIT_CARD), POOL_CARD, picture_show, NULL },
    { "GET", "/.well-known/change-password", 0, POOL_PAGE, password_redirect, NULL },
    { "GET", "/account/password", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, password_show, NULL },
    { "POST", "/account/password", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, password_submit, password_fields },
    { "GET", "/account/recovery", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, recovery_show, NULL },
    { "POST", "/account/recovery", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, recovery_submit, proof_fields },
    { "GET", "/account/delete", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, deletion_show, NULL },
    { "POST", "/account/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, deletion_submit, deletion_fields },
    { "GET", "/account/deleted", 0, POOL_PAGE, deletion_done_show, NULL },
    { "POST", "/account/sessions/end", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      session_end_submit, session_end_fields },
    { "GET", "/account/sessions/end", 0, POOL_PAGE, devices_redirect, NULL },
    { "GET", "/account/devices", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE, devices_show, NULL },
    { "GET", "/account/oidc", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, issuer_show, NULL },
    { "POST", "/account/oidc/link", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, issuer_link_submit, proof_fields },
    { "POST", "/account/oidc/unlink", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, issuer_unlink_submit,
      proof_fields },
    { "GET", "/account/invitations", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, invitations_show, NULL },
    { "POST", "/account/invitations", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      invitation_submit, invitation_fields },
    { "POST", "/account/invitations/:id/revoke", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      invitation_revoke_submit, NULL },
    { "GET", "/account/developers", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, developers_show, NULL },
    { "POST", "/account/tokens", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, token_submit, token_fields },
    { "POST", "/account/tokens/:id/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      token_delete_submit, NULL },
    { "GET", "/account/passkeys", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, passkeys_show, NULL },
    { "POST", "/account/passkeys/challenge", NEED_USER | SAME_ORIGIN | NO_TOKEN, POOL_AUTH, passkey_challenge_submit,
      proof_fields },
    { "POST", "/account/passkeys/confirm", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      passkey_confirm_challenge, NULL },
    { "POST", "/account/passkeys", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      passkey_submit, passkey_fields },
    { "POST", "/account/passkeys/:id/delete", NEED_USER | SAME_ORIGIN | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_PAGE,
      passkey_delete_submit, NULL },
    { "GET", "/account/tokens", 0, POOL_AUTH, developers_redirect, NULL },
    { "GET", "/account/tokens/:id", 0, POOL_PAGE, developers_redirect, NULL },
    { "GET", "/account/passkeys/:id", 0, POOL_PAGE, passkeys_redirect, NULL },
};
const size_t account_routes_count = ARRAY_LEN(account_routes);
