#include "settle/rows_internal.h"

#include <assert.h>

#include "base/crash.h"
#include "live/event.h"
#include "packet/packet.h"
#include "settle/fault.h"
#include "settle/verify_internal.h"

/* The statements take lists of rows as JSON: in both MariaDB and MySQL, only JSON_TABLE can join a list into an UPDATE.
 * That costs MariaDB a tenth of one UPDATE for each row. */

static enum status fault_set(struct settle_rows *k, enum settle_fault_kind kind, uint64_t packet_id)
{
    k->w->fault = (struct settle_fault){ .kind = kind, .packet_id = packet_id };
    return ST_CORRUPT;
}

enum {
    OWN_COLUMNS = 10,      /* before VERIFY_COLUMNS */
    INSERT_ROWS_MAX = 1000 /* with the longest nicknames they fit into a max_allowed_packet of 1 MiB */
};

/* Locks the packets' rows in the ascending order of the list, and fills the packets for settle_packet_check. */
static enum status packets_lock(struct settle_rows *k, struct db *db, struct db_rows *rows)
{
    struct settle_batch *b = &k->batch;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT p.id, p.sender_id, p.state, p.amount_fen + p.returned_fen,"
                      " p.count + p.returned_count, p.best_share_no, p.grabbed_count, p.grabbed_fen, p.refund_fen,"
                      " p.returned_fen, " VERIFY_COLUMNS " FROM (SELECT id FROM JSON_TABLE('[");
    for (size_t i = 0; i < b->packet_count; i++) {
        db_comma(&k->sql, i);
        buf_u64(&k->sql, b->packets[i].id);
    }
    /* A derived table, because MySQL refuses to lock the rows of a JSON_TABLE itself. */
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS list) AS j"
                      " STRAIGHT_JOIN packet AS p ON p.id = j.id FOR UPDATE");
    enum status st = db_query_buf(db, k->arena, rows, &k->sql);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < rows->count; i++) {
        struct settle_packet *p = settle_batch_packet(b, db_cell_u64(rows, i, 0));
        if (p == NULL)
            return ST_CORRUPT;
        p->found = true;
        p->row = i;
        p->sender_id = db_cell_u64(rows, i, 1);
        p->closed = str_equal(db_cell(rows, i, 2), packet_state_name(PACKET_CLOSED));
        p->amount_fen = db_cell_i64(rows, i, 3);
        p->count = (uint32_t)db_cell_u64(rows, i, 4);
        p->best_share_no = db_cell(rows, i, 5).ptr == NULL ? PACKET_NO_SHARE : (uint32_t)db_cell_u64(rows, i, 5);
        p->row_grabs = (uint32_t)db_cell_u64(rows, i, 6);
        p->row_grabs_fen = db_cell_i64(rows, i, 7);
        p->row_refund_fen = db_cell_i64(rows, i, 8);
        p->returned_fen = db_cell_i64(rows, i, 9);
    }
    return ST_OK;
}

/* Drops the grabs of the batch that are settled with the same user and amount. Other content for a settled share is a
 * fault. */
