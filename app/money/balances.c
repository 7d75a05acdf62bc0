#include "money/balances.h"

#include <stdbool.h>

enum { PAGE_ROWS = 1000 };

enum { ID, FEN, USERNAME, NICKNAME, CREATED, DISABLED, DELETING, DELETED };

struct reading {
    struct balances *balances;
    struct arena *arena;
    uint64_t after_id;
    bool begun, ended;
};

static struct balance balance_of(const struct db_rows *rows, size_t row)
{
    return (struct balance){ .user = { .id = db_cell_u64(rows, row, ID),
                                       .username = db_cell(rows, row, USERNAME),
                                       .nickname = db_cell(rows, row, NICKNAME),
                                       .created_ms = db_cell_i64(rows, row, CREATED),
                                       .disabled_ms = db_cell_i64(rows, row, DISABLED),
                                       .deleting_ms = db_cell_i64(rows, row, DELETING),
                                       .deleted_ms = db_cell_i64(rows, row, DELETED) },
                             .fen = db_cell_i64(rows, row, FEN) };
}

/* The ids of wallets are below 2^50, the ids of escrows are not. */
static enum status page_read(struct db *db, struct reading *r)
{
    struct balances *b = r->balances;
    struct db_rows rows;
    arena_reset(r->arena);
    enum status st =
        db_query(db, r->arena, &rows,
                 "SELECT a.id, a.balance_fen, u.username, u.nickname, u.created_ms, COALESCE(u.disabled_ms, 0),"
                 " COALESCE(u.deleting_ms, 0), COALESCE(u.deleted_ms, 0) FROM account AS a FORCE INDEX (PRIMARY)"
                 " STRAIGHT_JOIN user AS u ON u.id = a.id"
                 " WHERE a.id > ? AND a.id < 1 << 50 AND a.kind = 'wallet' AND a.balance_fen >= ?"
                 " ORDER BY a.id LIMIT 1000",
                 DB_PARAMS(DB_U64(r->after_id), DB_I64(b->min_fen)));
    _Static_assert(PAGE_ROWS == 1000, "the LIMIT of the query");
    if (st != ST_OK)
        return st;
    struct balance *page = arena_array(r->arena, rows.count + 1, sizeof *page);
    if (page == NULL)
        return ST_NO_MEMORY;
    for (size_t i = 0; i < rows.count; i++) {
        page[i] = balance_of(&rows, i);
        b->sum_fen += page[i].fen;
        r->after_id = page[i].user.id;
    }
    b->users += rows.count;
    r->ended = rows.count < PAGE_ROWS;
    return b->page(b->ctx, page, rows.count);
}

static enum status sums_check(struct db *db, struct reading *r)
{
    struct db_rows rows;
    enum status st = db_query(db, r->arena, &rows,
                              "SELECT COALESCE(SUM(balance_fen), 0),"
                              " COALESCE(SUM(IF(balance_fen >= ?, balance_fen, 0)), 0) FROM account FORCE INDEX"
                              " (PRIMARY) WHERE id < 1 << 50 AND kind = 'wallet'",
                              DB_PARAMS(DB_I64(r->balances->min_fen)));
    if (st != ST_OK)
        return st;
    r->balances->wallets_fen = db_cell_i64(&rows, 0, 0);
    return db_cell_i64(&rows, 0, 1) == r->balances->sum_fen ? ST_OK : ST_CORRUPT;
}

static enum status balances_body(struct db *db, void *ctx)
{
    struct reading *r = ctx;
    if (r->begun)
        return ST_CONFLICT; /* the rows of the first try are printed */
    r->begun = true;
    enum status st = ST_OK;
    while (st == ST_OK && !r->ended)
        st = page_read(db, r);
    return st == ST_OK ? sums_check(db, r) : st;
}

enum status balances_read(struct db *db, struct arena *a, struct balances *b)
{
    struct reading r = { .balances = b, .arena = a };
    b->users = 0;
    b->sum_fen = b->wallets_fen = 0;
    return db_snapshot(db, balances_body, &r);
}
