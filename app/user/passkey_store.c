#include "user/passkey_store.h"

#include "mysql/db_repeat.h"
#include "user/store.h"

struct insert_run {
    struct passkey *passkey;
    struct arena *arena;
    int64_t max;
    bool full;
};

enum status passkey_row_insert(struct db *db, struct passkey *p)
{
    enum status st =
        db_exec(db, NULL,
                "INSERT INTO passkey (user_id, credential_id, algorithm, public_key, sign_count, user_handle, name,"
                " created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                DB_PARAMS(DB_U64(p->user_id), DB_BYTES(p->key.credential_id), DB_I64(p->key.algorithm),
                          DB_BYTES(p->key.public_key), DB_U64(p->key.sign_count), DB_BYTES(p->user_handle),
                          DB_TEXT(p->name), DB_I64(p->created_ms)));
    if (st == ST_OK)
        p->id = db_last_id(db);
    return st;
}

/* The lock on the user's row makes concurrent inserts wait, so that they count each other's passkeys. A repeated run
 * does not count the row of the first one. */
static enum status insert_body(struct db *db, void *ctx)
{
    struct insert_run *in = ctx;
    struct passkey *p = in->passkey;
    struct db_rows rows;
    enum status st = user_lock(db, in->arena, p->user_id);
    if (st == ST_NOT_FOUND)
        return ST_UNAVAILABLE;
    if (st == ST_OK)
        st = db_query(db, in->arena, &rows, "SELECT COUNT(*) FROM passkey WHERE user_id = ? AND credential_id <> ?",
                      DB_PARAMS(DB_U64(p->user_id), DB_BYTES(p->key.credential_id)));
    if (st != ST_OK)
        return st;
    in->full = db_cell_i64(&rows, 0, 0) >= in->max;
    if (in->full)
        return ST_INVALID;
    return passkey_row_insert(db, p);
}

enum status passkey_insert(struct db *db, struct arena *a, struct passkey *passkey, int64_t max, bool *full)
{
    struct insert_run in = { passkey, a, max, false };
    struct passkey found;
    enum status st = db_transaction_repeat(db, insert_body, &in);

    *full = in.full;
    if (st != ST_EXISTS)
        return st;
    st = passkey_find(db, a, passkey->key.credential_id, &found);
    if (st != ST_OK)
        return ST_UNKNOWN;
    if (found.user_id != passkey->user_id || found.created_ms != passkey->created_ms)
        return ST_EXISTS;
    passkey->id = found.id; /* an earlier run was committed */
    return ST_OK;
}

enum { COLUMN_ID, COLUMN_CREDENTIAL, COLUMN_NAME, COLUMN_CREATED, COLUMN_USED };

enum status passkey_list(struct db *db, struct arena *a, uint64_t user_id, struct passkey **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT id, credential_id, name, created_ms, used_ms FROM passkey WHERE user_id = ?"
                              " ORDER BY id DESC",
                              DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    *count = rows.count;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = (struct passkey){ .id = db_cell_u64(&rows, i, COLUMN_ID),
                                      .user_id = user_id,
                                      .key.credential_id = db_cell(&rows, i, COLUMN_CREDENTIAL),
                                      .name = db_cell(&rows, i, COLUMN_NAME),
                                      .created_ms = db_cell_i64(&rows, i, COLUMN_CREATED),
                                      .used_ms = db_cell_i64(&rows, i, COLUMN_USED) };
    return ST_OK;
}

enum status passkey_find(struct db *db, struct arena *a, struct str credential_id, struct passkey *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT id, user_id, algorithm, public_key, sign_count, user_handle, created_ms"
                             " FROM passkey WHERE credential_id = ?",
                             DB_PARAMS(DB_BYTES(credential_id)));
    if (st != ST_OK)
        return st;
    *out = (struct passkey){ .id = db_cell_u64(&rows, 0, 0),
                             .user_id = db_cell_u64(&rows, 0, 1),
                             .key = { .algorithm = (int)db_cell_i64(&rows, 0, 2),
                                      .credential_id = credential_id,
                                      .public_key = db_cell(&rows, 0, 3),
                                      .sign_count = (uint32_t)db_cell_u64(&rows, 0, 4) },
                             .user_handle = db_cell(&rows, 0, 5),
                             .created_ms = db_cell_i64(&rows, 0, 6) };
    return ST_OK;
}

/* MySQL reports 0 changed rows when the counter would go back, but also when the row already has this millisecond and
 * counter. So for a passkey without a counter (always 0) the number of changed rows does not matter. */
enum status passkey_used(struct db *db, uint64_t id, uint32_t sign_count, int64_t now_ms)
{
    uint64_t changed;
    enum status st =
        db_exec(db, &changed,
                "UPDATE passkey SET sign_count = ?, used_ms = ? WHERE id = ?"
                " AND (sign_count < ? OR (sign_count = 0 AND ? = 0))",
                DB_PARAMS(DB_U64(sign_count), DB_I64(now_ms), DB_U64(id), DB_U64(sign_count), DB_U64(sign_count)));
    return st == ST_OK && changed == 0 && sign_count > 0 ? ST_CONFLICT : st;
}

enum status passkey_delete(struct db *db, uint64_t user_id, uint64_t id)
{
    uint64_t changed;
    enum status st = db_exec(db, &changed, "DELETE FROM passkey WHERE id = ? AND user_id = ?",
                             DB_PARAMS(DB_U64(id), DB_U64(user_id)));
    return st == ST_OK && changed == 0 ? ST_NOT_FOUND : st;
}

enum status passkey_count(struct db *db, struct arena *a, uint64_t user_id, uint64_t *out)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows, "SELECT COUNT(*) FROM passkey WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
    if (st == ST_OK)
        *out = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status passkey_delete_all(struct db *db, uint64_t user_id)
{
    return db_exec(db, NULL, "DELETE FROM passkey WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
}
