/* ops/audit_state and ops/backup_record: what is known of the audit and of the backups of a site. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "io/metrics.h"
#include "ops/audit_state.h"

static char path[64];
static const char *noted = ""; /* the record */
static struct audit audit;
static struct backup_record record;
static struct audit_state seen;

static int begin(void **state)
{
    (void)state;
    (void)snprintf(path, sizeof path, "/tmp/hb-record-XXXXXX");
    int fd = mkstemp(path);
    metrics_set(METRIC_AUDIT_CLEAN_AT_MS, 0);
    metrics_set(METRIC_AUDIT_VIOLATED_AT_MS, 0);
    metrics_set(METRIC_AUDIT_WORKER_AT_MS, 0);
    audit = (struct audit){ 0 };
    noted = "";
    record = (struct backup_record){ 0 };
    return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
    (void)state;
    return unlink(path);
}

static void write_record(const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
    assert_true(backup_record_read(path, &record));
}

static void violated_at(int64_t ms)
{
    audit.checks[AUDIT_I5].violations = 1;
    audit_state_note(&audit, ms, noted);
}

static void clean_at(int64_t ms)
{
    audit.checks[AUDIT_I5].violations = 0;
    audit_state_note(&audit, ms, noted);
}

static void a_record_has_the_last_backup_of_each_kind(void **state)
{
    (void)state;
    write_record("clean = /b/1\nclean_at = 2026-11-28T03:31:12.500000Z\nother = 1\nviolated = /b/2.violated\n"
                 "violated_at = 1970-01-01T00:00:01Z\nunknown=/b/3\nunknown_at = yesterday\n");
    assert_string_equal(record.last[BACKUP_CLEAN].dir, "/b/1");
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 1795836672500);
    assert_string_equal(record.last[BACKUP_VIOLATED].dir, "/b/2.violated");
    assert_int_equal(record.last[BACKUP_VIOLATED].at_ms, 1000);
    assert_string_equal(record.last[BACKUP_UNKNOWN].dir, "/b/3");
    assert_int_equal(record.last[BACKUP_UNKNOWN].at_ms, 0);
}

static void a_record_that_does_not_exist_is_empty_and_one_that_is_a_folder_can_not_be_read(void **state)
{
    (void)state;
    record.last[BACKUP_CLEAN].at_ms = 1;
    assert_true(backup_record_read("/tmp/hb-no-such-record", &record));
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 0);
    assert_false(backup_record_read("/tmp", &record));
}

static void nothing_is_known_at_first(void **state)
{
    (void)state;
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 0 && seen.violated_ms == 0);
}

static void a_violation_lasts_until_an_audit_that_began_later_is_clean(void **state)
{
    (void)state;
    clean_at(1000);
    violated_at(2000);
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 1000 && seen.violated_ms == 2000 && seen.source == AUDIT_BY_COMMAND);
    clean_at(3000);
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 3000 && seen.violated_ms == 0);
}

static void what_the_worker_has_found_counts_like_a_whole_audit(void **state)
{
    (void)state;
    const int64_t before = clock_now_ms();
    const uint64_t counted = metrics_get(METRIC_AUDIT_VIOLATED);
    clean_at(before - 1);
    audit_state_note_worker(0);
    audit_state_read(&record, &seen);
    assert_int_equal(seen.violated_ms, 0);
    audit_state_note_worker(2);
    audit_state_read(&record, &seen);
    assert_true(seen.violated_ms >= before && seen.source == AUDIT_BY_WORKER);
    assert_int_equal(metrics_get(METRIC_AUDIT_VIOLATED), counted + 2);
}

static void a_clean_copy_ends_a_violation_and_a_violated_one_is_one(void **state)
{
    (void)state;
    violated_at(2000);
    record.last[BACKUP_CLEAN].at_ms = 3000;
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 3000 && seen.violated_ms == 0);
    record.last[BACKUP_VIOLATED].at_ms = 4000;
    audit_state_read(&record, &seen);
    assert_true(seen.violated_ms == 4000 && seen.source == AUDIT_BY_BACKUP);
    clean_at(5000); /* of the site itself, later */
    audit_state_read(&record, &seen);
    assert_int_equal(seen.violated_ms, 0);
}

static void a_clean_audit_is_noted_beside_the_backups_and_outlives_the_counters(void **state)
{
    (void)state;
    write_record("clean = /b/1\nclean_at = 1970-01-01T00:00:01Z\naudited_at = 1970-01-01T00:00:02Z\n"
                 "violated = /b/2\nviolated_at = 1970-01-01T00:00:03Z\n");
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 2000 && seen.violated_ms == 3000);
    noted = path;
    clean_at(4000);
    metrics_set(METRIC_AUDIT_CLEAN_AT_MS, 0); /* the machine has started again */
    assert_true(backup_record_read(path, &record));
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 4000 && seen.violated_ms == 0);
    assert_string_equal(record.last[BACKUP_VIOLATED].dir, "/b/2");
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 1000);
}

static void what_waits_behind_a_dead_letter_is_no_violation(void **state)
{
    (void)state;
    audit.checks[AUDIT_LETTERS].violations = audit.checks[AUDIT_I8].violations = 1;
    clean_at(1000);
    audit_state_read(&record, &seen);
    assert_true(seen.clean_ms == 1000 && seen.violated_ms == 0);
    audit.checks[AUDIT_LETTERS].violations = 0;
    clean_at(2000);
    audit_state_read(&record, &seen);
    assert_true(seen.violated_ms == 2000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_record_has_the_last_backup_of_each_kind),
        TEST(a_record_that_does_not_exist_is_empty_and_one_that_is_a_folder_can_not_be_read),
        TEST(nothing_is_known_at_first),
        TEST(a_violation_lasts_until_an_audit_that_began_later_is_clean),
        TEST(what_the_worker_has_found_counts_like_a_whole_audit),
        TEST(a_clean_audit_is_noted_beside_the_backups_and_outlives_the_counters),
        TEST(what_waits_behind_a_dead_letter_is_no_violation),
        TEST(a_clean_copy_ends_a_violation_and_a_violated_one_is_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
