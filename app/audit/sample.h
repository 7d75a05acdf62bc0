/* The sampling audit: while the site runs, the settle worker audits about one packet a second. Every other packet is a
 * random one of the newest, the others come from a walk over all packets. Violations go to the log; the metrics
 * hongbao_audit_sampled_packets_total and hongbao_audit_sampled_violations_total count. */
#ifndef HB_AUDIT_SAMPLE_H
#define HB_AUDIT_SAMPLE_H

#include <stdint.h>

#include "audit/audit.h"
#include "live/stores.h"

enum {
    AUDIT_SAMPLE_ATTEMPTS = 4,     /* audits of a packet before it counts as violated: it may change during one */
    AUDIT_SAMPLE_SHARES_MAX = 1000 /* larger packets take too long for the worker: they are left to `hongbao audit` */
};

/* Begins as all zeros. */
struct audit_sample {
    uint64_t picks;
    uint64_t after;      /* id that the walk over all packets has reached */
    uint64_t suspect_id; /* packet that had a violation in its last audit; 0: none */
    unsigned attempts;   /* audits of the suspect so far */
    struct audit audit;  /* the last one */
};

/* Audits one packet: the suspect again, or the next one. A few short queries, no pause. ST_OK · ST_NOT_FOUND: the
 * walk is at its end, the next call begins anew · any other status is a store's: the next call tries again. */
enum status audit_sample_run(struct audit_sample *s, struct stores *stores);

#endif
