/* Money from outside: rows of external_transfer without their transfer, withdrawals, orders, services, and times of
 * these tables. That each transfer has its rows is a rule of AUDIT_ORIGIN (audit_internal.h). */
#include "audit/audit_internal.h"

#include "base/array.h"

/* Each row belongs to a transfer of the right kind; AUDIT_ORIGIN checks what it says of that. */
static const char ROWS_SQL[] =
    "SELECT x.transfer_id, CONCAT('has reference ', x.reference, ' of channel ', x.channel_id, ', and ',"
    " COALESCE(CONCAT('is a ', t.kind), 'does not exist'))"
    " FROM external_transfer x LEFT JOIN transfer t ON t.id = x.transfer_id WHERE x.transfer_id BETWEEN ? AND ?"
    " AND COALESCE(t.kind NOT IN ('credit', 'debit', 'post', 'reverse'), TRUE)";

/* A routine may write the two times some moments apart. */
static const char ROW_TIMES_SQL[] =
    "SELECT t.id, CONCAT('was made at ', t.created_ms, ', its reference at ', x.created_ms)"
    " FROM external_transfer x JOIN transfer t ON t.id = x.transfer_id WHERE x.transfer_id BETWEEN ? AND ?"
    " AND (x.created_ms > " AUDIT_NOW_AT_MOST " OR x.created_ms NOT BETWEEN t.created_ms - 600000"
    " AND t.created_ms + 600000)";

/* The hold h takes the amount out of the wallet. The end e moves it to the channel, with a row x, or back. */
static const char WITHDRAWALS_SQL[] =
    "SELECT w.id, CONCAT(w.state, ', ', w.amount_fen, ' of user ', w.user_id, ' to channel ', w.channel_id, '; held: ',"
    " COALESCE(CONCAT(h.kind, ' ', h.amount_fen, ' ', h.debit_id, '-', h.credit_id), 'nothing'), '; ended: ',"
    " COALESCE(CONCAT(e.kind, ' ', e.amount_fen, ' ', e.debit_id, '-', e.credit_id), 'nothing'))"
    " FROM withdrawal w LEFT JOIN transfer h ON h.id = w.hold_id LEFT JOIN transfer e ON e.id = w.end_id"
    " LEFT JOIN external_transfer x ON x.transfer_id = w.end_id WHERE w.id BETWEEN ? AND ? AND NOT COALESCE("
    "h.kind = 'withdraw' AND h.debit_id = w.user_id AND h.credit_id = 3 AND h.amount_fen = w.amount_fen"
    " AND h.request_key = CONCAT(w.user_id, ':', w.request_key) AND w.channel_id <> 1"
    " AND IF(w.state = 'pending', w.end_id IS NULL, w.author <> '' AND e.debit_id = 3 AND e.amount_fen = w.amount_fen)"
    " AND CASE w.state WHEN 'pending' THEN TRUE"
    " WHEN 'posted' THEN e.kind = 'post' AND e.credit_id = w.channel_id AND x.channel_id = w.channel_id"
    " WHEN 'voided' THEN e.kind = 'void' AND e.credit_id = w.user_id AND x.transfer_id IS NULL END, FALSE)";

static const char WITHDRAWAL_TIMES_SQL[] =
    "SELECT id, CONCAT('was asked for at ', created_ms, ', ended at ', COALESCE(ended_ms, '-')) FROM withdrawal"
    " WHERE id BETWEEN ? AND ? AND GREATEST(created_ms, COALESCE(ended_ms, 0)) > " AUDIT_NOW_AT_MOST;

static const char CHANNEL_TIMES_SQL[] = "SELECT id, CONCAT('channel ', name, ' was made at ', created_ms) FROM channel"
                                        " WHERE id BETWEEN ? AND ? AND created_ms > " AUDIT_NOW_AT_MOST;

/* A payment is a credit of the order's user from the order's channel. */
static const char PAYMENTS_SQL[] =
    "SELECT p.transfer_id, CONCAT('pays order ', p.topup_id, ' of ', COALESCE(CONCAT('user ', o.user_id,"
    " ' and channel ', o.channel_id), 'nobody'), ', and is ',"
    " COALESCE(CONCAT(t.kind, ' ', t.debit_id, '-', t.credit_id), 'nothing'))"
    " FROM topup_payment p LEFT JOIN topup o ON o.id = p.topup_id LEFT JOIN transfer t ON t.id = p.transfer_id"
    " WHERE p.transfer_id BETWEEN ? AND ? AND NOT COALESCE(t.kind = 'credit' AND t.credit_id = o.user_id"
    " AND t.debit_id = o.channel_id, FALSE)";

