#include "audit/state.h"

#include "base/array.h"
#include "base/clock.h"
#include "io/metrics.h"

/* As audit_is_clean of deploy/commands/archive.sh. */
static bool is_clean(const struct audit *audit)
{
    const bool has_letters = audit->checks[AUDIT_LETTERS].violations > 0;
    for (size_t i = 0; i < AUDIT_CHECK_COUNT; i++)
        if (audit->checks[i].violations > 0 && i != AUDIT_LETTERS && !(i == AUDIT_I8 && has_letters))
            return false;
    return true;
}

void audit_state_note(const struct audit *audit, int64_t began_ms, const char *record_path)
{
    metrics_set(is_clean(audit) ? METRIC_AUDIT_CLEAN_AT_MS : METRIC_AUDIT_VIOLATED_AT_MS, (uint64_t)began_ms);
    if (is_clean(audit) && record_path[0] != '\0')
        (void)backup_record_note_audit(record_path, began_ms); /* users who can't write it have the counters */
}

void audit_state_note_worker(uint64_t violations)
{
    if (violations == 0)
        return;
    metrics_add(METRIC_AUDIT_VIOLATED, violations);
    metrics_set(METRIC_AUDIT_WORKER_AT_MS, (uint64_t)clock_now_ms());
}

static int64_t noted_ms(enum metric m)
{
    return (int64_t)metrics_get(m);
}

/* The latest violation counts, if it is later than the last clean audit. */
static void violation_take(struct audit_state *state, enum audit_source source, int64_t at_ms)
{
    if (at_ms <= state->clean_ms || at_ms <= state->violated_ms)
        return;
    state->violated_ms = at_ms;
    state->source = source;
}

void audit_state_read(const struct backup_record *record, struct audit_state *out)
{
    const int64_t known[] = { noted_ms(METRIC_AUDIT_CLEAN_AT_MS), record->audited_ms,
                              record->last[BACKUP_CLEAN].at_ms };
    *out = (struct audit_state){ 0 };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (known[i] > out->clean_ms)
            out->clean_ms = known[i];
    violation_take(out, AUDIT_BY_COMMAND, noted_ms(METRIC_AUDIT_VIOLATED_AT_MS));
    violation_take(out, AUDIT_BY_WORKER, noted_ms(METRIC_AUDIT_WORKER_AT_MS));
    violation_take(out, AUDIT_BY_BACKUP, record->last[BACKUP_VIOLATED].at_ms);
}
