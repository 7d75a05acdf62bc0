/* The proof that the money is right: every invariant, from the tables at one instant and from Redis.
 *
 * Nothing is written anywhere. The tables are read in one consistent snapshot; what Redis has done since then, or what
 * waits in its streams, is told apart by the event ids and counted, not taken for a fault. A packet that looks wrong
 * because it changed while we looked is looked at again before it is reported. */
#ifndef HB_OPS_AUDIT_H
#define HB_OPS_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/config.h"
#include "base/status.h"
#include "live/stores.h"

/* X(identifier, id, sentence) */
#define AUDIT_CHECKS(X)                                                                                                \
    X(AUDIT_I1, "I1", "grabbed + remaining + refunded = total, for every packet")                                      \
    X(AUDIT_I2, "I2", "every share is grabbed at most once, in order")                                                 \
    X(AUDIT_I3, "I3", "every user grabs a packet at most once, and only one meant for them")                           \
    X(AUDIT_I4, "I4", "every acknowledged grab is in the tables once, with its transfer")                              \
    X(AUDIT_I5, "I5", "all balances sum to zero, and each is the sum of its transfers")                                \
    X(AUDIT_I6, "I6", "a closed packet's escrow is empty, with one refund at most")                                    \
    X(AUDIT_I7, "I7", "every grab is the share that the packet's seed promised")                                       \
    X(AUDIT_I8, "I8", "Redis and MySQL agree on every open packet")                                                    \
    X(AUDIT_YEARS, "years", "yearly and monthly totals are the sums of their rows")                                    \
    X(AUDIT_LETTERS, "letters", "no event waits among the dead letters")

#define AUDIT_CHECK_ID(id, name, sentence) id,
enum audit_check { AUDIT_CHECKS(AUDIT_CHECK_ID) AUDIT_CHECK_COUNT };
#undef AUDIT_CHECK_ID

enum { AUDIT_ROWS_MAX = 20, AUDIT_SUBJECT_MAX = 64, AUDIT_DETAIL_MAX = 160 }; /* rows that are kept, per check */

struct audit_row {
    char subject[AUDIT_SUBJECT_MAX]; /* "packet 123", "account 10001" */
    char detail[AUDIT_DETAIL_MAX];
};

struct audit {
    uint64_t packet_id; /* only this one, quick; 0: all, and I5's grand total and the years */
    uint32_t stretch;   /* rows of packets and accounts looked at together; 0: as many as is fast */
    uint64_t packets;   /* looked at */
    uint64_t unsettled; /* grabs that wait in the streams */
    struct {
        uint64_t violations;
        struct audit_row rows[AUDIT_ROWS_MAX]; /* the first ones */
    } checks[AUDIT_CHECK_COUNT];
};

/* Fills out (packet_id is set by the caller). ST_OK: it could look at everything; ST_UNAVAILABLE: a store is away;
 * ST_NO_MEMORY. */
enum status audit_run(struct stores *stores, struct audit *out);
bool audit_clean(const struct audit *audit);
/* False: there was no memory to write it, or out took not all of it. */
bool audit_print(const struct audit *audit, bool json, FILE *out);

/* `audit [--json] [--packet ID]`; ID as in links, or decimal. 0: clean, 1: violations, 2: could not look. */
int audit_command(const struct config *config, int argc, char **argv);

/* ---- for its parts ---- */

void audit_note(struct audit *audit, enum audit_check check, const char *kind, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* Everything that the tables alone can tell. Inside db_snapshot. */
enum status audit_tables(struct audit *audit, struct db *db);
/* The part of it that recomputes every packet's shares; a is reset. */
enum status audit_draws(struct audit *audit, struct db *db, struct arena *a);
/* Packets that Redis has or should have, against the tables. */
enum status audit_live(struct audit *audit, struct stores *stores);
/* One packet, one look: what is wrong may be so only because it changed meanwhile. Nothing when it is closed. */
enum status audit_live_once(struct audit *audit, struct stores *stores, uint64_t packet_id);
const char *audit_check_name(enum audit_check check); /* "I1" */

#endif
