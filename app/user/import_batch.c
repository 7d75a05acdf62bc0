#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "ledger/ledger.h"
#include "user/deletion.h"
#include "user/import_internal.h"
#include "user/login_link_store.h"
#include "user/session_list.h"

static bool is_right(const struct user_row *row)
{
    return row->fault.len == 0;
}

static bool is_missing(const struct user_row *row)
{
    return is_right(row) && row->user_id == 0;
}

bool user_row_is_linked(const struct user_batch *b, const struct user_row *row)
{
    return b->import->links && row->wants_link && is_right(row) && (row->user_id == 0 || !row->has_way);
}

/* ---- checking ---- */

static enum status names_check(struct user_batch *b)
{
    enum status st = ST_OK;
    for (size_t i = 0; b->names != NULL && i < b->count && (st == ST_OK || st == ST_EXISTS); i++) {
        if (!is_right(&b->rows[i]))
            continue;
        st = text_set_add(b->names, b->rows[i].username);
        if (st == ST_EXISTS)
            b->rows[i].fault = STR("the username stands in an earlier row, too");
    }
    return st == ST_EXISTS ? ST_OK : st;
}

/* Appends the usernames of rows as a list for IN. False: there is none. */
static bool names_append(const struct user_batch *b, struct buf *sql, bool (*has)(const struct user_row *row))
{
    size_t count = 0;
    buf_char(sql, '(');
    for (size_t i = 0; i < b->count; i++)
        if (has(&b->rows[i])) {
            db_comma(sql, count++);
            db_append(b->stores->db, sql, &DB_TEXT(b->rows[i].username));
        }
    buf_char(sql, ')');
    return count > 0;
}

static int by_name(const void *a, const void *b)
{
    const struct user_row *const *x = a, *const *y = b;
    return str_compare((*x)->username, (*y)->username);
}

