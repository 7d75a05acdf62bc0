#include "user/subject_store.h"

#define SUBJECT_IS "issuer = ? AND subject = ?"

enum status subject_find(struct db *db, struct arena *a, const struct subject *subject, struct user *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT user.id, username, nickname, disabled_ms FROM subject"
                             " JOIN user ON user.id = subject.user_id WHERE " SUBJECT_IS " AND deleting_ms IS NULL",
                             DB_PARAMS(DB_BYTES(subject->issuer), DB_BYTES(subject->name)));
    if (st == ST_OK)
        *out = (struct user){ .id = db_cell_u64(&rows, 0, 0),
                              .username = db_cell(&rows, 0, 1),
                              .nickname = db_cell(&rows, 0, 2),
                              .disabled = db_cell(&rows, 0, 3).ptr != NULL };
    return st;
}

enum status subject_insert(struct db *db, const struct subject *subject, uint64_t user_id, int64_t now_ms)
{
    return db_exec(db, NULL, "INSERT INTO subject (issuer, subject, user_id, linked_ms) VALUES (?, ?, ?, ?)",
                   DB_PARAMS(DB_BYTES(subject->issuer), DB_BYTES(subject->name), DB_U64(user_id), DB_I64(now_ms)));
}

/* ---- linking ---- */

enum status subject_permit(struct db *db, uint64_t user_id, struct str session_key, int64_t now_ms)
{
    return db_exec(db, NULL,
                   "INSERT INTO subject_permit (user_id, session, expires_ms) VALUES (?, ?, ?)"
                   " ON DUPLICATE KEY UPDATE session = VALUES(session), expires_ms = VALUES(expires_ms)",
                   DB_PARAMS(DB_U64(user_id), DB_TEXT(session_key), DB_I64(now_ms + SUBJECT_PERMIT_MS)));
}

struct link_run {
    struct arena *arena;
    const struct subject *subject;
    uint64_t user_id;
    struct str session_key;
    int64_t now_ms;
};

/* The lock of the user's row comes first, as in user_delete. */
static enum status link_body(struct db *db, void *ctx)
{
    const struct link_run *in = ctx;
    struct db_rows rows;
    uint64_t used = 0;
    enum status st =
        db_find(db, in->arena, &rows,
                "SELECT 1 FROM user WHERE id = ? AND disabled_ms IS NULL AND deleting_ms IS NULL LOCK IN SHARE MODE",
                DB_PARAMS(DB_U64(in->user_id)));
    if (st == ST_OK)
        st = db_exec(db, &used, "DELETE FROM subject_permit WHERE user_id = ? AND session = ? AND expires_ms > ?",
                     DB_PARAMS(DB_U64(in->user_id), DB_TEXT(in->session_key), DB_I64(in->now_ms)));
    if (st == ST_OK && used == 0)
        st = ST_NOT_FOUND;
    return st == ST_OK ? subject_insert(db, in->subject, in->user_id, in->now_ms) : st;
}

enum status subject_link(struct db *db, struct arena *a, const struct subject *subject, uint64_t user_id,
                         struct str session_key, int64_t now_ms)
{
    struct link_run in = { a, subject, user_id, session_key, now_ms };
    return db_transaction(db, link_body, &in);
}

enum status subject_of_user(struct db *db, struct arena *a, uint64_t user_id, struct str issuer, int64_t *linked_ms)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT linked_ms FROM subject WHERE user_id = ? AND issuer = ?",
                             DB_PARAMS(DB_U64(user_id), DB_BYTES(issuer)));
    if (st == ST_OK)
        *linked_ms = db_cell_i64(&rows, 0, 0);
    return st;
}

enum status subject_unlink(struct db *db, uint64_t user_id, struct str issuer)
{
    uint64_t removed = 0;
    enum status st = db_exec(db, &removed,
                             "DELETE FROM subject WHERE user_id = ? AND issuer = ? AND"
                             " (EXISTS (SELECT 1 FROM user WHERE id = ? AND password_hash IS NOT NULL)"
                             " OR EXISTS (SELECT 1 FROM passkey WHERE user_id = ?))",
                             DB_PARAMS(DB_U64(user_id), DB_BYTES(issuer), DB_U64(user_id), DB_U64(user_id)));
    return st == ST_OK && removed == 0 ? ST_NOT_FOUND : st;
}

/* ---- who it is, once more ---- */

enum status subject_prove(struct db *db, const struct subject *subject, struct str session_key)
{
    return db_exec(db, NULL, "UPDATE subject SET proof_session = ? WHERE " SUBJECT_IS,
                   DB_PARAMS(DB_TEXT(session_key), DB_BYTES(subject->issuer), DB_BYTES(subject->name)));
}

enum status subject_session_proves(struct db *db, struct arena *a, uint64_t user_id, struct str session_key,
                                   bool *proves)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT COALESCE(proof_session, '') FROM subject WHERE user_id = ?",
                              DB_PARAMS(DB_U64(user_id)));
    *proves = st == ST_OK && rows.count == 0;
    for (size_t i = 0; st == ST_OK && i < rows.count; i++)
        *proves = *proves || str_equal(db_cell(&rows, i, 0), session_key);
    return st;
}

/* ---- orders to log out ---- */

enum status subject_logout_find(struct db *db, struct arena *a, const struct subject *subject, struct str jti,
                                uint64_t *user_id, bool *done)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows, "SELECT user_id, logout_jti FROM subject WHERE " SUBJECT_IS,
                             DB_PARAMS(DB_BYTES(subject->issuer), DB_BYTES(subject->name)));
    if (st != ST_OK)
        return st;
    *user_id = db_cell_u64(&rows, 0, 0);
    *done = db_cell(&rows, 0, 1).ptr != NULL && str_equal(db_cell(&rows, 0, 1), jti);
    return ST_OK;
}

enum status subject_logout_done(struct db *db, const struct subject *subject, struct str jti)
{
    return db_exec(db, NULL, "UPDATE subject SET logout_jti = ? WHERE " SUBJECT_IS,
                   DB_PARAMS(DB_BYTES(jti), DB_BYTES(subject->issuer), DB_BYTES(subject->name)));
}
