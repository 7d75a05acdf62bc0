#include "user/invitation_store.h"

#include <assert.h>

#include "base/random.h"
#include "mysql/db_repeat.h"
#include "user/invitation_code.h"
#include "user/store.h"

enum invitation_state invitation_state(const struct invitation *i, int64_t now_ms)
{
    return i->used_ms > 0            ? INVITATION_USED
           : i->revoked_ms > 0       ? INVITATION_REVOKED
           : i->expires_ms <= now_ms ? INVITATION_EXPIRED
                                     : INVITATION_OPEN;
}

const char *invitation_state_name(enum invitation_state state)
{
    static const char *const names[] = { "open", "used", "revoked", "expired" };
    return names[state];
}

/* ---- using ---- */

/* A user who is shut out, or leaves, lets nobody in. */
#define MAKER_STAYS                                                                                                    \
    " AND NOT EXISTS (SELECT 1 FROM user AS maker WHERE maker.id = invitation.user_id"                                 \
    " AND (maker.disabled_ms IS NOT NULL OR maker.deleting_ms IS NOT NULL))"

static enum status use(struct db *db, struct arena *a, struct admission *admission, uint64_t user_id, int64_t now_ms)
{
    uint64_t used = 0;
    struct db_rows rows;
    enum status st =
        db_exec(db, &used,
                "UPDATE invitation SET used_ms = ?, used_by = ? WHERE hash = ? AND used_ms IS NULL"
                " AND revoked_ms IS NULL AND expires_ms > ?" MAKER_STAYS,
                DB_PARAMS(DB_I64(now_ms), DB_U64(user_id), DB_TEXT(admission->invitation), DB_I64(now_ms)));
    if (st == ST_OK && used != 1)
        return ST_NOT_FOUND;
    if (st == ST_OK)
        st = db_find(db, a, &rows, "SELECT id FROM invitation WHERE hash = ?",
                     DB_PARAMS(DB_TEXT(admission->invitation)));
    if (st == ST_OK)
        admission->invitation_id = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status admission_use(struct db *db, struct arena *a, struct admission *admission, uint64_t user_id, int64_t now_ms)
{
    enum status st = ST_OK;
    if (admission->invitation.len > 0)
        st = use(db, a, admission, user_id, now_ms);
    if (st == ST_OK && admission->terms_version.len > 0)
        st = terms_accept(db, user_id, admission->terms_version, now_ms);
    return st;
}

enum status invitation_find(struct db *db, struct arena *a, struct str hash, int64_t now_ms, enum invitation_state *out)
{
    struct db_rows rows;
    enum status st = db_find(db, a, &rows,
                             "SELECT expires_ms, COALESCE(revoked_ms, 0), COALESCE(used_ms, 0) FROM invitation"
                             " WHERE hash = ?" MAKER_STAYS,
                             DB_PARAMS(DB_TEXT(hash)));
    if (st == ST_OK)
        *out = invitation_state(&(struct invitation){ .expires_ms = db_cell_i64(&rows, 0, 0),
                                                      .revoked_ms = db_cell_i64(&rows, 0, 1),
                                                      .used_ms = db_cell_i64(&rows, 0, 2) },
                                now_ms);
    return st;
}

/* ---- making ---- */

static enum status code_draw(struct arena *a, const struct key *key, struct invitation *i, struct invitation_code *code)
{
    i->seed = random_u64();
    return invitation_code_of(a, key, i->seed, code) ? ST_OK : ST_NO_MEMORY;
}

struct make_run {
    struct arena *arena;
    struct invitation *invitation;
    struct str hash, request_key;
    uint64_t max;
};

/* The invitation that an earlier request with this key has made. ST_NOT_FOUND: none has. */
static enum status made_find(struct db *db, struct make_run *in)
{
    struct db_rows rows;
    struct invitation *i = in->invitation;
    enum status st = db_find(db, in->arena, &rows,
                             "SELECT id, seed, note, created_ms, expires_ms FROM invitation"
                             " WHERE user_id = ? AND request_key = ?",
                             DB_PARAMS(DB_U64(i->user_id), DB_TEXT(in->request_key)));
    if (st != ST_OK)
        return st;
    i->id = db_cell_u64(&rows, 0, 0);
    i->seed = db_cell_u64(&rows, 0, 1);
    i->note = db_cell(&rows, 0, 2);
    i->created_ms = db_cell_i64(&rows, 0, 3);
    i->expires_ms = db_cell_i64(&rows, 0, 4);
    return ST_OK;
}

/* The lock on the user's row makes concurrent requests wait, so that they count each other's invitations. */
static enum status make_body(struct db *db, void *ctx)
{
    struct make_run *in = ctx;
    struct invitation *i = in->invitation;
    uint64_t count = 0;
    enum status st = user_lock(db, in->arena, i->user_id);
    if (st == ST_NOT_FOUND)
        return ST_UNAVAILABLE;
    if (st == ST_OK)
        st = made_find(db, in);
    if (st != ST_NOT_FOUND)
        return st;
    st = invitations_count(db, in->arena, i->user_id, i->created_ms, &count);
    if (st == ST_OK && count >= in->max)
        return ST_INVALID;
    if (st == ST_OK)
        st = db_exec(db, NULL,
                     "INSERT INTO invitation (hash, seed, user_id, request_key, note, created_ms, expires_ms)"
                     " VALUES (?, ?, ?, ?, ?, ?, ?)",
                     DB_PARAMS(DB_TEXT(in->hash), DB_U64(i->seed), DB_U64(i->user_id), DB_TEXT(in->request_key),
                               DB_TEXT(i->note), DB_I64(i->created_ms), DB_I64(i->expires_ms)));
    i->id = st == ST_OK ? db_last_id(db) : 0;
    return st;
}

enum status invitation_make(struct db *db, struct arena *a, const struct key *key, struct invitation *invitation,
                            struct str request_key, uint64_t max)
{
    struct make_run in = { .arena = a, .invitation = invitation, .request_key = request_key, .max = max };
    struct invitation_code code;
    enum status st = code_draw(a, key, invitation, &code);
    if (st != ST_OK)
        return st;
    in.hash = code.hash;
    return db_transaction_repeat(db, make_body, &in);
}

struct batch_run {
    const struct invitation *model, *list;
    const struct str *hashes;
    size_t count;
};

static enum status batch_body(struct db *db, void *ctx)
{
    const struct batch_run *in = ctx;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "INSERT INTO invitation (hash, seed, author, note, created_ms, expires_ms) VALUES ");
    for (size_t i = 0; i < in->count; i++) {
        const struct db_param row[] = { DB_TEXT(in->hashes[i]),        DB_U64(in->list[i].seed),
                                        DB_TEXT(in->model->author),    DB_TEXT(in->model->note),
                                        DB_I64(in->model->created_ms), DB_I64(in->model->expires_ms) };
        db_comma(&sql, i);
        buf_char(&sql, '(');
        for (size_t column = 0; column < sizeof row / sizeof row[0]; column++) {
            db_comma(&sql, column);
            db_append(db, &sql, &row[column]);
        }
        buf_char(&sql, ')');
    }
    enum status st = db_exec_buf(db, NULL, &sql);
    buf_free(&sql);
    return st;
}