static const char TOPUPS_SQL[] =
    "SELECT o.id, CONCAT('is ', o.state, ', and has ', (SELECT COUNT(*) FROM topup_payment p WHERE p.topup_id = o.id),"
    " ' payments') FROM topup o WHERE o.id BETWEEN ? AND ?"
    " AND (o.state = 'paid') <> EXISTS (SELECT 1 FROM topup_payment p WHERE p.topup_id = o.id)";

static const char TOPUP_TIMES_SQL[] = "SELECT id, CONCAT('was ordered at ', created_ms) FROM topup"
                                      " WHERE id BETWEEN ? AND ? AND created_ms > " AUDIT_NOW_AT_MOST;

/* How far apart the times of a service and its rows may be: the database's clock may be set back. */
#define SERVICE_TIMES_MS "86400000"
/* What came by HTTP was asked for by a service: of this channel, with the scope, added before and not revoked. A row
 * that is by a service came by HTTP. */
static const char SERVICE_ROWS_SQL[] =
    "SELECT x.transfer_id, CONCAT('a ', t.kind, ' of channel ', x.channel_id, ' by ', x.author, ' (', x.interface,"
    " '), which may not ask for it')"
    " FROM external_transfer x JOIN transfer t ON t.id = x.transfer_id LEFT JOIN service s"
    " ON x.author = CONCAT('service:', s.name) WHERE x.transfer_id BETWEEN ? AND ?"
    " AND (x.interface = 'http' OR x.author LIKE 'service:%') AND NOT COALESCE(x.interface = 'http'"
    " AND s.channel_id = x.channel_id AND x.created_ms BETWEEN s.created_ms - " SERVICE_TIMES_MS
    " AND COALESCE(s.revoked_ms, x.created_ms) + " SERVICE_TIMES_MS
    " AND CASE t.kind WHEN 'credit' THEN FIND_IN_SET(IF(EXISTS (SELECT 1 FROM topup_payment p"
    " WHERE p.transfer_id = t.id), 'topup', 'credit'), s.scopes)"
    " WHEN 'debit' THEN FIND_IN_SET('debit', s.scopes) WHEN 'post' THEN FIND_IN_SET('withdraw', s.scopes) END > 0,"
    " FALSE)";

/* The same of withdrawals, of which a voided one has no row of a channel. */
static const char SERVICE_ENDS_SQL[] =
    "SELECT w.id, CONCAT(w.state, ' by ', w.author, ', which may not ask for it') FROM withdrawal w LEFT JOIN service s"
    " ON w.author = CONCAT('service:', s.name) WHERE w.id BETWEEN ? AND ? AND w.author LIKE 'service:%'"
    " AND NOT COALESCE(s.channel_id = w.channel_id AND FIND_IN_SET('withdraw', s.scopes) > 0"
    " AND w.ended_ms BETWEEN s.created_ms - " SERVICE_TIMES_MS
    " AND COALESCE(s.revoked_ms, w.ended_ms) + " SERVICE_TIMES_MS ", FALSE)";

/* What a service has moved is what its hours have; and no 25 of them have more than it may move in a day. Transfers,
 * withdrawals and hours are read once for all services of the range. */
static const char SERVICE_SUMS_SQL[] =
    "SELECT s.id, CONCAT('hours have ', COALESCE(h.fen, 0), ', transfers ', COALESCE(x.fen, 0) + COALESCE(w.fen, 0),"
    " ', the fullest day ', COALESCE(h.fullest, 0), ' of ', COALESCE(s.day_max_fen, 'no limit')) FROM service s"
    " LEFT JOIN (SELECT x.channel_id, x.author, SUM(t.amount_fen) AS fen FROM external_transfer x"
    " JOIN transfer t ON t.id = x.transfer_id WHERE x.interface = 'http' GROUP BY x.channel_id, x.author) x"
    " ON x.channel_id = s.channel_id AND x.author = CONCAT('service:', s.name)"
    " LEFT JOIN (SELECT channel_id, author, SUM(amount_fen) AS fen FROM withdrawal WHERE state = 'voided'"
    " AND author LIKE 'service:%' GROUP BY channel_id, author) w"
    " ON w.channel_id = s.channel_id AND w.author = CONCAT('service:', s.name)"
    " LEFT JOIN (SELECT service_id, SUM(moved_fen) AS fen, MAX(day_fen) AS fullest FROM (SELECT service_id, moved_fen,"
    " SUM(moved_fen) OVER (PARTITION BY service_id ORDER BY CAST(hour AS SIGNED) RANGE BETWEEN 24 PRECEDING"
    " AND CURRENT ROW) AS day_fen FROM service_hour) AS days GROUP BY service_id) h ON h.service_id = s.id"
    " WHERE s.id BETWEEN ? AND ? AND (COALESCE(h.fen, 0) <> COALESCE(x.fen, 0) + COALESCE(w.fen, 0)"
    " OR h.fullest > s.day_max_fen)";

