#include "service/transfers.h"

#include <inttypes.h>

#include "base/clock.h"
#include "money/models.h"
#include "mysql/db_durable.h"
#include "service/caller.h"
#include "service/payments.h"
#include "web/field_types.h"

struct transfers_form {
    struct str channel, reference;
    struct days days;
    uint64_t after;
};

const struct field transfers_fields[] = {
    { .name = "channel",
      .type = &FIELD_TEXT,
      .member = offsetof(struct transfers_form, channel),
      .says = "the channel; left out: the channel of the token" },
    { .name = "reference",
      .type = &FIELD_REFERENCE,
      .member = offsetof(struct transfers_form, reference),
      .says = "only the transfer with this reference" },
    DAYS_FIELDS(struct transfers_form, days),
    { .name = "after",
      .type = &FIELD_NUMBER,
      .member = offsetof(struct transfers_form, after),
      .says = "the id of the last transfer of before, or the `next` of that page: those that were made later" },
    { .name = NULL },
};

int64_t days_until_ms(const struct days *days)
{
    if (days->last_ms == 0)
        return INT64_MAX;
    const struct clock_date last = clock_zone_date(days->last_ms);
    return clock_zone_day_start_ms(last.year, last.month, last.day + 1);
}

static void page_answer(struct exchange *x, const struct caller *caller, const struct transfers_query *query,
                        const struct transfer_line *lines, size_t count)
{
    struct model m;
    model_init(&m, x->arena);
    value_text(&m, &m.root, "channel", caller->service.channel);
    struct value *list = value_list(&m, &m.root, "transfers");
    for (size_t i = 0; i < count; i++)
        transfer_line_model(&m, value_add_object(&m, list), &lines[i]);
    if (count == TRANSFERS_PAGE_ROWS)
        value_text(&m, &m.root, "next", arena_printf(x->arena, "%" PRIu64, query->after));
    else
        value_null(&m, &m.root, "next");
    respond_model(x, 200, NULL, &m);
}

enum step transfers_list(struct exchange *x)
{
    struct caller caller;
    struct transfers_form form = { .channel = STR(""), .reference = STR_NONE };
    struct transfer_line *lines = NULL;
    size_t count = 0;
    if (!caller_read(x, SERVICE_READ, &caller))
        return STEP_DONE;
    if (!caller_query_read(x, transfers_fields, &form) || !caller_has_channel(x, &caller, form.channel))
        return STEP_DONE;
    struct transfers_query query = { .channel_id = caller.service.channel_id,
                                     .from_ms = form.days.from_ms,
                                     .until_ms = days_until_ms(&form.days),
                                     .reference = form.reference,
                                     .after = form.after };
    enum status st = transfers_page(x->app->stores.db, x->arena, &query, &lines, &count);
    if (st == ST_OK && count > 0) /* the program books them, and does not read them again */
        st = db_durable(x->app->stores.db, db_connections(x->app->stores.db));
    if (st == ST_OK)
        page_answer(x, &caller, &query, lines, count);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}
