/* The standing check: while the site runs, one packet after the other is audited, in turn all there are and some of the
 * newest. The settle worker calls it about once a second; what it finds is in the log and in the metrics
 * hongbao_audit_sampled_packets_total and hongbao_audit_sampled_violations_total. */
#ifndef HB_OPS_AUDIT_SAMPLE_H
#define HB_OPS_AUDIT_SAMPLE_H

#include <stdint.h>

#include "live/stores.h"
#include "ops/audit.h"

enum {
    AUDIT_SAMPLE_LOOKS = 4,        /* what changes while it is looked at is not wrong: it has to stay so */
    AUDIT_SAMPLE_SHARES_MAX = 1000 /* larger packets take a worker too long */
};

struct audit_sample {
    uint64_t draws;
    uint64_t after;      /* where the walk over all packets stands */
    uint64_t suspect_id; /* looked wrong; 0: none */
    unsigned looks;      /* at the suspect */
    struct audit audit;  /* of the last look */
};

/* Looks at one packet: the suspect again, or the next. A few short queries, never a pause. ST_OK · ST_NOT_FOUND: the
 * walk is at its end, the next call begins anew · a store's trouble: the next call looks again. */
enum status audit_sample_look(struct audit_sample *s, struct stores *stores);

#endif
