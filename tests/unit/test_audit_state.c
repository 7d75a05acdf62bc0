/* audit/state and audit/backup_record: what is known of the audit and of the backups of a site. */
#include "audit/state.h"
#include "base/clock.h"
#include "io/metrics.h"
#include "support/test_folder.h"

static const char *noted = ""; /* the record */
static struct audit audit;
static struct backup_record record;
static struct audit_state seen;

static int fresh(void **state)
{
    (void)state;
    metrics_set(METRIC_AUDIT_CLEAN_AT_MS, 0);
    metrics_set(METRIC_AUDIT_VIOLATED_AT_MS, 0);
    metrics_set(METRIC_AUDIT_WORKER_AT_MS, 0);
    audit = (struct audit){ 0 };
    noted = "";
    record = (struct backup_record){ 0 };
    return 0;
}

#define AUDIT_TEST(name) TEST_WITH(name, fresh, NULL)

static void write_record(const char *text)
{
    folder_write("record", text);
    assert_true(backup_record_read(folder_file, &record));
}

static void assert_seen(int64_t clean_ms, int64_t violated_ms)
{
    audit_state_read(&record, &seen);
    assert_ints({ seen.clean_ms, clean_ms }, { seen.violated_ms, violated_ms });
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

AUDIT_TEST(a_violation_lasts_until_a_later_audit_or_copy_is_clean)
{
    assert_seen(0, 0);
    clean_at(1000);
    violated_at(2000);
    assert_seen(1000, 2000);
    assert_int_equal(seen.source, AUDIT_BY_COMMAND);
    clean_at(3000);
    assert_seen(3000, 0);
    (void)fresh(NULL);
    violated_at(2000);
    record.last[BACKUP_CLEAN].at_ms = 3000;
    assert_seen(3000, 0);
    record.last[BACKUP_VIOLATED].at_ms = 4000;
    assert_seen(3000, 4000);
    assert_int_equal(seen.source, AUDIT_BY_BACKUP);
    clean_at(5000); /* of the site itself, later */
    assert_seen(5000, 0);
}

AUDIT_TEST(what_the_worker_has_found_counts_and_what_waits_behind_a_dead_letter_is_no_violation)
{
    const int64_t before = clock_now_ms();
    const uint64_t counted = metrics_get(METRIC_AUDIT_VIOLATED);
    clean_at(before - 1);
    audit_state_note_worker(0);
    assert_seen(before - 1, 0);
    audit_state_note_worker(2);
    audit_state_read(&record, &seen);
    assert_true(seen.violated_ms >= before && seen.source == AUDIT_BY_WORKER);
    assert_int_equal(metrics_get(METRIC_AUDIT_VIOLATED), counted + 2);
    (void)fresh(NULL);
    audit.checks[AUDIT_LETTERS].violations = audit.checks[AUDIT_I8].violations = 1;
    clean_at(1000);
    assert_seen(1000, 0);
    audit.checks[AUDIT_LETTERS].violations = 0;
    clean_at(2000);
    assert_seen(1000, 2000);
}

AUDIT_TEST(a_record_has_the_last_backup_of_each_kind_and_the_clean_audit_that_outlives_the_counters)
{
    write_record("clean = /b/1\nclean_at = 1970-01-01T00:00:01Z\naudited_at = 1970-01-01T00:00:02Z\n"
                 "violated = /b/2\nviolated_at = 1970-01-01T00:00:03Z\n");
    assert_seen(2000, 3000);
    noted = folder_file;
    clean_at(4000);
    metrics_set(METRIC_AUDIT_CLEAN_AT_MS, 0); /* the machine has started again */
    assert_true(backup_record_read(folder_file, &record));
    assert_seen(4000, 0);
    assert_string_equal(record.last[BACKUP_VIOLATED].dir, "/b/2");
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 1000);
    (void)fresh(NULL);
    write_record("clean = /b/1\nclean_at = 2026-11-28T03:31:12.500000Z\nother = 1\nviolated = /b/2.violated\n"
                 "violated_at = 1970-01-01T00:00:01Z\nunknown=/b/3\nunknown_at = yesterday\n");
    assert_string_equal(record.last[BACKUP_CLEAN].dir, "/b/1");
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 1795836672500);
    assert_string_equal(record.last[BACKUP_VIOLATED].dir, "/b/2.violated");
    assert_int_equal(record.last[BACKUP_VIOLATED].at_ms, 1000);
    assert_string_equal(record.last[BACKUP_UNKNOWN].dir, "/b/3");
    assert_int_equal(record.last[BACKUP_UNKNOWN].at_ms, 0);
    record.last[BACKUP_CLEAN].at_ms = 1;
    assert_true(backup_record_read("/tmp/hb-no-such-record", &record));
    assert_int_equal(record.last[BACKUP_CLEAN].at_ms, 0);
    assert_false(backup_record_read("/tmp", &record));
}

TESTS(folder_setup, folder_teardown)
