/* The services of a group of packet tests: cmocka_run_group_tests(tests, app_setup, app_teardown). */
#ifndef HB_TEST_PACKET_APP_H
#define HB_TEST_PACKET_APP_H

#include "test_packet_fixture.h"

static struct services *app;

static inline int app_setup(void **state)
{
    (void)state;
    app = packet_services_open();
    return app == NULL;
}

static inline int app_teardown(void **state)
{
    (void)state;
    packet_services_close(app);
    return 0;
}

#endif
