/* Answers that are written part by part (web/stream.h): the written bytes, and whether each part stayed within its
 * memory. Include it once in a test program. */
#ifndef HB_TEST_STREAM_FIXTURE_H
#define HB_TEST_STREAM_FIXTURE_H

#include <stdio.h>

#include "test_user_fixture.h"
#include "web/stream.h"

enum { STREAM_WARM_PARTS = 20, STREAM_GROWTH_KB_MAX = 2048 };

/* The sanitizer keeps freed memory; here it would look like memory in use. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1";
}

/* The output of a stream. The caller sets keep and mark. */
struct stream_written {
    struct buf all; /* when keep is set; the caller frees it */
    bool keep;
    const char *mark;
    size_t marks, parts; /* how often the mark was written */
    long grown_kb;       /* resident memory, since the first parts */
};

static long resident_kb(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*s %ld", &pages), 1);
    fclose(file);
    return pages * 4;
}

/* Runs the stream of an answer to its end, as the router does. part_bytes_max: of each part. */
static void stream_run(struct exchange *x, struct stream_written *w, size_t part_bytes_max)
{
    long warm_kb = 0;
    for (bool more = true; more;) {
        assert_int_equal(stream_next(x, &more), ST_OK);
        assert_true(x->body.len <= part_bytes_max);
        for (struct str rest = buf_view(&x->body); (rest = str_after(rest, str_from(w->mark))).ptr != NULL;)
            w->marks++;
        if (w->keep)
            buf_str(&w->all, buf_view(&x->body));
        buf_reset(&x->body);
        if (++w->parts == STREAM_WARM_PARTS)
            warm_kb = resident_kb();
    }
    stream_end(x);
    w->grown_kb = resident_kb() - warm_kb;
}

#endif
