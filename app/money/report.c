#include "money/report.h"

#include <inttypes.h>

#include "base/array.h"
#include "ledger/ledger.h"

struct reading {
    struct arena *arena;
    struct report *report;
};

/* ---- what moved a channel ---- */

/* Which member a transfer of a kind adds to, by its side: the channel pays (debit) or receives (credit). */
static const struct flow {
    enum transfer_kind kind;
    bool paid;
    size_t member;
} FLOWS[] = {
    { TRANSFER_CREDIT, true, offsetof(struct report_flows, credits_fen) },
    { TRANSFER_DEPOSIT, true, offsetof(struct report_flows, deposits_fen) },
    { TRANSFER_REVERSE, true, offsetof(struct report_flows, reversed_in_fen) },
    { TRANSFER_DEBIT, false, offsetof(struct report_flows, debits_fen) },
    { TRANSFER_POST, false, offsetof(struct report_flows, posts_fen) },
    { TRANSFER_FORFEIT, false, offsetof(struct report_flows, forfeits_fen) },
    { TRANSFER_REVERSE, false, offsetof(struct report_flows, reversed_out_fen) },
};

static bool flow_add(struct report_flows *flows, enum transfer_kind kind, bool paid, int64_t fen)
{
    for (size_t i = 0; i < ARRAY_LEN(FLOWS); i++)
        if (FLOWS[i].kind == kind && FLOWS[i].paid == paid) {
            *(int64_t *)((char *)flows + FLOWS[i].member) += fen;
            flows->closing_fen += paid ? -fen : fen;
            return true;
        }
    return false;
}

/* One side of all transfers of channels in the time of the report, by day. */
static void side_append(struct buf *sql, const struct report *r, bool paid)
{
    const char *side = paid ? "debit" : "credit";
    buf_printf(sql, "SELECT c.id, t.kind, %d, SUM(t.amount_fen), ", paid);
    if (r->day_starts == NULL)
        buf_cstr(sql, "1 AS day");
    for (size_t i = 0; r->day_starts != NULL && i <= r->day_count; i++)
        buf_printf(sql, "%s%" PRId64, i == 0 ? "INTERVAL(t.created_ms, " : ", ", r->day_starts[i]);
    buf_printf(sql,
               "%s FROM channel AS c STRAIGHT_JOIN transfer AS t FORCE INDEX (transfer_%s) ON t.%s_id = c.id"
               " AND t.created_ms >= %" PRId64 " AND t.created_ms < %" PRId64,
               r->day_starts == NULL ? "" : ") AS day", side, side, r->from_ms, r->until_ms);
    if (r->only_id != 0)
        buf_printf(sql, " WHERE c.id = %" PRIu64, r->only_id);
    buf_cstr(sql, " GROUP BY c.id, t.kind, day");
}

enum { SUM_CHANNEL, SUM_KIND, SUM_PAID, SUM_FEN, SUM_DAY };

/* The sums, by day, then by channel. A day is the number of the starts that are not behind it. */
static enum status sums_read(struct db *db, struct arena *a, struct db_rows *rows, const struct report *r)
{
    struct buf sql = BUF_EMPTY;
    side_append(&sql, r, true);
    buf_cstr(&sql, " UNION ALL ");
    side_append(&sql, r, false);
    buf_cstr(&sql, " ORDER BY 5, 1, 2, 3");
    enum status st = db_query_buf(db, a, rows, &sql);
    buf_free(&sql);
    return st;
}

/* The index of the channel; channel_count: there is none, which is impossible within one snapshot. */
static size_t channel_index(const struct report *r, uint64_t id)
{
    size_t i = 0;
    while (i < r->channel_count && r->channels[i].channel.id != id)
        i++;
    return i;
}

/* One row of sums_read, added to flows. */
static enum status sum_add(const struct db_rows *rows, size_t row, struct report_flows *flows)
{
    enum transfer_kind kind;
    return transfer_kind_read(db_cell(rows, row, SUM_KIND), &kind) &&
                   flow_add(flows, kind, db_cell_u64(rows, row, SUM_PAID) == 1, db_cell_i64(rows, row, SUM_FEN))
               ? ST_OK
               : ST_CORRUPT;
}

/* The flows of the channel on that day, which begin with its balance at the end of the day before. last: the last item
 * of the list so far. NULL: out of memory. */
static struct report_flows *day_flows(struct arena *a, struct report *r, size_t channel, size_t day,
                                      struct report_day **last)
{
    struct report_day *now = *last;
    if (now != NULL && now->channel == channel && now->from_ms == r->day_starts[day])
        return &now->flows;
    now = arena_alloc(a, sizeof *now);
    if (now == NULL)
        return NULL;
    *now = (struct report_day){ .channel = channel, .from_ms = r->day_starts[day] };
    now->flows.opening_fen = now->flows.closing_fen = r->channels[channel].flows.closing_fen;
    *(*last != NULL ? &(*last)->next : &r->days) = now;
    *last = now;
    return &now->flows;
}