/* Reads the ids: rows of one statement need not have ids in a row. */
static enum status batch_ids(struct db *db, struct arena *a, const struct batch_run *in, struct invitation *list)
{
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, seed FROM invitation WHERE hash IN (");
    for (size_t i = 0; i < in->count; i++) {
        db_comma(&sql, i);
        db_append(db, &sql, &DB_TEXT(in->hashes[i]));
    }
    buf_cstr(&sql, ") ORDER BY id");
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < in->count && i < rows.count; i++) {
        list[i].id = db_cell_u64(&rows, i, 0);
        list[i].seed = db_cell_u64(&rows, i, 1);
    }
    return st;
}

enum status invitations_make(struct db *db, struct arena *a, const struct key *key, const struct invitation *model,
                             struct invitation *list, size_t count)
{
    struct str *hashes = arena_array(a, count + 1, sizeof *hashes);
    struct batch_run in = { model, list, hashes, count };
    enum status st = hashes == NULL ? ST_NO_MEMORY : ST_OK;
    assert(count > 0 && count <= INVITATION_BATCH_MAX);
    for (size_t i = 0; st == ST_OK && i < count; i++) {
        struct invitation_code code;
        list[i] = *model;
        st = code_draw(a, key, &list[i], &code);
        hashes[i] = code.hash;
    }
    if (st == ST_OK)
        st = db_transaction_repeat(db, batch_body, &in);
    if (st == ST_EXISTS) /* the seeds are random, so an earlier run was committed */
        st = ST_OK;
    return st == ST_OK ? batch_ids(db, a, &in, list) : st;
}

