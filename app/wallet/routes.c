#include "wallet/routes.h"

#include "base/array.h"
#include "wallet/deposit.h"
#include "wallet/statement.h"
#include "wallet/topup.h"
#include "wallet/transfer.h"
#include "wallet/withdraw.h"
#include "web/limits.h"

const struct route wallet_routes[] = {
    { "GET", "/wallet", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, statement_show, NULL },
    { "POST", "/wallet/deposit", NEED_USER | SAME_ORIGIN | FOR_SEND | KEEP_FORM | LIMITED_BY(LIMIT_DEPOSIT), POOL_PAGE,
      deposit_submit, deposit_fields },
    { "GET", "/wallet/transfers/:key", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, transfer_show, NULL },
    { "GET", "/wallet/withdraw", NEED_USER | NO_TOKEN | LIMITED_BY(LIMIT_READ), POOL_AUTH, withdraw_show, NULL },
    { "POST", "/wallet/withdraw", NEED_USER | SAME_ORIGIN | NO_TOKEN | KEEP_FORM | LIMITED_BY(LIMIT_READ), POOL_AUTH,
      withdraw_submit, withdraw_fields },
    { "GET", "/wallet/topup", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, topup_form_get, NULL },
    { "POST", "/wallet/topup", NEED_USER | SAME_ORIGIN | FOR_SEND | KEEP_FORM | LIMITED_BY(LIMIT_DEPOSIT), POOL_PAGE,
      topup_form_post, topup_fields },
    { "GET", "/wallet/topup/:key", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, topup_show, NULL },
};
const size_t wallet_routes_count = ARRAY_LEN(wallet_routes);
