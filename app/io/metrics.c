#include "io/metrics.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/str.h"
#include "io/metrics_internal.h"

enum { METRICS_FILE_MODE = 0660, US_PER_S = 1000000 };

_Static_assert((int)METRIC_COUNT <= (int)METRICS_COUNTERS_MAX, "every counter has a slot in the file");
_Static_assert((int)HISTOGRAM_COUNT <= (int)METRICS_HISTOGRAMS_MAX, "every histogram has a place in the file");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "counters are shared between processes");

static const struct {
    const char *name, *help;
} metric_texts[METRIC_COUNT] = {
#define METRIC_TEXT(id, name, help) { name, help },
    METRICS(METRIC_TEXT)
#undef METRIC_TEXT
};

/* The upper bounds of the buckets; each list ends with INT64_MAX. Never change them: the counts in the file belong to
 * these buckets. In microseconds: from a grab to a password hash on a busy machine. */
static const int64_t SECONDS[METRICS_BUCKETS_MAX] = { 250,     500,     1000,     2500,     5000,   10000,
                                                      25000,   50000,   100000,   250000,   500000, 1000000,
                                                      2500000, 5000000, 10000000, INT64_MAX };
static const int64_t SIZES[METRICS_BUCKETS_MAX] = {
    1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 4096, 16384, INT64_MAX
};

static const struct {
    const char *family, *labels;
    const int64_t *bounds;
    const char *help;
} histogram_texts[HISTOGRAM_COUNT] = {
#define HISTOGRAM_TEXT(id, family, labels, unit, help) { family, labels, unit, help },
    HISTOGRAMS(HISTOGRAM_TEXT)
#undef HISTOGRAM_TEXT
};

static struct metrics_page page_private;
struct metrics_page *metrics_page = &page_private;

/* The umask of most users takes the group's right to write, so the mode is set here. A process that restarts in place
 * finds the mode right; it could not set it, because its system calls are restricted. */
static bool file_prepare(int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return false;
    if (st.st_size == 0 && st.st_uid == geteuid() && (st.st_mode & METRICS_FILE_MODE) != METRICS_FILE_MODE)
        (void)fchmod(fd, METRICS_FILE_MODE);
    return st.st_size >= (off_t)sizeof *metrics_page || ftruncate(fd, (off_t)sizeof *metrics_page) == 0;
}

bool metrics_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, METRICS_FILE_MODE);
    if (fd < 0)
        return false;
    void *mapped = MAP_FAILED;
    if (file_prepare(fd))
        mapped = mmap(NULL, sizeof *metrics_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int error = errno;
    (void)close(fd);
    errno = error;
    if (mapped == MAP_FAILED)
        return false;
    metrics_page = mapped;
    return true;
}

bool metrics_read(const char *path)
{
    ssize_t n;
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (len < sizeof page_private && (n = read(fd, (char *)&page_private + len, sizeof page_private - len)) > 0)
        len += (size_t)n;
    (void)close(fd);
    metrics_page = &page_private;
    return true;
}

void metrics_add(enum metric m, uint64_t n)
{
    assert(m < METRIC_COUNT);
    (void)atomic_fetch_add_explicit(&metrics_page->counters[m], n, memory_order_relaxed);
}

uint64_t metrics_get(enum metric m)
{
    assert(m < METRIC_COUNT);
    return atomic_load_explicit(&metrics_page->counters[m], memory_order_relaxed);
}

void metrics_set(enum metric m, uint64_t value)
{
    assert(m < METRIC_COUNT);
    atomic_store_explicit(&metrics_page->counters[m], value, memory_order_relaxed);
}

void metrics_observe(enum histogram h, int64_t value)
{
    assert(h < HISTOGRAM_COUNT);
    const int64_t *bounds = histogram_texts[h].bounds;
    size_t bucket = 0;
    while (value > bounds[bucket])
        bucket++;
    struct metrics_histogram *place = &metrics_page->histograms[h];
    (void)atomic_fetch_add_explicit(&place->buckets[bucket], 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&place->sum, value > 0 ? (uint64_t)value : 0, memory_order_relaxed);
}

