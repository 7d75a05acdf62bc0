#include "settle/verify.h"

#include <string.h>

#include "base/utf8.h"
#include "packet/packet.h"
#include "settle/shares.h"
#include "settle/verify_internal.h"

enum { NICKNAME_CODEPOINTS_MAX = 64 }; /* width of the SQL column */

/* ---- pure ---- */

static bool nickname_is_possible(struct str name)
{
    for (size_t i = 0; i < name.len; i++)
        if ((unsigned char)name.ptr[i] < ' ' || name.ptr[i] == '\x7f')
            return false;
    return utf8_valid(name) && utf8_codepoints(name) <= NICKNAME_CODEPOINTS_MAX;
}

static bool is_before(uint64_t ms, int64_t limit_ms)
{
    return limit_ms > 0 && ms < (uint64_t)limit_ms;
}

enum settle_fault_kind verify_grab(const struct verify_terms *t, const struct live_event *e, int64_t now_ms)
{
    if (!nickname_is_possible(e->nickname))
        return FAULT_NICKNAME;
    if (t->receiver_id != 0 && t->receiver_id != e->user_id)
        return FAULT_NOT_RECEIVER;
    if (!e->follows && settle_id_is_future(e->id, now_ms))
        return FAULT_IN_FUTURE;
    /* Compares with both times: either may be later than the grab, the id's and this clock's. */
    if (is_before(e->id.ms, t->opens_ms) || is_before((uint64_t)(now_ms + VERIFY_MARGIN_MS), t->opens_ms))
        return FAULT_BEFORE_OPENING;
    if (!e->follows && t->ended_ms == 0 && e->id.ms >= (uint64_t)(t->expires_ms + VERIFY_MARGIN_MS))
        return FAULT_AFTER_EXPIRY;
    return FAULT_NONE;
}

enum settle_fault_kind verify_close(const struct verify_terms *t, const struct live_event *e, int64_t now_ms)
{
    if (!e->follows && settle_id_is_future(e->id, now_ms))
        return FAULT_IN_FUTURE;
    if (t->ended_ms == 0 &&
        (is_before(e->id.ms, t->expires_ms) || is_before((uint64_t)(now_ms + VERIFY_MARGIN_MS), t->expires_ms)))
        return FAULT_CLOSED_EARLY;
    return FAULT_NONE;
}

/* ---- a batch ---- */

static enum status fault_set(struct settle_rows *k, enum settle_fault_kind kind, const struct live_event *e)
{
    k->w->fault = (struct settle_fault){ .kind = kind, .packet_id = e->packet_id, .event = e->id };
    return ST_CORRUPT;
}

enum status verify_begin(struct settle_rows *k, struct db *db)
{
    int64_t db_ms = 0;
    bool behind = false; /* Redis, which made the ids, has a later time than this process */
    k->now_ms = k->w->now_ms;
    for (size_t i = 0; i < k->event_count; i++) {
        const struct live_event *e = &k->events[i];
        if (k->w->partitions > 0 && packet_partition(e->packet_id, k->w->partitions) != k->w->partition)
            return fault_set(k, FAULT_OTHER_PARTITION, e);
        behind = behind || e->id.ms > (uint64_t)(k->now_ms + VERIFY_MARGIN_MS / 2);
    }
    if (!behind)
        return ST_OK;
    enum status st = db_clock_ms(db, k->arena, &db_ms);
    if (k->now_ms < db_ms)
        k->now_ms = db_ms;
    return st;
}

/* The columns in the order of VERIFY_COLUMNS. */
enum { RECEIVER, RECEIVERS, OPENS, EXPIRES, ENDED, SPLIT, AMOUNT, COUNT, SHARE_MIN, SHARE_MAX, SEED };

/* A row of a packet. */
struct row {
    const struct db_rows *rows;
    size_t no, first_column;
};

static struct str cell(const struct row *r, size_t column)
{
    return db_cell(r->rows, r->no, r->first_column + column);
}

/* A number of an unsigned column; 0 for NULL. */
static uint64_t number(const struct row *r, size_t column)
{
    return cell(r, column).ptr == NULL ? 0 : db_cell_u64(r->rows, r->no, r->first_column + column);
}

