#include "ledger/channel.h"

#include "base/utf8.h"

bool channel_name_is_valid(struct str name)
{
    for (size_t i = 0; i < name.len; i++) {
        const char c = name.ptr[i];
        const bool is_letter = c >= 'a' && c <= 'z';
        if (!is_letter && (i == 0 || !((c >= '0' && c <= '9') || c == '-')))
            return false;
    }
    return name.len > 0 && name.len <= CHANNEL_NAME_MAX;
}

enum status channel_open(struct db *db, struct str name, struct str note, struct str author, int64_t now_ms)
{
    if (!utf8_valid(name) || !utf8_valid(note) || !utf8_valid(author))
        return ST_INVALID;
    return db_exec_retried(db, "CALL channel_open(?, ?, ?, ?)",
                           DB_PARAMS(DB_TEXT(name), DB_TEXT(note), DB_TEXT(author), DB_I64(now_ms)));
}

enum status channel_note_set(struct db *db, uint64_t channel_id, struct str note)
{
    if (!utf8_valid(note))
        return ST_INVALID;
    return db_exec_retried(db, "CALL channel_note(?, ?)", DB_PARAMS(DB_U64(channel_id), DB_TEXT(note)));
}

enum status channel_withdrawals_set(struct db *db, uint64_t channel_id, const struct channel_settings *settings,
                                    unsigned changed)
{
    const bool hint = (changed & CHANNEL_WITHDRAW_HINT) != 0;
    if (hint && !utf8_valid(settings->withdraw_hint))
        return ST_INVALID;
    return db_exec_retried(
        db, "CALL channel_withdrawals(?, ?, ?, ?)",
        DB_PARAMS(DB_U64(channel_id), (changed & CHANNEL_WITHDRAWS) != 0 ? DB_U64(settings->withdraws) : DB_NULL,
                  (changed & CHANNEL_WITHDRAW_MIN) != 0 ? DB_I64(settings->withdraw_min_fen) : DB_NULL,
                  hint ? DB_TEXT(settings->withdraw_hint) : DB_NULL));
}

/* The columns of the settings, which stand one after the other. */
#define SETTINGS_COLUMNS "c.withdraws, c.withdraw_min_fen, c.withdraw_hint"

static struct channel_settings settings_of(const struct db_rows *rows, size_t row, size_t first)
{
    return (struct channel_settings){ .withdraws = db_cell_u64(rows, row, first) != 0,
                                      .withdraw_min_fen = db_cell_i64(rows, row, first + 1),
                                      .withdraw_hint = db_cell(rows, row, first + 2) };
}

#define CHANNEL_SELECT                                                                                                 \
    "SELECT c.id, c.name, c.note, c.author, a.balance_fen, c.created_ms, " SETTINGS_COLUMNS                            \
    " FROM channel AS c JOIN account AS a ON a.id = c.id"

static struct channel channel_of(const struct db_rows *rows, size_t row)
{
    return (struct channel){ .id = db_cell_u64(rows, row, 0),
                             .name = db_cell(rows, row, 1),
                             .note = db_cell(rows, row, 2),
                             .author = db_cell(rows, row, 3),
                             .balance_fen = db_cell_i64(rows, row, 4),
                             .created_ms = db_cell_i64(rows, row, 5),
                             .settings = settings_of(rows, row, 6) };
}

enum status channel_find(struct db *db, struct arena *a, struct str name, struct channel *out)
{
    struct db_rows rows;
    if (!channel_name_is_valid(name))
        return ST_NOT_FOUND;
    enum status st = db_find(db, a, &rows, CHANNEL_SELECT " WHERE c.name = ?", DB_PARAMS(DB_TEXT(name)));
    if (st == ST_OK)
        *out = channel_of(&rows, 0);
    return st;
}

static enum status list_read(struct db *db, struct arena *a, const char *sql,
                             struct channel (*read)(const struct db_rows *, size_t), struct channel **out,
                             size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, sql, NULL, 0);
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = read(&rows, i);
    *count = rows.count;
    return ST_OK;
}

enum status channel_list(struct db *db, struct arena *a, struct channel **out, size_t *count)
{
    return list_read(db, a, CHANNEL_SELECT " ORDER BY c.id", channel_of, out, count);
}

static struct channel offer_of(const struct db_rows *rows, size_t row)
{
    return (struct channel){ .id = db_cell_u64(rows, row, 0),
                             .name = db_cell(rows, row, 1),
                             .note = db_cell(rows, row, 2),
                             .settings = settings_of(rows, row, 3) };
}

enum status channel_withdraws_list(struct db *db, struct arena *a, struct channel **out, size_t *count)
{
    return list_read(
        db, a, "SELECT c.id, c.name, c.note, " SETTINGS_COLUMNS " FROM channel AS c WHERE c.withdraws ORDER BY c.id",
        offer_of, out, count);
}
