#include <inttypes.h>

#include "money/against_internal.h"
#include "money/payment.h"

/* ---- users ---- */

static enum status user_find(struct db *db, struct arena *a, const struct listed *row, struct difference_hint *out)
{
    struct payment payment = { .username = row->username };
    struct payment *one = &payment;
    if (row->username.len == 0)
        return ST_OK;
    enum status st = payments_users_find(db, a, &one, 1);
    out->user_id = payment.user_id;
    if (payment.user_id != 0)
        out->username = payment.username;
    return st;
}

/* ---- withdrawals and orders, each for one row ---- */

/* The first withdrawal or order that fits and that no earlier row has. sql: selects id and username of the next one
 * behind an id. */
static enum status first_untaken(struct db *db, struct arena *a, const char *sql, uint64_t channel_id, int64_t fen,
                                 uint64_t user_id, struct text_set *taken, uint64_t *out, struct str *username)
{
    struct db_rows rows;
    const struct str table = str_from(sql);
    for (uint64_t after = 0;;) {
        enum status st =
            db_query(db, a, &rows, sql,
                     DB_PARAMS(DB_U64(channel_id), DB_I64(fen), DB_U64(user_id), DB_U64(user_id), DB_U64(after)));
        if (st != ST_OK || rows.count == 0)
            return st;
        after = db_cell_u64(&rows, 0, 0);
        const struct str key = arena_printf(a, "%.*s%" PRIu64, STR_ARG(table), after);
        st = key.ptr == NULL ? ST_NO_MEMORY : text_set_add(taken, key);
        if (st == ST_EXISTS)
            continue;
        *out = after;
        *username = str_or_empty(db_cell(&rows, 0, 1));
        return st;
    }
}

static enum status withdrawal_find_of(struct db *db, struct arena *a, uint64_t channel_id, const struct listed *row,
                                      struct text_set *taken, struct difference_hint *out)
{
    return first_untaken(db, a,
                         "SELECT w.id, u.username FROM withdrawal AS w JOIN user AS u ON u.id = w.user_id"
                         " WHERE w.state = 'pending' AND w.channel_id = ? AND w.amount_fen = ?"
                         " AND (? = 0 OR w.user_id = ?) AND w.id > ? ORDER BY w.id LIMIT 1",
                         channel_id, row->amount_fen, out->user_id, taken, &out->withdrawal, &out->withdrawer);
}

/* The order that the memo names, as topup_paid writes it; with its user. */
static enum status order_named(struct db *db, struct arena *a, uint64_t channel_id, const struct listed *row,
                               struct difference_hint *out)
{
    struct db_rows rows;
    struct str number = row->memo;
    uint64_t id = 0;
    if (!str_skip_prefix(&number, STR("top-up ")) || !str_to_u64(number, &id))
        return ST_OK;
    enum status st = db_query(db, a, &rows,
                              "SELECT o.id, u.id, u.username FROM topup AS o JOIN user AS u ON u.id = o.user_id"
                              " WHERE o.id = ? AND o.channel_id = ? AND u.deleting_ms IS NULL",
                              DB_PARAMS(DB_U64(id), DB_U64(channel_id)));
    if (st != ST_OK || rows.count == 0)
        return st;
    const struct str username = db_cell(&rows, 0, 2);
    if (row->username.len > 0 && !str_equal(row->username, username))
        return ST_OK;
    out->order = id;
    out->user_id = db_cell_u64(&rows, 0, 1);
    out->username = username;
    return ST_OK;
}

static enum status order_find(struct db *db, struct arena *a, uint64_t channel_id, const struct listed *row,
                              struct text_set *taken, struct difference_hint *out)
{
    struct str username;
    enum status st = order_named(db, a, channel_id, row, out);
    if (st != ST_OK || out->order != 0 || out->user_id == 0)
        return st;
    return first_untaken(db, a,
                         "SELECT o.id, NULL FROM topup AS o WHERE o.state = 'waiting' AND o.channel_id = ?"
                         " AND o.amount_fen = ? AND (? = 0 OR o.user_id = ?) AND o.id > ? ORDER BY o.id LIMIT 1",
                         channel_id, row->amount_fen, out->user_id, taken, &out->order, &username);
}

enum status against_hint(struct db *db, struct arena *a, uint64_t channel_id, const struct listed *row,
                         struct text_set *taken, struct difference_hint *out)
{
    *out = (struct difference_hint){ .username = STR(""), .withdrawer = STR("") };
    enum status st = user_find(db, a, row, out);
    if (st == ST_OK && row->way == LISTED_IN)
        st = order_find(db, a, channel_id, row, taken, out);
    if (st == ST_OK && row->way == LISTED_OUT && (row->username.len == 0 || out->user_id != 0))
        st = withdrawal_find_of(db, a, channel_id, row, taken, out);
    return st;
}
