#include "audit/watch.h"

#include <string.h>

#include "audit/audit_internal.h"
#include "audit/state.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/log.h"
#include "io/metrics.h"
#include "packet/packet.h"

enum {
    TRANSFERS_PER_LOOK = 5000,
    PACKETS_PER_QUERY = 200,
    ACCOUNTS_PER_QUERY = 1000,
    TOKENS_PER_QUERY = 1000,
    KEY_COLUMNS = 2
};

/* Every query of the watch returns rows in the order of their key: two columns, of which the second is the id of the
 * subject, and the detail of a violation or NULL. */
struct rows {
    struct audit *audit;
    enum audit_check check;
    const char *kind;
    uint64_t last[KEY_COLUMNS];
    uint64_t count;
};

static bool row_read(void *ctx, const struct str *cells, size_t columns)
{
    struct rows *r = ctx;
    (void)columns;
    for (size_t i = 0; i < KEY_COLUMNS; i++)
        (void)str_to_u64(cells[i], &r->last[i]);
    if (cells[KEY_COLUMNS].ptr != NULL)
        audit_note(r->audit, r->check, r->kind, r->last[1], "%.*s", STR_ARG(cells[KEY_COLUMNS]));
    r->count++;
    return true;
}

/* ---- new transfers ---- */

static const char TRANSFERS_SQL[] =
    "SELECT t.id, t.credit_id, IF(" AUDIT_TRANSFER_ASKED ", NULL, " AUDIT_TRANSFER_DETAIL ")"
    " FROM transfer t LEFT JOIN packet p ON p.id = t.packet_id"
    " WHERE t.id > ? AND t.id <= ? ORDER BY t.id LIMIT ?";

static enum status look_begin(struct audit_watch *w, struct db *db)
{
    struct db_rows rows;
    struct arena *a = arena_new(1024, 16384);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = db_query(db, a, &rows, "SELECT COALESCE(MAX(id), 0) FROM transfer", NULL, 0);
    if (st == ST_OK)
        w->to = db_cell_u64(&rows, 0, 0);
    arena_free(a);
    if (!w->looked)
        w->from = w->to > AUDIT_WATCH_FIRST_TRANSFERS ? w->to - AUDIT_WATCH_FIRST_TRANSFERS : 0;
    w->at = w->from;
    return st;
}

static enum status look(struct audit_watch *w, struct stores *stores, int64_t monotonic_ms)
{
    struct rows rows = { &w->audit, AUDIT_ORIGIN, "account", { 0 }, 0 };
    const struct db_param demo = DB_I64(stores->config->demo);
    enum status st = ST_OK;
    if (w->to == 0) {
        if (monotonic_ms < w->look_due_ms)
            return ST_OK;
        w->look_due_ms = monotonic_ms + AUDIT_WATCH_LOOK_MS;
        st = look_begin(w, stores->db);
    }
    if (st == ST_OK)
        st = db_each(stores->db, row_read, &rows, TRANSFERS_SQL,
                     DB_PARAMS(demo, demo, DB_U64(w->at), DB_U64(w->to), DB_I64(TRANSFERS_PER_LOOK)));
    if (st != ST_OK)
        return st;
    w->at = rows.last[0];
    if (rows.count < TRANSFERS_PER_LOOK) {
        w->from = w->looked ? w->seen : w->to;
        w->seen = w->to;
        w->looked = true;
        w->to = 0;
    }
    return ST_OK;
}

/* ---- the walk over the rest ---- */

/* I1 of packets in one state, in the order of the key packet_due: what the escrow has, and the grabs. No packet has the
 * state ''; with one state alone MariaDB reads the key from its begin instead of from the last row. */
