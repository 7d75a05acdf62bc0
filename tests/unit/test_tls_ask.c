/* ops/tls_ask: a server that never ends its handshake. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/tls_ask.h"

enum { LIMIT_MS = 200, DRIP_MS = 20 };

static int listener_open(struct sockaddr_in *address)
{
    socklen_t len = sizeof *address;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)address, &len), 0);
    assert_int_equal(listen(fd, 1), 0);
    return fd;
}

/* Sends a record of 16 KiB, a byte at a time, until the client is gone. */
_Noreturn static void record_drip(int listener)
{
    static const char header[] = { 0x16, 0x03, 0x03, 0x40, 0x00 }; /* handshake, TLS 1.2, 0x4000 bytes */
    int fd = accept(listener, NULL, NULL);
    ssize_t n = send(fd, header, sizeof header, MSG_NOSIGNAL);
    while (n > 0) {
        (void)poll(NULL, 0, DRIP_MS);
        n = send(fd, "", 1, MSG_NOSIGNAL);
    }
    _exit(0);
}

static void test_a_server_that_says_nothing_is_left_at_the_deadline(void **state)
{
    (void)state;
    struct sockaddr_in address;
    int listener = listener_open(&address);
    assert_null(tls_ask((struct sockaddr *)&address, sizeof address, "localhost", LIMIT_MS));
    assert_int_equal(errno, ETIMEDOUT);
    (void)close(listener);
    assert_null(tls_ask((struct sockaddr *)&address, sizeof address, "localhost", LIMIT_MS));
    assert_int_equal(errno, ECONNREFUSED);
}

static void test_a_server_that_sends_byte_by_byte_is_left_at_the_deadline(void **state)
{
    (void)state;
    struct sockaddr_in address;
    int listener = listener_open(&address);
    pid_t server = fork();
    if (server == 0)
        record_drip(listener);
    assert_true(server > 0);
    X509 *certificate = tls_ask((struct sockaddr *)&address, sizeof address, "localhost", LIMIT_MS);
    int error = errno;
    (void)kill(server, SIGKILL);
    assert_int_equal(waitpid(server, NULL, 0), server);
    (void)close(listener);
    assert_null(certificate);
    assert_int_equal(error, ETIMEDOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_that_says_nothing_is_left_at_the_deadline),
        cmocka_unit_test(test_a_server_that_sends_byte_by_byte_is_left_at_the_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
