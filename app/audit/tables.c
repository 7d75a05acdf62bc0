/* The checks that need the tables alone. Each SQL check returns one row per violation: the id of the subject and the
 * detail of the report. */
#include "audit/audit_internal.h"

#include <inttypes.h>
#include <string.h>

#include "base/array.h"
#include "base/clock.h"
#include "packet/packet.h"

static const size_t ARENA_CHUNK_BYTES = (size_t)256 << 10;
static const size_t ARENA_LIMIT_BYTES = (size_t)64 << 20;

/* A check of all packets of an id range. */
struct table_check {
    enum audit_check check;
    const char *kind; /* of the subject */
    const char *sql;  /* has `BETWEEN ? AND ?` once or more often */
    unsigned ranges;  /* how often: the first and last id are bound each time */
};

static const struct table_check TABLE_CHECKS[] = {
    { AUDIT_LETTERS, "letter",
      "SELECT id, CONCAT('event ', event_id, ' of packet ', COALESCE(packet_id, '?'), ': ', reason) FROM dead_letter"
      " WHERE resolved_ms IS NULL AND COALESCE(packet_id, 0) BETWEEN ? AND ? ORDER BY id",
      1 },
    { AUDIT_I1, "packet",
      "SELECT p.id, CONCAT('amount ', p.amount_fen, ', given back ', p.returned_fen, ', settled ',"
      " p.grabbed_count, ' for ', p.grabbed_fen, ', grabs ', COALESCE(g.n, 0), ' for ', COALESCE(g.fen, 0),"
      " ', refunded ', p.refund_fen, ', escrow ',"
      " COALESCE(a.balance_fen, 'missing'))"
      " FROM packet p LEFT JOIN account a ON a.id = p.id AND a.kind = 'escrow'"
      " LEFT JOIN (SELECT packet_id, COUNT(*) n, SUM(amount_fen) fen FROM grab WHERE packet_id BETWEEN ? AND ?"
      " GROUP BY packet_id) g ON g.packet_id = p.id"
      " WHERE p.id BETWEEN ? AND ? AND (a.balance_fen IS NULL"
      " OR a.balance_fen <> " AUDIT_REST_FEN
      " OR p.grabbed_count <> COALESCE(g.n, 0) OR p.grabbed_fen <> COALESCE(g.fen, 0))",
      2 },
    { AUDIT_I1, "packet",
      "SELECT p.id, CONCAT('amount ', p.amount_fen, ', refunded ', p.refund_fen, ', transfers: sent ',"
      " COALESCE(t.sent, 0), ' refunded ', COALESCE(t.refunded, 0))"
      " FROM packet p LEFT JOIN (SELECT packet_id,"
      " SUM(IF(kind = 'send' AND credit_id = packet_id, amount_fen, 0)) sent,"
      " SUM(IF(kind = 'refund' AND debit_id = packet_id, amount_fen, 0)) refunded"
      " FROM transfer WHERE kind IN ('send', 'refund') AND packet_id BETWEEN ? AND ? GROUP BY packet_id) t"
      " ON t.packet_id = p.id"
      " WHERE p.id BETWEEN ? AND ? AND (p.amount_fen <> COALESCE(t.sent, 0)"
      " OR p.refund_fen <> COALESCE(t.refunded, 0))",
      2 },
    { AUDIT_I1, "packet",
      "SELECT t.packet_id, CONCAT('no such packet, but transfer ', t.id, ' (', t.kind, ') of ', t.amount_fen)"
      " FROM transfer t LEFT JOIN packet p ON p.id = t.packet_id"
      " WHERE t.kind IN ('send', 'refund', 'return') AND t.packet_id BETWEEN ? AND ? AND p.id IS NULL",
      1 },
    { AUDIT_I2, "packet",
      "SELECT packet_id, CONCAT('share ', share_no, ' is grabbed ', COUNT(*), ' times') FROM grab"
      " WHERE packet_id BETWEEN ? AND ? GROUP BY packet_id, share_no HAVING COUNT(*) > 1",
      1 },
    { AUDIT_I2, "packet",
      "SELECT p.id, CONCAT(g.n, ' grabs, but the last share is ', g.last_no, ' of ', p.count + p.returned_count)"
      " FROM packet p JOIN (SELECT packet_id, COUNT(DISTINCT share_no) n, MAX(share_no) last_no FROM grab"
      " WHERE packet_id BETWEEN ? AND ? GROUP BY packet_id) g ON g.packet_id = p.id"
      " WHERE g.last_no + 1 <> g.n OR g.last_no >= p.count + p.returned_count",
      1 },
    { AUDIT_I3, "packet",
      "SELECT packet_id, CONCAT('user ', user_id, ' grabbed ', COUNT(*), ' times') FROM grab"
      " WHERE packet_id BETWEEN ? AND ? GROUP BY packet_id, user_id HAVING COUNT(*) > 1",
      1 },
    { AUDIT_I3, "packet",
      "SELECT p.id, CONCAT('meant for user ', p.receiver_id, ', grabbed by ', g.user_id) FROM packet p"
      " JOIN grab g ON g.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND p.kind = 'exclusive'"
      " AND g.user_id <> p.receiver_id",
      1 },
    { AUDIT_I3, "packet",
      "SELECT p.id, CONCAT('not meant for user ', g.user_id, ', who grabbed share ', g.share_no) FROM packet p"
      " JOIN grab g ON g.packet_id = p.id LEFT JOIN packet_receiver r ON r.packet_id = p.id AND r.user_id = g.user_id"
      " WHERE p.id BETWEEN ? AND ? AND p.receiver_count > 0 AND r.user_id IS NULL",
      1 },
    { AUDIT_I3, "packet",
      "SELECT p.id, CONCAT('was sent to ', p.receiver_count, ' receivers, has ', COALESCE(r.n, 0)) FROM packet p"
      " LEFT JOIN (SELECT packet_id, COUNT(*) n FROM packet_receiver WHERE packet_id BETWEEN ? AND ?"
      " GROUP BY packet_id) r ON r.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND p.receiver_count > 0"
      " AND p.receiver_count <> COALESCE(r.n, 0)",
      2 },
    { AUDIT_I3, "packet",
      "SELECT p.id, CONCAT('user ', r.user_id, ' waits for it, to whom it was not sent') FROM packet p"
      " JOIN packet_receiver r ON r.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND p.receiver_count = 0"
      " AND NOT p.receiver_id <=> r.user_id",
      1 },
    { AUDIT_I3, "packet",
      "SELECT p.id, CONCAT('opens at ', p.opens_ms, ', share ', g.share_no, ' was grabbed at ', g.grabbed_ms)"
      " FROM packet p JOIN grab g ON g.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND g.grabbed_ms < p.opens_ms",
      1 },
    { AUDIT_I4, "packet",
      "SELECT g.packet_id, CONCAT('grab of share ', g.share_no, ' pays user ', g.user_id, ', who has no wallet')"
      " FROM grab g LEFT JOIN account a ON a.id = g.user_id AND a.kind = 'wallet'"
      " WHERE g.packet_id BETWEEN ? AND ? AND a.id IS NULL",
      1 },
    { AUDIT_I6, "packet",
      "SELECT p.id, CONCAT('closed with ', COALESCE(a.balance_fen, 'no'), ' in escrow, grabbed ', p.grabbed_fen,"
      " ', refunded ', p.refund_fen, ' of ', p.amount_fen) FROM packet p LEFT JOIN account a ON a.id = p.id"
      " WHERE p.state = 'closed' AND p.id BETWEEN ? AND ? AND (COALESCE(a.balance_fen, 1) <> 0 OR p.closed_ms IS NULL"
      " OR " AUDIT_REST_FEN " <> 0)",
      1 },
    { AUDIT_I6, "packet",
      "SELECT packet_id, CONCAT(COUNT(*), ' refunds') FROM transfer WHERE kind = 'refund'"
      " AND packet_id BETWEEN ? AND ? GROUP BY packet_id HAVING COUNT(*) > 1",
      1 },
    { AUDIT_I6, "packet",
      "SELECT p.id, CONCAT('refund ', t.id, ' to account ', t.credit_id, ' while ', p.state) FROM transfer t"
      " JOIN packet p ON p.id = t.packet_id WHERE t.kind = 'refund' AND t.packet_id BETWEEN ? AND ?"
      " AND (t.credit_id <> p.sender_id OR t.debit_id <> p.id OR p.state <> 'closed')",
      1 },
    { AUDIT_RETURNS, "packet",
      "SELECT r.packet_id, CONCAT('share ', r.share_no, ' given back by ', r.user_id, ' for ', r.amount_fen,"
      " ', grabbed by ', COALESCE(g.user_id, 'nobody'), ' for ', COALESCE(g.amount_fen, 0), ', transfer from ',"
      " COALESCE(t.debit_id, 'nobody'), ' to ', COALESCE(t.credit_id, 'nobody'), ' of ', COALESCE(t.amount_fen, 0))"
      " FROM share_return r LEFT JOIN packet p ON p.id = r.packet_id"
      " LEFT JOIN grab g ON g.packet_id = r.packet_id AND g.share_no = r.share_no"
      " LEFT JOIN transfer t ON t.kind = 'return' AND t.packet_id = r.packet_id AND t.seq = r.share_no"
      " WHERE r.packet_id BETWEEN ? AND ? AND (p.id IS NULL OR g.user_id IS NULL OR g.user_id <> r.user_id"
      " OR g.amount_fen <> r.amount_fen OR t.id IS NULL OR t.amount_fen <> r.amount_fen OR t.debit_id <> r.user_id"
      " OR t.credit_id <> IF(r.position IS NULL, p.sender_id, p.id))",
      1 },
    { AUDIT_RETURNS, "packet",
      "SELECT t.packet_id, CONCAT('transfer ', t.id, ' returns share ', t.seq, ', which was not given back')"
      " FROM transfer t LEFT JOIN share_return r ON r.packet_id = t.packet_id AND r.share_no = t.seq"
      " WHERE t.kind = 'return' AND t.packet_id BETWEEN ? AND ? AND r.packet_id IS NULL",
      1 },
    { AUDIT_RETURNS, "packet",
      "SELECT p.id, CONCAT('given back ', p.returned_count, ' for ', p.returned_fen, ', rows ', COALESCE(r.n, 0),"
      " ' for ', COALESCE(r.fen, 0), ', shares ', COALESCE(r.low, '-'), ' to ', COALESCE(r.high, '-'), ' of ', p.count)"
      " FROM packet p LEFT JOIN (SELECT packet_id, COUNT(position) n, SUM(IF(position IS NULL, 0, amount_fen)) fen,"
      " MIN(position) low, MAX(position) high FROM share_return WHERE packet_id BETWEEN ? AND ? GROUP BY packet_id) r"
      " ON r.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND (p.returned_count <> COALESCE(r.n, 0)"
      " OR p.returned_count > p.count OR p.returned_fen <> COALESCE(r.fen, 0) OR r.low <> p.count"
      " OR r.high + 1 <> p.count + p.returned_count)",
      2 },
    { AUDIT_RETURNS, "packet",
      "SELECT r.packet_id, CONCAT('share ', r.share_no, ' of ', r.amount_fen, ' came back as share ', r.position,"
      " ' of ', g.amount_fen) FROM share_return r JOIN grab g ON g.packet_id = r.packet_id AND g.share_no = r.position"
      " WHERE r.packet_id BETWEEN ? AND ? AND g.amount_fen <> r.amount_fen",
      1 },
    { AUDIT_THANKS, "packet",
      "SELECT t.packet_id, CONCAT('user ', t.user_id, ' thanks for share ', t.share_no, ', grabbed by ',"
      " COALESCE(g.user_id, 'nobody')) FROM thanks t"
      " LEFT JOIN grab g ON g.packet_id = t.packet_id AND g.share_no = t.share_no"
      " WHERE t.packet_id BETWEEN ? AND ? AND (g.user_id IS NULL OR g.user_id <> t.user_id)",
      1 },
    { AUDIT_THANKS, "packet",
      "SELECT p.id, CONCAT('counts ', p.thanks_count, ' thanks, there are ', COALESCE(t.n, 0)) FROM packet p"
      " LEFT JOIN (SELECT packet_id, COUNT(*) n FROM thanks WHERE packet_id BETWEEN ? AND ? GROUP BY packet_id) t"
      " ON t.packet_id = p.id WHERE p.id BETWEEN ? AND ? AND p.thanks_count <> COALESCE(t.n, 0)",
      2 },
    { AUDIT_TIMES, "packet",
      "SELECT p.id, " AUDIT_PACKET_LATE_DETAIL " FROM packet p WHERE p.id BETWEEN ? AND ? AND " AUDIT_PACKET_IS_LATE,
      1 },
    { AUDIT_TIMES, "packet",
      "SELECT packet_id, CONCAT('share ', share_no, ' was grabbed at ', grabbed_ms) FROM grab"
      " WHERE packet_id BETWEEN ? AND ? AND grabbed_ms > " AUDIT_NOW_AT_MOST,
      1 },
    { AUDIT_TIMES, "packet",
      "SELECT packet_id, CONCAT('share ', share_no, ' was given back at ', returned_ms) FROM share_return"
      " WHERE packet_id BETWEEN ? AND ? AND GREATEST(returned_ms, COALESCE(applied_ms, 0)) > " AUDIT_NOW_AT_MOST,
      1 },
    { AUDIT_TIMES, "packet",
      "SELECT packet_id, CONCAT('thanks for share ', share_no, ' are of ', created_ms) FROM thanks"
      " WHERE packet_id BETWEEN ? AND ? AND GREATEST(created_ms, COALESCE(applied_ms, 0)) > " AUDIT_NOW_AT_MOST,
      1 },
};

