#include "io/metrics_processes.h"

#include <assert.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/metrics_internal.h"

_Static_assert((int)METRICS_MEMBERS_MAX == (int)METRICS_PROCESSES_MAX, "room for every process");

enum {
    ALIVE_MS = 10 * 1000,
    ALIVE_BUSY_MS = 120 * 1000,
    FORGOTTEN_MS = 600 * 1000,
    OWNER_ROLE_BITS = 8,
    OWNER_SPACE_SHIFT = 40, /* 32 bits of the pid before it */
    MS_PER_S = 1000
};

#define PID_SPACE_FIRST 0xEFFFFFFCU /* the inode of the first namespace of pids (linux/proc_ns.h) */

static const enum metric STARTS[METRICS_ROLE_COUNT] = {
    [METRICS_HOT] = METRIC_STARTS_HOT,   [METRICS_PAGE] = METRIC_STARTS_PAGE,     [METRICS_AUTH] = METRIC_STARTS_AUTH,
    [METRICS_CARD] = METRIC_STARTS_CARD, [METRICS_SETTLE] = METRIC_STARTS_SETTLE, [METRICS_MONEY] = METRIC_STARTS_MONEY,
    [METRICS_SSO] = METRIC_STARTS_SSO,
};

/* The entry of this process. Before the process begins, and when the list is full, it is entry_none, which no reader
 * looks at. */
static struct metrics_process entry_none;
static struct metrics_process *own = &entry_none;
static uint64_t own_program_id, own_config_digest;

/* Distinguishes the pids of this container from equal pids of other containers. 0 outside of containers. */
static uint64_t pid_space(void)
{
    struct stat space;
    return stat("/proc/self/ns/pid", &space) != 0 || space.st_ino == PID_SPACE_FIRST ? 0 : (uint64_t)space.st_ino;
}

static uint64_t owner_of(enum metrics_role role)
{
    return pid_space() << OWNER_SPACE_SHIFT | (uint64_t)getpid() << OWNER_ROLE_BITS | ((uint64_t)role + 1);
}

/* The age of the last beat. A beat may be newer than now_ms. A beat far in the future comes from before a reboot, and
 * counts as too old. */
static int64_t beat_age_ms(const struct metrics_process *p, int64_t now_ms)
{
    int64_t beat_ms = atomic_load_explicit(&p->beat_ms, memory_order_relaxed);
    if (beat_ms > now_ms)
        return beat_ms - now_ms < ALIVE_MS ? 0 : INT64_MAX;
    return now_ms - beat_ms;
}

/* Returns the entry that the process uses: its entry from before a restart in place, else a free entry, else the entry
 * of a process that has not beaten for FORGOTTEN_MS. entry_none when there is none of these. */
static struct metrics_process *entry_take(uint64_t owner, int64_t now_ms)
{
    struct metrics_process *all = metrics_page->processes;
    for (size_t i = 0; i < METRICS_PROCESSES_MAX; i++)
        if (atomic_load(&all[i].owner) == owner)
            return &all[i];
    for (size_t i = 0; i < METRICS_PROCESSES_MAX; i++) {
        uint64_t before = atomic_load(&all[i].owner);
        if ((before == 0 || beat_age_ms(&all[i], now_ms) > FORGOTTEN_MS) &&
            atomic_compare_exchange_strong(&all[i].owner, &before, owner))
            return &all[i];
    }
    return &entry_none;
}

void metrics_process_with(uint64_t program_id, uint64_t config_digest)
{
    own_program_id = program_id;
    own_config_digest = config_digest;
}

static void beginning_write(uint64_t owner)
{
    if (own == &entry_none)
        return;
    struct metrics_beginning *b = &metrics_page->beginnings[own - metrics_page->processes];
    atomic_store(&b->owner, 0);
    atomic_store(&b->program_id, own_program_id);
    atomic_store(&b->config_digest, own_config_digest);
    atomic_store(&b->owner, owner);
}

void metrics_process_begin(enum metrics_role role)
{
    assert(role < METRICS_ROLE_COUNT);
    const uint64_t owner = owner_of(role);
    own = entry_take(owner, clock_monotonic_ms());
    beginning_write(owner);
    atomic_store_explicit(&own->start_s, clock_now_ms() / MS_PER_S, memory_order_relaxed);
    metrics_process_busy(false);
    metrics_process_beat();
    metrics_add(STARTS[role], 1);
}

void metrics_process_beat(void)
{
    atomic_store_explicit(&own->beat_ms, clock_monotonic_ms(), memory_order_relaxed);
}

void metrics_process_busy(bool busy)
{
    atomic_store_explicit(&own->busy, busy, memory_order_relaxed);
}

void metrics_process_end(void)
{
    atomic_store(&own->owner, 0);
    own = &entry_none;
}

static bool is_busy(const struct metrics_process *p)
{
    return atomic_load_explicit(&p->busy, memory_order_relaxed) != 0;
}

static bool is_alive(const struct metrics_process *p, int64_t age_ms)
{
    return age_ms <= (is_busy(p) ? ALIVE_BUSY_MS : ALIVE_MS);
}

void metrics_crew_read(enum metrics_role role, struct metrics_crew *out)
{
    *out = (struct metrics_crew){ .beat_ms = -1 };
    const int64_t now_ms = clock_monotonic_ms();
    for (size_t i = 0; i < METRICS_PROCESSES_MAX; i++) {
        const struct metrics_process *p = &metrics_page->processes[i];
        if ((atomic_load(&p->owner) & ((1U << OWNER_ROLE_BITS) - 1)) != (uint64_t)role + 1)
            continue;
        int64_t age_ms = beat_age_ms(p, now_ms);
        if (age_ms > FORGOTTEN_MS)
            continue;
        if (out->beat_ms < 0 || age_ms < out->beat_ms)
            out->beat_ms = age_ms;
        if (!is_alive(p, age_ms))
            continue;
        int64_t start_s = atomic_load_explicit(&p->start_s, memory_order_relaxed);
        out->count++;
        out->busy += is_busy(p);
        if (start_s > out->start_s)
            out->start_s = start_s;
    }
}

size_t metrics_members_read(struct metrics_member *out)
{
    const int64_t now_ms = clock_monotonic_ms();
    size_t count = 0;
    for (size_t i = 0; i < METRICS_PROCESSES_MAX; i++) {
        const struct metrics_process *p = &metrics_page->processes[i];
        const struct metrics_beginning *b = &metrics_page->beginnings[i];
        const uint64_t owner = atomic_load(&p->owner), role = owner & ((1U << OWNER_ROLE_BITS) - 1);
        if (role == 0 || role > METRICS_ROLE_COUNT || !is_alive(p, beat_age_ms(p, now_ms)))
            continue;
        out[count++] = (struct metrics_member){ .role = (enum metrics_role)(role - 1),
                                                .pid = (int)(uint32_t)(owner >> OWNER_ROLE_BITS),
                                                .says = atomic_load(&b->owner) == owner,
                                                .program_id = atomic_load(&b->program_id),
                                                .config_digest = atomic_load(&b->config_digest) };
    }
    return count;
}
