#include "packet/thanks.h"

#include "packet/packet.h"

enum status thanks_insert(struct db *db, const struct thanks *t)
{
    enum status st =
        db_exec(db, NULL, "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) VALUES (?, ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(t->packet_id), DB_U64(t->share_no), DB_U64(t->user_id), DB_TEXT(t->text),
                          DB_I64(t->created_ms)));
    if (st == ST_OK)
        st = db_exec(db, NULL, "UPDATE packet SET thanks_count = thanks_count + 1 WHERE id = ?",
                     DB_PARAMS(DB_U64(t->packet_id)));
    return st;
}

enum status thanks_find(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no, struct str *text)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT text FROM thanks WHERE packet_id = ? AND share_no = ?",
                             DB_PARAMS(DB_U64(packet_id), DB_U64(share_no)));
    if (st == ST_OK)
        *text = db_cell(&rows, 0, 0);
    return st;
}

enum status thanks_find_all(struct db *db, struct arena *a, uint64_t packet_id, struct grab *grabs, size_t count)
{
    struct db_rows rows = { 0 };
    uint32_t first = PACKET_NO_SHARE, last = 0;
    for (size_t i = 0; i < count; i++) {
        first = grabs[i].share_no < first ? grabs[i].share_no : first;
        last = grabs[i].share_no > last ? grabs[i].share_no : last;
    }
    enum status st = count == 0 ? ST_OK
                                : db_query(db, a, &rows,
                                           "SELECT share_no, text FROM thanks WHERE packet_id = ?"
                                           " AND share_no BETWEEN ? AND ?",
                                           DB_PARAMS(DB_U64(packet_id), DB_U64(first), DB_U64(last)));
    for (size_t row = 0; st == ST_OK && row < rows.count; row++)
        for (size_t i = 0; i < count; i++)
            if (grabs[i].share_no == db_cell_u64(&rows, row, 0))
                grabs[i].thanks = db_cell(&rows, row, 1);
    return st;
}

enum status thanks_of_user(struct db *db, struct arena *a, uint64_t user_id, const uint64_t *packet_ids, size_t count,
                           struct str *texts)
{
    struct buf sql = BUF_EMPTY;
    struct db_rows rows = { 0 };
    if (count == 0)
        return ST_OK;
    buf_cstr(&sql, "SELECT packet_id, text FROM thanks WHERE user_id = ");
    buf_u64(&sql, user_id);
    buf_cstr(&sql, " AND packet_id IN ");
    db_ids(&sql, packet_ids, count);
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; i < count; i++)
        texts[i] = STR_NONE;
    for (size_t row = 0; st == ST_OK && row < rows.count; row++)
        for (size_t i = 0; i < count; i++)
            if (packet_ids[i] == db_cell_u64(&rows, row, 0))
                texts[i] = db_cell(&rows, row, 1);
    return st;
}

/* ---- telling Redis ---- */

enum status thanks_find_pending(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no,
                                struct thanks_pending *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows,
                "SELECT thanks.user_id, thanks.text, thanks.created_ms, packet.thanks_count, packet.state = 'closed'"
                " FROM thanks JOIN packet ON packet.id = thanks.packet_id"
                " WHERE thanks.packet_id = ? AND thanks.share_no = ? AND thanks.applied_ms IS NULL",
                DB_PARAMS(DB_U64(packet_id), DB_U64(share_no)));
    if (st == ST_OK)
        *out = (struct thanks_pending){ .thanks = { .packet_id = packet_id,
                                                    .share_no = share_no,
                                                    .user_id = db_cell_u64(&rows, 0, 0),
                                                    .text = db_cell(&rows, 0, 1),
                                                    .created_ms = db_cell_i64(&rows, 0, 2) },
                                        .packet_count = (uint32_t)db_cell_u64(&rows, 0, 3),
                                        .packet_closed = db_cell_u64(&rows, 0, 4) != 0 };
    return st;
}

enum status thanks_mark_applied(struct db *db, const struct thanks *t, int64_t now_ms)
{
    return db_exec(db, NULL, "UPDATE thanks SET applied_ms = ? WHERE packet_id = ? AND share_no = ?",
                   DB_PARAMS(DB_I64(now_ms), DB_U64(t->packet_id), DB_U64(t->share_no)));
}

enum status thanks_mark_lost(struct db *db, uint64_t packet_id)
{
    return db_exec(db, NULL, "UPDATE thanks SET applied_ms = NULL WHERE packet_id = ?", DB_PARAMS(DB_U64(packet_id)));
}
