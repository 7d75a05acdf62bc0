#include "io/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "io/metrics.h"

/* prctl(PROBE, fingerprint of the table and the role) is answered by our filter alone, with one of these errors. */
enum { PROBE = 0x48426463, PROBE_SAME = ENOTNAM, PROBE_OTHER = EXDEV };

/* The roles of a row. */
enum {
    HOT = 1 << SANDBOX_HOT,
    PAGE = 1 << SANDBOX_PAGE,
    AUTH = 1 << SANDBOX_AUTH,
    CARD = 1 << SANDBOX_CARD,
    SETTLE = 1 << SANDBOX_SETTLE,
    MONEY = 1 << SANDBOX_MONEY,
    SSO = 1 << SANDBOX_SSO,
    COMMAND = 1 << SANDBOX_COMMAND,
    PICTURE = 1 << SANDBOX_PICTURE,
    POOLS = HOT | PAGE | AUTH | CARD | MONEY | SSO,
    SERVERS = POOLS | SETTLE, /* long-lived: restart in place */
    /* every role that a process has from its start; PICTURE comes later and has only its own rows */
    ALL = SERVERS | COMMAND,
    BY_TCP = 1 << (SANDBOX_PICTURE + 1), /* in every role, when a store is reached by TCP */
};

/* The sanitizers and gcov make calls of their own, at the start, when they report and at the end. */
#if defined(__SANITIZE_ADDRESS__) || defined(HB_COVERAGE)
#define INSTRUMENTED         ALL
#define INSTRUMENTED_PICTURE PICTURE
#else
#define INSTRUMENTED         0
#define INSTRUMENTED_PICTURE 0
#endif
/* Crash points end the process by SIGKILL. */
#ifdef HB_CRASH_POINTS
#define CRASHING ALL
#else
#define CRASHING 0
#endif