/* What moved the channels, and on which days. */
static enum status flows_read(struct db *db, struct arena *a, struct report *r)
{
    struct db_rows rows;
    struct report_day *last = NULL;
    enum status st = sums_read(db, a, &rows, r);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const size_t channel = channel_index(r, db_cell_u64(&rows, i, SUM_CHANNEL));
        const size_t day = db_cell_u64(&rows, i, SUM_DAY);
        if (channel == r->channel_count)
            return ST_CORRUPT;
        if (r->day_starts != NULL && day >= 1 && day <= r->day_count) {
            struct report_flows *flows = day_flows(a, r, channel, day - 1, &last);
            st = flows != NULL ? sum_add(&rows, i, flows) : ST_NO_MEMORY;
        }
        if (st == ST_OK)
            st = sum_add(&rows, i, &r->channels[channel].flows);
    }
    return st;
}

/* ---- channels ---- */

static enum status openings_read(struct db *db, struct arena *a, struct report *r)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT c.id,"
                              " COALESCE((SELECT SUM(t.amount_fen) FROM transfer AS t FORCE INDEX (transfer_credit)"
                              " WHERE t.credit_id = c.id AND t.created_ms < ?), 0)"
                              " - COALESCE((SELECT SUM(t.amount_fen) FROM transfer AS t FORCE INDEX (transfer_debit)"
                              " WHERE t.debit_id = c.id AND t.created_ms < ?), 0) FROM channel AS c"
                              " WHERE ? IN (0, c.id) ORDER BY c.id",
                              DB_PARAMS(DB_I64(r->from_ms), DB_I64(r->from_ms), DB_U64(r->only_id)));
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const size_t channel = channel_index(r, db_cell_u64(&rows, i, 0));
        if (channel == r->channel_count)
            return ST_CORRUPT;
        r->channels[channel].flows.opening_fen = r->channels[channel].flows.closing_fen = db_cell_i64(&rows, i, 1);
    }
    return st;
}

static enum status channels_read(struct db *db, struct arena *a, struct report *r)
{
    struct channel *list = NULL;
    enum status st = channel_list(db, a, &list, &r->channel_count);
    if (st != ST_OK)
        return st;
    r->channels = arena_array(a, r->channel_count + 1, sizeof *r->channels);
    if (r->channels == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < r->channel_count; i++)
        r->channels[i] = (struct report_channel){ .channel = list[i] };
    st = openings_read(db, a, r);
    return st == ST_OK ? flows_read(db, a, r) : st;
}

/* ---- what the site owes ---- */

static enum status balances_read(struct db *db, struct arena *a, struct report *r)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT kind, SUM(balance_fen) FROM account GROUP BY kind", NULL, 0);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const struct str kind = db_cell(&rows, i, 0);
        int64_t *sum = str_equal(kind, STR("wallet"))    ? &r->wallets_fen
                       : str_equal(kind, STR("escrow"))  ? &r->escrows_fen
                       : str_equal(kind, STR("pending")) ? &r->pending_fen
                                                         : &r->channels_fen;
        *sum += db_cell_i64(&rows, i, 1);
    }
    r->is_balanced = r->channels_fen + r->wallets_fen + r->escrows_fen + r->pending_fen == 0;
    for (size_t i = 0; i < r->channel_count && r->until_ms == INT64_MAX; i++)
        if (r->channels[i].flows.closing_fen != r->channels[i].channel.balance_fen)
            r->is_balanced = false;
    return st;
}

static enum status report_body(struct db *db, void *ctx)
{
    const struct reading *reading = ctx;
    struct report *r = reading->report;
    r->channels_fen = r->wallets_fen = r->escrows_fen = r->pending_fen = 0;
    r->days = NULL;
    enum status st = channels_read(db, reading->arena, r);
    if (st == ST_OK)
        st = balances_read(db, reading->arena, r);
    return st == ST_OK ? db_clock_ms(db, reading->arena, &r->read_ms) : st;
}

static enum status channels_body(struct db *db, void *ctx)
{
    const struct reading *reading = ctx;
    enum status st = channels_read(db, reading->arena, reading->report);
    return st == ST_OK ? db_clock_ms(db, reading->arena, &reading->report->read_ms) : st;
}

enum status report_channels_read(struct db *db, struct arena *a, struct report *r)
{
    struct reading reading = { a, r };
    return db_snapshot(db, channels_body, &reading);
}

enum status report_read(struct db *db, struct arena *a, struct report *r)
{
    struct reading reading = { a, r };
    return db_snapshot(db, report_body, &reading);
}