static const char PACKETS_SQL[] =
    "SELECT p.expires_ms, p.id, IF(COALESCE(a.balance_fen, -1) = p.rest_fen AND p.settled = p.grabs, NULL,"
    " CONCAT('settled ', p.settled, ', grabs ', p.grabs, ', to be in escrow ', p.rest_fen, ', escrow ',"
    " COALESCE(a.balance_fen, 'missing')))"
    " FROM (SELECT expires_ms, id, " AUDIT_REST_FEN " AS rest_fen,"
    "  CONCAT(grabbed_count, ' for ', grabbed_fen) AS settled,"
    "  (SELECT CONCAT(COUNT(*), ' for ', COALESCE(SUM(g.amount_fen), 0)) FROM `grab` g WHERE g.packet_id = p.id)"
    "  AS grabs FROM packet AS p"
    "  WHERE state IN (?, '') AND expires_ms >= ? AND (expires_ms > ? OR id > ?)"
    "  ORDER BY state, expires_ms, id LIMIT ?) AS p"
    " LEFT JOIN account a ON a.id = p.id AND a.kind = 'escrow' ORDER BY p.expires_ms, p.id";

/* The times of the same packets, in the same order. */
static const char PACKET_TIMES_SQL[] =
    "SELECT p.expires_ms, p.id, IF(" AUDIT_PACKET_IS_LATE ", " AUDIT_PACKET_LATE_DETAIL ", NULL) FROM packet p"
    " WHERE p.state IN (?, '') AND p.expires_ms >= ? AND (p.expires_ms > ? OR p.id > ?)"
    " ORDER BY p.state, p.expires_ms, p.id LIMIT ?";

static enum status packets_read(struct audit_watch *w, struct stores *stores, enum audit_check check,
                                enum packet_state state, bool *more)
{
    struct rows rows = { &w->audit, check, "packet", { w->last[0], w->last[1] }, 0 };
    const struct db_param expires = DB_U64(w->last[0]);
    enum status st = db_each(
        stores->db, row_read, &rows, check == AUDIT_I1 ? PACKETS_SQL : PACKET_TIMES_SQL,
        DB_PARAMS(DB_TEXT(packet_state_name(state)), expires, expires, DB_U64(w->last[1]), DB_I64(PACKETS_PER_QUERY)));
    memcpy(w->last, rows.last, sizeof w->last);
    *more = rows.count == PACKETS_PER_QUERY;
    return st;
}

static enum status funding_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    return packets_read(w, stores, AUDIT_I1, PACKET_FUNDING, more);
}

static enum status funding_times_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    return packets_read(w, stores, AUDIT_TIMES, PACKET_FUNDING, more);
}

static enum status open_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    return packets_read(w, stores, AUDIT_I1, PACKET_OPEN, more);
}

static enum status open_times_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    return packets_read(w, stores, AUDIT_TIMES, PACKET_OPEN, more);
}

static const char ACCOUNTS_SQL[] =
    "SELECT 0, a.id, CASE WHEN " AUDIT_KIND_IS_WRONG " THEN " AUDIT_KIND_DETAIL " WHEN " AUDIT_NOBODYS
    " THEN " AUDIT_NOBODYS_DETAIL " END"
    " FROM account a LEFT JOIN user u ON u.id = a.id AND a.kind = 'wallet'"
    " LEFT JOIN packet p ON p.id = a.id AND a.kind = 'escrow' WHERE a.id > ? ORDER BY a.id LIMIT ?";

static enum status accounts_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    struct rows rows = { &w->audit, AUDIT_ORIGIN, "account", { 0, w->last[1] }, 0 };
    enum status st =
        db_each(stores->db, row_read, &rows, ACCOUNTS_SQL, DB_PARAMS(DB_U64(w->last[1]), DB_I64(ACCOUNTS_PER_QUERY)));
    memcpy(w->last, rows.last, sizeof w->last);
    *more = rows.count == ACCOUNTS_PER_QUERY;
    return st;
}