/* Compares each balance with the sum of the account's transfers and grabs. A grab debits the escrow account packet_id
 * and credits the wallet user_id. */
static const char BALANCES_SQL[] =
    "SELECT id, CONCAT(kind, ' balance ', balance_fen, ', its transfers and grabs make ', made_fen) FROM ("
    "SELECT a.id, a.kind, a.balance_fen,"
    " COALESCE(c.fen, 0) - COALESCE(d.fen, 0) + COALESCE(r.fen, 0) - COALESCE(p.fen, 0) AS made_fen FROM account a"
    " LEFT JOIN (SELECT credit_id, SUM(amount_fen) fen FROM transfer WHERE credit_id BETWEEN ? AND ?"
    " GROUP BY credit_id) c ON c.credit_id = a.id"
    " LEFT JOIN (SELECT debit_id, SUM(amount_fen) fen FROM transfer WHERE debit_id BETWEEN ? AND ?"
    " GROUP BY debit_id) d ON d.debit_id = a.id"
    " LEFT JOIN (SELECT user_id, SUM(amount_fen) fen FROM grab WHERE user_id BETWEEN ? AND ?"
    " GROUP BY user_id) r ON r.user_id = a.id"
    " LEFT JOIN (SELECT packet_id, SUM(amount_fen) fen FROM grab WHERE packet_id BETWEEN ? AND ?"
    " GROUP BY packet_id) p ON p.packet_id = a.id"
    " WHERE a.id BETWEEN ? AND ?) AS b"
    " WHERE balance_fen <> made_fen OR ((kind NOT IN ('bank', 'channel') OR id = 2) AND balance_fen < 0)";