/* An amount or a time, which an intruder in a pool may have set below 0; 0 for NULL. */
static int64_t signed_number(const struct row *r, size_t column)
{
    return cell(r, column).ptr == NULL ? 0 : db_cell_i64(r->rows, r->no, r->first_column + column);
}

static bool draw_read(const struct row *r, uint64_t packet_id, struct packet *out)
{
    *out = (struct packet){ .id = packet_id,
                            .amount_fen = signed_number(r, AMOUNT),
                            .count = (uint32_t)number(r, COUNT),
                            .share_min_fen = signed_number(r, SHARE_MIN),
                            .share_max_fen = signed_number(r, SHARE_MAX) };
    struct str seed = cell(r, SEED);
    if (seed.len != sizeof out->seed || !split_method_from(cell(r, SPLIT), &out->split))
        return false;
    memcpy(out->seed, seed.ptr, sizeof out->seed);
    return true;
}

/* Grabs that need a query. */
struct list {
    const struct live_event **items;
    size_t count;
};

struct verify {
    struct settle_rows *k;
    struct list returned; /* grabs of shares that were given back before */
    struct list named;    /* grabs of packets for several receivers */
};

/* Checks the grabs of a packet, which follow each other in the batch, by its row. */
static enum status grabs_verify(struct verify *v, const struct row *r, const struct verify_terms *terms,
                                struct live_event *const *grabs, size_t count)
{
    struct settle_rows *k = v->k;
    const bool several = number(r, RECEIVERS) > 0;
    const int64_t *shares_fen = NULL;
    struct packet draw;
    if (!draw_read(r, grabs[0]->packet_id, &draw))
        return ST_CORRUPT;
    for (size_t i = 0; i < count; i++) {
        const struct live_event *e = grabs[i];
        const enum settle_fault_kind fault = verify_grab(terms, e, k->now_ms);
        if (fault != FAULT_NONE)
            return fault_set(k, fault, e);
        if (several)
            v->named.items[v->named.count++] = e;
        if (e->share_no >= draw.count) {
            v->returned.items[v->returned.count++] = e;
            continue;
        }
        enum status st = shares_fen == NULL ? shares_drawn(k->w->shares, &draw, &shares_fen) : ST_OK;
        if (st != ST_OK)
            return st == ST_INVALID ? fault_set(k, FAULT_SHARES_LOST, e) : st;
        if (e->amount_fen != shares_fen[e->share_no])
            return fault_set(k, FAULT_NOT_DRAWN, e);
    }
    return ST_OK;
}

/* Checks that a share that was given back has the amount of its first grab: a pool can insert rows of share_return, but
 * moves money only by ledger_return. */
static enum status returned_verify(struct verify *v, struct db *db)
{
    struct settle_rows *k = v->k;
    struct db_rows rows;
    if (v->returned.count == 0)
        return ST_OK;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT j.place, g.amount_fen, t.id FROM JSON_TABLE('[");
    for (size_t i = 0; i < v->returned.count; i++) {
        const struct live_event *e = v->returned.items[i];
        db_comma(&k->sql, i);
        buf_printf(&k->sql, "[%llu,%u]", (unsigned long long)e->packet_id, e->share_no);
    }
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (place FOR ORDINALITY, packet BIGINT UNSIGNED PATH '$[0]',"
                      " share INT UNSIGNED PATH '$[1]')) AS j"
                      " LEFT JOIN share_return AS r ON r.packet_id = j.packet AND r.position = j.share"
                      " LEFT JOIN `grab` AS g ON g.packet_id = r.packet_id AND g.share_no = r.share_no"
                      " LEFT JOIN transfer AS t ON t.kind = 'return' AND t.packet_id = r.packet_id"
                      " AND t.seq = r.share_no AND t.credit_id = r.packet_id ORDER BY j.place");
    enum status st = db_query_buf(db, k->arena, &rows, &k->sql);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const struct live_event *e = v->returned.items[db_cell_u64(&rows, i, 0) - 1];
        if (db_cell(&rows, i, 1).ptr == NULL)
            st = fault_set(k, FAULT_SHARES_EXCEEDED, e);
        else if (db_cell(&rows, i, 2).ptr == NULL)
            st = fault_set(k, FAULT_NOT_RETURNED, e);
        else if (db_cell_i64(&rows, i, 1) != e->amount_fen)
            st = fault_set(k, FAULT_NOT_DRAWN, e);
    }
    return st;
}

