#include "user/recovery_store.h"

#include "mysql/db_repeat.h"

struct replace_run {
    struct arena *arena;
    uint64_t user_id;
    const struct str *hashes;
    int64_t now_ms;
};

enum status recovery_codes_insert(struct db *db, uint64_t user_id, const struct str *hashes, int64_t now_ms)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "INSERT INTO recovery_code (user_id, slot, hash, created_ms) VALUES ");
    for (unsigned slot = 0; slot < RECOVERY_CODES; slot++) {
        db_comma(&sql, slot);
        buf_char(&sql, '(');
        buf_u64(&sql, user_id);
        buf_char(&sql, ',');
        buf_u64(&sql, slot);
        buf_char(&sql, ',');
        db_append(db, &sql, &DB_TEXT(hashes[slot]));
        buf_char(&sql, ',');
        buf_i64(&sql, now_ms);
        buf_char(&sql, ')');
    }
    enum status st = db_exec_buf(db, NULL, &sql);
    buf_free(&sql);
    return st;
}

/* The lock on the user's row makes two sets of the same user wait for each other. */
static enum status replace_body(struct db *db, void *ctx)
{
    const struct replace_run *in = ctx;
    enum status st = user_lock(db, in->arena, in->user_id);
    if (st == ST_NOT_FOUND)
        return ST_UNAVAILABLE;
    if (st == ST_OK)
        st = recovery_codes_delete(db, in->user_id);
    if (st != ST_OK)
        return st;
    return recovery_codes_insert(db, in->user_id, in->hashes, in->now_ms);
}

enum status recovery_codes_replace(struct db *db, struct arena *a, uint64_t user_id, const struct str *hashes,
                                   int64_t now_ms)
{
    struct replace_run in = { a, user_id, hashes, now_ms };
    return db_transaction_repeat(db, replace_body, &in);
}

enum status recovery_codes_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT COUNT(user_id) FROM recovery_code WHERE user_id = ?",
                              DB_PARAMS(DB_U64(user_id)));
    if (st == ST_OK)
        *out = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status recovery_code_find(struct db *db, struct arena *a, struct str username, unsigned slot, struct user *user,
                               struct str *hash)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT u.id, u.username, u.nickname, u.disabled_ms, c.hash FROM user AS u"
                             " LEFT JOIN recovery_code AS c ON c.user_id = u.id AND c.slot = ? WHERE u.username = ?",
                             DB_PARAMS(DB_U64(slot), DB_TEXT(username)));
    if (st != ST_OK)
        return st;
    *user = (struct user){ .id = db_cell_u64(&rows, 0, 0),
                           .username = db_cell(&rows, 0, 1),
                           .nickname = db_cell(&rows, 0, 2),
                           .disabled = db_cell(&rows, 0, 3).ptr != NULL };
    *hash = db_cell(&rows, 0, 4);
    return ST_OK;
}

struct use_run {
    struct arena *arena;
    uint64_t user_id;
    unsigned slot;
    struct str hash, new_hash;
};

/* Uses a code. When an operator disables the user at the same time, either the operator waits for the lock, or this
 * finds the user disabled and the code stays. The same holds for a deletion. */
static enum status use_body(struct db *db, void *ctx)
{
    const struct use_run *in = ctx;
    uint64_t deleted = 0;
    enum status st = user_lock(db, in->arena, in->user_id);
    if (st == ST_OK)
        st = db_exec(db, &deleted, "DELETE FROM recovery_code WHERE user_id = ? AND slot = ? AND hash = ?",
                     DB_PARAMS(DB_U64(in->user_id), DB_U64(in->slot), DB_TEXT(in->hash)));
    if (st == ST_OK && deleted == 0)
        return ST_NOT_FOUND;
    if (st == ST_OK && in->new_hash.len > 0)
        st = user_password_set(db, in->user_id, in->new_hash);
    return st;
}

enum status recovery_code_use(struct db *db, struct arena *a, uint64_t user_id, unsigned slot, struct str hash,
                              struct str new_hash)
{
    struct use_run in = { a, user_id, slot, hash, new_hash };
    return db_transaction(db, use_body, &in);
}

enum status recovery_codes_delete(struct db *db, uint64_t user_id)
{
    return db_exec(db, NULL, "DELETE FROM recovery_code WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
}
