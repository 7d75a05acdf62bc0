#include "ops/command_output.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READ_BYTES = 4096 };

/* Starts the command with out_fd as its output. Its process; -1: it can't be started. */
static pid_t command_start(const char *const *argv, int out_fd)
{
    posix_spawn_file_actions_t files;
    pid_t pid = -1;
    if (posix_spawn_file_actions_init(&files) != 0)
        return -1;
    if (posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) != 0 ||
        posix_spawn_file_actions_adddup2(&files, out_fd, STDOUT_FILENO) != 0 ||
        posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0) != 0 ||
        posix_spawnp(&pid, argv[0], &files, NULL, (char *const *)argv, environ) != 0)
        pid = -1;
    (void)posix_spawn_file_actions_destroy(&files);
    return pid;
}

static bool all_read(int fd, struct buf *out)
{
    for (;;) {
        if (!buf_reserve(out, READ_BYTES))
            return false;
        ssize_t n = read(fd, out->ptr + out->len, READ_BYTES);
        if (n == 0)
            return true;
        if (n > 0)
            out->len += (size_t)n;
        else if (errno != EINTR)
            return false;
    }
}

static bool command_end(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool command_output(const char *const *argv, struct buf *out)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = command_start(argv, ends[1]);
    (void)close(ends[1]);
    bool is_read = pid >= 0 && all_read(ends[0], out);
    (void)close(ends[0]); /* a command that prints too much ends by SIGPIPE */
    return pid >= 0 && command_end(pid) && is_read;
}
