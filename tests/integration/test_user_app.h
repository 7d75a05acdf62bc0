/* The services of a group of user tests: cmocka_run_group_tests(tests, app_setup, app_teardown). */
#ifndef HB_TEST_USER_APP_H
#define HB_TEST_USER_APP_H

#include "support/test_services.h"
#include "test_user_fixture.h"

static struct services *app;
static struct config *config; /* of app; tests may change it */

static inline int app_setup(void **state)
{
    (void)state;
    app = site_open();
    if (app == NULL)
        return 1;
    config = test_services_config(app);
    return 0;
}

static inline int app_teardown(void **state)
{
    (void)state;
    site_close(app);
    return 0;
}

/* Before each test that sets limits of its own. */
static inline int no_limits(void **state)
{
    (void)state;
    limits_clear(config);
    return 0;
}

#endif