static const char PENDING_SQL[] = "SELECT (SELECT balance_fen FROM account WHERE id = 3 AND kind = 'pending'),"
                                  " COALESCE(SUM(amount_fen), 0) FROM withdrawal WHERE state = 'pending'";

/* Runs a query that names subjects of this kind by the ids of a range. */
static enum status subjects_read(struct audit *audit, struct db *db, enum audit_check check, const char *kind,
                                 const char *sql, const struct audit_range *r)
{
    struct audit_collect c = { audit, check, kind };
    return db_each(db, audit_collect_row, &c, sql, DB_PARAMS(DB_U64(r->low), DB_U64(r->high)));
}

static enum status rows_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    enum status st = subjects_read(audit, db, AUDIT_ORIGIN, "transfer", ROWS_SQL, r);
    if (st == ST_OK)
        st = subjects_read(audit, db, AUDIT_SERVICES, "transfer", SERVICE_ROWS_SQL, r);
    return st == ST_OK ? subjects_read(audit, db, AUDIT_TIMES, "transfer", ROW_TIMES_SQL, r) : st;
}

static enum status withdrawals_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    enum status st = subjects_read(audit, db, AUDIT_WITHDRAWALS, "withdrawal", WITHDRAWALS_SQL, r);
    if (st == ST_OK)
        st = subjects_read(audit, db, AUDIT_SERVICES, "withdrawal", SERVICE_ENDS_SQL, r);
    return st == ST_OK ? subjects_read(audit, db, AUDIT_TIMES, "withdrawal", WITHDRAWAL_TIMES_SQL, r) : st;
}

static enum status channels_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    return subjects_read(audit, db, AUDIT_TIMES, "account", CHANNEL_TIMES_SQL, r);
}

static enum status payments_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    return subjects_read(audit, db, AUDIT_ORIGIN, "transfer", PAYMENTS_SQL, r);
}

static enum status topups_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    enum status st = subjects_read(audit, db, AUDIT_ORIGIN, "topup", TOPUPS_SQL, r);
    return st == ST_OK ? subjects_read(audit, db, AUDIT_TIMES, "topup", TOPUP_TIMES_SQL, r) : st;
}

static enum status services_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    return subjects_read(audit, db, AUDIT_SERVICES, "service", SERVICE_SUMS_SQL, r);
}

/* Account 3 has the money of the pending withdrawals. */
static enum status pending_check(struct audit *audit, struct db *db, struct arena *a)
{
    struct db_rows rows;
    arena_reset(a);
    enum status st = db_query(db, a, &rows, PENDING_SQL, NULL, 0);
    if (st != ST_OK || rows.count == 0)
        return st;
    const struct str held = db_cell(&rows, 0, 0), pending = db_cell(&rows, 0, 1);
    if (held.ptr == NULL || !str_equal(held, pending))
        audit_note(audit, AUDIT_WITHDRAWALS, "account", 3, "balance %.*s, pending withdrawals have %.*s",
                   STR_ARG(held.ptr == NULL ? STR("missing") : held), STR_ARG(pending));
    return ST_OK;
}

enum status audit_channels(struct audit *audit, struct db *db, struct arena *a)
{
    static const struct {
        const char *next_sql;
        audit_range_fn *each;
    } walks[] = {
        { "SELECT transfer_id FROM external_transfer WHERE transfer_id >= ? ORDER BY transfer_id LIMIT 1 OFFSET ?",
          rows_check },
        { "SELECT id FROM withdrawal WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", withdrawals_check },
        { "SELECT transfer_id FROM topup_payment WHERE transfer_id >= ? ORDER BY transfer_id LIMIT 1 OFFSET ?",
          payments_check },
        { "SELECT id FROM topup WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", topups_check },
        { "SELECT id FROM channel WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", channels_check },
        { "SELECT id FROM service WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?", services_check },
    };
    enum status st = pending_check(audit, db, a);
    for (size_t i = 0; st == ST_OK && i < ARRAY_LEN(walks); i++)
        st = audit_ranges_walk(audit, db, a, walks[i].next_sql, walks[i].each);
    return st;
}
