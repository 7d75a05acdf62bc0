/* io/process: restart, stop and nice value. The cases start `test_io_process ROLE SOCKET`, the program that is
 * restarted.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "io/process.h"
#include "support/test.h"

enum { PATIENCE_MS = 10000 * HB_TEST_PATIENCE, POLL_MS = 1000, ASK_GENERATION = 'g', LINE_MAX_BYTES = 64 };

/* ---- the program that is restarted ---- */

/* Answers each 'g' on the socket with "GENERATION CONNECTIONS\n". A restart passes on the socket and a duplicate. With
 * the role "broken" the check fails. */
static int program(char **argv)
{
    int fds[PROCESS_DESCRIPTORS_MAX], first = (int)strtol(argv[2], NULL, 10);
    char generation[LINE_MAX_BYTES] = "0";
    const char *handover = getenv(PROCESS_HANDOVER);
    if (handover != NULL)
        (void)snprintf(generation, sizeof generation, "%.*s", (int)strcspn(handover, ":"), handover);
    process_init(argv);
    log_init("test", LOG_ERROR);
    size_t len = process_handover_take(fds, PROCESS_DESCRIPTORS_MAX);
    if (handover == NULL) {
        fds[len++] = first;
        fds[len++] = dup(first);
    }
    process_signals_init();
    while (!process_stop_requested()) {
        char word, line[LINE_MAX_BYTES];
        struct pollfd p = { .fd = fds[0], .events = POLLIN };
        if (process_poll(&p, 1, POLL_MS) == 1 && (read(fds[0], &word, 1) != 1 || word != ASK_GENERATION))
            return 1;
        if ((p.revents & POLLIN) != 0) {
            int n = snprintf(line, sizeof line, "%s %zu\n", generation, len);
            if (write(fds[0], line, (size_t)n) != n)
                return 1;
        }
        if (process_restart_due())
            process_restart(fds, len);
    }
    return 0;
}

/* ---- the cases ---- */

/* Starts the program. *log_fd (may be NULL): its log can be read from there. */
static pid_t program_start(const char *role, int *fd, int *log_fd)
{
    int pair[2], log[2] = { -1, -1 };
    char number[LINE_MAX_BYTES];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    if (log_fd != NULL)
        assert_int_equal(pipe(log), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the test, also when it fails */
        (void)close(pair[0]);
        if (log_fd != NULL && (dup2(log[1], STDERR_FILENO) < 0 || close(log[0]) != 0 || close(log[1]) != 0))
            _exit(126);
        (void)snprintf(number, sizeof number, "%d", pair[1]);
        (void)execl("/proc/self/exe", "/proc/self/exe", role, number, (char *)NULL);
        _exit(127);
    }
    (void)close(pair[1]);
    *fd = pair[0];
    if (log_fd != NULL) {
        (void)close(log[1]);
        *log_fd = log[0];
    }
    return pid;
}

/* Sends a question to the program; line: its answer. */
static void program_ask(int fd, char *line)
{
    size_t len = 0;
    const char word = ASK_GENERATION;
    assert_int_equal(send(fd, &word, 1, MSG_NOSIGNAL), 1);
    do {
        struct pollfd p = { .fd = fd, .events = POLLIN };
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        assert_int_equal(read(fd, &line[len], 1), 1);
    } while (line[len++] != '\n' && len < LINE_MAX_BYTES);
    line[len - 1] = '\0';
}

/* Asks until the answer differs from before. */
static void program_ask_until_new(int fd, const char *before, char *line)
{
    for (int i = 0; i < PATIENCE_MS; i++) {
        program_ask(fd, line);
        if (strcmp(line, before) != 0)
            return;
        (void)poll(NULL, 0, 1);
    }
    fail_msg("the answer is still \"%s\"", before);
}