/* The flags of pthread_create. */
#define THREAD                                                                                                         \
    (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS |                 \
     CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

#define ANY        0, 0, 0
#define INT(value) 0xffffffffu, (uint32_t)(value)

enum action { ALLOW, KILL, MISSING };

/* A row: in these roles, the call has this result if argument & mask equals value. Rows of one call add up. */
struct row {
    int call;
    unsigned roles;
    enum action action;
    unsigned argument;
    uint64_t mask, value;
};

#define CALL(name, roles, ...)                                                                                         \
    {                                                                                                                  \
        SCMP_SYS(name), (roles), ALLOW, __VA_ARGS__                                                                    \
    }

static const struct row CALLS[] = {
    /* connections: nginx, Redis, MySQL. The servers have no other family than Unix sockets unless a store is reached by
     * TCP; the sso pool connects to an issuer. No process opens a listening socket */
    CALL(ppoll, ALL, ANY),
    CALL(poll, ALL, ANY),
    CALL(accept, POOLS, ANY),
    CALL(accept4, POOLS, ANY),
    CALL(read, ALL | PICTURE, ANY),
    CALL(write, ALL | PICTURE, ANY),
    CALL(writev, ALL, ANY),
    CALL(readv, ALL, ANY),
    CALL(recvfrom, ALL, ANY),
    CALL(sendto, ALL, ANY),
    CALL(recvmsg, ALL, ANY),
    CALL(sendmsg, ALL, ANY),
    CALL(shutdown, ALL, ANY),
    CALL(close, ALL, ANY),
    CALL(socket, ALL, 0, INT(AF_UNIX)),
    CALL(socket, BY_TCP | SSO, 0, INT(AF_INET)),
    CALL(socket, BY_TCP | SSO, 0, INT(AF_INET6)),
    CALL(socket, BY_TCP | SSO, 0, INT(AF_NETLINK)), /* getaddrinfo asks for this machine's addresses */
    CALL(bind, BY_TCP | SSO, ANY),
    CALL(sendmmsg, BY_TCP | SSO, ANY), /* it also sends both queries, for IPv4 and IPv6, to a name server at once */
    CALL(socketpair, SSO, 0, INT(AF_UNIX)), /* libcurl looks names up in a thread */
    CALL(eventfd2, SSO, ANY),
    CALL(connect, ALL, ANY),
    CALL(getsockopt, ALL, ANY),
    CALL(setsockopt, ALL, ANY),
    CALL(getsockname, ALL, ANY),
    CALL(getpeername, ALL, ANY),
    CALL(fcntl, ALL, ANY),
    CALL(ioctl, ALL, 1, INT(TCGETS)),
    CALL(ioctl, ALL, 1, INT(FIONREAD)),
    CALL(ioctl, ALL, 1, INT(FIONBIO)),

    /* memory: never writable and executable at once, and never made executable later */
    CALL(brk, ALL | PICTURE, ANY),
    CALL(mmap, ALL, 2, PROT_WRITE | PROT_EXEC, 0),
    CALL(mmap, ALL, 2, PROT_WRITE | PROT_EXEC, PROT_WRITE),
    CALL(mmap, PICTURE, 2, PROT_EXEC, 0),
    CALL(mmap, ALL, 2, PROT_WRITE | PROT_EXEC, PROT_EXEC),
    CALL(mprotect, ALL, 2, PROT_EXEC, 0),
    CALL(munmap, ALL | PICTURE, ANY),
    CALL(mremap, ALL | PICTURE, ANY),
    CALL(madvise, ALL | PICTURE, ANY),
    CALL(mlock, ALL, ANY),
    CALL(munlock, ALL, ANY),

    /* time, random numbers, signals */
    CALL(clock_gettime, ALL, ANY),
    CALL(clock_getres, ALL, ANY),
    CALL(clock_nanosleep, ALL, ANY),
    CALL(nanosleep, ALL, ANY),
    CALL(gettimeofday, ALL, ANY),
    CALL(time, ALL, ANY),
    CALL(pselect6, ALL, ANY),
    CALL(restart_syscall, ALL, ANY),
    CALL(timer_create, ALL, ANY),
    CALL(timer_settime, ALL, ANY),
    CALL(timer_delete, ALL, ANY),
    CALL(getrandom, ALL, ANY),
    CALL(rt_sigaction, ALL, ANY),
    CALL(rt_sigprocmask, ALL, ANY),
    CALL(rt_sigreturn, ALL, ANY),
    CALL(sigaltstack, ALL, ANY),
    CALL(futex, ALL, ANY),
    CALL(sched_yield, ALL, ANY),

    /* files: all roles read; only commands may write files other than the counters (io/metrics.h) */
    CALL(openat, ALL, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
    CALL(openat, SERVERS, 2, INT(O_RDWR | O_CREAT | O_CLOEXEC)),
    CALL(openat, COMMAND, ANY),
    CALL(ftruncate, ALL, ANY),
    CALL(fstat, ALL, ANY),
    CALL(newfstatat, ALL, ANY),
    CALL(stat, ALL, ANY),
    CALL(lstat, ALL, ANY),
    CALL(statx, ALL, ANY),
    CALL(lseek, ALL, ANY),
    CALL(pread64, ALL, ANY),
    CALL(getdents64, ALL, ANY),
    CALL(access, ALL, ANY),
    CALL(faccessat, ALL, ANY),
    CALL(faccessat2, ALL, ANY),
    CALL(readlink, ALL, ANY),
    CALL(readlinkat, ALL, ANY),
    CALL(getcwd, ALL, ANY),
    CALL(dup, ALL, ANY),
    CALL(fsync, COMMAND, ANY),
    CALL(fchmod, COMMAND, ANY),
    CALL(rename, COMMAND, ANY),
    CALL(renameat, COMMAND, ANY), /* arm64 only has the variants of these calls with a folder */
    CALL(unlink, COMMAND, ANY),
    CALL(unlinkat, COMMAND, ANY),
    CALL(statfs, CARD | COMMAND, ANY), /* fontconfig reads fonts and its cache; the doctor checks disks */
    CALL(fstatfs, CARD, ANY),
    CALL(fadvise64, CARD, ANY),
    CALL(clone, CARD | SSO, 0, INT(THREAD)), /* pango looks for fonts in a thread, libcurl for addresses */
    CALL(sched_getattr, CARD, ANY),
    CALL(sched_setattr, CARD, ANY),

    /* the process itself */
    CALL(capget, SERVERS, ANY),
    CALL(getpid, ALL, ANY),
    CALL(gettid, ALL, ANY),
    CALL(getppid, ALL, ANY),
    CALL(getuid, ALL, ANY),
    CALL(geteuid, ALL, ANY),
    CALL(getgid, ALL, ANY),
    CALL(getegid, ALL, ANY),
    CALL(uname, ALL, ANY),
    CALL(sysinfo, ALL, ANY),
    CALL(sched_getaffinity, ALL, ANY),
    CALL(getrusage, ALL, ANY),
    CALL(getpriority, ALL, ANY),
    CALL(setpriority, SERVERS, 1, INT(0)), /* its own */
    CALL(prlimit64, ALL, 0, INT(0)),
    CALL(prctl, ALL, 0, INT(PR_SET_DUMPABLE)),
    CALL(prctl, ALL, 0, INT(PR_SET_NO_NEW_PRIVS)),
    CALL(prctl, ALL, 0, INT(PR_SET_NAME)),
    CALL(prctl, ALL, 0, INT(PR_GET_SECCOMP)),
    CALL(tgkill, ALL, 2, INT(SIGABRT)), /* abort */
    CALL(tgkill, CRASHING, ANY),
    CALL(exit, ALL | PICTURE, ANY),
    CALL(exit_group, ALL | PICTURE, ANY),

    /* a restart in place: the start of the child that checks, then exec */
    CALL(clone, SERVERS, 0, INT(CLONE_VM | CLONE_VFORK | SIGCHLD)), /* posix_spawn */
    { SCMP_SYS(clone3), ALL, MISSING, ANY }, /* its flags are in memory; glibc falls back to clone */
    CALL(close_range, SERVERS, ANY),
    CALL(execve, SERVERS, ANY),
    CALL(wait4, SERVERS, ANY),
    CALL(kill, SERVERS, 1, INT(SIGKILL)), /* ends a check that takes too long */
    CALL(arch_prctl, SERVERS, ANY),
    CALL(set_tid_address, SERVERS, ANY),
    CALL(set_robust_list, SERVERS, ANY),
    CALL(rseq, SERVERS, ANY),
    CALL(prctl, SERVERS, 0, INT(PR_CAPBSET_READ)), /* libcap, which libraries of Debian 13 load */

    /* a picture of a user is decoded in a process of its own (io/picture_child.h), which then narrows its filter */
    CALL(pipe2, PAGE, ANY),
    CALL(dup2, PAGE, ANY),
    CALL(dup3, PAGE, ANY),
    CALL(seccomp, PAGE, ANY),

    CALL(sigaltstack, INSTRUMENTED_PICTURE, ANY),
    CALL(openat, INSTRUMENTED, ANY),
    CALL(open, INSTRUMENTED, ANY),
    CALL(getdents, INSTRUMENTED, ANY),
    CALL(clone, INSTRUMENTED, 0, INT(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED)), /* the leak check */
    CALL(ptrace, INSTRUMENTED, ANY),
    CALL(prctl, INSTRUMENTED, 0, INT(PR_GET_DUMPABLE)),
    CALL(prctl, INSTRUMENTED, 0, INT(PR_SET_PDEATHSIG)),
    CALL(prctl, INSTRUMENTED, 0, INT(PR_SET_VMA)),
    CALL(prctl, INSTRUMENTED, 0, INT(PR_SET_PTRACER)),
    CALL(tgkill, INSTRUMENTED, ANY),
    CALL(wait4, INSTRUMENTED, ANY),
    CALL(kill, INSTRUMENTED, ANY),
    CALL(mkdir, INSTRUMENTED, ANY),
    CALL(mkdirat, INSTRUMENTED, ANY),
    CALL(dup2, INSTRUMENTED, ANY),
    CALL(dup3, INSTRUMENTED, ANY),
    CALL(pipe2, INSTRUMENTED, ANY),
    CALL(execve, INSTRUMENTED, ANY), /* the symbolizer */

#define FATAL(name)                                                                                                    \
    {                                                                                                                  \
        SCMP_SYS(name), ALL, KILL, ANY                                                                                 \
    }
#define FATAL_UNLESS_INSTRUMENTED(name)                                                                                \
    {                                                                                                                  \
        SCMP_SYS(name), ALL & ~INSTRUMENTED, KILL, ANY                                                                 \
    }
    FATAL_UNLESS_INSTRUMENTED(ptrace),
    FATAL(process_vm_readv),
    FATAL(process_vm_writev),
    FATAL(bpf),
    FATAL(userfaultfd),
    FATAL(perf_event_open),
    FATAL(io_uring_setup),
    FATAL(io_uring_enter),
    FATAL(io_uring_register),
    FATAL(keyctl),
    FATAL(add_key),
    FATAL(request_key),
    FATAL(unshare),
    FATAL(setns),
    FATAL(mount),
    FATAL(umount2),
    FATAL(pivot_root),
    FATAL(chroot),
    FATAL(init_module),
    FATAL(finit_module),
    FATAL(delete_module),
    FATAL(kexec_load),
    FATAL(kexec_file_load),
    FATAL(open_by_handle_at),
    FATAL(pidfd_getfd),
    FATAL(personality),
    FATAL(setuid),
    FATAL(setgid),
    FATAL(setresuid),
    FATAL(setresgid),
    FATAL(setgroups),
    FATAL(capset),
};

bool sandbox_init(void)
{
    const struct rlimit none = { 0, 0 };
    return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

/* Writes -EPERM in place of the call's own result. */
static void call_fail(ucontext_t *context)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
    context->uc_mcontext.regs[0] = (unsigned long long)-EPERM;
#else
    (void)context;
    _exit(1);
#endif
}

/* Runs in place of a refused call, so at a point where the program called a function: it may log. */
static void on_refused(int signal_no, siginfo_t *info, void *context)
{
    int errno_kept = errno;
    (void)signal_no;
    metrics_add(METRIC_CALLS_REFUSED, 1);
    log_error("system call refused", "call=%d", info->si_syscall);
    call_fail(context);
    errno = errno_kept;
}

/* FNV-1a over the rows of the role; roles: its bit, and perhaps BY_TCP. */
static uint32_t fingerprint(enum sandbox_role role, unsigned roles)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < ARRAY_LEN(CALLS); i++) {
        const struct row *row = &CALLS[i];
        if ((row->roles & roles) == 0)
            continue;
        const uint64_t parts[] = { (uint64_t)row->call, row->action, row->argument, row->mask, row->value };
        for (size_t p = 0; p < ARRAY_LEN(parts); p++)
            hash = (hash ^ (uint32_t)(parts[p] ^ parts[p] >> 32)) * 16777619u;
    }
    return (hash ^ role) & INT32_MAX;
}

