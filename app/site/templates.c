#include "site/templates.h"

#include <stddef.h>

const char *const site_templates[] = {
    "pages/account",       "pages/covers",
    "pages/delete",        "pages/deleted",
    "pages/developers",    "pages/devices",
    "pages/home",          "pages/invitation_sheet",
    "pages/invitations",   "pages/issuer",
    "pages/login",         "pages/login_link",
    "pages/login_linked",  "pages/login_recovery",
    "pages/order",         "pages/packet",
    "pages/passkey_offer", "pages/passkeys",
    "pages/password",      "pages/poster",
    "pages/problem",       "pages/receipt",
    "pages/records",       "pages/recovered",
    "pages/recovery",      "pages/register",
    "pages/screen",        "pages/send",
    "pages/send_confirm",  "pages/story",
    "pages/terms",         "pages/topup",
    "pages/topup_order",   "pages/transfer",
    "pages/verify",        "pages/wallet",
    "pages/withdraw",      "partials/packet_rows",
    "pictures/card_tall",  "pictures/card_wide",
    "pictures/story",      NULL,
};
