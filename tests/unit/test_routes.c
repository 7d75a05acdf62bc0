/* The route tables of all floors: the requirements of each path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "ops/health.h"
#include "pages/routes.h"
#include "user/routes.h"
#include "wallet/routes.h"

static const struct floor {
    const struct route *routes;
    const size_t *count;
} floors[] = { { user_routes, &user_routes_count },
               { wallet_routes, &wallet_routes_count },
               { packet_routes, &packet_routes_count },
               { ops_routes, &ops_routes_count } };

static void every_post_requires_the_same_origin(void **state)
{
    (void)state;
    size_t posts = 0;
    for (size_t f = 0; f < ARRAY_LEN(floors); f++)
        for (size_t i = 0; i < *floors[f].count; i++) {
            const struct route *r = &floors[f].routes[i];
            if (strcmp(r->method, "POST") != 0)
                continue;
            posts++;
            if (!(r->needs & SAME_ORIGIN))
                fail_msg("POST %s does not require the same origin", r->path);
        }
    assert_true(posts >= 7);
}

static void money_and_records_need_a_user(void **state)
{
    (void)state;
    static const char *const private[] = { "/send", "/p/:id/open", "/wallet", "/records/" };
    size_t found = 0;
    for (size_t f = 0; f < ARRAY_LEN(floors); f++)
        for (size_t i = 0; i < *floors[f].count; i++)
            for (size_t k = 0; k < ARRAY_LEN(private); k++) {
                const struct route *r = &floors[f].routes[i];
                if (strncmp(r->path, private[k], strlen(private[k])) != 0)
                    continue;
                found++;
                if ((r->needs & NEED_USER) != NEED_USER)
                    fail_msg("%s %s needs no user", r->method, r->path);
            }
    assert_true(found >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_post_requires_the_same_origin),
        cmocka_unit_test(money_and_records_need_a_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
