#include "account/nudge.h"

#include <inttypes.h>

#include "mysql/db.h"
#include "web/respond.h"

#define COOKIE "nudge"

static bool has_other_ways(struct exchange *x)
{
    const struct db_param id = DB_U64(x->visitor.user_id);
    struct db_rows rows;
    enum status st = db_query(x->app->stores.db, x->arena, &rows,
                              "SELECT 1 WHERE EXISTS (SELECT user_id FROM passkey WHERE user_id = ?)"
                              " OR EXISTS (SELECT user_id FROM recovery_code WHERE user_id = ?)",
                              DB_PARAMS(id, id));
    return st != ST_OK || rows.count > 0;
}

void nudge_model(struct exchange *x, struct model *m)
{
    uint64_t refused_by = 0;
    (void)str_to_u64(exchange_cookie(x, STR(COOKIE)), &refused_by);
    value_page_bool(m, &m->root, "nudge", !x->wants_json && refused_by != x->visitor.user_id && !has_other_ways(x));
}

enum step nudge_submit(struct exchange *x)
{
    struct str id = arena_printf(x->arena, "%" PRIu64, x->visitor.user_id);
    if (id.ptr == NULL)
        x->incomplete = true;
    else
        respond_cookie(x, STR(COOKIE), id, NUDGE_COOKIE_S);
    if (x->wants_json)
        respond_empty(x, 204);
    else
        respond_see_other(x, STR("/"));
    return STEP_DONE;
}
