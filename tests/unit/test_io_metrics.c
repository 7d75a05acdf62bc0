/* io/metrics: counters in one file shared by several processes. */
#include <errno.h>
#include <sys/wait.h>

#include "io/metrics.h"
#include "io/metrics_internal.h"
#include "io/metrics_processes.h"
#include "support/assert_text.h"
#include "support/test_folder.h"

static char path[sizeof folder_file];

static int setup(void **state)
{
    const int failed = folder_setup(state);
    (void)snprintf(path, sizeof path, "%s", folder_path("metrics"));
    return failed;
}

TEST(without_a_file_counting_still_works_and_with_one_processes_add_to_the_same_counters)
{
    assert_false(metrics_open("/no/such/folder/metrics"));
    assert_int_equal(errno, ENOENT);
    metrics_add(METRIC_SENT, 2);
    assert_int_equal(metrics_get(METRIC_SENT), 2);
    enum { CHILDREN = 4, TIMES = 10000 };
    mode_t mask = umask(077);
    struct stat st;
    assert_true(metrics_open(path));
    (void)umask(mask);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0660); /* processes of other users are in its group */
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
    uint64_t before = metrics_get(METRIC_GRABBED);
    assert_true(before > 0);
    assert_true(metrics_open(path));
    assert_int_equal(metrics_get(METRIC_GRABBED), before);
}

/* The metrics as text, with the other counters; valid until the next call. */
static const char *printed(const struct metric_sample *others, size_t count)
{
    static char text[1 << 16];
    struct buf out = BUF_EMPTY;
    metrics_print(&out, others, count);
    assert_true(!out.failed && out.len < sizeof text);
    (void)snprintf(text, sizeof text, "%.*s", STR_ARG(buf_view(&out)));
    buf_free(&out);
    return text;
}

TEST(every_family_is_described_once_before_all_of_its_lines)
{
    const char *first = strstr(printed(NULL, 0), "# HELP hongbao_requests_total Requests answered.\n"
                                                 "# TYPE hongbao_requests_total counter\n"
                                                 "hongbao_requests_total{pool=\"hot\"} 0\n"
                                                 "hongbao_requests_total{pool=\"page\"} 0\n");
    assert_non_null(first);
    assert_null(strstr(first + 1, "# HELP hongbao_requests_total"));
    assert_parts(printed(NULL, 0), "!(null)");
    /* The histograms of a pool that came later stand behind the others of its family. */
    assert_non_null(strstr(printed(NULL, 0), "hongbao_queue_seconds_count{pool=\"card\"} 0\n"
                                             "hongbao_queue_seconds_bucket{pool=\"money\""));
    const struct metric_sample others[] = { { "hongbao_limited_total{limit=\"elsewhere\"}", 7 },
                                            { "hongbao_limited_total{limit=\"there\"}", 8 } };
    assert_non_null(strstr(printed(others, 2), "hongbao_limited_total{limit=\"oidc_network\"} 0\n"
                                               "hongbao_limited_total{limit=\"elsewhere\"} 7\n"
                                               "hongbao_limited_total{limit=\"there\"} 8\n# HELP "));
}

TEST(a_histogram_counts_up_to_each_bound_and_seconds_are_printed_as_such)
{
    assert_int_equal(metrics_observed(HISTOGRAM_HOT_WRITE), 0);
    metrics_observe(HISTOGRAM_HOT_WRITE, -5);
    metrics_observe(HISTOGRAM_HOT_WRITE, 250);
    metrics_observe(HISTOGRAM_HOT_WRITE, 251);
    metrics_observe(HISTOGRAM_HOT_WRITE, 60000000);
    assert_int_equal(metrics_observed(HISTOGRAM_HOT_WRITE), 4);
    metrics_observe(HISTOGRAM_CROWD, 64);
    metrics_add(METRIC_BUSY_PAGE, 1234567);
    assert_parts(printed(NULL, 0),
                 "# TYPE hongbao_request_seconds histogram\n"
                 "hongbao_request_seconds_bucket{pool=\"hot\",class=\"write\",le=\"0.000250\"} 2\n"
                 "hongbao_request_seconds_bucket{pool=\"hot\",class=\"write\",le=\"0.000500\"} 3\n",
                 "le=\"10.000000\"} 3\n"
                 "hongbao_request_seconds_bucket{pool=\"hot\",class=\"write\",le=\"+Inf\"} 4\n"
                 "hongbao_request_seconds_sum{pool=\"hot\",class=\"write\"} 60.000501\n"
                 "hongbao_request_seconds_count{pool=\"hot\",class=\"write\"} 4\n",
                 "hongbao_crowd_grabs_bucket{le=\"32\"} 0\nhongbao_crowd_grabs_bucket{le=\"64\"} 1\n",
                 "hongbao_crowd_grabs_bucket{le=\"+Inf\"} 1\nhongbao_crowd_grabs_sum 64\n"
                 "hongbao_crowd_grabs_count 1\n",
                 "\nhongbao_busy_seconds_total{pool=\"page\"} 1.234567\n");
}

