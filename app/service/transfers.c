#include "service/transfers.h"

#include <inttypes.h>

#include "base/clock.h"
#include "money/models.h"
#include "service/caller.h"
#include "service/payments.h"
#include "web/field_types.h"

/* The place behind a row, "MS-ID". Its numbers are in the answers, so it hides nothing. */
struct place {
    int64_t ms;
    uint64_t id;
};

struct transfers_form {
    struct str channel, reference;
    struct days days;
    struct place after;
};

static enum status place_read(struct field_input *in)
{
    struct place *place = in->out;
    struct str id;
    if (in->typed.len == 0)
        return field_absent(in);
    const struct str ms = str_cut(in->typed, '-', &id);
    return str_to_i64(ms, &place->ms) && id.ptr != NULL && str_to_u64(id, &place->id) && place->id != 0
               ? ST_OK
               : field_fail(in, in->field->malformed);
}

static const struct field_type FIELD_PLACE = { .read = place_read };

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
      .type = &FIELD_PLACE,
      .member = offsetof(struct transfers_form, after),
      .says = "the `next` of the page before: later ones" },
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
        value_text(&m, &m.root, "next",
                   arena_printf(x->arena, "%" PRId64 "-%" PRIu64, query->after_ms, query->after_id));
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
                                     .after_ms = form.after.ms,
                                     .after_id = form.after.id };
    enum status st = transfers_page(x->app->stores.db, x->arena, &query, &lines, &count);
    if (st == ST_OK)
        page_answer(x, &caller, &query, lines, count);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}
