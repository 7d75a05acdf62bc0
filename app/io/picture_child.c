#include "io/picture_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "io/picture.h"
#include "io/process.h"
#include "io/sandbox.h"

enum {
    EXIT_DONE = 0,
    EXIT_UNREADABLE = 1,
    EXIT_CONFINED_NOT = 3,
    NICENESS = 10,
    CPU_S_MAX = 3,
    DATA_BYTES_MAX = 448 << 20, /* the largest files need 240 MiB */
    READ_BYTES = 64 << 10,
    FIRST_DESCRIPTOR = 3,
    WAIT_NS = 500000,
    WORD_MAX = 16
};

/* ---- the process that decodes ---- */

static bool limit_set(__rlimit_resource_t what, rlim_t most)
{
    const struct rlimit limit = { most, most };
    return setrlimit(what, &limit) == 0;
}

/* With a sanitizer, address space is not limited: it reserves terabytes. */
static bool limits_set(void)
{
#ifndef __SANITIZE_ADDRESS__
    if (!limit_set(RLIMIT_DATA, DATA_BYTES_MAX))
        return false;
#endif
    return limit_set(RLIMIT_CPU, CPU_S_MAX) && limit_set(RLIMIT_NOFILE, FIRST_DESCRIPTOR) && limit_set(RLIMIT_FSIZE, 0);
}

/* Reads standard input to its end. False: it has more than limit, or can't be read. */
static bool input_read(struct buf *in)
{
    for (;;) {
        if (!buf_reserve(in, READ_BYTES))
            return false;
        ssize_t n = read(STDIN_FILENO, in->ptr + in->len, READ_BYTES);
        if (n <= 0)
            return n == 0;
        in->len += (size_t)n;
    }
}

static bool output_write(struct str bytes)
{
    while (bytes.len > 0) {
        ssize_t n = write(STDOUT_FILENO, bytes.ptr, bytes.len);
        if (n <= 0)
            return false;
        bytes = (struct str){ bytes.ptr + n, bytes.len - (size_t)n };
    }
    return true;
}

int picture_child_run(struct picture_want want)
{
    struct buf in = { .limit = PICTURE_FILE_BYTES_MAX + 2 * READ_BYTES }, out = { .limit = PICTURE_BYTES_MAX };
    process_be_nice(NICENESS);
    if (!limits_set() || sandbox_narrow(SANDBOX_PICTURE) != ST_OK)
        _exit(EXIT_CONFINED_NOT);
    bool done = input_read(&in) && in.len <= PICTURE_FILE_BYTES_MAX &&
                picture_make(buf_view(&in), want, PICTURE_PIXELS_MAX, &out) == ST_OK && output_write(buf_view(&out));
    _exit(done ? EXIT_DONE : EXIT_UNREADABLE); /* not exit: its handlers make calls that are refused now */
}

/* ---- the process that wants the picture ---- */

struct child {
    pid_t pid;
    int in, out; /* our ends; -1: closed */
    int64_t deadline_ms;
};

