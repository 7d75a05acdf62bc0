/* Top-ups: a user makes an order, which is no money; the channel's own page takes the payment; whoever has seen it, the
 * channel's program or an operator, says that the order was paid, and what was paid is credited. A late payment
 * counts, and so does a second one with another reference. */
#ifndef HB_LEDGER_TOPUP_H
#define HB_LEDGER_TOPUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "ledger/external.h"
#include "mysql/db.h"

enum { TOPUP_URL_MAX = 500, TOPUP_FEN_MAX = 100000000, TOPUP_PAYMENTS_MAX = 100 };

/* A channel that takes payments on a page of its own. */
struct topup_channel {
    uint64_t id;
    struct str name, note, url; /* the note may be empty */
};

/* Where the channel takes payments; url empty: nowhere any more. ST_NOT_FOUND: no such channel, or it is demo or
 * forfeited · ST_INVALID: it is no address of a page · else as db_exec_retried. */
enum status topup_url_set(struct db *db, uint64_t channel_id, struct str url);
/* The channels that take payments, in the order of their ids, in the arena. The same errors as db_query. */
enum status topup_channels_find(struct db *db, struct arena *a, struct topup_channel **out, size_t *count);
/* Whether there is such a channel. */
enum status topup_is_offered(struct db *db, struct arena *a, bool *out);

/* A credit for an order. */
struct topup_payment {
    uint64_t transfer_id, reversed_by; /* 0: it was not reversed */
    int64_t amount_fen, created_ms;
    struct str reference;
};

struct topup {
    uint64_t id, user_id;
    struct topup_channel channel;
    int64_t amount_fen; /* as ordered */
    struct str request_key;
    bool paid;
    int64_t created_ms, expires_ms;
    int64_t paid_fen;               /* of all payments */
    struct topup_payment *payments; /* oldest first, TOPUP_PAYMENTS_MAX at most */
    size_t payment_count;
};

/* A new order. key: of the request, once for each user; a repeat finds the first order (*repeated). ST_EXISTS: the key
 * belongs to an order of another amount or channel · ST_INVALID: the amount or key is wrong, or 20 orders of the last
 * hour wait · ST_NOT_FOUND: the channel takes no payments, or the user is being deleted · ST_UNKNOWN: the outcome could
 * not be read · else as db_exec_retried. */
enum status topup_open(struct db *db, struct arena *a, struct topup *order, bool *repeated, int64_t now_ms);
/* The order of this user and key, with its payments. ST_NOT_FOUND: there is none · else as db_query. */
enum status topup_ordered(struct db *db, struct arena *a, uint64_t user_id, struct str key, struct topup *out);

/* The order of this number and user, with its payments. ST_NOT_FOUND: there is none · else as db_query. */
enum status topup_find(struct db *db, struct arena *a, uint64_t user_id, uint64_t id, struct topup *out);
/* The user's orders below this number (0: from the newest), newest first, without their payments. */
enum status topup_list(struct db *db, struct arena *a, uint64_t user_id, uint64_t below, size_t limit,
                       struct topup **out, size_t *count);

/* ---- for operators ---- */

/* An order as `hongbao money topups` lists it. */
struct topup_waiting {
    uint64_t id, user_id, channel_id;
    struct str username, channel;
    int64_t amount_fen, created_ms, expires_ms;
};
/* Waiting ones, oldest first, after the number `after`, limit at most: pages by key. In the arena. */
enum status topup_waiting_find(struct db *db, struct arena *a, uint64_t after, size_t limit, struct topup_waiting **out,
                               size_t *count);

/* A payment of an order, as somebody says it. */
struct topup_paid {
    uint64_t id;
    uint64_t channel_id; /* an order of another channel counts as none; 0: of any channel */
    struct str reference;
    int64_t amount_fen; /* 0: as ordered */
    /* out: */
    struct topup_waiting order;    /* also with ST_EXISTS and ST_INVALID, when there is such an order */
    struct external_transfer made; /* the credit */
    bool repeated;                 /* it was made before, with the same contents */
    bool is_leaving;               /* with ST_NOT_FOUND: there is the order, but its user is being deleted */
};
/* Credits the payment, once for each reference of the channel. ST_EXISTS: the reference belongs to another transfer ·
 * ST_INVALID: the amount, a text or the author is wrong · ST_NOT_FOUND: no such order, or is_leaving · ST_DENIED,
 * ST_LIMITED, ST_UNKNOWN, else: as external_move. */
enum status topup_paid(struct db *db, struct arena *a, struct topup_paid *paid, const struct external_author *author,
                       int64_t now_ms);

#endif
