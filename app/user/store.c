#include "user/store.h"

#include "ledger/ledger.h"
#include "user/account.h"
#include "user/deletion.h"
#include "user/invitation_store.h"

struct insert_run {
    struct arena *arena;
    const struct keys *keys;
    struct user *user;
    int64_t now_ms;
};

/* Inserts the user and the wallet's account in one transaction: no user is without a wallet. */
static enum status insert_body(struct db *db, void *ctx)
{
    struct insert_run *in = ctx;
    struct user *u = in->user;
    bool retired = false;
    enum status st = db_exec(
        db, NULL, "INSERT INTO user (username, nickname, password_hash, created_ms) VALUES (?, ?, ?, ?)",
        DB_PARAMS(DB_TEXT(u->username), DB_TEXT(u->nickname), DB_TEXT_OR_NULL(u->password_hash), DB_I64(in->now_ms)));
    u->id = st == ST_OK ? db_last_id(db) : 0;
    if (st == ST_OK)
        st = username_is_retired(db, in->arena, in->keys, u->username, &retired);
    if (st != ST_OK || retired)
        return st == ST_OK ? ST_EXISTS : st;
    st = ledger_wallet(db, u->id);
    if (st == ST_OK && u->admission != NULL)
        st = admission_use(db, in->arena, u->admission, u->id, in->now_ms);
    return st == ST_OK && u->with != NULL ? u->with(db, u, u->with_ctx) : st;
}

enum status user_insert(struct db *db, struct arena *a, const struct keys *keys, struct user *user, int64_t now_ms)
{
    struct insert_run in = { a, keys, user, now_ms };
    struct user found;
    enum status st = db_transaction(db, insert_body, &in);

    if (st != ST_UNKNOWN || user->password_hash.ptr == NULL)
        return st;
    /* The COMMIT may have arrived: the hash is salted, so only this call can have made a row with it. */
    st = user_find_for_login(db, a, user->username, &found);
    if (st == ST_OK && str_equal(found.password_hash, user->password_hash)) {
        user->id = found.id;
        return ST_OK;
    }
    return st == ST_OK ? ST_EXISTS : ST_UNKNOWN;
}

enum status user_find_by_name(struct db *db, struct arena *a, struct str username, struct user *out)
{
    const struct str_list one = { &username, 1 };
    struct user *found;
    size_t count;
    enum status st = users_find_by_names(db, a, &one, &found, &count);

    if (st == ST_OK && count == 0)
        return ST_NOT_FOUND;
    if (st == ST_OK)
        *out = found[0];
    return st;
}

enum status user_find_for_login(struct db *db, struct arena *a, struct str username, struct user *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows, "SELECT id, username, nickname, password_hash, disabled_ms FROM user WHERE username = ?",
                DB_PARAMS(DB_TEXT(username)));

    if (st != ST_OK)
        return st;
    *out = (struct user){ .id = db_cell_u64(&rows, 0, 0),
                          .username = db_cell(&rows, 0, 1),
                          .nickname = db_cell(&rows, 0, 2),
                          .password_hash = db_cell(&rows, 0, 3),
                          .disabled = db_cell(&rows, 0, 4).ptr != NULL };
    return ST_OK;
}

enum status users_find_by_names(struct db *db, struct arena *a, const struct str_list *usernames, struct user **out,
                                size_t *out_count)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, username, nickname, face FROM user WHERE deleting_ms IS NULL AND username IN (");
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
                                  .nickname = db_cell(&rows, i, 2),
                                  .face = face_from(db_cell(&rows, i, 3)) };
    *out = users;
    *out_count = rows.count;
    return ST_OK;
}

enum status users_find_by_ids(struct db *db, struct arena *a, const uint64_t *ids, size_t count, struct user **out,
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
    buf_cstr(
        &sql,
        "SELECT id, username, nickname, disabled_ms, created_ms, face FROM user WHERE deleting_ms IS NULL AND id IN ");
    db_ids(&sql, ids, count);
    enum status st = db_query_buf_prepared(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < count; i++)
        for (size_t row = 0; row < rows.count; row++)
            if (db_cell_u64(&rows, row, 0) == ids[i])
                (*out)[(*out_count)++] = (struct user){ .id = ids[i],
                                                        .username = db_cell(&rows, row, 1),
                                                        .nickname = db_cell(&rows, row, 2),
                                                        .disabled = db_cell(&rows, row, 3).ptr != NULL,
                                                        .created_ms = db_cell_i64(&rows, row, 4),
                                                        .face = face_from(db_cell(&rows, row, 5)) };
    return st;
}

enum status user_lock(struct db *db, struct arena *a, uint64_t id)
{
    struct db_rows rows;
    return db_find(db, a, &rows,
                   "SELECT 1 FROM user WHERE id = ? AND disabled_ms IS NULL AND deleting_ms IS NULL FOR UPDATE",
                   DB_PARAMS(DB_U64(id)));
}

enum status user_rehash(struct db *db, uint64_t id, struct str old_hash, struct str new_hash)
{
    return db_exec(db, NULL, "UPDATE user SET password_hash = ? WHERE id = ? AND password_hash = ?",
                   DB_PARAMS(DB_TEXT(new_hash), DB_U64(id), DB_TEXT(old_hash)));
}

enum status user_hash_find(struct db *db, struct arena *a, uint64_t id, struct str *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT password_hash FROM user WHERE id = ?", DB_PARAMS(DB_U64(id)));

    if (st == ST_OK)
        *out = db_cell(&rows, 0, 0);
    return st;
}

