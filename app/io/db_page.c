#include "io/db_page.h"

#include <inttypes.h>

void db_page_append(struct buf *sql, const struct db_page *page, const char *ms, const char *id)
{
    if (page->until_ms != 0)
        buf_printf(sql, " AND %s >= %" PRId64 " AND %s < %" PRId64, ms, page->from_ms, ms, page->until_ms);
    if (page->has_key)
        buf_printf(sql, " AND %s <= %" PRId64 " AND (%s < %" PRId64 " OR %s < %" PRIu64 ")", ms, page->key_ms, ms,
                   page->key_ms, id, page->key_id);
    buf_printf(sql, " ORDER BY %s DESC, %s DESC LIMIT %zu", ms, id, page->limit);
}
