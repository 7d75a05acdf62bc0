#include "records/export_limit.h"

#include "base/array.h"
#include "packet/totals.h"
#include "web/limits.h"
#include "web/respond.h"

bool export_limit_take(struct exchange *x)
{
    static const struct limit_use uses[] = { { .limit = LIMIT_EXPORT }, { .limit = LIMIT_EXPORT_ADDRESS } };
    struct user_totals totals;
    uint64_t records = 0;
    enum status st = user_totals_find(x->app->stores.db, x->arena, x->visitor.user_id, 0, &totals);
    if (st != ST_OK) {
        respond_status(x, st);
        return false;
    }
    for (size_t i = 0; i < totals.year_count; i++)
        records += totals.years[i].sent_count + totals.years[i].received_count;
    return limits_take_times(x, uses, ARRAY_LEN(uses), 1 + records / EXPORT_RECORDS_PER_USE);
}