enum { BALANCES_RANGES = 5 };

static const char KINDS_SQL[] =
    "SELECT a.id, " AUDIT_KIND_DETAIL " FROM account a WHERE a.id BETWEEN ? AND ? AND " AUDIT_KIND_IS_WRONG;

/* Transfers that nobody asked for: a deposit without its user's request key or while demo is off, a transfer that does
 * not fit its packet, or one from or to a channel without its row in external_transfer. */
static const char ORIGIN_SQL[] =
    "SELECT t.credit_id, " AUDIT_TRANSFER_DETAIL " FROM transfer t LEFT JOIN packet p ON p.id = t.packet_id"
    " WHERE NOT " AUDIT_TRANSFER_ASKED " AND t.credit_id BETWEEN ? AND ?";

/* Accounts without their user or packet. */
static const char OWNERS_SQL[] = "SELECT a.id, " AUDIT_NOBODYS_DETAIL " FROM account a LEFT JOIN user u ON u.id = a.id"
                                 " LEFT JOIN packet p ON p.id = a.id WHERE a.id BETWEEN ? AND ? AND " AUDIT_NOBODYS;

/* Deleted users who still have money, a pending withdrawal, the destination of one, an open packet, a name, a note, a
 * picture or a cover. */
static const char DELETED_SQL[] =
    "SELECT u.id, CONCAT('is deleted, and has ', a.balance_fen,"
    " ' fen or a pending withdrawal, a destination, an open packet, a name, a note, a picture or a cover')"
    " FROM user u JOIN account a ON a.id = u.id WHERE u.deleted_ms > 0 AND u.id BETWEEN ? AND ? AND (a.balance_fen <> 0"
    " OR EXISTS (SELECT 1 FROM packet WHERE sender_id = u.id"
    " AND (state <> 'closed' OR sender_name <> '' OR note <> ''))"
    " OR EXISTS (SELECT 1 FROM withdrawal WHERE user_id = u.id AND (state = 'pending' OR destination <> ''))"
    " OR EXISTS (SELECT 1 FROM packet WHERE receiver_id = u.id AND receiver_name <> '')"
    " OR EXISTS (SELECT 1 FROM packet_receiver WHERE user_id = u.id AND name <> '')"
    " OR EXISTS (SELECT 1 FROM picture WHERE user_id = u.id)"
    " OR EXISTS (SELECT 1 FROM cover WHERE user_id = u.id)"
    " OR EXISTS (SELECT 1 FROM grab WHERE user_id = u.id AND nickname <> ''))";

