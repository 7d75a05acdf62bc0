/* The report of the money: what came in by each channel and went out, and the proof that nothing is missing. */
#ifndef HB_MONEY_REPORT_H
#define HB_MONEY_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "ledger/channel.h"
#include "mysql/db.h"

enum { REPORT_DAYS_MAX = 3660 };

/* The balance of a channel's account at the beginning and the end of a time, and what moved it, each as a sum of 0 or
 * more: closing = opening - credits - deposits - reversals in + debits + posts + forfeits + reversals out. */
struct report_flows {
    int64_t opening_fen;
    int64_t credits_fen, deposits_fen; /* into wallets; deposits are demo money */
    int64_t reversed_in_fen;           /* debits and posts that were reversed: into wallets */
    int64_t debits_fen, posts_fen;     /* out of wallets, and out of pending withdrawals */
    int64_t forfeits_fen;              /* what deleted users have left */
    int64_t reversed_out_fen;          /* credits that were reversed: out of wallets */
    int64_t closing_fen;
};

struct report_channel {
    struct channel channel;
    struct report_flows flows;
};

/* A day on which something moved in a channel. */
struct report_day {
    size_t channel;  /* its index */
    int64_t from_ms; /* the first instant of the day */
    struct report_flows flows;
    struct report_day *next;
};

struct report {
    int64_t from_ms, until_ms; /* in: the time, without until_ms; 0 and INT64_MAX: all */
    bool is_since;             /* in: from_ms may be within a day, and is shown with its time */
    /* in: the first instants of the days of that time, and of the day behind them; NULL: no days */
    const int64_t *day_starts;
    size_t day_count;
    uint64_t only_id; /* in: the flows of this channel alone are read; 0: of all */
    /* out: */
    struct report_channel *channels;
    size_t channel_count;
    struct report_day *days; /* by day, then by channel */
    /* As of now, whatever the time: */
    int64_t channels_fen, wallets_fen, escrows_fen, pending_fen;
    int64_t read_ms;  /* when it was read, by the server's clock */
    bool is_balanced; /* the four sums are 0 together, and with until_ms INT64_MAX every closing is the balance */
};

/* Reads it in one snapshot, into the arena. The same errors as db_query; ST_CORRUPT also: a channel has a transfer of
 * another kind. */
enum status report_read(struct db *db, struct arena *a, struct report *r);
/* The same of the channels alone: without days, and without what all accounts have, which takes longer. */
enum status report_channels_read(struct db *db, struct arena *a, struct report *r);

#endif