static void end_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Returns an errno, 0 on success. */
static int spawn(struct child *c, const char *program, struct picture_want want, int in, int out)
{
    char name[] = "hongbao", command[] = "picture", shape[WORD_MAX], part[WORD_MAX];
    char *argv[] = { name, command, shape, part, NULL }, *environment[] = { NULL };
    (void)snprintf(shape, sizeof shape, "%.*s", STR_ARG(picture_shape_word(want.shape)));
    (void)snprintf(part, sizeof part, "%.*s", STR_ARG(picture_part_word(want.part)));
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        (void)sigemptyset(&none);
        error = posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
        if (error == 0)
            error = posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
        if (error == 0)
            error = posix_spawn_file_actions_addclosefrom_np(&files, FIRST_DESCRIPTOR);
        if (error == 0)
            error = posix_spawnattr_setsigmask(&attributes, &none);
        if (error == 0)
            error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawn(&c->pid, program, &files, &attributes, argv, environment);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

static enum status child_start(struct child *c, const char *program, struct picture_want want)
{
    int in[2] = { -1, -1 }, out[2] = { -1, -1 };
    *c = (struct child){ .in = -1, .out = -1, .deadline_ms = clock_monotonic_ms() + PICTURE_MS_MAX };
    int error = pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || fcntl(in[1], F_SETFL, O_NONBLOCK) != 0
                    ? errno
                    : spawn(c, program, want, in[0], out[1]);
    end_close(&in[0]);
    end_close(&out[1]);
    c->in = in[1];
    c->out = out[0];
    if (error == 0)
        return ST_OK;
    end_close(&c->in);
    end_close(&c->out);
    log_error("picture not decoded: process not started", "error=\"%s\"", strerror(error));
    return ST_UNAVAILABLE;
}

/* Sends as much as the process reads. A process that does not read on has ended, or will answer with the reason. */
static void file_send(struct child *c, struct str *file)
{
    ssize_t n = write(c->in, file->ptr, file->len);
    if (n > 0)
        *file = (struct str){ file->ptr + n, file->len - (size_t)n };
    if (file->len == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        end_close(&c->in);
}

static void result_take(struct child *c, struct buf *out)
{
    char bytes[4096];
    ssize_t n = read(c->out, bytes, sizeof bytes);
    if (n > 0)
        buf_bytes(out, bytes, (size_t)n);
    if (out->failed || n == 0 || (n < 0 && errno != EINTR))
        end_close(&c->out);
}

/* Sends the file and receives the result at the same time: the process may answer before it has read everything. */
static void talk(struct child *c, struct str file, struct buf *out)
{
    while (c->out >= 0) {
        struct pollfd fds[] = { { .fd = c->out, .events = POLLIN }, { .fd = c->in, .events = POLLOUT } };
        int64_t left_ms = c->deadline_ms - clock_monotonic_ms();
        if (left_ms <= 0 || (poll(fds, 2, (int)left_ms) < 0 && errno != EINTR))
            break;
        if (c->in >= 0 && fds[1].revents != 0)
            file_send(c, &file);
        if (fds[0].revents != 0)
            result_take(c, out);
    }
    end_close(&c->in);
    end_close(&c->out);
}

/* Waits for the end of the process, which is killed at the deadline. Returns its wait status. */
static int child_end(struct child *c)
{
    const struct timespec pause = { .tv_nsec = WAIT_NS };
    int status = 0;
    pid_t ended;
    while ((ended = waitpid(c->pid, &status, WNOHANG)) == 0 && clock_monotonic_ms() < c->deadline_ms)
        (void)nanosleep(&pause, NULL);
    if (ended != 0)
        return status;
    (void)kill(c->pid, SIGKILL);
    (void)waitpid(c->pid, &status, 0);
    return status;
}

enum status picture_child_make(const char *program, struct str file, struct picture_want want, struct buf *out)
{
    struct child c;
    struct buf result = { .limit = PICTURE_BYTES_MAX };
    enum status st = child_start(&c, program, want);
    if (st != ST_OK)
        return st;
    talk(&c, file, &result);
    const int status = child_end(&c);
    const bool exited = WIFEXITED(status);
    if (exited && WEXITSTATUS(status) == EXIT_DONE && !result.failed && picture_is_result(buf_view(&result)))
        buf_str(out, buf_view(&result));
    else
        st = exited && WEXITSTATUS(status) == EXIT_CONFINED_NOT ? ST_UNAVAILABLE : ST_INVALID;
    if (!exited)
        log_warn("decoder of pictures killed", "signal=%d bytes=%zu", WTERMSIG(status), file.len);
    else if (WEXITSTATUS(status) != EXIT_DONE && WEXITSTATUS(status) != EXIT_UNREADABLE)
        log_error("decoder of pictures failed", "exit=%d", WEXITSTATUS(status));
    buf_free(&result);
    return st == ST_OK && out->failed ? ST_NO_MEMORY : st;
}