static const char TRANSFER_TIMES_SQL[] =
    "SELECT credit_id, CONCAT('transfer ', id, ' was made at ', created_ms) FROM transfer"
    " WHERE credit_id BETWEEN ? AND ? AND created_ms > " AUDIT_NOW_AT_MOST;
static const char USER_TIMES_SQL[] =
    "SELECT id, CONCAT('registered, disabled, deleted at ', CONCAT_WS(', ', created_ms, disabled_ms, deleting_ms,"
    " deleted_ms)) FROM user WHERE id BETWEEN ? AND ? AND GREATEST(created_ms, COALESCE(disabled_ms, 0),"
    " COALESCE(deleting_ms, 0), COALESCE(deleted_ms, 0)) > " AUDIT_NOW_AT_MOST;

static enum status packets_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    const struct db_param params[] = { DB_U64(r->low), DB_U64(r->high), DB_U64(r->low), DB_U64(r->high) };
    enum status st = ST_OK;
    for (size_t i = 0; st == ST_OK && i < ARRAY_LEN(TABLE_CHECKS); i++) {
        const struct table_check *t = &TABLE_CHECKS[i];
        struct audit_collect c = { audit, t->check, t->kind };
        st = db_each(db, audit_collect_row, &c, t->sql, params, (size_t)t->ranges * 2);
    }
    return st;
}