/* ---- lists ---- */

enum {
    COLUMN_ID,
    COLUMN_SEED,
    COLUMN_USER,
    COLUMN_AUTHOR,
    COLUMN_NOTE,
    COLUMN_CREATED,
    COLUMN_EXPIRES,
    COLUMN_REVOKED,
    COLUMN_USED,
    COLUMN_USED_BY,
    COLUMN_USED_NAME,
    COLUMN_MAKER
};
#define LIST_COLUMNS                                                                                                   \
    "SELECT i.id, i.seed, COALESCE(i.user_id, 0), COALESCE(i.author, ''), i.note, i.created_ms, i.expires_ms,"         \
    " COALESCE(i.revoked_ms, 0), COALESCE(i.used_ms, 0), COALESCE(i.used_by, 0), "

static enum status list_from(struct arena *a, const struct db_rows *rows, bool with_maker, struct invitation **out,
                             size_t *count)
{
    *out = arena_array(a, rows->count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows->count; i++)
        (*out)[i] = (struct invitation){ .id = db_cell_u64(rows, i, COLUMN_ID),
                                         .seed = db_cell_u64(rows, i, COLUMN_SEED),
                                         .user_id = db_cell_u64(rows, i, COLUMN_USER),
                                         .author = db_cell(rows, i, COLUMN_AUTHOR),
                                         .note = db_cell(rows, i, COLUMN_NOTE),
                                         .created_ms = db_cell_i64(rows, i, COLUMN_CREATED),
                                         .expires_ms = db_cell_i64(rows, i, COLUMN_EXPIRES),
                                         .revoked_ms = db_cell_i64(rows, i, COLUMN_REVOKED),
                                         .used_ms = db_cell_i64(rows, i, COLUMN_USED),
                                         .used_by = db_cell_u64(rows, i, COLUMN_USED_BY),
                                         .used_name = db_cell(rows, i, COLUMN_USED_NAME),
                                         .maker = with_maker ? db_cell(rows, i, COLUMN_MAKER) : STR("") };
    *count = rows->count;
    return ST_OK;
}

enum status invitations_of_user(struct db *db, struct arena *a, uint64_t user_id, struct invitation **out,
                                size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              LIST_COLUMNS "COALESCE(u.nickname, '') FROM invitation AS i"
                                           " LEFT JOIN user AS u ON u.id = i.used_by WHERE i.user_id = ?"
                                           " ORDER BY i.id DESC LIMIT ?",
                              DB_PARAMS(DB_U64(user_id), DB_U64(INVITATION_LIST_MAX)));
    return st == ST_OK ? list_from(a, &rows, false, out, count) : st;
}

enum status invitations_count(struct db *db, struct arena *a, uint64_t user_id, int64_t now_ms, uint64_t *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT COUNT(*) FROM invitation WHERE user_id = ?"
                              " AND (used_ms IS NOT NULL OR (revoked_ms IS NULL AND expires_ms > ?))",
                              DB_PARAMS(DB_U64(user_id), DB_I64(now_ms)));
    if (st == ST_OK)
        *out = db_cell_u64(&rows, 0, 0);
    return st;
}