static enum status grabs_drop_settled(struct settle_rows *k, struct db *db)
{
    struct settle_batch *b = &k->batch;
    struct db_rows rows;
    if (b->grab_count == 0)
        return ST_OK;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT j.place, g.user_id, g.amount_fen FROM JSON_TABLE('[");
    for (size_t i = 0; i < b->grab_count; i++) {
        db_comma(&k->sql, i);
        buf_printf(&k->sql, "[%llu,%u]", (unsigned long long)b->grabs[i]->packet_id, b->grabs[i]->share_no);
    }
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (place FOR ORDINALITY, packet BIGINT UNSIGNED PATH '$[0]',"
                      " share INT UNSIGNED PATH '$[1]')) AS j"
                      " STRAIGHT_JOIN grab AS g ON g.packet_id = j.packet AND g.share_no = j.share"
                      /* from the end, so that dropping a grab does not move the remaining places */
                      " ORDER BY j.place DESC");
    enum status st = db_query_buf(db, k->arena, &rows, &k->sql);
    for (size_t row = 0; st == ST_OK && row < rows.count; row++) {
        size_t i = (size_t)db_cell_u64(&rows, row, 0) - 1;
        assert(i < b->grab_count);
        const struct live_event *e = b->grabs[i];
        if (e->user_id != db_cell_u64(&rows, row, 1) || e->amount_fen != db_cell_i64(&rows, row, 2))
            return fault_set(k, FAULT_SETTLED_MISMATCH, e->packet_id);
        settle_batch_drop(b, i);
    }
    return st;
}

/* Sets the fault to the first grab of a user without a wallet. */
static enum status account_missing(struct settle_rows *k, struct db *db)
{
    const struct settle_batch *b = &k->batch;
    struct db_rows rows;
    (void)fault_set(k, FAULT_ACCOUNT_MISSING, 0);
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT j.id FROM JSON_TABLE('[");
    for (size_t i = 0; i < b->account_count; i++) {
        db_comma(&k->sql, i);
        buf_u64(&k->sql, b->accounts[i].id);
    }
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$')) AS j"
                      " LEFT JOIN account AS a ON a.id = j.id AND a.kind = 'wallet' WHERE a.id IS NULL");
    enum status st = db_query_buf(db, k->arena, &rows, &k->sql);
    for (size_t i = 0; st == ST_OK && i < k->event_count; i++) {
        const struct live_event *e = &k->events[i];
        for (size_t row = 0; row < rows.count; row++)
            if (e->type == LIVE_EVENT_GRAB && e->user_id == db_cell_u64(&rows, row, 0)) {
                k->w->fault.packet_id = e->packet_id;
                k->w->fault.event = e->id;
                return ST_CORRUPT;
            }
    }
    return st == ST_OK ? ST_CORRUPT : st;
}

/* Appends the refunds as a parameter of ledger_settle: NULL when there are none. */
static void refunds_append(struct settle_rows *k)
{
    const struct settle_batch *b = &k->batch;
    size_t count = 0;
    for (size_t i = 0; i < b->packet_count; i++) {
        const struct settle_packet *p = &b->packets[i];
        if (p->refund_fen == 0)
            continue;
        buf_cstr(&k->sql, count++ == 0 ? "'[" : ",");
        buf_printf(&k->sql, "[%llu,%lld]", (unsigned long long)p->id, (long long)p->refund_fen);
        k->w->refunded_fen += p->refund_fen;
    }
    if (count > 0)
        crash_point("expire-before-refund");
    buf_cstr(&k->sql, count > 0 ? "]'" : "NULL");
}

/* Changes all accounts, in the ascending order of their ids, and inserts the transfers of refunds. */
static enum status accounts_change(struct settle_rows *k, struct db *db)
{
    const struct settle_batch *b = &k->batch;
    if (b->account_count == 0)
        return ST_OK;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "CALL ledger_settle('[");
    for (size_t i = 0; i < b->account_count; i++) {
        db_comma(&k->sql, i);
        buf_printf(&k->sql, "[%llu,%lld]", (unsigned long long)b->accounts[i].id, (long long)b->accounts[i].change_fen);
    }
    buf_cstr(&k->sql, "]',");
    refunds_append(k);
    buf_printf(&k->sql, ",%lld)", (long long)k->w->now_ms);
    enum status st = db_exec_buf(db, NULL, &k->sql);
    if (st == ST_NOT_FOUND)
        return account_missing(k, db);
    return st == ST_INVALID ? fault_set(k, FAULT_BALANCE_NEGATIVE, 0) : st;
}

