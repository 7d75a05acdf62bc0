#include "user/picture_store.h"

#include <assert.h>
#include <string.h>

#include "io/picture_hash.h"
#include "user/store.h"

static struct face face_of(struct str hash)
{
    char word[1 + PICTURE_HASH_LEN] = "@";
    assert(hash.len == PICTURE_HASH_LEN);
    memcpy(word + 1, hash.ptr, hash.len);
    return face_from((struct str){ word, sizeof word });
}

struct change {
    struct arena *arena;
    uint64_t user_id;
    struct str bytes, hash;
    int64_t now_ms;
    struct face *face;
    bool *changed;
};

static enum status row_delete(struct db *db, uint64_t user_id)
{
    return db_exec(db, NULL, "DELETE FROM picture WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
}

/* Stores a picture. The lock makes a deletion of the user wait, which removes the row. */
static enum status set_body(struct db *db, void *ctx)
{
    struct change *c = ctx;
    enum status st = user_lock(db, c->arena, c->user_id);
    if (st == ST_OK)
        st = row_delete(db, c->user_id);
    if (st == ST_OK)
        st = db_exec(db, NULL, "INSERT INTO picture (user_id, hash, bytes, created_ms) VALUES (?, ?, ?, ?)",
                     DB_PARAMS(DB_U64(c->user_id), DB_TEXT(c->hash), DB_BYTES(c->bytes), DB_I64(c->now_ms)));
    return st == ST_OK ? user_rename(db, c->user_id, NULL, c->face) : st;
}

enum status picture_set(struct db *db, struct arena *a, uint64_t user_id, struct str bytes, int64_t now_ms,
                        struct face *face)
{
    char hash[PICTURE_HASH_LEN];
    picture_hash(bytes, hash);
    struct change c = { a, user_id, bytes, { hash, sizeof hash }, now_ms, face, NULL };
    *face = face_of(c.hash);
    return db_transaction(db, set_body, &c);
}

static enum status remove_body(struct db *db, void *ctx)
{
    struct change *c = ctx;
    enum status st = user_lock(db, c->arena, c->user_id);
    if (st == ST_OK)
        st = user_face_find(db, c->arena, c->user_id, c->face);
    if (st != ST_OK)
        return st;
    *c->changed = str_starts(face_word(c->face), STR("@"));
    if (*c->changed) {
        *c->face = FACE_NONE;
        st = user_rename(db, c->user_id, NULL, c->face);
    }
    return st == ST_OK ? row_delete(db, c->user_id) : st;
}

enum status picture_remove(struct db *db, struct arena *a, uint64_t user_id, bool *changed, struct face *face)
{
    struct change c = { .arena = a, .user_id = user_id, .face = face, .changed = changed };
    return db_transaction(db, remove_body, &c);
}

struct leave {
    struct arena *arena;
    uint64_t user_id;
    const struct str *nickname;
    const struct face *face;
};

static enum status leave_body(struct db *db, void *ctx)
{
    const struct leave *l = ctx;
    enum status st = user_lock(db, l->arena, l->user_id);
    if (st == ST_OK)
        st = row_delete(db, l->user_id);
    return st == ST_OK ? user_rename(db, l->user_id, l->nickname, l->face) : st;
}

enum status picture_leave(struct db *db, struct arena *a, uint64_t user_id, const struct str *nickname,
                          const struct face *face)
{
    struct leave l = { a, user_id, nickname, face };
    return db_transaction(db, leave_body, &l);
}

enum status picture_of_user(struct db *db, struct arena *a, uint64_t user_id, struct str *hash)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT hash FROM picture WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
    *hash = st == ST_OK && rows.count > 0 ? db_cell(&rows, 0, 0) : STR_NONE;
    return st;
}

enum status picture_find(struct db *db, struct arena *a, struct str hash, struct str *bytes)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "(SELECT bytes FROM picture WHERE hash = ? LIMIT 1) UNION ALL"
                             " (SELECT bytes FROM cover WHERE hash = ? LIMIT 1) LIMIT 1",
                             DB_PARAMS(DB_TEXT(hash), DB_TEXT(hash)));
    if (st == ST_OK)
        *bytes = db_cell(&rows, 0, 0);
    return st;
}
