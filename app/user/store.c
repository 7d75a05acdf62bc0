#include "user/store.h"

#include "ledger/ledger.h"

struct insert_run {
    struct user *user;
    int64_t now_ms;
};

/* The wallet's account comes in the same transaction, so that no user is without a wallet. */
static enum status insert_body(struct db *db, void *ctx)
{
    struct insert_run *in = ctx;
    struct user *u = in->user;
    enum status st =
        db_exec(db, NULL, "INSERT INTO user (username, nickname, password_hash, created_ms) VALUES (?, ?, ?, ?)",
                DB_PARAMS(DB_TEXT(u->username), DB_TEXT(u->nickname),
                          u->password_hash.ptr != NULL ? DB_TEXT(u->password_hash) : DB_NULL, DB_I64(in->now_ms)));
    if (st != ST_OK)
        return st;
    u->id = db_last_id(db);
    return account_create(db, u->id, ACCOUNT_WALLET);
}

enum status user_insert(struct db *db, struct arena *a, struct user *user, int64_t now_ms)
{
    struct insert_run in = { user, now_ms };
    struct user found;
    enum status st = db_transaction(db, insert_body, &in);

    if (st != ST_UNKNOWN || user->password_hash.ptr == NULL)
        return st;
    /* The COMMIT may have arrived. The hash is salted, so only the row of this call has it. */
    st = user_find_by_name(db, a, user->username, &found);
    if (st == ST_OK && str_equal(found.password_hash, user->password_hash)) {
        user->id = found.id;
        return ST_OK;
    }
    return st == ST_OK ? ST_EXISTS : ST_UNKNOWN;
}

enum status user_find_by_name(struct db *db, struct arena *a, struct str username, struct user *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT id, username, nickname, password_hash FROM user WHERE username = ?",
                              DB_PARAMS(DB_TEXT(username)));

    if (st != ST_OK)
        return st;
    if (rows.count == 0)
        return ST_NOT_FOUND;
    *out = (struct user){ .id = db_cell_u64(&rows, 0, 0),
                          .username = db_cell(&rows, 0, 1),
                          .nickname = db_cell(&rows, 0, 2),
                          .password_hash = db_cell(&rows, 0, 3) };
    return ST_OK;
}

enum status users_find_by_names(struct db *db, struct arena *a, const struct str_list *usernames, struct user **out,
                                size_t *out_count)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, username, nickname FROM user WHERE username IN (");
    for (size_t i = 0; i < usernames->count; i++) {
        db_comma(&sql, i);
        db_append(db, &sql, &DB_TEXT(usernames->items[i]));
    }
    buf_char(&sql, ')');
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    if (st != ST_OK)
        return st;
    struct user *users = arena_array(a, rows.count + 1, sizeof *users);
    if (users == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        users[i] = (struct user){ .id = db_cell_u64(&rows, i, 0),
                                  .username = db_cell(&rows, i, 1),
                                  .nickname = db_cell(&rows, i, 2) };
    *out = users;
    *out_count = rows.count;
    return ST_OK;
}

enum status user_find_all(struct db *db, struct arena *a, const uint64_t *ids, size_t count, struct user **out,
                          size_t *out_count)
{
    struct buf sql = BUF_EMPTY;
    struct db_rows rows;
    *out_count = 0;
    *out = arena_array(a, count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    if (count == 0)
        return ST_OK;
    buf_cstr(&sql, "SELECT id, username, nickname FROM user WHERE id IN (");
    for (size_t i = 0; i < count; i++) {
        db_comma(&sql, i);
        buf_u64(&sql, ids[i]);
    }
    buf_char(&sql, ')');
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < count; i++)
        for (size_t row = 0; row < rows.count; row++)
            if (db_cell_u64(&rows, row, 0) == ids[i])
                (*out)[(*out_count)++] = (struct user){ .id = ids[i],
                                                        .username = db_cell(&rows, row, 1),
                                                        .nickname = db_cell(&rows, row, 2) };
    return st;
}

enum status user_rehash(struct db *db, uint64_t id, struct str old_hash, struct str new_hash)
{
    return db_exec(db, NULL, "UPDATE user SET password_hash = ? WHERE id = ? AND password_hash = ?",
                   DB_PARAMS(DB_TEXT(new_hash), DB_U64(id), DB_TEXT(old_hash)));
}
