/* The wallet page: balance, and the statement of the account, newest first: its transfers, and the grabs that it
 * received. */
#ifndef HB_WALLET_STATEMENT_H
#define HB_WALLET_STATEMENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/value.h"
#include "ledger/ledger.h"
#include "mysql/db.h"
#include "web/exchange.h"
#include "web/fields.h"
#include "web/list_key.h"

#define STATEMENT_PAGE_ENTRIES 20

/* Of a credit, debit, withdrawal, void or reversal; name.ptr is NULL: none. */
struct statement_channel {
    struct str name, note; /* of the channel; the note may be empty */
    struct str memo;       /* of a void: the reason; of a withdrawal: empty */
    struct str reference;  /* ptr is NULL of a withdrawal and a void: they have none */
    struct str state;      /* of a withdrawal: its name; else ptr is NULL */
    bool is_topup;         /* a credit that pays an order of a top-up */
};

struct statement_entry {
    /* With created_ms the key of the entry: the transfer's id, or the packet's id of a grab. A user has one grab of a
     * packet at most, and packet ids are above 2^50, so no two entries of an account have the same key. */
    uint64_t id;
    enum transfer_kind kind; /* TRANSFER_KIND_COUNT: one that only a later version knows */
    int64_t amount_fen;      /* signed change of the balance */
    uint64_t packet_id;      /* 0: none */
    uint64_t other_id;       /* of a transfer: the account on its other side */
    int64_t created_ms;
    struct statement_channel channel;
};

/* What is read: one page of the account's entries, at most limit (≥ 1) below the key (not given: the first page). */
struct statement_query {
    uint64_t account_id;
    struct list_key below;
    size_t limit;
    struct clock_date month; /* whose sums are read, too; its day does not matter. All zero: none */
};

struct statement {
    int64_t balance_fen;
    int64_t received_fen, sent_fen;  /* in the month */
    bool withdraws;                  /* a channel pays withdrawals */
    uint64_t pending_count;          /* of withdrawals that are not paid */
    struct statement_entry *entries; /* in the arena */
    size_t count;
    bool more; /* there are older entries: the last one is the key of the next page */
};

/* The arena holds the rows. ST_NOT_FOUND: no such account · ST_NO_MEMORY · else as db_query. */
enum status statement_read(struct db *db, struct arena *a, const struct statement_query *query, struct statement *out);
/* Appends the entries to a list, as `entries` of the model below. */
void statement_entries_model(struct exchange *x, struct model *m, struct value *list, const struct statement *s);

/* Adds kind, amount_fen and their page-only members, as an entry of the model below has them. */
void statement_kind_model(struct model *m, struct value *o, enum transfer_kind kind, int64_t amount_fen);

/* GET /wallet?before=KEY: pages/wallet. ?amount=AMOUNT&next=PATH fills the deposit form. A malformed key: 400.
 *
 * Model:
 *   balance_fen   number;                      page-only: balance_text "12.34"
 *   entries       [ { kind         "deposit" | "send" | "grab" | "refund" | "return" | "credit" | "debit" |
 *                                  "withdraw" | "void" | "reverse" | "other" ("forfeit" is the last entry of a
 *                                  deleted user, who has no page any more; only a later version knows "other")
 *                     amount_fen   signed number
 *                     packet       26-character id or null
 *                     transfer     the number in /wallet/transfers/ID; null of a grab
 *                     channel, memo, reference   of a credit, debit or reversal: the channel's name, what was
 *                                  said, and the reference of the payment; of a void the channel's name, and in memo
 *                                  the reason; of a withdrawal the channel's name; absent for others
 *                     state        of a withdrawal: "pending" | "posted" | "voided"; absent for others
 *                     created_at   RFC 3339
 *                     page-only:   is_deposit, is_send, is_grab, is_refund, is_return, is_credit, is_debit,
 *                                  is_withdraw, is_void, is_reverse, is_other,
 *                                  channel_text: the channel's note, or its name,
 *                                  is_topup: a credit that pays an order of a top-up,
 *                                  amount_text "+12.34" | "-12.34", income true when positive,
 *                                  packet_url "/p/ID" (absent without a packet), else transfer_url,
 *                                  is_pending (of a withdrawal), created_at_text "2026-11-20 16:00",
 *                                  is_back: refund, return or void,
 *                                  part_begins { first, today, yesterday, from (RFC 3339), name of the month,
 *                                  heading_year of another year } on the first entry of today, of yesterday and of
 *                                  each earlier month, greeting of its packet, shares { count,
 *                                  count_one } of a shared packet that was sent, and whom the entry is about, each {
 *                                  nickname (empty: a deleted user) } with a face { initial, hue }: from (the sender of
 *                                  a grab), to (of an exclusive packet that was sent or refunded), returned_by (who
 *                                  gave a share back), returned_to (to whom the user gave one back) } ]
 *   withdraws     true: a channel pays withdrawals, so there is /wallet/withdraw
 *   can_topup     true: a channel takes payments, so there is /wallet/topup
 *   receive_day   wallet/receive_day.h
 *   pending       [ { transfer, amount_fen, channel, account, created_at } ]: the newest withdrawals that are not paid;
 *                 page-only: amount_text, channel_text, url, created_at_text, in a card of the first page
 *   next          key text or null;            page-only: next_url "/wallet?before=KEY" (absent on the last page)
 *   page-only:
 *   has_entries
 *   moves         can_topup or withdraws
 *   this_month { received_text, sent_text, has_received, has_sent }: absent without any, and on later pages
 *   deposited, deposited_before    the visitor comes from a deposit (?deposited=1), or from one that was made before
 *                 (?deposited=2)
 *   form          { amount, request_key, next }: typed amount (at first from the query), the form's key, and where
 *                 it leads; presets: web/usual_amounts.h; only with site.demo,
 *                 when the deposit form is shown, posting amount and request_key (hidden) to /wallet/deposit
 * After a refused deposit (422) also: errors [ { field, message } ], error { amount?, request_key? }. */
enum step statement_show(struct exchange *x);

/* The values of the deposit form. */
struct deposit_form {
    struct str amount, request_key; /* amount: as typed */
    struct str next;                /* where the user goes afterwards; empty: the wallet */
};

/* Adds the model above to m, which the caller has initialised. before: as for statement_read. */
enum status statement_model(struct exchange *x, struct model *m, struct list_key before,
                            const struct deposit_form *deposit);

/* Adds deposited and deposited_before, of the query with which a deposit leads to its next page. */
void deposited_model(struct exchange *x, struct model *m);

/* The query of /wallet. */
extern const struct field statement_fields[];

#endif
