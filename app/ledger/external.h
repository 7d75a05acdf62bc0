/* Transfers from and to a channel: credits, debits, and their reversals. Each has a reference, which is unique in its
 * channel: a request may be repeated, and moves its money once. ST_OK for what was made before means that MariaDB can't
 * lose it any more (mysql/db_durable.h); otherwise it is ST_UNKNOWN. */
#ifndef HB_LEDGER_EXTERNAL_H
#define HB_LEDGER_EXTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "ledger/ledger.h"
#include "mysql/db.h"

enum { REFERENCE_MAX = 64, MEMO_CODE_POINTS_MAX = 400, EXTERNAL_ROWS_MAX = 1000 };

/* True for 1 to REFERENCE_MAX characters of printable ASCII, without a blank at either end. */
bool reference_is_valid(struct str reference);

/* Who asks for a transfer, and by what. AUTHOR_LOG_MAX: bytes of the name, quoted for the log. */
enum { AUTHOR_LOG_MAX = 256 };
enum external_interface {
    INTERFACE_COMMAND,
    INTERFACE_IMPORT,
    INTERFACE_HTTP,
    INTERFACE_PAGE,
    EXTERNAL_INTERFACE_COUNT
};
struct external_author {
    struct str name; /* of a person or program; not empty */
    enum external_interface interface;
    struct str token_hash; /* by a service (ledger/service.h): the SHA-256 of its token; STR_NONE: not by one */
};

/* One credit or debit. */
struct external_row {
    uint64_t user_id;
    int64_t amount_fen;
    struct str reference, memo;
    /* out: */
    uint64_t transfer_id;
    bool repeated; /* it was made before, with the same contents */
    bool differs;  /* with ST_EXISTS: the reference belongs to a transfer with other contents: */
    uint64_t other_id;
    enum transfer_kind other_kind;
    int64_t other_fen;
};

/* Looks which rows are made: sets transfer_id of these rows, and repeated; sorts the pointers by reference. ST_EXISTS:
 * some differ · else as db_query. */
enum status external_look(struct db *db, struct arena *a, enum transfer_kind kind, uint64_t channel_id,
                          struct external_row **rows, size_t count);

/* Makes the credits or debits (TRANSFER_CREDIT, TRANSFER_DEBIT) that are not made yet: all of them or none. rows: 1 to
 * EXTERNAL_ROWS_MAX, by a service one; it sorts them by user. After a lost reply to COMMIT it looks what was made.
 * ST_EXISTS: rows with differs belong to other transfers, or two rows have the same reference; nothing was done ·
 * ST_INVALID: an amount, a reference, a memo or the author is wrong, or a wallet or the channel forfeited can't pay ·
 * ST_NOT_FOUND: no such channel or user, or a user is being deleted · ST_DENIED, ST_LIMITED: the service's token does
 * not allow it, or its limit of a day · ST_UNKNOWN: the outcome could not be read · else as db_transaction: nothing was
 * done. */
enum status external_move(struct db *db, struct arena *a, enum transfer_kind kind, uint64_t channel_id,
                          struct external_row *rows, size_t count, const struct external_author *author,
                          int64_t now_ms);

/* A transfer of a channel as it is stored. */
struct external_transfer {
    uint64_t id;
    enum transfer_kind kind; /* credit, debit, post or reverse */
    uint64_t user_id;        /* whose wallet; of a post, whose withdrawal */
    int64_t amount_fen;
    struct str reference, memo, author;
    enum external_interface interface;
    uint64_t reverses;    /* the transfer that it corrects; 0: none */
    uint64_t reversed_by; /* 0: none */
    int64_t created_ms;
};

/* By its reference, in the arena. ST_NOT_FOUND: there is none · else as db_query. */
enum status external_find(struct db *db, struct arena *a, uint64_t channel_id, struct str reference,
                          struct external_transfer *out);

/* A reversal: what it does with a credit, debit or post, once. */
struct reversal {
    uint64_t transfer_id;
    struct str reference, memo;
    /* out: */
    uint64_t channel_id;           /* of that transfer */
    struct str channel;            /* its name, in the arena */
    struct external_transfer made; /* with ST_EXISTS: the transfer that is in the way */
    bool repeated;
    bool is_leaving; /* with ST_NOT_FOUND: there is such a transfer, but its user is being deleted */
};
/* ST_EXISTS: the transfer was reversed by another reference, or the reference belongs to another transfer · ST_INVALID:
 * the wallet or the channel forfeited can't pay, or a text is wrong · ST_NOT_FOUND: no such transfer that can be
 * reversed, or is_leaving · ST_UNKNOWN, else: as external_move. */
enum status external_reverse(struct db *db, struct arena *a, struct reversal *r, const struct external_author *author,
                             int64_t now_ms);

#endif