static const char TOKENS_SQL[] = "SELECT 0, t.id, IF(" AUDIT_TOKEN_IS_LATE ", " AUDIT_TOKEN_LATE_DETAIL ", NULL)"
                                 " FROM token t WHERE t.id > ? ORDER BY t.id LIMIT ?";

static enum status tokens_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    struct rows rows = { &w->audit, AUDIT_TIMES, "token", { 0, w->last[1] }, 0 };
    enum status st = db_each(stores->db, row_read, &rows, TOKENS_SQL,
                             DB_PARAMS(AUDIT_TOKEN_MS_MAX, DB_U64(w->last[1]), DB_I64(TOKENS_PER_QUERY)));
    memcpy(w->last, rows.last, sizeof w->last);
    *more = rows.count == TOKENS_PER_QUERY;
    return st;
}

/* The whole table: it has a fixed number of rows. */
static const char LEASES_SQL[] = "SELECT 0, l.instance_no, " AUDIT_LEASE_LONG_DETAIL
                                 " FROM instance_lease l WHERE " AUDIT_LEASE_IS_LONG " ORDER BY l.instance_no";

static enum status leases_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    struct rows rows = { &w->audit, AUDIT_TIMES, "instance", { 0 }, 0 };
    *more = false;
    return db_each(stores->db, row_read, &rows, LEASES_SQL, DB_PARAMS(AUDIT_LEASE_MS_MAX));
}

static enum status sessions_read(struct audit_watch *w, struct stores *stores, bool *more)
{
    return audit_sessions_step(&w->audit, stores, w->cursor, more);
}

static const struct part {
    const char *name;
    enum status (*read)(struct audit_watch *w, struct stores *stores, bool *more);
} PARTS[] = {
    { "packets to fund", funding_read },
    { "open packets", open_read },
    { "times of packets to fund", funding_times_read },
    { "times of open packets", open_times_read },
    { "accounts", accounts_read },
    { "times of access tokens", tokens_read },
    { "instance numbers", leases_read },
    { "sessions", sessions_read },
};

static void part_next(struct audit_watch *w)
{
    memset(w->last, 0, sizeof w->last);
    memcpy(w->cursor, "0", sizeof "0");
    w->part++;
}

/* Reads for AUDIT_WATCH_STEP_MS. part - 1 is an index of PARTS. */
static enum status walk(struct audit_watch *w, struct stores *stores, int64_t monotonic_ms)
{
    const int64_t end_ms = clock_monotonic_ms() + AUDIT_WATCH_STEP_MS;
    if (w->part == 0 && monotonic_ms < w->walk_due_ms)
        return ST_OK;
    if (w->part == 0) {
        w->walk_due_ms = monotonic_ms + AUDIT_WATCH_WALK_MS;
        w->incomplete = false;
        part_next(w);
    }
    do {
        bool more = false;
        enum status st = PARTS[w->part - 1].read(w, stores, &more);
        if (st == ST_UNAVAILABLE)
            return st; /* the next step tries again */
        if (st != ST_OK) {
            log_warn("audit incomplete", "part=\"%s\" status=%s", PARTS[w->part - 1].name, status_name(st));
            w->incomplete = true;
        }
        if (st != ST_OK || !more)
            part_next(w);
    } while (w->part <= ARRAY_LEN(PARTS) && clock_monotonic_ms() < end_ms);
    if (w->part > ARRAY_LEN(PARTS)) {
        w->part = 0;
        w->walked = true;
        metrics_add(METRIC_AUDIT_WALKS, w->incomplete ? 0 : 1);
    }
    return ST_OK;
}

enum status audit_watch_run(struct audit_watch *w, struct stores *stores, int64_t monotonic_ms)
{
    w->audit = (struct audit){ .ends = true };
    enum status looked = look(w, stores, monotonic_ms);
    enum status walked = walk(w, stores, monotonic_ms);
    audit_state_note_worker(audit_violations_log(&w->audit));
    return looked != ST_OK ? looked : walked;
}
