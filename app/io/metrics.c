#include "io/metrics.h"

#include <assert.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"

/* More slots than counters: older and newer versions of the program can share one file. */
enum { SLOTS_MAX = 256 };

struct metrics_page {
    _Atomic uint64_t slots[SLOTS_MAX];
};

_Static_assert((int)METRIC_COUNT <= (int)SLOTS_MAX, "every counter has a slot in the file");
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "counters are shared between processes");

static const struct {
    const char *name, *help;
} metric_texts[METRIC_COUNT] = {
#define METRIC_TEXT(id, name, help) { name, help },
    METRICS(METRIC_TEXT)
#undef METRIC_TEXT
};

/* Global, so that every floor can count without a handle. Private memory until metrics_open maps the file. */
static struct metrics_page page_private;
static struct metrics_page *page = &page_private;

bool metrics_open(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0660);
    if (fd < 0)
        return false;
    void *mapped = MAP_FAILED;
    struct stat st;
    if (fstat(fd, &st) == 0 && (st.st_size >= (off_t)sizeof *page || ftruncate(fd, (off_t)sizeof *page) == 0))
        mapped = mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    (void)close(fd);
    if (mapped == MAP_FAILED)
        return false;
    page = mapped;
    return true;
}

void metrics_add(enum metric m, uint64_t n)
{
    assert(m < METRIC_COUNT);
    (void)atomic_fetch_add_explicit(&page->slots[m], n, memory_order_relaxed);
}

uint64_t metrics_get(enum metric m)
{
    assert(m < METRIC_COUNT);
    return atomic_load_explicit(&page->slots[m], memory_order_relaxed);
}

void metrics_print(struct buf *out)
{
    struct str family = STR_NONE;
    for (size_t m = 0; m < METRIC_COUNT; m++) {
        struct str rest;
        struct str name = str_cut(str_from(metric_texts[m].name), '{', &rest);
        if (!str_equal(name, family)) {
            buf_printf(out, "# HELP %.*s %s\n# TYPE %.*s counter\n", STR_ARG(name), metric_texts[m].help,
                       STR_ARG(name));
            family = name;
        }
        buf_cstr(out, metric_texts[m].name);
        buf_char(out, ' ');
        buf_u64(out, metrics_get((enum metric)m));
        buf_char(out, '\n');
    }
}