enum status invitations_list(struct db *db, struct arena *a, uint64_t below, size_t limit, bool open_only,
                             int64_t now_ms, struct invitation **out, size_t *count)
{
    struct db_rows rows;
    enum status st =
        db_query(db, a, &rows,
                 LIST_COLUMNS "COALESCE(u.username, ''), COALESCE(m.username, '') FROM invitation AS i"
                              " LEFT JOIN user AS u ON u.id = i.used_by LEFT JOIN user AS m ON m.id = i.user_id"
                              " WHERE i.id < ? AND (? = 0 OR (i.used_ms IS NULL AND i.revoked_ms IS NULL"
                              " AND i.expires_ms > ?)) ORDER BY i.id DESC LIMIT ?",
                 DB_PARAMS(DB_U64(below > 0 ? below : UINT64_MAX), DB_U64(open_only), DB_I64(now_ms), DB_U64(limit)));
    return st == ST_OK ? list_from(a, &rows, true, out, count) : st;
}

/* ---- revoking ---- */

enum status invitation_revoke(struct db *db, struct arena *a, uint64_t id, uint64_t user_id, int64_t now_ms)
{
    uint64_t changed = 0;
    struct db_rows rows;
    enum status st = db_exec(db, &changed,
                             "UPDATE invitation SET revoked_ms = ? WHERE id = ? AND (? = 0 OR user_id = ?)"
                             " AND used_ms IS NULL AND revoked_ms IS NULL",
                             DB_PARAMS(DB_I64(now_ms), DB_U64(id), DB_U64(user_id), DB_U64(user_id)));
    if (st != ST_OK || changed == 1)
        return st;
    st = db_find(db, a, &rows, "SELECT used_ms FROM invitation WHERE id = ? AND (? = 0 OR user_id = ?)",
                 DB_PARAMS(DB_U64(id), DB_U64(user_id), DB_U64(user_id)));
    return st != ST_OK || db_cell(&rows, 0, 0).ptr == NULL ? st : ST_EXISTS;
}

enum status invitations_revoke_noted(struct db *db, struct str note, int64_t now_ms, uint64_t *count)
{
    return db_exec(db, count,
                   "UPDATE invitation SET revoked_ms = ? WHERE note = ? AND user_id IS NULL AND used_ms IS NULL"
                   " AND revoked_ms IS NULL",
                   DB_PARAMS(DB_I64(now_ms), DB_TEXT(note)));
}

/* ---- terms ---- */

enum status terms_accepted(struct db *db, struct arena *a, uint64_t user_id, struct str version, bool *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT 1 FROM user_terms WHERE user_id = ? AND version = ?",
                              DB_PARAMS(DB_U64(user_id), DB_TEXT(version)));
    *out = st == ST_OK && rows.count > 0;
    return st;
}

enum status terms_accept(struct db *db, uint64_t user_id, struct str version, int64_t now_ms)
{
    enum status st = db_exec(db, NULL, "INSERT INTO user_terms (user_id, version, accepted_ms) VALUES (?, ?, ?)",
                             DB_PARAMS(DB_U64(user_id), DB_TEXT(version), DB_I64(now_ms)));
    return st == ST_EXISTS ? ST_OK : st;
}

enum status terms_of_user(struct db *db, struct arena *a, uint64_t user_id, struct terms_row **out, size_t *count)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT version, accepted_ms FROM user_terms WHERE user_id = ?"
                              " ORDER BY accepted_ms, version",
                              DB_PARAMS(DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    *out = arena_array(a, rows.count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++)
        (*out)[i] = (struct terms_row){ db_cell(&rows, i, 0), db_cell_i64(&rows, i, 1) };
    *count = rows.count;
    return ST_OK;
}
