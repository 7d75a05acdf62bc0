#include "packet/thanks.h"

#include "packet/packet.h"

enum status thanks_insert(struct db *db, struct arena *a, const struct thanks *t, uint32_t *packet_count)
{
    struct db_rows rows;
    enum status st =
        db_exec(db, NULL, "INSERT INTO thanks (packet_id, share_no, user_id, text, created_ms) VALUES (?, ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(t->packet_id), DB_U64(t->share_no), DB_U64(t->user_id), DB_TEXT(t->text),
                          DB_I64(t->created_ms)));
    if (st == ST_OK)
        st = db_exec(db, NULL, "UPDATE packet SET thanks_count = thanks_count + 1 WHERE id = ?",
                     DB_PARAMS(DB_U64(t->packet_id)));
    if (st == ST_OK)
        st = db_query(db, a, &rows, "SELECT thanks_count FROM packet WHERE id = ?", DB_PARAMS(DB_U64(t->packet_id)));
    if (st == ST_OK && rows.count == 0)
        st = ST_CORRUPT;
    if (st == ST_OK)
        *packet_count = (uint32_t)db_cell_u64(&rows, 0, 0);
    return st;
}

enum status thanks_find(struct db *db, struct arena *a, uint64_t packet_id, uint32_t share_no, struct str *text)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT text FROM thanks WHERE packet_id = ? AND share_no = ?",
                              DB_PARAMS(DB_U64(packet_id), DB_U64(share_no)));
    if (st == ST_OK && rows.count == 0)
        return ST_NOT_FOUND;
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

/* ---- what Redis knows of them ---- */

enum status thanks_find_pending(struct db *db, struct arena *a, int64_t created_ms, size_t limit,
                                struct thanks_pending **out, size_t *out_count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 "SELECT thanks.packet_id, thanks.share_no, thanks.user_id, thanks.text, thanks.created_ms,"
                 " packet.thanks_count, packet.state = 'closed' FROM thanks"
                 " JOIN packet ON packet.id = thanks.packet_id"
                 " WHERE thanks.applied_ms IS NULL AND thanks.created_ms <= ?"
                 " ORDER BY thanks.created_ms LIMIT ?",
                 DB_PARAMS(DB_I64(created_ms), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    struct thanks_pending *list = arena_array(a, rows.count + 1, sizeof *list);
    if (list == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        list[i] = (struct thanks_pending){ .thanks = { .packet_id = db_cell_u64(&rows, i, 0),
                                                       .share_no = (uint32_t)db_cell_u64(&rows, i, 1),
                                                       .user_id = db_cell_u64(&rows, i, 2),
                                                       .text = db_cell(&rows, i, 3),
                                                       .created_ms = db_cell_i64(&rows, i, 4) },
                                           .packet_count = (uint32_t)db_cell_u64(&rows, i, 5),
                                           .packet_closed = db_cell_u64(&rows, i, 6) != 0 };
    *out = list;
    *out_count = rows.count;
    return ST_OK;
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
