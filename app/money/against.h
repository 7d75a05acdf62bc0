/* Compares a channel with its own list (outside_list.h), in one snapshot, and names each difference: after a backup
 * was restored the list knows payments that the tables have lost. Rows are found by their reference, whatever their
 * times: a payment has one time outside and another one here. */
#ifndef HB_MONEY_AGAINST_H
#define HB_MONEY_AGAINST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "money/outside_list.h"
#include "money/payment_file.h"
#include "money/transfers.h"
#include "mysql/db.h"

enum difference_kind {
    DIFFERENCE_MISSING,  /* in the list, and not here */
    DIFFERENCE_UNLISTED, /* here, and not in the list */
    DIFFERENCE_AMOUNT,   /* the amounts differ */
    DIFFERENCE_USER,     /* another user has or had the money here */
    DIFFERENCE_REVERSED, /* the list has it the other way round, too or alone; here it is not reversed */
    DIFFERENCE_TWICE,    /* the list has the reference in an earlier row, too, in the same way */
    DIFFERENCE_KIND_COUNT
};
/* "missing", …: the word in CSV and JSON. Static storage. */
const char *difference_kind_name(enum difference_kind kind);

/* What is known about a missing row beside what the list says. */
struct difference_hint {
    uint64_t user_id;      /* 0: no user is named, or there is none of this name */
    struct str username;   /* of this user */
    uint64_t withdrawal;   /* a pending one that the row may have paid; 0: none */
    struct str withdrawer; /* its user; when the list names no user, this is a guess by the amount */
    uint64_t order;        /* of a top-up that the row may have paid; 0: none */
};

struct difference {
    enum difference_kind kind;
    struct listed row;         /* line 0: the list has none */
    struct transfer_line here; /* id 0: there is none, or it was not looked for */
    struct difference_hint hint;
};

struct against {
    struct payment_file file; /* author is not used; rows, faults, stopped_line and why are */
    uint64_t channel_id;
    int64_t since_ms, until_ms; /* transfers of this time have to be in the list, without until_ms */
    /* Takes a difference, whose texts are in the arena. In the order of the list, then of the transfers. Another status
     * than ST_OK ends the comparison. */
    enum status (*found)(void *ctx, struct arena *a, const struct difference *d);
    void *ctx;
    /* out: */
    uint64_t here; /* transfers of that time */
    uint64_t differences;
};

/* Reads the list alone, and prints its wrong rows. ST_INVALID: it can't be compared · else as csv_reader_new. */
enum status against_check(struct against *g);
/* Compares. Keeps 16 to 37 bytes of each row of the list. ST_INVALID: the list has become wrong · ST_CONFLICT: the
 * snapshot was lost after differences were found · else as csv_reader_new and db_snapshot. */
enum status against_compare(struct against *g, struct db *db);

#endif