/* In the audit of one packet: the transfers into its escrow. */
static enum status origin_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    struct audit_collect c = { audit, AUDIT_ORIGIN, "account" };
    const struct db_param demo = DB_I64(audit->demo), low = DB_U64(r->low), high = DB_U64(r->high);
    enum status st = db_each(db, audit_collect_row, &c, ORIGIN_SQL, DB_PARAMS(demo, demo, low, high));
    if (st == ST_OK)
        st = db_each(db, audit_collect_row, &c, KINDS_SQL, DB_PARAMS(low, high));
    if (st == ST_OK && audit->packet_id == 0)
        st = db_each(db, audit_collect_row, &c, OWNERS_SQL, DB_PARAMS(low, high));
    c.check = AUDIT_DELETED;
    c.kind = "user";
    if (st == ST_OK && audit->packet_id == 0)
        st = db_each(db, audit_collect_row, &c, DELETED_SQL, DB_PARAMS(low, high));
    return st;
}

static const char TOKEN_TIMES_SQL[] =
    "SELECT t.id, " AUDIT_TOKEN_LATE_DETAIL " FROM token t WHERE " AUDIT_TOKEN_IS_LATE " AND t.id BETWEEN ? AND ?";

/* Nobody can send while all numbers are leased. */
static const char LEASE_TIMES_SQL[] =
    "SELECT l.instance_no, " AUDIT_LEASE_LONG_DETAIL " FROM instance_lease l WHERE " AUDIT_LEASE_IS_LONG
    " AND l.instance_no BETWEEN ? AND ?";

