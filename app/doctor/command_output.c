#include "doctor/command_output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

enum { READ_BYTES = 4096, END_POLL_MS = 10 };

/* This program ignores SIGPIPE; a command does not expect that. */
static bool signals_default(posix_spawnattr_t *attributes)
{
    sigset_t signals;
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGPIPE);
    return posix_spawnattr_setsigdefault(attributes, &signals) == 0 &&
           posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGDEF) == 0;
}

/* Starts the command with out_fd as its output. Its process; -1: it can't be started. */
static pid_t command_start(const char *const *argv, int out_fd)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawnattr_init(&attributes) == 0) {
        if (!signals_default(&attributes) ||
            posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0 ||
            posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO) != 0 ||
            posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
            posix_spawnp(&pid, argv[0], &files, &attributes, (char *const *)argv, environ) != 0)
            pid = -1;
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return pid;
}

/* Reads to the end. False: a read failed, out is full, or the deadline passed. */
static bool all_read(int fd, struct buf *out, int64_t deadline_ms)
{
    for (;;) {
        struct pollfd pipe = { .fd = fd, .events = POLLIN };
        int64_t left_ms = deadline_ms - clock_monotonic_ms();
        if (left_ms <= 0 || !buf_reserve(out, READ_BYTES))
            return false;
        ssize_t n = poll(&pipe, 1, (int)left_ms);
        if (n == 0)
            return false;
        if (n > 0)
            n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n == 0)
            return true;
        if (n > 0)
            out->len += (size_t)n;
        else if (errno != EINTR)
            return false;
    }
}

/* Waits for the end of the command, and kills it at the deadline. Whether it succeeded. */
static bool command_end(pid_t pid, int64_t deadline_ms)
{
    int status;
    pid_t ended;
    while ((ended = waitpid(pid, &status, WNOHANG)) == 0 && clock_monotonic_ms() < deadline_ms)
        (void)poll(NULL, 0, END_POLL_MS);
    if (ended == 0)
        (void)kill(pid, SIGKILL);
    while (ended != pid && (ended = waitpid(pid, &status, 0)) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_output(const char *const *argv, int limit_ms, struct buf *out)
{
    const int64_t deadline_ms = clock_monotonic_ms() + limit_ms;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = command_start(argv, ends[1]);
    (void)close(ends[1]);
    bool is_read = pid >= 0 && all_read(ends[0], out, deadline_ms);
    (void)close(ends[0]);
    /* The output of a command that was not read to its end is useless. */
    return pid >= 0 && command_end(pid, is_read ? deadline_ms : 0) && is_read;
}
