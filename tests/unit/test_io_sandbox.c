/* io/sandbox: the filter of each role, tried in child processes, because a filter can't be removed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/netlink.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "io/metrics.h"
#include "io/sandbox.h"
#include "support/test.h"

enum { OUTPUT_MAX = 16 << 10, FAILED = 99 };

/* The result of one child: its wait status and its log. */
struct outcome {
    int status;
    char log[OUTPUT_MAX];
};

/* Runs work in a child within the sandbox of the role. by_tcp: its stores are on other machines. */
static struct outcome child_run(enum sandbox_role role, bool by_tcp, int (*work)(enum sandbox_role role))
{
    struct outcome out = { 0 };
    int log[2];
    size_t len = 0;
    assert_int_equal(pipe(log), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (dup2(log[1], STDERR_FILENO) < 0 || close(log[0]) != 0 || close(log[1]) != 0 || !sandbox_init() ||
            sandbox_enter(role, by_tcp) != ST_OK)
            _exit(FAILED);
        _exit(work(role));
    }
    (void)close(log[1]);
    for (ssize_t n; len < sizeof out.log - 1 && (n = read(log[0], out.log + len, sizeof out.log - 1 - len)) > 0;)
        len += (size_t)n;
    (void)close(log[0]);
    assert_int_equal(waitpid(pid, &out.status, 0), pid);
    return out;
}

static size_t lines_with(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

/* Expects that work succeeds in each role, and that so many lines of the log have this part; NULL: it may log
 * anything. */
static void each_role_runs(int (*work)(enum sandbox_role role), bool by_tcp, size_t lines, const char *part)
{
    for (int role = 0; role < SANDBOX_ROLES; role++) {
        struct outcome out = child_run((enum sandbox_role)role, by_tcp, work);
        if (out.status != 0 || (part != NULL && lines_with(out.log, part) != lines))
            fail_msg("role %d: status %x: %s", role, (unsigned)out.status, out.log);
    }
}

static bool refused(long result)
{
    return result == -1 && errno == EPERM;
}

/* ---- what is refused ---- */

enum { FORBIDDEN_CALLS = 6 };

static int forbidden_calls(enum sandbox_role role)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    if (!refused(socket(AF_PACKET, SOCK_RAW, 0)) || !refused(listen(STDIN_FILENO, 1)) ||
        !refused(chmod("/nowhere", 0600)) || !refused(setsid()) ||
        !refused(mprotect(page, 4096, PROT_READ | PROT_EXEC)))
        return 2;
    errno = 0;
    if (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
        errno != EPERM)
        return 3;
    (void)role;
    return metrics_get(METRIC_CALLS_REFUSED) == FORBIDDEN_CALLS ? 0 : 4;
}

TEST(each_role_refuses_and_logs_forbidden_calls)
{
    for (int role = 0; role < SANDBOX_ROLES; role++) {
        struct outcome out = child_run((enum sandbox_role)role, false, forbidden_calls);
        assert_int_equal(out.status, 0);
        assert_int_equal(lines_with(out.log, "level=error"), FORBIDDEN_CALLS);
        assert_int_equal(lines_with(out.log, "msg=\"system call refused\" call="), FORBIDDEN_CALLS);
    }
}

static int intrusion(enum sandbox_role role)
{
    (void)role;
    (void)unshare(CLONE_NEWUSER);
    return 0;
}

TEST(a_call_that_only_an_intruder_makes_ends_the_process)
{
    for (int role = 0; role < SANDBOX_ROLES; role++) {
        struct outcome out = child_run((enum sandbox_role)role, false, intrusion);
        assert_true(WIFSIGNALED(out.status));
        assert_int_equal(WTERMSIG(out.status), SIGSYS);
    }
}

/* ---- what only some roles may do ---- */

enum {
    POOLS = 1 << SANDBOX_HOT | 1 << SANDBOX_PAGE | 1 << SANDBOX_AUTH | 1 << SANDBOX_CARD | 1 << SANDBOX_MONEY |
            1 << SANDBOX_SSO,
    SERVERS = POOLS | 1 << SANDBOX_SETTLE,
    COMMAND = 1 << SANDBOX_COMMAND
};

