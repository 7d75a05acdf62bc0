/* How a check reads a table: range after range of ids, and a violation for each row. */
#include "audit/audit_internal.h"

enum { ROWS_PER_RANGE = 2000 };

bool audit_collect_row(void *ctx, const struct str *cells, size_t columns)
{
    struct audit_collect *c = ctx;
    uint64_t id = 0;
    (void)str_to_u64(cells[0], &id);
    struct str detail = columns > 1 ? cells[1] : STR_NONE;
    audit_note(c->audit, c->check, c->kind, id, "%.*s", STR_ARG(detail));
    return true;
}

enum status audit_ranges_walk(struct audit *audit, struct db *db, struct arena *a, const char *next_sql,
                              audit_range_fn *each)
{
    struct audit_range r = { .low = audit->packet_id, .high = audit->packet_id };
    const uint32_t rows_max = audit->range_rows > 0 ? audit->range_rows : ROWS_PER_RANGE;
    if (audit->packet_id != 0)
        return each(audit, db, &r);
    for (bool more = true; more; r.low = r.high + 1) {
        struct db_rows rows;
        arena_reset(a);
        enum status st = db_query(db, a, &rows, next_sql, DB_PARAMS(DB_U64(r.low), DB_I64(rows_max - 1)));
        if (st != ST_OK)
            return st;
        more = rows.count == 1;
        r.high = more ? db_cell_u64(&rows, 0, 0) : UINT64_MAX;
        st = each(audit, db, &r);
        if (st != ST_OK)
            return st;
    }
    return ST_OK;
}
