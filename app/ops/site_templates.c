#include "ops/site_templates.h"

#include <stddef.h>

const char *const site_templates[] = {
    "pages/account",
    "pages/delete",
    "pages/deleted",
    "pages/home",
    "pages/login",
    "pages/login_recovery",
    "pages/order",
    "pages/packet",
    "pages/password",
    "pages/problem",
    "pages/receipt",
    "pages/records",
    "pages/recovery",
    "pages/register",
    "pages/screen",
    "pages/send",
    "pages/send_confirm",
    "pages/verify",
    "pages/wallet",
    "partials/packet_rows",
    "pictures/card_tall",
    "pictures/card_wide",
    NULL,
};