/* Calls with arguments that the kernel refuses with an error other than EPERM, so EPERM comes from the filter. */
enum probe {
    UDP_OF_A_STREAM,
    ACCEPT,
    SYNC,
    RENAME,
    UNLINK,
    NICE_OF_ANOTHER,
    LIMITS_OF_ANOTHER,
    CAPABILITY_READ, /* by the start of libcap, after a restart */
    WRITE,
    TRUNCATE,
    KILL,
    EXECUTE
};

static long probe_call(enum probe probe)
{
    char *const none[] = { NULL };
    struct rlimit limit;
    switch (probe) {
    case UDP_OF_A_STREAM: return socket(AF_INET, SOCK_STREAM, IPPROTO_UDP);
    case ACCEPT: return accept(-1, NULL, NULL);
    case SYNC: return fsync(-1);
    case RENAME: return rename("/nowhere/a", "/nowhere/b");
    case UNLINK: return unlink("/nowhere/a");
    case NICE_OF_ANOTHER: return setpriority(PRIO_PROCESS, INT_MAX, 5);
    case LIMITS_OF_ANOTHER: return prlimit(INT_MAX, RLIMIT_NOFILE, NULL, &limit);
    case CAPABILITY_READ: return prctl(PR_CAPBSET_READ, INT_MAX, 0, 0, 0);
    case WRITE: return open("/nowhere/a", O_WRONLY);
    case TRUNCATE: return open("/nowhere/a", O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    case KILL: return kill(INT_MAX, SIGTERM);
    case EXECUTE: return execve("/nowhere/a", none, none);
    }
    return 0;
}

static const struct {
    enum probe probe;
    int allowed; /* roles */
    int error;   /* of the kernel */
} PROBES[] = {
    { UDP_OF_A_STREAM, 1 << SANDBOX_SSO, EPROTONOSUPPORT }, /* the issuer */
    { ACCEPT, POOLS, EBADF },
    { SYNC, COMMAND, EBADF },
    { RENAME, COMMAND, ENOENT },
    { UNLINK, COMMAND, ENOENT },
    { NICE_OF_ANOTHER, 0, ESRCH },
    { LIMITS_OF_ANOTHER, 0, ESRCH },
    { CAPABILITY_READ, SERVERS, EINVAL },
#if !defined(__SANITIZE_ADDRESS__) && !defined(HB_COVERAGE) /* which need these calls */
    { WRITE, COMMAND, ENOENT },
    { TRUNCATE, COMMAND, ENOENT },
    { KILL, 0, ESRCH },
    { EXECUTE, SERVERS, ENOENT },
#endif
};

/* Returns 0, or 1 and the number of the first probe with another result. */
static int calls_of_roles(enum sandbox_role role)
{
    for (size_t i = 0; i < ARRAY_LEN(PROBES); i++) {
        bool allowed = (PROBES[i].allowed & 1 << role) != 0;
        errno = 0;
        if (probe_call(PROBES[i].probe) != -1 || errno != (allowed ? PROBES[i].error : EPERM))
            return 1 + (int)i;
    }
    return 0;
}

TEST(each_role_may_do_its_own_work_only)
{
    each_role_runs(calls_of_roles, false, 0, NULL);
}

/* ---- what is not refused ---- */

static int usual_calls(enum sandbox_role role)
{
    char byte;
    int pair = socket(AF_UNIX, SOCK_STREAM, 0), file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    if (pair < 0 || file < 0 || read(file, &byte, 1) != 1 || close(file) != 0 || close(pair) != 0)
        return 1;
    void *memory = malloc(4 << 20);
    if (memory == NULL)
        return 2;
    memset(memory, 1, 4 << 20);
    free(memory);
    (void)role;
    log_info("still here", NULL);
    return 0;
}

TEST(each_role_may_connect_read_and_allocate)
{
    each_role_runs(usual_calls, false, 1, "msg=");
}

/* ---- the process ---- */

/* The number in a line of /proc/self/status; -1: no such line. */
static long status_number(const char *name)
{
    char line[256];
    long number = -1;
    const int base = strncmp(name, "Cap", 3) == 0 ? 16 : 10;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == ':')
            number = strtol(line + strlen(name) + 1, NULL, base);
    if (file != NULL)
        (void)fclose(file);
    return number;
}

