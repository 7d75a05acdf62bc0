/* io/notify and what io/process takes from systemd: the messages arrive as the protocol says, and the next process gets
 * the connections that one process leaves. */
#include <sys/wait.h>

#include "io/notify.h"
#include "io/process.h"
#include "support/test_supervisor.h"

enum { LISTENING = 3, CONNECTION = 4, MANY = 450 };

static int environment_clear(void **state)
{
    (void)state;
    EACH_TEXT (name, "NOTIFY_SOCKET", "WATCHDOG_USEC", "FDSTORE", "LISTEN_PID", "LISTEN_FDS")
        if (unsetenv(name) != 0)
            return -1;
    return 0;
}

/* Receives a message, "" when there is none; returns the number of its descriptors, which are closed. */
static size_t message_take(char text[SUPERVISOR_TEXT_BYTES])
{
    int fds[SUPERVISOR_FDS_MAX];
    size_t count = supervisor_take(0, text, fds);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(close(fds[i]), 0);
    return count;
}

static void assert_message(const char *wanted)
{
    char text[SUPERVISOR_TEXT_BYTES];
    assert_int_equal(message_take(text), 0);
    assert_string_equal(text, wanted);
}

TEST_WITH(a_supervisor_learns_the_states_of_the_process, environment_clear, environment_clear)
{
    notify_ready(); /* to nobody */
    assert_message("");
    assert_int_equal(setenv("NOTIFY_SOCKET", supervisor_address.sun_path, 1), 0);
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

TEST_WITH(connections_are_given_to_a_supervisor_that_keeps_them, environment_clear, environment_clear)
{
    int fds[MANY], pair[2];
    char text[SUPERVISOR_TEXT_BYTES];
    size_t all = 0;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    for (size_t i = 0; i < MANY; i++)
        assert_true((fds[i] = dup(pair[0])) >= 0);
    assert_int_equal(setenv("NOTIFY_SOCKET", supervisor_address.sun_path, 1), 0);
    assert_false(notify_keep(fds, MANY));
    assert_message("");
    assert_int_equal(setenv("FDSTORE", "4096", 1), 0);
    assert_true(notify_keep(fds, 0));
    assert_message("");
    assert_true(notify_keep(fds, MANY));
    for (int i = 0; i < 3; i++) {
        all += message_take(text);
        assert_string_equal(text, "FDSTORE=1\nFDNAME=connection");
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

TEST(the_next_process_takes_the_socket_and_the_connections)
{
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

TESTS(supervisor_open, supervisor_close)
