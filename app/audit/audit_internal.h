/* The parts of the audit. */
#ifndef HB_AUDIT_AUDIT_INTERNAL_H
#define HB_AUDIT_AUDIT_INTERNAL_H

#include "audit/audit.h"
#include "base/arena.h"
#include "base/clock.h"
#include "live/stores.h"
#include "mysql/db.h"
#include "packet/id_lease.h"
#include "user/token_store.h"

/* Records a violation of check by the subject "KIND ID" ("packet 123"); format gives the detail. */
void audit_note(struct audit *audit, enum audit_check check, const char *kind, uint64_t id, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* All checks that need the tables alone. Call it inside db_snapshot. */
enum status audit_tables(struct audit *audit, struct db *db);
/* The part of audit_tables that recomputes every packet's shares. Resets a. */
enum status audit_draws(struct audit *audit, struct db *db, struct arena *a);
/* The part of audit_tables about channels, withdrawals and services, which no account shows. Resets a. */
enum status audit_channels(struct audit *audit, struct db *db, struct arena *a);

/* Where the rows of a check go. */
struct audit_collect {
    struct audit *audit;
    enum audit_check check;
    const char *kind; /* of the subject */
};
/* A row function of db_each: notes a violation. cells: the id of the subject, the detail. ctx: an audit_collect. */
bool audit_collect_row(void *ctx, const struct str *cells, size_t columns);

/* Ids from low to high, both included. */
struct audit_range {
    uint64_t low, high;
};
typedef enum status audit_range_fn(struct audit *audit, struct db *db, const struct audit_range *r);
/* Calls each for one id range after another, each with at most range_rows rows of the table that next_sql reads: what a
 * check groups and joins then fits into the server's memory, however large the tables are. The ranges cover all
 * possible ids, so rows that refer to a missing packet are checked, too. In the audit of one packet the only range is
 * its id. next_sql: parameters are the first id and how many rows to skip. Resets a. */
enum status audit_ranges_walk(struct audit *audit, struct db *db, struct arena *a, const char *next_sql,
                              audit_range_fn *each);

/* Compares the packets that are not closed in MySQL with Redis; repeats the comparison of a packet that differs. */
enum status audit_live(struct audit *audit, struct stores *stores);
/* Compares one packet with Redis, once: a violation may only mean that the packet changed between the two reads. Does
 * nothing when the packet is closed. */
enum status audit_live_once(struct audit *audit, struct stores *stores, uint64_t packet_id);
/* Compares all sessions in Redis with the lists and the tables, and looks for other keys that nothing explains. */
enum status audit_sessions(struct audit *audit, struct stores *stores);
/* One step of it: some hundred keys from the cursor on, which begins as "0". *more: whether there is a next step. */
enum status audit_sessions_step(struct audit *audit, struct stores *stores, char cursor[AUDIT_CURSOR_MAX], bool *more);
/* Compares the functions in each primary with the program's, text by text. */
enum status audit_functions(struct audit *audit, struct stores *stores);

/* What a packet p should have in its escrow. A pool can plant numbers whose sum does not fit into BIGINT. */
#define AUDIT_REST_FEN "(CAST(p.amount_fen AS DECIMAL(20)) + p.returned_fen - p.grabbed_fen - p.refund_fen)"

/* SQL of the rules of AUDIT_ORIGIN. A row t of transfer has a row x of a channel, with its reference and an author.
 * Demo money has none. */
#define AUDIT_HAS_ROW                                                                                                  \
    "EXISTS (SELECT 1 FROM external_transfer AS x WHERE x.transfer_id = t.id AND x.channel_id <> 1"                    \
    " AND t.request_key = CONCAT(x.channel_id, ':', x.reference) AND x.author <> ''"
/* It goes the way back of r, which is a credit, debit or post of the same channel with the row o. A post goes into the
 * wallet of its withdrawal. */
#define AUDIT_IS_REVERSAL                                                                                              \
    "EXISTS (SELECT 1 FROM external_transfer AS m JOIN external_transfer AS o ON o.transfer_id = m.reverses"           \
    " JOIN transfer AS r ON r.id = o.transfer_id WHERE m.transfer_id = t.id AND m.channel_id = o.channel_id"           \
    " AND r.kind IN ('credit', 'debit', 'post') AND r.amount_fen = t.amount_fen AND t.debit_id = r.credit_id"          \
    " AND t.credit_id = IF(r.kind = 'post', (SELECT user_id FROM withdrawal WHERE end_id = r.id), r.debit_id))"
/* A row t of transfer and its packet p, or NULLs: whether it was asked for, and the detail if not. Each has one
 * parameter, whether there may be deposits. AUDIT_WITHDRAWALS compares amounts and accounts of withdrawals. */
#define AUDIT_TRANSFER_ASKED                                                                                           \
    "COALESCE(CASE t.kind"                                                                                             \
    " WHEN 'deposit' THEN ? AND t.debit_id = 1 AND t.request_key LIKE CONCAT(t.credit_id, ':_%')"                      \
    " AND (SELECT kind FROM account WHERE id = t.credit_id) = 'wallet'"                                                \
    " WHEN 'send' THEN t.debit_id = p.sender_id AND t.credit_id = p.id AND t.seq = 0 AND p.request_key <> ''"          \
    " WHEN 'refund' THEN t.debit_id = p.id AND t.credit_id = p.sender_id"                                              \
    " WHEN 'forfeit' THEN t.credit_id IN (1, 2) AND EXISTS"                                                            \
    " (SELECT 1 FROM user AS leaver WHERE leaver.id = t.debit_id AND leaver.deleting_ms > 0)"                          \
    " WHEN 'credit' THEN (SELECT kind FROM account WHERE id = t.credit_id) = 'wallet'"                                 \
    " AND " AUDIT_HAS_ROW " AND x.channel_id = t.debit_id AND x.reverses IS NULL)"                                     \
    " WHEN 'debit' THEN (SELECT kind FROM account WHERE id = t.debit_id) = 'wallet'"                                   \
    " AND " AUDIT_HAS_ROW " AND x.channel_id = t.credit_id AND x.reverses IS NULL)"                                    \
    " WHEN 'withdraw' THEN EXISTS (SELECT 1 FROM withdrawal AS h WHERE h.hold_id = t.id)"                              \
    " WHEN 'post' THEN " AUDIT_HAS_ROW " AND x.channel_id = t.credit_id AND x.reverses IS NULL)"                       \
    " AND EXISTS (SELECT 1 FROM withdrawal AS h WHERE h.end_id = t.id AND h.state = 'posted')"                         \
    " WHEN 'void' THEN EXISTS (SELECT 1 FROM withdrawal AS h WHERE h.end_id = t.id AND h.state = 'voided')"            \
    " WHEN 'reverse' THEN " AUDIT_HAS_ROW ") AND " AUDIT_IS_REVERSAL                                                   \
    " WHEN 'return' THEN t.credit_id IN (p.id, p.sender_id) END, FALSE)"
#define AUDIT_TRANSFER_DETAIL                                                                                          \
    "CONCAT('transfer ', t.id, ' (', t.kind, ') of ', t.amount_fen, ' from ', t.debit_id,"                             \
    " IF(t.kind = 'deposit' AND NOT ?, ' while demo is off', ' was never asked for'))"
/* A row a of account, and its user u or its packet p. The only bank is account 1, the only pending one is account 3,
 * and only accounts of table channel may be below zero, except the channel forfeited, account 2. */
#define AUDIT_KIND_IS_WRONG                                                                                            \
    "((a.kind = 'bank') <> (a.id = 1) OR (a.kind = 'pending') <> (a.id = 3)"                                           \
    " OR (a.kind IN ('bank', 'channel')) <> EXISTS (SELECT 1 FROM channel AS c WHERE c.id = a.id)"                     \
    " OR ((a.kind NOT IN ('bank', 'channel') OR a.id = 2) AND a.balance_fen < 0))"
#define AUDIT_KIND_DETAIL                                                                                              \
    "CONCAT('has the kind ', a.kind, IF(EXISTS (SELECT 1 FROM channel AS c WHERE c.id = a.id), ', is a channel',"      \
    " ', is no channel'), ', balance ', a.balance_fen)"
#define AUDIT_NOBODYS        "(a.kind = 'wallet' AND u.id IS NULL OR a.kind = 'escrow' AND p.id IS NULL)"
#define AUDIT_NOBODYS_DETAIL "CONCAT('is a ', a.kind, ' of nobody, balance ', a.balance_fen)"

/* What a time of a row may be at most, in ms: ten minutes ahead of the server's clock, which SET timestamp does not
 * change. And how long a packet may be open after it was sent: 30 days until it opens, and 30 (packet/rules.h,
 * config/config.h). */
#define AUDIT_NOW_AT_MOST "((UNIX_TIMESTAMP(SYSDATE(3)) + 600) * 1000)"
#define AUDIT_PACKET_IS_LATE                                                                                           \
    "(GREATEST(p.created_ms, COALESCE(p.ended_ms, 0), COALESCE(p.finished_ms, 0), COALESCE(p.closed_ms, 0)) >"         \
    " " AUDIT_NOW_AT_MOST " OR p.expires_ms > p.created_ms + 60 * 86400000)"
#define AUDIT_PACKET_LATE_DETAIL                                                                                       \
    "CONCAT('sent at ', p.created_ms, ', expires at ', p.expires_ms, ', ended, finished, closed at ',"                 \
    " CONCAT_WS(', ', p.ended_ms, p.finished_ms, p.closed_ms))"
/* A row t of token that was made in the future, or ends later than the form allows. Parameter: AUDIT_TOKEN_MS_MAX. */
#define AUDIT_TOKEN_IS_LATE     "(t.created_ms > " AUDIT_NOW_AT_MOST " OR t.expires_ms > t.created_ms + ?)"
#define AUDIT_TOKEN_LATE_DETAIL "CONCAT('of user ', t.user_id, ', made at ', t.created_ms, ', ends at ', t.expires_ms)"
#define AUDIT_TOKEN_MS_MAX      DB_I64(INT64_C(86400000) * TOKEN_DAYS_MAX)
/* A row l of instance_lease that is taken for longer than a lease lasts, by the clock of the pool that has taken it;
 * each row when no number is free, so that nobody can send. Parameter: AUDIT_LEASE_MS_MAX. */
#define AUDIT_LEASE_IS_LONG                                                                                            \
    "(l.until_ms > UNIX_TIMESTAMP(SYSDATE(3)) * 1000 + ?"                                                              \
    " OR (SELECT MIN(until_ms) FROM instance_lease) > UNIX_TIMESTAMP(SYSDATE(3)) * 1000)"
#define AUDIT_LEASE_LONG_DETAIL "CONCAT('the instance number is taken until ', l.until_ms)"
#define AUDIT_LEASE_MS_MAX      DB_I64(ID_LEASE_MS + CLOCKS_DIFFER_MS)

/* Logs the first violation of each check; returns the number of all violations. */
uint64_t audit_violations_log(const struct audit *audit);

#endif