static void program_end(pid_t pid, int signal_no, int fd)
{
    int status;
    assert_int_equal(kill(pid, signal_no), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    (void)close(fd);
}

TEST(sighup_restarts_the_program_and_keeps_its_connections)
{
    int fd;
    char line[LINE_MAX_BYTES], next[LINE_MAX_BYTES];
    pid_t pid = program_start("fine", &fd, NULL);
    program_ask(fd, line);
    assert_string_equal(line, "0 2");
    for (int i = 1; i <= 3; i++) {
        assert_int_equal(kill(pid, SIGHUP), 0);
        program_ask_until_new(fd, line, next);
        (void)snprintf(line, sizeof line, "%d 2", i);
        assert_string_equal(next, line);
    }
    program_end(pid, SIGTERM, fd);
}

/* The last signals arrive during the check, during the exec, or before the handlers are installed. */
TEST(a_stop_is_not_lost_in_a_restart)
{
    for (int i = 0; i < 20; i++) {
        int fd;
        char line[LINE_MAX_BYTES], next[LINE_MAX_BYTES];
        pid_t pid = program_start("fine", &fd, NULL);
        program_ask(fd, line);
        assert_int_equal(kill(pid, SIGHUP), 0);
        assert_int_equal(kill(pid, SIGHUP), 0);
        if (i % 2 == 0)
            program_ask_until_new(fd, line, next);
        assert_int_equal(kill(pid, SIGHUP), 0);
        (void)poll(NULL, 0, i);
        program_end(pid, i % 3 == 0 ? SIGUSR1 : SIGTERM, fd);
    }
}

/* Waits until the process has this name. */
static void name_wait(pid_t pid, const char *expected)
{
    char path[LINE_MAX_BYTES], name[LINE_MAX_BYTES] = "";
    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    for (int i = 0; i < PATIENCE_MS && strcmp(name, expected) != 0; i++) {
        FILE *in = fopen(path, "r");
        assert_non_null(in);
        assert_non_null(fgets(name, sizeof name, in));
        (void)fclose(in);
        name[strcspn(name, "\n")] = '\0';
        (void)poll(NULL, 0, 1);
    }
    assert_string_equal(name, expected);
}

TEST(a_restart_whose_check_fails_is_refused_and_the_program_keeps_running)
{
    int fd, log_fd;
    char line[LINE_MAX_BYTES], log[1024];
    pid_t pid = program_start("broken", &fd, &log_fd);
    program_ask(fd, line);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(kill(pid, SIGHUP), 0);
        struct pollfd p = { .fd = log_fd, .events = POLLIN };
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        ssize_t n = read(log_fd, log, sizeof log - 1);
        assert_true(n > 0);
        log[n] = '\0';
        assert_non_null(strstr(log, "restart refused"));
        (void)snprintf(line, sizeof line, "hongbao 0 %d", i + 1);
        name_wait(pid, line);
        program_ask(fd, line);
        assert_string_equal(line, "0 2");
    }
    program_end(pid, SIGTERM, fd);
    (void)close(log_fd);
}

TEST(a_failed_restart_changes_nothing)
{
    char name[] = "/nowhere/test", *argv[] = { name, NULL };
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    log_init("test", LOG_ERROR + 1);
    process_init(argv);
    process_restart(pair, 2);
    assert_null(getenv(PROCESS_HANDOVER));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fcntl(pair[i], F_GETFD), FD_CLOEXEC);
        (void)close(pair[i]);
    }
}

/* ---- the handover variable ---- */

TEST(only_inherited_connected_sockets_are_taken_over)
{
    char name[] = "test", *argv[] = { name, NULL }, text[256];
    int pair[2], other[2], kept[2], pipes[2], fds[8];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM, 0, other), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, kept), 0);
    assert_int_equal(pipe(pipes), 0);
    int listening = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(listening >= 0 && listen(listening, 1) == 0);
    log_init("test", LOG_ERROR + 1);

    (void)snprintf(text, sizeof text, "7:%d,%d,%d,%d,%d,%d,0,-1,x,4095,99999999999999999999,,%d,", pair[0], pair[0],
                   other[0], kept[0], pipes[0], listening, pair[1]);
    assert_int_equal(setenv(PROCESS_HANDOVER, text, 1), 0);
    process_init(argv);
    assert_null(getenv(PROCESS_HANDOVER));
    assert_int_equal(process_handover_take(fds, 8), 2);
    assert_ints({ fds[0], pair[0] }, { fds[1], pair[1] });
    assert_int_equal(fcntl(pair[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(process_handover_take(fds, 8), 0);

    EACH_TEXT (word, "", ":", "x:3,4", "3", "-1:3") {
        assert_int_equal(fcntl(pair[0], F_SETFD, 0), 0);
        assert_int_equal(setenv(PROCESS_HANDOVER, word, 1), 0);
        process_init(argv);
        assert_int_equal(process_handover_take(fds, 8), 0);
    }

    /* A descriptor beyond max is closed. */
    assert_int_equal(fcntl(pair[1], F_SETFD, 0), 0);
    (void)snprintf(text, sizeof text, "8:%d,%d,", pair[0], pair[1]);
    assert_int_equal(setenv(PROCESS_HANDOVER, text, 1), 0);
    process_init(argv);
    assert_int_equal(process_handover_take(fds, 1), 1);
    assert_int_equal(fcntl(pair[1], F_GETFD), -1);
    const int all[] = { pair[0], other[0], other[1], kept[0], kept[1], pipes[0], pipes[1], listening };
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        (void)close(all[i]);
}

TEST(the_nice_value_is_raised_and_never_lowered)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        int last = getpriority(PRIO_PROCESS, 0);
        const int wanted[] = { 3, 19, 10 };
        bool right = true;
        for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
            process_be_nice(wanted[i]);
            last = wanted[i] > last ? wanted[i] : last;
            right = right && getpriority(PRIO_PROCESS, 0) == last;
        }
        _exit(right ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[3], "--check") == 0)
        return strcmp(argv[1], "broken") == 0;
    if (argc == 3)
        return program(argv);
    return tests_run(NULL, NULL);
}
