#include "io/process.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    CHECK_MS_MAX = 20000, /* of the child that looks whether the program would start */
    ARGUMENTS_MAX = 16,
    HANDOVER_BYTES_MAX = 16 + PROCESS_DESCRIPTORS_MAX * 5, /* the count, then four digits and a comma each */
    FIRST_DESCRIPTOR = 3
};

_Static_assert(PROCESS_DESCRIPTOR_MAX <= 10000, "four digits a number");

/* Set by signals, for which there is nothing but globals. */
static volatile sig_atomic_t stop_asked, restart_asked;

/* Of the process, as its signals are. */
static struct {
    char **argv;
    sigset_t open; /* the signal mask inside process_poll */
    uint64_t restarts;
    struct str handed; /* the numbers that the program before left for us; never freed, it is our first environment */
    pid_t check_pid;   /* 0: none under way */
    int64_t check_until_ms;
} self;

static void on_stop(int signal_no)
{
    (void)signal_no;
    stop_asked = 1;
}

static void on_restart(int signal_no)
{
    (void)signal_no;
    restart_asked = 1;
}

static void on_child(int signal_no)
{
    (void)signal_no; /* it has woken process_poll: that is all */
}

static const struct {
    int number;
    void (*handler)(int);
} SIGNALS[] = {
    { SIGTERM, on_stop }, { SIGINT, on_stop }, { SIGUSR1, on_stop }, { SIGHUP, on_restart }, { SIGCHLD, on_child },
};
enum { SIGNAL_COUNT = ARRAY_LEN(SIGNALS) };

void process_init(char **argv)
{
    self.argv = argv;
    self.handed = STR_NONE;
    struct str count = str_cut(str_from(getenv(PROCESS_HANDOVER)), ':', &self.handed);
    if (!str_to_u64(count, &self.restarts))
        self.handed = STR_NONE;
    (void)unsetenv(PROCESS_HANDOVER);
}

void process_signals_prepare(void)
{
    sigset_t blocked;
    stop_asked = restart_asked = 0;
    sigemptyset(&blocked);
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaddset(&blocked, SIGNALS[i].number);
    /* Blocked first: what came during a restart is still pending, and is not to be lost to the flags above. */
    sigprocmask(SIG_BLOCK, &blocked, &self.open);
    for (size_t i = 0; i < SIGNAL_COUNT; i++) {
        struct sigaction action = { .sa_handler = SIGNALS[i].handler };
        sigemptyset(&action.sa_mask);
        sigaction(SIGNALS[i].number, &action, NULL);
        sigdelset(&self.open, SIGNALS[i].number);
    }
    (void)signal(SIGPIPE, SIG_IGN);
}

int process_poll(struct pollfd *fds, size_t fds_len, int64_t timeout_ms)
{
    struct timespec timeout = { .tv_sec = (time_t)(timeout_ms / 1000),
                                .tv_nsec = (long)(timeout_ms % 1000) * 1000000L };
    return ppoll(fds, (nfds_t)fds_len, &timeout, &self.open);
}

bool process_stop_asked(void)
{
    return stop_asked != 0;
}

void process_be_nice(int niceness)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, 0);
    if (errno == 0 && (now >= niceness || setpriority(PRIO_PROCESS, 0, niceness) == 0))
        return;
    log_warn("can't let others go first", "error=\"%s\"", strerror(errno));
}

/* Runs our own command line with --check behind it. Descriptor 0 may be the listening socket: it gets none of ours. */
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
            error = posix_spawnattr_setsigmask(&attributes, &self.open);
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
    self.check_until_ms = clock_monotonic_ms() + CHECK_MS_MAX;
    if (error != 0) {
        self.check_pid = 0;
        log_error("restart refused: the program can't be started", "error=\"%s\"", strerror(error));
    }
}

bool process_restart_due(void)
{
    int status = 0;
    if (stop_asked != 0)
        return false;
    if (self.check_pid == 0) {
        if (restart_asked != 0) {
            restart_asked = 0;
            check_start();
        }
        return false;
    }
    pid_t ended = waitpid(self.check_pid, &status, WNOHANG);
    if (ended == 0) {
        if (clock_monotonic_ms() >= self.check_until_ms)
            (void)kill(self.check_pid, SIGKILL);
        return false;
    }
    self.check_pid = 0;
    if (ended < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        log_error("restart refused: the check has failed, going on as before", "status=%d", status);
        return false;
    }
    return restart_asked == 0; /* asked once more: what was looked at may be old */
}

/* Only these stay open over an exec; every number that is no descriptor is passed over. */
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
    int len = snprintf(list, sizeof list, "%llu:", (unsigned long long)(self.restarts + 1) % 1000000);
    for (size_t i = 0; i < fds_len; i++)
        if (fds[i] >= FIRST_DESCRIPTOR && fds[i] < PROCESS_DESCRIPTOR_MAX)
            len += snprintf(list + len, sizeof list - (size_t)len, "%d,", fds[i]);
    log_info("restarting", "connections=%zu", fds_len);
    if (setenv(PROCESS_HANDOVER, list, 1) == 0) {
        descriptors_keep(fds, fds_len);
        (void)execvp(self.argv[0], self.argv);
    }
    log_error("restart failed, going on as before", "error=\"%s\"", strerror(errno));
    descriptors_keep(NULL, 0);
    (void)unsetenv(PROCESS_HANDOVER);
}

/* A connected stream socket that was left open for us: nothing that was opened since, and nothing named twice. */
static bool handover_fits(uint64_t number)
{
    int fd = (int)number, type = 0, listens = 0;
    socklen_t type_len = sizeof type, listens_len = sizeof listens;
    return number >= FIRST_DESCRIPTOR && number < PROCESS_DESCRIPTOR_MAX && fcntl(fd, F_GETFD) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_len) == 0 && type == SOCK_STREAM &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &listens_len) == 0 && listens == 0;
}

size_t process_handover_take(int *fds, size_t max)
{
    size_t len = 0, refused = 0;
    while (self.handed.len > 0) {
        uint64_t number = 0;
        struct str entry = str_cut(self.handed, ',', &self.handed);
        if (!str_to_u64(entry, &number) || !handover_fits(number)) {
            refused++;
        } else if (len == max) {
            (void)close((int)number);
        } else {
            fds[len] = (int)number;
            (void)fcntl(fds[len++], F_SETFD, FD_CLOEXEC);
        }
    }
    if (refused > 0)
        log_warn("descriptors named by " PROCESS_HANDOVER " are no connections", "count=%zu", refused);
    return len;
}