/* A grab's row is its transfer, too: from the packet's escrow to the user's wallet. packets_lock has locked the
 * packets' rows, and accounts_change the rows of both accounts, which belong to the packet and to a user. So the
 * foreign keys hold, and no role may delete a packet or a user. MariaDB does not look them up here: that would cost a
 * quarter of the INSERT, and lock the row of each user until COMMIT. */
static enum status grabs_insert_some(struct settle_rows *k, struct db *db, size_t first, size_t end)
{
    const struct settle_batch *b = &k->batch;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "/*M! SET STATEMENT foreign_key_checks = 0 FOR */"
                      " INSERT INTO grab (packet_id, share_no, user_id, nickname, amount_fen, grabbed_ms) VALUES ");
    for (size_t i = first; i < end; i++) {
        const struct live_event *e = b->grabs[i];
        db_comma(&k->sql, i - first);
        buf_printf(&k->sql, "(%llu,%u,%llu,", (unsigned long long)e->packet_id, e->share_no,
                   (unsigned long long)e->user_id);
        db_append(db, &k->sql, &DB_TEXT(e->nickname));
        buf_printf(&k->sql, ",%lld,%lld)", (long long)e->amount_fen, (long long)settle_grab_ms(e, k->now_ms));
    }
    return db_exec_buf(db, NULL, &k->sql);
}

static enum status grabs_insert(struct settle_rows *k, struct db *db)
{
    const size_t count = k->batch.grab_count;
    enum status st = ST_OK;
    for (size_t first = 0, end; st == ST_OK && first < count; first = end) {
        end = count - first > INSERT_ROWS_MAX ? first + INSERT_ROWS_MAX : count;
        st = grabs_insert_some(k, db, first, end);
    }
    return st;
}

/* Finds the receivers of the best shares of the lucky packets that finish with this batch. The grab of a best share may
 * belong to an earlier batch. */
static enum status best_find(struct settle_rows *k, struct db *db, struct settle_best **out, size_t *out_count)
{
    const struct settle_batch *b = &k->batch;
    struct db_rows rows;
    size_t listed = 0;
    *out = NULL;
    *out_count = 0;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT g.user_id, g.grabbed_ms FROM JSON_TABLE('[");
    for (size_t i = 0; i < b->packet_count; i++) {
        if (!b->packets[i].finishes || b->packets[i].best_share_no == PACKET_NO_SHARE)
            continue;
        db_comma(&k->sql, listed++);
        buf_printf(&k->sql, "[%llu,%u]", (unsigned long long)b->packets[i].id, b->packets[i].best_share_no);
    }
    if (listed == 0)
        return ST_OK;
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (packet BIGINT UNSIGNED PATH '$[0]', share INT UNSIGNED PATH '$[1]')) AS j"
                      " STRAIGHT_JOIN grab AS g ON g.packet_id = j.packet AND g.share_no = j.share");
    enum status st = db_query_buf(db, k->arena, &rows, &k->sql);
    if (st != ST_OK)
        return st;
    if (rows.count != listed)
        return fault_set(k, FAULT_BEST_SHARE_MISSING, 0);
    *out = arena_array(k->arena, listed, sizeof(**out));
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < listed; i++)
        (*out)[i] = (struct settle_best){ .user_id = db_cell_u64(&rows, i, 0), .grabbed_ms = db_cell_i64(&rows, i, 1) };
    *out_count = listed;
    return ST_OK;
}

static enum status months_write(struct settle_rows *k, struct db *db)
{
    const struct settle_batch *b = &k->batch;
    if (b->month_count == 0)
        return ST_OK;
    buf_reset(&k->sql);
    buf_cstr(&k->sql,
             "INSERT INTO user_month (user_id, year, month, received_count, received_fen, best_count) VALUES ");
    for (size_t i = 0; i < b->month_count; i++) {
        const struct settle_month *m = &b->months[i];
        db_comma(&k->sql, i);
        buf_printf(&k->sql, "(%llu,%d,%d,%u,%lld,%u)", (unsigned long long)m->user_id, m->year, m->month, m->count,
                   (long long)m->amount_fen, m->best_count);
    }
    buf_cstr(&k->sql, " ON DUPLICATE KEY UPDATE received_count = received_count + VALUES(received_count),"
                      " received_fen = received_fen + VALUES(received_fen),"
                      " best_count = best_count + VALUES(best_count)");
    return db_exec_buf(db, NULL, &k->sql);
}

