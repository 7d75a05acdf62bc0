#include "io/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

enum {
    CHECK_MS_MAX = 20000, /* run time of the child that runs the check */
    ARGUMENTS_MAX = 16,
    HANDOVER_BYTES_MAX = 16 + PROCESS_DESCRIPTORS_MAX * 5, /* restart count; four digits and a comma per descriptor */
    FIRST_DESCRIPTOR = 3,
    NAME_BYTES = 16,        /* of a process's name, the kernel's limit */
    RESTARTS_SHOWN = 10000, /* both numbers fit into the name */
    REFUSALS_SHOWN = 99
};

_Static_assert(PROCESS_DESCRIPTOR_MAX <= 10000, "a descriptor number has at most four digits");

/* Set by signal handlers, which can only reach globals. */
static volatile sig_atomic_t stop_requested, restart_requested;

/* State of the process; global like its signal handlers. */
static struct {
    char **argv;
    sigset_t poll_mask; /* the signal mask inside process_poll */
    uint64_t restarts;
    uint64_t refusals;    /* refused restarts since the last one that succeeded */
    struct str inherited; /* descriptor list of PROCESS_HANDOVER; points into the initial environment, never freed */
    pid_t check_pid;      /* 0: no check is running */
    int64_t check_deadline_ms;
} self;

static void on_stop(int signal_no)
{
    (void)signal_no;
    stop_requested = 1;
}

static void on_restart(int signal_no)
{
    (void)signal_no;
    restart_requested = 1;
}

static void on_child(int signal_no)
{
    (void)signal_no; /* only wakes process_poll */
}

static const struct {
    int number;
    void (*handler)(int);
} SIGNALS[] = {
    { SIGTERM, on_stop }, { SIGINT, on_stop }, { SIGUSR1, on_stop }, { SIGHUP, on_restart }, { SIGCHLD, on_child },
};
enum { SIGNAL_COUNT = ARRAY_LEN(SIGNALS) };

static bool socket_listens(int fd)
{
    int listens = 0;
    socklen_t len = sizeof listens;
    return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) == 0 && listens != 0;
}

/* Takes the sockets of a supervisor (sd_listen_fds(3)): the listening socket becomes descriptor 0; the others are
 * connections that the last process has left with it (io/notify.h), for process_handover_take. */
static void supervisor_sockets_take(void)
{
    static char list[HANDOVER_BYTES_MAX];
    uint64_t pid = 0, count = 0;
    size_t len = 0;
    if (!str_to_u64(str_from(getenv("LISTEN_PID")), &pid) || pid != (uint64_t)getpid() ||
        !str_to_u64(str_from(getenv("LISTEN_FDS")), &count) ||
        count > PROCESS_DESCRIPTORS_MAX + 1) /* + 1: the listening socket */
        count = 0;
    for (int fd = FIRST_DESCRIPTOR; fd < FIRST_DESCRIPTOR + (int)count; fd++)
        if (!socket_listens(fd))
            len += (size_t)snprintf(list + len, sizeof list - len, "%d,", fd);
        else if (dup2(fd, STDIN_FILENO) == STDIN_FILENO)
            (void)close(fd);
    if (len > 0)
        self.inherited = (struct str){ list, len - 1 };
    (void)unsetenv("LISTEN_PID");
    (void)unsetenv("LISTEN_FDS");
    (void)unsetenv("LISTEN_FDNAMES");
}

/* Shows the counts in the process's name (PROCESS_NAME); not called before the first restart or refusal. */
static void name_show(void)
{
    char name[NAME_BYTES];
    unsigned long long restarts = self.restarts % RESTARTS_SHOWN;
    if (self.refusals > 0)
        (void)snprintf(name, sizeof name, "%s %llu %llu", PROCESS_NAME, restarts,
                       (unsigned long long)(self.refusals - 1) % REFUSALS_SHOWN + 1);
    else
        (void)snprintf(name, sizeof name, "%s %llu", PROCESS_NAME, restarts);
    (void)prctl(PR_SET_NAME, name, 0, 0, 0);
}

/* The process goes on with its present program. */
static void restart_refuse(void)
{
    self.refusals++;
    name_show();
}

void process_init(char **argv)
{
    self.argv = argv;
    self.refusals = 0;
    self.inherited = STR_NONE;
    struct str count = str_cut(str_from(getenv(PROCESS_HANDOVER)), ':', &self.inherited);
    if (!str_to_u64(count, &self.restarts))
        self.inherited = STR_NONE;
    (void)unsetenv(PROCESS_HANDOVER);
    if (self.restarts > 0)
        name_show();
    if (self.inherited.len == 0)
        supervisor_sockets_take();
}

void process_signals_init(void)
{
    sigset_t blocked;
    stop_requested = restart_requested = 0;
    sigemptyset(&blocked);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&blocked, SIGNALS[i].number);
    /* Block first, then install the handlers: a signal that arrived during a restart is still pending, and the handlers
     * must get it after the flags were cleared. */
    sigprocmask(SIG_BLOCK, &blocked, &self.poll_mask);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = { .sa_handler = SIGNALS[i].handler };
        sigemptyset(&action.sa_mask);
        sigaction(SIGNALS[i].number, &action, NULL);
        sigdelset(&self.poll_mask, SIGNALS[i].number);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

int process_poll(struct pollfd *fds, size_t fds_len, int64_t timeout_ms)
{
    struct timespec timeout = { .tv_sec = (time_t)(timeout_ms / 1000),
                                .tv_nsec = (long)(timeout_ms % 1000) * 1000000L };
    return ppoll(fds, (nfds_t)fds_len, &timeout, &self.poll_mask);
}

