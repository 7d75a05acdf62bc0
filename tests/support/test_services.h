/* The services of a process for integration tests, on the servers of the fixture `stores`. */
#ifndef HB_TESTS_SUPPORT_TEST_SERVICES_H
#define HB_TESTS_SUPPORT_TEST_SERVICES_H

#include "web/exchange.h"

/* Reads the configuration that HB_CONFIG names and opens Redis, the scripts and the database, whose schema is brought
 * up to date. Templates, assets and the visitor hook are left NULL. NULL when something is missing: why is on
 * stderr. */
struct services *test_services_open(void);
/* The same as a process of that role ("web", "settle", "audit") has them: with its users' rights and no others. The
 * schema is left as it is. */
struct services *test_services_open_as(const char *role);
void test_services_close(struct services *app); /* NULL is fine */

/* Grabs may go to Redis as if a settle worker had looked at it (settle/recover.h). app: the administrator's. */
void test_services_fence_open(struct services *app);

/* The configuration for a test to change before it opens something of its own. */
struct config *test_services_config(struct services *app);

#endif
