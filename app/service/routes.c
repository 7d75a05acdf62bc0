#include "service/routes.h"

#include "base/array.h"
#include "service/payments.h"
#include "service/report.h"
#include "service/topups.h"
#include "service/transfers.h"
#include "service/withdrawals.h"

const struct route service_routes[] = {
    { "POST", "/money/credits", FOR_SERVICE, POOL_MONEY, credit_submit, payment_fields },
    { "POST", "/money/debits", FOR_SERVICE, POOL_MONEY, debit_submit, payment_fields },
    { "GET", "/money/transfers", FOR_SERVICE, POOL_MONEY, transfers_list, NULL },
    { "GET", "/money/withdrawals", FOR_SERVICE, POOL_MONEY, withdrawals_list, NULL },
    { "POST", "/money/withdrawals/:key/post", FOR_SERVICE, POOL_MONEY, withdrawal_post_submit, withdrawal_post_fields },
    { "POST", "/money/withdrawals/:key/void", FOR_SERVICE, POOL_MONEY, withdrawal_void_submit, withdrawal_void_fields },
    { "POST", "/money/topups/:key/paid", FOR_SERVICE, POOL_MONEY, topup_paid_submit, topup_paid_fields },
    { "GET", "/money/report", FOR_SERVICE, POOL_MONEY, channel_report_show, NULL },
};
const size_t service_routes_count = ARRAY_LEN(service_routes);
