/* I7 in the tables: every grab has the amount of its share, as drawn from the packet's seed. Packets are read a page at
 * a time, then the grabs of the page row by row, so memory holds one page and the shares of one packet. */
#include "audit/audit_internal.h"

#include <inttypes.h>
#include <string.h>

#include "packet/packet.h"
#include "packet/returns.h"
#include "packet/split.h"
#include "packet/store.h"

enum { PACKETS_PER_PAGE = 500 };

struct page {
    struct audit *audit;
    struct packet packets[PACKETS_PER_PAGE];
    size_t count, drawn; /* drawn: packets whose shares were recomputed; shares: the shares of the last of them */
    bool shares_valid;   /* the shares of the last one could be recomputed */
    struct arena *arena; /* of the page: returns, shares */
    struct share_return *returns; /* of the page's packets, by (packet, position) */
    size_t return_count;
    size_t next_return; /* the first one of the next packet */
    int64_t *shares;    /* fen; packet_share_total items of the last packet */
};

/* Checks the next packet's commitment and best share, and recomputes its shares for the grabs that follow. */
static void page_draw_next(struct page *g)
{
    const struct packet *p = &g->packets[g->drawn++];
    uint8_t commitment[HASH_BYTES];
    split_commitment(p->seed, commitment);
    if (memcmp(commitment, p->commitment, sizeof commitment) != 0)
        audit_note(g->audit, AUDIT_I7, "packet", p->id, "the commitment is not the seed's SHA-256");
    size_t first = g->next_return;
    while (g->next_return < g->return_count && g->returns[g->next_return].packet_id == p->id)
        g->next_return++;
    const struct share_return *returns = &g->returns[first];
    size_t count = g->next_return - first;
    arena_reset(g->arena);
    g->shares = p->count <= SPLIT_COUNT_MAX ? arena_array(g->arena, packet_share_total(p), sizeof *g->shares) : NULL;
    g->shares_valid = g->shares != NULL && returns_shares(p, returns, count, g->shares) == ST_OK;
    if (!g->shares_valid) {
        audit_note(g->audit, AUDIT_I7, "packet", p->id, "the shares can't be recomputed");
        return;
    }
    uint32_t best = returns_best_share(p, g->shares, packet_share_total(p), returns, count);
    if (best != p->best_share_no)
        audit_note(g->audit, AUDIT_I7, "packet", p->id, "the best share is %" PRIu32 ", not %" PRIu32, best,
                   p->best_share_no);
}

static bool grab_check(void *ctx, const struct str *cells, size_t columns)
{
    struct page *g = ctx;
    uint64_t packet_id = 0, share_no = 0, user_id = 0;
    int64_t amount_fen = 0;
    bool readable = columns == 4 && str_to_u64(cells[0], &packet_id) && str_to_u64(cells[1], &share_no) &&
                    str_to_u64(cells[2], &user_id) && str_to_i64(cells[3], &amount_fen);
    while (g->drawn < g->count && (g->drawn == 0 || g->packets[g->drawn - 1].id < packet_id))
        page_draw_next(g);
    const struct packet *p = &g->packets[g->drawn - 1];
    if (!readable || p->id != packet_id || !g->shares_valid)
        return true; /* nothing to compare with: no readable packet, or its shares can't be recomputed (reported) */
    if (share_no >= packet_share_total(p))
        audit_note(g->audit, AUDIT_I7, "packet", p->id, "the draw has no share %" PRIu64, share_no);
    else if (amount_fen != g->shares[share_no])
        audit_note(g->audit, AUDIT_I7, "packet", p->id, "share %" PRIu64 " paid %" PRId64 " fen, drawn %" PRId64,
                   share_no, amount_fen, g->shares[share_no]);
    return true;
}

/* Reads the returns of the page's packets. */
static enum status page_returns_find(struct page *g, struct db *db, struct arena *a)
{
    g->next_return = 0;
    return returns_find_between(db, a, g->packets[0].id, g->packets[g->count - 1].id, &g->returns, &g->return_count);
}

static enum status page_check(struct page *g, struct db *db, struct arena *a)
{
    enum status st = page_returns_find(g, db, a);
    if (st == ST_OK)
        st = db_each(db, grab_check, g,
                     "SELECT packet_id, share_no, user_id, amount_fen FROM `grab` WHERE packet_id BETWEEN ? AND ?"
                     " ORDER BY packet_id, share_no",
                     DB_PARAMS(DB_U64(g->packets[0].id), DB_U64(g->packets[g->count - 1].id)));
    while (st == ST_OK && g->drawn < g->count)
        page_draw_next(g);
    return st;
}

enum status audit_draws(struct audit *audit, struct db *db, struct arena *a)
{
    uint64_t after = audit->packet_id == 0 ? 0 : audit->packet_id - 1;
    const uint32_t packets_max =
        audit->range_rows > 0 && audit->range_rows < PACKETS_PER_PAGE ? audit->range_rows : PACKETS_PER_PAGE;
    const uint64_t last = audit->packet_id == 0 ? INT64_MAX : audit->packet_id;
    arena_reset(a);
    struct page *g = arena_array(a, 1, sizeof *g);
    struct arena *shares_arena = arena_new((size_t)256 << 10, (size_t)16 << 20);
    struct arena *rows_arena = arena_new((size_t)256 << 10, (size_t)16 << 20);
    enum status st = g == NULL || rows_arena == NULL || shares_arena == NULL ? ST_NO_MEMORY : ST_OK;
    for (bool more = true; st == ST_OK && more;) {
        struct db_rows rows;
        arena_reset(rows_arena);
        st = db_query(db, rows_arena, &rows,
                      "SELECT " PACKET_COLUMNS " FROM packet WHERE id > ? AND id <= ? ORDER BY id LIMIT ?",
                      DB_PARAMS(DB_U64(after), DB_U64(last), DB_I64(packets_max)));
        if (st != ST_OK)
            break;
        g->audit = audit;
        g->arena = shares_arena;
        g->count = g->drawn = 0;
        for (size_t i = 0; i < rows.count; i++) {
            after = db_cell_u64(&rows, i, 0);
            audit->packets++;
            if (packet_from_row(&rows, i, 0, &g->packets[g->count]) == ST_OK)
                g->count++;
            else
                audit_note(audit, AUDIT_I7, "packet", after, "the row can't be read");
        }
        if (g->count > 0)
            st = page_check(g, db, rows_arena);
        more = rows.count == packets_max;
    }
    arena_free(shares_arena);
    arena_free(rows_arena);
    return st;
}