static struct metrics_crew crew(enum metrics_role role)
{
    struct metrics_crew read;
    metrics_crew_read(role, &read);
    return read;
}

/* Starts a process that enters the list, reports on a pipe that it has, and ends when it may. */
static pid_t worker_start(int ready[2], int leave[2])
{
    char byte = 0;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(leave), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(leave[1]);
        metrics_process_begin(METRICS_HOT);
        metrics_process_begin(METRICS_HOT); /* again in place */
        metrics_process_busy(true);
        bool ok = write(ready[1], "", 1) == 1 && read(leave[0], &byte, 1) == 0;
        metrics_process_end();
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    return child;
}

TEST(a_process_is_in_the_list_from_its_beginning_to_its_end)
{
    int ready[2], leave[2], status;
    assert_int_equal(crew(METRICS_HOT).count, 0);
    assert_int_equal(crew(METRICS_HOT).beat_ms, -1);
    uint64_t starts = metrics_get(METRIC_STARTS_HOT);
    pid_t child = worker_start(ready, leave);
    struct metrics_crew one = crew(METRICS_HOT);
    assert_ints({ one.count, 1 }, { one.busy, 1 });
    assert_true(one.beat_ms >= 0 && one.start_s > 0);
    assert_int_equal(crew(METRICS_SETTLE).count, 0);
    assert_int_equal(metrics_get(METRIC_STARTS_HOT), starts + 2);
    close(leave[1]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(crew(METRICS_HOT).count, 0);
}

/* Finds this process in the list. */
static bool member_find(struct metrics_member *out)
{
    struct metrics_member all[METRICS_MEMBERS_MAX];
    size_t count = metrics_members_read(all);
    for (size_t i = 0; i < count; i++) {
        if (all[i].pid == getpid()) {
            *out = all[i];
            return true;
        }
    }
    return false;
}

TEST(a_process_says_what_it_began_with)
{
    struct metrics_member one;
    assert_false(member_find(&one));
    metrics_process_with(7, 8);
    metrics_process_begin(METRICS_AUTH);
    assert_true(member_find(&one));
    assert_int_equal(one.role, METRICS_AUTH);
    assert_true(one.says && one.program_id == 7 && one.config_digest == 8);
    metrics_process_with(9, 8);
    metrics_process_begin(METRICS_AUTH); /* again in place */
    assert_true(member_find(&one));
    assert_int_equal(one.program_id, 9);
    /* An older program, which does not publish what it began with, has taken the entry of an earlier process. */
    for (size_t i = 0; i < METRICS_PROCESSES_MAX; i++)
        if (metrics_page->beginnings[i].program_id == 9)
            metrics_page->beginnings[i].owner = 1;
    assert_true(member_find(&one));
    assert_false(one.says);
    metrics_process_end();
    assert_false(member_find(&one));
}

TEST(another_process_can_read_the_file_without_writing_to_it)
{
    int status;
    metrics_process_with(7, 8);
    metrics_process_begin(METRICS_PAGE);
    const pid_t parent = getpid();
    const uint64_t before = metrics_get(METRIC_SENT);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct metrics_member all[METRICS_MEMBERS_MAX];
        bool found = false;
        if (metrics_read("/nowhere/metrics") || !metrics_read(path))
            _exit(1);
        for (size_t i = metrics_members_read(all); i > 0; i--)
            found |= all[i - 1].pid == parent && all[i - 1].says && all[i - 1].program_id == 7;
        metrics_add(METRIC_SENT, 1);
        _exit(found ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_ints({ status, 0 }, { metrics_get(METRIC_SENT), before });
    metrics_process_end();
}

TEST(the_list_has_room_for_many_processes_and_the_rest_is_not_counted)
{
    enum { MANY = 300, ROOM = 256 };
    int status;
    for (int i = 0; i < MANY; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            metrics_process_begin(METRICS_CARD);
            metrics_process_busy(true); /* so that it counts for two minutes: a machine may be slow */
            _exit(0);                   /* ends as if it were killed */
        }
        assert_true(waitpid(child, &status, 0) == child && status == 0);
    }
    assert_in_range(crew(METRICS_CARD).count, ROOM - 1, ROOM);
    assert_int_equal(crew(METRICS_CARD).busy, crew(METRICS_CARD).count);
}

TESTS(setup, folder_teardown)
