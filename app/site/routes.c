#include "site/routes.h"

#include <assert.h>

#include "account/routes.h"
#include "base/array.h"
#include "pages/routes.h"
#include "records/routes.h"
#include "service/routes.h"
#include "site/health.h"
#include "sso/routes.h"
#include "wallet/routes.h"

static const struct floor {
    const struct route *routes;
    const size_t *count;
} floors[] = { { account_routes, &account_routes_count }, { sso_routes, &sso_routes_count },
               { wallet_routes, &wallet_routes_count },   { packet_routes, &packet_routes_count },
               { records_routes, &records_routes_count }, { service_routes, &service_routes_count },
               { health_routes, &health_routes_count } };

size_t site_routes_count(void)
{
    size_t count = 0;
    for (size_t f = 0; f < ARRAY_LEN(floors); f++)
        count += *floors[f].count;
    return count;
}

const struct route *site_route(size_t i)
{
    for (size_t f = 0; f < ARRAY_LEN(floors); f++) {
        if (i < *floors[f].count)
            return &floors[f].routes[i];
        i -= *floors[f].count;
    }
    assert(false);
    return NULL;
}
