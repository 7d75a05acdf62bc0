/* io/notify and what io/process takes from systemd: the messages arrive as the protocol says, and connections that one
 * process leaves are those of the next. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka needs the four above. */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "io/notify.h"
#include "io/process.h"

enum { LISTENING = 3, CONNECTION = 4, MANY = 450, MESSAGE_FDS_MAX = 253 };

static char path[] = "/tmp/hongbao-notify-XXXXXX";
static int supervisor;

static int supervisor_open(void **state)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    (void)state;
    int fd = mkstemp(path);
    if (fd < 0 || close(fd) != 0 || unlink(path) != 0)
        return -1;
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    supervisor = socket(AF_UNIX, SOCK_DGRAM, 0);
    return supervisor < 0 ? -1 : bind(supervisor, (struct sockaddr *)&address, sizeof address);
}

static int supervisor_close(void **state)
{
    (void)state;
    return close(supervisor) != 0 || unlink(path) != 0 ? -1 : 0;
}

static int environment_clear(void **state)
{
    const char *const names[] = { "NOTIFY_SOCKET", "WATCHDOG_USEC", "FDSTORE", "LISTEN_PID", "LISTEN_FDS" };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (unsetenv(names[i]) != 0)
            return -1;
    return 0;
}

/* Receives a message, "" when there is none; *fds_len: its descriptors, which are closed. */
static void message_take(char text[64], size_t *fds_len)
{
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(MESSAGE_FDS_MAX * sizeof(int))];
    } control;
    struct iovec part = { .iov_base = text, .iov_len = 63 };
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
    };
    ssize_t len = recvmsg(supervisor, &message, MSG_DONTWAIT);
    text[len < 0 ? 0 : len] = '\0';
    *fds_len = 0;
    struct cmsghdr *header = len < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (header == NULL)
        return;
    *fds_len = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < *fds_len; i++) {
        int fd;
        memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
        assert_int_equal(close(fd), 0);
    }
}

static void assert_message(const char *wanted)
{
    char text[64];
    size_t fds_len;
    message_take(text, &fds_len);
    assert_string_equal(text, wanted);
    assert_int_equal(fds_len, 0);
}

static void a_supervisor_learns_the_states_of_the_process(void **state)
{
    (void)state;
    notify_ready(); /* to nobody */
    assert_message("");
    assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
    notify_ready();
    assert_message("READY=1");
    notify_stopping();
    assert_message("STOPPING=1");
    notify_alive(); /* nobody watches */
    assert_message("");
    assert_int_equal(setenv("WATCHDOG_USEC", "30000000", 1), 0);
    notify_alive();
    assert_message("WATCHDOG=1");
    notify_alive(); /* within the same second */
    assert_message("");
}

static void connections_are_given_to_a_supervisor_that_keeps_them(void **state)
{
    int fds[MANY], pair[2];
    char text[64];
    size_t count, all = 0;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_true((fds[i] = dup(pair[0])) >= 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", path, 1), 0);
    assert_false(notify_keep(fds, MANY));
    assert_message("");
    assert_int_equal(setenv("FDSTORE", "4096", 1), 0);
    assert_true(notify_keep(fds, 0));
    assert_message("");
    assert_true(notify_keep(fds, MANY));
    for (int i = 0; i < 3; i++) {
        message_take(text, &count);
        assert_string_equal(text, "FDSTORE=1\nFDNAME=connection");
        all += count;
    }
    assert_int_equal(all, MANY);
    assert_message("");
    notify_forget();
    assert_message("FDSTOREREMOVE=1\nFDNAME=connection");
    for (size_t i = 0; i < MANY; i++)
        assert_int_equal(close(fds[i]), 0);
    assert_int_equal(close(pair[0]) | close(pair[1]), 0);
}

/* In a process of its own, with a listening socket and a connection where systemd puts them. */
static int takes_sockets(const char *pid_text)
{
    char name[] = "test", *argv[] = { name, NULL };
    int pair[2], fds[4], listens = 0;
    socklen_t len = sizeof listens;
    int socket_fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        bind(socket_fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 || listen(socket_fd, 1) != 0)
        return 1;
    int high[2] = { dup2(socket_fd, 100), dup2(pair[0], 101) };
    if (dup2(high[0], LISTENING) < 0 || dup2(high[1], CONNECTION) < 0 || setenv("LISTEN_PID", pid_text, 1) != 0 ||
        setenv("LISTEN_FDS", "2", 1) != 0)
        return 2;
    (void)close(STDIN_FILENO);
    process_init(argv);
    size_t count = process_handover_take(fds, ARRAY_LEN(fds));
    bool at_0 = getsockopt(STDIN_FILENO, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0;
    if (getenv("LISTEN_FDS") != NULL)
        return 3;
    return at_0 && count == 1 && fds[0] == CONNECTION ? 0 : !at_0 && count == 0 ? 4 : 5;
}

static void the_next_process_takes_the_socket_and_the_connections(void **state)
{
    (void)state;
    for (int right = 0; right < 2; right++) {
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            char own[32];
            (void)snprintf(own, sizeof own, "%d", (int)getpid());
            _exit(takes_sockets(right ? own : "1"));
        }
        int status = -1;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), right ? 0 : 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_supervisor_learns_the_states_of_the_process, environment_clear,
                                        environment_clear),
        cmocka_unit_test_setup_teardown(connections_are_given_to_a_supervisor_that_keeps_them, environment_clear,
                                        environment_clear),
        cmocka_unit_test(the_next_process_takes_the_socket_and_the_connections),
    };
    return cmocka_run_group_tests(tests, supervisor_open, supervisor_close);
}
