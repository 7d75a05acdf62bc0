/* struct services for integration tests, with the servers of the fixture `stores`. */
#ifndef HB_TESTS_SUPPORT_TEST_SERVICES_H
#define HB_TESTS_SUPPORT_TEST_SERVICES_H

#include "web/exchange.h"

/* Reads the configuration file HB_CONFIG, opens Redis and MySQL, loads the functions, and runs the migrations.
 * Templates, assets and the visitor hook are NULL. NULL on an error, with the reason on stderr. Free with
 * test_services_close. */
struct services *test_services_open(void);
/* The same with the users and rights of a role ("page", "settle"). It runs no migrations and does not read them:
 * reading and hashing them takes longer than everything else. */
struct services *test_services_open_as(const char *role);
/* A separate connection to MariaDB, with the rights of these services. Close it. */
struct st_mysql *test_services_mysql(const struct services *app);
void test_services_close(struct services *app); /* NULL is allowed */

/* Opens all fences without a comparison, because no settle worker runs (settle/recover.h). app: of the
 * administrator. */
void test_services_fences_open(struct services *app);
/* Sets app's fences, and writes text to the key of each. NULL: the text that opens it. */
void test_services_fences_write(struct services *app, const char *text);

/* The configuration, writable: a test can change it before it opens further objects. */
struct config *test_services_config(struct services *app);

#endif
