/* Ports for the servers of a test. */
#ifndef HB_TESTS_SUPPORT_TEST_PORT_H
#define HB_TESTS_SUPPORT_TEST_PORT_H

/* A port of the test's own (HB_TEST_PORTS, tests/CMakeLists.txt) that nothing uses now, another one each time until all
 * have had their turn. 0: none is free. */
int test_port_next(void);

#endif
