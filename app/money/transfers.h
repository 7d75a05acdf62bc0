/* The transfers of a channel, in the order in which they were made, page by page. This is the order of their ids: a
 * transfer that is made later has a larger one, although its time may be earlier (migration 0036). So whoever goes on
 * behind the last row that he has misses none. */
#ifndef HB_MONEY_TRANSFERS_H
#define HB_MONEY_TRANSFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "mysql/db.h"

enum { TRANSFERS_PAGE_ROWS = 500 };

/* A row, as an operator reads it. The texts are in the arena. */
struct transfer_line {
    uint64_t id;
    int64_t created_ms;
    struct str kind; /* credit, debit, post or reverse */
    struct str username;
    int64_t amount_fen;
    struct str reference, memo, author, interface;
    uint64_t reverses;          /* 0: none */
    bool comes_in;              /* from the channel into a wallet */
    struct str other_reference; /* of the transfer that this one reverses, or that reverses this one; empty: none */
    int64_t other_ms;           /* the time of that one */
};

/* Which rows: of this channel, from from_ms up to, but not including, until_ms. Zero the others at first. */
struct transfers_query {
    uint64_t channel_id;
    int64_t from_ms, until_ms;
    struct str reference; /* only the transfer of this reference; STR_NONE: all */
    uint64_t after;       /* the last row of the page before */
};

/* Reads the next page, and moves the query behind it. *count 0: there are no more. The same errors as db_query. */
enum status transfers_page(struct db *db, struct arena *a, struct transfers_query *query, struct transfer_line **out,
                           size_t *count);
/* The transfers of the channel that have one of these references, which are valid, in the order of the references;
 * count is not 0. In the arena. The same errors as db_query. */
enum status transfers_find(struct db *db, struct arena *a, uint64_t channel_id, const struct str *references,
                           size_t count, struct transfer_line **out, size_t *found);

#endif