/* The right rows in the order of their names. */
static enum status rows_sort(struct user_batch *b, struct user_row ***out, size_t *count)
{
    *count = 0;
    *out = arena_array(b->arena, b->count + 1, sizeof **out);
    if (*out == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (is_right(&b->rows[i]))
            (*out)[(*count)++] = &b->rows[i];
    qsort(*out, *count, sizeof **out, by_name);
    return ST_OK;
}

static struct user_row *row_of(struct user_row **sorted, size_t count, struct str username)
{
    const struct user_row key = { .username = username }, *wanted = &key;
    struct user_row **found = bsearch(&wanted, sorted, count, sizeof *sorted, by_name);
    return found == NULL ? NULL : *found;
}

static enum status users_find(struct user_batch *b)
{
    struct user_row **sorted;
    struct db_rows rows = { 0 };
    struct buf sql = BUF_EMPTY;
    size_t count;
    enum status st = rows_sort(b, &sorted, &count);
    buf_cstr(&sql, "SELECT u.id, u.username, u.nickname, u.disabled_ms IS NOT NULL OR u.password_hash IS NOT NULL"
                   " OR EXISTS (SELECT 1 FROM passkey AS p WHERE p.user_id = u.id)"
                   " OR EXISTS (SELECT 1 FROM recovery_code AS c WHERE c.user_id = u.id)"
                   " FROM user AS u WHERE u.username IN ");
    if (st == ST_OK && names_append(b, &sql, is_right))
        st = db_query_buf(b->stores->db, b->arena, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        struct user_row *row = row_of(sorted, count, db_cell(&rows, i, 1));
        if (row == NULL)
            return ST_CORRUPT;
        row->user_id = db_cell_u64(&rows, i, 0);
        row->differs = !str_equal(row->nickname, db_cell(&rows, i, 2));
        row->has_way = db_cell_u64(&rows, i, 3) != 0;
    }
    return st;
}

/* A name of a deleted user belongs to nobody else, ever. lock: in the transaction that has inserted the users. */
static enum status retired_find(struct user_batch *b, struct db *db, bool lock, bool *found)
{
    struct user_row **missing = arena_array(b->arena, b->count + 1, sizeof *missing);
    struct str *names = arena_array(b->arena, b->count + 1, sizeof *names);
    bool *retired = arena_array(b->arena, b->count + 1, sizeof *retired);
    size_t count = 0;
    *found = false;
    if (missing == NULL || names == NULL || retired == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (is_missing(&b->rows[i])) {
            missing[count] = &b->rows[i];
            names[count++] = b->rows[i].username;
        }
    enum status st = usernames_retired(db, b->arena, &b->stores->config->keys, names, count, lock, retired);
    for (size_t i = 0; st == ST_OK && i < count; i++)
        if (retired[i]) {
            *found = true;
            missing[i]->fault = STR("the username belonged to a user who is deleted, and nobody else can have it");
        }
    return st;
}

enum status user_batch_check(struct user_batch *b)
{
    bool retired;
    for (size_t i = 0; i < b->count; i++)
        b->rows[i].user_id = 0;
    enum status st = names_check(b);
    if (st == ST_OK)
        st = users_find(b);
    if (st == ST_OK)
        st = retired_find(b, b->stores->db, false, &retired);
    return st == ST_OK && arena_failed(b->arena) ? ST_NO_MEMORY : st;
}

/* ---- making ---- */

/* What a transaction makes. */
struct make_run {
    struct user_batch *batch;
    struct user_row **sorted; /* the right rows */
    uint64_t *ids;            /* of sorted; 0: not known yet */
    size_t count;
    struct user_row **linked; /* rows that get links */
    struct login_link *links;
    size_t linked_count;
    int64_t now_ms;
};

static enum status users_insert(struct make_run *m, struct db *db, bool *any)
{
    struct buf sql = BUF_EMPTY;
    size_t count = 0;
    buf_cstr(&sql, "INSERT INTO user (username, nickname, created_ms) VALUES ");
    for (size_t i = 0; i < m->count; i++) {
        if (!is_missing(m->sorted[i]))
            continue;
        db_comma(&sql, count++);
        buf_char(&sql, '(');
        db_append(db, &sql, &DB_TEXT(m->sorted[i]->username));
        buf_char(&sql, ',');
        db_append(db, &sql, &DB_TEXT(m->sorted[i]->nickname));
        buf_char(&sql, ',');
        buf_i64(&sql, m->now_ms);
        buf_char(&sql, ')');
    }
    enum status st = count == 0 ? ST_OK : db_exec_buf(db, NULL, &sql);
    buf_free(&sql);
    *any = count > 0;
    return st;
}

/* Reads the ids of the new users, and opens their wallets. */
static enum status wallets_open(struct make_run *m, struct db *db)
{
    struct db_rows rows = { 0 };
    struct buf sql = BUF_EMPTY;
    buf_cstr(&sql, "SELECT id, username FROM user WHERE username IN ");
    enum status st = names_append(m->batch, &sql, is_missing) ? db_query_buf(db, m->batch->arena, &rows, &sql) : ST_OK;
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        const struct user_row key = { .username = db_cell(&rows, i, 1) }, *wanted = &key;
        struct user_row **found = bsearch(&wanted, m->sorted, m->count, sizeof(struct user_row *), by_name);
        if (found == NULL)
            return ST_CORRUPT;
        m->ids[found - m->sorted] = db_cell_u64(&rows, i, 0);
        st = ledger_wallet(db, db_cell_u64(&rows, i, 0));
    }
    return st;
}

/* Of the users who are to get links those whose rows are locked now, and who still have no password. */
static enum status linked_lock(struct make_run *m, struct db *db, uint64_t *ids, size_t *count)
{
    struct db_rows rows = { 0 };
    struct buf sql = BUF_EMPTY;
    size_t wanted = 0;
    for (size_t i = 0; i < m->count; i++)
        if (user_row_is_linked(m->batch, m->sorted[i]))
            ids[wanted++] = m->ids[i];
    *count = 0;
    if (wanted == 0)
        return ST_OK;
    buf_cstr(&sql, "SELECT id, username FROM user WHERE disabled_ms IS NULL AND password_hash IS NULL"
                   " AND deleting_ms IS NULL AND id IN ");
    db_ids(&sql, ids, wanted);
    buf_cstr(&sql, " ORDER BY id FOR UPDATE");
    enum status st = db_query_buf(db, m->batch->arena, &rows, &sql);
    buf_free(&sql);
    for (size_t i = 0; st == ST_OK && i < rows.count; i++) {
        ids[i] = db_cell_u64(&rows, i, 0);
        m->linked[i] = row_of(m->sorted, m->count, db_cell(&rows, i, 1));
        if (m->linked[i] == NULL)
            return ST_CORRUPT;
        login_link_new(keys_get(&m->batch->stores->config->keys, KEY_LOGIN_LINKS), &m->links[i]);
        *count = i + 1;
    }
    return st;
}

static enum status links_store(struct make_run *m, struct db *db)
{
    uint64_t *ids = arena_array(m->batch->arena, m->count + 1, sizeof *ids);
    if (ids == NULL)
        return ST_NO_MEMORY;
    enum status st = linked_lock(m, db, ids, &m->linked_count);
    if (st != ST_OK || m->linked_count == 0)
        return st;
    return login_links_put(db, ids, m->links, m->linked_count, m->now_ms, m->now_ms + m->batch->import->link_ms);
}

/* May run again after a conflict. */
static enum status make_body(struct db *db, void *ctx)
{
    struct make_run *m = ctx;
    bool any, retired = false;
    for (size_t i = 0; i < m->count; i++)
        m->ids[i] = m->sorted[i]->user_id;
    enum status st = users_insert(m, db, &any);
    if (st == ST_OK && any)
        st = retired_find(m->batch, db, true, &retired);
    if (st == ST_OK && retired)
        return ST_EXISTS;
    if (st == ST_OK && any)
        st = wallets_open(m, db);
    return st == ST_OK ? links_store(m, db) : st;
}

/* Ends the sessions of an earlier user of this id, whose row was lost with the tables, as a registration does. */
static enum status earlier_sessions_end(struct user_batch *b, uint64_t user_id)
{
    struct session_entry *entries;
    size_t count = 0;
    enum status st = session_list_read(b->stores, b->arena, user_id, clock_now_ms(), &entries, &count);
    if (st != ST_OK || count == 0)
        return st;
    log_warn("sessions of an earlier user ended", "user_id=%" PRIu64 " sessions=%zu", user_id, count);
    return session_list_end_others(b->stores, b->arena, user_id, STR(""), clock_now_ms());
}

/* The transaction is committed: counts, and gives the links out. */
static enum status made_take(struct make_run *m)
{
    struct user_batch *b = m->batch;
    struct user_import *im = b->import;
    enum status st = ST_OK;
    for (size_t i = 0; i < m->count; i++) {
        const struct user_row *row = m->sorted[i];
        if (row->user_id != 0) {
            im->present++;
            im->differing += row->differs;
            continue;
        }
        im->made++;
        if (st == ST_OK)
            st = earlier_sessions_end(b, m->ids[i]);
    }
    for (size_t i = 0; st == ST_OK && i < m->linked_count; i++) {
        const struct user_invited invited = { m->linked[i]->username, m->linked[i]->nickname, &m->links[i] };
        st = im->keep(im->ctx, &invited, m->now_ms + im->link_ms);
        im->linked += st == ST_OK;
    }
    return st;
}

enum status user_batch_make(struct user_batch *b)
{
    struct make_run m = { .batch = b, .now_ms = clock_now_ms() };
    enum status st = rows_sort(b, &m.sorted, &m.count);
    m.ids = arena_array(b->arena, b->count + 1, sizeof *m.ids);
    m.linked = arena_array(b->arena, b->count + 1, sizeof(struct user_row *));
    m.links = arena_array(b->arena, b->count + 1, sizeof *m.links);
    if (st != ST_OK || m.ids == NULL || m.linked == NULL || m.links == NULL)
        return ST_NO_MEMORY;
    st = db_transaction(b->stores->db, make_body, &m);
    return st == ST_OK ? made_take(&m) : st;
}