static enum status times_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    struct audit_collect c = { audit, AUDIT_TIMES, "account" };
    const struct db_param low = DB_U64(r->low), high = DB_U64(r->high);
    enum status st = db_each(db, audit_collect_row, &c, TRANSFER_TIMES_SQL, DB_PARAMS(low, high));
    c.kind = "user";
    if (st == ST_OK && audit->packet_id == 0)
        st = db_each(db, audit_collect_row, &c, USER_TIMES_SQL, DB_PARAMS(low, high));
    c.kind = "token";
    if (st == ST_OK && audit->packet_id == 0)
        st = db_each(db, audit_collect_row, &c, TOKEN_TIMES_SQL, DB_PARAMS(AUDIT_TOKEN_MS_MAX, low, high));
    c.kind = "instance";
    if (st == ST_OK && audit->packet_id == 0)
        st = db_each(db, audit_collect_row, &c, LEASE_TIMES_SQL, DB_PARAMS(AUDIT_LEASE_MS_MAX, low, high));
    return st;
}

static enum status accounts_check(struct audit *audit, struct db *db, const struct audit_range *r)
{
    struct audit_collect c = { audit, AUDIT_I5, "account" };
    struct db_param params[2 * BALANCES_RANGES];
    for (size_t i = 0; i < ARRAY_LEN(params); i++)
        params[i] = DB_U64(i % 2 == 0 ? r->low : r->high);
    enum status st = db_each(db, audit_collect_row, &c, BALANCES_SQL, params, ARRAY_LEN(params));
    if (st == ST_OK)
        st = times_check(audit, db, r);
    return st == ST_OK ? origin_check(audit, db, r) : st;
}

/* The sum of all balances is 0. */
static enum status total_check(struct audit *audit, struct db *db, struct arena *a)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT COALESCE(SUM(balance_fen), 0) FROM account", NULL, 0);
    if (st == ST_OK && !str_equal(db_cell(&rows, 0, 0), STR("0")))
        audit_note(audit, AUDIT_I5, "account", 0, "all balances sum to %.*s, not 0", STR_ARG(db_cell(&rows, 0, 0)));
    return st;
}

/* ---- months ---- */

/* Compares the rows of one year with user_month; rows count positive, stored totals negative, so every sum must be 0.
 * Each table or key is read once from end to end; for packets a key in the order of the groups would need a lookup of
 * the amount for each of its rows. Arguments of the format: 1: month of grabbed_ms, as SQL · 2: month of created_ms, as
 * SQL · 3: the year · 4, 5: from and until, in ms. */
static const char YEAR_SQL[] =
    "SELECT user_id, CONCAT('month %3$d-', LPAD(part, 2, '0'), ': received ', SUM(n), ' for ', SUM(fen),"
    " ' more than totalled, sent ', SUM(sn), ' for ', SUM(sfen), ', best ', SUM(best)) FROM ("
    " SELECT user_id, %1$s AS part, COUNT(*) AS n, SUM(amount_fen) AS fen, 0 AS sn, 0 AS sfen, 0 AS best"
    "  FROM grab WHERE grabbed_ms >= %4$lld AND grabbed_ms < %5$lld GROUP BY user_id, part"
    " UNION ALL SELECT r.user_id, %1$s AS part, -COUNT(*), -SUM(r.amount_fen), 0, 0, 0 FROM share_return AS r"
    "  JOIN grab AS g ON g.packet_id = r.packet_id AND g.share_no = r.share_no"
    "  WHERE g.grabbed_ms >= %4$lld AND g.grabbed_ms < %5$lld GROUP BY r.user_id, part"
    " UNION ALL SELECT sender_id, %2$s AS part, 0, 0, COUNT(*), SUM(amount_fen), 0"
    "  FROM packet IGNORE INDEX (packet_request, packet_sent) WHERE created_ms >= %4$lld AND created_ms < %5$lld"
    "  GROUP BY sender_id, part"
    " UNION ALL SELECT g.user_id, %1$s AS part, 0, 0, 0, 0, COUNT(*) FROM packet AS p JOIN grab AS g"
    "  ON g.packet_id = p.id AND g.share_no = p.best_share_no WHERE p.state = 'closed' AND p.finished_ms IS NOT NULL"
    "  AND g.grabbed_ms >= %4$lld AND g.grabbed_ms < %5$lld GROUP BY g.user_id, part"
    " UNION ALL SELECT user_id, month, -CAST(received_count AS SIGNED), -CAST(received_fen AS DECIMAL(20)),"
    "  -CAST(sent_count AS SIGNED), -CAST(sent_fen AS DECIMAL(20)), -CAST(best_count AS SIGNED)"
    "  FROM user_month WHERE year = %3$d) AS u"
    " GROUP BY user_id, part HAVING SUM(n) <> 0 OR SUM(fen) <> 0 OR SUM(sn) <> 0 OR SUM(sfen) <> 0 OR SUM(best) <> 0";

