#include "user/cover_store.h"

#include "io/picture_hash.h"
#include "user/store.h"

enum status covers_find(struct db *db, struct arena *a, uint64_t user_id, struct str_list *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT hash FROM cover WHERE user_id = ? ORDER BY created_ms DESC, hash",
                              DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    struct str *hashes = arena_array(a, rows.count + 1, sizeof *hashes);
    if (hashes == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        hashes[i] = db_cell(&rows, i, 0);
    *out = (struct str_list){ hashes, rows.count };
    return ST_OK;
}

struct addition {
    struct arena *arena;
    uint64_t user_id;
    struct str bytes, hash;
    int64_t now_ms;
    bool *full;
};

/* Adds a cover. The lock makes other additions wait, and also a deletion of the user, which removes the rows. */
static enum status add_body(struct db *db, void *ctx)
{
    struct addition *c = ctx;
    struct str_list own = { NULL, 0 };
    enum status st = user_lock(db, c->arena, c->user_id);
    if (st == ST_OK)
        st = covers_find(db, c->arena, c->user_id, &own);
    if (st != ST_OK)
        return st;
    for (size_t i = 0; i < own.count; i++)
        if (str_equal(own.items[i], c->hash))
            return ST_OK;
    *c->full = own.count >= OWN_COVERS_MAX;
    return *c->full ? ST_OK
                    : db_exec(db, NULL, "INSERT INTO cover (user_id, hash, bytes, created_ms) VALUES (?, ?, ?, ?)",
                              DB_PARAMS(DB_U64(c->user_id), DB_TEXT(c->hash), DB_BYTES(c->bytes), DB_I64(c->now_ms)));
}

enum status cover_add(struct db *db, struct arena *a, uint64_t user_id, struct str bytes, int64_t now_ms, bool *full,
                      struct str *hash)
{
    char name[PICTURE_HASH_LEN];
    picture_hash(bytes, name);
    *hash = arena_str(a, (struct str){ name, sizeof name });
    *full = false;
    if (hash->ptr == NULL)
        return ST_NO_MEMORY;
    struct addition c = { a, user_id, bytes, *hash, now_ms, full };
    return db_transaction(db, add_body, &c);
}

enum status cover_remove(struct db *db, uint64_t user_id, struct str hash)
{
    return db_exec(db, NULL, "DELETE FROM cover WHERE user_id = ? AND hash = ?",
                   DB_PARAMS(DB_U64(user_id), DB_TEXT(hash)));
}
