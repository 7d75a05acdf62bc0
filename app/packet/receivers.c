#include "packet/receivers.h"

#include <stdlib.h>

#include "base/buf.h"

bool packet_is_for(const struct packet *p, uint64_t user_id)
{
    char text[STR_U64_MAX + 2];
    if (p->kind == PACKET_EXCLUSIVE)
        return p->receiver_id == user_id;
    if (p->receiver_count == 0)
        return true;
    struct buf item = { .ptr = text, .cap = sizeof text, .limit = sizeof text };
    buf_char(&item, ',');
    buf_u64(&item, user_id);
    buf_char(&item, ',');
    return str_find(p->receivers, buf_view(&item)) < p->receivers.len;
}

static int by_id(const void *a, const void *b)
{
    uint64_t left = ((const struct receiver *)a)->id, right = ((const struct receiver *)b)->id;
    return (left > right) - (left < right);
}

enum status receivers_describe(struct arena *a, struct packet *p, struct receivers *r)
{
    struct buf ids = BUF_EMPTY, names = BUF_EMPTY;
    if (r->count > 1)
        qsort(r->items, r->count, sizeof *r->items, by_id);
    buf_char(&ids, ',');
    for (size_t i = 0; i < r->count; i++) {
        buf_u64(&ids, r->items[i].id);
        buf_char(&ids, ',');
        if (i < RECEIVERS_NAMES_MAX) {
            buf_str(&names, r->items[i].name);
            buf_char(&names, '\n');
        }
    }
    p->receiver_count = (uint32_t)r->count;
    p->receivers = ids.failed ? STR_NONE : arena_str(a, buf_view(&ids));
    p->receiver_names = names.failed ? STR_NONE : arena_str(a, buf_view(&names));
    buf_free(&ids);
    buf_free(&names);
    return p->receivers.ptr == NULL || p->receiver_names.ptr == NULL ? ST_NO_MEMORY : ST_OK;
}

enum status receivers_find(struct db *db, struct arena *a, struct packet *p)
{
    struct db_rows rows;
    if (p->receiver_count == 0)
        return ST_OK;
    enum status st =
        db_query(db, a, &rows, "SELECT user_id, name FROM packet_receiver WHERE packet_id = ? ORDER BY user_id LIMIT ?",
                 DB_PARAMS(DB_U64(p->id), DB_I64((int64_t)p->receiver_count + 1)));
    if (st != ST_OK)
        return st;
    if (rows.count != p->receiver_count)
        return ST_CORRUPT;
    struct receivers found = { arena_array(a, rows.count, sizeof *found.items), rows.count };
    if (found.items == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        found.items[i] = (struct receiver){ .id = db_cell_u64(&rows, i, 0), .name = db_cell(&rows, i, 1) };
    return receivers_describe(a, p, &found);
}

enum status receivers_usernames(struct db *db, struct arena *a, const struct packet *p, struct str_list *out)
{
    struct db_rows rows;
    *out = (struct str_list){ NULL, 0 };
    if (p->kind != PACKET_EXCLUSIVE && p->receiver_count == 0)
        return ST_OK;
    /* An old exclusive packet has its receiver only in its own row. */
    enum status st = db_query(db, a, &rows,
                              "SELECT username FROM user WHERE id = ? AND deleting_ms IS NULL UNION "
                              "SELECT user.username FROM packet_receiver "
                              "JOIN user ON user.id = packet_receiver.user_id WHERE packet_receiver.packet_id = ? "
                              "AND user.deleting_ms IS NULL",
                              DB_PARAMS(DB_U64(p->receiver_id), DB_U64(p->id)));
    if (st != ST_OK)
        return st;
    out->items = arena_array(a, rows.count + 1, sizeof *out->items);
    if (out->items == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        out->items[i] = db_cell(&rows, i, 0);
    out->count = rows.count;
    return ST_OK;
}