/* SQL for the month of an instant within the year: INTERVAL counts the bounds that are not above the column. */
static const char *month_sql(struct arena *a, const char *column, int year)
{
    struct buf sql = { 0 };
    buf_printf(&sql, "(INTERVAL(%s", column);
    for (int month = 2; month <= MONTHS_PER_YEAR; month++)
        buf_printf(&sql, ",%lld", (long long)clock_zone_month_start_ms(year, month));
    buf_cstr(&sql, ") + 1)");
    const char *text = sql.failed ? NULL : arena_cstr(a, buf_view(&sql));
    buf_free(&sql);
    return text;
}

static enum status year_check(struct audit *audit, struct db *db, struct arena *a, int year)
{
    struct audit_collect c = { audit, AUDIT_MONTHS, "user" };
    const char *grabbed = month_sql(a, "grabbed_ms", year), *created = month_sql(a, "created_ms", year);
    if (grabbed == NULL || created == NULL)
        return ST_NO_MEMORY;
    struct str sql = arena_printf(a, YEAR_SQL, grabbed, created, year, (long long)clock_zone_year_start_ms(year),
                                  (long long)clock_zone_year_start_ms(year + 1));
    return sql.ptr == NULL ? ST_NO_MEMORY : db_each(db, audit_collect_row, &c, sql.ptr, NULL, 0);
}

/* Stored totals of years that have no rows. */
static enum status empty_years_check(struct audit *audit, struct db *db, struct arena *a, int first, int last)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT DISTINCT year FROM user_month WHERE year NOT BETWEEN ? AND ?",
                              DB_PARAMS(DB_I64(first), DB_I64(last)));
    for (size_t i = 0; st == ST_OK && i < rows.count; i++)
        st = year_check(audit, db, a, (int)db_cell_i64(&rows, i, 0));
    return st;
}

static enum status months_check(struct audit *audit, struct db *db, struct arena *a)
{
    struct db_rows rows;
    arena_reset(a);
    /* Rows may be planted with any time. The years of the future are not summed: AUDIT_TIMES names their rows. */
    enum status st = db_query(db, a, &rows,
                              "SELECT MIN(first), MAX(last) FROM (SELECT MIN(created_ms) first, MAX(created_ms) last"
                              " FROM packet WHERE created_ms BETWEEN 0 AND " AUDIT_NOW_AT_MOST
                              " UNION ALL SELECT MIN(grabbed_ms), MAX(grabbed_ms) FROM grab"
                              " WHERE grabbed_ms BETWEEN 0 AND " AUDIT_NOW_AT_MOST ") u",
                              NULL, 0);
    if (st != ST_OK || rows.count == 0)
        return st;
    int first = 1, last = 0; /* no rows: no year */
    if (db_cell(&rows, 0, 0).ptr != NULL) {
        first = clock_zone_date(db_cell_i64(&rows, 0, 0)).year;
        last = clock_zone_date(db_cell_i64(&rows, 0, 1)).year;
    }
    for (int year = first; st == ST_OK && year <= last; year++)
        st = year_check(audit, db, a, year);
    return st == ST_OK ? empty_years_check(audit, db, a, first, last) : st;
}

enum status audit_tables(struct audit *audit, struct db *db)
{
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = audit_ranges_walk(audit, db, a, "SELECT id FROM packet WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?",
                                       packets_check);
    if (st == ST_OK) /* in the audit of one packet: its escrow account, which has the packet's id */
        st = audit_ranges_walk(audit, db, a, "SELECT id FROM account WHERE id >= ? ORDER BY id LIMIT 1 OFFSET ?",
                               accounts_check);
    if (st == ST_OK)
        st = audit_draws(audit, db, a);
    if (st == ST_OK && audit->packet_id == 0)
        st = total_check(audit, db, a);
    if (st == ST_OK && audit->packet_id == 0)
        st = audit_channels(audit, db, a);
    if (st == ST_OK && audit->packet_id == 0)
        st = months_check(audit, db, a);
    arena_free(a);
    return st;
}