enum status user_created_find(struct db *db, struct arena *a, uint64_t id, int64_t *out_ms)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT created_ms FROM user WHERE id = ?", DB_PARAMS(DB_U64(id)));

    if (st == ST_OK)
        *out_ms = db_cell_i64(&rows, 0, 0);
    return st;
}

enum status user_password_change(struct db *db, struct arena *a, uint64_t id, struct str old_hash, struct str new_hash)
{
    uint64_t changed = 0;
    struct str found;
    enum status st = db_exec(db, &changed, "UPDATE user SET password_hash = ? WHERE id = ? AND password_hash <=> ?",
                             DB_PARAMS(DB_TEXT(new_hash), DB_U64(id), DB_TEXT_OR_NULL(old_hash)));

    if (st == ST_OK)
        return changed == 1 ? ST_OK : ST_CONFLICT;
    if (st != ST_UNKNOWN || user_hash_find(db, a, id, &found) != ST_OK)
        return st;
    /* The hash is salted, so only this call has made it. */
    return str_equal(found, new_hash) ? ST_OK : ST_UNAVAILABLE;
}

enum status user_rename(struct db *db, uint64_t id, const struct str *nickname, const struct face *face)
{
    return db_exec(db, NULL,
                   "UPDATE user SET nickname = COALESCE(?, nickname), face = IF(?, ?, face)"
                   " WHERE id = ? AND deleting_ms IS NULL",
                   DB_PARAMS(nickname != NULL ? DB_TEXT(*nickname) : DB_NULL, DB_U64(face != NULL),
                             face != NULL && face->len > 0 ? DB_TEXT(face_word(face)) : DB_NULL, DB_U64(id)));
}

enum status user_face_find(struct db *db, struct arena *a, uint64_t id, struct face *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT face FROM user WHERE id = ?", DB_PARAMS(DB_U64(id)));

    if (st == ST_OK)
        *out = face_from(db_cell(&rows, 0, 0));
    return st;
}

enum status user_password_set(struct db *db, uint64_t id, struct str hash)
{
    return db_exec(db, NULL, "UPDATE user SET password_hash = ? WHERE id = ? AND deleting_ms IS NULL",
                   DB_PARAMS(DB_TEXT(hash), DB_U64(id)));
}

/* ---- for operators ---- */

#define STATE_COLUMNS                                                                                                  \
    "id, username, nickname, created_ms, COALESCE(disabled_ms, 0), COALESCE(deleting_ms, 0), COALESCE(deleted_ms, 0)"

const char *user_state_word(const struct user_state *user)
{
    return user->deleted_ms > 0    ? "deleted"
           : user->deleting_ms > 0 ? "deleting"
           : user->disabled_ms > 0 ? "disabled"
                                   : "active";
}

static struct user_state state_from_row(const struct db_rows *rows, size_t row)
{
    return (struct user_state){ .id = db_cell_u64(rows, row, 0),
                                .username = db_cell(rows, row, 1),
                                .nickname = db_cell(rows, row, 2),
                                .created_ms = db_cell_i64(rows, row, 3),
                                .disabled_ms = db_cell_i64(rows, row, 4),
                                .deleting_ms = db_cell_i64(rows, row, 5),
                                .deleted_ms = db_cell_i64(rows, row, 6) };
}

enum status user_state_find_by_id(struct db *db, struct arena *a, uint64_t id, struct user_state *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT " STATE_COLUMNS " FROM user WHERE id = ?", DB_PARAMS(DB_U64(id)));
    if (st == ST_OK)
        *out = state_from_row(&rows, 0);
    return st;
}

enum status user_state_find(struct db *db, struct arena *a, struct str username, struct user_state *out)
{
    struct db_rows rows;
    struct str digits = username;
    uint64_t id;
    if (username.ptr == NULL)
        return ST_NO_MEMORY;
    if (str_skip_prefix(&digits, STR("~")) && str_to_u64(digits, &id))
        return user_state_find_by_id(db, a, id, out);
    if (!username_valid(username))
        return ST_NOT_FOUND; /* also for a character that the column's character set lacks */
    enum status st =
        db_find(db, a, &rows, "SELECT " STATE_COLUMNS " FROM user WHERE username = ?", DB_PARAMS(DB_TEXT(username)));
    if (st == ST_OK)
        *out = state_from_row(&rows, 0);
    return st;
}

enum status user_states_by_nickname(struct db *db, struct arena *a, struct str nickname, size_t limit,
                                    struct user_state **out, size_t *out_count)
{
    /* MySQL reads the hint, MariaDB reads the comment M!. */
    static const char sql[] = "/*M!100101 SET STATEMENT max_statement_time = 15 FOR */"
                              " SELECT /*+ MAX_EXECUTION_TIME(15000) */ " STATE_COLUMNS
                              " FROM user WHERE nickname COLLATE utf8mb4_unicode_520_ci = ? ORDER BY id DESC LIMIT ?";
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, sql, DB_PARAMS(DB_TEXT(nickname), DB_U64(limit)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = state_from_row(&rows, i);
    *out_count = rows.count;
    return ST_OK;
}

enum status user_disable(struct db *db, uint64_t id, int64_t now_ms)
{
    return db_exec(db, NULL, "UPDATE user SET disabled_ms = ? WHERE id = ? AND disabled_ms IS NULL",
                   DB_PARAMS(DB_I64(now_ms), DB_U64(id)));
}

enum status user_enable(struct db *db, uint64_t id)
{
    return db_exec(db, NULL, "UPDATE user SET disabled_ms = NULL WHERE id = ?", DB_PARAMS(DB_U64(id)));
}
