#include "user/deletion.h"

#include <inttypes.h>
#include <sodium.h>
#include <string.h>

#include "base/clock.h"
#include "base/crash.h"
#include "base/log.h"
#include "mysql/db_repeat.h"
#include "user/login_link_store.h"
#include "user/session_list.h"
#include "user/store.h"
#include "user/token.h"

enum { RETIRED_BYTES = 32, ARENA_CHUNK_BYTES = 65536 };
static const size_t ARENA_LIMIT_BYTES = (size_t)16 << 20;

/* ---- usernames ---- */

/* A keyed hash: names can be tried only with the key. */
static void retired_hash(const struct key *key, struct str username, uint8_t out[RETIRED_BYTES])
{
    static const char purpose[] = "hongbao username v1";
    crypto_generichash_state state;
    crypto_generichash_init(&state, key->bytes, sizeof key->bytes, RETIRED_BYTES);
    crypto_generichash_update(&state, (const unsigned char *)purpose, sizeof purpose);
    crypto_generichash_update(&state, (const unsigned char *)username.ptr, username.len);
    crypto_generichash_final(&state, out, RETIRED_BYTES);
}

static struct db_param hash_param(const uint8_t hash[RETIRED_BYTES])
{
    return DB_BYTES(((struct str){ (const char *)hash, RETIRED_BYTES }));
}

enum status username_is_retired(struct db *db, struct arena *a, const struct keys *keys, struct str username,
                                bool *retired)
{
    const struct key_pair pair = keys_pair(keys, KEY_USERNAMES);
    uint8_t hash[RETIRED_BYTES], before[RETIRED_BYTES];
    struct db_rows rows;
    retired_hash(pair.now, username, hash);
    retired_hash(pair.before != NULL ? pair.before : pair.now, username, before);
    enum status st = db_query(db, a, &rows, "SELECT 1 FROM username_retired WHERE hash IN (?, ?) LOCK IN SHARE MODE",
                              DB_PARAMS(hash_param(hash), hash_param(before)));
    *retired = st == ST_OK && rows.count > 0;
    return st;
}

enum status usernames_retired(struct db *db, struct arena *a, const struct keys *keys, const struct str *usernames,
                              size_t count, bool lock, bool *retired)
{
    const struct key_pair pair = keys_pair(keys, KEY_USERNAMES);
    uint8_t(*hashes)[RETIRED_BYTES] = arena_array(a, 2 * count + 1, sizeof *hashes);
    struct db_rows rows;
    struct buf sql = BUF_EMPTY;
    if (hashes == NULL)
        return ST_NO_MEMORY;
    if (count == 0)
        return ST_OK;
    buf_cstr(&sql, "SELECT hash FROM username_retired WHERE hash IN (");
    for (size_t i = 0; i < 2 * count; i++) {
        retired_hash(i % 2 == 0 || pair.before == NULL ? pair.now : pair.before, usernames[i / 2], hashes[i]);
        const struct db_param param = hash_param(hashes[i]);
        db_comma(&sql, i);
        db_append(db, &sql, &param);
        retired[i / 2] = false;
    }
    buf_cstr(&sql, lock ? ") LOCK IN SHARE MODE" : ")");
    enum status st = db_query_buf(db, a, &rows, &sql);
    buf_free(&sql);
    for (size_t row = 0; st == ST_OK && row < rows.count; row++)
        for (size_t i = 0; i < 2 * count; i++)
            if (memcmp(db_cell(&rows, row, 0).ptr, hashes[i], RETIRED_BYTES) == 0)
                retired[i / 2] = true;
    return st;
}

/* ---- the first step ---- */

enum status deletion_money_find(struct db *db, struct arena *a, uint64_t user_id, struct deletion_money *out)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows,
                              "SELECT (SELECT balance_fen FROM account WHERE id = ?), p.n, p.fen, w.n, w.fen FROM"
                              " (SELECT COUNT(*) AS n, COALESCE(SUM(amount_fen + returned_fen - grabbed_fen), 0) AS fen"
                              " FROM packet WHERE sender_id = ? AND state <> 'closed'"
                              " AND grabbed_fen < amount_fen + returned_fen) AS p CROSS JOIN"
                              " (SELECT COUNT(*) AS n, COALESCE(SUM(amount_fen), 0) AS fen FROM withdrawal"
                              " WHERE user_id = ? AND state = 'pending') AS w",
                              DB_PARAMS(DB_U64(user_id), DB_U64(user_id), DB_U64(user_id)));
    if (st != ST_OK)
        return st;
    if (db_cell(&rows, 0, 0).ptr == NULL)
        return ST_CORRUPT; /* every user has a wallet */
    *out = (struct deletion_money){ .balance_fen = db_cell_i64(&rows, 0, 0),
                                    .packets_fen = db_cell_i64(&rows, 0, 2),
                                    .withdrawals_fen = db_cell_i64(&rows, 0, 4),
                                    .packet_count = db_cell_u64(&rows, 0, 1),
                                    .withdrawal_count = db_cell_u64(&rows, 0, 3) };
    return ST_OK;
}