uint64_t metrics_observed(enum histogram h)
{
    assert(h < HISTOGRAM_COUNT);
    uint64_t count = 0;
    for (size_t i = 0; i < METRICS_BUCKETS_MAX; i++)
        count += atomic_load_explicit(&metrics_page->histograms[h].buckets[i], memory_order_relaxed);
    return count;
}

/* ---- printing ---- */

static struct str family_of(const char *name)
{
    struct str rest;
    return name == NULL ? STR_NONE : str_cut(str_from(name), '{', &rest);
}

static void seconds_print(struct buf *out, uint64_t us)
{
    buf_printf(out, "%" PRIu64 ".%06" PRIu64, us / US_PER_S, us % US_PER_S);
}

static void sample_print(struct buf *out, const char *name, uint64_t value)
{
    buf_cstr(out, name);
    buf_char(out, ' ');
    if (str_ends(family_of(name), STR("_seconds_total")))
        seconds_print(out, value);
    else
        buf_u64(out, value);
    buf_char(out, '\n');
}

/* The format requires the lines of a family to stand together, but a later version appends counters behind other
 * families. */
static void family_print(struct buf *out, enum metric first, const struct metric_sample *others, size_t count)
{
    const struct str family = family_of(metric_texts[first].name);
    buf_printf(out, "# HELP %.*s %s\n# TYPE %.*s counter\n", STR_ARG(family), metric_texts[first].help,
               STR_ARG(family));
    for (size_t m = first; m < METRIC_COUNT; m++)
        if (str_equal(family_of(metric_texts[m].name), family))
            sample_print(out, metric_texts[m].name, metrics_get((enum metric)m));
    for (size_t i = 0; i < count; i++)
        if (str_equal(family_of(others[i].name), family))
            sample_print(out, others[i].name, others[i].value);
}

static void bound_print(struct buf *out, const int64_t *bounds, size_t bucket)
{
    if (bounds[bucket] == INT64_MAX)
        buf_cstr(out, "+Inf");
    else if (bounds == SECONDS)
        seconds_print(out, (uint64_t)bounds[bucket]);
    else
        buf_i64(out, bounds[bucket]);
}

/* Each bucket is read once: the count must equal the sum of the buckets, although other processes go on counting. */
static void histogram_print(struct buf *out, enum histogram h)
{
    const char *family = histogram_texts[h].family, *labels = histogram_texts[h].labels;
    const int64_t *bounds = histogram_texts[h].bounds;
    const struct metrics_histogram *place = &metrics_page->histograms[h];
    const char *open = labels[0] == '\0' ? "" : "{", *close = labels[0] == '\0' ? "" : "}";
    uint64_t count = 0;
    bool last = false;
    for (size_t i = 0; !last; i++) {
        last = bounds[i] == INT64_MAX;
        count += atomic_load_explicit(&place->buckets[i], memory_order_relaxed);
        buf_printf(out, "%s_bucket{%s%sle=\"", family, labels, labels[0] == '\0' ? "" : ",");
        bound_print(out, bounds, i);
        buf_printf(out, "\"} %" PRIu64 "\n", count);
    }
    buf_printf(out, "%s_sum%s%s%s ", family, open, labels, close);
    uint64_t sum = atomic_load_explicit(&place->sum, memory_order_relaxed);
    if (bounds == SECONDS)
        seconds_print(out, sum);
    else
        buf_u64(out, sum);
    buf_printf(out, "\n%s_count%s%s%s %" PRIu64 "\n", family, open, labels, close, count);
}

/* As family_print. */
static void histogram_family_print(struct buf *out, enum histogram first)
{
    const char *family = histogram_texts[first].family;
    buf_printf(out, "# HELP %s %s\n# TYPE %s histogram\n", family, histogram_texts[first].help, family);
    for (size_t h = first; h < HISTOGRAM_COUNT; h++)
        if (strcmp(histogram_texts[h].family, family) == 0)
            histogram_print(out, (enum histogram)h);
}

void metrics_print(struct buf *out, const struct metric_sample *others, size_t count)
{
    for (size_t m = 0; m < METRIC_COUNT; m++)
        if (metric_texts[m].help != NULL)
            family_print(out, (enum metric)m, others, count);
    for (size_t h = 0; h < HISTOGRAM_COUNT; h++)
        if (histogram_texts[h].help != NULL)
            histogram_family_print(out, (enum histogram)h);
}
