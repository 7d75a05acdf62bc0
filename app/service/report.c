#include "service/report.h"

#include "money/models.h"
#include "service/caller.h"
#include "service/transfers.h"
#include "web/field_types.h"
#include "web/view.h"

struct report_form {
    struct days days;
};

const struct field channel_report_fields[] = {
    DAYS_FIELDS(struct report_form, days),
    { .name = NULL },
};

/* What other channels have is not for the caller. */
static void report_answer(struct exchange *x, const struct caller *caller, const struct report *r)
{
    struct model m;
    model_init(&m, x->arena);
    report_time_model(&m, &m.root, r);
    view_unit_model(&m, &m.root);
    struct value *list = value_list(&m, &m.root, "channels");
    for (size_t i = 0; i < r->channel_count; i++) {
        if (r->channels[i].channel.id != caller->service.channel_id)
            continue;
        struct value *row = value_add_object(&m, list);
        value_text(&m, row, "name", r->channels[i].channel.name);
        report_flows_model(&m, row, &r->channels[i].flows);
    }
    respond_model(x, 200, NULL, &m);
}

enum step channel_report_show(struct exchange *x)
{
    struct caller caller;
    struct report_form form = { .days.from_ms = 0 };
    if (!caller_read(x, SERVICE_READ, &caller) || !caller_query_read(x, channel_report_fields, &form))
        return STEP_DONE;
    struct report r = { .from_ms = form.days.from_ms,
                        .until_ms = days_until_ms(&form.days),
                        .only_id = caller.service.channel_id };
    if (r.from_ms >= r.until_ms) {
        respond_problem(x, &PROBLEM_BAD_REQUEST);
        return STEP_DONE;
    }
    enum status st = report_channels_read(x->app->stores.db, x->arena, &r);
    if (st == ST_OK)
        report_answer(x, &caller, &r);
    else
        respond_status(x, status_idempotent(st));
    return STEP_DONE;
}