static enum status totals_add(struct settle_rows *k, struct db *db)
{
    struct settle_best *best;
    size_t best_count;
    enum status st = best_find(k, db, &best, &best_count);
    if (st == ST_OK)
        st = settle_batch_totals(k->arena, &k->batch, best, best_count, clock_zone_date);
    return st == ST_OK ? months_write(k, db) : st;
}

static enum status packets_update(struct settle_rows *k, struct db *db)
{
    const struct settle_batch *b = &k->batch;
    size_t rows = 0;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "UPDATE JSON_TABLE('[");
    for (size_t i = 0; i < b->packet_count; i++) {
        const struct settle_packet *p = &b->packets[i];
        if (p->grabs == 0 && !p->closes)
            continue;
        db_comma(&k->sql, rows++);
        buf_printf(&k->sql, "[%llu,%u,%lld,%lld,%lld,%d]", (unsigned long long)p->id, p->grabs, (long long)p->grabs_fen,
                   (long long)p->refund_fen, (long long)(p->finishes ? p->last_grab_ms : 0), p->closes);
        if (p->closes)
            k->w->closed_ids[k->w->closed_count++] = p->id;
    }
    if (rows == 0)
        return ST_OK;
    buf_cstr(&k->sql,
             "]', '$[*]' COLUMNS (id BIGINT UNSIGNED PATH '$[0]', grabs INT PATH '$[1]', fen BIGINT PATH '$[2]',"
             " refund BIGINT PATH '$[3]', finished BIGINT PATH '$[4]', closes INT PATH '$[5]')) AS j"
             " STRAIGHT_JOIN packet AS p ON p.id = j.id SET p.grabbed_count = p.grabbed_count + j.grabs,"
             " p.grabbed_fen = p.grabbed_fen + j.fen, p.refund_fen = p.refund_fen + j.refund,"
             " p.finished_ms = IF(j.finished > 0, j.finished, p.finished_ms),"
             " p.state = IF(j.closes, 'closed', 'open'), p.closed_ms = IF(j.closes, ");
    buf_i64(&k->sql, k->w->now_ms);
    buf_cstr(&k->sql, ", p.closed_ms)");
    return db_exec_buf(db, NULL, &k->sql);
}

enum status settle_rows_write(struct settle_rows *k, struct db *db)
{
    struct settle_batch *b = &k->batch;
    struct db_rows rows = { 0 };
    enum status st = verify_begin(k, db);
    if (st == ST_OK)
        st = settle_batch_group(k->arena, k->events, k->event_count, k->now_ms, b, &k->w->fault);
    if (st == ST_OK)
        st = packets_lock(k, db, &rows);
    crash_point("settle-after-packets-lock");
    if (st == ST_OK && k->drop_settled)
        st = grabs_drop_settled(k, db);
    if (st == ST_OK)
        st = verify_batch(k, db, &rows, OWN_COLUMNS);
    for (size_t i = 0; st == ST_OK && i < b->packet_count; i++)
        st = settle_packet_check(&b->packets[i], &k->w->fault);
    if (st == ST_OK)
        st = settle_batch_accounts(k->arena, b);
    if (st == ST_OK)
        st = accounts_change(k, db);
    crash_point("settle-after-accounts");
    if (st == ST_OK)
        st = grabs_insert(k, db);
    crash_point("settle-after-grabs");
    if (st == ST_OK)
        st = totals_add(k, db);
    crash_point("settle-after-months");
    if (st == ST_OK)
        st = packets_update(k, db);
    crash_point("settle-after-packets");
    return st;
}
