#include "ops/audit_state.h"

#include "base/clock.h"
#include "io/metrics.h"

void audit_state_note(const struct audit *audit, int64_t began_ms)
{
    metrics_set(audit_clean(audit) ? METRIC_AUDIT_CLEAN_AT_MS : METRIC_AUDIT_VIOLATED_AT_MS, (uint64_t)began_ms);
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
    const int64_t command_ms = noted_ms(METRIC_AUDIT_CLEAN_AT_MS), copy_ms = record->last[BACKUP_CLEAN].at_ms;
    *out = (struct audit_state){ .clean_ms = command_ms > copy_ms ? command_ms : copy_ms };
    violation_take(out, AUDIT_BY_COMMAND, noted_ms(METRIC_AUDIT_VIOLATED_AT_MS));
    violation_take(out, AUDIT_BY_WORKER, noted_ms(METRIC_AUDIT_WORKER_AT_MS));
    violation_take(out, AUDIT_BY_BACKUP, record->last[BACKUP_VIOLATED].at_ms);
}
