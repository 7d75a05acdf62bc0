/* io/metrics: counters in one file shared by several processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

#include "io/metrics.h"

static char dir[] = "/tmp/hb-metrics-XXXXXX";
static char path[64];

static int setup(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/metrics", dir);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

static void without_a_file_counting_still_works(void **state)
{
    (void)state;
    assert_false(metrics_open("/no/such/folder/metrics"));
    metrics_add(METRIC_SENT, 2);
    assert_int_equal(metrics_get(METRIC_SENT), 2);
}

static void processes_add_to_the_same_counters(void **state)
{
    (void)state;
    enum { CHILDREN = 4, TIMES = 10000 };
    assert_true(metrics_open(path));
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            bool ok = metrics_open(path);
            for (int k = 0; k < TIMES; k++)
                metrics_add(METRIC_GRABBED, 1);
            _exit(ok ? 0 : 1);
        }
    }
    int status;
    for (int i = 0; i < CHILDREN; i++) {
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    assert_int_equal(metrics_get(METRIC_GRABBED), CHILDREN * TIMES);
}

static void counts_survive_a_restart(void **state)
{
    (void)state;
    uint64_t before = metrics_get(METRIC_GRABBED);
    assert_true(before > 0);
    assert_true(metrics_open(path));
    assert_int_equal(metrics_get(METRIC_GRABBED), before);
}

static void every_family_is_described_once_before_its_values(void **state)
{
    (void)state;
    struct buf out = BUF_EMPTY;
    metrics_print(&out);
    buf_char(&out, '\0');
    assert_false(out.failed);
    const char *first = strstr(out.ptr, "# HELP hongbao_requests_total Requests answered.\n"
                                        "# TYPE hongbao_requests_total counter\n"
                                        "hongbao_requests_total{pool=\"hot\"} 0\n"
                                        "hongbao_requests_total{pool=\"page\"} 0\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# HELP hongbao_requests_total"));
    assert_null(strstr(out.ptr, "(null)"));
    buf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_file_counting_still_works),
        cmocka_unit_test(processes_add_to_the_same_counters),
        cmocka_unit_test(counts_survive_a_restart),
        cmocka_unit_test(every_family_is_described_once_before_its_values),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