struct begin {
    uint64_t user_id;
    struct str hash;
    uint8_t retired[RETIRED_BYTES];
    bool give_up;
};

/* user_delete compares the hash. So a user without a password gets this one first, which no password has. It is never
 * committed: user_delete removes it. */
#define NO_HASH STR("-")

static enum status begin_body(struct db *db, void *ctx)
{
    const struct begin *b = ctx;
    const struct str hash = b->hash.ptr != NULL ? b->hash : NO_HASH;
    enum status st = ST_OK;
    if (b->hash.ptr == NULL)
        st = db_exec(db, NULL,
                     "UPDATE user SET password_hash = ? WHERE id = ? AND password_hash IS NULL AND deleting_ms IS NULL",
                     DB_PARAMS(DB_TEXT(hash), DB_U64(b->user_id)));
    if (st == ST_OK)
        st = db_exec(db, NULL, "CALL user_delete(?, ?, ?, ?)",
                     DB_PARAMS(DB_U64(b->user_id), DB_TEXT(hash), hash_param(b->retired), DB_U64(b->give_up)));
    if (st == ST_OK)
        st = login_link_delete(db, b->user_id);
    crash_point("delete-before-commit");
    return st;
}

enum status deletion_is_begun(struct db *db, struct arena *a, uint64_t user_id, bool *begun)
{
    struct db_rows rows;
    enum status st = db_query(db, a, &rows, "SELECT 1 FROM user WHERE id = ? AND deleting_ms IS NOT NULL",
                              DB_PARAMS(DB_U64(user_id)));
    *begun = st == ST_OK && rows.count > 0;
    return st;
}

/* Ends sessions and tokens. The rows of tokens stay until the end of the deletion, but no copies are made of them any
 * more. */
static enum status access_end(struct stores *stores, struct arena *a, uint64_t user_id)
{
    enum status st = session_list_end_others(stores, a, user_id, STR(""), clock_now_ms());
    return st == ST_OK ? token_copies_remove(stores->redis, stores->db, a, user_id) : st;
}

enum status deletion_begin(struct stores *stores, struct arena *a, uint64_t user_id, struct str username,
                           struct str hash, bool give_up, enum deletion_result *result)
{
    struct begin b = { .user_id = user_id, .hash = hash, .give_up = give_up };
    bool begun = true;
    retired_hash(keys_get(&stores->config->keys, KEY_USERNAMES), username, b.retired);
    enum status st = db_transaction(stores->db, begin_body, &b);
    if (st == ST_INVALID) {
        *result = DELETION_MONEY_LEFT;
        return ST_OK;
    }
    if (st == ST_NOT_FOUND) /* another password, or a repeat */
        st = deletion_is_begun(stores->db, a, user_id, &begun);
    *result = begun ? DELETION_BEGUN : DELETION_OTHER_PASSWORD;
    if (st != ST_OK || !begun)
        return st;
    crash_point("delete-after-commit");
    /* If this fails, the settle worker does it again. */
    if (access_end(stores, a, user_id) != ST_OK)
        log_warn("sessions or tokens not ended, the settle worker will end them", "user_id=%" PRIu64, user_id);
    return ST_OK;
}

/* ---- the second step ---- */

struct finish {
    uint64_t user_id;
    int64_t now_ms;
};

static enum status finish_body(struct db *db, void *ctx)
{
    const struct finish *f = ctx;
    enum status st = db_exec(db, NULL, "CALL user_deleted(?, ?)", DB_PARAMS(DB_U64(f->user_id), DB_I64(f->now_ms)));
    crash_point("erase-before-deleted");
    return st;
}

/* Only an operator ends a withdrawal, perhaps after days. */
static enum status withdrawal_waits(struct stores *stores, struct arena *a, uint64_t user_id, bool *waits)
{
    struct db_rows rows;
    enum status st =
        db_query(stores->db, a, &rows, "SELECT 1 FROM withdrawal WHERE user_id = ? AND state = 'pending' LIMIT 1",
                 DB_PARAMS(DB_U64(user_id)));
    *waits = st == ST_OK && rows.count > 0;
    return st;
}

