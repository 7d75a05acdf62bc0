#include "packet/returns.h"

#include "base/buf.h"
#include "packet/split.h"

/* ---- rows ---- */

#define RETURN_COLUMNS "packet_id, share_no, user_id, amount_fen, position, returned_ms, applied_ms"

static struct share_return return_from_row(const struct db_rows *rows, size_t row)
{
    return (struct share_return){ .packet_id = db_cell_u64(rows, row, 0),
                                  .share_no = (uint32_t)db_cell_u64(rows, row, 1),
                                  .user_id = db_cell_u64(rows, row, 2),
                                  .amount_fen = db_cell_i64(rows, row, 3),
                                  .position = db_cell(rows, row, 4).ptr == NULL ? PACKET_NO_SHARE
                                                                                : (uint32_t)db_cell_u64(rows, row, 4),
                                  .returned_ms = db_cell_i64(rows, row, 5),
                                  .applied = db_cell(rows, row, 6).ptr != NULL };
}

enum status returns_find_between(struct db *db, struct arena *a, uint64_t first, uint64_t last,
                                 struct share_return **out, size_t *out_count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT " RETURN_COLUMNS " FROM share_return WHERE packet_id BETWEEN ? AND ?"
                              " ORDER BY packet_id, position IS NULL, position, share_no",
                              DB_PARAMS(DB_U64(first), DB_U64(last)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = return_from_row(&rows, i);
    *out_count = rows.count;
    return ST_OK;
}

enum status returns_find(struct db *db, struct arena *a, uint64_t packet_id, struct share_return **out,
                         size_t *out_count)
{
    return returns_find_between(db, a, packet_id, packet_id, out, out_count);
}

enum status return_find(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no, struct share_return *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT " RETURN_COLUMNS " FROM share_return WHERE packet_id = ? AND share_no = ?",
                DB_PARAMS(DB_U64(packet_id), DB_U64(share_no)));
    if (st != ST_OK)
        return st;
    *out = return_from_row(&rows, 0);
    return ST_OK;
}

enum status return_insert(struct db *db, const struct share_return *r)
{
    return db_exec(db, NULL,
                   "INSERT INTO share_return (packet_id, share_no, user_id, amount_fen, position, returned_ms)"
                   " VALUES (?, ?, ?, ?, ?, ?)",
                   DB_PARAMS(DB_U64(r->packet_id), DB_U64(r->share_no), DB_U64(r->user_id), DB_I64(r->amount_fen),
                             r->position != PACKET_NO_SHARE ? DB_U64(r->position) : DB_NULL, DB_I64(r->returned_ms)));
}

enum status return_count(struct db *db, const struct share_return *r, uint32_t best_share_no)
{
    return db_exec(db, NULL,
                   "UPDATE packet SET returned_count = returned_count + 1, returned_fen = returned_fen + ?,"
                   " best_share_no = ? WHERE id = ?",
                   DB_PARAMS(DB_I64(r->amount_fen), best_share_no != PACKET_NO_SHARE ? DB_U64(best_share_no) : DB_NULL,
                             DB_U64(r->packet_id)));
}

enum status return_mark_applied(struct db *db, const struct share_return *r, int64_t now_ms)
{
    return db_exec(db, NULL,
                   "UPDATE share_return SET applied_ms = ? WHERE packet_id = ? AND share_no = ?"
                   " AND applied_ms IS NULL",
                   DB_PARAMS(DB_I64(now_ms), DB_U64(r->packet_id), DB_U64(r->share_no)));
}

/* ---- pure ---- */

/* True when one more share may go back into the packet: at most as many as the packet was sent with. Without a limit,
 * users could open a share and give it back in turn, and the packet would grow without end. */
static bool returns_allowed(const struct packet *p)
{
    return p->returned_count < p->count;
}

/* True when one more share of the open packet could be taken. Each named receiver takes at most one share, so a packet
 * with named receivers has room for no more shares than receivers. */
static bool return_has_taker(const struct packet *p)
{
    uint32_t receivers = p->kind == PACKET_EXCLUSIVE ? 1 : p->receiver_count;
    return receivers == 0 || packet_share_total(p) < receivers;
}

enum return_way return_way(const struct packet *p, bool open, uint64_t user_id)
{
    if (open && return_has_taker(p))
        return returns_allowed(p) ? RETURN_TO_PACKET : RETURN_TOO_MANY;
    return p->sender_id == user_id ? RETURN_OWN : RETURN_TO_SENDER;
}

enum status returns_shares(const struct packet *p, const struct share_return *returns, size_t count, int64_t *out_fen)
{
    int64_t sum_fen = 0;
    uint32_t next = p->count;
    enum status st = split_packet(p, out_fen);
    for (size_t i = 0; st == ST_OK && i < count && returns[i].position != PACKET_NO_SHARE; i++) {
        if (returns[i].position != next || next == packet_share_total(p))
            return ST_CORRUPT;
        out_fen[next++] = returns[i].amount_fen;
        sum_fen += returns[i].amount_fen;
    }
    if (st == ST_OK && (next != packet_share_total(p) || sum_fen != p->returned_fen))
        return ST_CORRUPT;
    return st;
}

static bool was_returned(const struct share_return *returns, size_t count, uint32_t share_no)
{
    for (size_t i = 0; i < count; i++)
        if (returns[i].share_no == share_no && returns[i].position != PACKET_NO_SHARE)
            return true;
    return false;
}

uint32_t returns_best_share(const struct packet *p, const int64_t *shares_fen, uint32_t share_total,
                            const struct share_return *returns, size_t count)
{
    uint32_t best = PACKET_NO_SHARE;
    if (p->kind != PACKET_LUCKY)
        return PACKET_NO_SHARE;
    for (uint32_t i = 0; i < share_total; i++)
        if ((best == PACKET_NO_SHARE || shares_fen[i] > shares_fen[best]) && !was_returned(returns, count, i))
            best = i;
    return best;
}

struct str returns_text(struct arena *a, const struct share_return *returns, size_t count)
{
    struct buf text = BUF_EMPTY;
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_char(&text, ',');
        buf_u64(&text, returns[i].share_no);
    }
    struct str copy = text.failed ? STR_NONE : count == 0 ? STR("") : arena_str(a, buf_view(&text));
    buf_free(&text);
    return copy;
}

int64_t returns_text_count(struct str text)
{
    int64_t count = 0;
    for (; text.len > 0; count++)
        (void)str_cut(text, ',', &text);
    return count;
}

bool returns_text_has(struct str text, uint32_t share_no)
{
    while (text.len > 0) {
        uint64_t number;
        struct str first = str_cut(text, ',', &text);
        if (str_to_u64(first, &number) && number == share_no)
            return true;
    }
    return false;
}