/* Returns 0 or a negative errno. A call that this machine's architecture does not have is left out. */
static int row_add(scmp_filter_ctx filter, const struct row *row)
{
    static const uint32_t ACTIONS[] = {
        [ALLOW] = SCMP_ACT_ALLOW, [KILL] = SCMP_ACT_KILL_PROCESS, [MISSING] = SCMP_ACT_ERRNO(ENOSYS)
    };
    const struct scmp_arg_cmp compare = {
        .arg = row->argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = row->mask, .datum_b = row->value
    };
    if (row->call < 0)
        return 0;
    return row->mask == 0 ? seccomp_rule_add(filter, ACTIONS[row->action], row->call, 0)
                          : seccomp_rule_add_array(filter, ACTIONS[row->action], row->call, 1, &compare);
}

static int probe_add(scmp_filter_ctx filter, uint32_t own)
{
    const struct scmp_arg_cmp same[] = { { 0, SCMP_CMP_MASKED_EQ, UINT32_MAX, PROBE }, { 1, SCMP_CMP_EQ, own, 0 } },
                              other[] = { { 0, SCMP_CMP_MASKED_EQ, UINT32_MAX, PROBE }, { 1, SCMP_CMP_NE, own, 0 } };
    int error = seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(PROBE_SAME), SCMP_SYS(prctl), 2, same);
    return error != 0 ? error : seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(PROBE_OTHER), SCMP_SYS(prctl), 2, other);
}