/* asked_ms: when the user asked for the deletion, by MariaDB's clock. This one may be behind. */
static enum status walk_begin(struct stores *stores, struct arena *a, uint64_t user_id, int64_t asked_ms,
                              int64_t now_ms, struct deletion_walk *walk)
{
    int64_t at_ms = now_ms;
    *walk = (struct deletion_walk){ .user_id = user_id };
    enum status st = at_ms - asked_ms <= DELETION_WAIT_MS ? db_clock_ms(stores->db, a, &at_ms) : ST_OK;
    if (st != ST_OK || (at_ms > now_ms ? at_ms : now_ms) - asked_ms <= DELETION_WAIT_MS)
        return st;
    return erase_settled(stores, a, user_id, asked_ms + DELETION_WAIT_MS, &walk->settled);
}

/* kept: the walk that the worker keeps between passes; its user_id is 0 when no walk is kept. */
static enum status user_continue(struct deletion_walk *kept, struct stores *stores, struct arena *a, uint64_t user_id,
                                 int64_t asked_ms, int64_t now_ms)
{
    struct deletion_walk walk = *kept;
    bool ended = false, waits = false;
    if (kept->user_id == user_id) /* an error drops the walk, so that others have a turn */
        *kept = (struct deletion_walk){ 0 };
    enum status st = access_end(stores, a, user_id);
    if (st == ST_OK && walk.user_id != user_id)
        st = walk_begin(stores, a, user_id, asked_ms, now_ms, &walk);
    if (st == ST_OK)
        st = erase_names(stores, a, user_id, now_ms, &walk.names, &ended); /* after walk_begin */
    if (st == ST_OK && !ended && kept->user_id == 0)
        *kept = walk;
    if (st != ST_OK || !ended || !walk.settled || walk.names.left)
        return st;
    st = withdrawal_waits(stores, a, user_id, &waits);
    if (st != ST_OK || waits)
        return st;
    st = db_transaction(stores->db, finish_body, &(struct finish){ user_id, now_ms });
    if (st == ST_OK)
        log_info("account deleted", "user_id=%" PRIu64, user_id);
    return st;
}

/* The users of a pass, first the user whose walk is kept, last those who wait for an operator. */
static enum status users_find(struct stores *stores, struct arena *a, uint64_t first_id, int64_t now_ms,
                              struct db_rows *rows)
{
    return db_query(
        stores->db, a, rows,
        "(SELECT id, deleting_ms FROM user WHERE deleted_ms IS NULL AND deleting_ms > 0"
        " ORDER BY id <> ?, EXISTS (SELECT 1 FROM withdrawal WHERE user_id = user.id AND state = 'pending'),"
        " RAND() LIMIT ?) UNION ALL "
        "(SELECT user.id, user.deleting_ms FROM user JOIN account ON account.id = user.id"
        " WHERE user.deleted_ms > ? AND account.balance_fen > 0 ORDER BY user.id <> ?, RAND() LIMIT ?)",
        DB_PARAMS(DB_U64(first_id), DB_I64(DELETION_USERS_MAX), DB_I64(now_ms - DELETION_WATCH_MS), DB_U64(first_id),
                  DB_I64(DELETION_USERS_MAX)));
}

enum status deletion_pass(struct deletion_walk *walk, struct stores *stores, int64_t now_ms)
{
    struct db_rows rows;
    bool there = false;
    struct arena *a = arena_new(ARENA_CHUNK_BYTES, ARENA_LIMIT_BYTES);
    if (a == NULL)
        return ST_NO_MEMORY;
    enum status st = users_find(stores, a, walk->user_id, now_ms, &rows);
    size_t count = st == ST_OK ? rows.count : 0;
    for (size_t i = 0; i < count; i++)
        there = there || db_cell_u64(&rows, i, 0) == walk->user_id;
    if (!there) /* another worker has deleted the user */
        *walk = (struct deletion_walk){ 0 };
    for (size_t i = 0; i < count; i++) {
        uint64_t user_id = db_cell_u64(&rows, i, 0);
        enum status one = user_continue(walk, stores, a, user_id, db_cell_i64(&rows, i, 1), now_ms);
        if (one == ST_CORRUPT || one == ST_INVALID || one == ST_NOT_FOUND)
            log_error("deletion of an account failed, the next pass tries again", "user_id=%" PRIu64 " status=%s",
                      user_id, status_name(one));
        else if (st == ST_OK)
            st = one;
    }
    arena_free(a);
    return status_retry(st);
}
