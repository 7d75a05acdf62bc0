/* ops/nginx_counts: the size of a file of nginx is the number of requests that its limit has refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/stat.h>
#include <unistd.h>

#include "ops/nginx_counts.h"

static char dir[] = "/tmp/hb-counts-XXXXXX";

static const char *path_of(const char *name)
{
    static char path[96];
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    return path;
}

/* Appends as nginx does, so many lines. */
static void refuse(const char *name, size_t times)
{
    FILE *f = fopen(path_of(name), "a");
    assert_non_null(f);
    for (size_t i = 0; i < times; i++)
        assert_int_equal(fputc('\n', f), '\n');
    assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
    (void)state;
    return mkdtemp(dir) == NULL;
}

static int teardown(void **state)
{
    (void)state;
    for (const char *const *name = (const char *const[]){ "visitor", "guest", "login", NULL }; *name != NULL; name++) {
        char file[64];
        (void)snprintf(file, sizeof file, "hongbao-limited-%s", *name);
        unlink(path_of(file));
    }
    rmdir(path_of("hongbao-limited-connections"));
    return rmdir(dir);
}

static void without_files_nothing_is_counted(void **state)
{
    struct metric_sample counts[NGINX_COUNTS_MAX];
    (void)state;
    assert_int_equal(nginx_counts_read(dir, counts), 0);
    assert_int_equal(nginx_counts_read("/no/such/folder", counts), 0);
}

static void each_file_is_the_count_of_its_limit(void **state)
{
    struct metric_sample counts[NGINX_COUNTS_MAX];
    (void)state;
    refuse("hongbao-limited-visitor", 3);
    refuse("hongbao-limited-guest", 0);
    refuse("hongbao-limited-login", 1);
    assert_int_equal(mkdir(path_of("hongbao-limited-connections"), 0700), 0); /* no file of nginx: not counted */
    assert_int_equal(nginx_counts_read(dir, counts), 3);
    assert_string_equal(counts[0].name, "hongbao_limited_total{limit=\"nginx_visitor\"}");
    assert_int_equal(counts[0].value, 3);
    assert_string_equal(counts[1].name, "hongbao_limited_total{limit=\"nginx_guest\"}");
    assert_int_equal(counts[1].value, 0);
    assert_string_equal(counts[2].name, "hongbao_limited_total{limit=\"nginx_login\"}");
    assert_int_equal(counts[2].value, 1);
    refuse("hongbao-limited-login", 4);
    assert_int_equal(nginx_counts_read(dir, counts), 3);
    assert_int_equal(counts[2].value, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_files_nothing_is_counted),
        cmocka_unit_test(each_file_is_the_count_of_its_limit),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
