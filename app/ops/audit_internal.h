/* The parts of the audit. */
#ifndef HB_OPS_AUDIT_INTERNAL_H
#define HB_OPS_AUDIT_INTERNAL_H

#include "base/arena.h"
#include "io/db.h"
#include "live/stores.h"
#include "ops/audit.h"

/* Records a violation of check by the subject "KIND ID" ("packet 123"); format gives the detail. */
void audit_note(struct audit *audit, enum audit_check check, const char *kind, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* All checks that need the tables alone. Call it inside db_snapshot. */
enum status audit_tables(struct audit *audit, struct db *db);
/* The part of audit_tables that recomputes every packet's shares. Resets a. */
enum status audit_draws(struct audit *audit, struct db *db, struct arena *a);
/* Compares the packets that are not closed in MySQL with Redis; repeats the comparison of a packet that differs. */
enum status audit_live(struct audit *audit, struct stores *stores);
/* Compares one packet with Redis, once: a violation may only mean that the packet changed between the two reads. Does
 * nothing when the packet is closed. */
enum status audit_live_once(struct audit *audit, struct stores *stores, uint64_t packet_id);

#endif
