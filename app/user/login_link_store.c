#include "user/login_link_store.h"

static struct db_param hash_param(const struct login_link *link)
{
    return DB_BYTES(((struct str){ (const char *)link->hash, sizeof link->hash }));
}

enum status login_links_put(struct db *db, const uint64_t *user_ids, const struct login_link *links, size_t count,
                            int64_t now_ms, int64_t expires_ms)
{
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "DELETE FROM login_link WHERE user_id IN ");
    db_ids(&sql, user_ids, count);
    enum status st = db_exec_buf(db, NULL, &sql);
    buf_reset(&sql);
    buf_cstr(&sql, "INSERT INTO login_link (user_id, hash, created_ms, expires_ms) VALUES ");
    for (size_t i = 0; i < count; i++) {
        const struct db_param param = hash_param(&links[i]);
        db_comma(&sql, i);
        buf_char(&sql, '(');
        buf_u64(&sql, user_ids[i]);
        buf_char(&sql, ',');
        db_append(db, &sql, &param);
        buf_char(&sql, ',');
        buf_i64(&sql, now_ms);
        buf_char(&sql, ',');
        buf_i64(&sql, expires_ms);
        buf_char(&sql, ')');
    }
    if (st == ST_OK)
        st = db_exec_buf(db, NULL, &sql);
    buf_free(&sql);
    return st;
}

struct put_run {
    struct arena *arena;
    uint64_t user_id;
    const struct login_link *link;
    int64_t now_ms, expires_ms;
};

static enum status put_body(struct db *db, void *ctx)
{
    const struct put_run *in = ctx;
    enum status st = user_lock(db, in->arena, in->user_id);
    return st == ST_OK ? login_links_put(db, &in->user_id, in->link, 1, in->now_ms, in->expires_ms) : st;
}

enum status login_link_put(struct db *db, struct arena *a, uint64_t user_id, const struct login_link *link,
                           int64_t now_ms, int64_t expires_ms)
{
    struct put_run in = { a, user_id, link, now_ms, expires_ms };
    return db_transaction(db, put_body, &in);
}

enum status login_link_find(struct db *db, struct arena *a, const struct login_link *link, int64_t now_ms,
                            struct user *user, int64_t *expires_ms)
{
    struct db_rows rows;
    enum status st =
        db_find(db, a, &rows,
                "SELECT u.id, u.username, u.nickname, u.disabled_ms, l.expires_ms, u.face FROM login_link AS l"
                " JOIN user AS u ON u.id = l.user_id"
                " WHERE l.hash = ? AND l.expires_ms > ? AND u.deleting_ms IS NULL",
                DB_PARAMS(hash_param(link), DB_I64(now_ms)));
    if (st != ST_OK)
        return st;
    *user = (struct user){ .id = db_cell_u64(&rows, 0, 0),
                           .username = db_cell(&rows, 0, 1),
                           .nickname = db_cell(&rows, 0, 2),
                           .face = face_from(db_cell(&rows, 0, 5)),
                           .disabled = db_cell(&rows, 0, 3).ptr != NULL };
    *expires_ms = db_cell_i64(&rows, 0, 4);
    return ST_OK;
}

struct use_run {
    struct arena *arena;
    uint64_t user_id;
    const struct login_link *link;
    int64_t now_ms;
};

/* As a recovery code is used: who disables or deletes the user meanwhile waits for the lock, or was first. */
static enum status use_body(struct db *db, void *ctx)
{
    const struct use_run *in = ctx;
    uint64_t deleted = 0;
    enum status st = user_lock(db, in->arena, in->user_id);
    if (st == ST_OK)
        st = db_exec(db, &deleted, "DELETE FROM login_link WHERE user_id = ? AND hash = ? AND expires_ms > ?",
                     DB_PARAMS(DB_U64(in->user_id), hash_param(in->link), DB_I64(in->now_ms)));
    return st == ST_OK && deleted == 0 ? ST_NOT_FOUND : st;
}

enum status login_link_use(struct db *db, struct arena *a, uint64_t user_id, const struct login_link *link,
                           int64_t now_ms)
{
    struct use_run in = { a, user_id, link, now_ms };
    return db_transaction(db, use_body, &in);
}

enum status login_link_delete(struct db *db, uint64_t user_id)
{
    return db_exec(db, NULL, "DELETE FROM login_link WHERE user_id = ?", DB_PARAMS(DB_U64(user_id)));
}

enum status login_link_until(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms, int64_t *out_ms)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT expires_ms FROM login_link WHERE user_id = ? AND expires_ms > ?",
                              DB_PARAMS(DB_U64(user_id), DB_I64(now_ms)));
    *out_ms = st == ST_OK && rows.count > 0 ? db_cell_i64(&rows, 0, 0) : 0;
    return st;
}