/* Checks grabs of packets for several receivers. The send writes their rows of packet_receiver. A pool can insert rows
 * later, but can't change the packet's receiver_count. When there are more rows, the tables do not show which came
 * later, so no receiver is paid. */
static enum status named_verify(struct verify *v, struct db *db)
{
    struct settle_rows *k = v->k;
    struct db_rows rows;
    if (v->named.count == 0)
        return ST_OK;
    buf_reset(&k->sql);
    buf_cstr(&k->sql, "SELECT j.place, r.user_id FROM JSON_TABLE('[");
    for (size_t i = 0; i < v->named.count; i++) {
        const struct live_event *e = v->named.items[i];
        db_comma(&k->sql, i);
        const bool first = i == 0 || v->named.items[i - 1]->packet_id != e->packet_id;
        buf_printf(&k->sql, "[%llu,%llu,%d]", (unsigned long long)e->packet_id, (unsigned long long)e->user_id, first);
    }
    buf_cstr(&k->sql, "]', '$[*]' COLUMNS (place FOR ORDINALITY, packet BIGINT UNSIGNED PATH '$[0]',"
                      " receiver BIGINT UNSIGNED PATH '$[1]', first BOOLEAN PATH '$[2]')) AS j"
                      " STRAIGHT_JOIN packet AS p ON p.id = j.packet"
                      " LEFT JOIN packet_receiver AS r ON r.packet_id = j.packet AND r.user_id = j.receiver"
                      " WHERE r.user_id IS NULL OR (j.first AND p.receiver_count <"
                      " (SELECT COUNT(*) FROM packet_receiver WHERE packet_id = j.packet))"
                      " ORDER BY j.place LIMIT 1");
    enum status st = db_query_buf(db, k->arena, &rows, &k->sql);
    if (st != ST_OK || rows.count == 0)
        return st;
    return fault_set(k, db_cell(&rows, 0, 1).ptr == NULL ? FAULT_NOT_RECEIVER : FAULT_RECEIVER_ADDED,
                     v->named.items[db_cell_u64(&rows, 0, 0) - 1]);
}

enum status verify_batch(struct settle_rows *k, struct db *db, const struct db_rows *rows, size_t first_column)
{
    const struct settle_batch *b = &k->batch;
    struct verify v = { .k = k };
    enum status st = ST_OK;
    v.returned.items = arena_array(k->arena, b->grab_count + 1, sizeof(struct live_event *));
    v.named.items = arena_array(k->arena, b->grab_count + 1, sizeof(struct live_event *));
    if (v.returned.items == NULL || v.named.items == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0, grab = 0; st == ST_OK && i < b->packet_count; grab += b->packets[i++].grabs) {
        const struct settle_packet *p = &b->packets[i];
        if (!p->found || p->closed)
            continue;
        const struct row r = { rows, p->row, first_column };
        const struct verify_terms terms = { .receiver_id = number(&r, RECEIVER),
                                            .opens_ms = signed_number(&r, OPENS),
                                            .expires_ms = signed_number(&r, EXPIRES),
                                            .ended_ms = signed_number(&r, ENDED) };
        if (p->grabs > 0)
            st = grabs_verify(&v, &r, &terms, &b->grabs[grab], p->grabs);
        enum settle_fault_kind fault =
            st == ST_OK && p->has_close ? verify_close(&terms, p->close_event, k->now_ms) : FAULT_NONE;
        if (fault != FAULT_NONE)
            st = fault_set(k, fault, p->close_event);
    }
    if (st == ST_OK)
        st = returned_verify(&v, db);
    return st == ST_OK ? named_verify(&v, db) : st;
}