bool process_stop_requested(void)
{
    return stop_requested != 0;
}

void process_be_nice(int niceness)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && (now >= niceness || setpriority(PRIO_PROCESS, 0, niceness) == 0))
        return;
    log_warn("nice value not changed", "error=\"%s\"", strerror(errno));
}

/* Starts our command line with --check appended. The child gets none of our descriptors (0 may be the listening
 * socket). Returns an errno, 0 on success. */
static int check_spawn(char **argv)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&files);
    if (error != 0)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        error = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        if (error == 0)
            error = posix_spawn_file_actions_addclosefrom_np(&files, FIRST_DESCRIPTOR);
        if (error == 0)
            error = posix_spawnattr_setsigmask(&attributes, &self.poll_mask);
        if (error == 0)
            error = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
        if (error == 0)
            error = posix_spawnp(&self.check_pid, argv[0], &files, &attributes, argv, environ);
        (void)posix_spawnattr_destroy(&attributes);
    }
    (void)posix_spawn_file_actions_destroy(&files);
    return error;
}

static void check_start(void)
{
    char *argv[ARGUMENTS_MAX + 2], option[] = "--check";
    size_t len = 0;
    while (self.argv != NULL && len < ARGUMENTS_MAX && self.argv[len] != NULL) {
        argv[len] = self.argv[len];
        len++;
    }
    argv[len] = option;
    argv[len + 1] = NULL;
    int error = len == 0 || self.argv[len] != NULL ? E2BIG : check_spawn(argv);
    self.check_deadline_ms = clock_monotonic_ms() + CHECK_MS_MAX;
    if (error != 0) {
        self.check_pid = 0;
        log_error("restart refused: check not started", "error=\"%s\"", strerror(error));
        restart_refuse();
    }
}

bool process_restart_due(void)
{
    int status = 0;
    if (stop_requested != 0)
        return false;
    if (self.check_pid == 0) {
        if (restart_requested != 0) {
            restart_requested = 0;
            check_start();
        }
        return false;
    }
    pid_t ended = waitpid(self.check_pid, &status, WNOHANG);
    if (ended == 0) {
        if (clock_monotonic_ms() >= self.check_deadline_ms)
            (void)kill(self.check_pid, SIGKILL);
        return false;
    }
    self.check_pid = 0;
    if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        if (ended > 0 && WIFSIGNALED(status))
            log_error("restart refused: check failed", "signal=%d", WTERMSIG(status));
        else
            log_error("restart refused: check failed", "exit=%d", ended < 0 ? -1 : WEXITSTATUS(status));
        restart_refuse();
        return false;
    }
    return restart_requested == 0; /* requested again meanwhile: the check may have seen old files, so run it again */
}

/* Leaves only these descriptors, and 0 to 2, open over exec. fcntl fails harmlessly on numbers that are not open. */
static void descriptors_keep(const int *fds, size_t fds_len)
{
    for (int fd = FIRST_DESCRIPTOR; fd < PROCESS_DESCRIPTOR_MAX; fd++)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    for (size_t i = 0; i < fds_len; i++)
        if (fds[i] >= FIRST_DESCRIPTOR && fds[i] < PROCESS_DESCRIPTOR_MAX)
            (void)fcntl(fds[i], F_SETFD, 0);
}

void process_restart(const int *fds, size_t fds_len)
{
    char list[HANDOVER_BYTES_MAX];
    assert(fds_len <= PROCESS_DESCRIPTORS_MAX);
    int len = snprintf(list, sizeof list, "%llu:", (unsigned long long)(self.restarts + 1) % RESTARTS_SHOWN);
    for (size_t i = 0; i < fds_len; i++)
        if (fds[i] >= FIRST_DESCRIPTOR && fds[i] < PROCESS_DESCRIPTOR_MAX)
            len += snprintf(list + len, sizeof list - (size_t)len, "%d,", fds[i]);
    log_info("restarting", "connections=%zu", fds_len);
    if (setenv(PROCESS_HANDOVER, list, 1) == 0) {
        descriptors_keep(fds, fds_len);
        (void)execvp(self.argv[0], self.argv);
    }
    log_error("restart failed", "error=\"%s\"", strerror(errno));
    descriptors_keep(NULL, 0);
    (void)unsetenv(PROCESS_HANDOVER);
    restart_refuse();
}

/* True for a stream socket that does not listen and has no close-on-exec flag. That flag is set on everything opened
 * since the exec, and on a descriptor once it was taken over, so a duplicate number is refused. */
static bool inherited_socket_is_valid(uint64_t number)
{
    int fd = (int)number, type = 0;
    socklen_t type_len = sizeof type;
    return number >= FIRST_DESCRIPTOR && number < PROCESS_DESCRIPTOR_MAX && fcntl(fd, F_GETFD) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM && !socket_listens(fd);
}

size_t process_handover_take(int *fds, size_t max)
{
    size_t len = 0, refused = 0;
    while (self.inherited.len > 0) {
        uint64_t number = 0;
        struct str entry = str_cut(self.inherited, ',', &self.inherited);
        if (!str_to_u64(entry, &number) || !inherited_socket_is_valid(number)) {
            refused++;
        } else if (len == max) {
            (void)close((int)number);
        } else {
            fds[len] = (int)number;
            (void)fcntl(fds[len++], F_SETFD, FD_CLOEXEC);
        }
    }
    if (refused > 0)
        log_warn("inherited descriptors refused", "count=%zu", refused);
    return len;
}
