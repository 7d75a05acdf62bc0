#include "wallet/routes.h"

#include "base/array.h"
#include "wallet/deposit.h"
#include "wallet/statement.h"
#include "web/limits.h"

const struct route wallet_routes[] = {
    { "GET", "/wallet", NEED_USER | LIMITED_BY(LIMIT_READ), POOL_PAGE, statement_show, NULL },
    { "POST", "/wallet/deposit", NEED_USER | SAME_ORIGIN | FOR_SEND | KEEP_FORM | LIMITED_BY(LIMIT_DEPOSIT), POOL_PAGE,
      deposit_submit, deposit_fields },
};
const size_t wallet_routes_count = ARRAY_LEN(wallet_routes);
