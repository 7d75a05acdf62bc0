#include "money/models.h"

#include <stddef.h>

#include "base/array.h"

void transfer_line_model(struct model *m, struct value *object, const struct transfer_line *t)
{
    value_int(m, object, "id", (int64_t)t->id);
    value_text(m, object, "created_at", clock_rfc3339(m->arena, t->created_ms));
    value_text(m, object, "kind", t->kind);
    value_text(m, object, "username", t->username);
    value_int(m, object, "amount_fen", t->amount_fen);
    value_text(m, object, "reference", t->reference);
    value_text(m, object, "memo", t->memo);
    value_text(m, object, "author", t->author);
    value_text(m, object, "interface", t->interface);
    if (t->reverses != 0)
        value_int(m, object, "reverses", (int64_t)t->reverses);
    else
        value_null(m, object, "reverses");
}

void withdrawal_model(struct model *m, struct value *object, const struct withdrawal *w)
{
    value_int(m, object, "id", (int64_t)w->id);
    value_text(m, object, "created_at", clock_rfc3339(m->arena, w->created_ms));
    value_text(m, object, "username", w->username);
    value_int(m, object, "user_id", (int64_t)w->user_id);
    value_text(m, object, "channel", w->channel);
    value_int(m, object, "amount_fen", w->amount_fen);
    value_text(m, object, "account", w->destination);
}

void withdrawal_ended_model(struct model *m, struct value *object, const struct withdrawal *w)
{
    const bool posted = w->state == WITHDRAWAL_POSTED;
    value_int(m, object, "id", (int64_t)w->id);
    value_text(m, object, "state", str_from(withdrawal_state_name(w->state)));
    value_text(m, object, "username", w->username);
    value_int(m, object, "amount_fen", w->amount_fen);
    value_text(m, object, "channel", w->channel);
    value_text(m, object, posted ? "reference" : "reason", posted ? w->reference : w->reason);
}

void topup_paid_model(struct model *m, struct value *object, const struct topup_paid *paid)
{
    value_int(m, object, "id", (int64_t)paid->made.id);
    value_int(m, object, "order", (int64_t)paid->id);
    value_text(m, object, "reference", paid->reference);
    value_int(m, object, "amount_fen", paid->amount_fen);
    value_int(m, object, "ordered_fen", paid->order.amount_fen);
    value_text(m, object, "username", paid->order.username);
}

/* ---- reports ---- */

const struct report_column report_columns[] = {
    { "opening", "opening", offsetof(struct report_flows, opening_fen) },
    { "credits", "credits", offsetof(struct report_flows, credits_fen) },
    { "debits", "debits", offsetof(struct report_flows, debits_fen) },
    { "posts", "posts", offsetof(struct report_flows, posts_fen) },
    { "reversed_in", "reversed in", offsetof(struct report_flows, reversed_in_fen) },
    { "reversed_out", "reversed out", offsetof(struct report_flows, reversed_out_fen) },
    { "deposits", "deposits", offsetof(struct report_flows, deposits_fen) },
    { "forfeits", "forfeits", offsetof(struct report_flows, forfeits_fen) },
    { "closing", "closing", offsetof(struct report_flows, closing_fen) },
};
const size_t report_columns_count = ARRAY_LEN(report_columns);

int64_t report_column_fen(const struct report_flows *flows, const struct report_column *column)
{
    return *(const int64_t *)((const char *)flows + column->member);
}

void report_flows_model(struct model *m, struct value *object, const struct report_flows *flows)
{
    for (size_t i = 0; i < ARRAY_LEN(report_columns); i++) {
        struct str name = arena_printf(m->arena, "%s_fen", report_columns[i].name);
        if (name.ptr != NULL)
            value_int(m, object, name.ptr, report_column_fen(flows, &report_columns[i]));
    }
}

struct str report_day_text(struct arena *a, int64_t ms)
{
    if (ms == 0 || ms == INT64_MAX)
        return STR("");
    struct clock_date d = clock_zone_date(ms);
    return arena_printf(a, "%04d-%02d-%02d", d.year, d.month, d.day);
}

void report_time_model(struct model *m, struct value *object, const struct report *r)
{
    const int64_t last_ms = r->until_ms == INT64_MAX ? INT64_MAX : r->until_ms - 1;
    value_text_or_null(m, object, "from",
                       r->is_since ? clock_rfc3339(m->arena, r->from_ms) : report_day_text(m->arena, r->from_ms));
    value_text_or_null(m, object, "to", report_day_text(m->arena, last_ms));
    value_text(m, object, "read_at", clock_rfc3339(m->arena, r->read_ms));
}
