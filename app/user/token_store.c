#include "user/token_store.h"

#include <string.h>

#include "mysql/db_repeat.h"
#include "user/store.h"
#include "web/bearer.h"

static struct db_param hash_param(const uint8_t hash[HASH_BYTES])
{
    return DB_BYTES(((struct str){ (const char *)hash, HASH_BYTES }));
}

struct insert_run {
    struct token *token;
    struct arena *arena;
    const uint8_t *hash;
    struct str scopes;
    bool full;
};

/* The lock on the user's row makes concurrent inserts wait, so that they count each other's tokens. The row itself does
 * not count: a repeated run finds the row of the first one. */
static enum status insert_body(struct db *db, void *ctx)
{
    struct insert_run *in = ctx;
    struct token *t = in->token;
    struct db_rows rows;
    enum status st = user_lock(db, in->arena, t->user_id);
    if (st == ST_NOT_FOUND)
        return ST_UNAVAILABLE;
    if (st == ST_OK)
        st = db_exec(db, NULL, "DELETE FROM token WHERE user_id = ? AND expires_ms <= ?",
                     DB_PARAMS(DB_U64(t->user_id), DB_I64(t->created_ms)));
    if (st == ST_OK)
        st = db_query(db, in->arena, &rows, "SELECT COUNT(*) FROM token WHERE user_id = ? AND hash <> ?",
                      DB_PARAMS(DB_U64(t->user_id), hash_param(in->hash)));
    if (st != ST_OK)
        return st;
    in->full = db_cell_u64(&rows, 0, 0) >= TOKENS_MAX;
    if (in->full)
        return ST_INVALID;
    st = db_exec(db, NULL,
                 "INSERT INTO token (user_id, hash, name, scopes, created_ms, expires_ms) VALUES (?, ?, ?, ?, ?, ?)",
                 DB_PARAMS(DB_U64(t->user_id), hash_param(in->hash), DB_TEXT(t->name), DB_TEXT(in->scopes),
                           DB_I64(t->created_ms), DB_I64(t->expires_ms)));
    if (st == ST_OK)
        t->id = db_last_id(db);
    return st;
}

enum status token_insert(struct db *db, struct arena *a, struct token *token, const uint8_t hash[HASH_BYTES],
                         bool *full)
{
    struct insert_run in = { token, a, hash, scopes_text(a, token->scopes), false };
    struct token_copy found;

    *full = false;
    if (in.scopes.ptr == NULL)
        return ST_NO_MEMORY;
    enum status st = db_transaction_repeat(db, insert_body, &in);
    *full = in.full;
    if (st != ST_EXISTS)
        return st;
    st = token_find(db, a, hash, &token->id, &found); /* an earlier run was committed */
    return st == ST_OK ? ST_OK : ST_UNKNOWN;
}

enum { COLUMN_ID, COLUMN_NAME, COLUMN_SCOPES, COLUMN_CREATED, COLUMN_EXPIRES, COLUMN_USED };

enum status token_list(struct db *db, struct arena *a, uint64_t user_id, struct token **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT id, name, scopes, created_ms, expires_ms, used_ms FROM token WHERE user_id = ?"
                              " ORDER BY id DESC",
                              DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    *count = rows.count;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = (struct token){ .id = db_cell_u64(&rows, i, COLUMN_ID),
                                    .user_id = user_id,
                                    .name = db_cell(&rows, i, COLUMN_NAME),
                                    .scopes = scopes_read(db_cell(&rows, i, COLUMN_SCOPES)),
                                    .created_ms = db_cell_i64(&rows, i, COLUMN_CREATED),
                                    .expires_ms = db_cell_i64(&rows, i, COLUMN_EXPIRES),
                                    .used_ms = db_cell_i64(&rows, i, COLUMN_USED) };
    return ST_OK;
}

enum status token_find(struct db *db, struct arena *a, const uint8_t hash[HASH_BYTES], uint64_t *id,
                       struct token_copy *out)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows,
                "SELECT token.id, token.user_id, token.scopes, token.expires_ms, user.username,"
                " user.nickname, user.face FROM token JOIN user ON user.id = token.user_id WHERE token.hash = ?"
                " AND user.disabled_ms IS NULL AND user.deleting_ms IS NULL",
                DB_PARAMS(hash_param(hash)));
    if (st != ST_OK)
        return st;
    *id = db_cell_u64(&rows, 0, 0);
    *out = (struct token_copy){ .user_id = db_cell_u64(&rows, 0, 1),
                                .scopes = scopes_read(db_cell(&rows, 0, 2)),
                                .expires_ms = db_cell_i64(&rows, 0, 3),
                                .username = db_cell(&rows, 0, 4),
                                .nickname = db_cell(&rows, 0, 5),
                                .face = face_from(db_cell(&rows, 0, 6)) };
    return ST_OK;
}

enum status token_used(struct db *db, uint64_t id, int64_t now_ms)
{
    return db_exec(db, NULL, "UPDATE token SET used_ms = ? WHERE id = ? AND used_ms < ?",
                   DB_PARAMS(DB_I64(now_ms), DB_U64(id), DB_I64(now_ms)));
}

enum status token_hash(struct db *db, struct arena *a, uint64_t user_id, uint64_t id, uint8_t hash[HASH_BYTES])
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT hash FROM token WHERE id = ? AND user_id = ?",
                             DB_PARAMS(DB_U64(id), DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    struct str bytes = db_cell(&rows, 0, 0);
    if (bytes.len != HASH_BYTES)
        return ST_CORRUPT;
    memcpy(hash, bytes.ptr, HASH_BYTES);
    return ST_OK;
}

enum status token_delete(struct db *db, uint64_t user_id, uint64_t id)
{
    return db_exec(db, NULL, "DELETE FROM token WHERE id = ? AND user_id = ?", DB_PARAMS(DB_U64(id), DB_U64(user_id)));
}

enum status token_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT COUNT(*) FROM token WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
    if (st == ST_OK)
        *out = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status token_hashes(struct db *db, struct arena *a, uint64_t user_id, uint8_t (**out)[HASH_BYTES], size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT hash FROM token WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    *count = rows.count;
    for (size_t i = 0; i < rows.count; i++) {
        struct str bytes = db_cell(&rows, i, 0);
        if (bytes.len != HASH_BYTES)
            return ST_CORRUPT;
        memcpy((*out)[i], bytes.ptr, HASH_BYTES);
    }
    return ST_OK;
}

enum status token_delete_hash(struct db *db, const uint8_t hash[HASH_BYTES])
{
    return db_exec(db, NULL, "DELETE FROM token WHERE hash = ?", DB_PARAMS(hash_param(hash)));
}
