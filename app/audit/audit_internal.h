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

/* SQL of the rules of AUDIT_ORIGIN. A row t of transfer and its packet p, or NULLs: whether it was asked for, and the
 * detail if not. Each has one parameter, whether there may be deposits. */
#define AUDIT_TRANSFER_ASKED                                                                                           \
    "COALESCE(CASE t.kind"                                                                                             \
    " WHEN 'deposit' THEN ? AND t.debit_id = 1 AND t.request_key LIKE CONCAT(t.credit_id, ':_%')"                      \
    " WHEN 'send' THEN t.debit_id = p.sender_id AND t.credit_id = p.id AND t.seq = 0 AND p.request_key <> ''"          \
    " WHEN 'refund' THEN t.debit_id = p.id AND t.credit_id = p.sender_id"                                              \
    " WHEN 'forfeit' THEN t.credit_id = 1 AND EXISTS"                                                                  \
    " (SELECT 1 FROM user AS leaver WHERE leaver.id = t.debit_id AND leaver.deleting_ms > 0)"                          \
    " WHEN 'return' THEN t.credit_id IN (p.id, p.sender_id) END, FALSE)"
#define AUDIT_TRANSFER_DETAIL                                                                                          \
    "CONCAT('transfer ', t.id, ' (', t.kind, ') of ', t.amount_fen, ' from ', t.debit_id,"                             \
    " IF(t.kind = 'deposit' AND NOT ?, ' while demo is off', ' was never asked for'))"
/* A row a of account, and its user u or its packet p. The only bank is account 1. */
#define AUDIT_BANK           "a.kind = 'bank' AND a.id <> 1"
#define AUDIT_BANK_DETAIL    "CONCAT('is a bank, balance ', a.balance_fen)"
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
