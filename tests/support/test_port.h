/* Ports for the servers of a test. */
#ifndef HB_TESTS_SUPPORT_TEST_PORT_H
#define HB_TESTS_SUPPORT_TEST_PORT_H

/* A port from the range of this test (HB_TEST_PORTS, tests/CMakeLists.txt) that nothing uses now. Each call returns
 * another port, until all were used once. 0: none is free. */
int test_port_next(void);

#endif