/* Returns 0 or a negative errno. own: the fingerprint by which a process finds the filter after a restart; 0: none. */
static int filter_load(unsigned roles, uint32_t own)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_TRAP);
    if (filter == NULL)
        return -ENOMEM;
    /* A binary tree instead of a list; no mitigation against speculation, which costs much and only helps processes
     * that run foreign code (Linux before 5.16 switches it on with a filter); all calls of another architecture
     * kill. */
    int error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
    if (error == 0)
        error = seccomp_attr_set(filter, SCMP_FLTATR_CTL_SSB, 1);
    if (error == 0)
        error = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    for (size_t i = 0; error == 0 && i < ARRAY_LEN(CALLS); i++)
        if ((CALLS[i].roles & roles) != 0)
            error = row_add(filter, &CALLS[i]);
    if (error == 0 && own != 0)
        error = probe_add(filter, own);
    if (error == 0)
        error = seccomp_load(filter);
    seccomp_release(filter);
    return error;
}

/* Gives up all capabilities, as a server needs none even when root starts it. After sandbox_init an exec can't bring
 * them back. */
static bool capabilities_drop(void)
{
    struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
    struct __user_cap_data_struct now[_LINUX_CAPABILITY_U32S_3] = { 0 }, none[_LINUX_CAPABILITY_U32S_3] = { 0 };
    if (syscall(SYS_capget, &header, now) != 0)
        return false;
    return memcmp(now, none, sizeof none) == 0 || syscall(SYS_capset, &header, none) == 0;
}

