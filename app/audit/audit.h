/* The audit checks every invariant of the money: in one consistent snapshot of the tables, and in Redis.
 *
 * It writes nothing. Grabs that Redis accepted after the snapshot, or that wait in its streams, are recognized by their
 * event ids: they are counted as unsettled and are no violation. A packet that looks wrong in Redis is compared again a
 * few times before it is reported, because it may have changed between the two reads. */
#ifndef HB_AUDIT_AUDIT_H
#define HB_AUDIT_AUDIT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/status.h"
#include "live/stores.h"

/* X(identifier, id, sentence) */
#define AUDIT_CHECKS(X)                                                                                                \
    X(AUDIT_I1, "I1", "grabbed + remaining + refunded = total + returned, for every packet")                           \
    X(AUDIT_I2, "I2", "every share is grabbed at most once, in order")                                                 \
    X(AUDIT_I3, "I3", "every user grabs a packet at most once, and only one meant for them")                           \
    X(AUDIT_I4, "I4", "every acknowledged grab is in the tables once, and pays a wallet")                              \
    X(AUDIT_I5, "I5",                                                                                                  \
      "all balances sum to zero; each is the sum of its transfers and grabs; only channels are below zero")            \
    X(AUDIT_I6, "I6", "a closed packet's escrow is empty, with one refund at most")                                    \
    X(AUDIT_I7, "I7", "every grab is the share that the packet's seed promised")                                       \
    X(AUDIT_I8, "I8", "Redis and MySQL agree on every open packet")                                                    \
    X(AUDIT_SITE, "site", "tables and Redis are of one site, and neither is an older copy")                            \
    X(AUDIT_MONTHS, "months", "the totals of each month are the sums of their rows")                                   \
    X(AUDIT_RETURNS, "returns", "the money of every share given back is where its row says")                           \
    X(AUDIT_THANKS, "thanks", "thanks are of the user who has the share, and each packet counts its own")              \
    X(AUDIT_ORIGIN, "origin", "all money comes from a channel, and was asked for; no account is nobody's")             \
    X(AUDIT_WITHDRAWALS, "withdrawals",                                                                                \
      "account 3 has the money of the pending withdrawals, and each has its transfers")                                \
    X(AUDIT_SERVICES, "services",                                                                                      \
      "what came by HTTP was asked for by a service that may do so, and its hours have the sums")                      \
    X(AUDIT_TIMES, "times", "no row is of the future, and no packet, token or lease lasts longer than it may")         \
    X(AUDIT_SESSIONS, "sessions",                                                                                      \
      "every session and token copy is of a user who has it; what should end has a time to live")                      \
    X(AUDIT_FUNCTIONS, "functions", "no function of this version has another text in Redis")                           \
    X(AUDIT_DELETED, "deleted", "of a deleted user nothing is left but the ledger")                                    \
    X(AUDIT_LETTERS, "letters", "no event waits among the dead letters")

#define AUDIT_CHECK_ID(id, name, sentence) id,
enum audit_check { AUDIT_CHECKS(AUDIT_CHECK_ID) AUDIT_CHECK_COUNT };
#undef AUDIT_CHECK_ID

enum {
    AUDIT_ROWS_MAX = 20, /* violations kept for the report, per check; all are counted */
    AUDIT_SUBJECT_MAX = 64,
    AUDIT_CURSOR_MAX = 32, /* a cursor of Redis's SCAN, a blank and the number of the primary, as text with the NUL */
    AUDIT_DETAIL_MAX = 160 /* bytes with the NUL, as AUDIT_SUBJECT_MAX */
};

/* One violation. */
struct audit_row {
    char subject[AUDIT_SUBJECT_MAX]; /* "packet 123", "account 10001" */
    char detail[AUDIT_DETAIL_MAX];
};

struct audit {
    /* set by the caller */
    uint64_t packet_id;  /* audit this packet only; 0: all of them, sums of all balances, months and withdrawals */
    uint32_t range_rows; /* packets or accounts that one SQL check reads at a time; 0: the default */
    bool ends;           /* sessions and copies of tokens that nothing explains are ended; only the watch may */
    bool demo;           /* there may be deposits; audit_run sets it by the configuration */
    /* result */
    uint64_t packets;   /* read from the tables */
    uint64_t unsettled; /* grabs that wait in the streams */
    struct {
        uint64_t violations;
        struct audit_row rows[AUDIT_ROWS_MAX]; /* the first ones */
    } checks[AUDIT_CHECK_COUNT];
};

/* Runs all checks. ST_OK: every check ran, the violations are in out; ST_UNAVAILABLE: a store is unreachable;
 * ST_NO_MEMORY. */
enum status audit_run(struct stores *stores, struct audit *out);
/* Whether no check found a violation. */
bool audit_clean(const struct audit *audit);
/* Writes the report as text or JSON. False: out of memory, or the JSON could not be written completely. */
bool audit_print(const struct audit *audit, bool json, FILE *out);

const char *audit_check_name(enum audit_check check); /* "I1" */

#endif
