/* main.c: a command has a filter of system calls before it reads a file. The program runs in a child process. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

enum { PATIENCE_MS = 15000 * HB_TEST_PATIENCE };

static char fifo[64];

static int fifo_make(void **state)
{
    (void)state;
    (void)snprintf(fifo, sizeof fifo, "/tmp/hb-main-filter-%ld", (long)getpid());
    return mkfifo(fifo, 0600);
}

static int fifo_remove(void **state)
{
    (void)state;
    return unlink(fifo);
}

/* The number of filters of system calls that the process has; -1: not known. */
static long filters_of(pid_t pid)
{
    char path[64], line[256];
    long count = -1;
    (void)snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
    FILE *status = fopen(path, "r");
    assert_non_null(status);
    while (fgets(line, sizeof line, status) != NULL && sscanf(line, "Seccomp_filters: %ld", &count) != 1) {
    }
    (void)fclose(status);
    return count;
}

/* Starts the program with this standard input. argv: ends with NULL. */
static pid_t program_start(const char *const *argv, int input)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* ends with the test, also when it fails */
    (void)dup2(input, STDIN_FILENO);
    execv(HB_PROGRAM, (char *const *)argv);
    _exit(127);
}

static void program_end(pid_t pid)
{
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Opens the FIFO for writing once the program has opened it for reading; the program then waits for bytes. -1: not in
 * time. */
static int fifo_reader_wait(void)
{
    for (int waited_ms = 0; waited_ms < PATIENCE_MS; waited_ms++) {
        int fd = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0)
            return fd;
        (void)poll(NULL, 0, 1);
    }
    return -1;
}

TEST_WITH(a_command_that_reads_a_receipt_has_a_filter, fifo_make, fifo_remove)
{
    pid_t pid = program_start((const char *const[]){ "hongbao", "verify-receipt", fifo, "--keys", fifo, NULL }, 0);
    int writer = fifo_reader_wait();
    assert_true(writer >= 0);
    assert_int_equal(filters_of(pid), filters_of(getpid()) + 1);
    program_end(pid);
    (void)close(writer);
}

/* The filter of a command would allow more. */
TEST(the_decoder_of_pictures_has_its_own_filter_alone)
{
    int in[2], unread = 1;
    assert_int_equal(pipe(in), 0);
    pid_t pid = program_start((const char *const[]){ "hongbao", "picture", "square", "auto", NULL }, in[0]);
    assert_int_equal(write(in[1], "x", 1), 1);
    for (int waited_ms = 0; unread > 0 && waited_ms < PATIENCE_MS; waited_ms++) {
        assert_int_equal(ioctl(in[0], FIONREAD, &unread), 0);
        (void)poll(NULL, 0, 1);
    }
    assert_int_equal(unread, 0);
    assert_int_equal(filters_of(pid), filters_of(getpid()) + 1);
    program_end(pid);
    (void)close(in[0]);
    (void)close(in[1]);
}

TESTS(NULL, NULL)
