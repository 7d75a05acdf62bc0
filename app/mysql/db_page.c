#include "mysql/db_page.h"

#include <inttypes.h>

int list_key_order(int64_t a_ms, uint64_t a_id, int64_t b_ms, uint64_t b_id)
{
    if (a_ms != b_ms)
        return a_ms > b_ms ? -1 : 1;
    return a_id > b_id ? -1 : a_id < b_id;
}

void db_page_append(struct buf *sql, const struct db_page *page, const char *ms, const char *id)
{
    if (page->until_ms != 0)
        buf_printf(sql, " AND %s >= %" PRId64 " AND %s < %" PRId64, ms, page->from_ms, ms, page->until_ms);
    if (page->below.given)
        buf_printf(sql, " AND %s <= %" PRId64 " AND (%s < %" PRId64 " OR %s < %" PRIu64 ")", ms, page->below.ms, ms,
                   page->below.ms, id, page->below.id);
    buf_printf(sql, " ORDER BY %s DESC, %s DESC LIMIT %zu", ms, id, page->limit);
}