enum status sandbox_enter(enum sandbox_role role, bool by_tcp)
{
    struct sigaction action = { .sa_sigaction = on_refused, .sa_flags = SA_SIGINFO | SA_NODEFER };
    const unsigned roles = 1u << role | (by_tcp ? (unsigned)BY_TCP : 0);
    const uint32_t own = fingerprint(role, roles);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSYS, &action, NULL);
    int seen = prctl(PROBE, (unsigned long)own, 0, 0, 0) < 0 ? errno : 0;
    if (seen == PROBE_SAME)
        return ST_OK; /* the filter stays in force over a restart */
    if (seen == PROBE_OTHER) {
        log_error("this program allows other system calls: stop it and start it", NULL);
        return ST_CONFLICT;
    }
    int error = role == SANDBOX_COMMAND || capabilities_drop() ? filter_load(roles, own) : -errno;
    if (error == 0)
        return ST_OK;
    log_error("system calls not restricted", "error=\"%s\"", strerror(-error));
    return ST_UNAVAILABLE;
}

enum status sandbox_narrow(enum sandbox_role role)
{
    int error = filter_load(1u << role, 0);
    if (error == 0)
        return ST_OK;
    log_error("system calls not restricted", "error=\"%s\"", strerror(-error));
    return ST_UNAVAILABLE;
}
