/* What is known of the audit of this site: when it was last clean, and whether anything has found a violation since.
 * The violations that `hongbao audit` and the settle worker find are noted in the file of the counters, which a restart
 * of the machine empties; a clean audit, and the audit of a copy by `hongbao backup`, in a file that stays
 * (audit/backup_record.h). */
#ifndef HB_AUDIT_STATE_H
#define HB_AUDIT_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "audit/audit.h"
#include "audit/backup_record.h"

/* Who has found a violation. */
enum audit_source { AUDIT_BY_COMMAND, AUDIT_BY_WORKER, AUDIT_BY_BACKUP };

struct audit_state {
    int64_t clean_ms;    /* the last clean audit began; 0: none is known */
    int64_t violated_ms; /* the last violation since then was found; 0: none was */
    enum audit_source source;
};

/* Notes the result of a whole audit that began at began_ms (clock_now_ms). What waits behind a dead letter is no
 * violation here: it has a finding and an alert of its own. record_path: empty: there is no record. */
void audit_state_note(const struct audit *audit, int64_t began_ms, const char *record_path);
/* Notes that the settle worker has found violations, and counts them; 0: nothing. */
void audit_state_note_worker(uint64_t violations);
/* What both the counters, which this process has read or mapped, and the record tell. */
void audit_state_read(const struct backup_record *record, struct audit_state *out);

#endif
