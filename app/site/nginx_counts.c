#include "site/nginx_counts.h"

#include <stdio.h>
#include <sys/stat.h>

#include "base/array.h"
#include "config/config.h"

#define COUNT(limit)                                                                                                   \
    {                                                                                                                  \
        "hongbao-limited-" limit, "hongbao_limited_total{limit=\"nginx_" limit "\"}"                                   \
    }

static const struct {
    const char *file, *name;
} COUNTS[] = { COUNT("visitor"), COUNT("guest"), COUNT("login"), COUNT("connections") };

_Static_assert(ARRAY_LEN(COUNTS) == NGINX_COUNTS_MAX, "the caller has room for all");

size_t nginx_counts_read(const char *dir, struct metric_sample out[NGINX_COUNTS_MAX])
{
    enum { FILE_NAME_MAX = 64 };
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_LEN(COUNTS); i++) {
        char path[CONFIG_TEXT_MAX + FILE_NAME_MAX];
        struct stat st;
        (void)snprintf(path, sizeof path, "%s/%s", dir, COUNTS[i].file);
        if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
            out[count++] = (struct metric_sample){ COUNTS[i].name, (uint64_t)st.st_size };
    }
    return count;
}
