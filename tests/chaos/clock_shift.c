/* A library that is preloaded into a server to move its wall clock: HB_TEST_CLOCK_FILE names a file of eight bytes, the
 * milliseconds (native int64_t) that are added to the time of day. A change takes effect at once. The monotonic clock
 * is not moved.
 *
 * libfaketime can't be used: it allocates memory while it starts, and Redis's allocator reads the time while it starts,
 * so both deadlock. This library only makes system calls. */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { MS_PER_S = 1000, NS_PER_MS = 1000000, NS_PER_S = 1000000000, NS_PER_US = 1000 };

static const volatile int64_t *shift_ms; /* NULL: no file, the clock is not moved */

__attribute__((constructor)) static void shift_open(void)
{
    const char *path = getenv("HB_TEST_CLOCK_FILE");
    int fd = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    void *page = mmap(NULL, sizeof *shift_ms, PROT_READ, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (page != MAP_FAILED)
        shift_ms = page;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    long failed = syscall(SYS_clock_gettime, clock, now);
    if (failed != 0 || shift_ms == NULL || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE))
        return (int)failed;
    int64_t shift = *shift_ms; /* read once: it may change meanwhile */
    int64_t ns = now->tv_nsec + shift % MS_PER_S * NS_PER_MS;
    now->tv_sec += shift / MS_PER_S + (ns >= NS_PER_S) - (ns < 0);
    now->tv_nsec = ns + (ns < 0 ? NS_PER_S : 0) - (ns >= NS_PER_S ? NS_PER_S : 0);
    return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    struct timespec precise;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &precise) != 0)
        return -1;
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / NS_PER_US;
    return 0;
}

time_t time(time_t *out)
{
    struct timespec now;
    time_t seconds = clock_gettime(CLOCK_REALTIME, &now) == 0 ? now.tv_sec : (time_t)-1;
    if (out != NULL)
        *out = seconds;
    return seconds;
}