TEST(before_the_filter_others_of_the_user_are_kept_out_and_exec_gives_no_privileges)
{
    int status = 0;
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        bool before = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 1;
        _exit(before && sandbox_init() && prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) == 0 && status_number("NoNewPrivs") == 1
                  ? 0
                  : FAILED);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* Root's capabilities; a command keeps them, because it reads files and sockets of other users. */
static bool capabilities_fit(enum sandbox_role role)
{
    return role == SANDBOX_COMMAND || status_number("CapEff") == 0;
}

static long filters_before; /* filters of the container in which the test runs, if any */

static int entered_again(enum sandbox_role role)
{
    struct rlimit core;
    if (getrlimit(RLIMIT_CORE, &core) != 0 || core.rlim_cur != 0 || core.rlim_max != 0)
        return 1;
    if (!capabilities_fit(role) || status_number("NoNewPrivs") != 1 || status_number("Seccomp") != 2 ||
        status_number("Seccomp_filters") != filters_before + 1)
        return 2;
    if (sandbox_enter(role, false) != ST_OK || status_number("Seccomp_filters") != filters_before + 1)
        return 3;
    return sandbox_enter((enum sandbox_role)((role + 1) % SANDBOX_ROLES), false) == ST_CONFLICT ? 0 : 4;
}

TEST(a_restarted_program_keeps_its_filter_and_another_table_is_refused)
{
    filters_before = status_number("Seccomp_filters");
    each_role_runs(entered_again, false, 1, "stop it and start it");
}

/* ---- other machines ---- */

/* As libcurl does it. */
static void *looked_up(void *role_of_thread)
{
    struct addrinfo *list = NULL;
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
    if (getaddrinfo("localhost", "443", &hints, &list) != 0)
        return NULL;
    freeaddrinfo(list);
    return role_of_thread;
}

static int names_and_addresses_used(enum sandbox_role role)
{
    const struct sockaddr_nl netlink = { .nl_family = AF_NETLINK };
    const int families[] = { AF_INET, AF_INET6, AF_UNIX };
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (socket(families[i], SOCK_STREAM, IPPROTO_UDP) >= 0 || errno == EPERM)
            return 1;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&netlink, sizeof netlink) != 0)
        return 2;
    if (sendmmsg(-1, NULL, 0, 0) == 0 || errno != EBADF)
        return 3;
    if (socket(AF_PACKET, SOCK_RAW, 0) >= 0 || errno != EPERM)
        return 4;
    /* a restart after the stores have moved; the sso pool may do no less */
    return sandbox_enter(role, false) == (role == SANDBOX_SSO ? ST_OK : ST_CONFLICT) ? 0 : 5;
}

static int issuer_reached(enum sandbox_role role)
{
    int pair[2];
    pthread_t thread;
    if (role != SANDBOX_SSO)
        return socket(AF_INET, SOCK_STREAM, 0) < 0 && errno == EPERM && socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0
                   ? 0
                   : 1;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 || socketpair(AF_INET, SOCK_STREAM, 0, pair) == 0)
        return 2;
    if (pthread_create(&thread, NULL, looked_up, &role) != 0)
        return 3;
    void *found = NULL;
    return pthread_join(thread, &found) == 0 && found != NULL ? 0 : 4;
}

TEST(only_the_sso_pool_connects_to_other_machines_while_the_stores_are_here)
{
    each_role_runs(issuer_reached, false, 0, NULL);
}

TEST(with_stores_on_other_machines_each_role_may_look_them_up_and_connect)
{
    each_role_runs(names_and_addresses_used, true, 0, NULL);
}

TESTS(NULL, NULL)
